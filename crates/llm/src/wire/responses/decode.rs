//! Events and whole answers to deltas.
//!
//! What an item says may come as deltas, in its closing event, in the answer's last event, or in all
//! three; each piece is given once. Events name their item by position and id, but some servers give
//! every item position 0, some no position, and some a new id in every event, so items are found by
//! whatever fits best (see `Items`).

use base::model::StopReason;
use serde_json::value::RawValue;

use super::frame::{self, Frame, Item, Kind, Response};
use super::items::{ItemKind, Items, Saying};
use crate::delta::{Delta, Opening};
use crate::error::Error;
use crate::reading::short_cut::ShortCut;
use crate::sse;
use crate::target::Target;
use crate::wire::{Decode, StreamEvent};

/// Reads one answer.
pub(in crate::wire) struct Decoder {
    pub(super) items: Items,
    next_part: usize,
    phase: Phase,
    /// Why it stops if its end gives no other reason.
    leaning: StopReason,
    /// For events like the last one that brought text.
    short_cut: Option<ShortCut<Place>>,
}

/// Which text of which item goes on.
#[derive(Debug, Clone, Copy)]
struct Place {
    item: usize,
    saying: usize,
}

/// How far the answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Awaited,
    Started,
    Ended,
}

impl Decoder {
    pub(in crate::wire) fn new(_target: &Target) -> Self {
        Self {
            items: Items::default(),
            next_part: 0,
            phase: Phase::Awaited,
            leaning: StopReason::Done,
            short_cut: None,
        }
    }

    fn start(&mut self, response: &Response<'_>, out: &mut Vec<Delta>) {
        if self.phase == Phase::Awaited {
            self.phase = Phase::Started;
            out.push(Delta::Started { id: response.id.clone(), model: response.model.clone() });
        }
    }

    pub(super) fn open(&mut self, opening: Opening, out: &mut Vec<Delta>) -> usize {
        let part = self.next_part;
        self.next_part += 1;
        if matches!(opening, Opening::Call { .. }) {
            self.leaning = StopReason::ToolCalls;
        }
        out.push(Delta::Open { part, opening });
        part
    }

    /// Calls want their results, whatever else was refused.
    pub(super) fn lean_to_refusal(&mut self) {
        if self.leaning == StopReason::Done {
            self.leaning = StopReason::Refusal;
        }
    }

