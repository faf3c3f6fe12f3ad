//! What is left of a page as Markdown (or as plain text), written as it comes by.
//!
//! Line breaks and blanks are owed ([`Writer::block`]) and paid when the next word comes, so that none are
//! left over.

mod table;

use super::entities::decoded;
use super::wash::{Element, Sink, attribute};

use table::Table;

/// Words of what is said of a picture.
const PICTURE_WORDS: usize = 40;
/// Bytes of a language's name.
const LANGUAGE_BYTES: usize = 20;

/// Whether marks are written besides the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// Markdown.
    Shown,
    /// Plain text.
    Left,
}

/// Writes Markdown.
#[derive(Debug)]
pub(super) struct Writer {
    marks: Marks,
    out: String,
    title: String,
    /// Line breaks owed before the next word.
    gap: usize,
    /// Whether a blank is owed before the next word.
    blank: bool,
    /// Where the cell or page begins that is being written: nothing is owed there.
    floor: usize,
    /// Where a mark was opened last: right after it nothing is owed.
    inner: usize,
    /// What each line begins with.
    prefix: String,
    /// Open elements that mean something here.
    open: Vec<Mark>,
    tables: Vec<Table>,
    /// How many `pre` are open.
    preformatted: usize,
    /// Where the main part is in what was written.
    main: Option<(usize, usize)>,
}

/// An open element, and what must be known at its end.
#[derive(Debug)]
enum Mark {
    /// Nothing happens.
    Inline,
    /// Line breaks are owed.
    Block {
        gap: usize,
    },
    Heading {
        start: usize,
    },
    Span {
        start: usize,
        mark: &'static str,
    },
    Link {
        start: usize,
        to: String,
    },
    /// A link that leads nowhere else.
    Anchor {
        start: usize,
    },
    Quote {
        prefix: usize,
    },
    List {
        next: Option<u64>,
    },
    Item {
        prefix: usize,
        /// Where its bullet begins, and where what follows it does.
        bullet: (usize, usize),
    },
    Cell {
        start: usize,
        floor: usize,
        prefix: String,
    },
    Table,
    Preformatted {
        start: usize,
    },
    Main {
        start: usize,
    },
}

impl Writer {
    pub(super) fn new(marks: Marks) -> Self {
        Self {
            marks,
            out: String::new(),
            title: String::new(),
            gap: 0,
            blank: false,
            floor: 0,
            inner: 0,
            prefix: String::new(),
            open: Vec::new(),
            tables: Vec::new(),
            preformatted: 0,
            main: None,
        }
    }

    /// What the page calls itself, all that was written, and where the main part is in it.
    pub(super) fn finish(self) -> (String, String, Option<(usize, usize)>) {
        (self.title, self.out, self.main)
    }

    /// Owes line breaks: one for a new line, two for an empty one between.
    fn block(&mut self, gap: usize) {
        self.gap = self.gap.max(gap);
        self.blank = false;
    }

    /// Takes back what was written from a place on.
    fn cut(&mut self, start: usize) {
        self.out.truncate(start);
        self.inner = 0;
    }

    /// Pays what is owed.
    fn pay(&mut self) {
        if self.out.len() == self.floor {
            self.out.push_str(&self.prefix);
        } else if self.out.len() == self.inner {
            // Nothing is owed.
        } else if self.gap > 0 {
            for _ in 1..self.gap {
                self.out.push('\n');
                self.out.push_str(self.prefix.trim_end());
            }
            self.out.push('\n');
            self.out.push_str(&self.prefix);
        } else if self.blank && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        self.gap = 0;
        self.blank = false;
    }

    fn words(&mut self, text: &str) {
        self.blank |= text.starts_with(|c: char| c.is_ascii_whitespace());
        let mut is_first = true;
        for word in text.split_ascii_whitespace() {
            self.blank |= !is_first;
            is_first = false;
            self.pay();
            self.out.push_str(word);
        }
        self.blank |= !is_first && text.ends_with(|c: char| c.is_ascii_whitespace());
    }

    fn lines(&mut self, text: &str) {
        let mut lines = text.split('\n');
        if let Some(first) = lines.next().filter(|first| !first.is_empty()) {
            self.pay();
            self.out.push_str(first);
        }
        for line in lines {
            self.pay();
            self.out.push('\n');
            self.out.push_str(&self.prefix);
            self.out.push_str(line);
        }
    }

    fn mark(&mut self, mark: &str) {
        self.pay();
        if self.marks == Marks::Shown {
            self.out.push_str(mark);
        }
    }

    fn span(&mut self, mark: &'static str) -> Mark {
        if self.preformatted > 0 || self.marks == Marks::Left {
            return Mark::Inline;
        }
        self.mark(mark);
        self.inner = self.out.len();
        Mark::Span { start: self.inner, mark }
    }

