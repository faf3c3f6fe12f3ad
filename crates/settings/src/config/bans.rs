//! Servers that Claude Code's settings switch off: by name, as one of `.mcp.json`, or by a list of those that are
//! denied or allowed. Those of settings are looked at after merging, for a list may name a server of any file; those
//! that come from elsewhere ([`Bans::forbid`]) when they are made known.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::check::Owner;
use super::servers::McpServer;
use super::template::Template;
use super::tree::{Kind, Node, Place};
use base::star;

/// Which servers are forbidden, wherever they are named.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bans {
    /// Names, of servers of any file.
    off: Vec<Ban>,
    /// Names, of servers of `.mcp.json`.
    off_in_project: Vec<Ban>,
    denied: Vec<Ban>,
    /// Where there is a list, whoever is not on it is switched off.
    allowed: Option<Vec<Ban>>,
    allowed_at: Place,
}

/// One server, or several of a kind.
#[derive(Debug, Clone, PartialEq)]
struct Ban {
    whom: Whom,
    place: Place,
}

#[derive(Debug, Clone, PartialEq)]
enum Whom {
    Name(String),
    /// The program and its arguments.
    Command(Vec<String>),
    /// The address, in which `*` stands for anything.
    Url(String),
}

/// A server, as far as bans look at it.
struct Suspect<'a> {
    name: &'a str,
    command: Option<&'a str>,
    args: Vec<&'a str>,
    url: Option<&'a str>,
}

impl<'a> Suspect<'a> {
    fn of_node(name: &'a str, server: &'a Node) -> Self {
        let args = server.table().and_then(|entry| entry.get("args"));
        Self {
            name,
            command: text(server, "command"),
            args: args.map(texts).unwrap_or_default(),
            url: text(server, "url"),
        }
    }
}

impl Bans {
    /// Whether a server must not be used that no settings file names: of the command line, a plugin, an agent, an
    /// editor.
    pub fn forbid(&self, name: &str, server: &McpServer) -> bool {
        let suspect = Suspect {
            name,
            command: server.command.as_ref().map(Template::as_str),
            args: server.args.iter().map(Template::as_str).collect(),
            url: server.url.as_ref().map(Template::as_str),
        };
        self.place(&suspect, false).is_some()
    }

    /// Takes note of what a file says. A project's list of those that are allowed is its word, and counts when
    /// the project is trusted; all others only forbid.
    pub(super) fn note(&mut self, file: &Node, owner: Owner) {
        let Some(table) = file.table() else { return };
        let list = |key: &str| table.get(key).map(bans);
        self.off.extend(list("disabledMcpServers").into_iter().flatten());
        self.off_in_project.extend(list("disabledMcpjsonServers").into_iter().flatten());
        self.denied.extend(list("deniedMcpServers").into_iter().flatten());
        let may_allow = !matches!(owner, Owner::Project(_));
        if let Some(node) = table.get("allowedMcpServers").filter(|_| may_allow) {
            self.allowed.get_or_insert_default().extend(bans(node));
            self.allowed_at = node.place;
        }
    }

    /// Switches off whom they name in the merged settings.
    pub(super) fn apply(&self, merged: &mut Node, files: &[PathBuf]) {
        let servers = merged.table_mut().and_then(|root| root.get_mut("mcp")?.table_mut());
        for (name, server) in servers.into_iter().flatten() {
            // Another file may say more of it than the one that brings it.
            let entry = server.table();
            let brought = entry.and_then(|entry| entry.get("command").or_else(|| entry.get("url")));
            let place = brought.map_or(server.place, |node| node.place);
            let file = files.get(place.file).and_then(|file| file.file_name());
            let is_projects = file.is_some_and(|file| file == ".mcp.json");
            let suspect = Suspect::of_node(name, server);
            let Some(place) = self.place(&suspect, is_projects) else { continue };
            if let Some(entry) = server.table_mut() {
                entry.insert("disabled".to_owned(), Node::new(Kind::Flag(true), place));
            }
        }
    }

    /// Where a server is switched off, if it is.
    fn place(&self, server: &Suspect<'_>, is_projects: bool) -> Option<Place> {
        let in_project = self.off_in_project.iter().filter(|_| is_projects);
        let mut against = self.off.iter().chain(in_project).chain(&self.denied);
        let banned = against.find(|ban| ban.whom.is(server)).map(|ban| ban.place);
        let unlisted = || {
            let allowed = self.allowed.as_ref()?;
            (!is_allowed(allowed, server)).then_some(self.allowed_at)
        };
        banned.or_else(unlisted)
    }
}

/// As at Claude Code: where the list names commands, a program must be one of them, where it names addresses, an
/// address; only else a name is enough.
fn is_allowed(allowed: &[Ban], server: &Suspect<'_>) -> bool {
    let is_program = server.command.is_some();
    let is_of_its_kind = |ban: &&Ban| match ban.whom {
        Whom::Command(_) => is_program,
        Whom::Url(_) => !is_program,
        Whom::Name(_) => false,
    };
    let mut of_its_kind = allowed.iter().filter(is_of_its_kind).peekable();
    if of_its_kind.peek().is_some() {
        return of_its_kind.any(|ban| ban.whom.is(server));
    }
    allowed.iter().any(|ban| ban.whom.is(server))
}

impl Whom {
    fn is(&self, server: &Suspect<'_>) -> bool {
        match self {
            // Claude Code calls a plugin's server `plugin:<plugin>:<server>`.
            Self::Name(banned) => banned == server.name || banned.replace(':', "_") == server.name,
            Self::Command(banned) => {
                let line = server.command.iter().chain(&server.args);
                line.copied().eq(banned.iter().map(String::as_str))
            }
            Self::Url(pattern) => server.url.is_some_and(|url| star::fits(pattern, url)),
        }
    }
}

fn bans(list: &Node) -> Vec<Ban> {
    let Kind::List(items) = &list.kind else { return Vec::new() };
    let ban = |item: &Node| Some(Ban { whom: whom(item)?, place: item.place });
    items.iter().filter_map(ban).collect()
}

fn whom(item: &Node) -> Option<Whom> {
    if let Some(name) = item.text() {
        return Some(Whom::Name(name.to_owned()));
    }
    let entry: &BTreeMap<String, Node> = item.table()?;
    if let Some(name) = text(item, "serverName") {
        return Some(Whom::Name(name.to_owned()));
    }
    if let Some(url) = text(item, "serverUrl") {
        return Some(Whom::Url(url.to_owned()));
    }
    let line = texts(entry.get("serverCommand")?);
    Some(Whom::Command(line.into_iter().map(str::to_owned).collect()))
}

fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.table()?.get(key)?.text()
}

fn texts(node: &Node) -> Vec<&str> {
    let Kind::List(items) = &node.kind else { return Vec::new() };
    items.iter().filter_map(Node::text).collect()
}
