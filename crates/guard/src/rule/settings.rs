//! Rules out of settings, the command line and stored answers.

use std::path::{Path, PathBuf};

use base::Paths;
use settings::{Origins, Permissions};

use super::{Rule, Rules, Source};

/// Rules that do not stand in a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra<'a> {
    /// `--allow`.
    pub allow: &'a [String],
    /// `--deny`.
    pub deny: &'a [String],
    /// What earlier answers allow.
    pub granted: &'a [String],
}

/// Rules, and what is wrong with those that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// The rules.
    pub rules: Rules,
    /// One line each: a rule that is broken or will never decide anything.
    pub warnings: Vec<String>,
}

impl Collected {
    /// All rules that hold: those of the settings, each with the file it stands in, and `extra`.
    pub fn from_settings(
        permissions: &Permissions,
        origins: &Origins,
        paths: &Paths,
        extra: &Extra<'_>,
    ) -> Self {
        let leaves = origins.leaves();
        let file_of = |list: &str, index: usize| -> Option<PathBuf> {
            let path = format!("permissions.{list}[{index}]");
            leaves.iter().find(|leaf| leaf.path == path).map(|leaf| leaf.origin.file.clone())
        };
        let mut all = Self::default();
        let lists: [(&str, &[String], Verb); 4] = [
            ("allowed_tools", &permissions.allowed_tools, Verb::Allow),
            ("allow", &permissions.allow, Verb::Allow),
            ("ask", &permissions.ask, Verb::Ask),
            ("deny", &permissions.deny, Verb::Deny),
        ];
        for (list, texts, verb) in lists {
            for (index, text) in texts.iter().enumerate() {
                let file = file_of(list, index);
                all.add(text, verb, file.as_deref().map(|file| home_of(file, paths)));
            }
        }
        for (texts, verb) in
            [(extra.allow, Verb::Allow), (extra.granted, Verb::Allow), (extra.deny, Verb::Deny)]
        {
            for text in texts {
                all.add(text, verb, None);
            }
        }
        all
    }

    fn add(&mut self, text: &str, verb: Verb, home: Option<(PathBuf, Source)>) {
        let rule = match Rule::parse(text) {
            Ok(rule) => rule,
            Err(error) => {
                self.warnings.push(error.to_string());
                return;
            }
        };
        if let Some(why) = rule.unused() {
            self.warnings.push(format!("the rule `{rule}` has no effect: {why}"));
            return;
        }
        if verb == Verb::Allow && rule.is_unanchored() {
            let why = "name the server or tool it allows";
            self.warnings.push(format!("the rule `{rule}` has no effect: {why}"));
            return;
        }
        let rule = match home {
            Some((root, source)) => rule.from_file(root, source),
            None => rule,
        };
        match verb {
            Verb::Allow => self.rules.allow.push(rule),
            Verb::Ask => self.rules.ask.push(rule),
            Verb::Deny => self.rules.deny.push(rule),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Allow,
    Ask,
    Deny,
}

/// The folder a settings file speaks for, and whose it is.
fn home_of(file: &Path, paths: &Paths) -> (PathBuf, Source) {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let users = [paths.config(), paths.system(), paths.data()];
    let claude = paths.home().join(".claude");
    let theirs = users.iter().any(|own| folder.starts_with(own)) || folder.starts_with(&claude);
    let source = if theirs { Source::User } else { Source::Project };
    let folder = match folder.file_name() {
        Some(name) if source == Source::Project && name == ".claude" => {
            folder.parent().unwrap_or(folder)
        }
        Some(_) | None => folder,
    };
    (folder.to_owned(), source)
}
