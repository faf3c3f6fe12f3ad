//! What a scripted model does, request by request. The same script works on every wire.
//!
//! ```
//! use serde_json::json;
//! use testkit::Script;
//!
//! let script = Script::new()
//!     .reasoning("I should look.")
//!     .call("view", json!({ "path": "a.txt" }))
//!     .usage(10, 5)
//!     .then()
//!     .text("It is empty.");
//! assert_eq!(script.steps.len(), 2);
//! ```

use base::{StopReason, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::validate::Server;

/// Steps, one a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// What to do, in order. A step with a condition is preferred by the requests that meet it.
    pub steps: Vec<Step>,
    /// What to do when every step is used.
    pub after: After,
    /// Models that `GET …/models` lists.
    pub models: Vec<String>,
    /// The field that carries thoughts on the Chat wire.
    pub chat_thoughts: ChatThoughts,
    /// What to do with a request that breaks its wire's rules. It is always recorded.
    pub on_violation: OnViolation,
    /// Whose rules requests are held against: the wire's own provider's, or looser ones.
    pub server: Server,
}

/// What to do when every step is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// Do the last one again.
    #[default]
    RepeatLast,
    /// Answer 500, `script exhausted`.
    Exhausted,
}

/// What to do with a request that breaks its wire's rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnViolation {
    /// Answer all the same; the test asks for the violations.
    #[default]
    Answer,
    /// Answer 400, as the provider would.
    Refuse,
}

/// The field that carries thoughts on the Chat wire, where every server has its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatThoughts {
    /// `reasoning_content`, a text.
    #[default]
    ReasoningContent,
    /// `reasoning`, a text.
    Reasoning,
    /// `reasoning` and `reasoning_details` with a signature.
    ReasoningDetails,
}

/// What to do for one request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// Which requests get it; without a condition, the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// What to do, in order.
    pub actions: Vec<Action>,
    /// Whether it is used up by one request.
    pub lasts: Lasts,
}

/// Whether a step is used up by one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasts {
    /// It is.
    #[default]
    Once,
    /// It answers every request that meets its condition.
    Always,
}

/// A condition on a request; all that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// Text that the body holds, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Text that the body does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// Text that the path holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The model asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// One thing a scripted model does.
///
/// A delay, stall or drop before anything is said comes before the status line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Says a text.
    Text {
        /// The text.
        text: String,
        /// In how many pieces it is streamed.
        #[serde(default = "one")]
        deltas: usize,
    },
    /// Says much: as many deltas, each of as many bytes.
    Bulk {
        /// How many pieces.
        deltas: usize,
        /// How long each is.
        bytes: usize,
    },
    /// Declines, in the wire's own way of declining where it has one.
    Refusal {
        /// The text.
        text: String,
    },
    /// Thinks.
    Reasoning {
        /// The thought; empty when the provider shows nothing of it.
        text: String,
        /// In how many pieces it is streamed.
        #[serde(default = "one")]
        deltas: usize,
        /// Signature or encrypted content; made up when left out, absent when empty.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<String>,
    },
    /// Calls a tool.
    Call {
        /// Its id; made up when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The tool.
        name: String,
        /// Its arguments. A string is sent as it is, so that broken JSON can be scripted.
        args: Value,
        /// In how many pieces they are streamed.
        #[serde(default = "one")]
        deltas: usize,
    },
    /// Reports tokens.
    Usage(Usage),
    /// Reports a cost in dollars, on the wires that have a place for it.
    Cost {
        /// Dollars.
        dollars: f64,
    },
    /// Stops for a reason; without it, for its calls or because it is done.
    Stop {
        /// The reason.
        reason: StopReason,
    },
    /// Answers with an error status, in the wire's own words.
    Fail {
        /// The status.
        status: u16,
        /// The provider's code or type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// What the provider says.
        message: String,
    },
    /// Fails inside a stream that began with 200.
    FailInside {
        /// The provider's code or type.
        code: String,
        /// What the provider says.
        message: String,
    },
    /// Adds a header to the answer, such as `retry-after`.
    Header {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// Waits.
    Delay {
        /// Milliseconds.
        ms: u64,
    },
    /// Says nothing more, for ever.
    Stall,
    /// Sends a text as it is, outside the protocol.
    Raw {
        /// The bytes.
        text: String,
    },
    /// Sends bytes as they are, outside the protocol.
    RawBytes {
        /// The bytes, in base64.
        base64: String,
    },
    /// Closes the connection.
    Drop,
    /// Closes the connection after so many bytes of the body.
    DropAt {
        /// How many.
        byte: usize,
    },
    /// Ends the body properly, but without the wire's last event.
    EndEarly,
}

fn one() -> usize {
    1
}

impl Script {
    /// A script whose first step is empty.
    pub fn new() -> Self {
        Self { steps: vec![Step::default()], ..Self::default() }
    }

    /// Ends this step; what follows answers the next request.
    #[must_use]
    pub fn then(mut self) -> Self {
        self.steps.push(Step::default());
        self
    }

    /// This step is for a request whose body holds `text`.
    #[must_use]
    pub fn when_contains(mut self, text: &str) -> Self {
        let when = When { contains: Some(text.to_owned()), ..When::default() };
        self.current().when = Some(when);
        self
    }

    /// This step is for requests that meet `when`.
    #[must_use]
    pub fn when(mut self, when: When) -> Self {
        self.current().when = Some(when);
        self
    }

