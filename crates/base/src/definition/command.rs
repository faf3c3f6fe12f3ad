//! Custom slash commands: Markdown files in a `commands` folder.

use std::path::Path;

use serde_json::{Map, Value};

use super::sheet::{Rest, Sheet, first_line, is_word};
use super::{Home, Problem, Source};

/// Most characters of a description that is the text's first line.
const LINE_CHARS: usize = 200;

/// The fields we know, and after them skills' fields that commands may have, too.
const KEYS: [&str; 12] = [
    "description",
    "argument-hint",
    "arguments",
    "allowed-tools",
    "model",
    "name",
    "effort",
    "disable-model-invocation",
    "context",
    "agent",
    "hooks",
    "version",
];

/// A custom slash command.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Its name, without the slash: the file's path, `git/sync.md` is `git:sync`; `plugin:name` for a
    /// plugin's.
    pub name: String,
    /// What it does, in one line; the first line of its text where the author says nothing.
    pub description: String,
    /// Its text, before anything is put in.
    pub body: String,
    /// What may follow its name, as help shows it.
    pub argument_hint: Option<String>,
    /// Names of its arguments, for `$name`.
    pub arguments: Vec<String>,
    /// Tools that need no question while its turn runs, as written.
    pub allowed_tools: Vec<String>,
    /// The model of its turn, as written.
    pub model: Option<String>,
    /// Fields we know nothing of, as written.
    pub more: Map<String, Value>,
    /// Where it comes from.
    pub home: Home,
}

/// Reads a command's file. `path` is its place in the `commands` folder, which gives the name.
pub fn read(text: &str, path: &Path, home: Home) -> (Option<Command>, Vec<Problem>) {
    let mut sheet = Sheet::open(text, home, &KEYS);
    let Some(name) = name(path, &sheet.home().source) else {
        return (None, sheet.broken(None, "the file's name is not a word that can follow a slash"));
    };
    if sheet.body().trim().is_empty() {
        return (None, sheet.broken(None, "it has no text to send"));
    }
    let line = || first_line(sheet.body()).map(|line| line.chars().take(LINE_CHARS).collect());
    let first_line = line().unwrap_or_default();
    let command = Command {
        name,
        description: sheet.prose("description").unwrap_or(first_line),
        body: String::new(),
        argument_hint: sheet.hint("argument-hint"),
        arguments: sheet.names("arguments").unwrap_or_default(),
        allowed_tools: sheet.names("allowed-tools").unwrap_or_default(),
        model: sheet.text("model"),
        more: Map::new(),
        home: sheet.home().clone(),
    };
    let Rest { body, more, problems, .. } = sheet.rest();
    (Some(Command { body: body.trim().to_owned(), more, ..command }), problems)
}

fn name(path: &Path, source: &Source) -> Option<String> {
    let path = path.with_extension("");
    let mut words = Vec::new();
    if let Source::Plugin(plugin) = source {
        words.push(plugin.as_str());
    }
    for part in &path {
        words.push(part.to_str().filter(|word| is_word(word))?);
    }
    (!path.as_os_str().is_empty()).then(|| words.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Standing;

    fn parse(text: &str, path: &str, source: Source) -> (Option<Command>, Vec<Problem>) {
        let home = Home { source, file: Some(path.into()), standing: Standing::Trusted };
        read(text, Path::new(path), home)
    }

    #[test]
    fn the_path_names_a_command() {
        let name = |path, source| parse("x", path, source).0.map(|command| command.name);
        assert_eq!(name("fix.md", Source::User).as_deref(), Some("fix"));
        assert_eq!(name("git/sync.md", Source::Project).as_deref(), Some("git:sync"));
        assert_eq!(name("v1.2.md", Source::User).as_deref(), Some("v1.2"));
        let plugin = Source::Plugin("kit".into());
        assert_eq!(name("a/b.md", plugin).as_deref(), Some("kit:a:b"));
        assert_eq!(name("two words.md", Source::User), None);
        assert_eq!(name("../x.md", Source::User), None);
    }

    #[test]
    fn a_command_needs_no_header() {
        let (command, problems) = parse("# Fix the issue $1\n\nAll of it.", "fix.md", Source::User);
        let command = command.unwrap();
        assert_eq!(command.description, "Fix the issue $1");
        assert_eq!(command.body, "# Fix the issue $1\n\nAll of it.");
        assert_eq!(problems, []);
        assert!(parse("---\ndescription: d\n---\n", "fix.md", Source::User).0.is_none());
    }

    #[test]
    fn fields_are_read_and_the_rest_is_kept() {
        let text = "---\ndescription: Commit\nallowed-tools: Bash(git add:*), Bash(git commit:*)\n\
                    argument-hint: [message] | [--amend]\nmodel: haiku\nname: other\n---\nGo\n";
        let (command, problems) = parse(text, "commit.md", Source::User);
        let command = command.unwrap();
        assert_eq!(command.name, "commit");
        assert_eq!(command.allowed_tools, ["Bash(git add:*)", "Bash(git commit:*)"]);
        assert_eq!(command.argument_hint.as_deref(), Some("[message] | [--amend]"));
        assert_eq!(command.model.as_deref(), Some("haiku"));
        assert_eq!(command.more.keys().collect::<Vec<_>>(), ["name"]);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}
