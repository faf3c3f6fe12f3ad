//! Rules in Claude Code's grammar: `Tool` or `Tool(spec)`, for allow, ask and deny.
//!
//! | rule | is about |
//! |---|---|
//! | `Bash`, `Read`, `Edit`, `WebFetch` | every command, read, change or address, whichever tool does it |
//! | `todos`, `Grep`, `mcp__server`, `edit:write` | that tool, under any name it has ([`names`]) |
//! | `Bash(git log:*)` | commands that look like this |
//! | `Read(…)`, `Edit(…)` | files, as gitignore patterns with an anchor |
//! | `WebFetch(domain:…)` | hosts |
//! | `Agent(reviewer)`, `Skill(deploy *)` | agents and skills, by name |

mod command;
pub mod names;
mod path;
mod settings;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use url::Url;

use crate::fence::{Fence, Spot};
use path::Anchor;

pub use command::CommandPattern;
pub use path::{PathPattern, Reading};
pub use settings::{Collected, Extra};

/// One rule, as it was written, and where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rule {
    text: String,
    spec: Spec,
    /// The folder of the file it stands in: where `/…` begins. None for the folder we work in.
    root: Option<PathBuf>,
    source: Source,
}

/// Who made a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Source {
    /// The user: own settings, command line, an answer.
    #[default]
    User,
    /// A project's file.
    Project,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Spec {
    /// Everything of a kind, whichever tool does it.
    Kind(Kind),
    /// Certain tools, by our names.
    Tools(Vec<String>),
    /// Tools of servers, by a pattern of Claude Code's name for them.
    Servers(CommandPattern),
    /// Every tool.
    Everything,
    /// Commands.
    Command(CommandPattern),
    /// Files to read or change.
    Path(Kind, PathPattern),
    /// Hosts, by labels.
    Host(String),
    /// What a tool uses by name, such as agents: any of these patterns.
    Named(Vec<String>, Vec<CommandPattern>),
    /// Nothing we ask rules about; why.
    Unused(&'static str),
}

/// The kinds of things calls do, as rules tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Looking at files.
    Read,
    /// Changing files.
    Edit,
    /// Running commands.
    Run,
    /// Reaching the network.
    Fetch,
    /// Nothing outside the session.
    Inner,
}

