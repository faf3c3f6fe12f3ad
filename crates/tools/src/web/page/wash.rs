//! A page made small and harmless: no scripts, comments or pictures in text form, none of what nobody sees
//! or what frames a page, links that can be followed, every element closed, and nesting that ends
//! somewhere. What is left goes to a [`Sink`].
//!
//! It is not a browser's parser, which takes time by the square of the depth (20,000 nested elements: 2.4 s)
//! and 40 to 100 ms for a megabyte of plain pages; here one pass over the page costs its length.

use std::borrow::Cow;

use url::Url;

use super::entities::decoded;
use super::kinds::{Kinds, kinds_of};
use super::tokens::{Tag, Token, Tokens};
use super::unseen::{Sheets, look};

/// Depth beyond which elements are taken apart: their text stays.
const DEPTH_LIMIT: usize = 200;
/// Longest attribute that is kept, in bytes.
const ATTRIBUTE_LIMIT: usize = 2_000;
/// Links that are made absolute: beyond that a page is nothing but links.
const LINK_LIMIT: usize = 50_000;

/// How many open elements an end tag looks back over for its start tag.
const CLOSE_REACH: usize = 64;
/// The same for a start tag that ends another element.
const IMPLIED_REACH: usize = 16;

/// Where what is left of a page goes, tag by tag. Every element that is opened is closed, in order.
pub(super) trait Sink {
    /// Text, entities as written.
    fn text(&mut self, text: &str);
    /// An element begins; one without an end tag also ends.
    fn open(&mut self, element: &Element<'_>);
    /// An element ends, by its name in lower case.
    fn close(&mut self, name: &str);
    /// What the page calls itself, entities as written.
    fn title(&mut self, title: &str);
}

/// An element as it begins.
pub(super) struct Element<'h> {
    /// Its name, in lower case.
    pub(super) name: &'h str,
    /// Its tag.
    pub(super) tag: Tag<'h>,
    /// Where it leads, or where the picture is: whole, and such that it can be fetched.
    pub(super) link: Option<String>,
}

/// What was found by the way.
#[derive(Debug, Default)]
pub(super) struct Washed {
    /// How many elements it has.
    pub(super) elements: usize,
    /// How deep they are nested.
    pub(super) depth: usize,
    /// Where the page sends its readers on to by itself.
    pub(super) refresh: Option<Url>,
}

/// Washes a page that was found at `url`.
pub(super) fn wash(html: &str, url: &Url, sink: &mut dyn Sink) -> Washed {
    let mut washer = Washer {
        out: Washed::default(),
        sink,
        base: Base::new(url.clone()),
        has_base: false,
        open: Vec::new(),
        dropped: None,
        sheets: Sheets::default(),
        links: 0,
    };
    for token in Tokens::new(html) {
        match token {
            Token::Text(text) => washer.text(text),
            Token::Open(tag) => washer.open(tag),
            Token::Close(name) => washer.close(name),
            Token::Raw(tag, content) => washer.raw(tag, content),
        }
    }
    while washer.pop().is_some() {}
    washer.out
}

struct Washer<'h, 's> {
    out: Washed,
    sink: &'s mut dyn Sink,
    /// What links are relative to.
    base: Base,
    has_base: bool,
    open: Vec<Open<'h>>,
    /// How many elements were open when one began that is left out.
    dropped: Option<usize>,
    sheets: Sheets,
    links: usize,
}

/// An element that has begun.
struct Open<'h> {
    /// In lower case.
    name: Cow<'h, str>,
    kinds: Kinds,
    /// Whether the sink knows of it.
    is_told: bool,
    on_ground: bool,
}

