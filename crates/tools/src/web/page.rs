//! HTML as Markdown or plain text.
//!
//! A page that is an article is cut down to the article, any other is taken whole, without what frames it.
//! HTML nested without end makes parsers take time by the square of its depth (20,000 nested elements: 2.4 s,
//! and minutes in the search for an article), so depth is measured before anything is parsed.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

/// Depth beyond which a page is not parsed.
const DEPTH_LIMIT: usize = 2_000;
/// Depth beyond which no article is searched in a page.
const ARTICLE_DEPTH_LIMIT: usize = 300;
/// Elements beyond which no article is searched in a page.
const ARTICLE_ELEMENT_LIMIT: usize = 50_000;
/// The part of a page's text that an article must have: less is a teaser, or a mistake.
const ARTICLE_SHARE: f64 = 0.2;

/// What is not read out.
const SKIPPED: [&str; 15] = [
    "script", "style", "meta", "head", "noscript", "template", "iframe", "object", "svg", "canvas",
    "nav", "footer", "aside", "button", "dialog",
];
/// Elements that have no end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];
/// Elements whose end tag may be left out: they end where the next begins.
const ENDS_ITSELF: [&str; 16] = [
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "rt",
    "rp", "colgroup", "caption",
];
/// Elements whose content is text, whatever it looks like.
const RAW: [&str; 5] = ["script", "style", "textarea", "title", "xmp"];

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

/// Turns a page into text.
pub(crate) fn render(html: &str, url: &Url, format: Format) -> String {
    if format == Format::Html {
        return html.to_owned();
    }
    let depth = depth(html);
    if depth > DEPTH_LIMIT {
        return format!("(nested too deeply to be laid out)\n{}", stripped(html));
    }
    let document = Document::from(html);
    absolute_links(&document, url);
    let text = match format {
        Format::Markdown => markdown(html, &document, url, depth),
        Format::Text => {
            document.select(&SKIPPED.join(", ")).remove();
            document.formatted_text().to_string()
        }
        Format::Html => return html.to_owned(),
    };
    tidy(&text)
}

fn markdown(html: &str, document: &Document, url: &Url, depth: usize) -> String {
    let whole = document.md(Some(&SKIPPED)).to_string();
    let title = document.select("title").text().trim().to_owned();
    let (title, text) = match article(html, url, depth) {
        Some((name, text)) if is_enough(&text, &whole) => (name, text),
        Some(_) | None => (title, whole),
    };
    if title.is_empty() || text.trim_start().starts_with("# ") {
        text
    } else {
        format!("# {title}\n\n{text}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share of two lengths of some megabytes")]
fn is_enough(article: &str, whole: &str) -> bool {
    article.len() as f64 >= whole.len() as f64 * ARTICLE_SHARE
}

/// The article a page is, if it is one: its title, and its text as Markdown.
fn article(html: &str, url: &Url, depth: usize) -> Option<(String, String)> {
    if depth > ARTICLE_DEPTH_LIMIT {
        return None;
    }
    let config = Config {
        max_elements_to_parse: ARTICLE_ELEMENT_LIMIT,
        text_mode: TextMode::Markdown,
        ..Config::default()
    };
    let mut reader = Readability::new(html, Some(url.as_str()), Some(config)).ok()?;
    if !reader.is_probably_readable() {
        return None;
    }
    let article = reader.parse().ok()?;
    Some((article.title.trim().to_owned(), article.text_content.to_string()))
}

/// Makes links such that they can be fetched.
fn absolute_links(document: &Document, url: &Url) {
    let base = document.select("base[href]").attr("href").and_then(|base| url.join(&base).ok());
    let base = base.as_ref().unwrap_or(url);
    for (selector, attribute) in [("a[href]", "href"), ("img[src]", "src")] {
        for node in document.select(selector).nodes() {
            let Some(link) = node.attr(attribute) else { continue };
            match base.join(&link) {
                Ok(link) if matches!(link.scheme(), "http" | "https" | "mailto") => {
                    node.set_attr(attribute, link.as_str());
                }
                // A picture inside the page, a script: nothing a model could follow.
                Ok(_) | Err(_) => node.set_attr(attribute, ""),
            }
        }
    }
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

/// How deep elements can be nested, counted without a parser; at least as deep as a parser would find.
fn depth(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in (Tags { rest: html }) {
        if VOID.contains(&tag.name.as_str()) || ENDS_ITSELF.contains(&tag.name.as_str()) {
            continue;
        }
        depth = if tag.closes { depth.saturating_sub(1) } else { depth + 1 };
        deepest = deepest.max(depth);
    }
    deepest
}

/// The text between tags.
fn stripped(html: &str) -> String {
    let mut text = String::new();
    let mut tags = Tags { rest: html };
    loop {
        let before = tags.rest;
        let found = tags.next();
        let piece = match &found {
            Some(tag) => &before[..tag.start],
            None => before,
        };
        let piece = piece.trim();
        if !piece.is_empty() {
            text.push_str(piece);
            text.push('\n');
        }
        if found.is_none() {
            return text;
        }
    }
}

/// The tags of a text, one after the other; what raw elements hold is passed over.
struct Tags<'h> {
    rest: &'h str,
}

struct Tag {
    name: String,
    closes: bool,
    /// Where it begins in what was left before it.
    start: usize,
}

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        let text = self.rest;
        let mut from = 0;
        loop {
            let start = from + text.get(from..)?.find('<')?;
            let after = &text[start + 1..];
            let (closes, after) = match after.strip_prefix('/') {
                Some(after) => (true, after),
                None => (false, after),
            };
            let length = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
            if !after.starts_with(|c: char| c.is_ascii_alphabetic()) {
                from = start + 1;
                continue;
            }
            let name = after[..length].to_ascii_lowercase();
            let end = after.find('>').map_or(after.len(), |end| end + 1);
            let mut rest = &after[end..];
            let closes_itself = closes || after[..end].ends_with("/>");
            if !closes && RAW.contains(&name.as_str()) {
                rest = past_raw(rest, &name);
                self.rest = rest;
                return Some(Tag { name: "br".to_owned(), closes: false, start });
            }
            self.rest = rest;
            // `<div/>` opens an element in HTML; only foreign elements can close themselves.
            let foreign = closes_itself && !closes && matches!(name.as_str(), "path" | "g" | "use");
            let name = if foreign { "br".to_owned() } else { name };
            return Some(Tag { name, closes, start });
        }
    }
}

