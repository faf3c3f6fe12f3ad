//! A process as everybody but its owner sees it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use base::Origin;
use guard::Reach;
use guard::process::{Command, Terminals};
use guard::shell::LONGEST_BYTES;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ending::Ending;
use super::reach_of;
use crate::bound::{Bounded, Spill};

/// How many pieces of input wait for a process that does not read; then who sends waits.
const INPUTS: usize = 8;
/// How long a process may take to read what it is sent.
const INPUT_PATIENCE: Duration = Duration::from_secs(5);

/// Bytes kept of what was typed: more than the policy looks into, so that a longer history is never judged as if it
/// were short.
const TYPED_BYTES: usize = LONGEST_BYTES * 2;
/// The interrupt key.
const INTERRUPT: &str = "\u{3}";

/// A process that was started, and what it has printed.
#[derive(Debug)]
pub struct Job {
    title: String,
    started: Instant,
    number: OnceLock<u32>,
    log: Mutex<Log>,
    state: watch::Sender<State>,
    /// Cancelled when the process shall end.
    ending: CancellationToken,
    stdio: Terminals,
    input: Option<mpsc::Sender<Typed>>,
    /// The command line, for whoever judges what is typed into it.
    line: String,
    folder: PathBuf,
    reach: Reach,
    origin: Origin,
    /// What was typed into it; more than [`TYPED_BYTES`] is cut at the front.
    typed: Mutex<String>,
}

/// What is printed, and what of it was shown.
#[derive(Debug)]
struct Log {
    output: Bounded,
    /// What the sandbox has to say about it.
    notes: Vec<String>,
    seen: u64,
    /// The unfinished line as it was shown.
    seen_line: String,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Goes up with everything that is printed.
    version: u64,
    /// How the process ended, and how long it ran.
    ending: Option<(Ending, Duration)>,
    /// Whether nothing is left of it, so that nothing more will be printed.
    gone: bool,
}

/// What a job has printed since somebody looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The text, bounded.
    pub text: String,
    /// Where the next look begins.
    pub next: u64,
}

/// Something to type, and where to tell that it was.
#[derive(Debug)]
pub(super) struct Typed {
    pub(super) bytes: Vec<u8>,
    pub(super) done: oneshot::Sender<std::io::Result<()>>,
}

/// Why a job did not get its input.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It was started without.
    #[error("its input is closed; start it with run_in_background or terminal to type into it")]
    Closed,
    /// It has ended.
    #[error("it has ended")]
    Ended,
    /// It reads nothing.
    #[error("it does not read its input")]
    NotRead,
    /// The system refused.
    #[error("{0}")]
    Io(std::io::Error),
}

impl Job {
    pub(super) fn new(
        title: String,
        spill: Spill,
        command: &Command,
        origin: Origin,
    ) -> (Arc<Self>, mpsc::Receiver<Typed>) {
        let stdio = command.stdio;
        let (sender, inbox) = mpsc::channel(INPUTS);
        let log = Log {
            output: Bounded::new(spill),
            notes: Vec::new(),
            seen: 0,
            seen_line: String::new(),
        };
        let job = Self {
            title,
            started: Instant::now(),
            number: OnceLock::new(),
            log: Mutex::new(log),
            state: watch::Sender::new(State::default()),
            ending: CancellationToken::new(),
            stdio,
            input: (stdio != Terminals::Output).then_some(sender),
            line: command.args.last().cloned().unwrap_or_default(),
            folder: command.folder.clone(),
            reach: reach_of(command.cage.as_deref()),
            origin,
            typed: Mutex::default(),
        };
        (Arc::new(job), inbox)
    }

    /// What it was called when it was started.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What its input and output are.
    pub fn stdio(&self) -> Terminals {
        self.stdio
    }

    /// The command line that started it.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The folder it was started in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How far it reaches.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Where its output comes from.
    pub fn origin(&self) -> Origin {
        self.origin.clone()
    }

