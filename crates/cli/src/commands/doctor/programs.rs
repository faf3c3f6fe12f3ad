//! The programs commands are run with.

use std::time::Duration;

use base::command::{CommandLine, RunCommand};
use guard::Runner;

use super::{Check, Section};
use crate::app::App;

/// How long a program may take to tell its version.
const LIMIT: Duration = Duration::from_secs(5);

/// Looks for a shell.
pub(super) fn shell(app: &App) -> Section {
    let check = match (version(app, "bash"), run(app, "sh", &["-c", "echo works"])) {
        (Ok(version), _) => Check::good(version),
        (Err(_), Ok(_)) => {
            Check::warning("no bash; commands run with sh", "install bash: models write for it")
        }
        (Err(bash), Err(sh)) => Check::failed(
            format!("no shell: {bash}; {sh}"),
            "install bash and see that PATH leads to it",
        ),
    };
    Section { name: "shell", checks: vec![check] }
}

/// Looks for git, and whether it takes the working folder for a repository.
pub(super) fn git(app: &App) -> Section {
    let mut checks = Vec::new();
    match version(app, "git") {
        Ok(version) => checks.push(Check::good(version)),
        Err(why) => {
            let fix = "install git: without it caiman sees no branch and no changes";
            checks.push(Check::warning(why, fix));
        }
    }
    if app.cwd.ancestors().any(|folder| folder.join(".git").exists()) {
        checks.push(match run(app, "git", &["rev-parse", "--show-toplevel"]) {
            Ok(top) => Check::good(format!("repository {top}")),
            Err(why) => Check::warning(
                format!("git does not take this folder: {why}"),
                format!("git config --global --add safe.directory {}", app.cwd.display()),
            ),
        });
    }
    Section { name: "git", checks }
}

/// The first line of what a program says about itself.
fn version(app: &App, program: &str) -> Result<String, String> {
    let text = run(app, program, &["--version"])?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn run(app: &App, program: &str, args: &[&str]) -> Result<String, String> {
    let mut line = CommandLine::new(program, args.iter().map(|it| (*it).to_owned()), &app.env);
    line.folder = Some(app.cwd.clone());
    line.timeout = LIMIT;
    Runner.run(&line).map_err(|error| error.to_string())
}
