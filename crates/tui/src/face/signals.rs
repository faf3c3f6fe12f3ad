//! Signals of the system.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

/// A signal of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The terminal has another size.
    Resized,
    /// We were stopped, and go on.
    Continued,
    /// We shall end.
    Ended,
}

/// The signals we listen to.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Signals {
    resized: tokio::signal::unix::Signal,
    continued: tokio::signal::unix::Signal,
    terminated: tokio::signal::unix::Signal,
    hung_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen, in the context of a runtime.
    pub(super) fn listen() -> io::Result<Self> {
        let go_on = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            continued: signal(go_on)?,
            terminated: signal(SignalKind::terminate())?,
            hung_up: signal(SignalKind::hangup())?,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.resized.recv() => Signal::Resized,
            _ = self.continued.recv() => Signal::Continued,
            _ = self.terminated.recv() => Signal::Ended,
            _ = self.hung_up.recv() => Signal::Ended,
        }
    }
}

/// There are no signals here.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn next(&mut self) -> Signal {
        std::future::pending().await
    }
}
