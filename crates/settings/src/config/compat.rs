//! What other programs' files and earlier names say, put into our words before anything is checked.
//!
//! Crush's settings have our keys, save for a few it has renamed itself and a few that are its state.
//! Claude Code's `settings.json` and `.mcp.json` have their own; of those, only what we act on is taken.

use std::collections::BTreeMap;

use super::hooks::HOOK_EVENTS;
use super::problem::{Problems, Severity};
use super::shape::Shape;
use super::tree::{Kind, Node, Place};

/// Whose words a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// `caiman.json` and `crush.json`.
    Settings,
    /// Claude Code's `settings.json`: permissions, hooks and variables.
    Claude,
    /// `.mcp.json` and what Claude Code's state says: servers.
    Mcp,
}

type Table = BTreeMap<String, Node>;

/// The tree in our words.
pub(super) fn adopt(format: Format, mut root: Node, problems: &mut Problems) -> Node {
    let Some(table) = root.table_mut() else { return root };
    match format {
        Format::Settings => {}
        Format::Claude => {
            let switch = table.remove("disableAllHooks");
            table.retain(|key, _| ["permissions", "hooks", "env"].contains(&key.as_str()));
            if let Some(switch) = switch {
                let place = switch.place;
                let options = Table::from([("disable_hooks".to_owned(), switch)]);
                table.insert("options".to_owned(), Node::new(Kind::Table(options), place));
            }
            if let Some(rules) = table.get_mut("permissions").and_then(Node::table_mut) {
                let taken = ["allow", "ask", "deny", "additionalDirectories", "defaultMode"];
                rules.retain(|key, _| taken.contains(&key.as_str()));
            }
            if let Some(hooks) = table.get_mut("hooks").and_then(Node::table_mut) {
                hooks.retain(|event, _| HOOK_EVENTS.contains(&event.as_str()));
            }
        }
        Format::Mcp => table.retain(|key, _| key == "mcpServers"),
    }
    adopt_servers(table, problems);
    adopt_permissions(table);
    adopt_hooks(table, format, problems);
    adopt_crush_state(table, problems);
    adopt_options(table, problems);
    adopt_durations(table);
    root
}

fn adopt_servers(table: &mut Table, problems: &mut Problems) {
    let Some(mut servers) = table.remove("mcpServers") else { return };
    for (name, server) in servers.table_mut().into_iter().flatten() {
        if let Some(entry) = server.table_mut() {
            adopt_server(entry, &format!("mcp.{name}"), problems);
        }
    }
    match table.remove("mcp") {
        Some(ours) => {
            let mcp = Shape::root().property("mcp");
            table.insert("mcp".to_owned(), super::merge::lay_over(servers, ours, mcp));
        }
        None => drop(table.insert("mcp".to_owned(), servers)),
    }
}

/// One server as others write it, in our words. What we do not know is left out, and told.
fn adopt_server(entry: &mut Table, path: &str, problems: &mut Problems) {
    let mut unknown = Vec::new();
    if let Some(mut oauth) = entry.remove("oauth") {
        let place = oauth.place;
        if let Some(inner) = oauth.table_mut() {
            for (theirs, ours) in [
                ("clientId", "oauth_client_id"),
                ("clientSecret", "oauth_client_secret"),
                ("callbackPort", "oauth_callback_port"),
            ] {
                entry.extend(inner.remove(theirs).map(|node| (ours.to_owned(), node)));
            }
            unknown.extend(inner.iter().map(|(key, it)| (format!("oauth.{key}"), it.place)));
            oauth = Node::new(Kind::Flag(true), place);
        }
        entry.insert("oauth".to_owned(), oauth);
    }
    rename(entry, "alwaysLoad", "always_load");
    rename(entry, "headersHelper", "headers_helper");
    // Their time-outs count milliseconds, ours seconds.
    if let Some(Kind::Number(number)) = entry.get_mut("timeout").map(|node| &mut node.kind)
        && let Some(ms) = number.as_u64()
    {
        *number = ms.div_ceil(1000).into();
    }
    if let Some(Kind::Text(kind)) = entry.get_mut("type").map(|node| &mut node.kind)
        && kind == "streamable-http"
    {
        "http".clone_into(kind);
    }
    let shape = Shape::root().property("mcp").and_then(Shape::entries);
    entry.retain(|key, node| {
        let is_known = shape.is_some_and(|shape| shape.property(key).is_some());
        if !is_known {
            unknown.push((key.clone(), node.place));
        }
        is_known
    });
    for (key, place) in unknown {
        let path = format!("{path}.{key}");
        problems.push(Severity::Note, place.at(&path), "this key is ignored".to_owned());
    }
}

