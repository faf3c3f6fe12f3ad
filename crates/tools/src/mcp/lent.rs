//! Calling a tool of a server, and its answer in words.

use std::sync::Arc;

use base::{Block, Origin};
use futures::future::BoxFuture;
use guard::Action;
use guard::rule::names;
use links::mcp::{Answer, Errand, INVALID_PARAMS, McpError, Menu, Tool};
use serde_json::{Map, Value, json};

use super::borrow::Borrowing;
use super::check::misfit;
use super::said::Reader;
use crate::bound::{Bounded, Spill};
use crate::registry::{AnyCall, AnyTool};
use crate::tool::{Effect, Output, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Letters of a call's arguments in its title.
const TITLE: usize = 80;
/// Bytes of a schema that a model is shown.
const SCHEMA: usize = 8_000;

/// A tool that a server lends.
#[derive(Debug)]
pub struct Lent {
    /// What models call it.
    shown: String,
    /// What rules and hooks call it.
    name: String,
    server: String,
    menu: Arc<Menu>,
    at: usize,
}

impl Lent {
    /// The tool at a place of a server's menu.
    pub(super) fn new(shown: String, server: &str, menu: Arc<Menu>, at: usize) -> Self {
        let name = names::mcp(server, &menu.tools[at].name);
        Self { shown, name, server: server.to_owned(), menu, at }
    }

    /// What models call it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The server that lends it.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What it does, in one line of at most so many characters.
    pub fn about(&self, chars: usize) -> String {
        let words = self.tool().description.split(|it: char| it.is_whitespace() || it.is_control());
        let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(chars) {
            Some((0, _)) => String::new(),
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
            None => line,
        }
    }

    fn tool(&self) -> &Tool {
        &self.menu.tools[self.at]
    }

    /// Whether there is something to say when it is called.
    pub(super) fn takes_input(&self) -> bool {
        let schema = &self.tool().schema;
        schema["properties"].as_object().is_some_and(|properties| !properties.is_empty())
    }

    /// What the model is told where its arguments do not fit.
    pub(super) fn unfit(&self, why: &str) -> ToolError {
        let text = format!("bad arguments: {why}. {}", self.schema_told());
        ToolError::Told { text, origin: self.origin(), files: Vec::new() }
    }

    fn schema_told(&self) -> String {
        let schema = self.schema().to_string();
        let end = schema.floor_char_boundary(SCHEMA.min(schema.len()));
        format!("The schema of {}: {}", self.shown, &schema[..end])
    }

    /// What the model is told where the server does not do it. The server knows better than we what fits.
    fn failed(&self, error: &McpError) -> ToolError {
        if let McpError::Refused { why, code: Some(INVALID_PARAMS), .. } = error {
            return self.unfit(why);
        }
        failed(error, &self.server)
    }

    fn origin(&self) -> Origin {
        Origin::Mcp(self.server.clone())
    }
}

impl AnyTool for Lent {
    fn name(&self) -> &str {
        &self.name
    }

    fn effect(&self) -> Effect {
        // Nobody vouches for that; it only tells whether neighbours may run beside it.
        if self.tool().says_it_reads { Effect::Apart } else { Effect::Write }
    }

    fn description(&self) -> String {
        self.tool().description.trim().to_owned()
    }

    /// The server's schema, as every provider takes it: an object with properties.
    fn schema(&self) -> Value {
        let mut schema = match &self.tool().schema {
            Value::Object(fields) => fields.clone(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        schema.remove("$schema");
        schema.insert("type".to_owned(), json!("object"));
        schema.entry("properties").or_insert_with(|| json!({}));
        Value::Object(schema)
    }

    fn prepare(self: Arc<Self>, input: Map<String, Value>) -> Result<Box<dyn AnyCall>, ToolError> {
        match misfit(&self.tool().schema, &input) {
            Some(why) => Err(self.unfit(&why)),
            None => Ok(Box::new(Calling { lent: self, input })),
        }
    }
}

struct Calling {
    lent: Arc<Lent>,
    input: Map<String, Value>,
}

impl AnyCall for Calling {
    fn title(&self) -> String {
        let head = format!("{}: {}", self.lent.server, self.lent.tool().name);
        if self.input.is_empty() {
            return head;
        }
        let said = |(key, value): (&String, &Value)| match value {
            Value::String(text) => format!("{key}={text}"),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => format!("{key}={value}"),
        };
        let all = self.input.iter().map(said).collect::<Vec<_>>().join(" ");
        let line = all.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut = line.char_indices().nth(TITLE).map(|(end, _)| format!("{}…", &line[..end]));
        format!("{head} {}", cut.unwrap_or(line))
    }

    fn foresee<'a>(&'a self, _: &'a Arc<Workspace>) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }

    fn actions(&self, _: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Inner])
    }

    fn preview<'a>(&'a self, _: &'a ToolCtx) -> BoxFuture<'a, Option<Block>> {
        Box::pin(async {
            let text = serde_json::to_string_pretty(&self.input).ok()?;
            Some(Block::Text { text })
        })
    }

    fn run(self: Box<Self>, ctx: &ToolCtx) -> BoxFuture<'_, Result<Output, ToolError>> {
        Box::pin(async move {
            let Self { lent, input } = *self;
            let Some(mcp) = &ctx.workspace.mcp.mcp else { return Err(ToolError::Cancelled) };
            let errand = Errand {
                server: &lent.server,
                tool: &lent.tool().name,
                arguments: input,
                borrower: Arc::new(Borrowing::of_call(&lent.server, ctx)),
                cancel: ctx.cancel.clone(),
            };
            let calling = ctx.cancel.run_until_cancelled(mcp.call(errand));
            let answer = calling.await.ok_or(ToolError::Cancelled)?;
            let answer = answer.map_err(|error| lent.failed(&error))?;
            told(answer, &lent, ctx)
        })
    }
}

