//! Pieces of a body to text: commands run and files read, both as the lock allows and without a question.

mod file;

use std::time::Duration;

use guard::process::{Command, Terminals};
use guard::{Action, Decision, Policy, Taint};
use settings::definition::Standing;
use tools::ToolCtx;
use tools::bound;
use tools::jobs::{self, Cause, Job, Start};

use super::recipe::{Recipe, Terms};
use crate::expand::{Line, Piece, Variables};
use crate::live::Live;

/// How long one command of a body may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Most commands of one body.
const COMMANDS: usize = 20;
/// Lines of a failed command's output that are told.
const TOLD_LINES: usize = 8;

/// Why a body has no text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FillError {
    /// It wants to run commands, and nobody vouches for it.
    #[error("it runs commands, and its folder is not trusted; `caiman trust` shows what it holds")]
    Untrusted,
    /// The lock says no, or would have to ask.
    #[error(
        "`{command}` was not run: {reason}. A rule can allow it, or `allowed-tools` in its header"
    )]
    Refused {
        /// The command.
        command: String,
        /// Why not.
        reason: String,
    },
    /// A command failed.
    #[error("`{command}` failed ({how}):\n{output}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        how: String,
        /// The last lines it printed.
        output: String,
    },
    /// A command could not be started.
    #[error("`{command}` could not be started: {why}")]
    Start {
        /// The command.
        command: String,
        /// Why not.
        why: String,
    },
    /// It runs more commands than one text may.
    #[error("it runs more than {COMMANDS} commands")]
    TooMany,
    /// The user stopped it.
    #[error("stopped")]
    Cancelled,
}

/// What a body is filled with.
pub(crate) struct Filling<'a> {
    pub(crate) live: &'a Live,
    pub(crate) recipe: &'a Recipe,
    pub(crate) taint: Taint,
    pub(crate) variables: &'a Variables,
    pub(crate) ctx: &'a ToolCtx,
}

impl Filling<'_> {
    /// The text: commands in their places, files below.
    pub(crate) async fn text(&self, pieces: Vec<Piece>) -> Result<String, FillError> {
        let commands = pieces.iter().filter(|piece| matches!(piece, Piece::Command(_))).count();
        if commands > 0 {
            if self.recipe.standing == Standing::Untrusted {
                return Err(FillError::Untrusted);
            }
            if commands > COMMANDS {
                return Err(FillError::TooMany);
            }
            self.live.look_for_cage().await;
        }
        let policy = self.policy();
        let (mut text, mut files) = (String::new(), file::Files::default());
        for piece in pieces {
            match piece {
                Piece::Text(words) => text.push_str(&words),
                Piece::Command(line) => text.push_str(&self.run(&line, &policy).await?),
                Piece::File(path) => {
                    text.push('@');
                    text.push_str(&path);
                    files.add(self, &path, &policy);
                }
            }
        }
        text.push_str(&files.into_text());
        Ok(text)
    }

    /// What decides: the session's rules, and what the header allows.
    fn policy(&self) -> Policy {
        let mut policy = Policy::clone(&self.live.policy());
        let terms = Terms::of(self.recipe, self.ctx.workspace.fence.folder());
        policy.rules.allow.extend(terms.rules.allow);
        policy.rules.deny.extend(terms.rules.deny);
        policy
    }

    async fn run(&self, line: &Line, policy: &Policy) -> Result<String, FillError> {
        let workspace = &self.ctx.workspace;
        let command = || shown(&line.text);
        let folder = workspace
            .fence
            .locate(".")
            .map_err(|error| FillError::Start { command: command(), why: error.to_string() })?;
        let action =
            Action::Run { command: line.text.clone(), folder: folder.clone(), uncaged: false };
        let verdict = policy.decide("bash", &[action], &self.taint);
        if verdict.decision != Decision::Allow {
            return Err(FillError::Refused {
                command: command(),
                reason: verdict.reason.to_string(),
            });
        }
        let env = workspace.command_env();
        let env = env.with(self.variables.environment()).with(line.values.clone());
        let start = Start {
            command: Command {
                program: jobs::shell(&env).to_owned(),
                args: vec!["-c".to_owned(), "--".to_owned(), line.text.clone()],
                folder: folder.real,
                env: env.with([("TERM".to_owned(), "dumb".to_owned())]),
                cage: self.live.cage(verdict.reach),
                stdio: Terminals::Output,
            },
            title: command(),
            spill: bound::spill_for(self.ctx),
            timeout: Some(PATIENCE),
            origin: base::Origin::Shell,
        };
        let started = workspace.jobs.start(start);
        let job = started
            .map_err(|error| FillError::Start { command: command(), why: error.to_string() })?;
        self.follow(&EndedOnDrop(&job), command()).await
    }

    /// Waits for a command's end; whatever it left behind ends with it.
    async fn follow(&self, job: &EndedOnDrop<'_>, command: String) -> Result<String, FillError> {
        let job = job.0;
        let ended = self.ctx.cancel.run_until_cancelled(job.ended()).await;
        let ending = ended.ok_or(FillError::Cancelled)?;
        let masked = |text: String| self.ctx.workspace.redactor.text(&text).into_owned();
        let how = match ending.cause {
            Cause::TimedOut => format!("it took longer than {} s", PATIENCE.as_secs()),
            Cause::Itself | Cause::Asked if ending.exit.is_success() => {
                return Ok(masked(job.text()).trim_end().to_owned());
            }
            Cause::Itself | Cause::Asked => ending.exit.to_string(),
        };
        Err(FillError::Failed { command, how, output: masked(job.last_lines(TOLD_LINES)) })
    }
}

/// A command that ends when nobody waits for it any more.
struct EndedOnDrop<'a>(&'a Job);

impl Drop for EndedOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A command as an error names it: its first line.
fn shown(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