    /// This step is never used up.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.current().lasts = Lasts::Always;
        self
    }

    /// After the last step, requests get a 500.
    #[must_use]
    pub fn exhausts(mut self) -> Self {
        self.after = After::Exhausted;
        self
    }

    /// Requests that break their wire's rules get a 400.
    #[must_use]
    pub fn refuse_violations(mut self) -> Self {
        self.on_violation = OnViolation::Refuse;
        self
    }

    /// Requests may have what servers that only speak the same wire take beyond it.
    #[must_use]
    pub fn compatible(mut self) -> Self {
        self.server = Server::Compatible;
        self
    }

    /// Lists `model` under `GET …/models`.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        self.models.push(model.to_owned());
        self
    }

    /// Which field carries thoughts on the Chat wire.
    #[must_use]
    pub fn chat_thoughts(mut self, field: ChatThoughts) -> Self {
        self.chat_thoughts = field;
        self
    }

    /// Adds any action to this step.
    #[must_use]
    pub fn act(mut self, action: Action) -> Self {
        self.current().actions.push(action);
        self
    }

    /// Says `text` in one piece.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.text_in(text, 1)
    }

    /// Says `text` in so many pieces.
    #[must_use]
    pub fn text_in(self, text: &str, deltas: usize) -> Self {
        self.act(Action::Text { text: text.to_owned(), deltas })
    }

    /// Says `deltas` pieces of `bytes` bytes each.
    #[must_use]
    pub fn bulk(self, deltas: usize, bytes: usize) -> Self {
        self.act(Action::Bulk { deltas, bytes })
    }

    /// Declines.
    #[must_use]
    pub fn refusal(self, text: &str) -> Self {
        self.act(Action::Refusal { text: text.to_owned() })
    }

    /// Thinks `text`, sealed as the wire does it.
    #[must_use]
    pub fn reasoning(self, text: &str) -> Self {
        self.act(Action::Reasoning { text: text.to_owned(), deltas: 1, seal: None })
    }

    /// Calls a tool; the call's id is made up.
    #[must_use]
    pub fn call(self, name: &str, args: Value) -> Self {
        self.act(Action::Call { id: None, name: name.to_owned(), args, deltas: 3 })
    }

    /// Calls a tool under an id.
    #[must_use]
    pub fn call_as(self, id: &str, name: &str, args: Value) -> Self {
        self.act(Action::Call { id: Some(id.to_owned()), name: name.to_owned(), args, deltas: 3 })
    }

    /// Reports tokens, nothing cached.
    #[must_use]
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.act(Action::Usage(Usage { input, output, ..Usage::default() }))
    }

    /// Stops for `reason`.
    #[must_use]
    pub fn stop(self, reason: StopReason) -> Self {
        self.act(Action::Stop { reason })
    }

    /// Answers with an error status.
    #[must_use]
    pub fn fail(self, status: u16, message: &str) -> Self {
        self.act(Action::Fail { status, code: None, message: message.to_owned() })
    }

    /// Fails inside a stream that began with 200.
    #[must_use]
    pub fn fail_inside(self, code: &str, message: &str) -> Self {
        self.act(Action::FailInside { code: code.to_owned(), message: message.to_owned() })
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        self.act(Action::Header { name: name.to_owned(), value: value.to_owned() })
    }

    /// Waits.
    #[must_use]
    pub fn delay_ms(self, ms: u64) -> Self {
        self.act(Action::Delay { ms })
    }

    /// Says nothing more, for ever.
    #[must_use]
    pub fn stall(self) -> Self {
        self.act(Action::Stall)
    }

    /// Sends `text` outside the protocol.
    #[must_use]
    pub fn raw(self, text: &str) -> Self {
        self.act(Action::Raw { text: text.to_owned() })
    }

    /// Closes the connection.
    #[must_use]
    pub fn drop_connection(self) -> Self {
        self.act(Action::Drop)
    }

    /// Closes the connection after so many bytes of the body.
    #[must_use]
    pub fn drop_at(self, byte: usize) -> Self {
        self.act(Action::DropAt { byte })
    }

    /// Ends the body without the wire's last event.
    #[must_use]
    pub fn end_early(self) -> Self {
        self.act(Action::EndEarly)
    }

    fn current(&mut self) -> &mut Step {
        if self.steps.is_empty() {
            self.steps.push(Step::default());
        }
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_survives_json() {
        let script = Script::new()
            .when_contains("title")
            .always()
            .text_in("a title", 2)
            .then()
            .reasoning("hm")
            .call("view", serde_json::json!({ "path": "x" }))
            .usage(1, 2)
            .stop(StopReason::Length)
            .then()
            .header("retry-after", "1")
            .fail(429, "slow down")
            .exhausts();
        let json = serde_json::to_string(&script).unwrap();
        assert_eq!(serde_json::from_str::<Script>(&json).unwrap(), script);
    }

    #[test]
    fn a_script_written_by_hand_needs_no_more_than_its_actions() {
        let text = r#"{"steps":[{"actions":[{"do":"text","text":"hi"},
            {"do":"usage","input":3,"output":4},{"do":"stall"}]}]}"#;
        let script: Script = serde_json::from_str(text).unwrap();
        let actions = &script.steps[0].actions;
        assert_eq!(actions[0], Action::Text { text: "hi".into(), deltas: 1 });
        assert_eq!(actions[2], Action::Stall);
        let typo = r#"{"steps":[{"actions":[{"do":"text","texts":"hi"}]}]}"#;
        assert!(serde_json::from_str::<Script>(typo).is_err());
    }
}
