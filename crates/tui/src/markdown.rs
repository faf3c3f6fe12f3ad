//! Markdown as rows: text that may still be arriving. What was laid out stays; only the unfinished end is
//! laid out again.

mod chunk;
mod inline;
mod render;
mod table;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::code::{Language, Lexer};
use crate::line::{Line, Span};
use crate::look::Look;
use crate::theme::Role;
use crate::transcript::row::{self, Row};

use self::chunk::{Chunk, ChunkKind, Cutter};

pub use self::inline::linked;
pub(crate) use self::table::cells;
pub use self::table::table;

/// A text in Markdown, whole or still arriving.
#[derive(Debug, Clone, Default)]
pub struct Markdown {
    text: String,
    cutter: Cutter,
    chunks: Vec<Chunk>,
}

/// Rows of a text, kept so that only what is new must be laid out.
#[derive(Debug, Clone, Default)]
pub struct Laid {
    rows: Vec<Row>,
    /// Rows that will not change any more.
    settled: usize,
    settled_bytes: usize,
    /// Chunks they stand for.
    chunks: usize,
    /// How far a block of code that is still open was laid out.
    fence: Option<Fence>,
}

/// A block of code on its way into rows.
#[derive(Debug, Clone)]
struct Fence {
    /// Where its next line begins.
    at: usize,
    lexer: Lexer,
    indent: usize,
}

impl Laid {
    /// All rows there are stay as they are; they stand for so many bytes.
    fn settle(&mut self, bytes: usize) {
        self.settled = self.rows.len();
        self.settled_bytes = bytes;
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Rows that will not change any more, however the text goes on.
    pub fn settled(&self) -> usize {
        self.settled
    }

    /// Bytes of the text that these stand for.
    pub fn settled_bytes(&self) -> usize {
        self.settled_bytes
    }
}

impl Markdown {
    /// A whole text.
    pub fn new(text: &str) -> Self {
        let mut whole = Self::default();
        whole.push(text);
        whole
    }

    /// The text, as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds what arrived.
    pub fn push(&mut self, delta: &str) {
        self.text.push_str(delta);
        while let Some(length) = self.text[self.cutter.at()..].find('\n') {
            let begins = self.cutter.at();
            let line = &self.text[begins..begins + length];
            self.chunks.extend(self.cutter.line(line, 1));
        }
    }

    /// All rows at once.
    pub fn rows(&self, cells: usize, look: &Look) -> Vec<Row> {
        let mut laid = Laid::default();
        self.lay_out(&mut laid, cells, look);
        laid.rows
    }

    /// Lays out what is not laid out yet. `laid` must be a new one when width or look change.
    pub fn lay_out(&self, laid: &mut Laid, cells: usize, look: &Look) {
        let cells = cells.max(1);
        laid.rows.truncate(laid.settled);
        for chunk in &self.chunks[laid.chunks..] {
            self.lay_out_chunk(*chunk, End::Closed, laid, (cells, look));
            laid.settle(chunk.end);
            laid.fence = None;
        }
        laid.chunks = self.chunks.len();
        let mut cutter = self.cutter;
        let unfinished = &self.text[cutter.at()..];
        if !unfinished.is_empty()
            && let Some(ended) = cutter.line(unfinished, 0)
        {
            self.lay_out_chunk(ended, End::Closed, laid, (cells, look));
        }
        if let Some(open) = cutter.open(self.text.len()) {
            self.lay_out_chunk(open, End::Open, laid, (cells, look));
        }
        // A fence in an unfinished line may turn out to be something else.
        if self.cutter.open(0).is_none_or(|chunk| chunk.kind != ChunkKind::Fence) {
            laid.fence = None;
        }
    }

    fn lay_out_chunk(&self, chunk: Chunk, end: End, laid: &mut Laid, view: (usize, &Look)) {
        if chunk.is_apart && laid.fence.is_none() {
            laid.rows.push(Row::default());
        }
        match chunk.kind {
            ChunkKind::Fence => self.lay_out_fence(chunk, end, laid, view),
            ChunkKind::Prose | ChunkKind::Item => {
                let text = &self.text[chunk.start..chunk.end];
                laid.rows.extend(render::rows(text, view.0, view.1));
            }
            ChunkKind::Empty => {}
        }
    }

    /// Complete lines of code stay as they are, so a long block costs only its last line.
    fn lay_out_fence(
        &self,
        chunk: Chunk,
        end: End,
        laid: &mut Laid,
        (cells, look): (usize, &Look),
    ) {
        let text = &self.text[..chunk.end];
        let mut fence = laid.fence.take().unwrap_or_else(|| open(text, chunk, laid, (cells, look)));
        let code = match end {
            End::Closed => &text[..text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1)],
            End::Open => text,
        };
        while let Some(rest) = code.get(fence.at..).filter(|rest| !rest.is_empty()) {
            let length = rest.find('\n');
            let line = dedent(&rest[..length.unwrap_or(rest.len())], fence.indent);
            let mut lexer = fence.lexer;
            laid.rows.extend(code_rows(line, &mut lexer, cells, look));
            let Some(length) = length else { break };
            fence = Fence { at: fence.at + length + 1, lexer, ..fence };
            laid.settle(fence.at);
        }
        laid.fence = Some(fence);
    }
}

/// Whether a chunk has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It has; a block of code with the line that closes it.
    Closed,
    /// It may go on.
    Open,
}

/// Begins a block of code: its language is named above it.
fn open(text: &str, chunk: Chunk, laid: &mut Laid, (cells, look): (usize, &Look)) -> Fence {
    let first = text[chunk.start..].split('\n').next().unwrap_or_default();
    let indent = first.len() - first.trim_start().len();
    let said = first.trim().trim_start_matches(['`', '~']).trim();
    let name = said.split([' ', ',', '{', ':']).next().unwrap_or_default();
    if !name.is_empty() {
        laid.rows.push(label(name, cells, look));
    }
    let at = chunk.start + first.len() + 1;
    if at <= text.len() {
        laid.settle(at);
    }
    Fence { at, lexer: Lexer::new(Language::named(name)), indent }
}

/// The row above a block of code that names its language.
fn label(name: &str, cells: usize, look: &Look) -> Row {
    let name = crate::text::clean(name);
    let shown = crate::text::ellipsis(&name, cells.saturating_sub(2));
    Row::ours(Line::new(format!("  {shown}"), look.theme.style(Role::Faint)))
}

fn dedent(line: &str, indent: usize) -> &str {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    &line[blanks.min(indent)..]
}

/// Rows of one line of code, two cells in.
pub fn code_rows(line: &str, lexer: &mut Lexer, cells: usize, look: &Look) -> Vec<Row> {
    let below = look.theme.style(Role::CodeBlock);
    let spans = lexer.spans(&crate::text::clean(line), &look.theme, below);
    let line = Line { spans, fill: Some(below) };
    // Where lists and quotes have taken the room, code stands at their edge.
    let indent = if cells > 4 { 2 } else { 0 };
    let mut rows = row::wrap(&line, cells.saturating_sub(indent).max(1), 0);
    for row in &mut rows {
        row.put_before(&[Span::new(" ".repeat(indent), below)]);
        row.line.fill = Some(below);
    }
    rows
}

/// A link's address, if it is safe to hand to a terminal.
pub(crate) fn address(text: &str) -> Option<Arc<str>> {
    let is_safe = text.len() <= 2_048 && !text.chars().any(|c| c.is_control() || c == ' ');
    (is_safe && !text.is_empty()).then(|| Arc::from(text))
}
