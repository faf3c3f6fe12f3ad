//! Events as items: what arrives piece by piece, and becomes what is stored.

use std::collections::HashMap;

use base::protocol::{ChildState, Ending, Event, HookState};
use base::transcript::{Call, own_command};
use base::{CallId, Entry, EntryId, EntryKind, ModelRef, Part, PartBody, SessionId, StopReason};

use super::call::{Child, ToolCall};
use super::item::{Body, Item};
use super::items::{Items, Number};
use super::note::{self, Note};
use super::prompt::Prompt;
use super::stored::{self, Orphans, Running};
use super::thought::Thought;
use crate::figures;
use crate::markdown::Markdown;

/// How far back an item may be that still changes.
const REACH: usize = 400;

/// Sub-agents of sub-agents deeper than this are a mistake.
const DEEPEST: usize = 64;

/// What is known of the turn that runs.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// The session that is shown.
    pub(crate) main: Option<SessionId>,
    pub(crate) is_busy: bool,
    model: Option<ModelRef>,
    began_ms: u64,
    /// The call that each sub-agent works for, and whose call it is.
    owners: HashMap<SessionId, (SessionId, CallId)>,
    pub(crate) running: Running,
    pub(crate) orphans: Orphans,
}

impl Live {
    /// Takes an event of the session or of a sub-agent.
    pub(crate) fn see(&mut self, event: &Event, now_ms: u64, items: &mut Items) {
        let Some(session) = event.session().or(self.main) else { return };
        if Some(session) == self.main {
            self.see_main(event, now_ms, items);
        } else if self.owners.contains_key(&session) {
            self.see_child(session, event, now_ms, items);
        }
    }

    fn see_child(&mut self, session: SessionId, event: &Event, now_ms: u64, items: &mut Items) {
        if let Some(id) = call_named(event) {
            if let Some(call) = self.call_of(session, id, items) {
                call.see(event, now_ms);
            }
        } else if let Event::ChildStarted { .. } = event {
            self.child(event, now_ms, items);
        } else if let Some((owner, id)) = self.owners.get(&session).cloned()
            && let Some(call) = self.call_of(owner, &id, items)
            && let Some(child) = call.children.iter_mut().find(|child| child.session == session)
        {
            child.see(event, now_ms);
        }
    }

    /// A sub-agent begins, or goes on for another call.
    fn child(&mut self, event: &Event, now_ms: u64, items: &mut Items) {
        let Event::ChildStarted { session, call, child, agent, color } = event else { return };
        if Some(*child) == self.main || *child == *session {
            return;
        }
        let owner = (*session, call.clone());
        if self.owners.insert(*child, owner.clone()) == Some(owner) {
            // It is told again what goes on.
            return;
        }
        let made = Child::new(*child, agent, color.as_deref(), now_ms);
        if let Some(call) = self.call_of(*session, call, items) {
            call.children.push(made);
        }
    }

    /// Takes sub-agents that were looked up, each after the one it works for.
    pub(crate) fn learn(&mut self, children: &[ChildState], now_ms: u64, items: &mut Items) {
        for known in children {
            if Some(known.session) == self.main || known.session == known.above {
                continue;
            }
            let owner = (known.above, known.call.clone());
            if *self.owners.entry(known.session).or_insert_with(|| owner.clone()) != owner {
                // It goes on for another call now, and is shown there.
                continue;
            }
            let Some(call) = self.call_of(known.above, &known.call, items) else { continue };
            let at = call.children.iter().position(|child| child.session == known.session);
            let at = at.unwrap_or_else(|| {
                let color = known.color.as_deref();
                call.children.push(Child::new(known.session, &known.agent, color, now_ms));
                call.children.len() - 1
            });
            call.children[at].learn(known, now_ms);
        }
    }

