//! Puts streamed tool calls together. Servers disagree on what identifies a call: an index, an id, a
//! name, or only that it is the last one.

use base::CallId;
use serde_json::{Value, json};

use super::chunk::{Function, ToolCall};
use crate::delta::Delta;
use crate::reading::parts::Parts;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<i64>,
    id: String,
    name: String,
    /// Arguments that came before the name.
    early: String,
    /// Fields beside the call that its maker wants back.
    extra: Option<Value>,
    part: Option<usize>,
}

impl Calls {
    /// Whether the answer has any call.
    pub(super) fn any(&self) -> bool {
        self.slots.iter().any(|slot| slot.part.is_some())
    }

    /// Takes a piece of a call. Returns the part its arguments went to, if it brought any.
    pub(super) fn take(
        &mut self,
        call: ToolCall<'_>,
        parts: &mut Parts,
        out: &mut Vec<Delta>,
    ) -> Option<usize> {
        let Function { name, arguments } = call.function.unwrap_or_default();
        // Mistral's schema has the word `null` for an id that is not given.
        let id = if call.id.0 == "null" { "" } else { &*call.id.0 };
        let at = self.slot(call.index, id, &name.0);
        let id_taken = self.slots.iter().any(|slot| slot.part.is_some() && slot.id == id);
        let slot = &mut self.slots[at];
        if slot.id.is_empty() && slot.part.is_none() && !id_taken {
            id.clone_into(&mut slot.id);
        }
        if slot.name.is_empty() {
            slot.name = name.0.into_owned();
        }
        slot.extra = call.extra_content.or(slot.extra.take());
        if slot.name.is_empty() {
            slot.early.push_str(&arguments.0);
            return None;
        }
        let part = slot.open(parts, out);
        if arguments.0.is_empty() {
            return None;
        }
        out.push(Delta::More { part, text: arguments.0.into_owned() });
        Some(part)
    }

    /// Opens what never got a name (the agent will say that there is no such tool) and hands over
    /// what the maker wants back.
    pub(super) fn finish(&mut self, parts: &mut Parts, out: &mut Vec<Delta>) {
        for slot in &mut self.slots {
            if slot.part.is_none() && slot.early.is_empty() {
                continue;
            }
            let part = slot.open(parts, out);
            if let Some(extra) = slot.extra.take() {
                out.push(Delta::Sidecar { part, data: json!({ "extra_content": extra }) });
            }
        }
    }

    /// Finds the call a piece belongs to, or begins one.
    fn slot(&mut self, index: Option<i64>, id: &str, name: &str) -> usize {
        let known = match index {
            Some(_) => self.slots.iter().rposition(|slot| slot.index == index),
            None if !id.is_empty() => self.slots.iter().rposition(|slot| slot.id == id),
            None if !name.is_empty() => None,
            None => self.slots.len().checked_sub(1),
        };
        let same = |slot: &Slot| {
            let id_differs = !id.is_empty() && !slot.id.is_empty() && slot.id != id;
            let name_differs = !slot.name.is_empty() && slot.name != name;
            // An index that comes again with another id and a name is another call (servers that
            // number every call 0); with another id alone it is a server that makes up ids as it goes.
            name.is_empty() || slot.name.is_empty() || !(id_differs || name_differs)
        };
        if let Some(at) = known
            && same(&self.slots[at])
        {
            return at;
        }
        self.slots.push(Slot { index, ..Slot::default() });
        self.slots.len() - 1
    }
}

impl Slot {
    fn open(&mut self, parts: &mut Parts, out: &mut Vec<Delta>) -> usize {
        if let Some(part) = self.part {
            return part;
        }
        let id =
            if self.id.is_empty() { CallId::generate() } else { CallId::new(self.id.as_str()) };
        let part = parts.call(id, self.name.clone(), out);
        self.part = Some(part);
        if !self.early.is_empty() {
            out.push(Delta::More { part, text: std::mem::take(&mut self.early) });
        }
        part
    }
}