/// Why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a rule: {why}")]
pub struct RuleError {
    /// What was written.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl Rule {
    /// Reads a rule.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let spec = match text.split_once('(') {
            None => bare(text),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(inside) => with_spec(name, inside),
                None => Err("the bracket is not closed at the end".to_owned()),
            },
        };
        let fail = |why| RuleError { text: text.to_owned(), why };
        let spec = spec.map_err(fail)?;
        Ok(Self { text: text.to_owned(), spec, root: None, source: Source::default() })
    }

    /// The same rule, as it stands in a file of `root`.
    #[must_use]
    pub fn from_file(mut self, root: PathBuf, source: Source) -> Self {
        self.root = Some(root);
        self.source = source;
        self
    }

    /// A rule for exactly this command.
    pub fn exact_command(command: &str) -> Option<Self> {
        Self::parse(&format!("Bash({})", CommandPattern::exact(command))).ok()
    }

    /// A rule for all commands that begin with these words.
    pub fn command_prefix(words: &str) -> Option<Self> {
        Self::parse(&format!("Bash({}:*)", CommandPattern::exact(words))).ok()
    }

    /// Who made it.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Why it will never decide anything, if that is so.
    pub fn unused(&self) -> Option<&'static str> {
        match &self.spec {
            Spec::Unused(why) => Some(why),
            Spec::Kind(_)
            | Spec::Tools(_)
            | Spec::Servers(_)
            | Spec::Everything
            | Spec::Command(_)
            | Spec::Path(..)
            | Spec::Named(..)
            | Spec::Host(_) => None,
        }
    }

    /// Whether it names no tool or server of its own, so that nobody can tell what it covers.
    pub fn is_unanchored(&self) -> bool {
        match &self.spec {
            Spec::Everything => true,
            Spec::Servers(_) => {
                let server = self.text.trim_start_matches("mcp").trim_start_matches('_');
                server.split("__").next().is_some_and(|server| server.contains('*'))
            }
            Spec::Kind(_)
            | Spec::Tools(_)
            | Spec::Command(_)
            | Spec::Path(..)
            | Spec::Host(_)
            | Spec::Named(..)
            | Spec::Unused(_) => false,
        }
    }

    /// Whether it is about something that `tool` uses by name.
    pub fn covers_named(&self, tool: &str, name: &str) -> bool {
        matches!(&self.spec, Spec::Named(tools, patterns)
            if tools.iter().any(|it| it == tool) && patterns.iter().any(|it| it.matches(name)))
    }

    /// The tool it narrows, where it is about some of what one tool does.
    pub fn narrows(&self, tool: &str) -> bool {
        match &self.spec {
            Spec::Command(_) => kind_of(tool) == Kind::Run,
            Spec::Path(kind, _) => kind_of(tool) == *kind,
            Spec::Host(_) => kind_of(tool) == Kind::Fetch,
            Spec::Named(tools, _) => tools.iter().any(|it| it == tool),
            Spec::Kind(_)
            | Spec::Tools(_)
            | Spec::Servers(_)
            | Spec::Everything
            | Spec::Unused(_) => false,
        }
    }

    /// Whether it is about all that `tool` does, or all of a kind.
    pub fn covers_tool(&self, tool: &str, kind: Kind) -> bool {
        match &self.spec {
            Spec::Everything => true,
            Spec::Kind(own) => *own == kind,
            Spec::Tools(tools) => {
                let is_it = |it: &String| it == tool;
                tools.iter().any(is_it)
                    || tool.starts_with("mcp__")
                        && names::ours(tool).iter().any(|it| tools.contains(it))
            }
            Spec::Servers(pattern) => pattern.matches(&names::claude(tool)),
            Spec::Command(_)
            | Spec::Path(..)
            | Spec::Host(_)
            | Spec::Named(..)
            | Spec::Unused(_) => false,
        }
    }

    /// The pattern of commands it is about.
    pub fn command(&self) -> Option<&CommandPattern> {
        match &self.spec {
            Spec::Command(pattern) => Some(pattern),
            Spec::Kind(_)
            | Spec::Tools(_)
            | Spec::Servers(_)
            | Spec::Everything
            | Spec::Path(..)
            | Spec::Host(_)
            | Spec::Named(..)
            | Spec::Unused(_) => None,
        }
    }

    /// Whether it names files to read or change.
    pub fn is_about_files(&self) -> bool {
        matches!(self.spec, Spec::Path(..))
    }

    /// Whether it is about doing `kind` to a place. What it allows must be meant by both of the place's
    /// paths, what it forbids by either.
    pub fn covers_place(&self, kind: Kind, spot: &Spot, fence: &Fence, reading: Reading) -> bool {
        let Spec::Path(own, pattern) = &self.spec else { return false };
        if *own != kind {
            return false;
        }
        let covers = |path: &Path| {
            self.bases(pattern, fence, reading)
                .iter()
                .filter_map(|base| below(path, base))
                .any(|rest| pattern.matches(&rest, reading))
        };
        match reading {
            Reading::Narrow => covers(&spot.asked) && covers(&spot.real),
            Reading::Wide => covers(&spot.asked) || covers(&spot.real),
        }
    }

    /// Whether it is about a host.
    pub fn covers_address(&self, url: &Url) -> bool {
        let Spec::Host(pattern) = &self.spec else { return false };
        host(url).is_some_and(|host| host_fits(pattern, &host))
    }

    /// Whether it names hosts to reach.
    pub fn is_about_hosts(&self) -> bool {
        matches!(self.spec, Spec::Host(_))
    }

    /// Whether it names this very host, without any `*`.
    pub fn names_host(&self, url: &Url) -> bool {
        matches!(&self.spec, Spec::Host(pattern) if Some(pattern) == host(url).as_ref())
    }

    /// Whether it lets this tool of a server be called and names the server, without any `*`.
    pub fn names_server(&self, tool: &str) -> bool {
        let names_one = match &self.spec {
            Spec::Servers(_) => {
                let server = self.text.strip_prefix("mcp__").and_then(|it| it.split("__").next());
                server.is_some_and(|server| !server.contains('*'))
            }
            Spec::Tools(_) => true,
            Spec::Kind(_)
            | Spec::Everything
            | Spec::Command(_)
            | Spec::Path(..)
            | Spec::Host(_)
            | Spec::Named(..)
            | Spec::Unused(_) => false,
        };
        names_one && self.covers_tool(tool, Kind::Inner)
    }

    fn bases(&self, pattern: &PathPattern, fence: &Fence, reading: Reading) -> Vec<PathBuf> {
        match (pattern.anchor, reading) {
            (Anchor::System, _) => vec![PathBuf::from("/")],
            (Anchor::Home, _) => vec![fence.home().to_owned()],
            (Anchor::Settings, _) => {
                vec![self.root.clone().unwrap_or_else(|| fence.folder().to_owned())]
            }
            (Anchor::Folder, Reading::Narrow) => vec![fence.folder().to_owned()],
            (Anchor::Folder, Reading::Wide) => fence.roots().to_vec(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A rule is written as its text.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// All rules that hold for a session: deny beats ask beats allow, wherever they come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// What needs no question.
    pub allow: Vec<Rule>,
    /// What is always asked.
    pub ask: Vec<Rule>,
    /// What is never done.
    pub deny: Vec<Rule>,
}

impl Rules {
    /// Whether a rule forbids all that `tool` does: the model need not be told of it.
    pub fn removes(&self, tool: &str) -> bool {
        self.deny.iter().any(|rule| rule.covers_tool(tool, kind_of(tool)))
    }
}

/// The kind of thing a built-in tool does first of all.
fn kind_of(tool: &str) -> Kind {
    match tool {
        "bash" | "job_input" => Kind::Run,
        "view" | "glob" | "grep" | "ls" => Kind::Read,
        "edit" | "multiedit" | "write" | "apply_patch" => Kind::Edit,
        "fetch" | "web_fetch" | "agentic_fetch" | "download" => Kind::Fetch,
        _ => Kind::Inner,
    }
}

/// A rule without brackets.
fn bare(name: &str) -> Result<Spec, String> {
    match name {
        "" => return Err("it is empty".to_owned()),
        "*" => return Ok(Spec::Everything),
        "Bash" => return Ok(Spec::Kind(Kind::Run)),
        "Read" => return Ok(Spec::Kind(Kind::Read)),
        "Edit" => return Ok(Spec::Kind(Kind::Edit)),
        "WebFetch" => return Ok(Spec::Kind(Kind::Fetch)),
        _ => {}
    }
    if !name.chars().all(|it| it.is_ascii_alphanumeric() || "_-:*.".contains(it)) {
        return Err("a tool's name has only letters, digits, `_` and `-`".to_owned());
    }
    if let Some(rest) = name.strip_prefix("mcp__") {
        let (server, tool) = rest.split_once("__").unwrap_or((rest, "*"));
        let (server, tool) = (names::server_pattern(server), names::tool_pattern(tool));
        return Ok(Spec::Servers(CommandPattern::parse(&format!("mcp__{server}__{tool}"))));
    }
    let tools = names::ours(name);
    if !tools.is_empty() {
        return Ok(Spec::Tools(tools));
    }
    // Crush writes `tool:action`; the tools of today do one thing each.
    let tools = name.split_once(':').map(|(tool, _)| names::ours(tool)).unwrap_or_default();
    if !tools.is_empty() {
        return Ok(Spec::Tools(tools));
    }
    if name.contains('*') {
        return Err("only the names of MCP tools may hold `*`".to_owned());
    }
    Ok(Spec::Unused("no tool has this name"))
}

/// A rule with brackets.
fn with_spec(name: &str, inside: &str) -> Result<Spec, String> {
    if inside.trim().is_empty() {
        return Err(format!("the brackets are empty; write `{name}` for all of it"));
    }
    match name {
        "Bash" | "bash" | "exec" => {
            let pattern = CommandPattern::parse(inside);
            let spec = Spec::Command(pattern.clone());
            Ok(if pattern.is_everything() { Spec::Kind(Kind::Run) } else { spec })
        }
        "Read" | "view" | "read" | "NotebookRead" => {
            Ok(Spec::Path(Kind::Read, PathPattern::parse(inside)?))
        }
        "Edit" | "edit" | "NotebookEdit" => Ok(Spec::Path(Kind::Edit, PathPattern::parse(inside)?)),
        "Write" | "write" | "MultiEdit" | "multiedit" | "apply_patch" => Ok(Spec::Unused(
            "paths are only looked up in `Edit(…)`, which covers all that change files",
        )),
        "Glob" | "glob" | "Grep" | "grep" | "LS" | "ls" => Ok(Spec::Unused(
            "paths are only looked up in `Read(…)`, which covers all that read files",
        )),
        "WebFetch" | "fetch" | "web_fetch" => match inside.trim().strip_prefix("domain:") {
            Some(host) => domain(host.trim()).map(Spec::Host),
            None => Err("write `WebFetch(domain:example.com)`".to_owned()),
        },
        "Agent" | "Task" | "agent" | "Skill" | "skill" => {
            let patterns = inside.split(',').map(str::trim).filter(|name| !name.is_empty());
            Ok(Spec::Named(names::ours(name), patterns.map(CommandPattern::parse).collect()))
        }
        "Cd" | "PowerShell" | "SlashCommand" => Ok(Spec::Unused("rules of this kind are not used")),
        _ if name.starts_with("mcp_") => {
            Err("rules for MCP tools have no brackets: `mcp__server__tool`".to_owned())
        }
        _ if inside.contains(':') => {
            Err("conditions on a tool's arguments are not supported".to_owned())
        }
        _ => Err(format!("`{name}` takes nothing in brackets")),
    }
}

fn domain(host: &str) -> Result<String, String> {
    let plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '.' | '*' | '_');
    let host = host.trim_end_matches('.').to_lowercase();
    let usable = !host.is_empty()
        && host.chars().all(|it| plain(it) || matches!(it, '[' | ']' | ':'))
        && !host.starts_with('.')
        && !host.contains("..");
    if usable { Ok(host) } else { Err("that is not a host's name".to_owned()) }
}

/// The host of an address as rules spell it.
fn host(url: &Url) -> Option<String> {
    Some(url.host_str()?.trim_end_matches('.').to_lowercase())
}

/// `*.host` means what is below it; any other `*` stays within its label.
fn host_fits(pattern: &str, host: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let (pattern, deeper) = match pattern.strip_prefix("*.") {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let wanted: Vec<&str> = pattern.split('.').collect();
    let labels: Vec<&str> = host.split('.').collect();
    let Some(extra) = labels.len().checked_sub(wanted.len()) else { return false };
    if deeper != (extra > 0) {
        return false;
    }
    let pairs = wanted.iter().zip(&labels[extra..]);
    pairs.into_iter().all(|(want, label)| CommandPattern::parse(want).matches(label))
}

/// The path from `base` down; a base that is a link is looked up.
fn below(path: &Path, base: &Path) -> Option<PathBuf> {
    if let Ok(rest) = path.strip_prefix(base) {
        return Some(rest.to_owned());
    }
    let real = std::fs::canonicalize(base).ok()?;
    path.strip_prefix(real).ok().map(Path::to_owned)
}
