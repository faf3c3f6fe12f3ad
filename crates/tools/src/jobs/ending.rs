//! How a process ended.

use std::fmt;
use std::process::ExitStatus;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// What it left for its parent.
    pub exit: Exit,
    /// Who wanted it.
    pub cause: Cause,
    /// Whether it left others behind.
    pub rest: Rest,
}

/// What a process leaves for its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself, with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// The system did not tell.
    Unknown,
}

/// Who wanted a process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Nobody but itself.
    Itself,
    /// Somebody asked for it.
    Asked,
    /// It took too long.
    TimedOut,
}

/// Whether processes of its group live on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// None does.
    Gone,
    /// At least one does.
    LivesOn,
}

impl Exit {
    /// What the system says of a child.
    pub fn of(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        status.code().map_or(Self::Unknown, Self::Code)
    }

    /// Whether all went well.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Code(code) => {
                write!(f, "exit code {code}")?;
                // A shell tells so that a signal ended its command.
                match code.checked_sub(128).and_then(signal_name) {
                    Some(name) => write!(f, " ({name})"),
                    None => Ok(()),
                }
            }
            Self::Signal(signal) => match signal_name(signal) {
                Some(name) => write!(f, "ended by {name}"),
                None => write!(f, "ended by signal {signal}"),
            },
            Self::Unknown => f.write_str("ended, nobody knows how"),
        }
    }
}

/// The names of signals that have the same number everywhere, and of those Linux has besides.
fn signal_name(signal: i32) -> Option<&'static str> {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        7 if cfg!(target_os = "linux") => "SIGBUS",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 if cfg!(target_os = "linux") => "SIGSYS",
        _ => return None,
    };
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_says_what_a_model_can_act_on() {
        assert_eq!(Exit::Code(1).to_string(), "exit code 1");
        assert_eq!(Exit::Code(137).to_string(), "exit code 137 (SIGKILL)");
        assert_eq!(Exit::Signal(11).to_string(), "ended by SIGSEGV");
        assert_eq!(Exit::Signal(40).to_string(), "ended by signal 40");
    }
}
