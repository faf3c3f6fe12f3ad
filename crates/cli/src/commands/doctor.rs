//! `caiman doctor`: looks whether everything caiman needs is there and works, and says how to mend what
//! does not. Changes nothing of the user's.

mod attempts;
mod database;
mod keys;
mod log;
mod programs;
mod sandbox;
mod scratch;
mod settings;
mod terminal;

use std::path::PathBuf;

use serde::Serialize;

use crate::app::App;
use crate::failure::Failure;
use crate::render;

/// Widest line of the report.
const COLUMNS: usize = 80;

/// Check that everything works: sandbox, shell, git, database, settings, keys, terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,

    /// Try to get out of the sandbox this process is in; used by the command itself.
    #[arg(long, hide = true, value_name = "FOLDER")]
    inside: Option<PathBuf>,
}

/// What was found about one thing.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Section {
    name: &'static str,
    checks: Vec<Check>,
}

/// One finding.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Check {
    outcome: Outcome,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Good,
    Warning,
    Failed,
}

pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    if let Some(scratch) = &args.inside {
        return attempts::inside(scratch);
    }
    let sections = [
        sandbox::section(app),
        programs::shell(app),
        programs::git(app),
        database::section(app),
        log::section(app),
        settings::section(app),
        keys::section(app),
        terminal::section(app),
    ];
    if args.json {
        render::json(&sections)?;
    } else {
        render::out(&sections.iter().map(Section::text).collect::<Vec<_>>().join("\n"))?;
    }
    match sections
        .iter()
        .flat_map(|it| &it.checks)
        .filter(|it| it.outcome == Outcome::Failed)
        .count()
    {
        0 => Ok(()),
        1 => Err(Failure::config("1 check failed")),
        failed => Err(Failure::config(format!("{failed} checks failed"))),
    }
}

impl Check {
    fn good(text: impl Into<String>) -> Self {
        Self { outcome: Outcome::Good, text: text.into(), fix: None }
    }

    fn warning(text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { outcome: Outcome::Warning, text: text.into(), fix: Some(fix.into()) }
    }

    fn failed(text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { outcome: Outcome::Failed, text: text.into(), fix: Some(fix.into()) }
    }

    fn text(&self) -> String {
        let mark = match self.outcome {
            Outcome::Good => "  ok    ",
            Outcome::Warning => "  warn  ",
            Outcome::Failed => "  FAIL  ",
        };
        let fix = self.fix.iter().flat_map(|fix| wrapped("        fix: ", "             ", fix));
        render::lines(wrapped(mark, "        ", &self.text).into_iter().chain(fix))
    }
}

impl Section {
    fn text(&self) -> String {
        let checks = self.checks.iter().map(Check::text);
        std::iter::once(format!("{}\n", self.name)).chain(checks).collect()
    }
}

/// The text in lines of at most [`COLUMNS`], the first after `first`, the others after `rest`. A longer word
/// stays whole, so that it can be copied.
fn wrapped(first: &str, rest: &str, text: &str) -> Vec<String> {
    let room = COLUMNS - first.chars().count().max(rest.chars().count());
    let mut rows = vec![String::new()];
    for word in text.split_whitespace() {
        if let Some(row) = rows.last_mut() {
            let used = row.chars().count();
            if used == 0 {
                row.push_str(word);
            } else if used + 1 + word.chars().count() <= room {
                row.push(' ');
                row.push_str(word);
            } else {
                rows.push(word.to_owned());
            }
        }
    }
    let starts = std::iter::once(first).chain(std::iter::repeat(rest));
    starts.zip(rows).map(|(start, row)| format!("{start}{row}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_findings_are_wrapped_between_words() {
        let check = Check::warning("word ".repeat(30), "do ".repeat(40));
        let text = check.text();
        assert!(text.lines().all(|line| line.len() <= COLUMNS), "{text}");
        assert!(text.starts_with("  warn  word word"), "{text}");
        assert!(text.contains("\n        word") && text.contains("\n        fix: do"), "{text}");
        assert_eq!(text.matches("word").count(), 30);
    }
}
