//! Which item an event speaks of.

use base::CallId;

use super::frame::{Item, Text};
use crate::delta::Opening;

/// The items of an answer, in the order they began.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub slots: Vec<Slot>,
    /// The item that spoke last: most deltas are for it.
    last: usize,
}

/// One item.
#[derive(Debug)]
pub(super) struct Slot {
    pub kind: ItemKind,
    position: Option<u64>,
    id: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    /// What it has said so far, by content or summary index.
    pub sayings: Vec<Saying>,
    /// Its closing event has come.
    pub done: bool,
}

/// One text of an item.
#[derive(Debug)]
pub(super) struct Saying {
    pub index: u64,
    /// The part it goes to.
    pub part: usize,
    /// A blank line is due before the next text.
    pub paragraph: bool,
    pub sent: String,
}

/// The kinds of items that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Message,
    Reasoning,
    Call,
    /// A step of the provider's own.
    Other,
}

impl ItemKind {
    pub(super) const COUNT: usize = 4;

    pub(super) fn of(item: &Item<'_>) -> Self {
        match item.kind.as_ref().map(Text::as_str) {
            Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning,
            Some("function_call" | "custom_tool_call") => Self::Call,
            Some(_) | None => Self::Other,
        }
    }
}

impl Items {
    /// The item a delta is for: the one with its id, else at its position, else the latest that is
    /// still open. One that was never announced begins here.
    pub(super) fn speaking(
        &mut self,
        kind: ItemKind,
        position: Option<u64>,
        id: Option<&str>,
    ) -> usize {
        let last = self.slots.get(self.last).filter(|slot| slot.kind == kind && id.is_some());
        if last.is_some_and(|slot| slot.id.as_deref() == id && slot.position == position) {
            return self.last;
        }
        let latest = |fits: &dyn Fn(&Slot) -> bool| {
            self.slots.iter().rposition(|slot| slot.kind == kind && fits(slot))
        };
        let found = latest(&|slot| id.is_some() && slot.id.as_deref() == id)
            .or_else(|| latest(&|slot| position.is_some() && slot.position == position))
            .or_else(|| latest(&|slot| position.is_none() && !slot.done));
        self.last = found.unwrap_or_else(|| {
            let id = id.map(str::to_owned);
            self.push(Slot { position, id, ..Slot::new(kind) })
        });
        self.last
    }

    /// Takes a new item. Announced twice, it stays one.
    pub(super) fn add(&mut self, item: &Item<'_>, position: Option<u64>) -> usize {
        let kind = ItemKind::of(item);
        let id = item.id.as_ref().map(Text::as_str);
        let same = |slot: &Slot| slot.kind == kind && id.is_some() && slot.id.as_deref() == id;
        self.last = self.slots.iter().position(same).unwrap_or_else(|| {
            let mut slot = Slot { position, ..Slot::new(kind) };
            slot.learn(item);
            self.push(slot)
        });
        self.last
    }

    /// The open item that a closing event speaks of.
    pub(super) fn closing(&self, item: &Item<'_>, position: Option<u64>) -> Option<usize> {
        let kind = ItemKind::of(item);
        let latest = |fits: &dyn Fn(&Slot) -> bool| {
            self.slots.iter().rposition(|slot| slot.kind == kind && fits(slot))
        };
        self.by_identity(item)
            .or_else(|| {
                latest(&|slot| !slot.done && position.is_some() && slot.position == position)
            })
            .or_else(|| {
                latest(&|slot| !slot.done && (position.is_none() || slot.position.is_none()))
            })
    }

    /// The streamed item that an item of the finished answer repeats: the one with its id, else the
    /// one that is as far down among its kind.
    pub(super) fn final_twin(
        &self,
        item: &Item<'_>,
        ordinal: usize,
        streamed: usize,
    ) -> Option<usize> {
        let kind = ItemKind::of(item);
        let of_kind = self.slots.iter().enumerate().take(streamed);
        let mut of_kind = of_kind.filter(|(_, slot)| slot.kind == kind).map(|(at, _)| at);
        self.by_identity(item).or_else(|| of_kind.nth(ordinal))
    }

    fn by_identity(&self, item: &Item<'_>) -> Option<usize> {
        let kind = ItemKind::of(item);
        let id = item.id.as_ref().map(Text::as_str);
        let call = item.call_id.as_ref().map(Text::as_str);
        self.slots.iter().position(|slot| {
            let same_id = id.is_some() && slot.id.as_deref() == id;
            let same_call = call.is_some() && slot.call_id.as_deref() == call;
            slot.kind == kind && (same_id || same_call)
        })
    }

    fn push(&mut self, slot: Slot) -> usize {
        self.slots.push(slot);
        self.slots.len() - 1
    }
}

impl Slot {
    fn new(kind: ItemKind) -> Self {
        let (position, id, call_id, name) = (None, None, None, None);
        Self { kind, position, id, call_id, name, sayings: Vec::new(), done: false }
    }

    /// Takes from `item` what was not known before.
    pub(super) fn learn(&mut self, item: &Item<'_>) {
        let known = |text: &Option<Text<'_>>| {
            text.as_ref().map(Text::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        self.id = self.id.take().or_else(|| known(&item.id));
        self.call_id = self.call_id.take().or_else(|| known(&item.call_id));
        self.name = self.name.take().or_else(|| known(&item.name));
    }

    /// How the call begins; none before its name is known.
    pub(super) fn call_opening(&self) -> Option<Opening> {
        let id = self.call_id.clone().or_else(|| self.id.clone());
        let id = id.map_or_else(CallId::generate, CallId::new);
        Some(Opening::Call { id, name: self.name.clone()? })
    }
}
