//! `caiman agents new` and `edit`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use base::protocol::TrustState;
use serde_json::Value;
use settings::definition::{Definitions, Home, Source, Standing, agent, slug};
use settings::project_folders;
use settings::trust::TrustedFolders;

use super::find;
use crate::app::App;
use crate::failure::{Failure, Kind};
use crate::render;

/// What a new agent's file says below its name and description.
const TEMPLATE: &str = "# All fields below may be left out; take the `#` away to use one.
#
# Its tools; left out, it has all that its parent has. `Bash(git log:*)` narrows one of them.
# tools: Read, Grep, Glob
# disallowedTools: Write, Edit
#
# Its model: inherit, small, large, sonnet, opus, haiku, or provider/model.
# model: inherit
#
# How its questions are answered: default, acceptEdits, dontAsk or plan.
# permissionMode: default
#
# maxTurns: 30
# effort: high
# color: blue
# isolation: worktree
---

You are asked to do one task and to answer once, in text.

Say here what it should know, how it should go about the task, and what its answer should look like.
";

/// Writes the file of a new agent.
pub(super) fn new(
    app: &App,
    name: &str,
    description: Option<&str>,
    user: bool,
) -> Result<(), Failure> {
    let folders = project_folders(&app.cwd);
    let project = folders.first().unwrap_or(&app.cwd);
    let folder = if user { app.paths.config().to_owned() } else { project.join(".caiman") };
    let description = description.unwrap_or("Use it when … The model reads this to decide.");
    let text = format!(
        "---\nname: {}\ndescription: {}\n{TEMPLATE}",
        quoted(name.trim()),
        quoted(description.trim())
    );
    let home = Home { source: Source::User, file: None, standing: Standing::Trusted };
    let stem = slug(name);
    let (Some(_), false) = (agent::read(&text, home).0, stem.is_empty()) else {
        return Err(Failure::user(format!("`{name}` is no name for an agent"))
            .hint("letters, digits and hyphens make a good one: code-reviewer"));
    };
    let file = folder.join("agents").join(format!("{stem}.md"));
    create(&file, &text)?;
    render::out(&render::lines([file.display().to_string()]))?;
    render::note(&format!("fill it in: caiman agents edit {}", shell_word(name)));
    note_on_trust(app, &file);
    Ok(())
}

/// Opens an agent's file in the user's editor.
pub(super) fn edit(app: &App, found: &Definitions, name: &str) -> Result<(), Failure> {
    let agent = find(found, name)?;
    let file = agent.home.file.as_deref().ok_or_else(|| {
        Failure::user(format!("`{}` has no file", agent.name))
            .hint("caiman agents new NAME writes one, which takes its place")
    })?;
    let editor = app.env.get("VISUAL").or_else(|| app.env.get("EDITOR")).ok_or_else(|| {
        Failure::user("no editor is known")
            .hint(format!("set VISUAL or EDITOR, or open {}", file.display()))
    })?;
    let ended = guard::process::foreground(editor, file, &app.env);
    if !ended.is_ok_and(|status| status.success()) {
        return Err(Failure::user(format!("`{editor}` failed; see VISUAL and EDITOR")));
    }
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::user(format!("cannot read {}: {error}", file.display())))?;
    let home = Home { file: Some(file.to_owned()), ..agent.home.clone() };
    let (read, problems) = agent::read(&text, home);
    for problem in &problems {
        render::note(&problem.to_string());
    }
    note_on_trust(app, file);
    match read {
        Some(_) => Ok(()),
        None => Err(Failure::user(format!("{} is no agent any more", file.display()))),
    }
}

fn create(file: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::user(format!("cannot make {}: {error}", folder.display())))?;
    }
    let created = OpenOptions::new().write(true).create_new(true).open(file);
    match created.and_then(|mut open| open.write_all(text.as_bytes())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Failure::user(format!("{} is there already", file.display()))
                .hint("caiman agents edit opens it"))
        }
        Err(error) => {
            let message = format!("cannot write {}: {error}", file.display());
            Err(Failure::new(Kind::User, message))
        }
    }
}

/// A changed file takes a folder's trust away, which should not come as a surprise.
fn note_on_trust(app: &App, file: &Path) {
    let known = TrustedFolders::read(&app.paths.trust()).unwrap_or_default();
    let levels: Vec<PathBuf> = project_folders(&app.cwd);
    let changed = levels.iter().any(|level| {
        file.starts_with(level)
            && known.state(level).is_ok_and(|state| state == TrustState::Changed)
    });
    if changed {
        render::note(
            "this folder is no longer trusted as it is; look and give it again: caiman trust",
        );
    }
}

/// Text as YAML reads it back: JSON's quotes are YAML's.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty()
        && text.chars().all(is_plain)
        && text.starts_with(|c: char| c.is_alphabetic())
    {
        return text.to_owned();
    }
    Value::from(text).to_string()
}

fn shell_word(name: &str) -> String {
    if name.contains(char::is_whitespace) { format!("\"{name}\"") } else { name.to_owned() }
}