/// What the model reads of a server's failure: its words are the server's.
pub(super) fn failed(error: &McpError, server: &str) -> ToolError {
    match error {
        McpError::Cancelled => ToolError::Cancelled,
        McpError::Unknown(_) | McpError::SignIn(_) | McpError::TimedOut { .. } => {
            ToolError::Refused(error.to_string())
        }
        McpError::Broken { .. } | McpError::Refused { .. } => {
            let origin = Origin::Mcp(server.to_owned());
            ToolError::Told { text: error.to_string(), origin, files: Vec::new() }
        }
    }
}

/// A server's answer, bounded.
fn told(answer: Answer, lent: &Lent, ctx: &ToolCtx) -> Result<Output, ToolError> {
    let Answer { content, structured, failed } = answer;
    let reader = Reader::of(&ctx.workspace, ctx.call.as_str());
    let (mut text, files) = reader.words_of(content);
    if text.trim().is_empty()
        && let Some(structured) = structured
    {
        text = structured.to_string();
    }
    if text.is_empty() {
        text.push_str(if files.is_empty() { "(no output)" } else { "(files)" });
    }
    let mut text = bounded(&text, ctx);
    let origin = lent.origin();
    if failed {
        // Many servers put the refusal of arguments into the words of a failed call.
        if text.contains(&INVALID_PARAMS.to_string()) {
            text = format!("{text}\n{}", lent.schema_told());
        }
        return Err(ToolError::Told { text, origin, files });
    }
    if let Some(words) = ctx.workspace.mcp.instructions(&lent.server) {
        text = format!("{text}\n\n{words}");
    }
    Ok(Output { files, ..Output::text(text).from(origin) })
}

/// As much of a text as a model is shown; the rest is in a file.
pub(super) fn bounded(text: &str, ctx: &ToolCtx) -> String {
    let folder = &ctx.workspace.spill;
    let spill = Spill::new(folder.clone(), ctx.call.as_str());
    let mut bounded = Bounded::new(spill.shown_in(ctx.workspace.fence.shown(folder)));
    bounded.push(text.as_bytes());
    bounded.finish();
    bounded.text()
}
