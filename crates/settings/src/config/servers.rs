//! `mcp` and `lsp`: servers that Caiman starts or talks to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::template::Template;
use base::secret::Secret;

/// A Model Context Protocol server.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpServer {
    /// How it is reached; by default `stdio` when there is a command, else `http`.
    #[serde(rename = "type")]
    pub transport: Option<McpTransport>,
    /// The program to start (`stdio`).
    pub command: Option<Template>,
    /// Its arguments.
    #[schemars(extend("x-merge" = "replace"))]
    pub args: Vec<Template>,
    /// Environment variables it gets.
    pub env: BTreeMap<String, Template>,
    /// Its address (`http`, `sse`).
    pub url: Option<Template>,
    /// HTTP headers to send.
    pub headers: BTreeMap<String, Template>,
    /// A command that prints more headers, as a JSON object of texts; it runs at each connection.
    pub headers_helper: Option<String>,
    /// Do not use this server.
    pub disabled: bool,
    /// Tools of this server to leave out.
    pub disabled_tools: Vec<String>,
    /// If given, the only tools of this server to offer.
    pub enabled_tools: Option<Vec<String>>,
    /// Offer all its tools with their schemas, whatever `options.mcp_schema_tokens` says.
    pub always_load: bool,
    /// Seconds to wait for its start (default 30) and, while it tells of no progress, for an answer (default 120).
    #[serde(rename = "timeout")]
    pub timeout_s: Option<u64>,
    /// Megabytes of memory each of its processes may write to (`stdio`); default 8192, 0 for no limit.
    pub memory_mb: Option<u64>,
    /// Seconds of processor time it may use over its life (`stdio`); by default as many as it wants.
    pub cpu_s: Option<u64>,
    /// Start it in the sandbox (`stdio`): it writes the workspace and temporary folders only, sees no secrets and has no
    /// network.
    pub sandbox: bool,
    /// Sign in with OAuth; by default when the server asks for it.
    pub oauth: Option<bool>,
    /// OAuth client id, where the server has no dynamic registration.
    pub oauth_client_id: Option<Template>,
    /// OAuth client secret.
    pub oauth_client_secret: Option<Secret>,
    /// Local port for the OAuth answer; any free one if left out.
    pub oauth_callback_port: Option<u16>,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpTransport {
    /// A child process.
    Stdio,
    /// Server-sent events, the older way over HTTP.
    Sse,
    /// Streamable HTTP.
    Http,
}

/// A language server.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LspServer {
    /// The program to start.
    pub command: Option<Template>,
    /// Its arguments.
    #[schemars(extend("x-merge" = "replace"))]
    pub args: Vec<Template>,
    /// Environment variables it gets.
    pub env: BTreeMap<String, Template>,
    /// File name endings or language names it serves.
    pub filetypes: Vec<String>,
    /// Files that mark the root of a project for it.
    pub root_markers: Vec<String>,
    /// Sent with `initialize`.
    pub init_options: Map<String, Value>,
    /// Its workspace settings.
    pub options: Map<String, Value>,
    /// Seconds to wait for its start; default 30.
    #[serde(rename = "timeout")]
    pub timeout_s: Option<u64>,
    /// Megabytes of memory each of its processes may write to; default 8192, 0 for no limit.
    pub memory_mb: Option<u64>,
    /// Seconds of processor time it may use over its life; by default as many as it wants.
    pub cpu_s: Option<u64>,
    /// Start it in the sandbox: it writes the workspace and temporary folders only, sees no secrets and has no network.
    pub sandbox: bool,
    /// Do not use this server.
    pub disabled: bool,
}
