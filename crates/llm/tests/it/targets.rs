//! Targets for tests, and what a decoder makes of a few events.

use std::collections::BTreeMap;

use base::PartBody;
use llm::wire::{self, StreamEvent};
use llm::{Answer, Auth, Delta, Error, Fold, Target, Transport};
use serde_json::{Map, Value, json};
use settings::provider::{Model, Network, Quirks, Wire};

/// A model that speaks `wire`, with nothing set that could be left out.
pub(crate) fn target(wire: Wire) -> Target {
    Target {
        provider: "test".to_owned(),
        model: Model {
            id: "model-1".to_owned(),
            can_reason: true,
            supports_attachments: true,
            ..Model::default()
        },
        wire,
        transport: Transport::Direct,
        base_url: "http://127.0.0.1".to_owned(),
        auth: Auth::Anonymous,
        headers: BTreeMap::new(),
        extra_body: Map::new(),
        quirks: Quirks::default(),
        system_prompt_prefix: None,
        flat_rate: false,
        network: Network::default(),
    }
}

/// Decodes a stream of events to its end.
pub(crate) fn decode<'a>(
    target: &Target,
    events: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Result<Answer, Error> {
    let (mut decoder, mut deltas) = (wire::decoder(target), Vec::new());
    for (name, data) in events {
        decoder.event(StreamEvent { name, data }, &mut deltas)?;
    }
    decoder.end(&mut deltas)?;
    Ok(fold(target, deltas))
}

/// Decodes an answer that was not streamed.
pub(crate) fn decode_whole(target: &Target, body: &[u8]) -> Result<Answer, Error> {
    let (mut decoder, mut deltas) = (wire::decoder(target), Vec::new());
    decoder.whole(body, &mut deltas)?;
    decoder.end(&mut deltas)?;
    Ok(fold(target, deltas))
}

/// Feeds events in whatever order they come and checks what every reader of deltas relies on.
pub(crate) fn check_order(target: &Target, events: &[(&str, &str)]) -> Result<(), String> {
    let (mut decoder, mut deltas) = (wire::decoder(target), Vec::new());
    for (name, data) in events {
        // A stream that is an error ends there; what came before must still be in order.
        if decoder.event(StreamEvent { name, data: data.as_bytes() }, &mut deltas).is_err() {
            break;
        }
    }
    let (mut parts, mut stopped) = (0, false);
    for (at, delta) in deltas.iter().enumerate() {
        let good = match delta {
            Delta::Started { .. } => at == 0,
            Delta::Open { part, .. } => {
                parts += 1;
                *part + 1 == parts && !stopped
            }
            Delta::More { part, .. } | Delta::Sidecar { part, .. } => *part < parts && !stopped,
            Delta::Usage(_) | Delta::Cost(_) => true,
            Delta::Stop(_) => !std::mem::replace(&mut stopped, true),
        };
        if !good {
            return Err(format!("{delta:?} at {at} of {deltas:?}"));
        }
    }
    Ok(())
}

/// Lays deltas together.
pub(crate) fn fold(target: &Target, deltas: Vec<Delta>) -> Answer {
    let mut fold = Fold::new(target.maker());
    for delta in deltas {
        fold.push(delta);
    }
    fold.answer()
}

/// An answer as JSON: what was said, thought and called, why it stopped, what it used.
pub(crate) fn shown(answer: &Answer) -> Value {
    let mut parts = Vec::new();
    for part in &answer.parts {
        let native = part.native.as_ref().map_or(Value::Null, |native| native.data.clone());
        parts.push(match &part.body {
            PartBody::Text { text } => json!({ "text": text }),
            PartBody::Reasoning { text } => json!({ "thought": text, "native": native }),
            PartBody::Call(call) => {
                json!({ "call": call.id, "name": call.name, "input": call.input.value })
            }
            PartBody::Opaque { label } => json!({ "step": label, "native": native }),
            PartBody::Result(_) | PartBody::File(_) => panic!("no wire answers so: {part:?}"),
        });
    }
    let stop = answer.stop.map(|stop| serde_json::to_value(stop).unwrap());
    json!({ "parts": parts, "stop": stop, "usage": answer.usage })
}
