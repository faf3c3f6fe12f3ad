//! A program in a pseudo-terminal: keys in, screen out.
//!
//! A thread reads what the program writes into a terminal emulator and wakes whoever waits, so a
//! test never sleeps and never polls.

mod painted;

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Why a program could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// No pseudo-terminal, or the program does not start.
    #[error("cannot start {program} in a terminal: {reason}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// The program's input is closed, or its size cannot be changed.
    #[error("cannot reach the program: {0}")]
    Reach(String),
    /// What a test waited for did not happen.
    #[error("{what} did not come within {within:?}; the screen was:\n{screen}")]
    Waited {
        /// What was waited for.
        what: String,
        /// How long.
        within: Duration,
        /// The screen at the end.
        screen: String,
    },
}

/// A program to be started.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    folder: Option<PathBuf>,
    inherits: Inherits,
    cols: u16,
    rows: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inherits {
    Environment,
    Nothing,
}

impl Program {
    /// A program in a terminal of 80 by 24.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            args: Vec::new(),
            env: vec![("TERM".to_owned(), "xterm-256color".to_owned())],
            folder: None,
            inherits: Inherits::Environment,
            cols: 80,
            rows: 24,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Starts it with no environment but what [`Program::env`] sets.
    #[must_use]
    pub fn bare(mut self) -> Self {
        self.inherits = Inherits::Nothing;
        self
    }

    /// Starts it in a folder.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Sets the terminal's size.
    #[must_use]
    pub fn size(mut self, cols: u16, rows: u16) -> Self {
        (self.cols, self.rows) = (cols, rows);
        self
    }

    /// Starts it.
    pub fn start(&self) -> Result<Terminal, TerminalError> {
        let failed = |reason: String| TerminalError::Start {
            program: self.path.display().to_string(),
            reason,
        };
        let size = PtySize { rows: self.rows, cols: self.cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).map_err(|error| failed(error.to_string()))?;
        let mut command = CommandBuilder::new(&self.path);
        match self.inherits {
            Inherits::Environment => {}
            Inherits::Nothing => command.env_clear(),
        }
        command.args(&self.args);
        for (name, value) in &self.env {
            command.env(name, value);
        }
        if let Some(folder) = &self.folder {
            command.cwd(folder);
        }
        let child = pair.slave.spawn_command(command).map_err(|error| failed(error.to_string()))?;
        // Held open, it would keep the reader from seeing the program's end.
        drop(pair.slave);
        let reader = pair.master.try_clone_reader().map_err(|error| failed(error.to_string()))?;
        let writer = pair.master.take_writer().map_err(|error| failed(error.to_string()))?;
        let shared = Arc::new(Shared {
            view: Mutex::new(View {
                parser: vt100::Parser::new(
                    at_least_one(self.rows),
                    at_least_one(self.cols),
                    10_000,
                ),
                raw: VecDeque::new(),
                output: Output::Open,
            }),
            changed: Condvar::new(),
            writer: Mutex::new(writer),
        });
        let for_thread = Arc::clone(&shared);
        thread::spawn(move || for_thread.follow(reader));
        Ok(Terminal { shared, master: pair.master, child })
    }
}

/// A running program. Dropping it kills the program.
pub struct Terminal {
    shared: Arc<Shared>,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("screen", &self.screen()).finish_non_exhaustive()
    }
}

struct Shared {
    view: Mutex<View>,
    changed: Condvar,
    writer: Mutex<Box<dyn Write + Send>>,
}

struct View {
    parser: vt100::Parser,
    /// The newest bytes the program wrote, escape sequences included.
    raw: VecDeque<u8>,
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    Open,
    Closed,
}

/// How many of the newest bytes are kept.
const RAW_BYTES: usize = 1 << 20;

/// A key that is no plain character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift and tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Control and a letter.
    Ctrl(char),
    /// Alt and a character.
    Alt(char),
}

