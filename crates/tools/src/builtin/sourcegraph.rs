//! `sourcegraph`: code search over public repositories, by the documented stream API.

use std::collections::BTreeMap;

use base::Origin;
use guard::Action;
use reqwest::header::{ACCEPT, AUTHORIZATION};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use crate::search::counted;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::web::excerpt::excerpt;
use crate::web::{self, TIMEOUT, WebError};
use crate::workspace::{ToolCtx, Workspace};

/// The public instance; `SRC_ENDPOINT`, as Sourcegraph's own program reads it, names another.
const PUBLIC: &str = "https://sourcegraph.com";
const COUNT: u32 = 10;
const COUNT_LIMIT: u32 = 20;
const CONTEXT: u32 = 10;
const CONTEXT_LIMIT: u32 = 50;
const LINE_LIMIT: usize = 500;
/// Bytes read of an answer.
const BODY_LIMIT: usize = 5 << 20;

/// Search code in public repositories with a Sourcegraph query, like `lang:go repo:^github\.com/x/ text`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The query.
    query: String,
    /// Results, at most 20.
    count: Option<u32>,
    /// Lines around each match.
    context_window: Option<u32>,
    /// Models need not know of it; some send it.
    #[schemars(skip)]
    timeout: Option<u64>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Sourcegraph;

impl Tool for Sourcegraph {
    const NAME: &'static str = "sourcegraph";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.query.clone()
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Fetch(request(input, workspace)?)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let url = request(&input, &ctx.workspace)?;
        let time = web::time(input.timeout, TIMEOUT, 120);
        let body = web::within(ctx, &url, time, ask(&ctx.workspace, &url)).await?;
        let found = Found::read(&body);
        if let Some(error) = found.error {
            return Err(ToolError::Refused(format!("Sourcegraph refuses the query: {error}")));
        }
        let title = counted(found.files.len(), "file");
        Ok(Output::text(excerpt(found.told(), ctx)).from(Origin::Web).with_title(title))
    }
}

fn request(input: &Input, workspace: &Workspace) -> Result<Url, ToolError> {
    let query = input.query.trim();
    if query.is_empty() {
        return Err(ToolError::Arguments("`query` is empty; say what to look for".to_owned()));
    }
    let count = input.count.unwrap_or(COUNT).clamp(1, COUNT_LIMIT);
    let context = input.context_window.unwrap_or(CONTEXT).min(CONTEXT_LIMIT);
    // Without a count the server goes on searching for what nobody will see.
    let query =
        if query.contains("count:") { query.to_owned() } else { format!("{query} count:{count}") };
    let base = workspace.env.get("SRC_ENDPOINT").unwrap_or(PUBLIC).trim_end_matches('/');
    let mut url = workspace.web.address(&format!("{base}/.api/search/stream"))?;
    url.query_pairs_mut()
        .append_pair("q", &query)
        .append_pair("v", "V3")
        .append_pair("t", "keyword")
        .append_pair("display", &count.to_string())
        .append_pair("cm", "true")
        .append_pair("cl", &context.to_string())
        .append_pair("max-line-len", &LINE_LIMIT.to_string());
    Ok(url)
}

async fn ask(workspace: &Workspace, url: &Url) -> Result<String, WebError> {
    let mut headers = web::header(ACCEPT, "text/event-stream");
    if let Some(token) = workspace.env.get("SRC_ACCESS_TOKEN") {
        headers.extend(web::header(AUTHORIZATION, &format!("token {token}")));
    }
    let mut response = workspace.web.get(url, headers).await?;
    web::check_status(&response)?;
    let mut body = Vec::new();
    while let Some(chunk) = web::chunk(&mut response).await? {
        body.extend_from_slice(&chunk);
        if body.len() > BODY_LIMIT {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// What a search has found, in the order of arrival.
#[derive(Debug, Default)]
struct Found {
    files: Vec<Match>,
    total: usize,
    alert: Option<String>,
    error: Option<String>,
}

/// One result. Repositories and commits come without a path.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Match {
    repository: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    chunk_matches: Vec<Chunk>,
}

/// Lines of a file with matches in them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    content: String,
    content_start: Position,
}

/// A place in a file; lines count from 0.
#[derive(Debug, Default, Deserialize)]
struct Position {
    #[serde(default)]
    line: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    #[serde(default)]
    match_count: usize,
}

#[derive(Debug, Default, Deserialize)]
struct Note {
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    message: String,
}

impl Found {
    /// Reads the events of an answer; what it does not know it passes over.
    fn read(body: &str) -> Self {
        let mut found = Self::default();
        let mut event = "";
        for line in body.lines() {
            if let Some(name) = line.strip_prefix("event:") {
                event = name.trim();
            } else if let Some(data) = line.strip_prefix("data:") {
                found.take(event, data.trim());
            }
        }
        found
    }

    fn take(&mut self, event: &str, data: &str) {
        match event {
            "matches" => {
                let list: Vec<serde_json::Value> = serde_json::from_str(data).unwrap_or_default();
                let known = list.into_iter().filter_map(|item| serde_json::from_value(item).ok());
                self.files.extend(known);
            }
            "progress" => {
                if let Ok(progress) = serde_json::from_str::<Progress>(data) {
                    self.total = self.total.max(progress.match_count);
                }
            }
            "alert" => {
                let note: Note = serde_json::from_str(data).unwrap_or_default();
                let more = note.description.filter(|more| !more.is_empty());
                self.alert =
                    Some(more.map_or(note.title.clone(), |more| format!("{}: {more}", note.title)));
            }
            "error" => {
                let note: Note = serde_json::from_str(data).unwrap_or_default();
                self.error = Some(note.message);
            }
            _ => {}
        }
    }

    fn told(&self) -> String {
        let mut text = match self.files.len() {
            0 => "No results.\n".to_owned(),
            files => {
                let matches = counted(self.total.max(files), "match");
                format!("Found {matches}; {} shown\n", counted(files, "file"))
            }
        };
        if let Some(alert) = &self.alert {
            text.extend(["(Sourcegraph says: ", alert, ")\n"]);
        }
        for file in &self.files {
            file.write(&mut text);
        }
        text
    }
}

impl Match {
    fn write(&self, text: &mut String) {
        let slash = if self.path.is_empty() { "" } else { "/" };
        text.extend(["\n## ", &self.repository, slash, &self.path, "\n"]);
        if self.chunk_matches.is_empty() {
            return;
        }
        // Lines of overlapping chunks are shown once.
        let mut lines = BTreeMap::new();
        for chunk in &self.chunk_matches {
            for (offset, line) in chunk.content.lines().enumerate() {
                lines.insert(chunk.content_start.line + offset + 1, line);
            }
        }
        let fence = fence_for(&self.chunk_matches);
        let language = self.path.rsplit_once('.').map_or("", |(_, ending)| ending);
        text.extend([&fence, language, "\n"]);
        let mut next = None;
        for (number, line) in lines {
            if next.is_some_and(|next| next != number) {
                text.push_str("…\n");
            }
            next = Some(number + 1);
            text.extend([&number.to_string(), ": ", line, "\n"]);
        }
        text.extend([&fence, "\n"]);
    }
}

/// A fence that the code itself does not close.
fn fence_for(chunks: &[Chunk]) -> String {
    let longest =
        chunks.iter().flat_map(|chunk| chunk.content.split(|c| c != '`')).map(str::len).max();
    "`".repeat(longest.map_or(3, |length| (length + 1).max(3)))
}
