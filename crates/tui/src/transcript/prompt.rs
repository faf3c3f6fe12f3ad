//! What the user said.

use base::Origin;
use base::transcript::{FileSource, Part, PartBody};

use super::item::Setting;
use super::row::{self, Row};
use crate::line::{Line, Span};
use crate::markdown;
use crate::theme::Role;

/// Lines of a long prompt that are shown while it is folded.
const SHOWN: usize = 12;
/// What stands for what a command of the user's printed.
const OUTPUT: &str = "output of a command";

/// A prompt: its text and the names of what came with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    text: String,
    attached: Vec<String>,
}

impl Prompt {
    /// What of an entry's parts the user wrote; what was added for the model is named or left out.
    pub(crate) fn of(parts: &[Part]) -> Self {
        let mut prompt = Self::default();
        for part in parts {
            match &part.body {
                PartBody::Text { text } => prompt.add_text(text, &part.origin),
                PartBody::File(file) => {
                    let address = match &file.source {
                        FileSource::Url(address) => Some(address),
                        FileSource::Base64(_) => None,
                    };
                    let name = file.name.as_ref().or(address).unwrap_or(&file.media_type);
                    prompt.attached.push(name.clone());
                }
                PartBody::Reasoning { .. }
                | PartBody::Call(_)
                | PartBody::Result(_)
                | PartBody::Opaque { .. } => {}
            }
        }
        prompt
    }

    fn add_text(&mut self, text: &str, origin: &Origin) {
        match origin {
            Origin::User | Origin::Channel(_) => {
                if !self.text.is_empty() {
                    self.text.push_str("\n\n");
                }
                self.text.push_str(text.trim_end());
            }
            Origin::Skill(name) => self.attached.push(format!("skill {name}")),
            Origin::Mcp(server) => self.attached.push(format!("from {server}")),
            Origin::Shell => self.attached.push(OUTPUT.to_owned()),
            // What a model says in the user's place is the report of a sub-agent.
            Origin::Workspace | Origin::Web | Origin::Assistant => {
                let first = text.lines().next().unwrap_or_default();
                self.attached.push(crate::text::ellipsis(first, 60).into_owned());
            }
            Origin::System | Origin::Memory => {}
        }
    }

    /// What the user wrote.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is nothing but what a command of the user's printed.
    pub(crate) fn is_output(&self) -> bool {
        self.text.is_empty() && self.attached.iter().all(|name| name == OUTPUT)
    }

    /// Whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.attached.is_empty()
    }

    /// Whether it is too long to be shown whole while it is folded.
    pub(crate) fn has_more(&self) -> bool {
        self.text.lines().count() > SHOWN + 1
    }

    pub(crate) fn rows(&self, is_open: bool, setting: &Setting<'_>) -> Vec<Row> {
        let look = setting.look;
        let fill = look.theme.style(Role::Panel);
        let style = look.theme.style(Role::User).over(fill);
        let mark = if look.unicode { "› " } else { "> " };
        let cells = setting.text_cells().saturating_sub(2).max(1);
        let mut rows = Vec::new();
        let shown = if is_open || !self.has_more() { usize::MAX } else { SHOWN };
        for text in self.text.lines().take(shown) {
            let line = Line { spans: markdown::linked(text, style, look), fill: Some(fill) };
            rows.extend(row::wrap(&line, cells, 0));
        }
        let hidden = self.text.lines().count().saturating_sub(shown);
        if hidden > 0 {
            let dots = if look.unicode { "…" } else { "..." };
            let text = format!("{dots} {hidden} more lines{}", look.unfolding());
            rows.push(Row::ours(Line::new(text, look.theme.style(Role::Faint).over(fill))).folds());
        }
        for name in &self.attached {
            let name = crate::text::clean(name);
            let line = Line::new(format!("[{name}]"), look.theme.style(Role::Muted).over(fill));
            rows.extend(row::wrap(&line, cells, 0));
        }
        for (index, row) in rows.iter_mut().enumerate() {
            let text = if index == 0 { mark } else { "  " };
            row.put_before(&[Span::new(text, look.theme.style(Role::Accent).over(fill))]);
            row.line.fill = Some(fill);
        }
        rows
    }
}
