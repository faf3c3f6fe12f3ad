//! Messages answers to deltas, streamed or whole.

use base::CallId;
use base::model::{Money, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::shapes::{Block, Count, Event, Piece, Start, Tag, Whole};
use crate::delta::{Delta, Opening};
use crate::error::Error;
use crate::reading::short_cut::ShortCut;
use crate::target::Target;
use crate::wire::{Decode, StreamEvent};

/// The events we read.
const EVENTS: [&str; 7] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
];
/// The blocks we understand; others are kept as they are.
const BLOCKS: [&str; 4] = ["text", "thinking", "redacted_thinking", "tool_use"];
/// The pieces we understand.
const PIECES: [&str; 4] = ["text_delta", "thinking_delta", "signature_delta", "input_json_delta"];

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Decoder {
    phase: Phase,
    open: Vec<Open>,
    parts: usize,
    called: bool,
    /// Why the model stops, once it has said so; told when the stream ends.
    reason: Option<StopReason>,
    usage: Usage,
    /// For events like the last one that brought text, and the part it went to.
    short_cut: Option<ShortCut<usize>>,
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Waiting,
    Running,
    /// The stream has said that this was all.
    Ended,
}

/// A block that has begun and not ended.
#[derive(Debug)]
struct Open {
    index: u64,
    part: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text,
    /// The signature comes in pieces; half of one must never be kept.
    Thought {
        signature: String,
    },
    /// Arguments that came with the beginning, for servers that send no pieces.
    Call {
        input: Option<String>,
    },
    /// The block as it began, and the JSON of its input.
    Opaque {
        block: Map<String, Value>,
        input: String,
    },
}

impl Decoder {
    pub(in crate::wire) fn new(_target: &Target) -> Self {
        Self::default()
    }

    fn start(&mut self, start: Start<'_>, out: &mut Vec<Delta>) {
        if self.phase == Phase::Waiting {
            self.phase = Phase::Running;
            out.push(Delta::Started { id: start.id, model: start.model });
        }
        self.tally(start.usage, out);
    }

    fn open(&mut self, index: u64, block: &RawValue, out: &mut Vec<Delta>) -> Result<(), Error> {
        self.start(Start::default(), out);
        let part = self.parts;
        self.parts += 1;
        let tag: Tag<'_> = read(block.get())?;
        if !BLOCKS.contains(&tag.kind.0.as_ref()) {
            let label = tag.kind.0.into_owned();
            out.push(Delta::Open { part, opening: Opening::Opaque { label } });
            let kind = Kind::Opaque { block: read(block.get())?, input: String::new() };
            self.open.push(Open { index, part, kind });
            return Ok(());
        }
        let head: Block<'_> = read(block.get())?;
        let mut begin = |opening| out.push(Delta::Open { part, opening });
        let kind = match head.kind.0.as_ref() {
            "thinking" => {
                begin(Opening::Reasoning);
                Kind::Thought { signature: head.signature.unwrap_or_default() }
            }
            "redacted_thinking" => {
                begin(Opening::Reasoning);
                let data = json!({ "redacted": head.data.unwrap_or_default() });
                out.push(Delta::Sidecar { part, data });
                Kind::Text
            }
            "tool_use" => {
                self.called = true;
                let id = head.id.filter(|id| !id.is_empty());
                let id = id.map_or_else(CallId::generate, CallId::new);
                begin(Opening::Call { id, name: head.name.unwrap_or_default() });
                let input = head.input.map(RawValue::get).filter(|input| *input != "{}");
                Kind::Call { input: input.map(str::to_owned) }
            }
            _ => {
                begin(Opening::Text);
                Kind::Text
            }
        };
        more(part, head.text.or(head.thinking), out);
        self.open.push(Open { index, part, kind });
        Ok(())
    }

    fn piece(&mut self, index: u64, piece: Piece<'_>, json: &str, out: &mut Vec<Delta>) {
        let Some(at) = self.open.iter().rposition(|open| open.index == index) else {
            self.unannounced(index, piece, out);
            return;
        };
        let Open { part, kind, .. } = &mut self.open[at];
        let said = match (piece.kind.0.as_ref(), kind) {
            ("text_delta", Kind::Text) => piece.text,
            ("thinking_delta", Kind::Thought { .. }) => piece.thinking,
            ("signature_delta", Kind::Thought { signature }) => {
                signature.push_str(piece.signature.as_deref().unwrap_or_default());
                None
            }
            ("input_json_delta", Kind::Call { input }) => {
                if piece.partial_json.as_ref().is_some_and(|json| !json.0.is_empty()) {
                    *input = None;
                }
                piece.partial_json
            }
            ("input_json_delta", Kind::Opaque { input, .. }) => {
                input.push_str(&piece.partial_json.unwrap_or_default().0);
                None
            }
            // Citations, and whatever comes after this version.
            _ => None,
        };
        if let Some(said) = said.filter(|said| !said.0.is_empty()) {
            self.short_cut = ShortCut::learn(json.as_bytes(), &said.0, *part);
            out.push(Delta::More { part: *part, text: said.0.into_owned() });
        }
    }

