//! Converse answers to deltas, streamed or whole.

use base::CallId;
use base::model::{StopReason, Usage};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::delta::{Delta, Opening};
use crate::error::Error;
use crate::target::Target;
use crate::wire::{Decode, StreamEvent};

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Decoder {
    started: bool,
    open: Vec<Open>,
    parts: usize,
    stopped: bool,
}

/// A block that has begun and not ended. Only calls are announced; the rest begins with its first
/// piece.
#[derive(Debug)]
struct Open {
    index: u64,
    part: usize,
    signature: String,
    redacted: String,
}

impl Decoder {
    pub(in crate::wire) fn new(_target: &Target) -> Self {
        Self::default()
    }

    fn start(&mut self, out: &mut Vec<Delta>) {
        if !self.started {
            self.started = true;
            // The request's id is a header, and the model is the one that was asked.
            out.push(Delta::Started { id: None, model: None });
        }
    }

    fn open(&mut self, index: u64, opening: Opening, out: &mut Vec<Delta>) -> usize {
        let part = self.parts;
        self.parts += 1;
        out.push(Delta::Open { part, opening });
        let (signature, redacted) = (String::new(), String::new());
        self.open.push(Open { index, part, signature, redacted });
        self.open.len() - 1
    }

    /// The open block of that index, begun as `opening` if it was not announced.
    fn block(&mut self, index: u64, opening: Opening, out: &mut Vec<Delta>) -> &mut Open {
        let known = self.open.iter().rposition(|open| open.index == index);
        let at = known.unwrap_or_else(|| self.open(index, opening, out));
        &mut self.open[at]
    }

    fn piece(&mut self, index: u64, piece: Piece, out: &mut Vec<Delta>) {
        if let Some(text) = piece.text {
            let part = self.block(index, Opening::Text, out).part;
            more(part, text, out);
        }
        if let Some(call) = piece.tool_use
            && let Some(open) = self.open.iter().rfind(|open| open.index == index)
        {
            more(open.part, call.input.unwrap_or_default(), out);
        }
        if let Some(thought) = piece.reasoning_content {
            let open = self.block(index, Opening::Reasoning, out);
            open.signature.push_str(thought.signature.as_deref().unwrap_or_default());
            open.redacted.push_str(thought.redacted_content.as_deref().unwrap_or_default());
            let part = open.part;
            more(part, thought.text.unwrap_or_default(), out);
        }
    }

    fn close(&mut self, index: u64, out: &mut Vec<Delta>) {
        if let Some(at) = self.open.iter().rposition(|open| open.index == index) {
            let open = self.open.remove(at);
            seal(&open, out);
        }
    }

    fn stop(&mut self, reason: &str, out: &mut Vec<Delta>) {
        for open in self.open.drain(..) {
            seal(&open, out);
        }
        self.stopped = true;
        out.push(Delta::Stop(stop_reason(reason)));
    }

    fn whole_block(&mut self, index: u64, block: Block<'_>, out: &mut Vec<Delta>) {
        if let Some(text) = block.text {
            self.piece(index, Piece { text: Some(text), ..Piece::default() }, out);
        }
        if let Some(call) = block.tool_use {
            self.call(index, call.tool_use_id, call.name, out);
            let input = call.input.map(|input| input.get().to_owned());
            let tool_use = Some(CallPiece { input });
            self.piece(index, Piece { tool_use, ..Piece::default() }, out);
        }
        if let Some(thought) = block.reasoning_content {
            let said = thought.reasoning_text.unwrap_or_default();
            let reasoning_content = Some(Thought {
                text: said.text,
                signature: said.signature,
                redacted_content: thought.redacted_content,
            });
            self.piece(index, Piece { reasoning_content, ..Piece::default() }, out);
        }
        self.close(index, out);
    }

