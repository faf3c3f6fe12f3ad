//! A skill or a command, as far as calling it goes: a text, who vouches for it, and its terms.

use std::path::{Path, PathBuf};

use base::Effort;
use base::Paths;
use guard::rule::Source as Owner;
use guard::{Rule, Rules};
use settings::definition::{Definitions, Home, Skill, Source, Standing};
use tools::Workspace;

use crate::expand::{Template, Variables};

/// What calling a skill or a command takes.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) name: String,
    pub(crate) standing: Standing,
    body: String,
    arguments: Vec<String>,
    /// The folder of a skill, links followed; what `@file` may be relative to.
    pub(crate) folder: Option<PathBuf>,
    /// The folder a command's file lies in.
    file_folder: Option<PathBuf>,
    /// Name and folder of the plugin it is from.
    plugin: Option<(String, PathBuf)>,
    allowed_tools: Vec<String>,
    disallowed_tools: Vec<String>,
    model: Option<String>,
    effort: Option<Effort>,
}

/// What holds while a called skill or command is in use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    /// Rules that hold until the user's next word.
    pub(crate) rules: Rules,
    /// The model of the turn, as written. One that the model itself loads leaves the turn to the model that
    /// runs it: another would read the whole context anew, uncached, and hand it back after a step.
    pub(crate) model: Option<String>,
    /// How hard it thinks.
    pub(crate) effort: Option<Effort>,
}

/// Where a recipe is used.
pub(crate) struct Place<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) paths: &'a Paths,
    pub(crate) effort: &'a str,
}

impl Recipe {
    pub(crate) fn of_skill(skill: &Skill, definitions: &Definitions) -> Self {
        let folder = real(&skill.folder);
        Self {
            name: skill.name.clone(),
            standing: skill.home.standing,
            body: skill.body.clone(),
            arguments: skill.arguments.clone(),
            file_folder: Some(folder.clone()),
            folder: Some(folder),
            plugin: plugin(&skill.home, definitions),
            allowed_tools: skill.allowed_tools.clone(),
            disallowed_tools: skill.disallowed_tools.clone(),
            model: skill.model.clone(),
            effort: skill.effort,
        }
    }

    /// A command has no folder of its own.
    pub(crate) fn of_command(command: &Skill, definitions: &Definitions) -> Self {
        let file_folder = command.home.file.as_deref().and_then(Path::parent).map(real);
        Self { folder: None, file_folder, ..Self::of_skill(command, definitions) }
    }

    pub(crate) fn template(&self) -> Template<'_> {
        Template { body: &self.body, names: &self.arguments }
    }

    /// What stands before the text: a skill says where its files are.
    pub(crate) fn heading(&self) -> String {
        self.folder.as_ref().map_or_else(String::new, |folder| {
            format!("Skill {}; its files are in {}.\n\n", self.name, folder.display())
        })
    }

    /// Folders that can be read without a question once it is called: none that nobody vouches for, whose
    /// links could lead anywhere.
    pub(crate) fn readable(&self) -> Vec<Rule> {
        if self.standing == Standing::Untrusted {
            return Vec::new();
        }
        let plugin = self.plugin.iter().map(|(_, folder)| folder);
        self.folder.iter().chain(plugin).filter_map(|folder| reading(folder)).collect()
    }

    /// What `${CLAUDE_…}` stands for in it.
    pub(crate) fn variables(&self, place: &Place<'_>) -> Variables {
        let mut variables = Variables::default()
            .with("SESSION_ID", place.workspace.session.to_string())
            .with("EFFORT", place.effort)
            .with_place("PROJECT_DIR", place.workspace.fence.folder());
        if let Some(folder) = &self.file_folder {
            variables = variables.with_place("SKILL_DIR", folder);
        }
        if let Some((name, folder)) = &self.plugin {
            let kept = place.paths.data().join("plugins").join(part(name));
            variables =
                variables.with_place("PLUGIN_ROOT", folder).with_place("PLUGIN_DATA", &kept);
        }
        variables
    }
}

impl Terms {
    /// The terms of a recipe in a workspace. One that nobody vouches for allows nothing.
    pub(crate) fn of(recipe: &Recipe, folder: &Path) -> Self {
        // As if a project had written them: no such rule opens a place that holds secrets.
        let read = |text: &String| {
            let rule = Rule::parse(text).ok().filter(|rule| rule.unused().is_none());
            rule.map(|rule| rule.from_file(folder.to_owned(), Owner::Project))
        };
        let mut rules = Rules::default();
        rules.deny.extend(recipe.disallowed_tools.iter().filter_map(read));
        if recipe.standing == Standing::Trusted {
            let allowed = recipe.allowed_tools.iter().filter_map(read);
            rules.allow.extend(allowed.filter(|rule| !rule.is_unanchored()));
        }
        Self { rules, model: recipe.model.clone(), effort: recipe.effort }
    }
}

fn plugin(home: &Home, definitions: &Definitions) -> Option<(String, PathBuf)> {
    let Source::Plugin(name) = &home.source else { return None };
    let plugin = definitions.plugins.iter().find(|plugin| plugin.name == *name)?;
    Some((name.clone(), real(&plugin.folder)))
}

/// The rule that lets a folder be read, if one can be written for it.
fn reading(folder: &Path) -> Option<Rule> {
    let mut text = String::new();
    for letter in folder.to_str()?.chars() {
        if matches!(letter, '*' | '?' | '[' | '\\' | '!') {
            text.push('\\');
        }
        text.push(letter);
    }
    let rule = Rule::parse(&format!("Read(/{text}/**)")).ok()?;
    Some(rule.from_file(folder.to_owned(), Owner::Project))
}

fn real(folder: &Path) -> PathBuf {
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// A plugin's name as one part of a path.
pub(crate) fn part(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    name.chars().map(plain).collect()
}