impl Key {
    fn bytes(self) -> String {
        match self {
            Self::Enter => "\r".to_owned(),
            Self::Esc => "\x1b".to_owned(),
            Self::Tab => "\t".to_owned(),
            Self::BackTab => "\x1b[Z".to_owned(),
            Self::Backspace => "\x7f".to_owned(),
            Self::Delete => "\x1b[3~".to_owned(),
            Self::Up => "\x1b[A".to_owned(),
            Self::Down => "\x1b[B".to_owned(),
            Self::Right => "\x1b[C".to_owned(),
            Self::Left => "\x1b[D".to_owned(),
            Self::Home => "\x1b[H".to_owned(),
            Self::End => "\x1b[F".to_owned(),
            Self::PageUp => "\x1b[5~".to_owned(),
            Self::PageDown => "\x1b[6~".to_owned(),
            Self::Ctrl(letter) => {
                let code = u8::try_from(letter.to_ascii_uppercase()).unwrap_or(0) & 0x1f;
                char::from(code).to_string()
            }
            Self::Alt(character) => format!("\x1b{character}"),
        }
    }
}

impl Terminal {
    /// Types a text, or sends any bytes.
    pub fn send(&self, text: &str) -> Result<(), TerminalError> {
        self.shared.write(text.as_bytes()).map_err(|error| TerminalError::Reach(error.to_string()))
    }

    /// Presses a key.
    pub fn press(&self, key: Key) -> Result<(), TerminalError> {
        self.send(&key.bytes())
    }

    /// Pastes a text, marked as pasted.
    pub fn paste(&self, text: &str) -> Result<(), TerminalError> {
        self.send(&format!("\x1b[200~{text}\x1b[201~"))
    }

    /// Changes the terminal's size; the program is told.
    pub fn resize(&self, cols: u16, rows: u16) -> Result<(), TerminalError> {
        let (high, wide) = (at_least_one(rows), at_least_one(cols));
        self.shared.view().parser.screen_mut().set_size(high, wide);
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).map_err(|error| TerminalError::Reach(error.to_string()))
    }

    /// What is on the screen: rows without their blanks at the end.
    pub fn screen(&self) -> String {
        self.shared.view().parser.screen().contents()
    }

    /// The screen with colours and attributes, as escape sequences.
    pub fn formatted(&self) -> String {
        self.shared.view().parser.screen().contents_formatted()
    }

    /// The screen with colours and attributes, as text: each run begins with how it looks.
    pub fn painted(&self) -> String {
        painted::painted(self.shared.view().parser.screen())
    }

    /// Where the cursor is: column and row, from 0.
    pub fn cursor(&self) -> (u16, u16) {
        let (row, col) = self.shared.view().parser.screen().cursor_position();
        (col, row)
    }

    /// The newest megabyte the program wrote, escape sequences included.
    pub fn raw(&self) -> Vec<u8> {
        self.shared.view().raw.iter().copied().collect()
    }

    /// Waits until the screen shows `text`.
    pub fn wait_for(&self, text: &str, within: Duration) -> Result<(), TerminalError> {
        self.wait_until(&format!("`{text}`"), within, |screen| screen.contains(text))
    }

    /// Waits until the screen no longer shows `text`.
    pub fn wait_gone(&self, text: &str, within: Duration) -> Result<(), TerminalError> {
        self.wait_until(&format!("the end of `{text}`"), within, |screen| !screen.contains(text))
    }

    /// Waits until `holds` holds of the screen; `what` names it in the error.
    pub fn wait_until(
        &self,
        what: &str,
        within: Duration,
        holds: impl Fn(&str) -> bool,
    ) -> Result<(), TerminalError> {
        self.shared
            .wait(within, |view| holds(&view.parser.screen().contents()))
            .map_err(|screen| TerminalError::Waited { what: what.to_owned(), within, screen })
    }

    /// Waits until the program has ended; returns its exit code.
    pub fn wait_exit(&mut self, within: Duration) -> Result<u32, TerminalError> {
        let what = "the program's end".to_owned();
        // Its output closes as it ends; only the code is left to be fetched.
        self.shared
            .wait(within, |view| view.output == Output::Closed)
            .map_err(|screen| TerminalError::Waited { what, within, screen })?;
        let status = self.child.wait().map_err(|error| TerminalError::Reach(error.to_string()))?;
        Ok(status.exit_code())
    }

    /// The program's process id.
    pub fn id(&self) -> Option<u32> {
        self.child.process_id()
    }

    /// Kills the program.
    pub fn kill(&mut self) -> Result<(), TerminalError> {
        self.child.kill().map_err(|error| TerminalError::Reach(error.to_string()))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A program that has ended cannot be killed, and need not be.
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}

