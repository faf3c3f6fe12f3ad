//! What the user has said in this project, to say it again.

use base::protocol::{Query, Reply};

use super::list::{Hints, List};
use super::shared::ask;
use super::{Pressed, Shared};
use crate::line::Line;
use crate::look::Look;
use crate::message::Effect;
use crate::picker::{Picker, Row};
use crate::theme::Role;

const MOST_PROMPTS: usize = 2_000;

/// The list of what was said.
#[derive(Debug)]
pub(crate) struct History {
    pane: u64,
    folder: String,
}

impl History {
    /// A list that looks up what was said in our folder's project.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { pane: shared.pane, folder: shared.folder.clone() }
    }
}

impl List for History {
    type Worth = String;

    fn picker(&mut self) -> Picker<String> {
        Picker::new("what you said").in_order()
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        &[("enter", "write it again"), ("esc", "close"), ("tab", "all of it")]
    }

    fn open(&mut self) -> Vec<Effect> {
        let query = Query::History { folder: self.folder.clone(), limit: MOST_PROMPTS };
        vec![ask(self.pane, 0, query)]
    }

    fn hear(&mut self, picker: &mut Picker<String>, _what: u8, reply: Reply) -> Vec<Effect> {
        if let Reply::History { prompts } = reply {
            let row = |prompt: &str| {
                let mut lines = prompt.lines();
                let first = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
                let more = match lines.count() {
                    0 => String::new(),
                    1 => "+1 line".to_owned(),
                    many => format!("+{many} lines"),
                };
                Row::new(first.trim()).with(more)
            };
            let rows = prompts.into_iter().map(|prompt| (row(&prompt), prompt)).collect();
            picker.set(rows, "nothing was said here yet");
        }
        Vec::new()
    }

    fn take(&mut self, picker: &mut Picker<String>) -> Pressed {
        Pressed::Done(picker.chosen().cloned().map(Effect::Write).into_iter().collect())
    }

    fn preview(&mut self, worth: &String, width: usize, look: &Look) -> Vec<Line> {
        let style = look.theme.style(Role::Text);
        // A prompt can be a whole pasted file.
        worth.lines().take(200).flat_map(|text| Line::new(text, style).wrap(width, 0)).collect()
    }
}
