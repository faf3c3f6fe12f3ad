//! Lines about the session: notices, hooks, summaries, failures, the end of a turn.

use base::FailureClass;

use super::item::Setting;
use super::row::{self, Row};
use crate::figures;
use crate::line::{Line, Span};
use crate::markdown;
use crate::theme::Role;

/// A line about the session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Note {
    /// Something the user should know.
    Notice(String),
    /// Something that went wrong but does not end anything.
    Warning(String),
    /// A turn could not go on.
    Failure(String),
    /// What a hook said.
    Hook {
        /// Who said it, on which occasion.
        head: String,
        /// What it said.
        said: String,
    },
    /// What came before was summarised.
    Compaction {
        /// How large the context was, where that is known.
        before: Option<u64>,
        /// The summary.
        summary: String,
    },
    /// Another model takes over.
    Model(String),
    /// The model is asked again after a failure that may pass.
    Retry {
        /// Which try comes next.
        attempt: u32,
        /// When.
        at_ms: u64,
        /// What went wrong.
        reason: String,
    },
    /// The end of a turn.
    Footer(String),
}

/// What can be done here about a kind of failure.
fn advice(class: FailureClass) -> Option<&'static str> {
    match class {
        FailureClass::Auth => Some("/login enters another key, /model chooses another model"),
        FailureClass::Billing => {
            Some("the account needs credit or a plan; /model chooses another model")
        }
        FailureClass::RateLimit | FailureClass::Overloaded | FailureClass::Server => {
            Some("/continue tries again, /model chooses another model")
        }
        FailureClass::Network | FailureClass::Timeout => {
            Some("check the network; /continue tries again")
        }
        FailureClass::ContextOverflow => {
            Some("/compact makes room, /new begins afresh, /model chooses a larger window")
        }
        FailureClass::ModelNotFound => Some("/model chooses another model"),
        FailureClass::BadRequest
        | FailureClass::Cancelled
        | FailureClass::Store
        | FailureClass::Hook
        | FailureClass::Other => None,
    }
}

/// A turn that could not go on: why, and what can be done.
pub(crate) fn failure(reason: &str, class: FailureClass) -> Note {
    let advice = advice(class).map(|advice| format!("\n{advice}"));
    Note::Failure(format!("{reason}{}", advice.unwrap_or_default()))
}

impl Note {
    pub(crate) fn is_moving(&self) -> bool {
        matches!(self, Self::Retry { .. })
    }

    pub(crate) fn has_more(&self) -> bool {
        match self {
            Self::Compaction { .. } => true,
            Self::Hook { said, .. } => said.trim().contains('\n'),
            Self::Notice(_)
            | Self::Warning(_)
            | Self::Failure(_)
            | Self::Model(_)
            | Self::Retry { .. }
            | Self::Footer(_) => false,
        }
    }

    /// Whether it stands close to what is before it.
    pub(crate) fn is_close(&self) -> bool {
        matches!(self, Self::Hook { .. })
    }

    pub(crate) fn rows(&self, is_open: bool, setting: &Setting<'_>) -> Vec<Row> {
        let marks = if setting.look.unicode { ("∙ ", "✗ ") } else { ("* ", "x ") };
        match self {
            Self::Notice(text) => said(text, marks.0, Role::Muted, setting),
            Self::Warning(text) => said(text, marks.0, Role::Warning, setting),
            Self::Failure(text) => said(text, marks.1, Role::Bad, setting),
            Self::Hook { head, said: text } => {
                let first = text.trim().lines().next().unwrap_or_default();
                let mut rows = said(&format!("{head}: {first}"), "  ", Role::Faint, setting);
                rows.truncate(1);
                if is_open {
                    let rest: Vec<&str> = text.trim().lines().skip(1).collect();
                    rows.extend(said(&rest.join("\n"), "  ", Role::Faint, setting));
                }
                rows.into_iter().map(Row::folds).collect()
            }
            Self::Compaction { before, summary } => {
                compaction(*before, summary, is_open, marks.0, setting)
            }
            Self::Model(name) => {
                said(&format!("model is now {name}"), marks.0, Role::Muted, setting)
            }
            Self::Retry { attempt, at_ms, reason } => {
                let left = at_ms.saturating_sub(setting.look.now_ms).div_ceil(1_000);
                let when = if left == 0 { "now".to_owned() } else { format!("in {left} s") };
                let text = format!("{}; try {attempt} {when}", reason.trim_end_matches('.'));
                said(&text, marks.0, Role::Warning, setting)
            }
            Self::Footer(text) => {
                let line = Line::new(format!("  {text}"), setting.look.theme.style(Role::Faint));
                row::wrap(&line, setting.text_cells(), 2)
            }
        }
    }
}

fn compaction(
    before: Option<u64>,
    summary: &str,
    is_open: bool,
    mark: &str,
    setting: &Setting<'_>,
) -> Vec<Row> {
    // About four bytes make a token; nobody needs it exactly here.
    let after = figures::tokens(summary.len() as u64 / 4);
    let arrow = if setting.look.unicode { "→" } else { "->" };
    let sizes = before.map_or_else(String::new, |tokens| {
        format!(", {} {arrow} {after} tokens", figures::tokens(tokens))
    });
    let mut rows: Vec<Row> =
        said(&format!("context summarised{sizes}"), mark, Role::Muted, setting);
    rows = rows.into_iter().map(Row::folds).collect();
    if is_open {
        let cells = setting.text_cells().saturating_sub(4);
        for mut row in markdown::Markdown::new(summary).rows(cells, setting.look) {
            let bar = if setting.look.unicode { "  │ " } else { "  | " };
            row.put_before(&[Span::new(bar, setting.look.theme.style(Role::Faint))]);
            rows.push(row);
        }
    }
    rows
}

/// A text with a mark before its first row.
fn said(text: &str, mark: &str, role: Role, setting: &Setting<'_>) -> Vec<Row> {
    let look = setting.look;
    let style = look.theme.style(role);
    let cells = setting.text_cells().saturating_sub(2).max(1);
    let mut rows = Vec::new();
    for text in text.trim_end().split('\n') {
        let line: Line = markdown::linked(text, style, look).into();
        rows.extend(row::wrap(&line, cells, 0));
    }
    for (index, row) in rows.iter_mut().enumerate() {
        row.put_before(&[Span::new(if index == 0 { mark } else { "  " }, style)]);
    }
    rows
}