    fn call(&mut self, index: u64, id: String, name: String, out: &mut Vec<Delta>) {
        let id = if id.is_empty() { CallId::generate() } else { CallId::new(id) };
        self.open(index, Opening::Call { id, name }, out);
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: StreamEvent<'_>, out: &mut Vec<Delta>) -> Result<(), Error> {
        let text = String::from_utf8_lossy(event.data);
        match event.name {
            // Only the count of tokens may follow the end.
            "contentBlockDelta" | "contentBlockStart" | "messageStop" if self.stopped => {}
            "contentBlockDelta" => {
                self.start(out);
                let delta: BlockDelta = read(&text)?;
                self.piece(delta.content_block_index, delta.delta, out);
            }
            "contentBlockStart" => {
                self.start(out);
                let begun: BlockStart = read(&text)?;
                if let Some(call) = begun.start.tool_use {
                    self.call(begun.content_block_index, call.tool_use_id, call.name, out);
                }
            }
            "contentBlockStop" => {
                let ended: BlockStop = read(&text)?;
                self.close(ended.content_block_index, out);
            }
            "messageStart" => self.start(out),
            "messageStop" => {
                self.start(out);
                let end: MessageStop = read(&text)?;
                self.stop(&end.stop_reason, out);
            }
            "metadata" => {
                self.start(out);
                let metadata: Metadata = read(&text)?;
                out.extend(metadata.usage.map(|count| Delta::Usage(count.into())));
            }
            name if name.ends_with("Exception") => {
                return Err(Error::from_code(name, event.data));
            }
            // Whatever comes after this version.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Error> {
        let text = String::from_utf8_lossy(body);
        let whole: Whole<'_> = read(&text)?;
        self.start(out);
        for (index, block) in (0..).zip(whole.output.message.content) {
            self.whole_block(index, block, out);
        }
        out.extend(whole.usage.map(|count| Delta::Usage(count.into())));
        self.stop(&whole.stop_reason, out);
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<Delta>) -> Result<(), Error> {
        if self.stopped { Ok(()) } else { Err(Error::truncated()) }
    }
}

fn more(part: usize, text: String, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::More { part, text });
    }
}

/// A thought's sidecar is told only when the thought is whole.
fn seal(open: &Open, out: &mut Vec<Delta>) {
    let data = match (open.redacted.is_empty(), open.signature.is_empty()) {
        (false, _) => json!({ "redacted": open.redacted }),
        (true, false) => json!({ "signature": open.signature }),
        (true, true) => return,
    };
    out.push(Delta::Sidecar { part: open.part, data });
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::Done,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" => StopReason::Length,
        "guardrail_intervened" | "content_filtered" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextFull,
        _ => StopReason::Other,
    }
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(Error::protocol)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockDelta {
    content_block_index: u64,
    delta: Piece,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Piece {
    text: Option<String>,
    tool_use: Option<CallPiece>,
    reasoning_content: Option<Thought>,
}

#[derive(Deserialize)]
struct CallPiece {
    input: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thought {
    text: Option<String>,
    signature: Option<String>,
    redacted_content: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockStart {
    content_block_index: u64,
    #[serde(default)]
    start: Announced,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Announced {
    tool_use: Option<AnnouncedCall>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnnouncedCall {
    #[serde(default)]
    tool_use_id: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockStop {
    content_block_index: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageStop {
    stop_reason: String,
}

#[derive(Deserialize)]
struct Metadata {
    usage: Option<Count>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Whole<'a> {
    output: Output<'a>,
    stop_reason: String,
    usage: Option<Count>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Output<'a> {
    message: WholeMessage<'a>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct WholeMessage<'a> {
    #[serde(default)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Block<'a> {
    text: Option<String>,
    tool_use: Option<WholeCall<'a>>,
    reasoning_content: Option<WholeThought>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct WholeCall<'a> {
    #[serde(default)]
    tool_use_id: String,
    name: String,
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WholeThought {
    reasoning_text: Option<SignedText>,
    redacted_content: Option<String>,
}

#[derive(Deserialize, Default)]
struct SignedText {
    text: Option<String>,
    signature: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Count {
    #[serde(rename = "inputTokens")]
    input: u64,
    #[serde(rename = "outputTokens")]
    output: u64,
    #[serde(rename = "cacheReadInputTokens")]
    cache_read: u64,
    #[serde(rename = "cacheWriteInputTokens")]
    cache_write: u64,
}

impl From<Count> for Usage {
    fn from(count: Count) -> Self {
        let Count { input, output, cache_read, cache_write } = count;
        Self { input, cache_read, cache_write, output, reasoning: 0 }
    }
}
