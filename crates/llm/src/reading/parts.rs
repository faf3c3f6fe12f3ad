//! Numbers the parts of an answer as they begin, so that a decoder only says what came.

use base::CallId;
use base::transcript::File;
use serde_json::Value;

use crate::delta::{Delta, Opening};

/// Which kind of running text a part holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prose {
    /// What the model says.
    Text,
    /// What it thinks.
    Thought,
}

/// The parts begun so far, and which of them running text goes to.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    begun: usize,
    current: Option<(Prose, usize)>,
}

impl Parts {
    /// How many parts have begun.
    pub(crate) fn begun(&self) -> usize {
        self.begun
    }

    /// The part running text of this kind would go to without opening one.
    pub(crate) fn current(&self, prose: Prose) -> Option<usize> {
        self.current.filter(|(kind, _)| *kind == prose).map(|(_, part)| part)
    }

    /// Adds running text to the current part of its kind, opening one where another kind was open.
    /// Nothing happens for empty text. Returns the part's number.
    pub(crate) fn prose(
        &mut self,
        prose: Prose,
        text: impl Into<String>,
        out: &mut Vec<Delta>,
    ) -> Option<usize> {
        let text = text.into();
        if text.is_empty() {
            return None;
        }
        let part = self.prose_part(prose, out);
        out.push(Delta::More { part, text });
        Some(part)
    }

    /// The current part of this kind, opened if need be.
    pub(crate) fn prose_part(&mut self, prose: Prose, out: &mut Vec<Delta>) -> usize {
        if let Some(part) = self.current(prose) {
            return part;
        }
        let opening = match prose {
            Prose::Text => Opening::Text,
            Prose::Thought => Opening::Reasoning,
        };
        let part = self.open(opening, out);
        self.current = Some((prose, part));
        part
    }

    /// Opens a tool call; its arguments follow.
    pub(crate) fn call(&mut self, id: CallId, name: String, out: &mut Vec<Delta>) -> usize {
        self.open(Opening::Call { id, name }, out)
    }

    /// Adds a whole file.
    pub(crate) fn file(&mut self, file: File, out: &mut Vec<Delta>) -> usize {
        self.open(Opening::File(file), out)
    }

    /// Adds a step only the maker understands.
    pub(crate) fn opaque(&mut self, label: &str, data: Value, out: &mut Vec<Delta>) -> usize {
        let part = self.open(Opening::Opaque { label: label.to_owned() }, out);
        out.push(Delta::Sidecar { part, data });
        part
    }

    fn open(&mut self, opening: Opening, out: &mut Vec<Delta>) -> usize {
        let part = self.begun;
        self.begun += 1;
        self.current = None;
        out.push(Delta::Open { part, opening });
        part
    }
}
