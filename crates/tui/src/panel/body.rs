//! What is asked about, as lines: a command with its risky parts marked, a diff, a table.

use base::Block;
use base::block::{Node, TodoState};

use super::Asked;
use crate::line::Line;
use crate::look::Look;
use crate::pane::diff_lines;
use crate::style::{Attrs, Style};
use crate::theme::Role;

/// More rows than anybody reads before answering; the rest is counted.
const MOST_LINES: usize = 2_000;

/// What a call would do, laid out to a width.
pub(super) fn lines(block: &Block, asked: &Asked, width: usize, look: &Look) -> Vec<Line> {
    let style = |role| look.theme.style(role);
    match block {
        Block::Text { text } => texts(text, &asked.risky, width, look),
        Block::Diff { path, unified } => {
            let mut lines = diff_lines(path, unified, width, look);
            if !asked.title.contains(path.as_str()) {
                lines.insert(0, Line::new(path, style(Role::Muted)));
            }
            cut(lines, look)
        }
        Block::Table { head, rows } => {
            let row =
                |cells: &Vec<String>, role| Line::new(cells.join("  "), style(role)).wrap(width, 2);
            let body = rows.iter().take(MOST_LINES).flat_map(|cells| row(cells, Role::Text));
            cut(row(head, Role::Strong).into_iter().chain(body).collect(), look)
        }
        Block::Image { .. } => vec![Line::new("(a picture)", style(Role::Muted))],
        Block::Todos { items } => {
            let mark = |state| match state {
                TodoState::Pending => "[ ]",
                TodoState::InProgress => "[>]",
                TodoState::Completed => "[x]",
            };
            let line = |item: &base::block::Todo| {
                Line::new(format!("{} {}", mark(item.state), item.text), style(Role::Text))
                    .wrap(width, 4)
            };
            items.iter().flat_map(line).collect()
        }
        Block::Tree { roots } => {
            let mut lines = Vec::new();
            tree(roots, 0, &mut lines, style(Role::Text));
            cut(lines, look)
        }
    }
}

/// A text of several rows, with its risky parts marked.
pub(super) fn texts(text: &str, risky: &[String], width: usize, look: &Look) -> Vec<Line> {
    let all = text.lines().take(MOST_LINES);
    let lines =
        all.flat_map(|row| marked(row, risky, look.theme.style(Role::Text), look).wrap(width, 2));
    cut(lines.collect(), look)
}

/// A row with its risky parts marked, so that it shows without colours, too.
pub(super) fn marked(text: &str, risky: &[String], plain: Style, look: &Look) -> Line {
    let alarming = look.theme.style(Role::Warning).with(Attrs::BOLD | Attrs::UNDERLINE);
    let mut line = Line::EMPTY;
    let mut rest = text;
    while !rest.is_empty() {
        let parts = risky.iter().filter(|part| !part.is_empty());
        let found = parts.filter_map(|part| Some((rest.find(part.as_str())?, part.len())));
        // The first one counts; of those that begin together, the longest.
        let Some((at, length)) = found.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
        else {
            break;
        };
        line.push(&rest[..at], plain);
        line.push(&rest[at..at + length], alarming);
        rest = &rest[at + length..];
    }
    line.push(rest, plain);
    line
}

fn tree(nodes: &[Node], depth: usize, lines: &mut Vec<Line>, style: Style) {
    for node in nodes {
        if lines.len() > MOST_LINES || depth > 50 {
            return;
        }
        lines.push(Line::new(format!("{}{}", "  ".repeat(depth), node.label), style));
        tree(&node.children, depth + 1, lines, style);
    }
}

fn cut(mut lines: Vec<Line>, look: &Look) -> Vec<Line> {
    if lines.len() > MOST_LINES {
        let more = lines.len() - MOST_LINES;
        lines.truncate(MOST_LINES);
        lines.push(Line::new(format!("… {more} more rows"), look.theme.style(Role::Warning)));
    }
    lines
}