impl<'h> Washer<'h, '_> {
    fn text(&mut self, text: &str) {
        if self.dropped.is_none() {
            self.sink.text(text);
        }
    }

    fn raw(&mut self, tag: Tag<'h>, content: &str) {
        if tag.is("style") {
            self.sheets.read(content);
        } else if self.dropped.is_some() {
            // Nothing of it is wanted.
        } else if tag.is("title") {
            self.sink.title(content);
        } else if tag.is("xmp") {
            self.sink.open(&Element { name: "pre", tag, link: None });
            self.sink.text(&content.replace('<', "&lt;"));
            self.sink.close("pre");
        } else if tag.is("noframes") {
            // What a page of frames says to those that have none.
            self.sink.text(&content.replace('<', "&lt;"));
        }
    }

    fn open(&mut self, tag: Tag<'h>) {
        let name = lower(tag.name);
        let kinds = kinds_of(&name);
        if kinds.any(Kinds::VOID) {
            return self.void(tag, &name);
        }
        self.end_implied(kinds);
        let above = self.open.last().is_some_and(|element| element.on_ground);
        let (mut is_told, mut on_ground) = (false, above);
        if self.dropped.is_none() {
            self.out.elements += 1;
            let look = look(tag, &self.sheets, above);
            on_ground |= look.has_ground;
            let is_dropped = kinds.any(Kinds::DROPPED) || look.is_unseen;
            if is_dropped && !kinds.any(Kinds::HOLDER) {
                self.dropped = Some(self.open.len());
            } else if self.open.len() < DEPTH_LIMIT {
                is_told = true;
                let link = if name == "a" { self.attribute_link(tag, "href") } else { None };
                self.sink.open(&Element { name: &name, tag, link });
            }
        }
        self.open.push(Open { name, kinds, is_told, on_ground });
        self.out.depth = self.out.depth.max(self.open.len());
    }

    fn void(&mut self, tag: Tag<'h>, name: &str) {
        if self.dropped.is_some() {
            return;
        }
        self.out.elements += 1;
        match name {
            "br" | "hr" | "wbr" => self.sink.open(&Element { name, tag, link: None }),
            "img" if !look(tag, &self.sheets, true).is_unseen => {
                let link = self.attribute_link(tag, "src");
                self.sink.open(&Element { name, tag, link });
            }
            "base" if !self.has_base => {
                let to =
                    attribute(tag, "href").and_then(|to| self.base.url.join(&decoded(to)).ok());
                self.has_base = true;
                if let Some(to) = to {
                    self.base = Base::new(to);
                }
            }
            "frame" => {
                if let Some(link) = self.attribute_link(tag, "src") {
                    let text = link.replace('&', "&amp;").replace('<', "&lt;");
                    self.sink.open(&Element { name: "a", tag, link: Some(link) });
                    self.sink.text(&text);
                    self.sink.close("a");
                    self.sink.open(&Element { name: "br", tag, link: None });
                }
            }
            "meta" => self.meta(tag),
            _ => {}
        }
    }

    fn meta(&mut self, tag: Tag<'_>) {
        let kind = attribute(tag, "http-equiv");
        if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("refresh")) {
            return;
        }
        let content = decoded(attribute(tag, "content").unwrap_or_default());
        let Some((_, to)) = content.split_once([';', ',']) else { return };
        let to = to.trim_start();
        let named = to.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("url"));
        let to = if named { &to[3..] } else { to };
        let to = self.base.url.join(to.trim_matches([' ', '=', '"', '\''])).ok();
        self.out.refresh = to.filter(|to| matches!(to.scheme(), "http" | "https"));
    }

    fn close(&mut self, name: &'h str) {
        let name = lower(name);
        let near = self.open.iter().rev().take(CLOSE_REACH);
        let Some(above) = near.into_iter().position(|element| element.name == name) else {
            if self.dropped.is_none() && name == "p" {
                self.sink.text(" ");
            }
            return;
        };
        for _ in 0..=above {
            self.pop();
        }
    }

    /// Ends what a start tag ends without saying so: items, cells, paragraphs, links.
    fn end_implied(&mut self, kinds: Kinds) {
        let Some((ends, within)) = kinds.implied_end() else { return };
        // What is open further up is not ended by a page that means well.
        let near = self.open.iter().rev().take(IMPLIED_REACH).enumerate();
        let mut inside = near.take_while(|(_, element)| !element.kinds.any(within));
        if let Some((above, _)) = inside.find(|(_, element)| element.kinds.any(ends)) {
            for _ in 0..=above {
                self.pop();
            }
        }
    }

    fn pop(&mut self) -> Option<()> {
        let element = self.open.pop()?;
        if self.dropped.is_some_and(|depth| self.open.len() <= depth) {
            self.dropped = None;
            // Words before and after it are not one word.
            self.sink.text(" ");
        } else if element.is_told {
            self.sink.close(&element.name);
        }
        Some(())
    }

    /// Where an attribute leads; none for scripts, for pictures in text form, and for places in the page.
    fn attribute_link(&mut self, tag: Tag<'_>, name: &str) -> Option<String> {
        let value = attribute(tag, name)?.trim();
        self.links += 1;
        if value.len() > ATTRIBUTE_LIMIT || self.links > LINK_LIMIT {
            return None;
        }
        self.base.join(&decoded(value))
    }
}

/// What links are relative to.
struct Base {
    url: Url,
    /// Its scheme, host and port.
    origin: String,
}

impl Base {
    fn new(url: Url) -> Self {
        let origin = url[..url::Position::BeforePath].to_owned();
        Self { url, origin }
    }

    /// A whole address, if it can be fetched. Nearly all links are plain, and need no parser.
    fn join(&self, link: &str) -> Option<String> {
        let is_plain = |text: &str| {
            let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~?&=#%+,:@".contains(&byte);
            text.bytes().all(fine) && !text.contains("/.") && !text.contains("://")
        };
        if link.starts_with('#') {
            return None;
        }
        if link.starts_with('/') && !link.starts_with("//") && is_plain(link) {
            return Some(format!("{}{link}", self.origin));
        }
        let link = self.url.join(link).ok()?;
        matches!(link.scheme(), "http" | "https" | "mailto").then(|| link.into())
    }
}

/// A name in lower case, as nearly all are.
fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// An attribute's value, as written.
pub(super) fn attribute<'h>(tag: Tag<'h>, name: &str) -> Option<&'h str> {
    tag.attributes().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
