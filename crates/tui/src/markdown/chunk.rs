//! Where a text in Markdown can be cut so that each piece can be laid out by itself.
//!
//! Cuts are found line by line and never taken back, so a text that arrives in pieces is cut as it would be
//! at once, and only what comes after the last cut must be looked at again.

/// A chunk this long is cut at the next line, whatever it is, so that the work for one more word is bounded.
const MOST_BYTES: usize = 16 * 1024;

/// What a chunk is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ChunkKind {
    /// Nothing yet.
    #[default]
    Empty,
    /// Paragraphs, headings, quotes, tables.
    Prose,
    /// One item of a list, with what is in it.
    Item,
    /// A fenced block of code.
    Fence,
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// What it is.
    pub(super) kind: ChunkKind,
    /// Whether a blank row is shown before it.
    pub(super) is_apart: bool,
}

/// An open fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
}

/// Finds the cuts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cutter {
    kind: ChunkKind,
    before: ChunkKind,
    fence: Option<Fence>,
    after_blank: bool,
    is_apart: bool,
    /// Where the text of an item begins in its line.
    content: usize,
    start: usize,
    at: usize,
}

impl Cutter {
    /// Takes the next line, without its end, which takes `ending` bytes; returns the chunk it ended, if any.
    pub(super) fn line(&mut self, line: &str, ending: usize) -> Option<Chunk> {
        let begins = self.at;
        self.at += line.len() + ending;
        if let Some(fence) = self.fence {
            if closes(line, fence) {
                self.fence = None;
                if self.kind == ChunkKind::Fence {
                    let ended = self.chunk(self.at);
                    self.begin(ChunkKind::Empty, self.at);
                    return Some(ended);
                }
            }
            return None;
        }
        if line.trim().is_empty() {
            self.after_blank = true;
            return None;
        }
        let shape = Shape::of(line);
        let ended = if self.kind == ChunkKind::Empty || self.cuts_before(&shape, begins) {
            let ended = (self.kind != ChunkKind::Empty).then(|| self.chunk(begins));
            self.begin(shape.kind(), begins);
            self.content = shape.item.unwrap_or(0);
            ended
        } else {
            None
        };
        if let Some(fence) = shape.fence {
            self.fence = Some(fence);
        }
        self.after_blank = false;
        ended
    }

    /// The chunk that is still open, with a text that ends at `end`.
    pub(super) fn open(&self, end: usize) -> Option<Chunk> {
        (self.kind != ChunkKind::Empty).then(|| self.chunk(end))
    }

    /// Where the next line begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn chunk(&self, end: usize) -> Chunk {
        Chunk { start: self.start, end, kind: self.kind, is_apart: self.is_apart }
    }

    fn begin(&mut self, kind: ChunkKind, start: usize) {
        if self.kind != ChunkKind::Empty {
            self.before = self.kind;
        }
        let touches_code = kind == ChunkKind::Fence || self.before == ChunkKind::Fence;
        self.is_apart = self.before != ChunkKind::Empty && (self.after_blank || touches_code);
        (self.kind, self.start) = (kind, start);
    }

    fn cuts_before(&self, shape: &Shape, begins: usize) -> bool {
        if begins - self.start > MOST_BYTES {
            return true;
        }
        match self.kind {
            ChunkKind::Prose => {
                (self.after_blank && shape.indent < 4)
                    || shape.fence.is_some()
                    || shape.item.is_some_and(|_| shape.interrupts)
            }
            ChunkKind::Item => {
                let is_outside = shape.indent < self.content.min(2);
                (shape.item.is_some() && shape.indent < self.content)
                    || (is_outside && (self.after_blank || shape.fence.is_some() || shape.is_block))
            }
            ChunkKind::Empty | ChunkKind::Fence => false,
        }
    }
}

/// What matters of a line.
#[derive(Debug, Clone, Copy)]
struct Shape {
    indent: usize,
    fence: Option<Fence>,
    /// Where its text begins, if it begins an item.
    item: Option<usize>,
    /// Whether the item may end a paragraph.
    interrupts: bool,
    /// Whether it is a heading, a quote or a rule.
    is_block: bool,
}

impl Shape {
    fn of(line: &str) -> Self {
        let text = line.trim_start_matches([' ', '\t']);
        let indent = line[..line.len() - text.len()].chars().map(blanks).sum();
        let is_rule = is_rule(text);
        let marker = if is_rule { None } else { marker(text) };
        Self {
            indent,
            fence: opens(text),
            item: marker.map(|(length, _)| indent + length + 1),
            interrupts: marker
                .is_some_and(|(length, interrupts)| interrupts && text.len() > length),
            is_block: is_rule || text.starts_with('>') || text.starts_with('#'),
        }
    }

    fn kind(&self) -> ChunkKind {
        match (self.fence, self.item) {
            (Some(_), _) if self.indent < 4 => ChunkKind::Fence,
            (_, Some(_)) if self.indent < 4 => ChunkKind::Item,
            (Some(_) | None, Some(_) | None) => ChunkKind::Prose,
        }
    }
}

fn blanks(c: char) -> usize {
    if c == '\t' { 4 } else { 1 }
}

/// The fence that a line opens.
fn opens(text: &str) -> Option<Fence> {
    let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = text.bytes().take_while(|byte| *byte == mark).count();
    let is_sound = length >= 3 && (mark == b'~' || !text[length..].contains('`'));
    is_sound.then_some(Fence { mark, length })
}

fn closes(line: &str, fence: Fence) -> bool {
    let text = line.trim();
    text.len() >= fence.length && text.bytes().all(|byte| byte == fence.mark)
}

fn is_rule(text: &str) -> bool {
    let marks: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    marks.len() >= 3
        && matches!(marks[0], b'-' | b'*' | b'_')
        && marks.iter().all(|mark| *mark == marks[0])
}

/// How long the marker of an item is, and whether it may end a paragraph.
fn marker(text: &str) -> Option<(usize, bool)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (length, interrupts) = match digits {
        0 => (usize::from(text.starts_with(['-', '*', '+'])), true),
        1..=9 => {
            let ends = text[digits..].starts_with(['.', ')']);
            (if ends { digits + 1 } else { 0 }, &text[..digits] == "1")
        }
        _ => return None,
    };
    let is_marker =
        length > 0 && text[length..].chars().next().is_none_or(|c| c == ' ' || c == '\t');
    is_marker.then_some((length, interrupts))
}