/// How a server is reached. Whoever names it anew as Claude Code does says all of that.
const REACH: [&str; 10] = [
    "type",
    "command",
    "args",
    "env",
    "url",
    "headers",
    "headers_helper",
    "oauth",
    "oauth_client_id",
    "oauth_client_secret",
];

/// Takes out how servers are reached that another file names anew: the whole entry of the nearest file counts, so
/// that no server gets what was meant for another of its name. What the user says of a server beside that stays.
pub(super) fn give_way(under: &mut Node, over: &Node) {
    let anew = over.table().and_then(|root| root.get("mcp")?.table());
    let Some(known) = under.table_mut().and_then(|root| root.get_mut("mcp")?.table_mut()) else {
        return;
    };
    for (name, server) in anew.into_iter().flatten() {
        let is_anew = |entry: &Table| entry.contains_key("command") || entry.contains_key("url");
        if server.table().is_some_and(is_anew)
            && let Some(entry) = known.get_mut(name).and_then(Node::table_mut)
        {
            entry.retain(|key, _| !REACH.contains(&key.as_str()));
        }
    }
}

fn adopt_permissions(table: &mut Table) {
    let Some(rules) = table.get_mut("permissions").and_then(Node::table_mut) else { return };
    rename(rules, "defaultMode", "default_mode");
    rename(rules, "additionalDirectories", "additional_directories");
    if let Some(Kind::Text(mode)) = rules.get_mut("default_mode").map(|node| &mut node.kind) {
        let ours = match mode.as_str() {
            "manual" => "default",
            "accept_edits" | "auto" => "acceptEdits",
            "dont_ask" => "dontAsk",
            "bypassPermissions" | "bypass_permissions" => "bypass",
            _ => return,
        };
        ours.clone_into(mode);
    }
}

/// Claude Code groups handlers under a matcher; we keep one flat list an event, as Crush does.
fn adopt_hooks(table: &mut Table, format: Format, problems: &mut Problems) {
    let Some(hooks) = table.get_mut("hooks").and_then(Node::table_mut) else { return };
    let shape = Shape::root().property("hooks").and_then(Shape::entries).and_then(Shape::items);
    for (event, list) in hooks.iter_mut() {
        let Kind::List(items) = &mut list.kind else { continue };
        let mut flat = Vec::with_capacity(items.len());
        for (index, mut item) in std::mem::take(items).into_iter().enumerate() {
            let path = format!("hooks.{event}[{index}]");
            let group = item.table_mut();
            let handlers =
                group.and_then(|group| Some((group.remove("hooks")?, group.remove("matcher"))));
            let Some((handlers, matcher)) = handlers else {
                flat.extend(adopt_handler(item, None, &path, problems));
                continue;
            };
            let Kind::List(handlers) = handlers.kind else { continue };
            for handler in handlers {
                flat.extend(adopt_handler(handler, matcher.clone(), &path, problems));
            }
        }
        if format == Format::Claude {
            for entry in flat.iter_mut().filter_map(Node::table_mut) {
                entry.retain(|key, _| shape.is_some_and(|shape| shape.property(key).is_some()));
            }
        }
        *items = flat;
    }
}

/// One handler in our words; none if it is of a kind that is not run, or says nothing to run.
fn adopt_handler(
    mut handler: Node,
    matcher: Option<Node>,
    path: &str,
    problems: &mut Problems,
) -> Option<Node> {
    let place = handler.place;
    let Some(entry) = handler.table_mut() else { return Some(handler) };
    let kind = entry.remove("type");
    let kind =
        kind.as_ref().and_then(Node::text).filter(|kind| !["command", "http"].contains(kind));
    if let Some(kind) = kind {
        let kind: String = kind.chars().take(20).collect();
        let message = format!("hooks of type `{kind}` are not run");
        problems.push(Severity::Warning, place.at(path), message);
        return None;
    }
    if !entry.contains_key("command") && !entry.contains_key("url") {
        let message = "needs `command` or `url`; the entry is left out";
        problems.push(Severity::Error, place.at(path), message);
        return None;
    }
    rename(entry, "allowedEnvVars", "allowed_env_vars");
    rename(entry, "statusMessage", "status_message");
    rename(entry, "asyncRewake", "async_rewake");
    entry.extend(matcher.map(|matcher| ("matcher".to_owned(), matcher)));
    Some(handler)
}

