//! `caiman agents enable` and `disable`: a word in the user's settings.

use std::fs;
use std::io;

use settings::jsonc;

use super::{all, find};
use crate::app::App;
use crate::failure::Failure;
use crate::{disk, render};

/// What to do with an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    On,
    Off,
}

/// Writes `agents.<name>.disabled` to the user's settings; comments in them stay.
pub(super) fn run(app: &App, name: &str, to: To) -> Result<(), Failure> {
    let name = find(&all(app), name)?.name.clone();
    let file = app.paths.config().join("caiman.json");
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(Failure::config(format!("cannot read {}: {error}", file.display())));
        }
    };
    let disabled = to == To::Off;
    let text = jsonc::set(&text, &["agents", &name, "disabled"], &disabled.into())
        .map_err(|error| Failure::config(format!("cannot change {}: {error}", file.display())))?;
    disk::replace(&file, text.as_bytes())
        .map_err(|error| Failure::config(format!("cannot write {}: {error}", file.display())))?;
    let loaded = settings::load(&app.sources());
    if loaded.config.agents.of(&name).is_some_and(|agent| agent.disabled) != disabled {
        let path = format!("agents.{name}.disabled");
        let why = loaded.origins.of(&path).map(|origin| origin.file.display().to_string());
        let why = why.map_or_else(String::new, |file| format!(": {file} says otherwise"));
        return Err(Failure::config(format!("this has no effect here{why}")));
    }
    let state = if disabled { "off" } else { "on" };
    render::out(&render::lines([format!("{name} is {state} ({})", file.display())]))
}
