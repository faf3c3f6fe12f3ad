//! What a guest may call: names, arguments, answers.

mod answer;

use std::path::Path;
use std::sync::Arc;

use base::protocol::{Mode, Op, Query, Reply, SessionSummary};
use base::{ModelRef, Part, SessionId};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, InputRequiredResult,
    JsonObject, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::answer::{Answered, Hits, Sessions};
use super::desk::{Desk, Room};
use super::errand::{Errand, Guest, Progress};

const RUN: &str = "run_prompt";
const CONTINUE: &str = "continue_session";
const SEARCH: &str = "search_sessions";
const LIST: &str = "list_sessions";
/// Sessions told where nobody says how many.
const FEW: usize = 20;
/// Sessions looked through for those of the folders that are served.
const MANY: usize = 2000;
/// Models named where one was not found.
const NAMED: usize = 8;

/// Give a coding agent a task in a folder of this machine. It works on its own, with tools, until it has an answer:
/// say all it needs to know. Returns the answer and the session, which `continue_session` goes on with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunPrompt {
    /// The task.
    prompt: String,
    /// The folder to work in, absolute or below the server's own; without it, the server's own.
    #[serde(default)]
    folder: Option<String>,
    /// The model, as `provider/model`; without it, the one of the settings.
    #[serde(default)]
    model: Option<String>,
    /// What may be done without asking: `plan` changes nothing, `dontAsk` only what rules allow, `default` asks for the
    /// rest, `acceptEdits` also edits files, `bypass` everything. Never more than the server was started with.
    #[serde(default)]
    #[schemars(schema_with = "modes")]
    mode: Option<Mode>,
}

/// Say more in a session: ask back, correct, give the next task. The agent knows all that was said and done in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContinueSession {
    /// The session's id, as `run_prompt`, `list_sessions` or `search_sessions` told it.
    session: String,
    /// What to say.
    prompt: String,
    /// The model, as `provider/model`; without it, the one of the settings.
    #[serde(default)]
    model: Option<String>,
    /// What may be done without asking: `plan` changes nothing, `dontAsk` only what rules allow, `default` asks for the
    /// rest, `acceptEdits` also edits files, `bypass` everything. Never more than the server was started with.
    #[serde(default)]
    #[schemars(schema_with = "modes")]
    mode: Option<Mode>,
}

/// How a prompt is worked on.
struct Way {
    model: Option<String>,
    mode: Option<Mode>,
}

/// Find sessions in which something was said, best matches first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchSessions {
    /// Words that must all occur.
    words: String,
    /// Most sessions to tell.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// List sessions, newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListSessions {
    /// Only sessions of this folder.
    #[serde(default)]
    folder: Option<String>,
    /// Most sessions to tell.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// The tools.
pub(super) fn all() -> Vec<Tool> {
    let works = || ToolAnnotations::new().read_only(false).destructive(true).open_world(true);
    let looks = || ToolAnnotations::new().read_only(true).open_world(false);
    vec![
        tool::<RunPrompt, Answered>(RUN, "Run a prompt", works()),
        tool::<ContinueSession, Answered>(CONTINUE, "Continue a session", works()),
        tool::<SearchSessions, Hits>(SEARCH, "Search sessions", looks()),
        tool::<ListSessions, Sessions>(LIST, "List sessions", looks()),
    ]
}

/// Does what a guest calls. What it can mend is a result it can read; only an unknown tool is an error.
pub(super) async fn call(
    desk: &Arc<Desk>,
    call: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let guest = Guest::of(context, &desk.ending);
    let arguments = Value::Object(call.arguments.unwrap_or_default());
    let is_errand = call.name == RUN || call.name == CONTINUE;
    let errand = match (&*call.name, call.request_state) {
        (_, Some(state)) if is_errand => match desk.fetch(&state) {
            Some(mut errand) => {
                errand.take(call.input_responses.unwrap_or_default()).await;
                Ok(errand)
            }
            None => Err("that question is not open any more; its turn has ended".to_owned()),
        },
        (RUN, _) => run_prompt(desk, arguments).await,
        (CONTINUE, _) => continue_session(desk, arguments).await,
        (SEARCH, _) => return Ok(told(search(desk, arguments).await).into()),
        (LIST, _) => return Ok(told(list(desk, arguments).await).into()),
        (unknown, _) => {
            return Err(ErrorData::invalid_params(format!("there is no tool {unknown}"), None));
        }
    };
    let errand = match errand {
        Ok(errand) => errand,
        Err(why) => return Ok(answer::failed(why).into()),
    };
    let (session, folder) = (errand.session, errand.folder.clone());
    Ok(match errand.go_on(&guest).await {
        Progress::Over(account) => Answered::of(session, folder, account).result().into(),
        Progress::Asks(errand, requests) => {
            let requests = requests.into_iter().collect();
            InputRequiredResult::new(Some(requests), Some(desk.park(errand))).into()
        }
    })
}

