//! Custom slash commands: Markdown files in a `commands` folder. One is a skill that only the user calls, with a
//! skill's fields but for its name, which is the file's path, and the files it is about.

use std::path::Path;

use super::sheet::{Sheet, first_line, is_word};
use super::skill::{self, Callers, Skill};
use super::{Home, Problem, Source};

/// Most characters of a description that is the text's first line.
const LINE_CHARS: usize = 200;

/// Reads a command's file. `path` is its place in the `commands` folder, which gives the name: `git/sync.md` is
/// `git:sync`, and `plugin:git:sync` in a plugin.
pub fn read(text: &str, path: &Path, home: Home) -> (Option<Skill>, Vec<Problem>) {
    let mut sheet = Sheet::open(text, home, &skill::KEYS);
    let Some(name) = name(path, &sheet.home().source) else {
        return (None, sheet.broken(None, "the file's name is not a word that can follow a slash"));
    };
    if sheet.body().trim().is_empty() {
        return (None, sheet.broken(None, "it has no text to send"));
    }
    let line = || first_line(sheet.body()).map(|line| line.chars().take(LINE_CHARS).collect());
    let first_line = line().unwrap_or_default();
    let description = sheet.prose("description").unwrap_or(first_line);
    let folder = sheet.home().file.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    let folder = folder.to_owned();
    for key in ["name", "paths"] {
        if sheet.has(key) {
            sheet.note(key, format!("`{key}` has no effect in a command"));
        }
    }
    let (command, problems) = skill::filled(sheet, name, description, folder);
    (Some(Skill { callers: Callers::User, paths: Vec::new(), ..command }), problems)
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
    use crate::definition::skill::Context;
    use base::model::Effort;

    fn parse(text: &str, path: &str, source: Source) -> (Option<Skill>, Vec<Problem>) {
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
                    argument-hint: [message] | [--amend]\nmodel: haiku\nname: other\ncontext: fork\n\
                    agent: scout\neffort: high\ndisallowed-tools: Write\nuser-invocable: false\n\
                    hooks: {Stop: [{command: x}]}\n---\nGo\n";
        let (command, problems) = parse(text, "commit.md", Source::User);
        let command = command.unwrap();
        assert_eq!(command.name, "commit");
        assert_eq!(command.allowed_tools, ["Bash(git add:*)", "Bash(git commit:*)"]);
        assert_eq!(command.argument_hint.as_deref(), Some("[message] | [--amend]"));
        assert_eq!(command.model.as_deref(), Some("haiku"));
        assert_eq!((command.context, command.callers), (Context::Fork, Callers::User));
        assert_eq!((command.agent.as_deref(), command.effort), (Some("scout"), Some(Effort::High)));
        assert_eq!(
            (command.disallowed_tools.as_slice(), command.hooks.len()),
            (&["Write".into()][..], 1)
        );
        assert_eq!(command.more.keys().collect::<Vec<_>>(), ["name"]);
        assert!(
            problems.iter().any(|it| it.text.contains("no effect in a command")),
            "{problems:?}"
        );
    }
}
