//! How a server is reached: its settings, filled in when it is needed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use base::{CommandLine, RunCommand as _};
use guard::Runner;
use guard::start::{Project, Sandboxed};
use http::{HeaderMap, HeaderName, HeaderValue};
use settings::trust::FolderTrust;
use settings::{Expander, McpServer, McpTransport};
use url::Url;

use super::Outside;
use crate::child::{Limits, Program};

/// How long a server may take to begin. `npx` and `uvx` fetch it first, and only a call waits for that.
const START: Duration = Duration::from_secs(30);
/// How long a server may be silent about what it was asked.
const ANSWER: Duration = Duration::from_mins(2);
/// How long the command may take that prints headers.
const HELPER: Duration = Duration::from_secs(10);
/// Bytes of memory a program may write to unless its settings say otherwise.
const MEMORY_BYTES: u64 = 8 << 30;

/// How a server is reached.
#[derive(Debug)]
pub(super) enum Reach {
    /// It is a program.
    Program(Program),
    /// It has an address.
    Http(Address),
    /// It has an address and speaks the older way.
    Events(Address),
}

/// The address of a server.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
}

/// How long a server may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// To begin.
    pub(super) start: Duration,
    /// Between two signs of life while it works.
    pub(super) answer: Duration,
}

impl Patience {
    pub(super) fn of(server: &McpServer) -> Self {
        let told = server.timeout_s.map(|seconds| Duration::from_secs(seconds.max(1)));
        Self { start: told.unwrap_or(START), answer: told.unwrap_or(ANSWER) }
    }
}

/// Fills in the settings. The text of a failure is for the user; it holds no secret.
pub(super) async fn reach(server: &McpServer, outside: &Outside) -> Result<Reach, String> {
    let (server, outside) = (server.clone(), outside.clone());
    // A value may come from a command, which blocks.
    let filling = tokio::task::spawn_blocking(move || filled(&server, &outside));
    filling.await.unwrap_or_else(|_| Err("its settings could not be filled in".to_owned()))
}

fn filled(server: &McpServer, outside: &Outside) -> Result<Reach, String> {
    let project = outside.project();
    let env = outside.env.with(project_variables(&outside.folder));
    let env = match project.trust {
        FolderTrust::Trusted => env,
        FolderTrust::Untrusted => env.avoiding(&outside.folder),
    };
    let expander = Expander { env: &env, runner: Some(&Runner) };
    let failed = |key: &'static str| move |error| format!("{key} in its settings: {error}");
    let transport = server.transport.unwrap_or(match server.command {
        Some(_) => McpTransport::Stdio,
        None => McpTransport::Http,
    });
    if transport == McpTransport::Stdio {
        let command = server.command.as_ref().ok_or("its settings name no command")?;
        let args: Result<Vec<String>, _> =
            server.args.iter().map(|arg| expander.text(arg)).collect();
        let program = expander.path(command).map_err(failed("command"))?;
        let env = expander.map(&server.env).map_err(failed("env"))?;
        let env = outside.child_env.with(project_variables(&outside.folder)).with(env);
        let start =
            project.start(&env, server.sandbox.into()).map_err(|error| error.to_string())?;
        let memory = server.memory_mb.map_or(MEMORY_BYTES, |mega| mega.saturating_mul(1 << 20));
        return Ok(Reach::Program(Program {
            program: program.to_string_lossy().into_owned(),
            args: args.map_err(failed("args"))?,
            folder: start.folder,
            env: start.env,
            cage: start.cage,
            limits: Limits { memory_bytes: Some(memory).filter(|it| *it > 0), cpu_s: server.cpu_s },
        }));
    }
    let url = server.url.as_ref().ok_or("its settings name neither a command nor a url")?;
    let url = expander.text(url).map_err(failed("url"))?;
    let url = Url::parse(url.trim()).map_err(|error| format!("url in its settings: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("url in its settings: it must begin with http:// or https://".to_owned());
    }
    let mut headers = expander.map(&server.headers).map_err(failed("headers"))?;
    if let Some(line) = &server.headers_helper {
        headers.extend(printed_headers(line, &url, outside)?);
    }
    let address = Address { url, headers: header_map(headers)? };
    Ok(match transport {
        McpTransport::Sse => Reach::Events(address),
        McpTransport::Http | McpTransport::Stdio => Reach::Http(address),
    })
}

/// The headers that a command of the user's prints.
fn printed_headers(
    line: &str,
    url: &Url,
    outside: &Outside,
) -> Result<BTreeMap<String, String>, String> {
    let about = [("CLAUDE_CODE_MCP_SERVER_URL".to_owned(), url.to_string())];
    let env = outside.env.with(project_variables(&outside.folder)).with(about);
    let start = outside.project().start(&env, Sandboxed::No).map_err(|error| error.to_string())?;
    let command = CommandLine {
        folder: Some(start.folder),
        timeout: HELPER,
        ..CommandLine::shell(line, &start.env)
    };
    let printed = Runner.run(&command).map_err(|error| format!("headers_helper: {error}"))?;
    // What it printed may be a secret: no word of it is shown.
    serde_json::from_str(&printed)
        .map_err(|_| "headers_helper prints no JSON object of texts".to_owned())
}

/// How programs learn where the project is, wherever they start.
fn project_variables(folder: &Path) -> [(String, String); 2] {
    let folder = folder.display().to_string();
    [("CLAUDE_PROJECT_DIR".to_owned(), folder.clone()), ("CAIMAN_PROJECT_DIR".to_owned(), folder)]
}

impl Outside {
    /// The project, with the trust it has now.
    fn project(&self) -> Project<'_> {
        let trust = FolderTrust::of(&self.paths.trust(), &self.folder);
        Project { folder: &self.folder, paths: &self.paths, trust }
    }
}

fn header_map(headers: BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let wrong = || format!("headers in its settings: {name} cannot be sent");
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        map.insert(header, value);
    }
    Ok(map)
}
