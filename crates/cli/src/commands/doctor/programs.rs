//! The programs commands are run with.

use std::path::Path;
use std::time::Duration;

use base::command::{CommandLine, RunCommand};
use guard::Runner;
use guard::git::Repository;

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
    match guard::git::version(&app.env, &app.cwd) {
        Ok(version) => checks.push(Check::good(version)),
        Err(error) => {
            let fix = "install git: without it caiman sees no branch and no changes";
            checks.push(Check::warning(error.to_string(), fix));
        }
    }
    if app.cwd.ancestors().any(|folder| folder.join(".git").exists()) {
        checks.push(repository(app));
    }
    Section { name: "git", checks }
}

/// What stands in the way of git in the working folder. Git itself is not asked: the folder may be a stranger's.
fn repository(app: &App) -> Check {
    let Some(repository) = Repository::find(&app.cwd) else {
        return Check::warning(
            "the `.git` of this folder is not a repository".to_owned(),
            "git init, or remove it",
        );
    };
    let top = repository.top().display();
    if let Err(risk) = repository.check() {
        let fix = "without it caiman shows no changes and makes no worktrees here";
        return Check::warning(risk.to_string(), fix);
    }
    if is_owned_by_another(repository.git_dir()) {
        let fix = format!("git config --global --add safe.directory {top}");
        return Check::warning(format!("{top} belongs to another user, so git refuses it"), fix);
    }
    Check::good(format!("repository {top}"))
}

#[cfg(unix)]
fn is_owned_by_another(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    folder.metadata().is_ok_and(|found| found.uid() != user)
}

#[cfg(not(unix))]
fn is_owned_by_another(_folder: &Path) -> bool {
    false
}

/// The first line of what a program says about itself.
fn version(app: &App, program: &str) -> Result<String, String> {
    let text = run(app, program, &["--version"])?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn run(app: &App, program: &str, args: &[&str]) -> Result<String, String> {
    let mut line = CommandLine::new(program, args.iter().map(|it| (*it).to_owned()), &app.env);
    line.folder = Some("/".into());
    line.timeout = LIMIT;
    Runner.run(&line).map_err(|error| error.to_string())
}
