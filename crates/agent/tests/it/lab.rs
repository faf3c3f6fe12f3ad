//! Models that are never called, and branches that grow entry by entry.

use std::collections::BTreeMap;

use base::transcript::{Call, CallInput, CallResult, Origin, Outcome, PartBody, Piece};
use base::{CallId, Entry, EntryId, EntryKind, ModelRef, Part, StopReason, Timestamp, Usage};
use llm::{Auth, Target, Transport};
use serde_json::{Map, Value};
use settings::provider::{Model, Network, Quirks, Wire};

/// A model that speaks `wire`.
pub(crate) fn target(wire: Wire) -> Target {
    Target {
        provider: "lab".to_owned(),
        model: Model { id: "m".to_owned(), supports_attachments: true, ..Model::default() },
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

/// A branch that grows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Branch(pub(crate) Vec<Entry>);

impl Branch {
    pub(crate) fn add(&mut self, kind: EntryKind) -> EntryId {
        let (id, parent) = (EntryId::new(), self.0.last().map(|entry| entry.id));
        self.0.push(Entry { id, parent, at: Timestamp::default(), kind });
        id
    }

    pub(crate) fn user(&mut self, text: &str) -> EntryId {
        self.add(EntryKind::User { parts: vec![Part::user_text(text)] })
    }

    pub(crate) fn assistant(&mut self, parts: Vec<Part>) -> EntryId {
        let model = ModelRef::new("lab", "m");
        let (stop, usage) = (StopReason::Done, Usage::default());
        self.add(EntryKind::Assistant { parts, model, stop, usage })
    }

    /// A call that worked.
    pub(crate) fn call(&mut self, id: &str, name: &str, input: Value, text: &str) {
        self.calls(&[(id, name, input, Outcome::Done, text)]);
    }

    /// Calls of one answer, and their results.
    pub(crate) fn calls(&mut self, calls: &[(&str, &str, Value, Outcome, &str)]) {
        let (mut asked, mut results) = (Vec::new(), Vec::new());
        for (id, name, input, outcome, text) in calls {
            let (id, name) = (CallId::new(*id), (*name).to_owned());
            let input = CallInput::sound(input.as_object().unwrap().clone());
            let call = Call { id: id.clone(), name: name.clone(), input };
            asked.push(Part::new(PartBody::Call(call), Origin::Assistant));
            let pieces = vec![Piece::Text { text: (*text).to_owned() }];
            let result = CallResult { call: id, name, outcome: *outcome, pieces, shown: None };
            results.push(Part::new(PartBody::Result(result), Origin::Workspace));
        }
        self.assistant(asked);
        self.add(EntryKind::ToolResults { parts: results });
    }
}
