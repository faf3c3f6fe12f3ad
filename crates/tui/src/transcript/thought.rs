//! What the model thought: one line, unless somebody wants to read it.

use super::item::Setting;
use super::row::{self, Row};
use crate::figures;
use crate::line::{Line, Span};
use crate::style::Attrs;
use crate::text;
use crate::theme::Role;

/// Rows of a thought that are shown while it arrives.
const TAIL_ROWS: usize = 3;
/// Bytes of its end that these are made from.
const TAIL_BYTES: usize = 2_000;

/// A thought.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thought {
    pub(crate) text: String,
    /// When it began, while it arrives.
    began_ms: Option<u64>,
    /// How long it took, where that is known.
    took_ms: Option<u64>,
}

impl Thought {
    /// One that was stored.
    pub(crate) fn stored(text: &str, took_ms: Option<u64>) -> Self {
        Self { text: text.to_owned(), began_ms: None, took_ms }
    }

    /// One that begins to arrive.
    pub(crate) fn begin(now_ms: u64) -> Self {
        Self { text: String::new(), began_ms: Some(now_ms), took_ms: None }
    }

    pub(crate) fn is_arriving(&self) -> bool {
        self.began_ms.is_some()
    }

    /// It is complete.
    pub(crate) fn end(&mut self, now_ms: u64) {
        if let Some(began_ms) = self.began_ms.take() {
            self.took_ms = Some(now_ms.saturating_sub(began_ms));
        }
    }

    /// It is as it was stored; who measured how long it took knows better than we do.
    pub(crate) fn settle(&mut self, text: &str, took_ms: Option<u64>) {
        text.clone_into(&mut self.text);
        self.took_ms = took_ms.or(self.took_ms);
    }

    pub(crate) fn rows(&self, is_open: bool, setting: &Setting<'_>) -> Vec<Row> {
        let look = setting.look;
        let head = match (self.began_ms, self.took_ms) {
            (Some(began), _) => {
                format!("thinking, {}", figures::clock(look.now_ms.saturating_sub(began)))
            }
            (None, Some(took)) => format!("thought for {}", figures::duration(took)),
            (None, None) => "thought".to_owned(),
        };
        let mut head = Line::new(format!("  {head}"), look.theme.style(Role::Muted));
        if self.began_ms.is_none() && !is_open {
            let first = self.text.trim_start().lines().next().unwrap_or_default();
            let first = first.trim_start_matches(['#', ' ']).replace("**", "");
            let room = setting.text_cells().saturating_sub(head.width() + 3);
            if room > 8 && !first.is_empty() {
                let first = text::clean(&first);
                head.push(
                    format!(" · {}", text::ellipsis(&first, room)),
                    look.theme.style(Role::Faint),
                );
            }
        }
        let mut rows = vec![Row::ours(head).folds()];
        if is_open {
            rows.extend(Self::body(&self.text, setting));
        } else if self.began_ms.is_some() {
            let mut from = self.text.len().saturating_sub(TAIL_BYTES);
            while !self.text.is_char_boundary(from) {
                from += 1;
            }
            let tail = Self::body(&self.text[from..], setting);
            let hidden = tail.len().saturating_sub(TAIL_ROWS);
            rows.extend(tail.into_iter().skip(hidden));
        }
        rows
    }

    fn body(text: &str, setting: &Setting<'_>) -> Vec<Row> {
        let look = setting.look;
        let style = look.theme.style(Role::Muted);
        let bar = if look.unicode { "  │ " } else { "  | " };
        let cells = setting.text_cells().saturating_sub(4).max(1);
        let mut rows = Vec::new();
        for line in text.trim().lines() {
            let (line, style) = match heading(line) {
                Some(heading) => (heading, style.with(Attrs::BOLD)),
                None => (line, style),
            };
            rows.extend(row::wrap(&Line::new(text::clean(line), style), cells, 0));
        }
        for row in &mut rows {
            row.put_before(&[Span::new(bar, look.theme.style(Role::Faint))]);
        }
        rows
    }
}

/// The words of a line that is nothing but bold: summaries of thoughts begin their parts with one.
fn heading(line: &str) -> Option<&str> {
    let words = line.trim().strip_prefix("**")?.strip_suffix("**")?;
    (!words.is_empty() && !words.contains("**")).then_some(words)
}
