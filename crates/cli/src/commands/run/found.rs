//! What definition files bring to a run, as the first line of the JSON forms tells it.

use std::path::Path;

use agent::commands;
use serde_json::{Value, json};
use settings::definition::{Definitions, Plugin, Shelf};

/// The style of those who have chosen none.
const DEFAULT_STYLE: &str = "default";

/// What a run finds: names only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// Every slash command: name, what may follow, what it does.
    pub(crate) commands: Vec<(String, String, String)>,
    /// The skills.
    pub(crate) skills: Vec<String>,
    /// The agents.
    pub(crate) agents: Vec<(String, String)>,
    /// The plugins: name, folder and version.
    pub(crate) plugins: Value,
    /// The output style in use.
    pub(crate) style: String,
    /// All output styles.
    pub(crate) styles: Vec<String>,
}

impl Found {
    /// What is found from `folder`; `style` is the one that was asked for.
    pub(crate) fn look(shelf: &Shelf, folder: &Path, style: Option<&str>) -> Self {
        let definitions = shelf.look(folder);
        let ours = commands::all().iter().map(|it| (it.name, it.arguments, it.about));
        let commands = ours.chain(commands::custom(&definitions));
        let owned =
            |(name, hint, about): (&str, &str, &str)| (name.into(), hint.into(), about.into());
        let skills = definitions.skills.iter().map(|skill| skill.name.clone());
        let agents = definitions.agents.iter();
        let styles = definitions.styles.iter().map(|style| style.name.clone());
        Self {
            commands: commands.map(owned).collect(),
            skills: skills.collect(),
            agents: agents.map(|it| (it.name.clone(), it.description.clone())).collect(),
            plugins: definitions.plugins.iter().map(plugin).collect(),
            style: style_in_use(&definitions, style),
            styles: std::iter::once(DEFAULT_STYLE.to_owned()).chain(styles).collect(),
        }
    }
}

fn plugin(plugin: &Plugin) -> Value {
    let mut shown = json!({ "name": plugin.name, "path": plugin.folder });
    if let (Some(version), Value::Object(fields)) = (&plugin.version, &mut shown) {
        fields.insert("version".to_owned(), json!(version));
    }
    shown
}

fn style_in_use(definitions: &Definitions, wanted: Option<&str>) -> String {
    let style = wanted.and_then(|name| definitions.style(name));
    style.map_or_else(|| DEFAULT_STYLE.to_owned(), |style| style.name.clone())
}
