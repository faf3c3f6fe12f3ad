//! HTML as Markdown or plain text.
//!
//! A page is washed first (`wash`): what nobody sees and what frames it goes, and nesting without end, which
//! makes parsers take time by the square of its depth. Then an article is cut out of it if it is one; else
//! its main part is taken, or all of it.

mod entities;
mod kinds;
mod markdown;
mod plain_html;
mod tokens;
mod unseen;
mod wash;

use dom_query::Document;
use dom_smoothie::{Config, Readability};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use markdown::{Marks, Writer};
use plain_html::PlainHtml;
use wash::wash;

/// Washed bytes, elements and depth beyond which no article is searched in a page: the search takes ten
/// times as long as all the rest, more with depth, and pages of that size are manuals and lists.
const ARTICLE_BYTES: usize = 200_000;
const ARTICLE_ELEMENTS: usize = 10_000;
const ARTICLE_DEPTH: usize = 60;
/// The part of a page's text that an article must have: less is a teaser, or a mistake.
const ARTICLE_SHARE: f64 = 0.2;
/// The same for the main part.
const MAIN_SHARE: f64 = 0.3;

/// What a page is to become: Markdown (the article only, where there is one), its text, or the page as it
/// is. Variants have no doc comments, for each would be sent to the model with every request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    #[default]
    Markdown,
    Text,
    Html,
}

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// What it calls itself; empty if it has no name.
    pub(crate) title: String,
    /// Its text.
    pub(crate) text: String,
}

impl Page {
    fn untitled(text: String) -> Self {
        Self { title: String::new(), text }
    }
}

/// Turns a page into text.
pub(crate) fn render(html: &str, url: &Url, format: Format) -> Page {
    let marks = match format {
        Format::Markdown => Marks::Shown,
        Format::Text => Marks::Left,
        Format::Html => return Page::untitled(html.to_owned()),
    };
    let mut writer = Writer::new(marks);
    let washed = wash(html, url, &mut writer);
    let (title, whole, main) = writer.finish();
    let main = main.and_then(|(start, end)| whole.get(start..end));
    let main = main.filter(|main| is_share(main.len(), whole.len(), MAIN_SHARE)).unwrap_or(&whole);
    let may_be_article = format == Format::Markdown
        && whole.len() <= ARTICLE_BYTES
        && washed.elements <= ARTICLE_ELEMENTS
        && washed.depth <= ARTICLE_DEPTH;
    let article = if may_be_article { article(html, url) } else { None };
    let article = article.filter(|article| is_share(article.text.len(), main.len(), ARTICLE_SHARE));
    let page = article.unwrap_or_else(|| Page { title, text: tidy(main) });
    let mut text = page.text;
    if format == Format::Markdown && !page.title.is_empty() && !text.starts_with("# ") {
        text = format!("# {}\n\n{text}", page.title);
    }
    if let Some(to) = washed.refresh.filter(|to| to != url) {
        text = format!("(the page sends its readers on to {to})\n{text}");
    }
    Page { title: page.title, text }
}

#[expect(clippy::cast_precision_loss, reason = "a share of two lengths of some megabytes")]
fn is_share(part: usize, whole: usize, share: f64) -> bool {
    part as f64 >= whole as f64 * share
}

/// The article a page is, if it is one.
fn article(html: &str, url: &Url) -> Option<Page> {
    let mut plain = PlainHtml::new(ARTICLE_BYTES);
    wash(html, url, &mut plain);
    if plain.is_cut {
        return None;
    }
    let document = Document::from(plain.html);
    let config = Config { keep_classes: true, ..Config::default() };
    let mut reader = Readability::with_document(document, Some(url.as_str()), Some(config)).ok()?;
    if !reader.is_probably_readable() {
        return None;
    }
    let article = reader.parse().ok()?;
    let mut writer = Writer::new(Marks::Shown);
    wash(&article.content, url, &mut writer);
    let (_, text, _) = writer.finish();
    Some(Page { title: article.title.trim().to_owned(), text: tidy(&text) })
}

/// No trailing blanks, no more than one empty line.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.trim().lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty <= 1 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy
}

#[cfg(test)]
mod tests;
