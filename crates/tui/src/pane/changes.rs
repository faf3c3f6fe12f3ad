//! Files that tools have changed in this session, each with its diff.

use base::SessionId;
use base::protocol::{Change, Query, Reply};

use super::list::{Hints, List};
use super::shared::ask;
use super::{Pressed, Shared, diff_lines};
use crate::line::Line;
use crate::look::Look;
use crate::message::Effect;
use crate::picker::{Picker, Row};
use crate::theme::Role;

/// The list of changed files.
#[derive(Debug)]
pub(crate) struct Changes {
    pane: u64,
    session: Option<SessionId>,
    /// The diff that was laid out last, and for what.
    laid_out: Option<(String, usize, u32, Vec<Line>)>,
}

impl Changes {
    /// A list that looks up what was changed.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { pane: shared.pane, session: shared.session, laid_out: None }
    }
}

impl List for Changes {
    type Worth = Change;

    fn picker(&mut self) -> Picker<Change> {
        let mut picker = Picker::new("changes").in_order();
        if self.session.is_none() {
            picker.set(Vec::new(), "nothing was changed yet");
        }
        picker
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        &[
            ("tab", "diff"),
            ("esc", "close"),
            ("shift+up/down", "scroll"),
            ("enter", "name it"),
            ("ctrl+y", "copy diff"),
        ]
    }

    fn open(&mut self) -> Vec<Effect> {
        let look_up = |session| ask(self.pane, 0, Query::Changes { session });
        self.session.map(look_up).into_iter().collect()
    }

    fn hear(&mut self, picker: &mut Picker<Change>, _what: u8, reply: Reply) -> Vec<Effect> {
        if let Reply::Changes { changes } = reply {
            let row = |change: &Change| {
                let counts = match (change.unified.is_empty(), change.added, change.removed) {
                    (true, 0, 0) => "as it was".to_owned(),
                    (_, added, removed) => format!("+{added} -{removed}"),
                };
                Row::new(&change.path).with(counts)
            };
            let rows = changes.into_iter().map(|change| (row(&change), change)).collect();
            picker.set(rows, "nothing was changed yet");
        }
        Vec::new()
    }

    fn key(&mut self, picker: &mut Picker<Change>, key: crate::key::Key) -> Option<Pressed> {
        if key != crate::key::Key::ctrl('y') {
            return None;
        }
        let unified = picker.chosen()?.unified.clone();
        Some(Pressed::Taken(vec![Effect::Copy(unified), Effect::Say("diff copied".to_owned())]))
    }

    fn take(&mut self, picker: &mut Picker<Change>) -> Pressed {
        let named = picker.chosen().map(|change| Effect::Write(format!("@{} ", change.path)));
        Pressed::Done(named.into_iter().collect())
    }

    fn preview(&mut self, worth: &Change, width: usize, look: &Look) -> Vec<Line> {
        if worth.unified.is_empty() {
            let words = "no text, or the same as before";
            return vec![Line::new(words, look.theme.style(Role::Faint))];
        }
        if let Some((path, wide, version, lines)) = &self.laid_out
            && (path, *wide, *version) == (&worth.path, width, look.version)
        {
            return lines.clone();
        }
        let lines = diff_lines(&worth.path, &worth.unified, width, look);
        self.laid_out = Some((worth.path.clone(), width, look.version, lines.clone()));
        lines
    }
}