    fn heading(&mut self, level: usize) -> Mark {
        self.block(2);
        let start = self.out.len();
        self.mark("###### ".get(6 - level..).unwrap_or_default());
        self.inner = self.out.len();
        Mark::Heading { start }
    }

    fn link(&mut self, to: Option<&String>) -> Mark {
        let (Some(to), Marks::Shown, 0) = (to, self.marks, self.preformatted) else {
            return Mark::Anchor { start: self.out.len() };
        };
        self.pay();
        let start = self.out.len();
        self.out.push('[');
        self.inner = self.out.len();
        Mark::Link { start, to: to.clone() }
    }

    fn picture(&mut self, element: &Element<'_>) {
        let words = decoded(attribute(element.tag, "alt").unwrap_or_default());
        let words: Vec<&str> = words.split_whitespace().take(PICTURE_WORDS).collect();
        let words = words.join(" ");
        if words.is_empty() || self.preformatted > 0 {
            return;
        }
        self.pay();
        match (&element.link, self.marks) {
            (Some(link), Marks::Shown) => self.out.extend(["![", &words, "](", link, ")"]),
            (_, _) => self.out.extend(["(picture: ", &words, ")"]),
        }
    }

    fn item(&mut self) -> Mark {
        self.block(1);
        let mut lists = self.open.iter_mut().rev();
        let list =
            lists.find_map(|mark| if let Mark::List { next } = mark { Some(next) } else { None });
        let bullet = match list {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{}. ", *number - 1)
            }
            Some(None) | None => "- ".to_owned(),
        };
        let start = self.out.len();
        self.pay();
        // Without marks, too: a list without bullets is a heap.
        self.out.push_str(&bullet);
        self.inner = self.out.len();
        self.indented(bullet.len(), (start, self.inner))
    }

    fn indented(&mut self, blanks: usize, bullet: (usize, usize)) -> Mark {
        let prefix = self.prefix.len();
        self.prefix.extend(std::iter::repeat_n(' ', blanks));
        Mark::Item { prefix, bullet }
    }

    fn list(&mut self, element: &Element<'_>) -> Mark {
        let is_inner = self.open.iter().any(|mark| matches!(mark, Mark::Item { .. }));
        self.block(if is_inner { 1 } else { 2 });
        let first = attribute(element.tag, "start").and_then(|start| start.parse().ok());
        Mark::List { next: (element.name == "ol").then(|| first.unwrap_or(1)) }
    }

    fn preformatted(&mut self, element: &Element<'_>) -> Mark {
        self.block(2);
        self.mark("```");
        if self.marks == Marks::Shown {
            self.out.push_str(language(element).unwrap_or_default());
            self.block(1);
        }
        self.preformatted += 1;
        Mark::Preformatted { start: self.out.len() }
    }

    /// Names the language of code whose fence has just been written.
    fn name_language(&mut self, element: &Element<'_>) {
        if self.gap > 0 && self.marks == Marks::Shown && self.out.ends_with("```") {
            self.out.push_str(language(element).unwrap_or_default());
        }
    }

    fn end(&mut self, mark: Mark) {
        match mark {
            Mark::Inline => {}
            Mark::Block { gap } => self.block(gap),
            Mark::Heading { start } => {
                if self.out[start..].chars().all(|c| matches!(c, '\n' | '#' | ' ' | '>')) {
                    self.cut(start);
                }
                self.block(2);
            }
            Mark::Span { start, mark } if self.out.len() == start => {
                self.cut(start - mark.len());
            }
            Mark::Span { mark, .. } => self.out.push_str(mark),
            Mark::Link { start, to } => self.end_link(start, &to),
            Mark::Anchor { start } => {
                if is_sign(self.out[start..].trim()) {
                    self.cut(start);
                }
            }
            Mark::Quote { prefix } => {
                self.prefix.truncate(prefix);
                self.block(2);
            }
            Mark::List { .. } => {
                let is_inner = self.open.iter().any(|mark| matches!(mark, Mark::List { .. }));
                self.block(if is_inner { 1 } else { 2 });
            }
            Mark::Item { prefix, bullet: (start, end) } => {
                self.prefix.truncate(prefix);
                if start < end && self.out.len() == end {
                    self.cut(start);
                }
                self.block(1);
            }
            Mark::Cell { start, floor, prefix } => self.end_cell(start, floor, prefix),
            Mark::Table => self.end_table(),
            Mark::Preformatted { start } => {
                self.preformatted = self.preformatted.saturating_sub(1);
                let written = self.out[start..].trim_end().len();
                self.out.truncate(start + written);
                if self.marks == Marks::Shown {
                    self.gap = 1;
                    self.mark("```");
                }
                self.block(2);
            }
            Mark::Main { start } => {
                self.main.get_or_insert((start, self.out.len()));
                self.block(2);
            }
        }
    }

    fn end_link(&mut self, start: usize, to: &str) {
        let text = &self.out[start..];
        let label = text.trim_start_matches('[').trim();
        if label.is_empty() || is_sign(label) {
            self.cut(start);
        } else if text.contains('\n') {
            let words: Vec<&str> = label.split_whitespace().collect();
            let link = format!("[{}]({to})", words.join(" "));
            self.cut(start);
            self.out.push_str(&link);
        } else {
            self.out.extend(["](", to, ")"]);
        }
    }
}

