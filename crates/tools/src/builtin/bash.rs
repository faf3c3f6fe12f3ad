//! `bash`: a command in a shell of its own.

mod editor;
mod report;

use std::sync::Arc;
use std::time::Duration;

use base::{Block, Origin};
use guard::cage::Network;
use guard::process::{Command, Terminals};
use guard::{Action, Cage, Spot, shell};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::{Instant, sleep, sleep_until};

use crate::bound;
use crate::jobs::{self, Job, Start};
use crate::lenient;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Seconds after which a command goes on in the background.
const PATIENCE_S: u64 = 60;
/// Longest timeout that is taken: a day.
const LONGEST_S: u64 = 86_400;
/// How long a command that was sent to the background is watched: one that fails at once says so at once.
const FIRST_LOOK: Duration = Duration::from_millis(500);
/// How often a face is shown what a command prints.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// How many lines it is shown.
const PROGRESS_LINES: usize = 8;
/// Longest title.
const TITLE_CHARS: usize = 80;
/// The terminal a command gets if it asks for one.
const TERMINAL: Terminals = Terminals::Pty { columns: 120, rows: 40 };

/// Run a shell command. Each call is a fresh shell in the workspace: `cd` and variables do not last. After 60 s it
/// goes on as a background job.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    #[serde(alias = "cmd", alias = "script")]
    command: String,
    /// What it does, in five words.
    #[serde(default)]
    description: Option<String>,
    #[serde(default, alias = "cwd", alias = "workdir")]
    working_dir: Option<String>,
    /// Seconds after which it is killed.
    #[serde(default, deserialize_with = "lenient::number")]
    timeout: Option<u64>,
    /// Return at once and run as a job: servers, watchers.
    #[serde(default, deserialize_with = "lenient::switch", alias = "background")]
    run_in_background: bool,
    /// Give it a terminal.
    #[serde(default, deserialize_with = "lenient::switch", alias = "tty")]
    terminal: bool,
    /// Ask the user to run it outside the sandbox: network, other folders.
    #[serde(default, deserialize_with = "lenient::switch")]
    uncaged: bool,
    /// Why uncaged.
    #[serde(default)]
    why: Option<String>,
    /// As Crush has it; not worth a model's tokens.
    #[serde(default, deserialize_with = "lenient::number")]
    #[schemars(skip)]
    auto_background_after: Option<u64>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Bash;

/// Whether a tool runs commands, whose changes to files are not known.
pub fn runs_commands(tool: &str) -> bool {
    tool == Bash::NAME
}

impl Tool for Bash {
    const NAME: &'static str = "bash";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let described = input.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let text = described.unwrap_or_else(|| input.command.trim());
        let line = text.lines().next().unwrap_or_default();
        match line.char_indices().nth(TITLE_CHARS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        }
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        if input.command.trim().is_empty() {
            return Err(ToolError::Arguments("`command` is empty".to_owned()));
        }
        if input.command.contains('\0') {
            return Err(ToolError::Arguments(
                "a command cannot contain a NUL character".to_owned(),
            ));
        }
        let folder = folder(input, workspace)?;
        Ok(vec![Action::Run { command: input.command.clone(), folder, uncaged: input.uncaged }])
    }

    async fn preview(&self, input: &Input, _ctx: &ToolCtx) -> Option<Block> {
        let mut text = input.command.clone();
        if let (true, Some(why)) = (input.uncaged, &input.why) {
            text = format!("{text}\n\nOutside the sandbox, because: {why}");
        }
        Some(Block::Text { text })
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        if let Some(done) = editor::run(&input, ctx).await? {
            return Ok(done);
        }
        let start = Start {
            command: command(&input, ctx)?,
            title: self.title(&input),
            spill: bound::spill_for(ctx),
            timeout: input.timeout.map(|seconds| Duration::from_secs(seconds.clamp(1, LONGEST_S))),
            origin: origin(&input, ctx.cage.as_deref()),
        };
        let jobs = &ctx.workspace.jobs;
        let job = jobs.start(start).map_err(|error| ToolError::Refused(error.to_string()))?;
        let watched = EndedOnDrop(Some(job));
        let report = watched.follow(ctx, Patience::of(&input)).await;
        ctx.workspace.code.lsp.command_has_run();
        let report = report?;
        let origin = report.job.origin();
        Ok(Output::text(report.text(input.timeout, ctx)).from(origin))
    }
}

