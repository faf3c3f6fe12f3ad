//! Reading what a survey has found.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use serde_json::Value;

use super::survey::{Kind, Owner, PluginSpot, Spot, Survey};
use super::walk::{Pick, Walker, text};
use super::{Definitions, Places};
use crate::definition::plugin::{add_hooks, add_servers};
use crate::definition::skill::Callers;
use crate::definition::{
    Agent, Home, Plugin, Problem, Skill, Source, Standing, Style, Weight, agent, command, skill,
    style,
};
use crate::jsonc;

/// Reads everything. `standing` says how a project's folder stands.
pub(super) fn load(
    places: &Places,
    survey: &Survey,
    standing: &mut dyn FnMut(&Path) -> Standing,
) -> Definitions {
    let mut loader = Loader::default();
    loader.problems.clone_from(&survey.problems);
    if let Some(json) = &places.agents_json {
        let (agents, problems) = agent::read_json(json);
        loader.problems.extend(problems);
        for agent in agents {
            loader.agents.keep(agent, &mut loader.problems);
        }
    }
    for spot in &survey.spots {
        let standing = standing_of(&spot.owner, standing);
        loader.file(spot, standing);
    }
    for plugin in &survey.plugins {
        let standing = standing_of(&plugin.owner, standing);
        loader.plugin(plugin, standing);
    }
    loader.finish(places)
}

/// Reads the agents at or below a path, wherever it lies: a collection before it is put to use. Agents that
/// share a name are all there, but told.
pub fn agents_below(path: &Path) -> (Vec<Agent>, Vec<Problem>) {
    let mut walker = Walker::default();
    let found = walker.files(path, Pick::Markdown, None);
    let mut problems = walker.problems;
    let mut agents: Vec<Agent> = Vec::new();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for file in found {
        let home =
            |file| Home { source: Source::User, file: Some(file), standing: Standing::Trusted };
        let (agent, told) = match text(&file.path) {
            Ok(words) => agent::read(&words, home(file.path)),
            Err(error) => (None, vec![unreadable(&file.path, &error.to_string())]),
        };
        problems.extend(told);
        let Some(agent) = agent else { continue };
        match first.entry(agent.name.to_lowercase()) {
            Entry::Vacant(free) => drop(free.insert(agents.len())),
            Entry::Occupied(known) => problems.extend(displaced(&agents[*known.get()], &agent)),
        }
        agents.push(agent);
    }
    (agents, problems)
}

fn unreadable(file: &Path, why: &str) -> Problem {
    let (file, text) = (file.to_owned(), format!("cannot be read: {why}"));
    Problem { file, line: None, weight: Weight::Broken, text }
}

fn standing_of(owner: &Owner, standing: &mut dyn FnMut(&Path) -> Standing) -> Standing {
    match owner {
        Owner::User => Standing::Trusted,
        Owner::Project(folder) => standing(folder),
        Owner::Nobody => Standing::Untrusted,
    }
}

#[derive(Default)]
struct Loader {
    agents: Named<Agent>,
    skills: Named<Skill>,
    commands: Named<Skill>,
    styles: Named<Style>,
    plugins: BTreeMap<String, Plugin>,
    problems: Vec<Problem>,
}

impl Loader {
    fn file(&mut self, spot: &Spot, standing: Standing) {
        let words = match text(&spot.file) {
            Ok(words) => words,
            Err(error) => {
                return self.problems.push(unreadable(&spot.file, &error.to_string()));
            }
        };
        let home = Home { source: spot.source.clone(), file: Some(spot.file.clone()), standing };
        let told = match spot.kind {
            Kind::Agent => {
                let (agent, told) = agent::read(&words, home);
                self.agents.keep_some(agent, &mut self.problems);
                told
            }
            Kind::Skill => {
                let folder = spot.file.parent().unwrap_or(&spot.root);
                let (mut skill, told) = skill::read(&words, folder, home);
                if let (Some(skill), Some(below)) = (&mut skill, &spot.below)
                    && self.skills.has(&skill.name)
                {
                    skill.name = format!("{below}:{}", skill.name);
                }
                self.skills.keep_some(skill, &mut self.problems);
                told
            }
            Kind::Command => {
                let name = spot.file.strip_prefix(&spot.root).ok();
                let name = name.filter(|name| !name.as_os_str().is_empty());
                let name = name.or_else(|| spot.file.file_name().map(Path::new));
                let (command, told) = command::read(&words, name.unwrap_or(&spot.file), home);
                self.commands.keep_some(command, &mut self.problems);
                told
            }
            Kind::Style => {
                let (style, told) = style::read(&words, &spot.file, home);
                self.styles.keep_some(style, &mut self.problems);
                told
            }
        };
        self.problems.extend(told);
    }