impl Shared {
    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(bytes)?;
        writer.flush()
    }

    /// Reads until the program's output closes.
    fn follow(&self, mut reader: Box<dyn Read + Send>) {
        let mut buffer = [0; 8192];
        loop {
            let count = match reader.read(&mut buffer) {
                Ok(count) if count > 0 => count,
                // On Linux a closed pseudo-terminal is an error, not an end.
                Ok(_) | Err(_) => break,
            };
            let bytes = &buffer[..count];
            let replies = {
                let mut view = self.view();
                view.parser.process(bytes);
                view.raw.extend(bytes);
                let surplus = view.raw.len().saturating_sub(RAW_BYTES);
                view.raw.drain(..surplus);
                replies(bytes, view.parser.screen())
            };
            self.changed.notify_all();
            if !replies.is_empty() && self.write(replies.as_bytes()).is_err() {
                break;
            }
        }
        self.view().output = Output::Closed;
        self.changed.notify_all();
    }

    /// Waits for a view; on time-out returns the screen.
    fn wait(&self, within: Duration, holds: impl Fn(&View) -> bool) -> Result<(), String> {
        let end = Instant::now() + within;
        let mut view = self.view();
        while !holds(&view) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(view.parser.screen().contents());
            }
            (view, _) =
                self.changed.wait_timeout(view, left).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }
}

fn at_least_one(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN)
}

/// Answers to what a program asks its terminal: where the cursor is, and what it can do.
fn replies(bytes: &[u8], screen: &vt100::Screen) -> String {
    let asks = |question: &[u8]| bytes.windows(question.len()).any(|part| part == question);
    let (row, col) = screen.cursor_position();
    let cursor = asks(b"\x1b[6n").then(|| format!("\x1b[{};{}R", row + 1, col + 1));
    let abilities = (asks(b"\x1b[c") || asks(b"\x1b[0c")).then(|| "\x1b[?62;22c".to_owned());
    cursor.into_iter().chain(abilities).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Terminal {
        Program::new("/bin/sh").arg("-c").arg(script).size(60, 10).start().unwrap()
    }

    #[test]
    fn a_shell_echoes_what_is_typed_and_ends_with_its_code() {
        let mut terminal = shell("printf 'name? '; read name; echo \"hello $name\"; exit 7");
        terminal.wait_for("name?", SOON).unwrap();
        terminal.send("ada").unwrap();
        terminal.press(Key::Enter).unwrap();
        terminal.wait_for("hello ada", SOON).unwrap();
        assert_eq!(terminal.wait_exit(SOON).unwrap(), 7);
    }

    #[test]
    fn the_program_learns_its_size_and_every_change_of_it() {
        let script = "trap 'stty size' WINCH; stty size; while :; do read x; done";
        let terminal = shell(script);
        terminal.wait_for("10 60", SOON).unwrap();
        terminal.resize(100, 30).unwrap();
        // A shell runs its trap once the read it interrupts returns.
        terminal.press(Key::Enter).unwrap();
        terminal.wait_for("30 100", SOON).unwrap();
    }

    #[test]
    fn what_does_not_come_is_an_error_that_shows_the_screen() {
        let terminal = shell("echo here; read x");
        terminal.wait_for("here", SOON).unwrap();
        let error = terminal.wait_for("there", Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("here"), "{error}");
    }

    #[test]
    fn a_question_for_the_cursor_is_answered() {
        let script = "stty raw -echo; printf 'ab\\033[6n'; dd bs=1 count=6 2>/dev/null | od -c | head -1; stty sane";
        let mut terminal = shell(script);
        terminal.wait_for("033   [   1   ;   3   R", SOON).unwrap();
        terminal.wait_exit(SOON).unwrap();
    }

    #[test]
    fn control_c_reaches_the_program_and_a_kill_ends_it() {
        let mut terminal = shell("trap 'echo caught' INT; echo ready; while :; do read x; done");
        terminal.wait_for("ready", SOON).unwrap();
        terminal.press(Key::Ctrl('c')).unwrap();
        terminal.press(Key::Enter).unwrap();
        terminal.wait_for("caught", SOON).unwrap();
        terminal.kill().unwrap();
        assert_ne!(terminal.wait_exit(SOON).unwrap(), 0);
    }
}
