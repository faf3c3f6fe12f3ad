//! What may follow a slash or an at sign: commands, skills, agents, prompts and resources of servers.

use base::protocol::{Offer, OfferKind};
use settings::definition::{Agent, Definitions, Home, Skill};

use crate::commands;
use crate::crew;
use crate::mcp::{self, prompts};
use crate::mind::Mind;
use crate::skills::{invoke, is_for_user};

/// Longest description, in characters: it stands in one line.
const ABOUT_CHARS: usize = 200;

/// Everything that can be called from a folder: commands first, then skills, then agents, each by name; what
/// servers let be read comes last.
pub(super) fn of(mind: &Mind, definitions: &Definitions) -> Vec<Offer> {
    let mut servers = mind.mcp.names();
    servers.extend(mcp::of_plugins(mind, definitions));
    let mut all = built_in();
    all.extend(custom(definitions));
    all.extend(prompts::offers(mind, &servers));
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all.extend(sorted(definitions.skills.iter().filter_map(skill)));
    all.extend(sorted(agents(definitions).into_iter().map(|it| agent(&it))));
    all.extend(prompts::readable(mind, &servers));
    all
}

fn sorted(offers: impl Iterator<Item = Offer>) -> Vec<Offer> {
    let mut offers: Vec<Offer> = offers.collect();
    offers.sort_by(|one, other| one.name.cmp(&other.name));
    offers
}

fn built_in() -> Vec<Offer> {
    let offer = |command: &&commands::Command| Offer {
        kind: OfferKind::Command,
        name: command.name.to_owned(),
        arguments: command.arguments.to_owned(),
        about: command.about.to_owned(),
        source: "built in".to_owned(),
        color: None,
    };
    commands::all().iter().map(offer).collect()
}

/// The user's commands, but those that one of ours or a skill hides.
fn custom(definitions: &Definitions) -> impl Iterator<Item = Offer> {
    let is_hidden =
        |name: &str| commands::find(name).is_some() || invoke::skill(definitions, name).is_some();
    let shown = definitions.commands.iter().filter(move |command| !is_hidden(&command.name));
    shown.map(|command| Offer {
        kind: OfferKind::Command,
        name: command.name.clone(),
        arguments: command.argument_hint.clone().unwrap_or_default(),
        about: line(&command.description),
        source: source(&command.home),
        color: None,
    })
}

/// A skill the user may call; none for one that a command of ours hides.
fn skill(skill: &Skill) -> Option<Offer> {
    let is_callable = is_for_user(skill) && commands::find(&skill.name).is_none();
    is_callable.then(|| Offer {
        kind: OfferKind::Skill,
        name: skill.name.clone(),
        arguments: skill.argument_hint.clone().unwrap_or_default(),
        about: line(&skill.description),
        source: source(&skill.home),
        color: None,
    })
}

/// The agents of files, and ours where no file has taken the name.
fn agents(definitions: &Definitions) -> Vec<Agent> {
    let mut agents = definitions.agents.clone();
    let is_taken = |agent: &Agent| definitions.agent(&agent.name).is_some();
    agents.extend(crew::built_in().into_iter().filter(|agent| !is_taken(agent)));
    agents
}

fn agent(agent: &Agent) -> Offer {
    Offer {
        kind: OfferKind::Agent,
        name: agent.name.clone(),
        arguments: String::new(),
        about: line(&agent.description),
        source: source(&agent.home),
        color: agent.color.clone(),
    }
}

fn source(home: &Home) -> String {
    match &home.file {
        Some(file) => file.display().to_string(),
        None => home.to_string(),
    }
}

/// A description in one line.
fn line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(ABOUT_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}
