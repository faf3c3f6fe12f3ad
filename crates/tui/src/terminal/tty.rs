//! The terminal as we take it and give it back: raw mode, alternate screen, mouse, keyboard.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, isatty, tcflush, tcgetattr, tcgetwinsize, tcsetattr,
    ttyname,
};

use crate::message::{MouseUse, Screen as Place};
use crate::terminal::abilities::Keyboard;

const MOUSE_ON: &str = "\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l";

/// How the terminal is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Where we draw.
    pub screen: Place,
    /// Who gets the mouse; inline it is always the terminal.
    pub mouse: MouseUse,
    /// How keys are told apart.
    pub keyboard: Keyboard,
}

impl Mode {
    fn has_mouse(self) -> bool {
        self.mouse == MouseUse::Ours && self.screen == Place::Full
    }

    /// What is written to take the terminal: title kept, no wrapping, pastes marked, focus told.
    fn entered(self) -> String {
        let mut text = String::from("\x1b[22;0t");
        if self.screen == Place::Full {
            text.push_str("\x1b[?1049h");
        }
        text.push_str("\x1b[?7l\x1b[?2004h\x1b[?1004h");
        if self.has_mouse() {
            text.push_str(MOUSE_ON);
        }
        if self.keyboard == Keyboard::Extended {
            // Terminals that take the first for colours must not keep them.
            text.push_str("\x1b[>4;1m\x1b[m\x1b[>5u");
        }
        text
    }

    /// What is written to give it back, in reverse.
    fn left(self) -> String {
        let mut text = String::from("\x1b[?2026l\x1b]8;;\x1b\\\x1b[m");
        if self.keyboard == Keyboard::Extended {
            text.push_str("\x1b[<u\x1b[>4m\x1b[m");
        }
        text.push_str(MOUSE_OFF);
        text.push_str("\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h");
        if self.screen == Place::Full {
            text.push_str("\x1b[?1049l");
        }
        text.push_str("\x1b[23;0t");
        text
    }
}

/// A terminal. Dropping it gives it back.
#[derive(Debug)]
pub struct Tty {
    lease: Arc<Lease>,
}

/// What is needed to give a terminal back, from any thread.
#[derive(Debug)]
pub struct Lease {
    input: OwnedFd,
    output: OwnedFd,
    before: Mutex<Option<(Termios, Mode)>>,
}

impl Tty {
    /// The terminal of this process. If its input comes from elsewhere, keys are read from where it is drawn.
    pub fn of_process() -> io::Result<Self> {
        let stdin = rustix::stdio::stdin();
        let stdout = rustix::stdio::stdout();
        let input = if isatty(stdin) {
            rustix::io::fcntl_dupfd_cloexec(stdin, 3)?
        } else {
            // By its own name, since macOS cannot poll `/dev/tty`.
            let name = ttyname(stdout, Vec::new())?;
            File::open(OsStr::from_bytes(name.as_bytes()))?.into()
        };
        let output = rustix::io::fcntl_dupfd_cloexec(stdout, 3)?;
        Self::new(input, output)
    }

    /// A terminal by its ends.
    pub fn new(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        if !isatty(&input) || !isatty(&output) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this is no terminal"));
        }
        Ok(Self { lease: Arc::new(Lease { input, output, before: Mutex::new(None) }) })
    }

    /// What gives it back, for those who must do so in an emergency.
    pub fn lease(&self) -> Arc<Lease> {
        Arc::clone(&self.lease)
    }

    /// Where it is read.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.lease.input.as_fd()
    }

    /// Columns and rows; 80 by 24 if it does not know.
    pub fn size(&self) -> (u16, u16) {
        match tcgetwinsize(&self.lease.output) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
            Ok(_) | Err(_) => (80, 24),
        }
    }

    /// A cell's width and height in pixels, where the system knows.
    pub fn cell_size(&self) -> Option<(u16, u16)> {
        let size = tcgetwinsize(&self.lease.output).ok()?;
        let width = size.ws_xpixel.checked_div(size.ws_col)?;
        let height = size.ws_ypixel.checked_div(size.ws_row)?;
        (width > 0 && height > 0).then_some((width, height))
    }

    /// Takes it. Taking it again, in the same or another mode, is no harm.
    pub fn enter(&self, mode: Mode) -> io::Result<()> {
        let mut before = self.lease.before();
        if let Some((_, old)) = before.as_ref() {
            // What was pushed must be popped before it is pushed again.
            self.lease.write(old.left().as_bytes())?;
        }
        let found = match before.take() {
            Some((found, _)) => found,
            None => tcgetattr(&self.lease.input)?,
        };
        let mut raw = found.clone();
        raw.make_raw();
        *before = Some((found, mode));
        // What was typed before we were ready is kept.
        tcsetattr(&self.lease.input, OptionalActions::Now, &raw)?;
        self.lease.write(mode.entered().as_bytes())
    }

    /// Takes it again after we were stopped, whatever others did to it meanwhile.
    pub fn enter_again(&self) -> io::Result<()> {
        let mode = self.lease.before().as_ref().map(|(_, mode)| *mode);
        mode.map_or(Ok(()), |mode| self.enter(mode))
    }

    /// Takes or leaves the mouse.
    pub fn set_mouse(&self, mouse: MouseUse) -> io::Result<()> {
        let mut before = self.lease.before();
        let Some((_, mode)) = before.as_mut() else { return Ok(()) };
        mode.mouse = mouse;
        self.lease.write(if mode.has_mouse() { MOUSE_ON } else { MOUSE_OFF }.as_bytes())
    }

    /// Gives it back.
    pub fn leave(&self) -> io::Result<()> {
        self.lease.give_back()
    }

    /// Throws away what it sent and nobody read.
    pub fn drop_input(&self) {
        // One that is gone has sent nothing.
        tcflush(&self.lease.input, QueueSelector::IFlush).ok();
    }

    /// Writes all of it.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.lease.write(bytes)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // Nobody is left to be told that the terminal is gone.
        drop(self.lease.give_back());
    }
}

impl Lease {
    /// Gives the terminal back, if it is taken.
    pub fn give_back(&self) -> io::Result<()> {
        let Some((found, mode)) = self.before().take() else { return Ok(()) };
        let written = self.write(mode.left().as_bytes());
        // Even a terminal that cannot be written to may have its settings put back. What was typed and not read
        // yet is for whoever comes next.
        tcsetattr(&self.input, OptionalActions::Now, &found)?;
        written
    }

    fn before(&self) -> std::sync::MutexGuard<'_, Option<(Termios, Mode)>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.output, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(rustix::io::Errno::INTR) => {}
                // Another program may have made the terminal non-blocking for all who share it.
                Err(rustix::io::Errno::AGAIN) => {
                    poll(&mut [PollFd::new(&self.output, PollFlags::OUT)], None)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_switched_on_is_switched_off() {
        for screen in [Place::Full, Place::Inline] {
            let mode = Mode { screen, mouse: MouseUse::Ours, keyboard: Keyboard::Extended };
            let (on, off) = (mode.entered(), mode.left());
            for switch in on.split("\x1b[?").filter_map(|part| part.split_once('h')) {
                let number = switch.0;
                if number.bytes().all(|byte| byte.is_ascii_digit()) {
                    assert!(off.contains(&format!("\x1b[?{number}l")), "{number} stays on");
                }
            }
            assert!(
                off.contains("\x1b[?7h") && off.contains("\x1b[?25h") && off.contains("\x1b[<u")
            );
            assert_eq!(on.contains("1049"), screen == Place::Full);
        }
    }
}
