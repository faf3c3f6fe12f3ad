//! What is left of a page as HTML, with the attributes that matter, for the search for an article.

use super::wash::{Element, Sink};

/// Longest attribute that is kept, in bytes.
const ATTRIBUTE_LIMIT: usize = 500;
const KEPT: [&str; 7] = ["class", "id", "alt", "role", "colspan", "rowspan", "lang"];
const VOID: [&str; 4] = ["br", "hr", "wbr", "img"];

/// A page as HTML that grows no further than `limit` bytes.
#[derive(Debug)]
pub(super) struct PlainHtml {
    pub(super) html: String,
    limit: usize,
    /// Whether there was more.
    pub(super) is_cut: bool,
}

impl PlainHtml {
    pub(super) fn new(limit: usize) -> Self {
        Self { html: String::new(), limit, is_cut: false }
    }

    fn push(&mut self, parts: &[&str]) {
        self.is_cut |= self.html.len() > self.limit;
        if !self.is_cut {
            self.html.extend(parts.iter().copied());
        }
    }
}

impl Sink for PlainHtml {
    fn text(&mut self, text: &str) {
        self.push(&[text]);
    }

    fn open(&mut self, element: &Element<'_>) {
        self.push(&["<", element.name]);
        if let Some(link) = &element.link {
            let name = if element.name == "img" { " src=\"" } else { " href=\"" };
            self.push(&[name, &link.replace('&', "&amp;").replace('"', "&quot;"), "\""]);
        }
        for (name, value) in element.tag.attributes() {
            let is_kept = KEPT.iter().any(|kept| kept.eq_ignore_ascii_case(name));
            if is_kept && value.len() <= ATTRIBUTE_LIMIT {
                self.push(&[" ", name, "=\"", &value.replace('"', "&quot;"), "\""]);
            }
        }
        self.push(&[">"]);
    }

    fn close(&mut self, name: &str) {
        if !VOID.contains(&name) {
            self.push(&["</", name, ">"]);
        }
    }

    fn title(&mut self, title: &str) {
        self.push(&["<title>", title, "</title>"]);
    }
}