async fn run_prompt(desk: &Arc<Desk>, arguments: Value) -> Result<Errand, String> {
    let RunPrompt { prompt, folder, model, mode } = read(arguments)?;
    let folder = desk.folder(folder.as_deref())?;
    let room = desk.room(&folder).await?;
    let folder = folder.display().to_string();
    let session = SessionId::new();
    let mut ops = vec![Op::NewSession { session, folder: folder.clone() }];
    ops.extend(Way { model, mode }.ops(&room, session, &folder).await?);
    ops.push(say(session, prompt)?);
    let begun = Errand::begin(room.clone(), (session, folder), ops, &desk.scope).await;
    if begun.is_err() {
        // Nothing was said in it.
        drop(room.client.submit(Op::Delete { session }).await);
    }
    begun
}

async fn continue_session(desk: &Arc<Desk>, arguments: Value) -> Result<Errand, String> {
    let ContinueSession { session, prompt, model, mode } = read(arguments)?;
    let unknown = || format!("there is no session {session}; list_sessions names those there are");
    let id: SessionId = session.trim().parse().map_err(|_| unknown())?;
    let room = desk.room(&desk.folder(None)?).await?;
    let asked = room.client.ask(Query::Session { session: id }).await;
    let Ok(Reply::Sessions { sessions }) = asked else { return Err(unknown()) };
    let summary = sessions.into_iter().next().ok_or_else(unknown)?;
    let folder = desk.folder(Some(&summary.folder))?;
    let room = desk.room(&folder).await?;
    let mut ops = Way { model, mode }.ops(&room, id, &summary.folder).await?;
    ops.push(say(id, prompt)?);
    Errand::begin(room, (id, summary.folder), ops, &desk.scope).await
}

async fn search(desk: &Arc<Desk>, arguments: Value) -> Result<CallToolResult, String> {
    let SearchSessions { words, limit } = read(arguments)?;
    let room = desk.room(&desk.folder(None)?).await?;
    let asked = room.client.ask(Query::Find { words, limit: MANY }).await;
    let Reply::Found { mut hits } = asked.map_err(|error| error.to_string())? else {
        return Err("the agent gave another answer than was asked for".to_owned());
    };
    hits.retain(|hit| is_served(desk, &hit.session));
    hits.truncate(limit.unwrap_or(FEW));
    Ok(Hits::of(hits).result())
}

async fn list(desk: &Arc<Desk>, arguments: Value) -> Result<CallToolResult, String> {
    let ListSessions { folder, limit } = read(arguments)?;
    let folder = match folder {
        Some(folder) => Some(desk.folder(Some(&folder))?.display().to_string()),
        None => None,
    };
    let room = desk.room(&desk.folder(None)?).await?;
    let asked = room.client.ask(Query::Sessions { folder, limit: MANY }).await;
    let Reply::Sessions { mut sessions } = asked.map_err(|error| error.to_string())? else {
        return Err("the agent gave another answer than was asked for".to_owned());
    };
    sessions.retain(|session| is_served(desk, session));
    sessions.truncate(limit.unwrap_or(FEW));
    Ok(Sessions::of(sessions).result())
}

impl Way {
    /// What sets a session so. The mode is always said: it may have been set otherwise before.
    async fn ops(self, room: &Room, session: SessionId, folder: &str) -> Result<Vec<Op>, String> {
        let asked = room.client.ask(Query::Place { folder: folder.to_owned() }).await;
        let Reply::Place(place) = asked.map_err(|error| error.to_string())? else {
            return Err("the agent gave another answer than was asked for".to_owned());
        };
        let mode = self.mode.unwrap_or(place.mode);
        if mode.and(place.mode) != mode {
            return Err(format!(
                "this server works in the mode {} at most; leave out the mode, or name a narrower one",
                name_of(place.mode)
            ));
        }
        let mut ops = vec![Op::SetMode { session, mode }];
        if let Some(named) = self.model {
            ops.push(Op::SetModel { session, model: model(room, &named).await? });
        }
        Ok(ops)
    }
}

