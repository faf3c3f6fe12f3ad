//! Blocks as rows: what tools show, whole or only what is needed to see what it is.

use base::Block;
use base::block::{Node, TodoState};

use super::call::CallState;
use super::item::Setting;
use super::row::{self, Row};
use crate::code::{Language, Lexer};
use crate::line::{Line, Span};
use crate::look::Look;
use crate::markdown::{self, Markdown};
use crate::style::Attrs;
use crate::text;
use crate::theme::Role;
use crate::{diff, picture};

/// Rows of a block that is shown whole, at most.
const MOST_ROWS: usize = 2_000;
/// Rows that one long line of a folded block may take.
const ROWS_A_LINE: usize = 3;

/// How much of a block is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// All of it.
    Whole,
    /// Its beginning and its end.
    Short,
    /// Its end, while more comes.
    Tail,
    /// Nothing.
    Nothing,
}

impl Shape {
    /// How much of a folded call is shown.
    pub(crate) fn usual(state: CallState, name: &str) -> Self {
        match state {
            CallState::Running | CallState::Called | CallState::Asking => Self::Tail,
            CallState::Done if super::call::is_reading(name) => Self::Nothing,
            CallState::Done | CallState::Failed | CallState::Stopped | CallState::Denied => {
                Self::Short
            }
        }
    }

    /// Lines that are shown of so many at the beginning and at the end.
    fn of_lines(self) -> (usize, usize) {
        match self {
            Self::Whole => (MOST_ROWS, 0),
            Self::Short => (2, 4),
            Self::Tail => (0, 5),
            Self::Nothing => (0, 0),
        }
    }

    /// Rows that are shown of what must be seen from its beginning.
    fn of_rows(self, usual: usize) -> usize {
        match self {
            Self::Whole => MOST_ROWS,
            Self::Short | Self::Tail => usual,
            Self::Nothing => 0,
        }
    }
}

/// All rows of a block, for who shows one outside a conversation.
pub fn lines_of(block: &Block, cells: u16, look: &Look) -> Vec<Line> {
    let setting = Setting { cells, look, open: super::item::Open::default() };
    let rows = rows(block, Shape::Whole, usize::from(cells), &setting);
    rows.into_iter().map(|row| row.line).collect()
}

/// Rows of a block.
pub(crate) fn rows(block: &Block, shape: Shape, cells: usize, setting: &Setting<'_>) -> Vec<Row> {
    let look = setting.look;
    if shape == Shape::Nothing {
        return Vec::new();
    }
    match block {
        Block::Text { text } => lines(text, shape, cells, look),
        Block::Diff { path, unified } => {
            headed(diff::rows(path, unified, cells, look), shape.of_rows(16), "line", look)
        }
        Block::Table { head, rows } => {
            let mut all = vec![markdown::cells(head, look)];
            all.extend(rows.iter().take(MOST_ROWS).map(|row| markdown::cells(row, look)));
            headed(markdown::table(&all, &[], cells, look), shape.of_rows(10), "row", look)
        }
        Block::Image { file } => picture::rows(file, cells, look),
        Block::Todos { items } => {
            let todos = items.iter().flat_map(|item| todo(&item.text, item.state, cells, look));
            headed(todos.collect(), shape.of_rows(14), "line", look)
        }
        Block::Tree { roots } => {
            let mut out = Vec::new();
            tree(roots, &mut Vec::new(), look, &mut out);
            headed(out, shape.of_rows(6), "line", look)
        }
    }
}

/// A sub-agent's report: what it says is written for people.
pub(crate) fn report(block: &Block, shape: Shape, cells: usize, setting: &Setting<'_>) -> Vec<Row> {
    match block {
        Block::Text { text } if shape != Shape::Nothing => {
            let cells = cells.min(setting.text_cells());
            let rows = Markdown::new(text).rows(cells, setting.look);
            headed(rows, shape.of_rows(6), "line", setting.look)
        }
        Block::Text { .. }
        | Block::Diff { .. }
        | Block::Table { .. }
        | Block::Image { .. }
        | Block::Todos { .. }
        | Block::Tree { .. } => rows(block, shape, cells, setting),
    }
}

/// A shell command.
pub(crate) fn command(command: &str, shape: Shape, cells: usize, look: &Look) -> Vec<Row> {
    let mut lexer = Lexer::new(Language::named("bash"));
    let mut rows = Vec::new();
    let all: Vec<&str> = command.lines().collect();
    let shown = if shape == Shape::Whole { all.len() } else { 1 };
    for (index, line) in all.iter().take(shown).enumerate() {
        let mut spans = lexer.spans(&text::clean(line), &look.theme, look.theme.style(Role::Muted));
        if index == 0 && all.len() > shown {
            spans.push(Span::new(" …", look.theme.style(Role::Faint)));
        }
        for mut row in row::wrap(&spans.into(), cells.saturating_sub(2).max(1), 0) {
            let sign = if index == 0 && row.join == row::Join::Line { "$ " } else { "  " };
            row.put_before(&[Span::new(sign, look.theme.style(Role::Faint))]);
            rows.push(row);
        }
    }
    if shape != Shape::Whole {
        rows.truncate(ROWS_A_LINE);
    }
    rows
}

