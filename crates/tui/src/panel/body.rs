//! What is asked about, as lines: a command with its risky parts marked, a diff, a table.

use base::Block;
use base::block::{Node, TodoState};

use super::Asked;
use super::command::{self, Layout};
use crate::line::Line;
use crate::look::Look;
use crate::pane::diff_lines;
use crate::style::Style;
use crate::theme::Role;

/// More rows than anybody reads before answering; the rest is counted.
const MOST_LINES: usize = 2_000;

/// What a call would do, laid out to a width.
pub(super) fn layout(block: &Block, asked: &Asked, width: usize, look: &Look) -> Layout {
    match block {
        Block::Text { text } => command::layout(text, &asked.risky, width, look),
        Block::Diff { .. }
        | Block::Table { .. }
        | Block::Image { .. }
        | Block::Todos { .. }
        | Block::Tree { .. } => Layout::free(lines(block, asked, width, look)),
    }
}

fn lines(block: &Block, asked: &Asked, width: usize, look: &Look) -> Vec<Line> {
    let style = |role| look.theme.style(role);
    match block {
        Block::Text { text } => vec![Line::new(text, style(Role::Text))],
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
