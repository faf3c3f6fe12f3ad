//! Which MCP servers the settings name, in which files, and which of them count.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use settings::jsonc;
use settings::{FileState, Leaf, Loaded, McpServer, McpTransport, nearest};

use super::Scope;
use crate::app::App;
use crate::disk;
use crate::failure::Failure;

/// A server as the settings describe it, secrets masked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    pub(super) name: String,
    /// What the settings say, masked.
    pub(super) shown: Value,
    /// The file that says it, or the last of several.
    pub(super) file: PathBuf,
    pub(super) standing: Standing,
}

/// Whether a server counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    On,
    Off,
    /// Its project is not trusted.
    Untrusted,
}

impl Standing {
    /// The same for programs.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Untrusted => "untrusted",
        }
    }
}

impl Known {
    /// How it is reached.
    pub(super) fn transport(&self) -> McpTransport {
        match self.text("type") {
            Some("sse") => McpTransport::Sse,
            Some("http") => McpTransport::Http,
            Some("stdio") => McpTransport::Stdio,
            Some(_) | None if self.text("command").is_some() => McpTransport::Stdio,
            Some(_) | None => McpTransport::Http,
        }
    }

    /// Its address, or its command line.
    pub(super) fn target(&self) -> String {
        match self.transport() {
            McpTransport::Http | McpTransport::Sse => self.text("url").unwrap_or("-").to_owned(),
            McpTransport::Stdio => {
                let args = self.shown.get("args").and_then(Value::as_array);
                let args = args.into_iter().flatten().filter_map(Value::as_str);
                self.text("command").into_iter().chain(args).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Whether its program starts in the sandbox.
    pub(super) fn is_sandboxed(&self) -> bool {
        let is_set = self.shown.get("sandbox").and_then(Value::as_bool) == Some(true);
        is_set && self.transport() == McpTransport::Stdio
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.shown.get(key)?.as_str()
    }
}

/// Every server that is named, by name: those that count, and those of a project that is not trusted.
pub(super) fn all(loaded: &Loaded) -> Vec<Known> {
    let shown = loaded.origins.shown();
    let leaves = loaded.origins.leaves();
    let file = |name: &str| {
        let below = format!("mcp.{name}.");
        let its = || leaves.iter().filter(|leaf| leaf.path.starts_with(&below));
        // Others may only say more of it, such as that it is off.
        let brings = |leaf: &&Leaf| ["command", "url"].contains(&&leaf.path[below.len()..]);
        let leaf = its().find(brings).or_else(|| its().next_back());
        leaf.map(|leaf| leaf.origin.file.clone()).unwrap_or_default()
    };
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (name, server) in &loaded.config.mcp {
        known.insert(
            name.clone(),
            Known {
                name: name.clone(),
                shown: shown["mcp"][name].clone(),
                file: file(name),
                standing: if server.disabled { Standing::Off } else { Standing::On },
            },
        );
    }
    for withheld in loaded.withheld.iter().filter(|withheld| withheld.path == "mcp") {
        for (name, shown) in withheld.value.as_object().into_iter().flatten() {
            known.entry(name.clone()).or_insert_with(|| Known {
                name: name.clone(),
                shown: shown.clone(),
                file: withheld.file.clone(),
                standing: Standing::Untrusted,
            });
        }
    }
    known.into_values().collect()
}

/// A server that counts, by name.
pub(super) fn find<'l>(loaded: &'l Loaded, name: &str) -> Result<&'l McpServer, Failure> {
    loaded.config.mcp.get(name).ok_or_else(|| unknown(loaded, name))
}

/// Says that there is no such server, and which one may be meant.
pub(super) fn unknown(loaded: &Loaded, name: &str) -> Failure {
    let all = all(loaded);
    if let Some(it) = all.iter().find(|it| it.name == name && it.standing == Standing::Untrusted) {
        let text = format!("{name} is named by a project that is not trusted ({})", place(it));
        return Failure::user(text).hint("caiman trust lets the project's files count");
    }
    let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
    let failure = Failure::user(format!("there is no MCP server `{name}`"));
    match nearest(name, &names) {
        Some(near) => failure.hint(format!("do you mean `{near}`?")),
        None => failure.hint("caiman mcp list shows those there are"),
    }
}

fn place(known: &Known) -> String {
    known.file.display().to_string()
}

/// The file of a scope, and the key that servers are under in it.
pub(super) fn file(app: &App, scope: Scope) -> (PathBuf, &'static str) {
    let root = || {
        let folders = settings::project_folders(&app.cwd);
        folders.into_iter().next().unwrap_or_else(|| app.cwd.clone())
    };
    match scope {
        Scope::User => (app.paths.config().join("caiman.json"), "mcp"),
        Scope::Project => (root().join(".mcp.json"), "mcpServers"),
        Scope::Local => (root().join(".caiman.json"), "mcp"),
    }
}

/// A file that names a server, and the key it is under.
pub(super) type Mention = (PathBuf, &'static str);

/// The files that name a server, lowest priority first.
pub(super) fn mentions(loaded: &Loaded, name: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    for file in loaded.files.iter().filter(|file| file.state == FileState::Read) {
        let Ok(text) = fs::read_to_string(&file.path) else { continue };
        let Ok(tables) = jsonc::read::<Map<String, Value>>(&text) else { continue };
        let keys = ["mcp", "mcpServers"].into_iter();
        let keys = keys.filter(|key| tables.get(*key).is_some_and(|it| it.get(name).is_some()));
        found.extend(keys.map(|key| (file.path.clone(), key)));
    }
    // A file that is read for several scopes is still one.
    found.dedup();
    found
}

/// The text of a settings file; empty where there is none.
pub(super) fn read(file: &Path) -> Result<String, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::config(format!("cannot read {}: {error}", file.display()))),
    }
}

/// Writes a settings file.
pub(super) fn write(file: &Path, text: &str) -> Result<(), Failure> {
    disk::replace(file, text.as_bytes())
        .map_err(|error| Failure::config(format!("cannot write {}: {error}", file.display())))
}