    /// The call of a session, found down the tree of sub-agents; it is made if it is new.
    fn call_of<'a>(
        &self,
        session: SessionId,
        id: &CallId,
        items: &'a mut Items,
    ) -> Option<&'a mut ToolCall> {
        let mut path = vec![(session, id)];
        let mut above = session;
        while Some(above) != self.main {
            let (owner, call) = self.owners.get(&above)?;
            path.push((*owner, call));
            above = *owner;
            if path.len() > DEEPEST {
                return None;
            }
        }
        let (_, root) = path.pop()?;
        if items.number_of_call(root).is_none() {
            items.push(Item::new(None, Body::Calls(vec![ToolCall::unknown(root.clone())])));
        }
        let mut call = items.call_mut(root)?;
        while let Some((session, id)) = path.pop() {
            let child = call.children.iter_mut().find(|child| child.session == session)?;
            call = child.call(id);
        }
        Some(call)
    }

    fn see_main(&mut self, event: &Event, now_ms: u64, items: &mut Items) {
        if !matches!(event, Event::Retrying { .. } | Event::Waiting { .. } | Event::Spent { .. }) {
            drop_retry(items);
        }
        match event {
            Event::TurnStarted { model, .. } => {
                self.is_busy = true;
                self.model = Some(model.clone());
                self.began_ms = now_ms;
            }
            Event::Text { entry, delta, .. } => said(*entry, delta, now_ms, items),
            Event::Reasoning { entry, delta, .. } => thought(*entry, delta, now_ms, items),
            Event::Appended { entry, .. } => self.appended(entry, now_ms, items),
            Event::Retrying { attempt, wait_ms, reason, .. } => {
                drop_retry(items);
                let at_ms = now_ms.saturating_add(*wait_ms);
                let note = Note::Retry { attempt: *attempt, at_ms, reason: reason.clone() };
                items.push(Item::new(None, Body::Note(note)));
            }
            Event::ToolStarted { call, .. }
            | Event::ToolProgress { call, .. }
            | Event::ToolDone { call, .. }
            | Event::ApprovalNeeded { call, .. }
            | Event::Denied { call, .. } => {
                if items.number_of_call(call).is_none() {
                    let made = ToolCall::unknown(call.clone());
                    items.push(Item::new(None, Body::Calls(vec![made])));
                }
                if let Some(known) = items.call_mut(call) {
                    known.see(event, now_ms);
                }
            }
            Event::Hook { name, occasion, state, .. } => hook(name, occasion, state, items),
            Event::Notice { text, .. } => note(Note::Notice(text.clone()), items),
            Event::TurnDone { stop, ending, usage, cost, .. } => {
                self.end(now_ms, items);
                let mut told = ending_words(*stop, ending, items);
                told.extend(self.model.as_ref().map(|model| model.model.clone()));
                told.push(figures::duration(now_ms.saturating_sub(self.began_ms)));
                if usage.total() > 0 {
                    told.push(figures::usage(usage));
                }
                told.extend(cost.map(figures::money));
                items.push(Item::new(None, Body::Note(Note::Footer(told.join(" · ")))));
            }
            Event::TurnFailed { reason, class, .. } => {
                self.end(now_ms, items);
                items.push(Item::new(None, Body::Note(note::failure(reason, *class))));
            }
            Event::ChildStarted { .. } => self.child(event, now_ms, items),
            Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::CommandDone { .. } => {}
        }
    }

    /// A turn is over: nothing of it arrives any more.
    fn end(&mut self, now_ms: u64, items: &mut Items) {
        self.is_busy = false;
        let numbers: Vec<Number> = items.range().rev().take(REACH).collect();
        for number in numbers {
            let Some(item) = items.get_mut(number).filter(|item| !item.is_settled()) else {
                continue;
            };
            match &mut item.body {
                Body::Answer { is_arriving, .. } => *is_arriving = false,
                Body::Thought(thought) => thought.end(now_ms),
                Body::Calls(calls) => {
                    let of_turn = calls.iter_mut().filter(|call| !call.is_users());
                    of_turn.for_each(|call| call.give_up(now_ms));
                }
                Body::Prompt(_) | Body::Note(_) => {}
            }
            item.changed();
        }
    }

    fn appended(&mut self, entry: &Entry, now_ms: u64, items: &mut Items) {
        match &entry.kind {
            EntryKind::Assistant { parts, usage, .. } => {
                if usage.total() > 0 {
                    self.running.context = Some(usage.total());
                }
                settle(entry.id, parts, now_ms, items);
            }
            EntryKind::User { parts } => {
                if let Some((line, output)) = own_command(parts) {
                    own(entry.id, line, output, items);
                    return;
                }
                let is_shown =
                    items.newest_first().take(REACH).any(|(_, item)| item.entry == Some(entry.id));
                let prompt = Prompt::of(parts);
                // The command that printed it stands there with all of it.
                let is_seen = prompt.is_output()
                    && items.last().is_some_and(|item| matches!(item.body, Body::Calls(_)));
                if !is_shown && !is_seen && !prompt.is_empty() {
                    items.push(Item::new(Some(entry.id), Body::Prompt(prompt)));
                }
            }
            EntryKind::ToolResults { parts } => {
                for result in parts.iter().filter_map(Part::as_result) {
                    if let Some(call) = items.call_mut(&result.call) {
                        call.finish(result);
                    }
                }
            }
            // The end of the turn tells it, too.
            EntryKind::Notice { class: Some(_), .. } => {}
            EntryKind::Notice { .. }
            | EntryKind::Compaction { .. }
            | EntryKind::ModelChange { .. }
            | EntryKind::Pruned { .. }
            | EntryKind::Undone { .. }
            | EntryKind::Prefix { .. }
            | EntryKind::Checkpoint { .. } => {
                if let Some(made) = stored::note(&entry.kind, self.running.context) {
                    note(made, items);
                }
            }
        }
    }
}

