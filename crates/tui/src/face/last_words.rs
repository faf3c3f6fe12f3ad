//! A panic must leave a terminal that can be used, and say where to look.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use base::SessionId;

use crate::terminal::tty::Lease;

/// What is called at a panic.
type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// While it lives, a panic of the interface's thread gives the terminal back first and then says where log and
/// session are. Panics of other threads, which the interface outlives, go to the log: the terminal is ours.
pub(super) struct LastWords {
    session: Arc<Mutex<Option<SessionId>>>,
    before: Arc<Hook>,
}

impl LastWords {
    pub(super) fn prepare(lease: Arc<Lease>, log: PathBuf) -> Self {
        let session = Arc::new(Mutex::new(None));
        let before: Arc<Hook> = Arc::from(take_hook());
        let speaker = Speaker {
            lease,
            log,
            session: Arc::clone(&session),
            thread: std::thread::current().id(),
            before: Arc::clone(&before),
        };
        set_hook(Box::new(move |panic| speaker.speak(panic)));
        Self { session, before }
    }

    /// Names the session that is open.
    pub(super) fn set_session(&self, session: Option<SessionId>) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        // A hook cannot be changed while its thread panics; ours then only repeats itself.
        if !std::thread::panicking() {
            let before = Arc::clone(&self.before);
            set_hook(Box::new(move |panic| before(panic)));
        }
    }
}

struct Speaker {
    lease: Arc<Lease>,
    log: PathBuf,
    session: Arc<Mutex<Option<SessionId>>>,
    thread: ThreadId,
    before: Arc<Hook>,
}

impl Speaker {
    fn speak(&self, panic: &PanicHookInfo<'_>) {
        note(&self.log, panic);
        if std::thread::current().id() != self.thread {
            return;
        }
        // If the terminal is gone, so is whoever could read this.
        self.lease.give_back().ok();
        (self.before)(panic);
        let session = *self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut error = std::io::stderr().lock();
        writeln!(
            error,
            "\nCaiman has crashed; this is our fault. The log is {}.",
            self.log.display()
        )
        .ok();
        if let Some(session) = session {
            writeln!(error, "Nothing said is lost: caiman --session {session}").ok();
        }
    }
}

/// Writes a panic to the log; if that fails there is no better place.
fn note(log: &Path, panic: &PanicHookInfo<'_>) {
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(log) {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed");
        writeln!(file, "panic in thread {name}: {panic}").ok();
    }
}