impl Sink for Writer {
    fn text(&mut self, text: &str) {
        let text = decoded(text);
        if self.preformatted > 0 {
            // The first line break of a `pre` belongs to its tag.
            let text = if self.gap > 0 { text.strip_prefix('\n').unwrap_or(&text) } else { &text };
            self.lines(text);
        } else if self.tables.last().is_none_or(|table| table.in_cell) || !text.trim().is_empty() {
            self.words(&text);
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        let mark = match element.name {
            "br" if self.open.iter().any(|mark| matches!(mark, Mark::Heading { .. })) => {
                self.blank = true;
                return;
            }
            "br" if self.preformatted > 0 => return self.lines("\n"),
            "br" => return self.block(1),
            "wbr" => return,
            "img" => return self.picture(element),
            "hr" => {
                self.block(2);
                self.mark("---");
                return self.block(2);
            }
            "h1" => self.heading(1),
            "h2" => self.heading(2),
            "h3" => self.heading(3),
            "h4" => self.heading(4),
            "h5" => self.heading(5),
            "h6" => self.heading(6),
            "b" | "strong" => self.span("**"),
            "i" | "em" | "dfn" => self.span("*"),
            "del" | "s" | "strike" => self.span("~~"),
            "code" if self.preformatted > 0 => {
                self.name_language(element);
                Mark::Inline
            }
            "code" | "kbd" | "samp" | "tt" => self.span("`"),
            "a" => self.link(element.link.as_ref()),
            "ul" | "ol" => self.list(element),
            "li" => self.item(),
            "dd" => {
                self.block(1);
                self.indented(2, (0, 0))
            }
            "blockquote" => {
                self.block(2);
                let prefix = self.prefix.len();
                self.prefix.push_str("> ");
                Mark::Quote { prefix }
            }
            "pre" => self.preformatted(element),
            "table" => {
                self.block(2);
                self.tables.push(Table::default());
                Mark::Table
            }
            "tr" => {
                self.row();
                Mark::Inline
            }
            "td" | "th" => self.cell(),
            "p" | "dl" | "figure" | "center" | "details" => {
                self.block(2);
                Mark::Block { gap: 2 }
            }
            name if is_inline(name) => Mark::Inline,
            name => {
                self.block(1);
                let role = attribute(element.tag, "role").unwrap_or_default();
                if (name == "main" || role == "main") && self.tables.is_empty() {
                    Mark::Main { start: self.out.len() }
                } else {
                    Mark::Block { gap: 1 }
                }
            }
        };
        self.open.push(mark);
    }

    fn close(&mut self, _name: &str) {
        if let Some(mark) = self.open.pop() {
            self.end(mark);
        }
    }

    fn title(&mut self, title: &str) {
        if self.title.is_empty() {
            self.title = decoded(title).split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
}

/// Whether a link is only a sign beside a heading, which leads to where the reader is.
fn is_sign(label: &str) -> bool {
    matches!(label, "¶" | "#" | "§" | "🔗")
}

/// Whether an element makes no new line.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "abbr"
            | "acronym"
            | "bdi"
            | "bdo"
            | "big"
            | "cite"
            | "data"
            | "font"
            | "ins"
            | "label"
            | "mark"
            | "q"
            | "rb"
            | "rp"
            | "rt"
            | "ruby"
            | "small"
            | "span"
            | "sub"
            | "sup"
            | "time"
            | "u"
            | "var"
            | "tbody"
            | "thead"
            | "tfoot"
            | "colgroup"
            | "html"
            | "math"
            | "mi"
            | "mn"
            | "mo"
            | "mrow"
            | "nobr"
    ) || name.contains('-')
}

/// The language of code, by the class that highlighters go by.
fn language<'h>(element: &Element<'h>) -> Option<&'h str> {
    let class = attribute(element.tag, "class")?;
    let prefixes = ["language-", "lang-", "highlight-source-", "brush:"];
    let named = class
        .split_ascii_whitespace()
        .find_map(|name| prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)))?;
    let is_plain =
        named.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-#_".contains(&byte));
    (is_plain && named.len() <= LANGUAGE_BYTES).then_some(named)
}
