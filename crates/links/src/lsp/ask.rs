//! What tools ask of a server: where something is, who uses it, what it is, how to change it everywhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::client::{Client, Fresh};
use super::protocol::{
    CallItem, CodeAction, DocumentSymbol, Location, LocationLink, Position, Range, ServerCommand,
    SymbolInformation, TextEdit, kind_name, read, read_some,
};
use super::server::Server;
use super::text::{self, EditError, Units};
use super::{Lsp, LspError, Problem};
use crate::rpc::{Fault, RpcError};

/// How long a tool waits for an answer, the server's start included.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long until a server that is busy is asked again.
const AGAIN: Duration = Duration::from_millis(300);
/// Symbols of a file or a workspace that are taken.
const SYMBOLS: usize = 1_000;
/// How deep an outline may be.
const DEEP: usize = 20;
/// Kinds of actions that make files.
const MOVES: &str = "refactor.move";

/// A place in a file, with the file's text.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    /// The file.
    pub path: &'a Path,
    /// The folder that holds it and its project.
    pub within: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// The byte of the text.
    pub byte: usize,
}

impl At<'_> {
    /// The place as a server counts.
    fn place(&self, units: Units) -> Position {
        let text = text::bare(self.text);
        units.position(text, self.byte.saturating_sub(self.text.len() - text.len()))
    }
}

/// Where something is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u32,
}

/// A symbol and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is, such as `function`.
    pub kind: &'static str,
    /// What it is in.
    pub container: Option<String>,
    /// Where it is.
    pub place: Place,
    /// How deep it lies in the outline of its file.
    pub depth: usize,
}

/// A function that calls or is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Where it is.
    pub place: Place,
    /// The lines of the calls, from 1: in its own file for a caller, else in the one that was asked about.
    pub lines: Vec<u32>,
}

/// Which way calls are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Who calls it.
    Incoming,
    /// Whom it calls.
    Outgoing,
}

/// What a server wants changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The files, each once.
    pub files: Vec<Rewritten>,
    /// How places are counted.
    units: Units,
}

/// A file a server wants changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The file.
    pub path: PathBuf,
    edits: Vec<TextEdit>,
    /// The text that is meant, where the server has it from us.
    meant: Option<String>,
}

impl Rewrite {
    /// The text of a file with its edits made.
    pub fn apply(&self, file: &Rewritten, text: &str) -> Result<String, EditError> {
        if file.meant.as_ref().is_some_and(|meant| meant != text::bare(text)) {
            return Err(EditError::Stale);
        }
        text::apply(text, &file.edits, self.units)
    }
}

/// What servers complain of, and what is not known of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Complaints {
    /// The complaints.
    pub problems: Vec<Problem>,
    /// How many servers were asked.
    pub asked: usize,
    /// Those of which nobody knows yet what they think, by name.
    pub silent: Vec<String>,
}

/// Something a server offers to do.
#[derive(Debug, Clone)]
pub struct Action {
    /// What it would do.
    pub title: String,
    /// What kind it is, such as `quickfix`.
    pub kind: Option<String>,
    raw: Value,
    /// The command that works its edit out, where it comes without one.
    command: Option<ServerCommand>,
    client: Arc<Client>,
}

impl Lsp {
    /// Where what stands at a place is defined.
    pub async fn definition(&self, at: At<'_>) -> Result<Vec<Place>, LspError> {
        let (client, params) = self.at(at, "definitionProvider", "definitions").await?;
        let answer = client.persist("textDocument/definition", params).await?;
        Ok(places(&answer))
    }