    /// Some gateways leave out the beginning of a block.
    fn unannounced(&mut self, index: u64, piece: Piece<'_>, out: &mut Vec<Delta>) {
        let (opening, kind) = match piece.kind.0.as_ref() {
            "text_delta" => (Opening::Text, Kind::Text),
            "thinking_delta" => (Opening::Reasoning, Kind::Thought { signature: String::new() }),
            _ => return,
        };
        self.start(Start::default(), out);
        out.push(Delta::Open { part: self.parts, opening });
        more(self.parts, piece.text.or(piece.thinking).map(|said| said.0.into_owned()), out);
        self.open.push(Open { index, part: self.parts, kind });
        self.parts += 1;
    }

    fn close(&mut self, index: u64, out: &mut Vec<Delta>) {
        if let Some(at) = self.open.iter().rposition(|open| open.index == index) {
            let open = self.open.remove(at);
            seal(open, out);
        }
    }

    fn tally(&mut self, usage: Option<&RawValue>, out: &mut Vec<Delta>) {
        // Odd numbers from a gateway are no reason to lose the answer.
        let Some(count) = usage.and_then(|usage| serde_json::from_str::<Count>(usage.get()).ok())
        else {
            return;
        };
        count.add_to(&mut self.usage);
        out.push(Delta::Usage(self.usage));
        if let Some(dollars) = count.cost {
            out.push(Delta::Cost(Money::from_dollars(dollars)));
        }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        for open in self.open.drain(..) {
            seal(open, out);
        }
        let unsaid = if self.called { StopReason::ToolCalls } else { StopReason::Done };
        out.push(Delta::Stop(self.reason.unwrap_or(unsaid)));
        self.phase = Phase::Ended;
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: StreamEvent<'_>, out: &mut Vec<Delta>) -> Result<(), Error> {
        if let Some((text, part)) = self.short_cut.as_ref().and_then(|known| known.take(event.data))
        {
            more(part, Some(text.into_owned()), out);
            return Ok(());
        }
        self.short_cut = None;
        let text = String::from_utf8_lossy(event.data);
        if self.phase == Phase::Ended || text.trim().is_empty() {
            return Ok(());
        }
        if text.trim() == "[DONE]" {
            // A gateway's habit; it may stand for the terminal event, never for the stop reason.
            if self.reason.is_some() {
                self.finish(out);
            }
            return Ok(());
        }
        let event: Event<'_> = match read(&text) {
            Ok(event) => event,
            Err(_) if is_foreign(&text) => return Ok(()),
            Err(error) => return Err(error),
        };
        if event.error.is_some() || event.kind.0 == "error" {
            return Err(Error::from_body(None, text.as_bytes()));
        }
        let index = event.index.unwrap_or_default();
        match event.kind.0.as_ref() {
            "content_block_delta" => {
                if let Some(piece) = event.delta {
                    self.piece(index, piece, &text, out);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.open(index, block, out)?;
                }
            }
            "content_block_stop" => self.close(index, out),
            "message_start" => self.start(event.message.unwrap_or_default(), out),
            "message_delta" => {
                self.start(Start::default(), out);
                self.tally(event.usage, out);
                let reason = event.delta.and_then(|end| end.stop_reason);
                self.reason = reason.as_deref().map(stop_reason).or(self.reason);
            }
            "message_stop" => {
                self.start(Start::default(), out);
                self.finish(out);
            }
            // Pings, and whatever comes after this version.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Error> {
        let text = String::from_utf8_lossy(body);
        let whole: Whole<'_> = read(&text)?;
        if whole.error.is_some() {
            return Err(Error::from_body(None, body));
        }
        let content = whole.content.ok_or_else(|| Error::protocol("an answer without content"))?;
        self.start(Start { id: whole.id, model: whole.model, usage: None }, out);
        for (index, block) in (0..).zip(content) {
            self.open(index, block, out)?;
            self.close(index, out);
        }
        self.tally(whole.usage, out);
        self.reason = whole.stop_reason.as_deref().map(stop_reason);
        self.finish(out);
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<Delta>) -> Result<(), Error> {
        match self.phase {
            Phase::Ended => Ok(()),
            Phase::Waiting | Phase::Running => Err(Error::truncated()),
        }
    }
}

fn more(part: usize, text: Option<String>, out: &mut Vec<Delta>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.push(Delta::More { part, text });
    }
}

/// What is known of a block only when it is whole.
fn seal(open: Open, out: &mut Vec<Delta>) {
    let part = open.part;
    match open.kind {
        Kind::Text => {}
        Kind::Thought { signature } if signature.is_empty() => {}
        Kind::Thought { signature } => {
            out.push(Delta::Sidecar { part, data: json!({ "signature": signature }) });
        }
        Kind::Call { input } => more(part, input, out),
        Kind::Opaque { mut block, input } => {
            if let Ok(input) = serde_json::from_str::<Value>(&input) {
                block.insert("input".into(), input);
            }
            out.push(Delta::Sidecar { part, data: block.into() });
        }
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::Done,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        "pause_turn" => StopReason::Paused,
        "model_context_window_exceeded" => StopReason::ContextFull,
        _ => StopReason::Other,
    }
}

/// Whether an event, or the piece of a block in it, is of a kind this version does not know: it may
/// hold anything.
fn is_foreign(text: &str) -> bool {
    let Ok(event) = serde_json::from_str::<Value>(text) else { return false };
    let known = |kind: &Value, all: &[&str]| kind.as_str().is_some_and(|kind| all.contains(&kind));
    !known(&event["type"], &EVENTS)
        || (event["type"] == "content_block_delta" && !known(&event["delta"]["type"], &PIECES))
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(Error::protocol)
}