/// What follows the end tag of a raw element.
fn past_raw<'h>(text: &'h str, name: &str) -> &'h str {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("</")) {
        let end = from + at + 2;
        let same =
            text.get(end..end + name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name));
        if same {
            let after = &text[end + name.len()..];
            return after.find('>').map_or("", |close| &after[close + 1..]);
        }
        from = end;
    }
    ""
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn url() -> Url {
        Url::parse("https://example.com/docs/page.html").unwrap()
    }

    fn markdown_of(html: &str) -> String {
        render(html, &url(), Format::Markdown)
    }

    #[test]
    fn a_page_becomes_markdown_with_links_that_can_be_followed() {
        let html = "<html><head><title>Guide</title><style>p{}</style></head><body>\
            <nav><a href=/x>menu</a></nav><h2>Set up</h2><p>Read <a href='../more.html#top'>more</a>, \
            <b>now</b>.</p><ul><li>one<li>two</ul><pre><code>let x = 1;\n</code></pre>\
            <table><tr><th>a<th>b<tr><td>1<td>2</table><script>alert(1)</script></body></html>";
        let text = markdown_of(html);
        for part in [
            "# Guide",
            "## Set up",
            "[more](https://example.com/more.html#top)",
            "**now**",
            "let x = 1;",
            "| 1",
            "one",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("alert") && !text.contains("menu"), "{text}");
        let plain = render(html, &url(), Format::Text);
        assert!(
            plain.contains("Set up") && !plain.contains("alert") && !plain.contains("##"),
            "{plain}"
        );
        assert_eq!(render(html, &url(), Format::Html), html);
    }

    #[test]
    fn an_article_is_cut_out_of_its_page() {
        let paragraph =
            "This is a sentence of an article, with commas, and it goes on for a while. ";
        let body = format!("<p>{}</p>", paragraph.repeat(6)).repeat(12);
        let html = format!(
            "<html><head><title>The article</title></head><body><div class=sidebar>{}</div>\
             <article><h1>The article</h1>{body}</article><div class=comments>Comment</div></body></html>",
            "<a href=/a>Advert</a>".repeat(40)
        );
        let text = markdown_of(&html);
        assert!(text.starts_with("# The article\n"), "{text}");
        assert!(
            text.matches("This is a sentence").count() == 72 && !text.contains("Advert"),
            "{text}"
        );
    }

    #[test]
    fn endless_nesting_costs_little() {
        let started = Instant::now();
        for (open, close) in
            [("<div>", "</div>"), ("<b>", ""), ("<table><tr><td>", ""), ("<a href=x>", "")]
        {
            let html = format!("{}text{}", open.repeat(50_000), close.repeat(50_000));
            let text = markdown_of(&html);
            assert!(text.contains("text"), "{open}");
        }
        // The limit itself must be cheap, too, and must not overflow a thread's stack.
        let html = format!("{}text{}", "<div>".repeat(DEPTH_LIMIT), "</div>".repeat(DEPTH_LIMIT));
        assert!(markdown_of(&html).contains("text"));
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }

    #[test]
    fn depth_is_not_fooled_by_elements_that_end_themselves() {
        assert_eq!(depth("<p>a<p>b<p>c<li>d<br><img src=x>"), 0);
        assert_eq!(depth("<div><div></div><div><span></span></div></div>"), 3);
        assert_eq!(depth("<script>if (a<b && c<d) { '<div><div>' }</script><div>"), 1);
        assert_eq!(depth("a < b <3 </ >"), 0);
        assert_eq!(stripped("<b>one</b> two<script>x<y</script>three"), "one\ntwo\nthree\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn any_text_is_a_page(html in "(<[/!?]?(div|p|a|script|table|td|svg|x)?( href=.{0,4})?/?>?|[ -~é]{0,6}){0,30}") {
            for format in [Format::Markdown, Format::Text] {
                drop(render(&html, &url(), format));
            }
            drop(stripped(&html));
        }
    }
}