/// A command of the user's own is stored: it is shown already, unless we came while it ran.
fn own(entry: EntryId, line: &str, output: &str, items: &mut Items) {
    let is_it = |item: &Item| match &item.body {
        Body::Calls(calls) => item.entry.is_none() && calls.iter().any(|call| call.is_own(line)),
        Body::Prompt(_) | Body::Answer { .. } | Body::Thought(_) | Body::Note(_) => false,
    };
    let shown = items.newest_first().take(REACH).find(|(_, item)| is_it(item));
    match shown.map(|(number, _)| number).and_then(|number| items.get_mut(number)) {
        Some(item) => item.entry = Some(entry),
        None => items.push_call(Some(entry), ToolCall::own(entry, line, output)),
    }
}

/// The call that an event is about.
fn call_named(event: &Event) -> Option<&CallId> {
    match event {
        Event::ToolStarted { call, .. }
        | Event::ToolProgress { call, .. }
        | Event::ToolDone { call, .. }
        | Event::ApprovalNeeded { call, .. }
        | Event::Denied { call, .. } => Some(call),
        Event::TurnStarted { .. }
        | Event::Appended { .. }
        | Event::Text { .. }
        | Event::Reasoning { .. }
        | Event::Retrying { .. }
        | Event::ChildStarted { .. }
        | Event::QuestionAsked { .. }
        | Event::Settled { .. }
        | Event::Spent { .. }
        | Event::SessionChanged { .. }
        | Event::Waiting { .. }
        | Event::Hook { .. }
        | Event::Notice { .. }
        | Event::CommandDone { .. }
        | Event::TurnDone { .. }
        | Event::TurnFailed { .. } => None,
    }
}

/// The newest item, notes left aside, if it is of an entry.
fn newest_of(entry: EntryId, items: &mut Items) -> Option<&mut Item> {
    let is_note = |item: &Item| matches!(item.body, Body::Note(_));
    let (number, found) = items.newest_first().take(REACH).find(|(_, item)| !is_note(item))?;
    if found.entry != Some(entry) {
        return None;
    }
    items.get_mut(number)
}

fn said(entry: EntryId, delta: &str, now_ms: u64, items: &mut Items) {
    if let Some(item) = newest_of(entry, items) {
        match &mut item.body {
            Body::Answer { text, is_arriving: true } => {
                text.push(delta);
                item.changed();
                return;
            }
            Body::Thought(thought) => {
                thought.end(now_ms);
                item.changed();
            }
            Body::Answer { .. } | Body::Prompt(_) | Body::Calls(_) | Body::Note(_) => {}
        }
    }
    if !delta.trim().is_empty() {
        let text = Markdown::new(delta);
        items.push(Item::new(Some(entry), Body::Answer { text, is_arriving: true }));
    }
}

fn thought(entry: EntryId, delta: &str, now_ms: u64, items: &mut Items) {
    if let Some(item) = newest_of(entry, items)
        && let Body::Thought(thought) = &mut item.body
        && thought.is_arriving()
    {
        thought.text.push_str(delta);
        item.changed();
        return;
    }
    if !delta.trim().is_empty() {
        let mut thought = Thought::begin(now_ms);
        thought.text.push_str(delta);
        items.push(Item::new(Some(entry), Body::Thought(thought)));
    }
}

/// What was streamed of an entry becomes what was stored of it; what was not streamed is added.
fn settle(entry: EntryId, parts: &[Part], now_ms: u64, items: &mut Items) {
    let streamed = items.newest_first().take(REACH).filter(|(_, item)| item.entry == Some(entry));
    let mut streamed: Vec<Number> = streamed.map(|(number, _)| number).collect();
    streamed.reverse();
    for part in parts {
        match &part.body {
            PartBody::Text { text } if !text.trim().is_empty() => {
                let known =
                    take_first(&mut streamed, items, |body| matches!(body, Body::Answer { .. }));
                settle_answer(entry, text, known, items);
            }
            PartBody::Reasoning { text } if !text.trim().is_empty() => {
                let known =
                    take_first(&mut streamed, items, |body| matches!(body, Body::Thought(_)));
                settle_thought(entry, (text, part.took_ms), known, now_ms, items);
            }
            PartBody::Call(call) => settle_call(entry, call, items),
            PartBody::Text { .. }
            | PartBody::Reasoning { .. }
            | PartBody::Result(_)
            | PartBody::File(_)
            | PartBody::Opaque { .. } => {}
        }
    }
    // What arrived around something else was one text after all: the rest of it is shown above.
    for number in streamed {
        if let Some(item) = items.get_mut(number)
            && matches!(item.body, Body::Answer { .. } | Body::Thought(_))
        {
            item.body = Body::Answer { text: Markdown::default(), is_arriving: false };
            item.forget_rows();
            item.changed();
        }
    }
}

