//! Reading a secret from the terminal without showing it.

use base::Secret;

use crate::failure::{Failure, Kind};
use crate::render;

/// Asks for a secret; what is typed is not shown.
#[cfg(unix)]
pub(super) fn read(question: &str) -> Result<Secret, Failure> {
    let quiet = unix::Quiet::start().map_err(|error| {
        Failure::user(format!("cannot hide what you type: {error}"))
            .hint("pipe the key instead: caiman login PROVIDER < key.txt")
    })?;
    render::prompt(question);
    let typed = unix::line();
    drop(quiet);
    render::note("");
    match typed {
        Ok(Some(text)) => Ok(Secret::new(text)),
        Ok(None) => Err(Failure::new(Kind::Cancelled, "cancelled; nothing was stored")),
        Err(error) => Err(Failure::user(format!("cannot read the key: {error}"))),
    }
}

/// There is no quiet reading here yet, and a key must not be shown.
#[cfg(not(unix))]
pub(super) fn read(_question: &str) -> Result<Secret, Failure> {
    Err(Failure::user("the key cannot be typed here without being shown")
        .hint("pipe it: type key.txt | caiman login PROVIDER"))
}

#[cfg(unix)]
mod unix {
    //! The terminal without echo, and with its control keys left to us: a plain Ctrl-C would kill us
    //! before the terminal is put back.

    use std::io::{self, Read};

    use rustix::stdio::stdin;
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    /// The terminal is put back when this is dropped.
    pub(super) struct Quiet {
        before: Termios,
    }

    impl Quiet {
        pub(super) fn start() -> io::Result<Self> {
            let before = tcgetattr(stdin())?;
            let mut now = before.clone();
            now.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
            tcsetattr(stdin(), OptionalActions::Flush, &now)?;
            Ok(Self { before })
        }
    }

    impl Drop for Quiet {
        fn drop(&mut self) {
            // There is nothing left to do for a terminal that has gone.
            tcsetattr(stdin(), OptionalActions::Now, &self.before).ok();
        }
    }

    /// One line, edited as terminals do; none if the user gave up.
    pub(super) fn line() -> io::Result<Option<String>> {
        let mut typed = Vec::new();
        for byte in io::stdin().lock().bytes() {
            match byte? {
                // Ctrl-C; Ctrl-D on an empty line.
                3 => return Ok(None),
                4 if typed.is_empty() => return Ok(None),
                b'\n' | b'\r' | 4 => break,
                // Backspace; Ctrl-U.
                8 | 127 => drop(typed.pop()),
                21 => typed.clear(),
                other => typed.push(other),
            }
        }
        String::from_utf8(typed).map(Some).map_err(io::Error::other)
    }
}
