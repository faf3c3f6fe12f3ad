//! Running a command, as a capability: `base` and `llm` may want a command's output (a secret, a
//! credential helper), but only `guard` starts processes.

use std::path::PathBuf;
use std::time::Duration;

use crate::env::Env;
use crate::secret::Secret;

/// A command whose output somebody wants.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// The program, looked up on the child's `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What it reads; nothing if none.
    pub stdin: Option<Secret>,
    /// Where it runs.
    pub folder: Option<PathBuf>,
    /// What it sees.
    pub env: Env,
    /// How long it may take; then it and its children are killed.
    pub timeout: Duration,
}

impl CommandLine {
    /// A line for the platform's shell.
    pub fn shell(line: impl Into<String>, env: &Env) -> Self {
        let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        Self::new(program, [flag.to_owned(), line.into()], env)
    }

    /// A program with arguments; 60 seconds at the most.
    pub fn new(
        program: impl Into<String>,
        args: impl IntoIterator<Item = String>,
        env: &Env,
    ) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().collect(),
            stdin: None,
            folder: None,
            env: env.clone(),
            timeout: Duration::from_mins(1),
        }
    }
}

/// Runs commands. Blocking: async callers use a blocking task.
pub trait RunCommand: Send + Sync {
    /// Runs to the end and returns what the command printed, without the final line break.
    fn run(&self, command: &CommandLine) -> Result<String, RunError>;
}

/// Why a command gave no output.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It could not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// It ended badly.
    #[error("`{program}` failed ({status}): {stderr}")]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        status: String,
        /// The end of what it complained, at most 512 bytes.
        stderr: String,
    },
    /// It took too long and was killed.
    #[error("`{program}` took longer than {limit_s} s and was stopped")]
    TooSlow {
        /// The program.
        program: String,
        /// The limit.
        limit_s: u64,
    },
    /// This process runs no commands.
    #[error("commands are not run here")]
    Forbidden,
}