    fn plugin(&mut self, spot: &PluginSpot, standing: Standing) {
        let mut plugin = Plugin { standing, ..spot.manifest.plugin.clone() };
        self.problems.extend(spot.manifest.problems.iter().cloned());
        let parts = &spot.manifest.parts;
        for path in &parts.hooks {
            let path = plugin.folder.join(path);
            if let Some(value) = self.json(&path) {
                add_hooks(&mut plugin, &value, &path, &mut self.problems);
            }
        }
        for path in &parts.servers {
            if let Some(value) = self.json(&plugin.folder.join(path)) {
                add_servers(&mut plugin, &value);
            }
        }
        self.plugins.entry(plugin.name.to_lowercase()).or_insert(plugin);
    }

    fn json(&mut self, path: &Path) -> Option<Value> {
        // Asked before opening: opening a named pipe would wait for its writer.
        if !path.is_file() {
            return None;
        }
        let read = text(path).map_err(|error| error.to_string());
        match read.and_then(|text| jsonc::read(&text).map_err(|error| error.to_string())) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problems.push(unreadable(path, &error));
                None
            }
        }
    }

    fn finish(mut self, places: &Places) -> Definitions {
        let is_in =
            |list: &[String], name: &str| list.iter().any(|it| it.eq_ignore_ascii_case(name));
        self.skills.0.retain(|_, skill| !is_in(&places.disabled_skills, &skill.name));
        let skills: Vec<Skill> = self.skills.0.into_values().collect();
        // What the user calls by a slash is the skill, where both are there.
        for skill in skills.iter().filter(|skill| skill.callers != Callers::Model) {
            self.commands.0.remove(&skill.name.to_lowercase());
        }
        let (disabled_agents, agents) = (self.agents.0.into_values())
            .partition(|agent| is_in(&places.disabled_agents, &agent.name));
        Definitions {
            agents,
            disabled_agents,
            skills,
            commands: self.commands.0.into_values().collect(),
            styles: self.styles.0.into_values().collect(),
            plugins: self.plugins.into_values().collect(),
            problems: self.problems,
        }
    }
}

/// Definitions of one kind by name; the first of a name stays.
struct Named<T>(BTreeMap<String, T>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Definition> Named<T> {
    fn has(&self, name: &str) -> bool {
        self.0.contains_key(&name.to_lowercase())
    }

    fn keep_some(&mut self, definition: Option<T>, problems: &mut Vec<Problem>) {
        if let Some(definition) = definition {
            self.keep(definition, problems);
        }
    }

    fn keep(&mut self, definition: T, problems: &mut Vec<Problem>) {
        match self.0.entry(definition.name().to_lowercase()) {
            Entry::Vacant(free) => drop(free.insert(definition)),
            Entry::Occupied(taken) => problems.extend(displaced(taken.get(), &definition)),
        }
    }
}

/// What to say of a definition whose name is taken by another of the same owner. That a project's stands
/// before a user's is as it should be.
fn displaced<T: Definition>(first: &T, second: &T) -> Option<Problem> {
    let (first, home) = (first.home(), second.home());
    let (counts, file) = (first.file.as_ref()?, home.file.clone()?);
    if first.source != home.source {
        return None;
    }
    let text =
        format!("`{}` is defined in {} already, which counts", second.name(), counts.display());
    Some(Problem { file, line: None, weight: Weight::Note, text })
}

trait Definition {
    fn name(&self) -> &str;
    fn home(&self) -> &Home;
}

macro_rules! definition {
    ($($kind:ty),*) => {$(
        impl Definition for $kind {
            fn name(&self) -> &str {
                &self.name
            }

            fn home(&self) -> &Home {
                &self.home
            }
        }
    )*};
}

definition!(Agent, Skill, Style);
