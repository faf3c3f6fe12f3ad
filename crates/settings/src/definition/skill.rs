//! Skills: a folder with a `SKILL.md`, by the Agent Skills standard and with Claude Code's fields.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::sheet::{Rest, Sheet, first_line, is_word};
use super::{Home, Hooks, Problem, Source, Weight};
use base::model::Effort;

/// Most characters of description and occasion together: every skill is listed in every request.
const DESCRIPTION_CHARS: usize = 1_536;

/// The fields we know, and after them those of the open standard that need no reading.
pub(super) const KEYS: [&str; 21] = [
    "name",
    "description",
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "allowed-tools",
    "disallowed-tools",
    "model",
    "effort",
    "context",
    "agent",
    "background",
    "hooks",
    "paths",
    "shell",
    "metadata",
    "license",
    "compatibility",
    "version",
];

/// A skill; a custom command has the same fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Its name; `plugin:name` for a plugin's.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// When to use it, where the author says so apart.
    pub when_to_use: Option<String>,
    /// Its text, before anything is put in.
    pub body: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What may follow its name, as help shows it.
    pub argument_hint: Option<String>,
    /// Names of its arguments, for `$name`.
    pub arguments: Vec<String>,
    /// Who may call it.
    pub callers: Callers,
    /// Tools that need no question while it is in use, as written.
    pub allowed_tools: Vec<String>,
    /// Tools that may not be used while it is in use, as written.
    pub disallowed_tools: Vec<String>,
    /// The model of the turn it is called for, or of the sub-agent it is forked to, as written.
    pub model: Option<String>,
    /// How hard that model thinks.
    pub effort: Option<Effort>,
    /// Whether it runs as a sub-agent.
    pub context: Context,
    /// The agent that runs it when forked.
    pub agent: Option<String>,
    /// Whether a forked skill runs in the background.
    pub background: bool,
    /// Hooks that hold while it is in use.
    pub hooks: Hooks,
    /// Files it is about: offered only once one of them was touched. Empty for always.
    pub paths: Vec<String>,
    /// Fields we know nothing of, as written.
    pub more: Map<String, Value>,
    /// Where it comes from.
    pub home: Home,
}

/// Who may call a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callers {
    /// Model and user.
    Both,
    /// Only the user, as `/name`.
    User,
    /// Only the model.
    Model,
}

/// Where a skill's text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Into the session that calls it.
    Here,
    /// To a sub-agent, as its task.
    Fork,
}

/// Reads a `SKILL.md`. Its folder gives what the author leaves out.
pub fn read(text: &str, folder: &Path, home: Home) -> (Option<Skill>, Vec<Problem>) {
    let mut sheet = Sheet::open(text, home, &KEYS);
    let Some(name) = name(&mut sheet, folder) else {
        let text = "neither `name` nor the folder's name is a word that can follow a slash";
        let line = sheet.line("name");
        return (None, sheet.broken(line, text));
    };
    let described = sheet.prose("description").or_else(|| {
        let line = first_line(sheet.body());
        sheet.tell(Weight::Note, None, "it has no `description`; its first line stands for it");
        line
    });
    let Some(description) = described else {
        return (None, sheet.broken(None, "it has neither a description nor a text"));
    };
    let paths = sheet.list("paths").unwrap_or_default();
    let (skill, problems) = filled(sheet, name, description, folder.to_owned());
    (Some(Skill { paths, ..skill }), problems)
}

/// A skill, or a command, of which name and description are known.
pub(super) fn filled(
    mut sheet: Sheet,
    name: String,
    description: String,
    folder: PathBuf,
) -> (Skill, Vec<Problem>) {
    let when_to_use = sheet.prose("when_to_use");
    let (description, when_to_use) = within_limit(&mut sheet, description, when_to_use);
    let skill = Skill {
        name,
        description,
        when_to_use,
        body: String::new(),
        folder,
        argument_hint: sheet.hint("argument-hint"),
        arguments: sheet.names("arguments").unwrap_or_default(),
        callers: callers(&mut sheet),
        allowed_tools: sheet.names("allowed-tools").unwrap_or_default(),
        disallowed_tools: sheet.names("disallowed-tools").unwrap_or_default(),
        model: sheet.text("model"),
        effort: sheet.effort("effort"),
        context: sheet.choice("context", context, "fork").unwrap_or(Context::Here),
        agent: sheet.text("agent"),
        background: sheet.flag("background").unwrap_or_default(),
        hooks: sheet.hooks("hooks"),
        paths: Vec::new(),
        more: Map::new(),
        home: sheet.home().clone(),
    };
    let Rest { body, more, problems, .. } = sheet.rest();
    (Skill { body: body.trim().to_owned(), more, ..skill }, problems)
}

