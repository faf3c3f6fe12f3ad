//! The flags of `caiman run`. Claude Code's spellings are taken too, hidden, so that its wrappers work.

use std::path::PathBuf;

use base::SessionId;
use base::model::Effort;
use base::protocol::Mode;
use clap::ValueEnum;

use crate::failure::Failure;

const EXIT_CODES: &str = "Exit codes: 0 done, 1 wrong usage or settings, 2 permission denied, \
3 budget used up, 4 the provider failed, 5 it took too long, 130 cancelled";

/// Let a model work on a prompt with tools, and print its answer.
///
/// Standard input, if piped, is appended to the prompt. Nobody is asked anything: what no rule or mode allows
/// is denied (exit code 2).
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// What to say; with --continue or --session, nothing goes on with an interrupted turn.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,

    #[command(flatten)]
    pub(crate) voice: Voice,

    #[command(flatten)]
    pub(crate) place: Place,

    #[command(flatten)]
    pub(crate) lock: Lock,

    #[command(flatten)]
    pub(crate) limits: Limits,

    #[command(flatten)]
    pub(crate) pipes: Pipes,

    #[command(flatten)]
    pub(crate) foreign: Foreign,
}

/// What of the flags decides how sessions are run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Which model, and what it is told.
    pub(crate) voice: &'a Voice,
    /// Which session, and what it finds there.
    pub(crate) place: &'a Place,
    /// What may be done.
    pub(crate) lock: &'a Lock,
    /// How much may be spent.
    pub(crate) limits: &'a Limits,
    /// How many turns there will be.
    pub(crate) turns: Turns,
}

/// How many turns a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    /// One: its clock is the run's.
    One,
    /// As many as somebody wants.
    Many,
}

impl Args {
    /// What of the flags decides how sessions are run.
    pub(crate) fn asked(&self) -> Asked<'_> {
        let turns = match self.pipes.input_format {
            InputFormat::Text => Turns::One,
            InputFormat::StreamJson => Turns::Many,
        };
        let Self { voice, place, lock, limits, .. } = self;
        Asked { voice, place, lock, limits, turns }
    }
}

/// Which model, and what it is told.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct Voice {
    /// The model, as provider/model; `caiman models` lists them.
    #[arg(long, short)]
    pub(crate) model: Option<String>,

    /// How hard the model should think: none, minimal, low, medium, high, xhigh, max.
    #[arg(long)]
    pub(crate) effort: Option<Effort>,

    /// Most tokens of thought.
    #[arg(long, value_name = "TOKENS", hide = true, conflicts_with = "effort")]
    pub(crate) max_thinking_tokens: Option<u64>,

    /// Most tokens of one answer.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_tokens: Option<u64>,

    /// Replace the system prompt by this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// The same, from a file.
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "system_prompt")]
    pub(crate) system_prompt_file: Option<PathBuf>,

    /// Add this text to the system prompt.
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// The same, from a file.
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "append_system_prompt")]
    pub(crate) append_system_prompt_file: Option<PathBuf>,
}

/// Which session, and whether it is kept.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Session")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Place {
    /// Go on with this folder's newest session.
    #[arg(long = "continue", short = 'c', conflicts_with = "session")]
    pub(crate) go_on: bool,

    /// Go on with this session (an id or the beginning of one).
    #[arg(long, short = 's', value_name = "ID", alias = "resume", short_alias = 'r')]
    pub(crate) session: Option<String>,

    /// Leave the session as it is and go on in a copy of it.
    #[arg(long)]
    pub(crate) fork_session: bool,

    /// The id of the new session.
    #[arg(long, value_name = "UUID")]
    pub(crate) session_id: Option<SessionId>,

    /// Work as this agent in a new session; `caiman agents list` names them.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// A plugin's folder, for this run; may be given several times.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plugin_dir: Vec<PathBuf>,

    /// Agents for this run: a JSON object of agents by name.
    #[arg(long, value_name = "JSON")]
    pub(crate) agents: Option<String>,

    /// MCP servers besides those of the settings: a file such as `.mcp.json`, or JSON; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Vec<String>,

    /// Use no other MCP servers than those of --mcp-config.
    #[arg(long)]
    pub(crate) strict_mcp_config: bool,

    /// Change files unasked in the home folder too, or in a folder that contains it.
    #[arg(long)]
    pub(crate) allow_home: bool,

    /// The session's title.
    #[arg(long, short, value_name = "TITLE")]
    pub(crate) name: Option<String>,

    /// Keep nothing: the session is gone when the run ends.
    #[arg(long, alias = "no-session-persistence", conflicts_with_all = ["go_on", "session"])]
    pub(crate) ephemeral: bool,
}