/// Where the output of a command comes from. One that can reach the network may print what strangers wrote.
fn origin(input: &Input, cage: Option<&Cage>) -> Origin {
    let only_reads = || shell::parse(&input.command).is_ok_and(|script| script.read_only().is_ok());
    let is_connected = match cage {
        Some(cage) => cage.bounds().network == Network::On,
        // Where there is no sandbox, a command that only reads connects to nothing.
        None => input.uncaged || !only_reads(),
    };
    if is_connected { Origin::Web } else { Origin::Shell }
}

fn folder(input: &Input, workspace: &Workspace) -> Result<Spot, ToolError> {
    let asked = input.working_dir.as_deref().filter(|folder| !folder.trim().is_empty());
    Ok(workspace.fence.locate(asked.unwrap_or("."))?)
}

fn command(input: &Input, ctx: &ToolCtx) -> Result<Command, ToolError> {
    let env = ctx.workspace.command_env();
    let (stdio, terminal) = match (input.terminal, input.run_in_background) {
        (true, _) => (TERMINAL, "xterm-256color"),
        (false, true) => (Terminals::InputOutput, "dumb"),
        (false, false) => (Terminals::Output, "dumb"),
    };
    Ok(Command {
        program: jobs::shell(&env).to_owned(),
        // Without the dashes, a command that begins with one would be an option of the shell.
        args: vec!["-c".to_owned(), "--".to_owned(), input.command.clone()],
        folder: folder(input, &ctx.workspace)?.real,
        env: env.with([("TERM".to_owned(), terminal.to_owned())]),
        cage: ctx.cage.clone(),
        stdio,
    })
}

/// How long a call waits for its command.
#[derive(Debug, Clone, Copy)]
enum Patience {
    /// Only to see whether it starts: it was meant for the background.
    FirstLook,
    /// So long, then it goes on in the background.
    For(Duration),
    /// Until it ends; it has a timeout.
    Endless,
}

impl Patience {
    fn of(input: &Input) -> Self {
        let seconds = input.auto_background_after.unwrap_or(PATIENCE_S).max(1);
        match input.timeout {
            _ if input.run_in_background => Self::FirstLook,
            Some(_) => Self::Endless,
            None => Self::For(Duration::from_secs(seconds)),
        }
    }

    async fn run_out(self) {
        match self {
            Self::FirstLook => sleep(FIRST_LOOK).await,
            Self::For(patience) => sleep(patience).await,
            Self::Endless => std::future::pending().await,
        }
    }
}

/// A job that ends when nobody waits for it any more.
struct EndedOnDrop(Option<Arc<Job>>);

impl Drop for EndedOnDrop {
    fn drop(&mut self) {
        if let Some(job) = self.0.take() {
            job.end();
        }
    }
}

impl EndedOnDrop {
    /// Waits for the end, shows how far it is, and lets it go on in the background after `patience`.
    async fn follow(
        mut self,
        ctx: &ToolCtx,
        patience: Patience,
    ) -> Result<report::Report, ToolError> {
        let Some(job) = self.0.clone() else { return Err(ToolError::Cancelled) };
        let ending = tokio::select! {
            biased;
            // Dropping ourselves ends the job.
            () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
            ending = job.ended() => Some(ending),
            () = patience.run_out() => None,
            () = show_progress(&job, ctx) => None,
        };
        self.0 = None;
        Ok(report::Report { job, ending, patience })
    }
}

/// Shows the last lines for as long as it is polled.
async fn show_progress(job: &Job, ctx: &ToolCtx) {
    loop {
        let (version, next) = (job.version(), Instant::now() + PROGRESS_EVERY);
        let tail = job.last_lines(PROGRESS_LINES);
        if !tail.is_empty() {
            let text = ctx.workspace.redactor.text(&tail).into_owned();
            ctx.progress.show(Block::Text { text });
        }
        sleep_until(next).await;
        job.changed(version).await;
    }
}
