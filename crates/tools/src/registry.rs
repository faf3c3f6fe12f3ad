//! The tools of a session, boxed, with their schemas.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::Block;
use futures::future::BoxFuture;
use guard::Action;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// A tool whose input type is hidden. Written once, for every [`Tool`].
pub trait AnyTool: Send + Sync {
    /// Name the model calls.
    fn name(&self) -> &str;
    /// Whether calls may run beside each other.
    fn effect(&self) -> Effect;
    /// What the model is told of it.
    fn description(&self) -> String;
    /// JSON Schema of its arguments: an object.
    fn schema(&self) -> Value;
    /// Reads a call's arguments.
    fn prepare(self: Arc<Self>, input: Map<String, Value>) -> Result<Box<dyn AnyCall>, ToolError>;
}

/// A call whose arguments have been read.
pub trait AnyCall: Send + Sync {
    /// One line for a face.
    fn title(&self) -> String;
    /// What it reads to foresee what it would do.
    fn looks_at(&self, _: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(Vec::new())
    }
    /// Finds out what it would do, where its arguments alone do not tell. To be called before
    /// [`AnyCall::actions`], and once [`AnyCall::looks_at`] is allowed.
    fn foresee<'a>(&'a self, workspace: &'a Arc<Workspace>)
    -> BoxFuture<'a, Result<(), ToolError>>;
    /// What the lock must judge.
    fn actions(&self, workspace: &Workspace) -> Result<Vec<Action>, ToolError>;
    /// What it would change.
    fn preview<'a>(&'a self, ctx: &'a ToolCtx) -> BoxFuture<'a, Option<Block>>;
    /// Runs it.
    fn run(self: Box<Self>, ctx: &ToolCtx) -> BoxFuture<'_, Result<Output, ToolError>>;
}

struct Ready<T: Tool> {
    tool: Arc<T>,
    input: T::Input,
}

impl<T: Tool> AnyTool for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn effect(&self) -> Effect {
        T::EFFECT
    }

    fn description(&self) -> String {
        let schema = root_schema::<T::Input>();
        schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn schema(&self) -> Value {
        let mut schema = root_schema::<T::Input>();
        // What is said elsewhere or says nothing to a model costs tokens on every request.
        for key in ["$schema", "title", "description"] {
            schema.remove(key);
        }
        let mut schema = Value::Object(schema);
        slim(&mut schema);
        schema
    }

    fn prepare(self: Arc<Self>, input: Map<String, Value>) -> Result<Box<dyn AnyCall>, ToolError> {
        let input = serde_json::from_value(Value::Object(input))
            .map_err(|error| ToolError::Arguments(error.to_string()))?;
        Ok(Box::new(Ready { tool: self, input }))
    }
}

impl<T: Tool> AnyCall for Ready<T> {
    fn title(&self) -> String {
        self.tool.title(&self.input)
    }

    fn looks_at(&self, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        self.tool.looks_at(&self.input, workspace)
    }

    fn foresee<'a>(
        &'a self,
        workspace: &'a Arc<Workspace>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(self.tool.foresee(&self.input, workspace))
    }

    fn actions(&self, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        self.tool.actions(&self.input, workspace)
    }

    fn preview<'a>(&'a self, ctx: &'a ToolCtx) -> BoxFuture<'a, Option<Block>> {
        Box::pin(self.tool.preview(&self.input, ctx))
    }

    fn run(self: Box<Self>, ctx: &ToolCtx) -> BoxFuture<'_, Result<Output, ToolError>> {
        Box::pin(async move {
            let Self { tool, input } = *self;
            tool.run(input, ctx).await
        })
    }
}

fn root_schema<T: schemars::JsonSchema>() -> Map<String, Value> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(schema) => schema,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// Takes out what a model does not need: number formats, `null` alternatives of optional fields.
fn slim(schema: &mut Value) {
    if let Value::Object(fields) = schema {
        for key in ["format", "minimum", "title", "default"] {
            if fields.get(key).is_some_and(|value| !value.is_object()) {
                fields.remove(key);
            }
        }
        if let Some(Value::Array(kinds)) = fields.get_mut("type") {
            kinds.retain(|kind| kind != "null");
            if let [only] = kinds.as_slice() {
                let only = only.clone();
                fields.insert("type".to_owned(), only);
            }
        }
        fields.values_mut().for_each(slim);
    } else if let Value::Array(items) = schema {
        items.iter_mut().for_each(slim);
    }
}

/// The tools there are, by name.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn AnyTool>>,
}

impl Registry {
    /// Every built-in tool.
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        for tool in crate::builtin::all() {
            registry.add(tool);
        }
        registry
    }

    /// Adds a tool; one of the same name gives way.
    pub fn add(&mut self, tool: Arc<dyn AnyTool>) {
        self.tools.insert(tool.name().to_owned(), tool);
    }

    /// Takes tools out, by name.
    #[must_use]
    pub fn without(mut self, names: &[String]) -> Self {
        self.tools.retain(|name, _| !names.contains(name));
        self
    }

    /// One tool.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn AnyTool>> {
        self.tools.values()
    }
}