/// What may be done.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Permissions")]
pub(crate) struct Lock {
    /// Allow what a rule covers, such as 'Bash(cargo test:*)' or 'Edit(src/**)'; may be repeated.
    #[arg(long, value_name = "RULE", aliases = ["allowedTools", "allowed-tools"])]
    pub(crate) allow: Vec<String>,

    /// Deny what a rule covers, whatever else allows it; may be repeated.
    #[arg(long, value_name = "RULE", aliases = ["disallowedTools", "disallowed-tools"])]
    pub(crate) deny: Vec<String>,

    /// What no rule decides: default (denied here), acceptEdits, plan, dontAsk or bypass.
    #[arg(long, value_name = "MODE", alias = "permission-mode", value_parser = mode)]
    pub(crate) mode: Option<Mode>,

    /// Ask nothing and run without a sandbox, as --mode bypass: only where nothing can be lost.
    #[arg(long, alias = "dangerously-skip-permissions", conflicts_with = "mode")]
    pub(crate) yolo: bool,

    /// Let this folder count as part of the workspace; may be repeated.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) add_dir: Vec<PathBuf>,

    /// Offer only these tools, for example 'bash,view'; '' offers none.
    #[arg(long, value_name = "LIST")]
    pub(crate) tools: Option<String>,

    /// Ask the program at the other end of the pipes (`stdio`) what no rule decides.
    #[arg(long, value_name = "stdio", hide = true)]
    pub(crate) permission_prompt_tool: Option<String>,
}

/// How much may be spent.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
#[expect(clippy::struct_field_names, reason = "the names are the flags")]
pub(crate) struct Limits {
    /// Most calls of the model in a turn (exit code 3).
    #[arg(long, value_name = "N", alias = "max-turns",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_steps: Option<u64>,

    /// Most US dollars of a turn (exit code 3).
    #[arg(long, value_name = "DOLLARS", alias = "max-budget-usd", value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,

    /// Give up after this many seconds (exit code 5).
    #[arg(long, value_name = "SECONDS")]
    pub(crate) max_time: Option<u64>,
}

/// What goes in and comes out.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input and output")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Pipes {
    /// What to print: the text, one JSON object at the end, or a JSON line for each step.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,

    /// With stream-json: print pieces of the answer as they arrive.
    #[arg(long)]
    pub(crate) include_partial_messages: bool,

    /// With stream-json: print when hooks begin and end.
    #[arg(long)]
    pub(crate) include_hook_events: bool,

    /// What standard input is: more of the prompt, or a JSON line for each message.
    #[arg(long, value_enum, default_value_t = InputFormat::Text)]
    pub(crate) input_format: InputFormat,

    /// With stream-json in and out: print each message taken from standard input.
    #[arg(long)]
    pub(crate) replay_user_messages: bool,

    /// Make the answer JSON that fits the JSON Schema in this file.
    #[arg(long, value_name = "FILE", conflicts_with = "json_schema")]
    pub(crate) output_schema: Option<PathBuf>,

    /// The same with the schema itself.
    #[arg(long, value_name = "JSON", hide = true)]
    pub(crate) json_schema: Option<String>,

    /// Show tools and thoughts on standard error (text format).
    #[arg(long, short)]
    pub(crate) verbose: bool,

    /// What `caiman -p` becomes; says nothing here.
    #[arg(long, short, hide = true)]
    pub(crate) print: bool,
}

/// Flags of Claude Code that mean nothing here, and those that would mean something and are refused.
#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Foreign {
    #[arg(long, hide = true)]
    forward_subagent_text: bool,
    #[arg(long, hide = true)]
    allow_dangerously_skip_permissions: bool,
    #[arg(long, hide = true)]
    bare: bool,
    #[arg(long, hide = true, value_name = "LIST")]
    setting_sources: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "")]
    debug: Option<String>,
    #[arg(long, hide = true, value_name = "MODEL")]
    fallback_model: Option<String>,
    #[arg(long, hide = true, value_name = "FILE")]
    settings: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "")]
    worktree: Option<String>,
    #[arg(long, hide = true)]
    bg: bool,
}

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer's text, as it arrives.
    Text,
    /// One JSON object when done.
    Json,
    /// A JSON line for each step.
    StreamJson,
}

