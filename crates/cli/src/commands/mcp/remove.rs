//! `caiman mcp remove`: takes a server out of a settings file.

use std::path::{Path, PathBuf};

use base::protocol::Trust;
use base::protocol::TrustState;
use serde_json::json;
use settings::jsonc;

use super::{Scope, known};
use crate::app::App;
use crate::commands::trust;
use crate::failure::Failure;
use crate::{outside, render};

/// Take a server out of the settings, and forget its sign-in.
#[derive(Debug, clap::Args)]
#[command(visible_alias = "rm")]
pub(crate) struct Args {
    /// The server.
    name: String,

    /// Whose settings it is taken out of, where several name it.
    #[arg(long, short)]
    scope: Option<Scope>,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let loaded = settings::load(&app.sources());
    let name = args.name.as_str();
    let mut mentions = known::mentions(&loaded, name);
    if mentions.is_empty() {
        let known = known::all(&loaded).into_iter().find(|known| known.name == name);
        return Err(
            known.map_or_else(|| known::unknown(&loaded, name), |it| theirs(name, &it.file))
        );
    }
    let scopes =
        [Scope::User, Scope::Project, Scope::Local].map(|scope| (scope, known::file(app, scope)));
    let is_ours = |file: &PathBuf| scopes.iter().any(|(_, (ours, _))| ours == file);
    if let Some(scope) = args.scope {
        let (wanted, _) = known::file(app, scope);
        mentions.retain(|(file, _)| *file == wanted);
        if mentions.is_empty() {
            return Err(Failure::user(format!("{} does not name `{name}`", wanted.display())));
        }
    }
    let [(file, key)] = mentions.as_slice() else {
        let failure = Failure::user(format!("several files name `{name}`"));
        let lines = mentions.iter().map(|(file, _)| {
            let scope = scopes.iter().find(|(_, (ours, _))| ours == file).map(|(scope, _)| *scope);
            match scope {
                Some(Scope::User) => format!("--scope user: {}", file.display()),
                Some(Scope::Project) => format!("--scope project: {}", file.display()),
                Some(Scope::Local) => format!("--scope local: {}", file.display()),
                None => format!("by hand: {}", file.display()),
            }
        });
        return Err(lines.fold(failure, Failure::hint));
    };
    if !is_ours(file) && !file.ends_with("caiman.json") {
        return Err(theirs(name, file));
    }
    let was_trusted = trust::standing(app, &app.cwd)?.0 == TrustState::Trusted;
    let less = jsonc::remove(&known::read(file)?, &[key, name])
        .map_err(|error| Failure::config(format!("cannot change {}: {error}", file.display())))?;
    let text = less.ok_or_else(|| known::unknown(&loaded, name))?;
    known::write(file, &text)?;
    if was_trusted {
        // Less of what was trusted is trusted.
        trust::answer(app, &app.cwd, Trust::Given)?;
    }
    if args.json {
        render::json(&json!({"name": name, "file": file}))?;
    } else {
        render::out(&render::lines([format!("Removed {name} from {}.", file.display())]))?;
    }
    forget(app, name);
    Ok(())
}

/// What is said of a server that another program has written down.
fn theirs(name: &str, file: &Path) -> Failure {
    Failure::user(format!("`{name}` is in {}, which is another program's", file.display()))
        .hint(format!("take it out there, or set mcp.{name}.disabled in your caiman.json"))
}

/// Nobody else uses the token once the last file that names the server is gone.
fn forget(app: &App, name: &str) {
    let still_named = !known::mentions(&settings::load(&app.sources()), name).is_empty();
    if still_named {
        return;
    }
    match outside::forget(app, name) {
        Ok(true) => render::note("its sign-in is forgotten, too"),
        Ok(false) => {}
        Err(why) => render::note(&format!("warning: its sign-in could not be forgotten: {why}")),
    }
}
