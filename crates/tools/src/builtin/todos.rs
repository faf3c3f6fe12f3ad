//! `todos`: the list of things to do, whole each time. It lives in the transcript and nowhere else.

use base::block::{Todo, TodoState};
use base::{Block, Origin};
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lenient;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Keep the list of steps for work that has several; send the whole list each time.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(deserialize_with = "lenient::list", alias = "items")]
    todos: Vec<Item>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    #[serde(alias = "text", alias = "title", alias = "task")]
    content: String,
    #[serde(default, alias = "state")]
    #[schemars(extend("enum" = ["pending", "in_progress", "completed"]))]
    status: String,
    /// As other agents have it: the step while it is being done.
    #[serde(default, alias = "activeForm")]
    #[schemars(skip)]
    active_form: Option<String>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Todos;

impl Tool for Todos {
    const NAME: &'static str = "todos";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let done =
            input.todos.iter().filter(|item| state(&item.status) == Some(TodoState::Completed));
        format!("{} of {} done", done.count(), input.todos.len())
    }

    fn actions(&self, _input: &Input, _workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Inner])
    }

    async fn run(&self, input: Input, _ctx: &ToolCtx) -> Result<Output, ToolError> {
        let items = input.todos.iter().map(read).collect::<Result<Vec<Todo>, ToolError>>()?;
        let text = summary(&items, &input.todos);
        Ok(Output::text(text).from(Origin::System).with_body(Block::Todos { items }))
    }
}

/// The list that a call wrote, as far as it can be read.
pub fn list(input: &Map<String, Value>) -> Vec<Todo> {
    let input = serde_json::from_value::<Input>(Value::Object(input.clone()));
    let items = input.map(|input| input.todos).unwrap_or_default();
    items.iter().filter_map(|item| read(item).ok()).collect()
}

fn read(item: &Item) -> Result<Todo, ToolError> {
    let text = item.content.trim().to_owned();
    if text.is_empty() {
        return Err(ToolError::Arguments("a step has no `content`".to_owned()));
    }
    let state = state(&item.status).ok_or_else(|| {
        let wrong = &item.status;
        ToolError::Arguments(format!(
            "`{wrong}` is no status; use pending, in_progress or completed, and leave out what is dropped"
        ))
    })?;
    Ok(Todo { text, state })
}

/// What a status means, in the words models use for it.
fn state(status: &str) -> Option<TodoState> {
    let word = status.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    match word.as_str() {
        "" | "pending" | "todo" | "open" | "not_started" => Some(TodoState::Pending),
        "in_progress" | "active" | "doing" | "started" => Some(TodoState::InProgress),
        "completed" | "complete" | "done" | "finished" => Some(TodoState::Completed),
        _ => None,
    }
}

/// How many are done, and what comes next.
fn summary(items: &[Todo], sent: &[Item]) -> String {
    if items.is_empty() {
        return "the list is empty".to_owned();
    }
    let of = |state| items.iter().filter(move |item| item.state == state);
    let done = of(TodoState::Completed).count();
    let mut text = format!("{done} of {} done", items.len());
    let doing: Vec<&str> = items
        .iter()
        .zip(sent)
        .filter(|(item, _)| item.state == TodoState::InProgress)
        .map(|(item, sent)| sent.active_form.as_deref().unwrap_or(&item.text))
        .collect();
    match (doing.as_slice(), of(TodoState::Pending).next()) {
        ([], None) => text.push_str("; nothing is left"),
        ([], Some(next)) => text.extend(["; next: ", &next.text]),
        ([one], _) => text.extend(["; in progress: ", one]),
        (several, _) => {
            text.extend(["; in progress: ", &several.join(", "), ". One at a time is clearer"]);
        }
    }
    text
}
