//! Reading agents as Claude Code does: from files people write, and from `--agents`.

use serde_json::{Map, Value, json};

use super::{Agent, Isolation, Memory, color};
use crate::definition::sheet::{Rest, Sheet, name_trouble};
use crate::definition::{Home, Problem, Source, Standing, Weight};
use crate::jsonc;
use base::protocol::Mode;

/// The fields we know, and after them those that collections add; a field must be known to be found in a
/// header that is not strict YAML.
const KEYS: [&str; 43] = [
    "name",
    "description",
    "tools",
    "allowed-tools",
    "disallowedTools",
    "model",
    "permissionMode",
    "maxTurns",
    "skills",
    "mcpServers",
    "hooks",
    "memory",
    "background",
    "effort",
    "isolation",
    "color",
    "initialPrompt",
    "argument-hint",
    "author",
    "capabilities",
    "category",
    "disable-model-invocation",
    "domain",
    "emoji",
    "handoffs",
    "keywords",
    "license",
    "metadata",
    "mode",
    "permissions",
    "priority",
    "role",
    "services",
    "source",
    "tags",
    "target",
    "temperature",
    "triggers",
    "type",
    "user-invocable",
    "version",
    "vibe",
    "when_to_use",
];

/// Reads an agent's file. One without a name is none, and no mistake: such folders hold other texts, too.
pub fn read(text: &str, home: Home) -> (Option<Agent>, Vec<Problem>) {
    from_sheet(Sheet::open(text, home, &KEYS))
}

