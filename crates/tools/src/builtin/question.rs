//! `question`: asking the user.

use base::Origin;
use guard::Action;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::lenient;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{Question as Asked, ToolCtx, Workspace};

/// Most questions of one call.
const MOST: usize = 4;

/// Ask the user when only they can decide. One to four questions.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(deserialize_with = "questions", alias = "question")]
    questions: Vec<Item>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    #[serde(alias = "text", alias = "label")]
    question: String,
    /// Answers to choose from; none for free text.
    #[serde(default, deserialize_with = "choices", alias = "options")]
    #[schemars(with = "Option<Vec<String>>")]
    choices: Vec<String>,
    /// More than one may be chosen.
    #[serde(
        default,
        deserialize_with = "lenient::switch",
        alias = "multiple",
        alias = "multiSelect",
        alias = "multi_select"
    )]
    several: bool,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Question;

impl Tool for Question {
    const NAME: &'static str = "question";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.questions.first().map(|item| item.question.clone()).unwrap_or_default()
    }

    fn actions(&self, input: &Input, _workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        if !(1..=MOST).contains(&input.questions.len()) {
            let asked = input.questions.len();
            return Err(ToolError::Arguments(format!("ask 1 to {MOST} questions, not {asked}")));
        }
        if input.questions.iter().any(|item| item.question.trim().is_empty()) {
            return Err(ToolError::Arguments("a question is empty".to_owned()));
        }
        Ok(vec![Action::Inner])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let asked: Vec<Asked> = input.questions.into_iter().map(Item::into_question).collect();
        let answers = tokio::select! {
            () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
            answers = ctx.workspace.desk.ask(asked.clone()) => answers,
        };
        let answers = answers.map_err(|error| ToolError::Refused(error.to_string()))?;
        let mut answers = answers.into_iter();
        let pairs = asked.iter().map(|question| {
            let answer = answers.next().filter(|answer| !answer.trim().is_empty());
            let answer = answer.as_deref().unwrap_or("(no answer)").to_owned();
            format!("Q: {}\nA: {answer}", question.text)
        });
        let text = pairs.collect::<Vec<_>>().join("\n\n");
        Ok(Output::text(text).from(Origin::User))
    }
}

impl Item {
    fn into_question(self) -> Asked {
        Asked { text: self.question, choices: self.choices, several: self.several }
    }
}

/// Questions as models send them: objects, texts, one without a list, JSON in a text.
fn questions<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Item>, D::Error> {
    let values: Vec<Value> = lenient::list(from)?;
    let items = values.into_iter().map(|value| match value.as_str() {
        Some(text) => Ok(Item { question: text.to_owned(), choices: Vec::new(), several: false }),
        None => serde_json::from_value(value),
    });
    items.collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

/// Choices as texts, or as objects with a label.
fn choices<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let values: Vec<Value> = lenient::list(from)?;
    let texts = values.into_iter().map(|value| match value {
        Value::String(text) => Some(text),
        Value::Object(fields) => {
            let named =
                ["label", "text", "value", "id"].iter().find_map(|key| fields.get(*key)?.as_str());
            named.map(str::to_owned)
        }
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(if on { "yes" } else { "no" }.to_owned()),
        Value::Null | Value::Array(_) => None,
    });
    texts
        .collect::<Option<_>>()
        .ok_or_else(|| serde::de::Error::custom("a choice is a text or has a `label`"))
}
