//! The demo's own folder: a small project with a bug, so that trying Caiman touches nothing of the user's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agent::Options;
use base::SessionId;
use base::protocol::Mode;
use guard::Rule;
use llm::{Transport, demo};

use super::flags::Args;
use super::input::First;
use crate::app::App;
use crate::failure::Failure;
use crate::render;

/// The folder the demo will work in, if the run is one that shows its work: made, filled and named aloud.
/// There, files may be changed and the tests may be run without asking.
pub(crate) fn folder(
    app: &App,
    args: &Args,
    first: &First,
    options: &mut Options,
) -> Result<Option<PathBuf>, Failure> {
    let First::Say(prompt) = first else { return Ok(None) };
    let is_demo = options.target.transport == Transport::Demo;
    if !is_demo || args.goes_on() || !demo::asks_for_work(prompt) {
        return Ok(None);
    }
    let (made, note) = demo_folder(app)?;
    render::note(&format!("note: {note}"));
    if args.lock.mode.is_none() && !args.lock.yolo {
        options.mode = Mode::AcceptEdits;
        options.rules.allow.extend(Rule::parse(&format!("Bash({})", demo::TEST)));
    }
    Ok(Some(made))
}

/// A new folder for the demo to work in, and what to say of it.
pub(crate) fn demo_folder(app: &App) -> Result<(PathBuf, String), Failure> {
    let within = app.env.temporary();
    let made = make(&within).map_err(|error| {
        Failure::config(format!("cannot make a folder in {}: {error}", within.display()))
            .hint("set TMPDIR to a folder that can be written")
    })?;
    let note = format!(
        "the demo works in {}, a small project with a bug; nothing else is touched",
        made.display()
    );
    Ok((made, note))
}

fn make(within: &Path) -> io::Result<PathBuf> {
    let id = SessionId::new().to_string();
    // An id ends in its random digits.
    let (_, digits) = id.split_at(id.len().saturating_sub(8));
    let folder = fs::canonicalize(within)?.join(format!("caiman-demo-{digits}"));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    for (name, text) in demo::PROJECT {
        fs::write(folder.join(name), text)?;
    }
    Ok(folder)
}
