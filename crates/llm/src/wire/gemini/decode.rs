//! Reads answers: streamed chunks, a whole answer, or a list of chunks in one body.

use std::borrow::Cow;

use base::CallId;
use base::model::{StopReason, Usage};
use base::transcript::{File, FileSource};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::{Decode, StreamEvent};
use super::chunk::{Blob, Candidate, Chunk, FunctionCall, Part, Tokens};
use super::partial_args::PartialArgs;
use super::{CALL_ID, SIGNATURE};
use crate::delta::Delta;
use crate::error::Error;
use crate::reading::parts::{Parts, Prose};
use crate::reading::short_cut::{ShortCut, Strings};
use crate::repair;
use crate::target::Target;

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Decoder {
    parts: Parts,
    started: bool,
    called: bool,
    /// The call whose arguments are still coming, and its part.
    open_call: Option<(usize, PartialArgs)>,
    usage: Usage,
    finish: Option<StopReason>,
    stopped: bool,
    /// For chunks like the last one: text of which kind they bring.
    short_cut: Option<ShortCut<Prose>>,
    strings: Strings<Prose>,
}

impl Decoder {
    pub(in crate::wire) fn new(_target: &Target) -> Self {
        Self::default()
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: StreamEvent<'_>, out: &mut Vec<Delta>) -> Result<(), Error> {
        let short_cut = self.short_cut.as_ref();
        if let Some((text, prose)) = short_cut.and_then(|known| known.take(event.data)) {
            self.parts.prose(prose, text, out);
            return Ok(());
        }
        match event.data.trim_ascii() {
            b"" | b"[DONE]" => Ok(()),
            data => {
                let (before, ended) = (out.len(), self.finish);
                self.strings = Strings::default();
                self.read(data, out)?;
                let lone = out.len() <= before + 1 && self.finish == ended;
                self.short_cut = lone.then(|| self.strings.short_cut(data)).flatten();
                Ok(())
            }
        }
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Error> {
        if body.trim_ascii_start().starts_with(b"[") {
            let chunks: Vec<Value> = serde_json::from_slice(body)
                .ok()
                .or_else(|| repair::lossy_json(body).and_then(|value| Vec::deserialize(value).ok()))
                .ok_or_else(|| Error::protocol("a list of chunks that is not JSON"))?;
            for chunk in &chunks {
                let read = Chunk::deserialize(chunk).map_err(Error::protocol)?;
                self.take(read, chunk.to_string().as_bytes(), out)?;
            }
        } else {
            self.read(body, out)?;
            if !self.started && self.finish.is_none() {
                return Err(Error::from_body(None, body));
            }
        }
        self.end(out)
    }

    /// The answer may go on after a first finish reason (when the provider runs code in between), so
    /// only the end of the stream says which was the last.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Error> {
        if self.stopped {
            return Ok(());
        }
        let stop = match self.finish {
            None => return Err(Error::truncated()),
            Some(StopReason::Done) if self.called => StopReason::ToolCalls,
            Some(stop) => stop,
        };
        self.close_call(out);
        self.stopped = true;
        out.push(Delta::Stop(stop));
        Ok(())
    }
}

