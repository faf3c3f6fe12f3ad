//! `--include-partial-messages`: an answer as the events of the Messages API's stream.

use serde_json::{Value, json};

/// Where a streamed answer is.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    open: Option<Kind>,
    blocks: usize,
    has_begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
}

impl Pieces {
    /// More of what the model says; `message` begins the answer if nothing has.
    pub(crate) fn text(&mut self, delta: &str, message: &Value) -> Vec<Value> {
        let empty = json!({ "type": "text", "text": "" });
        let mut events = self.ensure(Kind::Text, &empty, message);
        events.push(self.delta(&json!({ "type": "text_delta", "text": delta })));
        events
    }

    /// More of what the model thinks.
    pub(crate) fn thought(&mut self, delta: &str, message: &Value) -> Vec<Value> {
        let empty = json!({ "type": "thinking", "thinking": "", "signature": "" });
        let mut events = self.ensure(Kind::Thinking, &empty, message);
        events.push(self.delta(&json!({ "type": "thinking_delta", "thinking": delta })));
        events
    }

    /// The answer is whole: its calls, whose arguments are known only now, and its end.
    pub(crate) fn finish<'a>(
        &mut self,
        calls: impl Iterator<Item = &'a Value>,
        end: Value,
        message: &Value,
    ) -> Vec<Value> {
        let mut events = self.close();
        for call in calls {
            events.extend(self.begin(message));
            let index = self.blocks;
            let mut empty = call.clone();
            empty["input"] = json!({});
            events.push(
                json!({ "type": "content_block_start", "index": index, "content_block": empty }),
            );
            self.blocks += 1;
            let input = call["input"].to_string();
            events.push(self.delta(&json!({ "type": "input_json_delta", "partial_json": input })));
            events.push(json!({ "type": "content_block_stop", "index": index }));
        }
        if self.has_begun {
            events.push(end);
            events.push(json!({ "type": "message_stop" }));
        }
        *self = Self::default();
        events
    }

    /// Opens a block of a kind, unless one is open.
    fn ensure(&mut self, kind: Kind, empty: &Value, message: &Value) -> Vec<Value> {
        if self.open == Some(kind) {
            return Vec::new();
        }
        let mut events = self.begin(message);
        events.extend(self.close());
        let index = self.blocks;
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": empty }));
        self.open = Some(kind);
        self.blocks += 1;
        events
    }

    fn begin(&mut self, message: &Value) -> Vec<Value> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Vec::new();
        }
        vec![json!({ "type": "message_start", "message": message })]
    }

    fn close(&mut self) -> Vec<Value> {
        match self.open.take() {
            Some(_) => vec![json!({ "type": "content_block_stop", "index": self.blocks - 1 })],
            None => Vec::new(),
        }
    }

    fn delta(&self, delta: &Value) -> Value {
        json!({ "type": "content_block_delta", "index": self.blocks - 1, "delta": delta })
    }
}
