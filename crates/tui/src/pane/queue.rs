//! Prompts that wait: taken back to be edited, or deleted.

use base::protocol::{Delivery, WaitingPrompt};
use base::{Op, Part, SessionId};

use super::list::{Hints, List};
use super::{Pressed, Shared};
use crate::key::Key;
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::{Picker, Row};
use crate::theme::Role;

const NOTHING: &str = "nothing waits";

/// The list of prompts that wait.
#[derive(Debug)]
pub(crate) struct Queue {
    session: Option<SessionId>,
    waiting: Vec<WaitingPrompt>,
}

impl Queue {
    /// A list of what waits.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { session: shared.session, waiting: shared.waiting.clone() }
    }

    fn rows(&self) -> Vec<(Row, WaitingPrompt)> {
        let row = |prompt: &WaitingPrompt| {
            let when = match prompt.delivery {
                Delivery::Steer => "joins the turn",
                Delivery::Queue => "after the turn",
            };
            let text = text_of(prompt);
            let first = text.lines().next().unwrap_or("(attachment)").to_owned();
            (Row::new(first).with(when), prompt.clone())
        };
        self.waiting.iter().map(row).collect()
    }

    fn take_back(&self, prompt: &WaitingPrompt) -> Option<Effect> {
        let op = Op::Unsay { session: self.session?, entry: prompt.entry };
        Some(Effect::Submit { op, purpose: Purpose::Other })
    }
}

impl List for Queue {
    type Worth = WaitingPrompt;

    fn picker(&mut self) -> Picker<WaitingPrompt> {
        let mut picker = Picker::new("waiting prompts").in_order();
        picker.set(self.rows(), NOTHING);
        picker
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        &[("enter", "edit"), ("ctrl+x", "delete"), ("esc", "close"), ("tab", "all of it")]
    }

    fn key(&mut self, picker: &mut Picker<WaitingPrompt>, key: Key) -> Option<Pressed> {
        if key != Key::ctrl('x') {
            return None;
        }
        let prompt = picker.chosen()?.clone();
        self.waiting.retain(|waiting| waiting.entry != prompt.entry);
        picker.set(self.rows(), NOTHING);
        Some(Pressed::Taken(self.take_back(&prompt).into_iter().collect()))
    }

    fn take(&mut self, picker: &mut Picker<WaitingPrompt>) -> Pressed {
        let Some(prompt) = picker.chosen() else { return Pressed::Taken(Vec::new()) };
        let write = Effect::WriteParts(prompt.parts.clone());
        Pressed::Done(self.take_back(prompt).into_iter().chain([write]).collect())
    }

    fn preview(&mut self, worth: &WaitingPrompt, width: usize, look: &Look) -> Vec<Line> {
        let style = look.theme.style(Role::Text);
        text_of(worth).lines().flat_map(|text| Line::new(text, style).wrap(width, 0)).collect()
    }

    fn share(&mut self, picker: &mut Picker<WaitingPrompt>, shared: &Shared) {
        self.waiting.clone_from(&shared.waiting);
        picker.set(self.rows(), NOTHING);
    }
}

fn text_of(prompt: &WaitingPrompt) -> String {
    let texts: Vec<&str> = prompt.parts.iter().filter_map(Part::as_text).collect();
    texts.join("\n")
}