/// What Crush keeps in its files for itself: recent choices and tokens.
fn adopt_crush_state(table: &mut Table, problems: &mut Problems) {
    drop(table.remove("recent_models"));
    let providers = table.get_mut("providers").and_then(Node::table_mut);
    for (id, provider) in providers.into_iter().flatten() {
        let Some(entry) = provider.table_mut() else { continue };
        drop(entry.remove("id"));
        if let Some(token) = entry.remove("oauth") {
            let path = format!("providers.{id}.oauth");
            let message = "sign-ins of other programs are not used";
            let hint = format!("`caiman login {id}` makes one of our own");
            problems.push_hinted(Severity::Note, token.place.at(&path), message, Some(hint));
        }
    }
    let servers = table.get_mut("mcp").and_then(Node::table_mut);
    for entry in servers.into_iter().flat_map(BTreeMap::values_mut).filter_map(Node::table_mut) {
        drop(entry.remove("oauth_token"));
    }
}

/// Options that Crush has and Caiman does not, with the reason.
const CRUSH_OPTIONS: [(&str, &str); 3] = [
    (
        "data_directory",
        "not used: Caiman keeps its state in the user's data folder (XDG_DATA_HOME)",
    ),
    ("disable_metrics", "not used: Caiman sends no metrics"),
    ("disable_provider_auto_update", "not used: Caiman never updates its catalogue by itself"),
];

fn adopt_options(table: &mut Table, problems: &mut Problems) {
    let Some(options) = table.get_mut("options").and_then(Node::table_mut) else { return };
    for (key, message) in CRUSH_OPTIONS {
        if let Some(value) = options.remove(key) {
            let path = format!("options.{key}");
            problems.push_hinted(Severity::Note, value.place.at(&path), message, None);
        }
    }
    if let Some(style) = options.remove("notification_style") {
        renamed(problems, style.place, "options.notification_style", "options.notifications");
        options.entry("notifications".to_owned()).or_insert(style);
    }
    if let Some(flag) = options.remove("disable_notifications") {
        renamed(problems, flag.place, "options.disable_notifications", "options.notifications");
        if flag.kind == Kind::Flag(true) {
            let disabled = Node::new(Kind::Text("disabled".to_owned()), flag.place);
            options.insert("notifications".to_owned(), disabled);
        }
    }
    let attribution = options.get_mut("attribution").and_then(Node::table_mut);
    if let Some(attribution) = attribution
        && let Some(flag) = attribution.remove("co_authored_by")
    {
        let (old, new) =
            ("options.attribution.co_authored_by", "options.attribution.trailer_style");
        renamed(problems, flag.place, old, new);
        let kind = match flag.kind {
            Kind::Flag(true) => Kind::Text("co-authored-by".to_owned()),
            Kind::Flag(false) => Kind::Text("none".to_owned()),
            other @ (Kind::Null
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::List(_)
            | Kind::Table(_)) => other,
        };
        let style = Node::new(kind, flag.place);
        attribution.entry("trailer_style".to_owned()).or_insert(style);
    }
}

/// Crush writes the tools' time limits as whole nanoseconds, or as text such as `5s`.
fn adopt_durations(table: &mut Table) {
    let Some(tools) = table.get_mut("tools").and_then(Node::table_mut) else { return };
    for entry in tools.values_mut().filter_map(Node::table_mut) {
        let Some(limit) = entry.remove("timeout") else { continue };
        let ms = match &limit.kind {
            Kind::Number(number) => number.as_u64().map(|nanoseconds| nanoseconds / 1_000_000),
            Kind::Text(text) => duration_ms(text),
            Kind::Null | Kind::Flag(_) | Kind::List(_) | Kind::Table(_) => None,
        };
        let kind = ms.map_or(limit.kind, |ms| Kind::Number(ms.into()));
        entry.entry("timeout_ms".to_owned()).or_insert(Node::new(kind, limit.place));
    }
}

fn duration_ms(text: &str) -> Option<u64> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let (amount, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))?;
    amount.trim().parse::<u64>().ok()?.checked_mul(factor)
}

fn rename(table: &mut Table, old: &str, new: &str) {
    if let Some(node) = table.remove(old) {
        table.entry(new.to_owned()).or_insert(node);
    }
}

fn renamed(problems: &mut Problems, place: Place, old: &str, new: &str) {
    problems.push(Severity::Note, place.at(old), format!("this key is now called `{new}`"));
}