impl Decoder {
    fn read(&mut self, data: &[u8], out: &mut Vec<Delta>) -> Result<(), Error> {
        match serde_json::from_slice::<Chunk<'_>>(data) {
            Ok(chunk) => self.take(chunk, data, out),
            Err(error) => {
                let value = repair::lossy_json(data).ok_or_else(|| Error::protocol(&error))?;
                let chunk = Chunk::deserialize(&value).map_err(|_| Error::protocol(error))?;
                self.take(chunk, data, out)
            }
        }
    }

    fn take(&mut self, chunk: Chunk<'_>, data: &[u8], out: &mut Vec<Delta>) -> Result<(), Error> {
        if let Some(error) = &chunk.error {
            let status = error.get("code").and_then(Value::as_u64);
            return Err(Error::from_body(status.and_then(|code| code.try_into().ok()), data));
        }
        let candidates = chunk.candidates.unwrap_or_default();
        let answers = !candidates.is_empty() || !chunk.response_id.0.is_empty();
        if answers && !self.started {
            self.started = true;
            let owned = |text: &str| text.to_owned();
            let (id, model) = (chunk.response_id.some(), chunk.model_version.some());
            out.push(Delta::Started { id: id.map(owned), model: model.map(owned) });
        }
        if chunk.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some()) {
            self.finish = Some(StopReason::Refusal);
        }
        // Others than the first are answers nobody asked for.
        let first = candidates.into_iter().find(|one| one.index.unwrap_or(0) == 0);
        if let Some(candidate) = first {
            self.candidate(candidate, out);
        }
        if let Some(tokens) = chunk.usage_metadata {
            self.account(&tokens, out);
        }
        Ok(())
    }

    fn candidate(&mut self, candidate: Candidate<'_>, out: &mut Vec<Delta>) {
        let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
        for part in parts {
            self.part(part, out);
        }
        if let Some(reason) = candidate.finish_reason.some() {
            self.finish = Some(stop_reason(reason));
        }
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<Delta>) {
        let signature = part.thought_signature.some();
        if signature.is_some() {
            self.strings.spoil();
        }
        if let Some(call) = part.function_call {
            self.call(call, signature, out);
            return;
        }
        let hidden = [
            ("executableCode", part.executable_code),
            ("codeExecutionResult", part.code_execution_result),
        ];
        if let Some((label, Some(step))) = hidden.into_iter().find(|(_, step)| step.is_some()) {
            let mut data = sidecar(signature);
            data.insert(label.to_owned(), step);
            self.parts.opaque(label, Value::Object(data), out);
            return;
        }
        if let Some(blob) = part.inline_data.or(part.file_data) {
            let part = self.parts.file(file(blob), out);
            sign(part, signature, out);
            return;
        }
        let prose = if part.thought == Some(true) { Prose::Thought } else { Prose::Text };
        self.strings.note(&part.text.0, prose);
        let at = self.parts.prose(prose, part.text.0, out);
        if signature.is_some() {
            // A signature may come by itself, after the text it belongs to.
            let at = at.unwrap_or_else(|| self.parts.prose_part(prose, out));
            sign(at, signature, out);
        }
    }

    fn call(&mut self, call: FunctionCall<'_>, signature: Option<&str>, out: &mut Vec<Delta>) {
        self.called = true;
        self.strings.spoil();
        let continues = call.name.0.is_empty() && self.open_call.is_some();
        if !continues {
            self.close_call(out);
            let id = call.id.some().map_or_else(CallId::generate, CallId::new);
            let part = self.parts.call(id, call.name.0.into_owned(), out);
            let mut data = sidecar(signature);
            if let Some(id) = call.id.some() {
                data.insert(CALL_ID.to_owned(), json!(id));
            }
            if !data.is_empty() {
                out.push(Delta::Sidecar { part, data: Value::Object(data) });
            }
            let args = PartialArgs::begin(call.args);
            self.open_call = Some((part, args));
        }
        if let Some((_, args)) = &mut self.open_call {
            for piece in call.partial_args.unwrap_or_default() {
                args.add(&piece);
            }
        }
        if call.will_continue != Some(true) {
            self.close_call(out);
        }
    }

    fn close_call(&mut self, out: &mut Vec<Delta>) {
        if let Some((part, args)) = self.open_call.take() {
            out.push(Delta::More { part, text: args.finish() });
        }
    }

    fn account(&mut self, tokens: &Tokens, out: &mut Vec<Delta>) {
        let count = |tokens: Option<u64>| tokens.unwrap_or(0);
        let prompt = count(tokens.prompt) + count(tokens.tool_use);
        let cache_read = count(tokens.cached).min(prompt);
        let reasoning = count(tokens.thoughts);
        let usage = Usage {
            input: prompt - cache_read,
            cache_read,
            cache_write: 0,
            output: count(tokens.candidates) + reasoning,
            reasoning,
        };
        if usage != self.usage {
            self.usage = usage;
            out.push(Delta::Usage(usage));
        }
    }
}

fn sidecar(signature: Option<&str>) -> Map<String, Value> {
    signature.map(|signature| (SIGNATURE.to_owned(), json!(signature))).into_iter().collect()
}

fn sign(part: usize, signature: Option<&str>, out: &mut Vec<Delta>) {
    if signature.is_some() {
        out.push(Delta::Sidecar { part, data: Value::Object(sidecar(signature)) });
    }
}

fn file(blob: Blob<'_>) -> File {
    let owned = |text: Cow<'_, str>| text.into_owned();
    let source = if blob.file_uri.0.is_empty() {
        FileSource::Base64(owned(blob.data.0))
    } else {
        FileSource::Url(owned(blob.file_uri.0))
    };
    File { media_type: owned(blob.mime_type.0), name: None, source }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::Done,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "LANGUAGE"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR" => StopReason::Refusal,
        // Among them MALFORMED_FUNCTION_CALL: the model tried to call and failed.
        _ => StopReason::Other,
    }
}
