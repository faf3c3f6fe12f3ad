//! The command line: one definition for parser, help, completions and man page.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::{
    acp, agents, completions, config, doctor, hooks, init, login, logout, mcp, models, plugins,
    policy, run, session, skills, stats, trust, tui,
};

/// The interface is what most come for, and it needs no command.
const USAGE: &str =
    "caiman [OPTIONS] [PROMPT]  (the interface; `caiman tui --help` lists its options)
       caiman <COMMAND>";

/// A terminal coding agent that runs with any model.
#[derive(Debug, Parser)]
#[command(name = "caiman", version, propagate_version = true, disable_help_subcommand = true)]
#[command(override_usage = USAGE)]
pub(crate) struct Args {
    /// Work in this folder instead of the current one.
    #[arg(long, short = 'C', global = true, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// The command line. As Claude Code's, it may leave out the command: `caiman -p "…"` is
    /// `caiman run -p "…"`.
    pub(crate) fn read(words: impl Iterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut words: Vec<OsString> = words.collect();
        let is_flag = |word: &OsString| word.to_string_lossy().starts_with('-');
        let prints = |word: &OsString| {
            let word = word.to_string_lossy();
            matches!(word.as_ref(), "-p" | "--print" | "--input-format")
                || word.starts_with("--input-format=")
        };
        let mut given = words.iter().skip(1).take_while(|word| *word != "--").peekable();
        if given.peek().is_some_and(|first| is_flag(first)) && given.any(prints) {
            words.insert(1, "run".into());
        }
        Self::try_parse_from(&words).or_else(|error| {
            if !opens_interface(&words, &error) {
                return Err(error);
            }
            words.insert(1, "tui".into());
            Self::try_parse_from(words)
        })
    }
}

/// Whether a command line that names no command is one for the interface: flags alone, or a sentence. A single
/// word is rather a command that was mistyped.
fn opens_interface(words: &[OsString], error: &clap::Error) -> bool {
    let command = Args::command();
    let is_command = |word: &OsString| {
        let word = word.to_string_lossy();
        command.get_subcommands().any(|known| {
            known.get_name() == word || known.get_all_aliases().any(|alias| alias == word)
        })
    };
    let is_said = |word: &OsString| word.to_string_lossy().trim().contains(' ');
    let (given, kind) = (&words[1..], error.kind());
    let lacks_command = kind == ErrorKind::MissingSubcommand
        || kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        || kind == ErrorKind::UnknownArgument;
    let is_wrong_command = kind == ErrorKind::InvalidSubcommand;
    (lacks_command && !given.iter().any(is_command))
        || (is_wrong_command && given.iter().any(is_said))
}

/// What to do. One variant a file in `commands/`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Tui(Box<tui::Args>),
    Run(Box<run::Args>),
    /// Write an instruction file for this project, from what is found in it.
    Init(init::Args),
    /// List, show, rename, delete and export sessions.
    #[command(visible_alias = "sessions", alias = "s")]
    Session(session::Args),
    /// List, show, write, switch and check custom agents.
    Agents(agents::Args),
    /// List and show skills.
    Skills(skills::Args),
    /// Show what models were used for, and what it cost.
    Stats(stats::Args),
    /// List models: by default those of providers you have a key for.
    Models(models::Args),
    /// Store a provider's key, or list where each key comes from.
    Login(login::Args),
    /// Forget a stored key.
    Logout(logout::Args),
    /// Show, check and explain settings.
    Config(config::Args),
    /// Add, list, try out and sign in at MCP servers; be one.
    Mcp(mcp::Args),
    /// List and try out the programs that run at events.
    Hooks(hooks::Args),
    /// List plugins and what they bring.
    Plugins(plugins::Args),
    /// Explain and test what may be done without asking.
    Policy(policy::Args),
    Doctor(doctor::Args),
    Acp(Box<acp::Args>),
    /// Let a project run what its files say: hooks, servers, commands.
    Trust(trust::Args),
    Completions(completions::Args),
    /// Print the manual page, in roff; `caiman man | man -l -` shows it.
    Man,
}