    /// What was typed into it so far, each Enter as a newline.
    pub fn typed(&self) -> String {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers text that is about to be typed.
    pub fn remember_typed(&self, text: &str) {
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        if text == INTERRUPT && matches!(self.stdio, Terminals::Pty { .. }) {
            let line_start = typed.rfind('\n').map_or(0, |at| at + 1);
            typed.truncate(line_start);
            return;
        }
        typed.push_str(text);
        let surplus = typed.len().saturating_sub(TYPED_BYTES);
        let surplus = typed.ceil_char_boundary(surplus);
        typed.drain(..surplus);
    }

    /// Its number, if it was kept.
    pub fn number(&self) -> Option<u32> {
        self.number.get().copied()
    }

    /// How long it ran, or runs by now.
    pub fn age(&self) -> Duration {
        let ended = self.state.borrow().ending;
        ended.map_or_else(|| self.started.elapsed(), |(_, age)| age)
    }

    /// How it ended; none while it runs.
    pub fn ending(&self) -> Option<Ending> {
        self.state.borrow().ending.map(|(ending, _)| ending)
    }

    /// Asks it to end, with all that it started: interrupts at once, kills after [`super::GRACE`].
    pub fn end(&self) {
        self.ending.cancel();
    }

    /// Waits until the process itself has ended and what it printed is here.
    pub async fn ended(&self) -> Ending {
        let mut states = self.state.subscribe();
        loop {
            if let Some(ending) = self.ending() {
                return ending;
            }
            // The sender is ours and lives as long as we do.
            states.changed().await.ok();
        }
    }

    /// Waits until nothing is left of it.
    pub async fn gone(&self) {
        // The sender is ours and lives as long as we do.
        self.state.subscribe().wait_for(|state| state.gone).await.ok();
    }

    /// Goes up with everything that is printed, and when the process ends.
    pub fn version(&self) -> u64 {
        self.state.borrow().version
    }

    /// Waits until [`Job::version`] is beyond `version`.
    pub async fn changed(&self, version: u64) {
        self.state.subscribe().wait_for(|state| state.version > version).await.ok();
    }

    /// Types into it; ready when it was handed over.
    pub async fn send(&self, bytes: Vec<u8>) -> Result<(), InputError> {
        let input = self.input.as_ref().ok_or(InputError::Closed)?;
        let (done, told) = oneshot::channel();
        let handed_over = async {
            input.send(Typed { bytes, done }).await.map_err(|_| InputError::Ended)?;
            told.await.map_err(|_| InputError::Ended)?.map_err(InputError::Io)
        };
        let patience = tokio::time::timeout(INPUT_PATIENCE, handed_over);
        patience.await.unwrap_or(Err(InputError::NotRead))
    }

    /// All that it printed, bounded. It counts as seen.
    pub fn text(&self) -> String {
        self.news(Some(0)).text
    }

    /// What it printed since the last look, or after the first `from` bytes. It counts as seen.
    pub fn news(&self, from: Option<u64>) -> News {
        let mut log = self.log();
        let line = log.output.line();
        let (start, end) = (from.unwrap_or(log.seen), log.output.end());
        let is_old = from.is_none() && start == end && line == log.seen_line;
        let text = if is_old { String::new() } else { log.output.since(start) };
        log.seen = end;
        log.seen_line = line;
        News { text, next: end }
    }

    /// Whether something was printed that nobody has looked at.
    pub fn has_news(&self) -> bool {
        let log = self.log();
        log.seen != log.output.end() || log.seen_line != log.output.line()
    }

    /// The last lines, for a face.
    pub fn last_lines(&self, count: usize) -> String {
        self.log().output.last_lines(count)
    }

    /// What the sandbox has to say about it.
    pub fn notes(&self) -> Vec<String> {
        self.log().notes.clone()
    }

    pub(super) fn set_number(&self, number: u32) {
        self.number.get_or_init(|| number);
    }

    pub(super) fn shall_end(&self) -> &CancellationToken {
        &self.ending
    }

    pub(super) fn push(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.log().output.push(bytes);
            self.state.send_modify(|state| state.version += 1);
        }
    }

    /// Nothing more is printed.
    pub(super) fn finish(&self) {
        self.log().output.finish();
    }

    pub(super) fn set_notes(&self, notes: Vec<String>) {
        self.log().notes = notes;
    }

    pub(super) fn set_ended(&self, ending: Ending) {
        let age = self.started.elapsed();
        self.state.send_modify(|state| {
            state.version += 1;
            state.ending = Some((ending, age));
        });
    }

    pub(super) fn set_gone(&self) {
        self.state.send_modify(|state| state.gone = true);
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
