//! Skills, commands and styles, made by hand.

use std::path::PathBuf;

use serde_json::Map;
use settings::definition::skill::{Callers, Context};
use settings::definition::{Home, Hooks, Skill, Source, Standing, Style};

/// The user's own definition.
fn own() -> Home {
    Home { source: Source::User, file: None, standing: Standing::Trusted }
}

/// A skill that anybody may call.
pub(crate) fn skill(name: &str, description: &str) -> Skill {
    Skill {
        name: name.to_owned(),
        description: description.to_owned(),
        when_to_use: None,
        body: "Do it well.".to_owned(),
        folder: PathBuf::from("/nowhere").join(name),
        argument_hint: None,
        arguments: Vec::new(),
        callers: Callers::Both,
        allowed_tools: Vec::new(),
        disallowed_tools: Vec::new(),
        model: None,
        effort: None,
        context: Context::Here,
        agent: None,
        background: false,
        hooks: Hooks::default(),
        paths: Vec::new(),
        more: Map::new(),
        home: own(),
    }
}

/// A custom command.
pub(crate) fn command(name: &str, description: &str) -> Skill {
    Skill { callers: Callers::User, ..skill(name, description) }
}

/// An output style.
pub(crate) fn style(name: &str, body: &str) -> Style {
    Style {
        name: name.to_owned(),
        description: "A way to answer".to_owned(),
        body: body.to_owned(),
        keeps_coding: false,
        home: own(),
    }
}