fn lines(text: &str, shape: Shape, cells: usize, look: &Look) -> Vec<Row> {
    let text = text.trim_end();
    if text.is_empty() {
        return Vec::new();
    }
    let count = text.split('\n').count();
    let (head, tail) = shape.of_lines();
    // Hiding a single line would save nothing.
    let (head, tail) = if count <= head + tail + 1 { (count, 0) } else { (head, tail) };
    let mut rows = Vec::new();
    for line in text.split('\n').take(head) {
        put(line, shape, cells, look, &mut rows);
    }
    if count > head + tail {
        let hidden = count - head - tail;
        rows.push(more(hidden, "line", shape, look));
    }
    for line in text.split('\n').skip(count - tail.min(count)) {
        put(line, shape, cells, look, &mut rows);
    }
    rows
}

fn put(line: &str, shape: Shape, cells: usize, look: &Look, rows: &mut Vec<Row>) {
    // A line of a megabyte is cut before it is measured.
    let most = if shape == Shape::Whole { 20_000 } else { ROWS_A_LINE * cells * 4 };
    let mut end = line.len().min(most);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let line = text::clean(&line[..end]);
    let mut wrapped = row::wrap(&Line::new(line, look.theme.style(Role::Muted)), cells, 0);
    if shape != Shape::Whole && wrapped.len() > ROWS_A_LINE {
        wrapped.truncate(ROWS_A_LINE);
        if let Some(last) = wrapped.last_mut() {
            last.line = last.line.cut(cells.saturating_sub(1));
            last.line.push("…", look.theme.style(Role::Faint));
        }
    }
    rows.extend(wrapped);
}

/// The first rows, and how many there are more.
fn headed(mut rows: Vec<Row>, most: usize, what: &str, look: &Look) -> Vec<Row> {
    if rows.len() > most + 1 {
        let hidden = rows.len() - most;
        rows.truncate(most);
        let shape = if most == MOST_ROWS { Shape::Whole } else { Shape::Short };
        rows.push(more(hidden, what, shape, look));
    }
    rows
}

fn more(hidden: usize, what: &str, shape: Shape, look: &Look) -> Row {
    let dots = if look.unicode { "…" } else { "..." };
    let plural = if hidden == 1 { "" } else { "s" };
    let text = match shape {
        Shape::Tail => format!("{dots} {hidden} line{plural} before"),
        Shape::Whole => format!("{dots} {hidden} more {what}{plural}, not shown"),
        Shape::Short | Shape::Nothing => {
            format!("{dots} {hidden} more {what}{plural}{}", look.unfolding())
        }
    };
    Row::ours(Line::new(text, look.theme.style(Role::Faint))).folds()
}

fn todo(text: &str, state: TodoState, cells: usize, look: &Look) -> Vec<Row> {
    let (mark, style) = match state {
        TodoState::Pending => ("[ ] ", look.theme.style(Role::Text)),
        TodoState::InProgress => ("[>] ", look.theme.style(Role::Accent).with(Attrs::BOLD)),
        TodoState::Completed => ("[x] ", look.theme.style(Role::Muted)),
    };
    let line = Line::new(mark, style).then(text::clean(&text.replace('\n', " ")), style);
    row::wrap(&line, cells, 4)
}

/// Branches of a tree; `last` tells for each level above whether it has ended.
fn tree(nodes: &[Node], last: &mut Vec<bool>, look: &Look, out: &mut Vec<Row>) {
    let faint = look.theme.style(Role::Faint);
    let (bar, fork, end) = if look.unicode { ("│ ", "├ ", "└ ") } else { ("| ", "|-", "`-") };
    for (index, node) in nodes.iter().enumerate() {
        if out.len() > MOST_ROWS || last.len() > 40 {
            return;
        }
        let is_last = index + 1 == nodes.len();
        let mut row = Row::new(Line::new(text::clean(&node.label), look.theme.style(Role::Muted)));
        let mut before: Vec<Span> = Vec::new();
        for ended in last.iter().skip(1) {
            before.push(Span::new(if *ended { "  " } else { bar }, faint));
        }
        if !last.is_empty() {
            before.push(Span::new(if is_last { end } else { fork }, faint));
        }
        row.put_before(&before);
        out.push(row);
        last.push(is_last);
        tree(&node.children, last, look, out);
        last.pop();
    }
}
