//! Slash commands: one file each, listed below. They reply with text, an operation, something to say or an
//! entry, and so work at every face alike.

mod agents;
mod changes;
mod clear;
mod compact;
mod context;
mod cost;
mod help;
mod init;
mod mode;
mod model;
mod output_style;
mod rewind;
mod skills;

use base::protocol::Mode;
use base::transcript::ToolSpec;
use base::{Entry, EntryKind, ModelRef, Op, Part, SessionId};
use settings::definition::Definitions;
use store::{Moments, UsageSum};

use crate::instructions::Loaded;

/// Every command, in the order of the help.
static ALL: [&Command; 13] = [
    &help::COMMAND,
    &agents::COMMAND,
    &changes::COMMAND,
    &clear::COMMAND,
    &compact::COMMAND,
    &context::COMMAND,
    &cost::COMMAND,
    &init::COMMAND,
    &mode::COMMAND,
    &model::COMMAND,
    &output_style::COMMAND,
    &rewind::COMMAND,
    &skills::COMMAND,
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
    /// What it needs to run.
    needs: Needs,
    /// Runs it.
    run: fn(&str, &Ctx<'_>) -> Reply,
}

/// What a command needs to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// The session itself, which no turn may have meanwhile.
    Session,
    /// Only a look at it, or an operation that a running turn heeds.
    Nothing,
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
    /// The moments of it that one can go back to.
    pub past: &'a Moments,
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
    /// Skills, custom commands and styles.
    pub definitions: &'a Definitions,
    /// The name of the output style in use.
    pub style: &'a str,
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
    /// What tools have changed in the session, to be looked up.
    Changes,
    /// There is no such command; the text says so.
    Unknown(String),
    /// Another output style for new sessions, by name, and what to tell the user.
    Style {
        /// The style.
        name: String,
        /// The text.
        text: String,
    },
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
/// to say. Skills and custom commands are the session's: here they are only known by name.
pub fn run(line: &str, ctx: &Ctx<'_>) -> Reply {
    let Some((name, arguments)) = split(line) else {
        return Reply::Say(vec![Part::user_text(line)]);
    };
    match find(name) {
        Some(command) => (command.run)(arguments, ctx),
        None => Reply::Unknown(unknown(name, ctx.definitions)),
    }
}

/// The command a name stands for, whatever its case.
pub fn find(name: &str) -> Option<&'static Command> {
    let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
    ALL.into_iter().find(|command| is_it(&command.name) || command.aliases.iter().any(is_it))
}

/// Whether a line is a slash command, known or not, rather than something to say.
pub fn is_command(line: &str) -> bool {
    split(line).is_some()
}

/// Whether a line is a command of ours that runs beside a turn.
pub(crate) fn only_looks(line: &str) -> bool {
    let command = split(line).and_then(|(name, _)| find(name));
    command.is_some_and(|command| command.needs == Needs::Nothing)
}

/// Name and arguments of a line such as `/compact the parser`.
pub(crate) fn split(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    (!name.is_empty() && name.chars().all(is_word)).then(|| (name, arguments.trim()))
}

/// Skills and custom commands the user can call, by name: what may follow, and what they do. A skill hides
/// a command of its name.
pub fn custom(definitions: &Definitions) -> Vec<(&str, &str, &str)> {
    let skills = definitions.skills.iter().filter(|skill| crate::skills::is_for_user(skill));
    let skills = skills.map(|skill| (&skill.name, &skill.argument_hint, &skill.description));
    let hidden = |name: &str| crate::skills::invoke::skill(definitions, name).is_some();
    let commands = definitions.commands.iter().filter(|command| !hidden(&command.name));
    let commands =
        commands.map(|command| (&command.name, &command.argument_hint, &command.description));
    let all = skills.chain(commands).filter(|(name, ..)| find(name).is_none());
    let mut all: Vec<_> = all
        .map(|(name, hint, about)| {
            (name.as_str(), hint.as_deref().unwrap_or_default(), about.as_str())
        })
        .collect();
    all.sort_unstable();
    all
}

fn unknown(name: &str, definitions: &Definitions) -> String {
    let start: String = name.chars().take(2).collect::<String>().to_ascii_lowercase();
    let ours = ALL.iter().map(|command| command.name);
    let theirs = custom(definitions).into_iter().map(|(name, ..)| name);
    let near = ours.chain(theirs).find(|known| known.to_ascii_lowercase().starts_with(&start));
    match near {
        Some(near) => format!("There is no /{name}. Did you mean /{near}? /help lists all."),
        None => format!("There is no /{name}. /help lists all commands."),
    }
}
