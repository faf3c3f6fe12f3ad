//! A user who agrees to everything: forms are answered with their defaults.

use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;
use links::mcp::{Borrower, Elicitation, Elicited, Field, Kind, Progress, Sampled, Sampling};
use serde_json::{Map, Value, json};

/// Answers a server's questions and remembers them.
#[derive(Debug, Default)]
pub(super) struct Agreeable {
    asked: Mutex<Vec<String>>,
}

impl Agreeable {
    /// What the server asked, in words.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, line: String) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl Borrower for Agreeable {
    fn progress(&self, _: Progress) {}

    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited> {
        let (line, answer) = match asked {
            Elicitation::Form { message, fields } => {
                let filled = filled(&fields);
                let shown = Value::Object(filled.clone());
                (format!("a form ({message}), answered with {shown}"), Elicited::Filled(filled))
            }
            Elicitation::Page { message, url } => {
                (format!("a visit to {url} ({message}), declined"), Elicited::Declined)
            }
        };
        self.note(line);
        Box::pin(std::future::ready(answer))
    }

    fn sample(&self, asked: Sampling) -> BoxFuture<'_, Result<Sampled, String>> {
        let messages = asked.messages.len();
        self.note(format!("a model with {messages} messages, answered with a fixed text"));
        let sampled = Sampled {
            text: "This is a trial; there is no model behind it.".to_owned(),
            model: "none".to_owned(),
            cut_off: false,
        };
        Box::pin(std::future::ready(Ok(sampled)))
    }
}

/// The defaults, and something that fits where a field must be filled in and has none.
fn filled(fields: &[Field]) -> Map<String, Value> {
    let mut filled = Map::new();
    for field in fields {
        let value = field.default.clone().or_else(|| field.required.then(|| fitting(&field.kind)));
        if let Some(value) = value {
            filled.insert(field.name.clone(), value);
        }
    }
    filled
}

fn fitting(kind: &Kind) -> Value {
    match kind {
        Kind::Text { least, most, format } => {
            super::made_up::text(format.as_deref(), *least, *most).into()
        }
        Kind::Number { whole, least, most } => {
            let number = least.or(*most).unwrap_or(1.0);
            #[expect(clippy::cast_possible_truncation, reason = "it is rounded first")]
            if *whole { json!(number.ceil() as i64) } else { json!(number) }
        }
        Kind::Switch => json!(true),
        Kind::OneOf(choices) => choices.first().map_or(Value::Null, |it| json!(it.value)),
        Kind::SomeOf(choices) => choices.iter().take(1).map(|it| json!(it.value)).collect(),
    }
}
