//! `caiman agents list` and `show`.

use base::protocol::Mode;
use serde_json::{Value, json};
use settings::definition::agent::{Isolation, Memory};
use settings::definition::{Agent, Definitions, Source, Standing, Weight};
use settings::printable;

use super::find;
use crate::commands::session::text;
use crate::failure::Failure;
use crate::render;

/// Most characters shown of a description in a list.
const DESCRIPTION_CHARS: usize = 80;

/// Lists agents.
pub(super) fn run(found: &Definitions, json: bool) -> Result<(), Failure> {
    if json {
        let on = found.agents.iter().map(|agent| row(agent, State::On));
        let off = found.disabled_agents.iter().map(|agent| row(agent, State::Off));
        return render::json(&on.chain(off).collect::<Vec<_>>());
    }
    render::out(&table(found))?;
    let is_ours = |agent: &Agent| agent.home.source == Source::BuiltIn;
    if found.agents.iter().all(is_ours) && found.disabled_agents.is_empty() {
        render::out("No agents of your own. `caiman agents new NAME` writes one.\n")?;
    }
    let broken = found.problems.iter().filter(|it| it.weight == Weight::Broken).count();
    if broken > 0 {
        let files = if broken == 1 { "file cannot" } else { "files cannot" };
        render::note(&format!("{broken} {files} be used; see `caiman agents check`"));
    }
    Ok(())
}

/// Shows one agent.
pub(super) fn show(found: &Definitions, name: &str, json: bool) -> Result<(), Failure> {
    let agent = find(found, name)?;
    let is_on = found.agents.iter().any(|it| it.name == agent.name);
    let state = if is_on { State::On } else { State::Off };
    if json {
        let mut row = row(agent, state);
        row["prompt"] = Value::from(agent.prompt.clone());
        row["more"] = Value::from(agent.more.clone());
        return render::json(&row);
    }
    let mut rows: Vec<String> = Vec::new();
    for (label, value) in facts(agent, state) {
        rows.push(format!("{label:<12} {}", text::line(&value)));
    }
    let told = render::lines(rows);
    render::out(&format!("{told}\n{}\n", text::plain(&agent.prompt)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    On,
    Off,
}

fn table(found: &Definitions) -> String {
    let on = found.agents.iter().map(|agent| (agent, State::On));
    let off = found.disabled_agents.iter().map(|agent| (agent, State::Off));
    let rows = on.chain(off).map(|(agent, state)| {
        let source = match state {
            State::On => agent.home.to_string(),
            State::Off => format!("{}, off", agent.home),
        };
        let model = agent.model.as_deref().unwrap_or("inherit");
        let description = text::short(&agent.description, DESCRIPTION_CHARS);
        let cells = [&text::line(&agent.name), &source, &text::line(model), &description];
        cells.map(|cell| printable(cell).into_owned()).to_vec()
    });
    render::columns(&rows.collect::<Vec<_>>())
}

fn row(agent: &Agent, state: State) -> Value {
    json!({
        "name": agent.name,
        "description": agent.description,
        "source": agent.home.source.as_str(),
        "file": agent.home.file,
        "trusted": agent.home.standing == Standing::Trusted,
        "disabled": state == State::Off,
        "model": agent.model,
        "tools": agent.tools,
        "disallowed_tools": agent.disallowed_tools,
        "permission_mode": agent.mode.map(mode),
        "max_turns": agent.max_turns,
        "skills": agent.skills,
        "memory": agent.memory.map(memory),
        "background": agent.background,
        "effort": agent.effort,
        "isolation": isolation(agent.isolation),
        "color": agent.color,
        "hooks": agent.hooks.keys().collect::<Vec<_>>(),
    })
}

/// What the author says of an agent; what was left out is left out here.
fn facts(agent: &Agent, state: State) -> Vec<(&'static str, String)> {
    let some = |label, value: Option<String>| value.map(|value| (label, value));
    let listed = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
    let tools = agent.tools.as_ref().map(|tools| tools.join(", "));
    let facts = [
        some("name", Some(agent.name.clone())),
        some("source", Some(agent.home.to_string())),
        some("file", agent.home.file.as_ref().map(|file| file.display().to_string())),
        some("state", (state == State::Off).then(|| "switched off".to_owned())),
        some("description", Some(agent.description.clone())),
        some("model", agent.model.clone()),
        some("tools", tools.or_else(|| Some("all of its parent's".to_owned()))),
        some("without", listed(&agent.disallowed_tools)),
        some("mode", agent.mode.map(|it| mode(it).to_owned())),
        some("turns", agent.max_turns.map(|turns| turns.to_string())),
        some("skills", listed(&agent.skills)),
        some("memory", agent.memory.map(|it| memory(it).to_owned())),
        some("background", agent.background.then(|| "yes".to_owned())),
        some("effort", agent.effort.map(|effort| effort.to_string())),
        some("isolation", isolation(agent.isolation).map(str::to_owned)),
        some("color", agent.color.clone()),
        some("hooks", listed(&agent.hooks.keys().cloned().collect::<Vec<_>>())),
        some("unknown", listed(&agent.more.keys().cloned().collect::<Vec<_>>())),
    ];
    facts.into_iter().flatten().collect()
}

/// The mode as files write it.
fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AcceptEdits => "acceptEdits",
        Mode::Plan => "plan",
        Mode::DontAsk => "dontAsk",
        Mode::Bypass => "bypassPermissions",
    }
}

fn memory(memory: Memory) -> &'static str {
    match memory {
        Memory::User => "user",
        Memory::Project => "project",
        Memory::Local => "local",
    }
}

fn isolation(isolation: Isolation) -> Option<&'static str> {
    match isolation {
        Isolation::None => None,
        Isolation::Worktree => Some("worktree"),
    }
}