/// The model a guest names: `provider/model`, or the model alone where one provider has it.
async fn model(room: &Room, named: &str) -> Result<ModelRef, String> {
    let asked = room.client.ask(Query::Models { search: None }).await;
    let Reply::Models { models } = asked.map_err(|error| error.to_string())? else {
        return Err("the agent gave another answer than was asked for".to_owned());
    };
    let models: Vec<ModelRef> = models.into_iter().map(|choice| choice.model).collect();
    if let Some(model) = models.iter().find(|model| model.to_string() == named) {
        return Ok(model.clone());
    }
    let same: Vec<&ModelRef> = models.iter().filter(|model| model.model == named).collect();
    if let [only] = same.as_slice() {
        return Ok((*only).clone());
    }
    let wanted = named.to_lowercase();
    let alike = models.iter().filter(|model| model.to_string().to_lowercase().contains(&wanted));
    let near: Vec<String> = alike.take(NAMED).map(ToString::to_string).collect();
    let near =
        if near.is_empty() { String::new() } else { format!("; there are {}", near.join(", ")) };
    Err(format!("there is no model {named}{near}. Leave it out for the model of the settings"))
}

fn say(session: SessionId, prompt: String) -> Result<Op, String> {
    if prompt.trim().is_empty() {
        return Err("the prompt is empty; say what is to be done".to_owned());
    }
    let parts = vec![Part::user_text(prompt)];
    Ok(Op::say(session, parts, base::protocol::Delivery::Queue))
}

/// Whether a session works in a folder that is served. One whose folder is gone is judged by its name.
fn is_served(desk: &Desk, session: &SessionSummary) -> bool {
    let folder = Path::new(&session.folder);
    let real = std::fs::canonicalize(folder);
    desk.serves(real.as_deref().unwrap_or(folder))
}

fn told(result: Result<CallToolResult, String>) -> CallToolResult {
    result.unwrap_or_else(answer::failed)
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| format!("the arguments do not fit: {error}"))
}

/// A tool whose description is the doc comment of its arguments.
fn tool<Input: JsonSchema, Output: JsonSchema>(
    name: &'static str,
    title: &str,
    about: ToolAnnotations,
) -> Tool {
    let (description, input) = schema_of::<Input>();
    let (_, output) = schema_of::<Output>();
    Tool::new(name, description, Arc::new(input))
        .with_title(title)
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(about)
}

/// The description of a type and its schema, without references: not every guest follows them.
fn schema_of<T: JsonSchema>() -> (String, JsonObject) {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object.remove("title");
    let description = object.remove("description");
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default();
    (description.split_whitespace().collect::<Vec<_>>().join(" "), object)
}

const MODES: [Mode; 5] =
    [Mode::Plan, Mode::DontAsk, Mode::Default, Mode::AcceptEdits, Mode::Bypass];

fn modes(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<Value> = MODES.iter().map(|mode| name_of(*mode).into()).collect();
    json_schema!({ "type": "string", "enum": names })
}

fn name_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AcceptEdits => "acceptEdits",
        Mode::Plan => "plan",
        Mode::DontAsk => "dontAsk",
        Mode::Bypass => "bypass",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_does_and_has_plain_schemas() {
        let tools = all();
        assert_eq!(tools.len(), 4);
        for tool in tools {
            assert!(tool.description.as_ref().is_some_and(|text| text.len() > 20), "{tool:?}");
            let schemas = serde_json::to_string(&tool).unwrap();
            assert!(!schemas.contains("$ref"), "{schemas}");
            assert_eq!(tool.input_schema["type"], "object");
            assert_eq!(tool.output_schema.unwrap()["type"], "object");
        }
    }

    #[test]
    fn modes_are_called_what_the_settings_call_them() {
        for mode in MODES {
            assert_eq!(serde_json::to_value(mode).unwrap(), name_of(mode));
        }
    }

    #[test]
    fn arguments_that_do_not_fit_are_named() {
        let wrong = serde_json::json!({ "words": "x", "limits": 3 });
        let error = read::<SearchSessions>(wrong).unwrap_err();
        assert!(error.contains("limits"), "{error}");
    }
}