fn name(sheet: &mut Sheet, folder: &Path) -> Option<String> {
    let line = sheet.line("name");
    let written = sheet.text("name");
    let of_folder = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_usable = |name: &String| is_word(name);
    if written.as_ref().is_some_and(|name| !is_usable(name)) {
        let text = "the name is not one word; the folder's name is used instead";
        sheet.tell(Weight::Note, line, text);
    }
    let name = written.filter(is_usable).or_else(|| of_folder.filter(is_usable))?;
    Some(match &sheet.home().source {
        Source::Plugin(plugin) => format!("{plugin}:{name}"),
        Source::Flag | Source::Project | Source::User | Source::BuiltIn => name,
    })
}

fn within_limit(
    sheet: &mut Sheet,
    description: String,
    when_to_use: Option<String>,
) -> (String, Option<String>) {
    let length = description.chars().count();
    let occasion = when_to_use.as_ref().map_or(0, |text| text.chars().count());
    if length + occasion <= DESCRIPTION_CHARS {
        return (description, when_to_use);
    }
    let text = format!("description and `when_to_use` are cut at {DESCRIPTION_CHARS} characters");
    sheet.note("description", text);
    let left = DESCRIPTION_CHARS.saturating_sub(length);
    let when_to_use = when_to_use.map(|text| text.chars().take(left).collect::<String>());
    let description = description.chars().take(DESCRIPTION_CHARS).collect();
    (description, when_to_use.filter(|text| !text.is_empty()))
}

fn callers(sheet: &mut Sheet) -> Callers {
    let model = !sheet.flag("disable-model-invocation").unwrap_or_default();
    let user = sheet.flag("user-invocable").unwrap_or(true);
    match (model, user) {
        (true, true) => Callers::Both,
        (false, true) => Callers::User,
        (true, false) => Callers::Model,
        (false, false) => {
            sheet.tell(Weight::Note, None, "nobody may call it by its header; the user may");
            Callers::User
        }
    }
}

fn context(text: &str) -> Option<Context> {
    match text {
        "fork" => Some(Context::Fork),
        "inline" | "here" => Some(Context::Here),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Standing;

    fn parse(text: &str) -> (Option<Skill>, Vec<Problem>) {
        let file = Some("skills/pdf/SKILL.md".into());
        let home = Home { source: Source::User, file, standing: Standing::Trusted };
        read(text, Path::new("skills/pdf"), home)
    }

    #[test]
    fn the_fields_of_both_worlds_are_read() {
        let (skill, problems) = parse(
            "---\nname: pdf-tools\ndescription: Reads PDF\nwhen_to_use: For PDFs\n\
             argument-hint: [file]\narguments: file page\ndisable-model-invocation: on\n\
             allowed-tools: Read Bash(pdftotext:*)\ncontext: fork\nagent: Explore\n\
             paths: \"**/*.{pdf,ps}, docs/**\"\nlicense: MIT\nmetadata: {a: b}\n---\nDo $1.\n",
        );
        assert_eq!(problems, []);
        let skill = skill.unwrap();
        assert_eq!(skill.name, "pdf-tools");
        assert_eq!(skill.argument_hint.as_deref(), Some("[file]"));
        assert_eq!(skill.arguments, ["file", "page"]);
        assert_eq!(skill.callers, Callers::User);
        assert_eq!(skill.allowed_tools, ["Read", "Bash(pdftotext:*)"]);
        assert_eq!(skill.context, Context::Fork);
        assert_eq!(skill.paths, ["**/*.{pdf,ps}", "docs/**"]);
        assert_eq!(skill.body, "Do $1.");
        assert_eq!(skill.more.keys().collect::<Vec<_>>(), ["license", "metadata"]);
    }

    #[test]
    fn the_folder_and_the_first_line_stand_in() {
        let (skill, problems) = parse("# Handle PDFs\n\nText.");
        let skill = skill.unwrap();
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("pdf", "Handle PDFs"));
        assert_eq!(skill.callers, Callers::Both);
        assert_eq!(problems.len(), 1);
        let (skill, problems) = parse("---\nname: PDF files\ndescription: d\n---\nx");
        assert_eq!((skill.unwrap().name.as_str(), problems.len()), ("pdf", 1));
        let (skill, problems) = parse("---\nname: x\n---\n\n");
        assert!(skill.is_none() && problems.iter().any(|it| it.weight == Weight::Broken));
    }

    #[test]
    fn long_descriptions_are_cut_between_characters() {
        let long = "é".repeat(1_500);
        let text = format!("---\ndescription: {long}\nwhen_to_use: {long}\n---\nx");
        let (skill, problems) = parse(&text);
        let skill = skill.unwrap();
        assert_eq!(skill.description.chars().count(), 1_500);
        assert_eq!(skill.when_to_use.unwrap().chars().count(), 36);
        assert_eq!(problems.len(), 1);
    }
}
