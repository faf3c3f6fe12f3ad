//! `caiman plugins`: the plugins there are, and what they bring.

use serde::Serialize;
use settings::Config;
use settings::definition::{Definitions, Home, Plugin, Source, Standing};

use crate::app::App;
use crate::commands::run::Place;
use crate::commands::session::text::line;
use crate::failure::Failure;
use crate::{render, wiring};

/// `caiman plugins`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the plugins that are found from this folder.
    #[command(alias = "ls")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A plugin, as it is printed.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    version: Option<String>,
    folder: String,
    trusted: bool,
    agents: usize,
    skills: usize,
    commands: usize,
    styles: usize,
    hooks: usize,
    servers: usize,
}

/// Runs `caiman plugins`.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let Action::List { json } = args.action;
    let settings: Config = app.load_config().config;
    let definitions = wiring::shelf(app, &settings, &Place::default()).look(&app.cwd);
    let rows: Vec<Row> = definitions.plugins.iter().map(|it| row(it, &definitions)).collect();
    if json {
        return render::json(&rows);
    }
    if rows.is_empty() {
        render::note("no plugins; a folder in ~/.config/caiman/plugins is one");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = rows.iter().map(shown).collect();
    render::out(&render::columns(&rows))
}

fn row(plugin: &Plugin, definitions: &Definitions) -> Row {
    let is_its = |home: &Home| home.source == Source::Plugin(plugin.name.clone());
    Row {
        name: plugin.name.clone(),
        version: plugin.version.clone(),
        folder: plugin.folder.display().to_string(),
        trusted: plugin.standing == Standing::Trusted,
        agents: definitions.agents.iter().filter(|it| is_its(&it.home)).count(),
        skills: definitions.skills.iter().filter(|it| is_its(&it.home)).count(),
        commands: definitions.commands.iter().filter(|it| is_its(&it.home)).count(),
        styles: definitions.styles.iter().filter(|it| is_its(&it.home)).count(),
        hooks: plugin.hooks.values().map(Vec::len).sum(),
        servers: plugin.mcp_servers.len(),
    }
}

/// A row of the table: only what a plugin has is counted.
fn shown(row: &Row) -> Vec<String> {
    let counts = [
        (row.agents, "agent"),
        (row.skills, "skill"),
        (row.commands, "command"),
        (row.styles, "style"),
        (row.hooks, "hook"),
        (row.servers, "server"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counted = |(count, what): &(usize, &str)| {
        let end = if *count == 1 { "" } else { "s" };
        format!("{count} {what}{end}")
    };
    let brings: Vec<String> = counts.map(counted).collect();
    let standing = if row.trusted { "" } else { "not trusted" };
    let version = row.version.as_deref().unwrap_or_default();
    let cells = [&row.name, version, &brings.join(", "), standing, &row.folder];
    cells.into_iter().map(line).collect()
}