/// Takes the first item of a kind out of those that were streamed.
fn take_first(
    streamed: &mut Vec<Number>,
    items: &Items,
    is_kind: fn(&Body) -> bool,
) -> Option<Number> {
    let of_kind = |number: &Number| items.get(*number).is_some_and(|item| is_kind(&item.body));
    let at = streamed.iter().position(of_kind)?;
    Some(streamed.remove(at))
}

fn settle_answer(entry: EntryId, stored: &str, known: Option<Number>, items: &mut Items) {
    let Some(item) = known.and_then(|number| items.get_mut(number)) else {
        let text = Markdown::new(stored);
        items.push(Item::new(Some(entry), Body::Answer { text, is_arriving: false }));
        return;
    };
    if let Body::Answer { text, is_arriving } = &mut item.body {
        *is_arriving = false;
        if let Some(rest) = stored.strip_prefix(text.text()) {
            text.push(rest);
        } else {
            *text = Markdown::new(stored);
            item.forget_rows();
        }
    }
    item.changed();
}

fn settle_thought(
    entry: EntryId,
    (stored, took_ms): (&str, Option<u64>),
    known: Option<Number>,
    now_ms: u64,
    items: &mut Items,
) {
    match known.and_then(|number| items.get_mut(number)) {
        Some(item) => {
            if let Body::Thought(thought) = &mut item.body {
                thought.end(now_ms);
                thought.settle(stored, took_ms);
            }
            item.changed();
        }
        None => drop(
            items.push(Item::new(Some(entry), Body::Thought(Thought::stored(stored, took_ms)))),
        ),
    }
}

fn settle_call(entry: EntryId, call: &Call, items: &mut Items) {
    match items.call_mut(&call.id) {
        Some(known) => known.describe(call),
        None => items.push_call(Some(entry), ToolCall::of(call)),
    }
}

fn drop_retry(items: &mut Items) {
    if matches!(items.last().map(|item| &item.body), Some(Body::Note(Note::Retry { .. }))) {
        items.pop();
    }
}

/// Adds a note, unless it was just said.
pub(crate) fn note(note: Note, items: &mut Items) {
    let is_said =
        matches!(items.last().map(|item| &item.body), Some(Body::Note(last)) if *last == note);
    if !is_said {
        items.push(Item::new(None, Body::Note(note)));
    }
}

/// A hook that fails or says something to people gets a line; one that answers us in JSON does not.
fn hook(name: &str, occasion: &str, state: &HookState, items: &mut Items) {
    let HookState::Ended { code, stdout, stderr } = state else { return };
    let said = if stderr.trim().is_empty() { stdout.trim() } else { stderr.trim() };
    let is_answer = said.starts_with('{') && said.ends_with('}');
    let head = match code {
        Some(0) if said.is_empty() || is_answer => return,
        Some(0) => format!("hook {name} ({occasion})"),
        Some(code) => format!("hook {name} ({occasion}) ended with {code}"),
        None => format!("hook {name} ({occasion}) did not end in time"),
    };
    let said = if is_answer { String::new() } else { said.to_owned() };
    note(Note::Hook { head, said }, items);
}

/// Words for an ending that was not the model's own; a reason gets a line before the footer.
fn ending_words(stop: StopReason, ending: &Ending, items: &mut Items) -> Vec<String> {
    let word = match ending {
        Ending::Answered => match stop {
            StopReason::Length => Some("output limit reached"),
            StopReason::ContextFull => Some("context is full"),
            StopReason::Refusal => Some("declined"),
            StopReason::Done
            | StopReason::ToolCalls
            | StopReason::Paused
            | StopReason::Cancelled
            | StopReason::Other => None,
        },
        Ending::Cancelled => Some("stopped"),
        Ending::OverBudget(reason) | Ending::GoingInCircles(reason) | Ending::Halted(reason) => {
            // The same is often appended as a notice.
            let is_said = items.newest_first().take(3).any(
                |(_, item)| matches!(&item.body, Body::Note(Note::Notice(text)) if text == reason),
            );
            if !is_said {
                items.push(Item::new(None, Body::Note(Note::Warning(reason.clone()))));
            }
            None
        }
    };
    word.map(str::to_owned).into_iter().collect()
}
