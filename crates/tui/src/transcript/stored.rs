//! Stored entries as items.

use std::collections::HashMap;

use base::protocol::Paid;
use base::transcript::{CallResult, own_command};
use base::{
    CallId, Entry, EntryKind, ModelRef, Money, Part, PartBody, StopReason, Timestamp, Usage,
};

use super::call::ToolCall;
use super::item::{Body, Item};
use super::items::Items;
use super::note::{self, Note};
use super::prompt::Prompt;
use super::thought::Thought;
use crate::figures;
use crate::markdown::Markdown;

/// What is known of the turn whose entries are being read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running {
    /// When the user spoke.
    began: Option<Timestamp>,
    /// What its calls used so far.
    usage: Usage,
    /// How large the context was at its newest answer.
    pub(crate) context: Option<u64>,
    /// What model calls cost, sub-agents' too, oldest first.
    pub(crate) paid: Vec<Paid>,
}

impl Running {
    /// What a turn has cost that ended at a moment: tokens, and money where all prices are known.
    fn bill(&self, until: Timestamp) -> (Usage, Option<Money>) {
        let began = self.began.unwrap_or(until);
        let of_turn = || self.paid.iter().filter(|paid| (began..=until).contains(&paid.at));
        let mut usage = Usage::default();
        of_turn().for_each(|paid| usage += paid.usage);
        if usage.total() == 0 {
            return (self.usage, None);
        }
        (usage, of_turn().map(|paid| paid.cost).sum())
    }
}

/// Results whose calls are not shown yet: the calls are among older entries.
pub(crate) type Orphans = HashMap<CallId, CallResult>;

/// Adds the items of a stored entry.
pub(crate) fn add(entry: &Entry, items: &mut Items, running: &mut Running, orphans: &mut Orphans) {
    let id = Some(entry.id);
    match &entry.kind {
        EntryKind::User { parts } => {
            if let Some((line, output)) = own_command(parts) {
                items.push_call(id, ToolCall::own(entry.id, line, output));
                return;
            }
            let prompt = Prompt::of(parts);
            if !prompt.is_empty() {
                running.began = Some(entry.at);
                running.usage = Usage::default();
                items.push(Item::new(id, Body::Prompt(prompt)));
            }
        }
        EntryKind::Assistant { parts, model, stop, usage } => {
            for part in parts {
                add_said(entry, part, items, orphans);
            }
            running.usage += *usage;
            if usage.total() > 0 {
                running.context = Some(usage.total());
            }
            if let Some(text) = footer(entry, model, *stop, running) {
                items.push(Item::new(id, Body::Note(Note::Footer(text))));
            }
        }
        EntryKind::ToolResults { parts } => {
            for result in parts.iter().filter_map(Part::as_result) {
                match items.call_mut(&result.call) {
                    Some(call) => call.finish(result),
                    None => drop(orphans.insert(result.call.clone(), result.clone())),
                }
            }
        }
        EntryKind::Notice { .. }
        | EntryKind::Compaction { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::Checkpoint { .. } => {
            let Some(note) = note(&entry.kind, running.context) else { return };
            if matches!(note, Note::Failure(_)) {
                // A turn that failed has no other end.
                drop_footer(items);
            }
            items.push(Item::new(id, Body::Note(note)));
        }
    }
}

/// What an entry about the session says.
pub(crate) fn note(kind: &EntryKind, context: Option<u64>) -> Option<Note> {
    match kind {
        EntryKind::Notice { text, class: None } => Some(Note::Notice(text.clone())),
        EntryKind::Notice { text, class: Some(class) } => Some(note::failure(text, *class)),
        EntryKind::Compaction { summary, .. } => {
            Some(Note::Compaction { before: context, summary: summary.clone() })
        }
        EntryKind::ModelChange { to } => Some(Note::Model(to.to_string())),
        EntryKind::User { .. }
        | EntryKind::Assistant { .. }
        | EntryKind::ToolResults { .. }
        | EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::Checkpoint { .. } => None,
    }
}

fn drop_footer(items: &mut Items) {
    if matches!(items.last().map(|item| &item.body), Some(Body::Note(Note::Footer(_)))) {
        items.pop();
    }
}

fn add_said(entry: &Entry, part: &Part, items: &mut Items, orphans: &mut Orphans) {
    let id = Some(entry.id);
    match &part.body {
        PartBody::Text { text } if !text.trim().is_empty() => {
            let text = Markdown::new(text);
            items.push(Item::new(id, Body::Answer { text, is_arriving: false }));
        }
        PartBody::Reasoning { text } if !text.trim().is_empty() => {
            items.push(Item::new(id, Body::Thought(Thought::stored(text, part.took_ms))));
        }
        PartBody::Call(call) => {
            let mut made = ToolCall::stored(call);
            if let Some(result) = orphans.remove(&call.id) {
                made.finish(&result);
            }
            items.push_call(id, made);
        }
        PartBody::Text { .. }
        | PartBody::Reasoning { .. }
        | PartBody::Result(_)
        | PartBody::File(_)
        | PartBody::Opaque { .. } => {}
    }
}

/// The line below a turn's last answer.
fn footer(entry: &Entry, model: &ModelRef, stop: StopReason, running: &Running) -> Option<String> {
    let word = match stop {
        StopReason::ToolCalls | StopReason::Paused => return None,
        StopReason::Done | StopReason::Refusal | StopReason::Other => None,
        StopReason::Length => Some("output limit reached"),
        StopReason::ContextFull => Some("context is full"),
        StopReason::Cancelled => Some("stopped"),
    };
    let mut told: Vec<String> = word.map(str::to_owned).into_iter().collect();
    told.push(model.model.clone());
    if let Some(began) = running.began {
        let took = u64::try_from(entry.at.since(began).as_millis()).unwrap_or(0);
        told.extend((took > 0).then(|| figures::duration(took)));
    }
    let (usage, cost) = running.bill(entry.at);
    if usage.total() > 0 {
        told.push(figures::usage(&usage));
    }
    told.extend(cost.map(figures::money));
    Some(told.join(" · "))
}