    /// Where whatever is told of a place may have been taken from: its definition, and that of its type.
    pub async fn sources(&self, at: At<'_>) -> Result<Vec<Place>, LspError> {
        let mut found = Vec::new();
        for (provider, method) in [
            ("definitionProvider", "textDocument/definition"),
            ("typeDefinitionProvider", "textDocument/typeDefinition"),
        ] {
            match self.at(at, provider, "definitions").await {
                Ok((client, params)) => {
                    found.extend(places(&client.persist(method, params).await?));
                }
                Err(LspError::Lacks { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Where what stands at a place is used, its definition included.
    pub async fn references(&self, at: At<'_>) -> Result<Vec<Place>, LspError> {
        let (client, mut params) = self.at(at, "referencesProvider", "references").await?;
        params["context"] = json!({ "includeDeclaration": true });
        let answer = client.persist("textDocument/references", params).await?;
        Ok(places(&answer))
    }

    /// What a server says of what stands at a place.
    pub async fn hover(&self, at: At<'_>) -> Result<String, LspError> {
        let (client, params) = self.at(at, "hoverProvider", "descriptions").await?;
        let answer = client.persist("textDocument/hover", params).await?;
        Ok(answer.get("contents").map(words).unwrap_or_default())
    }

    /// The outline of a file.
    pub async fn outline(&self, at: At<'_>) -> Result<Vec<Symbol>, LspError> {
        let (client, mut params) = self.at(at, "documentSymbolProvider", "outlines").await?;
        if let Value::Object(fields) = &mut params {
            fields.remove("position");
        }
        let answer = client.persist("textDocument/documentSymbol", params).await?;
        let mut symbols = Vec::new();
        for symbol in read_some::<DocumentSymbol>(answer.clone()) {
            add_symbol(symbol, at.path, None, &mut symbols);
        }
        if symbols.is_empty() {
            symbols = read_some(answer).into_iter().filter_map(symbol_of).collect();
        }
        Ok(symbols)
    }

    /// Symbols of the projects in a folder whose name is like `name`.
    pub async fn symbols(&self, name: &str, folder: &Path) -> Result<Vec<Symbol>, LspError> {
        let mut failed = None;
        let mut symbols = Vec::new();
        for client in self.clients_in(folder, Instant::now() + PATIENCE).await? {
            if !client.can.has("workspaceSymbolProvider") {
                continue;
            }
            client.refresh().await?;
            match client.persist("workspace/symbol", json!({ "query": name })).await {
                Ok(answer) => symbols.extend(read_some(answer).into_iter().filter_map(symbol_of)),
                Err(error) => failed = Some(error),
            }
        }
        symbols.truncate(SYMBOLS);
        match failed {
            Some(error) if symbols.is_empty() => Err(error),
            Some(_) | None => Ok(symbols),
        }
    }

    /// Who calls what stands at a place, or whom it calls.
    pub async fn calls(&self, at: At<'_>, way: Direction) -> Result<Vec<Call>, LspError> {
        let (client, params) = self.at(at, "callHierarchyProvider", "call hierarchy").await?;
        let items = client.persist("textDocument/prepareCallHierarchy", params).await?;
        let (method, end) = match way {
            Direction::Incoming => ("callHierarchy/incomingCalls", "from"),
            Direction::Outgoing => ("callHierarchy/outgoingCalls", "to"),
        };
        let mut calls = Vec::new();
        for item in items.as_array().into_iter().flatten() {
            let answer = client.persist(method, json!({ "item": item })).await?;
            for call in answer.as_array().into_iter().flatten() {
                calls.extend(call_of(call, end));
            }
        }
        Ok(calls)
    }

    /// What has to change so that what stands at a place has another name everywhere.
    pub async fn rename(&self, at: At<'_>, name: &str) -> Result<Rewrite, LspError> {
        let (client, mut params) = self.at(at, "renameProvider", "renaming").await?;
        params["newName"] = json!(name);
        let answer = client.persist("textDocument/rename", params).await?;
        client.rewrite(&answer)
    }

    /// What servers offer to do at a place.
    pub async fn actions(&self, at: At<'_>) -> Result<Vec<Action>, LspError> {
        let deadline = Instant::now() + PATIENCE;
        let clients = self.clients(at.path, at.within, deadline).await?;
        let mut actions = Vec::new();
        for client in clients.iter().filter(|client| client.can.has("codeActionProvider")) {
            let since = client.desk.board.news();
            let synced = client.sync(at.path, at.text).await?;
            client.settled(at.path, (synced, since), Instant::now() + PATIENCE / 4).await;
            let place = at.place(client.units);
            let line = |line: u32| Position { line, character: 0 };
            let range = Range { start: place, end: place };
            let here = |range: &Range| {
                range.start <= line(place.line + 1) && range.end >= line(place.line)
            };
            let known = client.posted(at.path).all();
            let known: Vec<_> = known.into_iter().filter(|it| here(&it.range)).collect();
            let whole = known.iter().map(|it| it.range.start).min().unwrap_or(place).min(place);
            let params = json!({
                "textDocument": { "uri": text::address(at.path) },
                "range": Range { start: whole, end: range.end.max(whole) },
                "context": { "diagnostics": known, "triggerKind": 1 },
            });
            let answer = client.persist("textDocument/codeAction", params).await?;
            for raw in answer.as_array().into_iter().flatten() {
                let Ok(action) = serde_json::from_value::<CodeAction>(raw.clone()) else {
                    continue;
                };
                actions.extend(client.offers(&action).then(|| Action {
                    command: client.command_of(&action),
                    title: action.title,
                    kind: action.kind,
                    raw: raw.clone(),
                    client: client.clone(),
                }));
            }
        }
        Ok(actions)
    }

    /// Everything servers complain of in a file, as it is on disk now.
    pub async fn problems(&self, path: &Path, within: &Path) -> Result<Complaints, LspError> {
        let deadline = Instant::now() + PATIENCE;
        let mut complaints = Complaints::default();
        for client in self.clients(path, within, deadline).await? {
            client.refresh().await?;
            let fresh =
                client.look_again(path, deadline.min(Instant::now() + PATIENCE / 2)).await?;
            let posted = client.posted(path).all();
            complaints.add(&client, fresh, posted.into_iter().map(|it| client.problem(path, it)));
        }
        Ok(complaints.sorted())
    }

    /// Everything that running servers complain of below a folder.
    pub async fn known_problems(&self, folder: &Path) -> Complaints {
        let Some(hub) = &self.0 else { return Complaints::default() };
        let servers: Vec<Arc<Server>> = hub.servers().values().cloned().collect();
        let deadline = Instant::now() + PATIENCE / 4;
        let mut complaints = Complaints::default();
        for server in servers.into_iter().filter(|it| it.is_at_work()) {
            let Some(client) = server.running() else {
                complaints.silence(&server.spec.name);
                continue;
            };
            let fresh = client.look_at_all_again(deadline).await;
            let all =
                client.desk.board.all().into_iter().filter(|(path, _)| path.starts_with(folder));
            let found = all.flat_map(|(path, posted)| {
                let problem = |it| client.problem(&path, it);
                posted.all().into_iter().map(problem).collect::<Vec<_>>()
            });
            complaints.add(&client, fresh, found);
        }
        complaints.sorted()
    }

    /// The best server for a place that offers something, and the place in its words.
    async fn at(
        &self,
        at: At<'_>,
        provider: &str,
        what: &'static str,
    ) -> Result<(Arc<Client>, Value), LspError> {
        let clients = self.clients(at.path, at.within, Instant::now() + PATIENCE).await?;
        let first = clients.first().map(|client| client.spec.name.clone()).unwrap_or_default();
        let client = clients.into_iter().find(|client| client.can.has(provider));
        let client = client.ok_or(LspError::Lacks { server: first, what })?;
        client.refresh().await?;
        client.sync(at.path, at.text).await?;
        let params = json!({
            "textDocument": { "uri": text::address(at.path) },
            "position": at.place(client.units),
        });
        Ok((client, params))
    }
}

impl Action {
    /// What it would change.
    pub async fn rewrite(&self) -> Result<Rewrite, LspError> {
        let edit = |raw: &Value| raw.get("edit").filter(|edit| !edit.is_null()).cloned();
        let found = match (edit(&self.raw), &self.command) {
            (Some(found), _) => Some(found),
            (None, Some(command)) => Some(self.client.work_out(command, PATIENCE).await?),
            (None, None) => {
                edit(&self.client.persist("codeAction/resolve", self.raw.clone()).await?)
            }
        };
        self.client.rewrite(&found.unwrap_or_default())
    }
}

impl Complaints {
    fn add(&mut self, client: &Client, fresh: Fresh, found: impl Iterator<Item = Problem>) {
        match fresh {
            Fresh::Yes => self.asked += 1,
            Fresh::Unknown => self.silence(&client.spec.name),
        }
        self.problems.extend(found);
        client.has_told(client.desk.board.all());
    }

    fn silence(&mut self, server: &str) {
        self.asked += 1;
        self.silent.push(server.to_owned());
    }

    fn sorted(mut self) -> Self {
        self.problems.sort_by(|one, other| {
            let key = |it: &Problem| (it.severity, it.path.clone(), it.line, it.column);
            key(one).cmp(&key(other))
        });
        self.problems.dedup();
        self
    }
}

impl Client {
    /// Hears what it says of a file as it is on disk now.
    async fn look_again(&self, path: &Path, deadline: Instant) -> Result<Fresh, LspError> {
        let since = self.desk.board.news();
        let Some(synced) = self.sync_from_disk(path).await? else { return Ok(Fresh::Unknown) };
        Ok(self.settled(path, (synced, since), deadline).await)
    }

    /// The same for all files it has open: another file may have changed what is wrong in them.
    async fn look_at_all_again(&self, deadline: Instant) -> Fresh {
        if self.refresh().await.is_err() {
            return Fresh::Unknown;
        }
        let files = self.open_files();
        let looks = files.iter().map(|path| self.look_again(path, deadline));
        let all = join_all(looks).await;
        let is_fresh = |fresh: &Result<Fresh, LspError>| matches!(fresh, Ok(Fresh::Yes));
        if !all.is_empty() && all.iter().all(is_fresh) { Fresh::Yes } else { Fresh::Unknown }
    }

    /// Asks again while the server says that it is not ready, or says nothing because it is still reading
    /// the project.
    async fn persist(&self, method: &str, params: Value) -> Result<Value, LspError> {
        /// The text changed, or the server gave up for reasons of its own.
        const NOT_NOW: [i64; 2] = [-32801, -32802];
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self.ask(method, params.clone(), left).await;
            let again = match &answer {
                Ok(answer) => is_nothing(answer) && self.is_reading(),
                Err(LspError::Rpc { source: RpcError::Refused(Fault { code, .. }), .. }) => {
                    NOT_NOW.contains(code)
                }
                Err(_) => false,
            };
            if !again || Instant::now() + AGAIN >= deadline {
                return answer;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Whether an action can be foreseen: what it changes is known before anything changes.
    fn offers(&self, action: &CodeAction) -> bool {
        let resolves = self.can.resolves_actions()
            && (action.command.is_null() || !action.data.is_null())
            && action.arguments.is_null();
        let is_known = action.edit.is_some() || resolves || self.command_of(action).is_some();
        action.disabled.is_null() && is_known
    }

    /// The command of an action, if the server has it and is known to do nothing but work out an edit.
    fn command_of(&self, action: &CodeAction) -> Option<ServerCommand> {
        let moves = action.kind.as_deref().is_some_and(|kind| kind.starts_with(MOVES));
        let command = action.command().filter(|_| !moves)?;
        let is_edit = self.spec.edit_commands.contains(&command.command);
        (is_edit && self.can.does(&command.command)).then_some(command)
    }

    /// Reads what is to be changed. Files that are to be made, renamed or deleted are beyond us.
    fn rewrite(&self, edit: &Value) -> Result<Rewrite, LspError> {
        let beyond = |what| LspError::Beyond { server: self.spec.name.clone(), what };
        let mut files: Vec<Rewritten> = Vec::new();
        let mut add = |uri: &str, edits: Value| -> Result<(), LspError> {
            let path = text::path_of(uri).ok_or_else(|| beyond("change what is no file"))?;
            let edits: Vec<TextEdit> =
                read(edits).map_err(|_| beyond("make edits that cannot be read"))?;
            match files.iter_mut().find(|known| known.path == path) {
                Some(known) => known.edits.extend(edits),
                None => files.push(Rewritten { meant: self.text(&path), path, edits }),
            }
            Ok(())
        };
        if let Some(changes) = edit.get("documentChanges").and_then(Value::as_array) {
            for change in changes {
                if change.get("kind").is_some() {
                    return Err(beyond("make, rename or delete files"));
                }
                let uri = change.pointer("/textDocument/uri").and_then(Value::as_str);
                add(uri.unwrap_or_default(), change.get("edits").cloned().unwrap_or_default())?;
            }
        } else if let Some(changes) = edit.get("changes").and_then(Value::as_object) {
            for (uri, edits) in changes {
                add(uri, edits.clone())?;
            }
        }
        files.retain(|file| !file.edits.is_empty());
        Ok(Rewrite { files, units: self.units })
    }
}

fn is_nothing(answer: &Value) -> bool {
    answer.is_null() || answer.as_array().is_some_and(Vec::is_empty)
}

fn place(uri: &str, range: Range) -> Option<Place> {
    Some(Place { path: text::path_of(uri)?, line: range.start.line.saturating_add(1) })
}

/// Places in an answer, each once, in order.
fn places(answer: &Value) -> Vec<Place> {
    let plain = read_some::<Location>(answer.clone());
    let plain = plain.into_iter().filter_map(|it| place(&it.uri, it.range));
    let links = read_some::<LocationLink>(answer.clone());
    let links = links.into_iter().filter_map(|it| place(&it.target_uri, it.target_selection_range));
    let mut places: Vec<Place> = plain.chain(links).collect();
    places.sort();
    places.dedup();
    places
}

fn add_symbol(symbol: DocumentSymbol, path: &Path, above: Option<&Symbol>, into: &mut Vec<Symbol>) {
    let depth = above.map_or(0, |above| above.depth + 1);
    if into.len() >= SYMBOLS || depth > DEEP {
        return;
    }
    let line = symbol.selection_range.start.line.saturating_add(1);
    let own = Symbol {
        name: symbol.name,
        kind: kind_name(symbol.kind),
        container: above.map(|above| above.name.clone()),
        place: Place { path: path.to_owned(), line },
        depth,
    };
    into.push(own.clone());
    for child in symbol.children {
        add_symbol(child, path, Some(&own), into);
    }
}

fn symbol_of(symbol: SymbolInformation) -> Option<Symbol> {
    Some(Symbol {
        name: symbol.name,
        kind: kind_name(symbol.kind),
        container: symbol.container_name.filter(|name| !name.is_empty()),
        place: place(&symbol.location.uri, symbol.location.range)?,
        depth: 0,
    })
}

fn call_of(call: &Value, end: &str) -> Option<Call> {
    let item: CallItem = serde_json::from_value(call.get(end)?.clone()).ok()?;
    let ranges: Vec<Range> = read_some(call.get("fromRanges").cloned().unwrap_or_default());
    let mut lines: Vec<u32> =
        ranges.iter().map(|range| range.start.line.saturating_add(1)).collect();
    lines.dedup();
    Some(Call {
        place: place(&item.uri, item.selection_range)?,
        name: item.name,
        kind: kind_name(item.kind),
        lines,
    })
}

/// The text of a hover: a text, an object that holds one, or a list of these.
fn words(contents: &Value) -> String {
    match contents {
        Value::String(text) => text.trim().to_owned(),
        Value::Object(fields) => {
            fields.get("value").and_then(Value::as_str).unwrap_or_default().trim().to_owned()
        }
        Value::Array(parts) => parts.iter().map(words).collect::<Vec<_>>().join("\n\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
