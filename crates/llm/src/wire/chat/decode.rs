//! Reads answers: streamed chunks or a whole body.

use std::borrow::Cow;

use base::CallId;
use base::model::{Money, StopReason, Usage};
use base::transcript::{File, FileSource};
use serde_json::Value;

use super::super::{Decode, StreamEvent};
use super::calls::Calls;
use super::chunk::{Choice, Chunk, Content, ContentPart, Message, ToolCall};
use super::finish::{self, Finish};
use super::thoughts::Thoughts;
use super::usage;
use crate::delta::Delta;
use crate::error::Error;
use crate::reading::parts::{Parts, Prose};
use crate::reading::short_cut::{ShortCut, Strings};
use crate::target::Target;
use crate::text_calls::{Splitter, Spoken};

/// Reads one answer.
pub(in crate::wire) struct Decoder {
    reasoning_beside: Option<bool>,
    splitter: Option<Splitter>,
    parts: Parts,
    calls: Calls,
    text_calls: usize,
    thoughts: Thoughts,
    usage: Usage,
    cost: Option<Money>,
    refused: bool,
    finish: Option<StopReason>,
    state: State,
    /// For chunks like the last one.
    short_cut: Option<ShortCut<Goal>>,
    strings: Strings<Goal>,
}

/// Where a string of a chunk goes.
#[derive(Debug, Clone, Copy)]
enum Goal {
    /// Running text of this kind.
    Prose(Prose),
    /// The arguments of the call that is this part.
    Arguments(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has come that says who answers.
    Waiting,
    /// The answer runs.
    Running,
    /// `Delta::Stop` is out.
    Stopped,
}

impl Decoder {
    pub(in crate::wire) fn new(target: &Target) -> Self {
        Self {
            reasoning_beside: target.quirks.reasoning_beside_output,
            splitter: Splitter::for_quirks(&target.quirks),
            parts: Parts::default(),
            calls: Calls::default(),
            text_calls: 0,
            thoughts: Thoughts::default(),
            usage: Usage::default(),
            cost: None,
            refused: false,
            finish: None,
            state: State::Waiting,
            short_cut: None,
            strings: Strings::default(),
        }
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: StreamEvent<'_>, out: &mut Vec<Delta>) -> Result<(), Error> {
        let data = event.data;
        if self.state == State::Stopped {
            return Ok(());
        }
        if let Some((text, goal)) = self.short_cut.as_ref().and_then(|known| known.take(data)) {
            self.say(goal, text, out);
            return Ok(());
        }
        match data.trim_ascii() {
            b"" => Ok(()),
            b"[DONE]" => self.done(out),
            _ if event.name == "error" => Err(Error::from_body(None, data)),
            _ => self.chunk(data, out),
        }
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Error> {
        Chunk::read(body, |mut chunk| {
            let choice = chunk.choices.choice.take();
            if failed(&chunk) {
                return Err(Error::from_body(None, body));
            }
            let Some(mut choice) = choice else {
                return Err(Error::from_body(None, body));
            };
            choice.message = choice.message.or(choice.delta.take());
            self.take(&chunk, Some(choice), out)
        })?;
        self.finish.get_or_insert(StopReason::Done);
        self.stop(out);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Error> {
        match (self.state, self.finish) {
            (State::Stopped, _) => Ok(()),
            (State::Waiting | State::Running, None) => Err(Error::truncated()),
            (State::Waiting | State::Running, Some(_)) => {
                self.stop(out);
                Ok(())
            }
        }
    }
}

impl Decoder {
    /// `[DONE]` ends an answer that said something, even where the reason is missing.
    fn done(&mut self, out: &mut Vec<Delta>) -> Result<(), Error> {
        if self.finish.is_none() && self.parts.begun() == 0 {
            return Err(Error::truncated());
        }
        self.finish.get_or_insert(StopReason::Done);
        self.stop(out);
        Ok(())
    }

    fn chunk(&mut self, data: &[u8], out: &mut Vec<Delta>) -> Result<(), Error> {
        let before = out.len();
        self.strings = Strings::default();
        let ended = self.finish;
        let plain = Chunk::read(data, |mut chunk| {
            if failed(&chunk) {
                return Err(Error::from_body(None, data));
            }
            let mut choice = chunk.choices.choice.take();
            if let Some(choice) = &mut choice
                && let Some(delta) = choice.delta.take()
            {
                choice.message = Some(delta);
            }
            let plain = chunk.usage.is_none() && chunk.cost.is_none();
            self.take(&chunk, choice, out)?;
            Ok(plain)
        })?;
        let lone = plain && self.finish == ended && out.len() <= before + 1;
        self.short_cut = lone.then(|| self.strings.short_cut(data)).flatten();
        Ok(())
    }

    fn take(
        &mut self,
        chunk: &Chunk<'_>,
        choice: Option<Choice<'_>>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        self.start(chunk, choice.is_some(), out);
        let mut ended = Ok(());
        if let Some(choice) = choice {
            let (reason, native) = (choice.finish_reason, choice.native_finish_reason);
            if let Some(message) = choice.message {
                self.message(message, out);
            }
            match finish::read(&reason.0, &native.0) {
                Finish::Open => {}
                Finish::Stopped(stop) => self.finish = Some(stop),
                Finish::Broke(error) => ended = Err(error),
            }
        }
        let nested = chunk.x_groq.as_ref().and_then(|groq| groq.get("usage"));
        let used = chunk.usage.as_ref().or(nested).filter(|used| used.is_object());
        self.account(used, chunk.cost.as_ref(), out);
        ended
    }

    /// Says who answers, once there is somebody: Azure opens with a chunk that names nobody.
    fn start(&mut self, chunk: &Chunk<'_>, speaks: bool, out: &mut Vec<Delta>) {
        let (id, model) = (chunk.id.some(), chunk.model.some());
        if self.state == State::Waiting && (speaks || id.is_some()) {
            self.state = State::Running;
            let owned = |text: &str| text.to_owned();
            out.push(Delta::Started { id: id.map(owned), model: model.map(owned) });
        }
    }

    fn account(&mut self, used: Option<&Value>, cost: Option<&Value>, out: &mut Vec<Delta>) {
        if let Some(usage) = used.map(|used| usage::tokens(used, self.reasoning_beside))
            && usage != Usage::default()
            && usage != self.usage
        {
            self.usage = usage;
            out.push(Delta::Usage(usage));
        }
        let cost = usage::cost(used, cost);
        if cost.is_some() && cost != self.cost {
            self.cost = cost;
            out.extend(cost.map(Delta::Cost));
        }
    }

    fn message(&mut self, mut message: Message<'_>, out: &mut Vec<Delta>) {
        self.think(&mut message, out);
        match message.content {
            Content::Text(text) => self.speak(text, out),
            Content::Parts(parts) => {
                for part in parts {
                    self.content_part(part, out);
                }
            }
        }
        self.refuse(message.refusal.0, out);
        for image in message.images.unwrap_or_default() {
            if let Some(file) = image_file(&image) {
                self.parts.file(file, out);
            }
        }
        let calls = message.tool_calls.unwrap_or_default();
        let legacy = message.function_call.map(|function| ToolCall {
            index: Some(0),
            function: Some(function),
            ..ToolCall::default()
        });
        for call in calls.into_iter().chain(legacy) {
            self.call(call, out);
        }
    }

    fn think(&mut self, message: &mut Message<'_>, out: &mut Vec<Delta>) {
        let details = message.reasoning_details.take().unwrap_or_default();
        let sealed = !details.is_empty() || message.reasoning_opaque.is_some();
        let told = self.thoughts.take_details(details);
        if let Some(opaque) = message.reasoning_opaque.take() {
            self.thoughts.take_opaque(opaque);
        }
        if let Some((field, text)) = Thoughts::readable(message) {
            self.strings.note(text, Goal::Prose(Prose::Thought));
            self.thought(field, text, out);
        } else {
            self.thought(super::thoughts::DETAILS, &told, out);
        }
        if sealed {
            self.strings.spoil();
            self.thoughts.anchor(&mut self.parts, out);
        }
    }

    fn thought(&mut self, field: &'static str, text: &str, out: &mut Vec<Delta>) {
        if let Some(part) = self.parts.prose(Prose::Thought, text, out) {
            self.thoughts.landed(field, part, out);
        }
    }

    fn content_part(&mut self, part: ContentPart<'_>, out: &mut Vec<Delta>) {
        match &*part.kind.0 {
            "thinking" => match part.thinking {
                Content::Text(text) => self.thought("thinking", &text, out),
                Content::Parts(parts) => {
                    for part in parts {
                        self.thought("thinking", &part.text.0, out);
                    }
                }
            },
            "refusal" => self.refuse(part.refusal.0, out),
            _ => self.speak(part.text.0, out),
        }
    }

    fn refuse(&mut self, text: Cow<'_, str>, out: &mut Vec<Delta>) {
        self.refused |= !text.is_empty();
        self.parts.prose(Prose::Text, text, out);
    }

    /// Text as the model says it; where it calls tools in words, the calls are taken out.
    fn speak(&mut self, text: Cow<'_, str>, out: &mut Vec<Delta>) {
        if let Cow::Borrowed(text) = &text
            && !text.is_empty()
        {
            self.strings.note(text, Goal::Prose(Prose::Text));
        }
        self.say(Goal::Prose(Prose::Text), text, out);
    }

    fn say(&mut self, goal: Goal, text: Cow<'_, str>, out: &mut Vec<Delta>) {
        match (goal, &mut self.splitter) {
            (Goal::Arguments(_), _) if text.is_empty() => {}
            (Goal::Arguments(part), _) => out.push(Delta::More { part, text: text.into_owned() }),
            (Goal::Prose(Prose::Text), Some(splitter)) => {
                let mut spoken = Vec::new();
                splitter.push(&text, &mut spoken);
                self.spoken(spoken, out);
            }
            (Goal::Prose(prose), _) => {
                self.parts.prose(prose, text, out);
            }
        }
    }

    fn spoken(&mut self, spoken: Vec<Spoken>, out: &mut Vec<Delta>) {
        for one in spoken {
            match one {
                Spoken::Text(text) => {
                    self.parts.prose(Prose::Text, text, out);
                }
                Spoken::Thought(text) => self.thought("think", &text, out),
                Spoken::Call { name, arguments } => {
                    self.text_calls += 1;
                    let part = self.parts.call(CallId::generate(), name, out);
                    out.push(Delta::More { part, text: arguments });
                }
            }
        }
    }

    fn call(&mut self, call: ToolCall<'_>, out: &mut Vec<Delta>) {
        let arguments = call.function.as_ref().map(|function| &function.arguments.0);
        let string = match arguments {
            Some(Cow::Borrowed(text)) => Some(*text),
            Some(Cow::Owned(_)) | None => None,
        };
        let part = self.calls.take(call, &mut self.parts, out);
        if let (Some(part), Some(text)) = (part, string) {
            self.strings.note(text, Goal::Arguments(part));
        }
    }

    fn stop(&mut self, out: &mut Vec<Delta>) {
        if let Some(mut splitter) = self.splitter.take() {
            let mut spoken = Vec::new();
            splitter.finish(&mut spoken);
            self.spoken(spoken, out);
        }
        self.calls.finish(&mut self.parts, out);
        self.thoughts.finish(out);
        let called = self.calls.any() || self.text_calls > 0;
        let said = self.finish.unwrap_or(StopReason::Other);
        let settled = !matches!(said, StopReason::Done | StopReason::ToolCalls);
        out.push(Delta::Stop(match (settled, called, self.refused) {
            (true, _, _) => said,
            (false, true, _) => StopReason::ToolCalls,
            (false, false, true) => StopReason::Refusal,
            (false, false, false) => StopReason::Done,
        }));
        self.short_cut = None;
        self.state = State::Stopped;
    }
}

/// Whether the provider reports a failure inside a successful response.
fn failed(chunk: &Chunk<'_>) -> bool {
    let told = chunk.error.as_ref().is_some_and(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => true,
    });
    told || chunk.object.0 == "error"
}

/// An image an answer brings: a data URL, or an address.
fn image_file(image: &Value) -> Option<File> {
    let url = image.pointer("/image_url/url").or_else(|| image.get("image_url"))?.as_str()?;
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    Some(match inline {
        Some((media_type, bytes)) => File {
            media_type: media_type.to_owned(),
            name: None,
            source: FileSource::Base64(bytes.to_owned()),
        },
        None => File {
            media_type: "image/png".to_owned(),
            name: None,
            source: FileSource::Url(url.to_owned()),
        },
    })
}
