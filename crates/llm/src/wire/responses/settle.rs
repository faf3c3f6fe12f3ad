//! Whole items, from their closing event or from the answer's last one: what they say beyond what was
//! streamed, and their sidecars.

use base::transcript::{File, FileSource};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::decode::{Decoder, parse};
use super::frame::{self, Content, Item, Response};
use super::items::ItemKind;
use crate::delta::{Delta, Opening};
use crate::error::Error;

impl Decoder {
    /// Takes every item of a finished answer.
    pub(super) fn settle_items(
        &mut self,
        response: &Response<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let thought = response.reasoning.filter(|raw| raw.get().starts_with('"'));
        let thought = frame::text_or_json(thought);
        if !thought.trim().is_empty() && self.items.slots.is_empty() {
            let part = self.open(Opening::Reasoning, out);
            out.push(Delta::More { part, text: thought });
        }
        let streamed = self.items.slots.len();
        let mut seen = [0; ItemKind::COUNT];
        for raw in response.output.iter().flatten() {
            let item = parse::<Item<'_>>(raw)?;
            let kind = ItemKind::of(&item);
            let ordinal = seen[kind as usize];
            seen[kind as usize] += 1;
            let found = self.items.final_twin(&item, ordinal, streamed);
            self.item_done(found, &item, raw, out)?;
        }
        Ok(())
    }

    /// The part an item begins with, opened if it has none yet.
    pub(super) fn first_part(&mut self, item: usize, out: &mut Vec<Delta>) -> Option<usize> {
        if self.items.slots[item].sayings.is_empty() {
            self.saying(item, 0, out)?;
        }
        self.items.slots[item].sayings.first().map(|saying| saying.part)
    }

    /// Gives what is still missing of a whole item, and its sidecar.
    pub(super) fn item_done(
        &mut self,
        found: Option<usize>,
        item: &Item<'_>,
        raw: &RawValue,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let at = match found {
            Some(at) if self.items.slots[at].done => return Ok(()),
            Some(at) => at,
            None => self.items.add(item, None),
        };
        self.items.slots[at].learn(item);
        self.items.slots[at].done = true;
        match self.items.slots[at].kind {
            ItemKind::Message => self.message_done(at, item, raw, out),
            ItemKind::Reasoning => self.reasoning_done(at, item, raw, out),
            ItemKind::Call => self.call_done(at, item, raw, out),
            ItemKind::Other => self.other_done(item, raw, out),
        }
    }

    fn message_done(
        &mut self,
        at: usize,
        item: &Item<'_>,
        raw: &RawValue,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let contents = frame::contents(item.content);
        for (index, content) in (0..).zip(&contents) {
            if content.refusal.is_some() {
                self.lean_to_refusal();
            }
            self.complete(at, index, said(content), out);
        }
        let sidecar = sidecar(raw, &["content", "status", "role"])?;
        for saying in &self.items.slots[at].sayings {
            let content = usize::try_from(saying.index).ok().and_then(|at| contents.get(at));
            let mut data = sidecar.clone();
            if content.is_some_and(|content| content.refusal.is_some()) {
                data.insert("refusal".to_owned(), Value::Bool(true));
            }
            out.push(Delta::Sidecar { part: saying.part, data: Value::Object(data) });
        }
        Ok(())
    }

    fn reasoning_done(
        &mut self,
        at: usize,
        item: &Item<'_>,
        raw: &RawValue,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let summary = frame::contents(item.summary);
        let thought = frame::contents(item.content);
        // A thought and its summary are not both shown: what was streamed, else the summary.
        let streamed = self.items.slots[at].sayings.first();
        let continues = |texts: &[Content<'_>]| {
            let first = texts.first().map_or("", said);
            !first.is_empty() && streamed.is_none_or(|saying| first.starts_with(&saying.sent))
        };
        let shown = if continues(&summary) { &summary } else { &thought };
        for (index, content) in (0..).zip(shown) {
            self.complete(at, index, said(content), out);
        }
        let data = Value::Object(sidecar(raw, &["status"])?);
        let part = self.first_part(at, out);
        out.extend(part.map(|part| Delta::Sidecar { part, data }));
        Ok(())
    }

    fn call_done(
        &mut self,
        at: usize,
        item: &Item<'_>,
        raw: &RawValue,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let arguments = match item.input {
            // Free text for a tool without schema; arguments must be an object everywhere else.
            Some(input) => json!({ "input": frame::text_or_json(Some(input)) }).to_string(),
            None => frame::text_or_json(item.arguments),
        };
        self.complete(at, 0, &arguments, out);
        let data = sidecar(raw, &["arguments", "input", "status", "call_id", "name"])?;
        let part = self.first_part(at, out);
        out.extend(part.map(|part| Delta::Sidecar { part, data: Value::Object(data) }));
        Ok(())
    }

    /// A step the provider took itself. A picture it made is given as a file.
    fn other_done(
        &mut self,
        item: &Item<'_>,
        raw: &RawValue,
        out: &mut Vec<Delta>,
    ) -> Result<(), Error> {
        let label = item.kind.as_ref().map_or("item", frame::Text::as_str).to_owned();
        if label == "image_generation_call" && item.result.is_some() {
            let format = item.output_format.as_ref().map_or("png", frame::Text::as_str);
            let file = File {
                media_type: format!("image/{format}"),
                name: None,
                source: FileSource::Base64(frame::text_or_json(item.result)),
            };
            self.open(Opening::File(file), out);
            return Ok(());
        }
        let part = self.open(Opening::Opaque { label }, out);
        out.push(Delta::Sidecar { part, data: Value::Object(sidecar(raw, &[])?) });
        Ok(())
    }
}

fn said<'a>(content: &'a Content<'_>) -> &'a str {
    content.text.as_ref().or(content.refusal.as_ref()).map_or("", frame::Text::as_str)
}

/// An item without the fields that neutral parts carry.
fn sidecar(raw: &RawValue, neutral: &[&str]) -> Result<Map<String, Value>, Error> {
    let mut item = parse::<Map<String, Value>>(raw)?;
    item.retain(|key, value| !neutral.contains(&key.as_str()) && !value.is_null());
    Ok(item)
}