/// What standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// More of the prompt.
    Text,
    /// A JSON line for each message.
    StreamJson,
}

impl Args {
    /// Whether an earlier session is to go on.
    pub(crate) fn goes_on(&self) -> bool {
        self.place.go_on || self.place.session.is_some()
    }

    /// Refuses flags that cannot stand together, or that this program does not serve.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.foreign.check()?;
        let pipes = &self.pipes;
        let is_fed = pipes.input_format == InputFormat::StreamJson;
        if is_fed && pipes.output_format != OutputFormat::StreamJson {
            return Err(Failure::user("--input-format stream-json answers in the same form")
                .hint("add --output-format stream-json"));
        }
        if is_fed && !self.prompt.is_empty() {
            return Err(Failure::user(
                "with --input-format stream-json the prompt comes as a line",
            )
            .hint(r#"write {"type":"user","message":{"role":"user","content":"…"}}"#));
        }
        if pipes.replay_user_messages && !is_fed {
            return Err(Failure::user("--replay-user-messages needs --input-format stream-json"));
        }
        if pipes.include_partial_messages && pipes.output_format != OutputFormat::StreamJson {
            return Err(Failure::user(
                "--include-partial-messages needs --output-format stream-json",
            ));
        }
        match self.lock.permission_prompt_tool.as_deref() {
            None => {}
            Some("stdio") if is_fed => {}
            Some("stdio") => {
                return Err(Failure::user(
                    "--permission-prompt-tool stdio needs --input-format stream-json",
                ));
            }
            Some(other) => {
                let message = format!("--permission-prompt-tool {other}: only stdio is served");
                return Err(Failure::user(message));
            }
        }
        if self.place.fork_session && !self.goes_on() {
            return Err(Failure::user("--fork-session needs a session to copy")
                .hint("add --continue or --session ID"));
        }
        if self.place.session_id.is_some() && self.goes_on() && !self.place.fork_session {
            return Err(Failure::user("--session-id is for a new session")
                .hint("leave it out, or add --fork-session to go on in a copy"));
        }
        Ok(())
    }
}

impl Foreign {
    fn check(&self) -> Result<(), Failure> {
        let refused = [
            ("--fallback-model", self.fallback_model.is_some(), "models.fallbacks in the settings"),
            ("--settings", self.settings.is_some(), "caiman.json"),
            ("--worktree", self.worktree.is_some(), "git worktree add, then --cwd"),
            ("--bg", self.bg, "the shell's own &"),
        ];
        let found = refused.into_iter().find(|(_, is_given, _)| *is_given);
        found.map_or(Ok(()), |(flag, _, instead)| {
            Err(Failure::user(format!("{flag} is not served")).hint(format!("use {instead}")))
        })
    }
}

/// A mode by any of its names.
pub(crate) fn mode(text: &str) -> Result<Mode, String> {
    let known = text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    match known.to_ascii_lowercase().as_str() {
        "default" | "manual" => Ok(Mode::Default),
        "acceptedits" | "auto" => Ok(Mode::AcceptEdits),
        "plan" => Ok(Mode::Plan),
        "dontask" => Ok(Mode::DontAsk),
        "bypass" | "bypasspermissions" => Ok(Mode::Bypass),
        _ => Err("the modes are default, acceptEdits, plan, dontAsk and bypass".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    let number = text.trim_start_matches('$').parse::<f64>().ok();
    number
        .filter(|dollars| dollars.is_finite() && *dollars > 0.0)
        .ok_or_else(|| "write an amount of US dollars above 0, for example 0.50".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_known_by_any_of_its_names() {
        for (name, wanted) in [
            ("acceptEdits", Mode::AcceptEdits),
            ("accept_edits", Mode::AcceptEdits),
            ("bypassPermissions", Mode::Bypass),
            ("manual", Mode::Default),
            ("dont-ask", Mode::DontAsk),
        ] {
            assert_eq!(mode(name), Ok(wanted));
        }
        assert!(mode("sudo").unwrap_err().contains("acceptEdits"));
    }

    #[test]
    fn an_amount_must_be_above_zero() {
        assert_eq!(dollars("$0.5"), Ok(0.5));
        for bad in ["0", "-1", "nan", "inf", "much"] {
            assert!(dollars(bad).is_err(), "{bad}");
        }
    }
}