    fn frame(
        &mut self,
        kind: &str,
        frame: &Frame<'_>,
        json: &str,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        match kind {
            "response.output_text.delta" => self.more(ItemKind::Message, frame, json, out),
            "response.refusal.delta" => {
                self.lean_to_refusal();
                self.more(ItemKind::Message, frame, json, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.more(ItemKind::Reasoning, frame, json, out);
            }
            "response.function_call_arguments.delta" => self.more(ItemKind::Call, frame, json, out),
            "response.output_text.done" | "response.refusal.done" => {
                if frame.refusal.is_some() {
                    self.lean_to_refusal();
                }
                self.text_done(frame, out);
            }
            "response.function_call_arguments.done" => self.arguments_done(frame, out),
            "response.output_item.added" => {
                if let Some(item) = frame.item {
                    self.item_added(item, frame, out)?;
                }
            }
            "response.output_item.done" => {
                if let Some(raw) = frame.item {
                    let item = parse::<Item<'_>>(raw)?;
                    let found = self.items.closing(&item, frame.output_index);
                    self.item_done(found, &item, raw, out)?;
                }
            }
            "response.created" | "response.in_progress" | "response.queued" => {
                if let Some(raw) = frame.response {
                    let response = parse::<Response<'_>>(raw)?;
                    self.start(&response, out);
                }
            }
            "response.completed"
            | "response.done"
            | "response.incomplete"
            | "response.cancelled" => {
                let raw = frame.response.ok_or_else(|| Error::protocol("an end without answer"))?;
                self.finish(&parse(raw)?, raw, kind, out)?;
            }
            // Progress of the provider's own tools, annotations, pings and what is yet to be invented.
            _ => {}
        }
        Ok(())
    }

    /// The hot path: an event like the one before it, but for its text.
    fn more_alike(&mut self, data: &[u8], out: &mut Vec<Delta>) -> Option<()> {
        let (text, place) = self.short_cut.as_ref()?.take(data)?;
        let saying = self.items.slots.get_mut(place.item)?.sayings.get_mut(place.saying)?;
        saying.sent.push_str(&text);
        if !text.is_empty() {
            out.push(Delta::More { part: saying.part, text: text.into_owned() });
        }
        Some(())
    }

    /// One more piece of text, thought or arguments.
    fn more(&mut self, kind: ItemKind, frame: &Frame<'_>, json: &str, out: &mut Vec<Delta>) {
        let delta = frame.delta.as_ref().map_or("", frame::Text::as_str);
        if delta.is_empty() {
            return;
        }
        let id = frame.item_id.as_ref().map(frame::Text::as_str);
        let item = self.items.speaking(kind, frame.output_index, id);
        let index = frame.content_index.or(frame.summary_index).unwrap_or(0);
        let Some(at) = self.saying(item, index, out) else { return };
        let saying = &mut self.items.slots[item].sayings[at];
        saying.sent.push_str(delta);
        let gap = if std::mem::take(&mut saying.paragraph) { "\n\n" } else { "" };
        out.push(Delta::More { part: saying.part, text: format!("{gap}{delta}") });
        // Only the event's own type makes its bytes tell the whole story.
        if frame.kind.is_some() {
            self.short_cut = ShortCut::learn(json.as_bytes(), delta, Place { item, saying: at });
        }
    }

    /// Which of the item's texts has this index. Opens a part for a new one; none while a call has
    /// no name.
    pub(super) fn saying(
        &mut self,
        item: usize,
        index: u64,
        out: &mut Vec<Delta>,
    ) -> Option<usize> {
        let slot = &self.items.slots[item];
        if let Some(found) = slot.sayings.iter().rposition(|saying| saying.index == index) {
            return Some(found);
        }
        let (part, paragraph) = match (slot.kind, slot.sayings.first()) {
            // All paragraphs of a thought are one part, and calls have no paragraphs.
            (ItemKind::Reasoning, Some(first)) => (first.part, true),
            (ItemKind::Call, Some(first)) => (first.part, false),
            (ItemKind::Reasoning, None) => (self.open(Opening::Reasoning, out), false),
            (ItemKind::Message, _) => (self.open(Opening::Text, out), false),
            (ItemKind::Call, None) => {
                let opening = slot.call_opening()?;
                (self.open(opening, out), false)
            }
            (ItemKind::Other, _) => return None,
        };
        let sayings = &mut self.items.slots[item].sayings;
        sayings.push(Saying { index, part, paragraph, sent: String::new() });
        Some(sayings.len() - 1)
    }

    /// Gives what of `full` has not been given yet.
    pub(super) fn complete(&mut self, item: usize, index: u64, full: &str, out: &mut Vec<Delta>) {
        if full.is_empty() {
            return;
        }
        let Some(at) = self.saying(item, index, out) else { return };
        let saying = &mut self.items.slots[item].sayings[at];
        // Where the two tell different stories, the one already told stands.
        let Some(rest) = full.strip_prefix(&saying.sent).filter(|rest| !rest.is_empty()) else {
            return;
        };
        saying.sent.push_str(rest);
        let gap = if std::mem::take(&mut saying.paragraph) { "\n\n" } else { "" };
        out.push(Delta::More { part: saying.part, text: format!("{gap}{rest}") });
    }

    fn text_done(&mut self, frame: &Frame<'_>, out: &mut Vec<Delta>) {
        let Some(full) = frame.text.as_ref().or(frame.refusal.as_ref()) else { return };
        let id = frame.item_id.as_ref().map(frame::Text::as_str);
        let at = self.items.speaking(ItemKind::Message, frame.output_index, id);
        self.complete(at, frame.content_index.unwrap_or(0), full.as_str(), out);
    }

    fn arguments_done(&mut self, frame: &Frame<'_>, out: &mut Vec<Delta>) {
        let Some(full) = &frame.arguments else { return };
        let id = frame.item_id.as_ref().map(frame::Text::as_str);
        let at = self.items.speaking(ItemKind::Call, frame.output_index, id);
        self.complete(at, 0, full.as_str(), out);
    }

    /// What an item holds when it begins is left for later: some servers repeat it in deltas.
    fn item_added(
        &mut self,
        raw: &RawValue,
        frame: &Frame<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let item = parse::<Item<'_>>(raw)?;
        let at = self.items.add(&item, frame.output_index);
        // A call is announced at once, so that a face can show it while its arguments stream.
        let announced = item.kind.as_ref().is_some_and(|kind| kind.as_str() == "function_call");
        if announced {
            self.first_part(at, out);
        }
        Ok(())
    }

    /// Takes an answer's end: whatever was not streamed, usage, cost and the reason to stop.
    fn finish(
        &mut self,
        response: &Response<'_>,
        raw: &RawValue,
        kind: &str,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let status = response.status.as_ref().map_or("", frame::Text::as_str);
        if status == "failed" || kind == "response.failed" {
            return Err(failure(response, raw));
        }
        self.start(response, out);
        self.settle_items(response, out)?;
        if let Some(tokens) = &response.usage {
            out.push(Delta::Usage(tokens.usage()));
            out.extend(tokens.cost().map(Delta::Cost));
        }
        out.push(Delta::Stop(self.stop(response, status, kind)));
        self.phase = Phase::Ended;
        Ok(())
    }

    fn stop(&self, response: &Response<'_>, status: &str, kind: &str) -> StopReason {
        let reason = response.incomplete_details.as_ref().and_then(|why| why.reason.as_deref());
        let incomplete = status == "incomplete" || kind == "response.incomplete";
        match reason {
            Some("max_output_tokens" | "max_tokens" | "length") => StopReason::Length,
            Some("content_filter") => StopReason::Refusal,
            Some("model_context_window_exceeded" | "context_length") => StopReason::ContextFull,
            Some(_) | None if incomplete => StopReason::Other,
            Some(_) | None if status == "cancelled" => StopReason::Cancelled,
            Some(_) | None => self.leaning,
        }
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: StreamEvent<'_>, out: &mut Vec<Delta>) -> Result<(), Error> {
        let data = event.data.trim_ascii();
        if self.phase == Phase::Ended || data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        if self.more_alike(data, out).is_some() {
            return Ok(());
        }
        self.short_cut = None;
        let text = sse::text(data);
        let frame = match serde_json::from_str::<Frame<'_>>(&text) {
            Ok(frame) => frame,
            Err(fault) => return excuse(event.name, &text, &fault),
        };
        let named = frame.kind.clone();
        let kind = named.as_ref().map_or(event.name, frame::Text::as_str);
        let failed = frame.error.is_some_and(|error| error.get() != "null");
        if matches!(kind, "error" | "response.error") || (failed && named.is_none()) {
            return Err(Error::from_body(None, data));
        }
        if kind == "response.failed" {
            let raw = frame.response.ok_or_else(|| Error::from_body(None, data))?;
            return Err(failure(&parse(raw)?, raw));
        }
        if frame.response.is_none() && !matches!(kind, "" | "ping") {
            self.start(&Response::default(), out);
        }
        self.frame(kind, &frame, &text, out)
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Error> {
        let text = sse::text(body);
        let mut raw = serde_json::from_str::<&RawValue>(text.trim()).map_err(Error::protocol)?;
        let mut response = parse::<Response<'_>>(raw)?;
        if let (None, Some(inner)) = (&response.output, response.wrapped) {
            raw = inner;
            response = parse(inner)?;
        }
        let status = response.status.as_ref().map_or("", frame::Text::as_str);
        if response.error.is_some_and(|error| error.get() != "null") {
            return Err(failure(&response, raw));
        }
        if matches!(status, "in_progress" | "queued") {
            return Err(Error::truncated());
        }
        if response.output.is_none() && status.is_empty() {
            return Err(Error::protocol("no answer in the body"));
        }
        self.finish(&response, raw, "", out)
    }

    fn end(&mut self, _out: &mut Vec<Delta>) -> Result<(), Error> {
        if self.phase == Phase::Ended { Ok(()) } else { Err(Error::truncated()) }
    }
}

pub(super) fn parse<'a, T: serde::Deserialize<'a>>(raw: &'a RawValue) -> Result<T, Error> {
    serde_json::from_str(raw.get()).map_err(Error::protocol)
}

fn failure(response: &Response<'_>, raw: &RawValue) -> Error {
    let error = response.error.filter(|error| error.get() != "null").unwrap_or(raw);
    Error::from_body(None, error.get().as_bytes())
}

/// An event of a shape we do not know is skipped if its kind is not known either.
fn excuse(name: &str, text: &str, fault: &serde_json::Error) -> Result<(), Error> {
    let kind = serde_json::from_str::<Kind<'_>>(text).map_err(|_| Error::protocol(fault))?;
    let kind = kind.kind.as_ref().map_or(name, frame::Text::as_str);
    let known = [".output_text.", ".refusal.", ".reasoning", ".function_call", ".output_item."];
    let ends = [".completed", ".incomplete", ".failed", ".done", ".created"];
    let matters = known.iter().any(|part| kind.contains(part))
        || ends.iter().any(|end| kind.strip_prefix("response") == Some(end));
    match kind {
        "error" | "response.error" => Err(Error::from_body(None, text.as_bytes())),
        _ if matters => Err(Error::protocol(fault)),
        _ => Ok(()),
    }
}