/// Reads the agents of the command line: `{"name": {"description": …, "prompt": …}}`.
pub fn read_json(text: &str) -> (Vec<Agent>, Vec<Problem>) {
    let home = Home { source: Source::Flag, file: None, standing: Standing::Trusted };
    let all = match jsonc::read::<Value>(text) {
        Ok(Value::Object(all)) => all,
        Ok(_) => {
            let sheet = Sheet::of(Map::new(), String::new(), home, &KEYS);
            return (
                Vec::new(),
                sheet.broken(None, "the agents must be an object: {\"name\": {…}}"),
            );
        }
        Err(error) => {
            let sheet = Sheet::of(Map::new(), String::new(), home, &KEYS);
            return (Vec::new(), sheet.broken(None, format!("this is not JSON: {error}")));
        }
    };
    let mut agents = Vec::new();
    let mut problems = Vec::new();
    for (name, fields) in all {
        let mut fields = match fields {
            Value::Object(fields) => fields,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        fields.insert("name".to_owned(), Value::from(name));
        let prompt = fields.shift_remove("prompt");
        let prompt = prompt.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        let (agent, told) = from_sheet(Sheet::of(fields, prompt, home.clone(), &KEYS));
        agents.extend(agent);
        problems.extend(told);
    }
    (agents, problems)
}

fn from_sheet(mut sheet: Sheet) -> (Option<Agent>, Vec<Problem>) {
    let name_line = sheet.line("name");
    let Some(name) = sheet.text("name") else { return (None, nameless(sheet)) };
    if let Some(trouble) = name_trouble(&name) {
        return (None, sheet.broken(name_line, trouble));
    }
    let description_line = sheet.line("description").or(name_line);
    let Some(description) = sheet.prose("description") else {
        let text = format!("the agent `{name}` has no `description`, which says when to use it");
        return (None, sheet.broken(description_line, text));
    };
    if sheet.body().trim().is_empty() {
        sheet.tell(Weight::Note, None, "it has no text below its header, so it is told nothing");
    }
    ignore_what_plugins_may_not_set(&mut sheet);
    let (tools, disallowed_tools) = tools(&mut sheet);
    let agent = Agent {
        name: qualified(&sheet, name),
        description,
        prompt: String::new(),
        tools,
        disallowed_tools,
        model: sheet.text("model"),
        mode: sheet.choice(
            "permissionMode",
            mode,
            "default, acceptEdits, dontAsk, plan or bypassPermissions",
        ),
        max_turns: sheet.choice(
            "maxTurns",
            |text| text.parse().ok().filter(|turns| *turns > 0),
            "a number from 1",
        ),
        skills: sheet.names("skills").unwrap_or_default(),
        mcp_servers: servers(&mut sheet),
        hooks: sheet.hooks("hooks"),
        memory: sheet.choice("memory", memory, "user, project or local"),
        background: sheet.flag("background").unwrap_or_default(),
        effort: sheet.effort("effort"),
        isolation: sheet.choice("isolation", isolation, "worktree").unwrap_or_default(),
        color: sheet.choice("color", color::read, "a colour's name or #rrggbb"),
        initial_prompt: sheet.prose("initialPrompt"),
        more: Map::new(),
        home: sheet.home().clone(),
    };
    let Rest { body, more, problems, .. } = sheet.rest();
    (Some(Agent { prompt: body.trim().to_owned(), more, ..agent }), problems)
}

/// The tools an agent has, or none for all its parent has, and those taken from it. Skills and commands call
/// the first `allowed-tools`, and so do some authors of agents.
fn tools(sheet: &mut Sheet) -> (Option<Vec<String>>, Vec<String>) {
    let key = if sheet.has("tools") { "tools" } else { "allowed-tools" };
    let (tools, off) = match sheet.switched_tools(key) {
        Some(switched) => switched,
        None => (sheet.tools(key), Vec::new()),
    };
    let mut taken = sheet.names("disallowedTools").unwrap_or_default();
    taken.extend(off);
    (tools, taken)
}

/// What to say of a file without a name.
fn nameless(sheet: Sheet) -> Vec<Problem> {
    if let Some(line) = sheet.trouble() {
        return sheet.broken(Some(line), "no `name` was found in the header, which is not YAML");
    }
    let mut sheet = sheet;
    sheet.tell(Weight::Note, None, "it has no `name` in its header, so it is no agent");
    sheet.rest().problems
}

/// A plugin's author is not asked for what would run or widen.
fn ignore_what_plugins_may_not_set(sheet: &mut Sheet) {
    if !matches!(sheet.home().source, Source::Plugin(_)) {
        return;
    }
    for key in ["hooks", "mcpServers", "permissionMode"] {
        if sheet.has(key) {
            sheet.note(key, format!("`{key}` has no effect in a plugin's agent"));
            drop(sheet.value(key));
        }
    }
}

fn qualified(sheet: &Sheet, name: String) -> String {
    match &sheet.home().source {
        Source::Plugin(plugin) => format!("{plugin}:{name}"),
        Source::Flag | Source::Project | Source::User | Source::BuiltIn => name,
    }
}

fn mode(text: &str) -> Option<Mode> {
    match text {
        "default" | "manual" => Some(Mode::Default),
        "acceptEdits" | "auto" => Some(Mode::AcceptEdits),
        "dontAsk" => Some(Mode::DontAsk),
        "bypassPermissions" | "bypass" => Some(Mode::Bypass),
        "plan" => Some(Mode::Plan),
        _ => None,
    }
}

fn memory(text: &str) -> Option<Memory> {
    match text {
        "user" => Some(Memory::User),
        "project" => Some(Memory::Project),
        "local" => Some(Memory::Local),
        _ => None,
    }
}

fn isolation(text: &str) -> Option<Isolation> {
    match text {
        "worktree" => Some(Isolation::Worktree),
        "none" | "false" => Some(Isolation::None),
        _ => None,
    }
}

/// MCP servers: names, or tables of a name and a definition.
fn servers(sheet: &mut Sheet) -> Vec<Value> {
    let line = sheet.line("mcpServers");
    match sheet.value("mcpServers") {
        None => Vec::new(),
        Some(Value::Object(all)) => {
            all.into_iter().map(|(name, server)| json!({ name: server })).collect()
        }
        Some(Value::Array(items)) => {
            let (used, odd): (Vec<_>, Vec<_>) =
                items.into_iter().partition(|item| item.is_string() || item.is_object());
            if !odd.is_empty() {
                sheet.tell(Weight::Note, line, "`mcpServers` should list names or definitions");
            }
            used
        }
        Some(Value::String(names)) => {
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(Value::from).collect()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) => {
            sheet.tell(Weight::Note, line, "`mcpServers` should be a list; it has no effect");
            Vec::new()
        }
    }
}
