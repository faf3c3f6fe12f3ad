//! Slash commands: one file each, listed below. They reply with text, an operation, something to say or an
//! entry, and so work at every face alike.

mod clear;
mod compact;
mod context;
mod cost;
mod help;
mod init;
mod mode;
mod model;

use base::protocol::Mode;
use base::transcript::ToolSpec;
use base::{Entry, EntryKind, ModelRef, Op, Part, SessionId};
use store::UsageSum;

use crate::instructions::Loaded;

/// Every command, in the order of the help.
static ALL: [&Command; 8] = [
    &help::COMMAND,
    &clear::COMMAND,
    &compact::COMMAND,
    &context::COMMAND,
    &cost::COMMAND,
    &init::COMMAND,
    &mode::COMMAND,
    &model::COMMAND,
];

/// A slash command.
#[derive(Debug)]
pub struct Command {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What may follow, as the help shows it.
    pub arguments: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Runs it.
    run: fn(&str, &Ctx<'_>) -> Reply,
}

/// What a command knows of its session.
#[derive(Debug, Clone, Copy)]
pub struct Ctx<'a> {
    /// The session.
    pub session: SessionId,
    /// The folder it works in.
    pub folder: &'a str,
    /// Its current branch.
    pub branch: &'a [Entry],
    /// The system prompt's segments.
    pub system: &'a [String],
    /// The tools the model is offered.
    pub tools: &'a [ToolSpec],
    /// The instruction files.
    pub instructions: &'a Loaded,
    /// The model in use.
    pub model: &'a ModelRef,
    /// The model's window in tokens; 0 when unknown.
    pub window: u64,
    /// Models that can be chosen.
    pub models: &'a [ModelRef],
    /// What may be done without asking.
    pub mode: Mode,
    /// What the session has cost.
    pub spent: UsageSum,
    /// The file that `/init` writes.
    pub initialize_as: &'a str,
}

/// What comes of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Text for the user.
    Text(String),
    /// An operation to carry out.
    Op(Op),
    /// Something to say to the model.
    Say(Vec<Part>),
    /// An entry to append to the branch, and what to tell the user.
    Record {
        /// What the entry is.
        kind: EntryKind,
        /// The text.
        text: String,
    },
}

/// Every command, for completion and help.
pub fn all() -> &'static [&'static Command] {
    &ALL
}

/// Runs a line that begins with a slash. One that only looks like a command, such as a path, is something
/// to say.
pub fn run(line: &str, ctx: &Ctx<'_>) -> Reply {
    let Some((name, arguments)) = split(line) else {
        return Reply::Say(vec![Part::user_text(line)]);
    };
    match find(name) {
        Some(command) => (command.run)(arguments, ctx),
        None => Reply::Text(unknown(name)),
    }
}

/// The command a name stands for, whatever its case.
pub fn find(name: &str) -> Option<&'static Command> {
    let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
    ALL.into_iter().find(|command| is_it(&command.name) || command.aliases.iter().any(is_it))
}

/// Name and arguments of a line such as `/compact the parser`.
fn split(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!name.is_empty() && name.chars().all(is_word)).then(|| (name, arguments.trim()))
}

fn unknown(name: &str) -> String {
    let begins = |command: &&&Command| {
        let start: String = name.chars().take(2).collect();
        command.name.starts_with(&start.to_ascii_lowercase())
    };
    match ALL.iter().find(begins) {
        Some(near) => format!("There is no /{name}. Did you mean /{}? /help lists all.", near.name),
        None => format!("There is no /{name}. /help lists all commands."),
    }
}
