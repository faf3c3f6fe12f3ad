//! `caiman agents`: custom agents, as they are found from this folder.

mod check;
mod list;
mod switch;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use settings::Config;
use settings::definition::{Agent, Definitions, Shelf};

use crate::app::App;
use crate::failure::Failure;

/// List, show, write, switch and check custom agents.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the agents that can be used here, and those that are switched off.
    #[command(visible_alias = "ls")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show everything about one agent.
    Show {
        /// The agent.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a file for a new agent, to be filled in.
    New {
        /// The agent's name, such as `code-reviewer`.
        name: String,
        /// When to use it: the model reads this to decide.
        #[arg(long, short, value_name = "TEXT")]
        description: Option<String>,
        /// For all your projects instead of this one.
        #[arg(long)]
        user: bool,
    },
    /// Open an agent's file in your editor ($VISUAL or $EDITOR), and check it afterwards.
    Edit {
        /// The agent.
        name: String,
    },
    /// Use an agent again that was switched off.
    Enable {
        /// The agent.
        name: String,
    },
    /// Leave an agent out, in all your projects.
    Disable {
        /// The agent.
        name: String,
    },
    /// Look for mistakes in definition files; fails when one cannot be used.
    Check {
        /// Agent files, or folders of them; everything that can be found from here if left out.
        paths: Vec<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub(crate) fn run(app: &App, args: Args) -> Result<(), Failure> {
    match args.what {
        What::List { json } => list::run(&all(app), json),
        What::Show { name, json } => list::show(&all(app), &name, json),
        What::New { name, description, user } => {
            write::new(app, &name, description.as_deref(), user)
        }
        What::Edit { name } => write::edit(app, &all(app), &name),
        What::Enable { name } => switch::run(app, &name, switch::To::On),
        What::Disable { name } => switch::run(app, &name, switch::To::Off),
        What::Check { paths, json } => check::run(app, &paths, json),
    }
}

/// The settings, and what can be found from the working folder.
fn found(app: &App) -> (Config, Arc<Definitions>) {
    let config = app.load_config().config;
    let found = Shelf::new(app.places(&config)).look(&app.cwd);
    (config, found)
}

/// What can be found, with the agents that are always there.
fn all(app: &App) -> Definitions {
    let (config, found) = found(app);
    let mut all = Definitions::clone(&found);
    for agent in agent::built_in_agents() {
        let is_it = |known: &Agent| known.name.eq_ignore_ascii_case(&agent.name);
        if found.agents.iter().chain(&found.disabled_agents).any(is_it) {
            continue;
        }
        let is_off = config.agents.of(&agent.name).is_some_and(|settings| settings.disabled);
        let list = if is_off { &mut all.disabled_agents } else { &mut all.agents };
        list.push(agent);
    }
    all
}

/// An agent by name, switched off or not.
fn find<'d>(found: &'d Definitions, name: &str) -> Result<&'d Agent, Failure> {
    let disabled = found.disabled_agents.iter().find(|agent| agent.name.eq_ignore_ascii_case(name));
    disabled.or_else(|| found.agent(name)).ok_or_else(|| {
        Failure::user(format!("there is no agent `{name}`"))
            .hint("caiman agents list shows those there are")
    })
}
