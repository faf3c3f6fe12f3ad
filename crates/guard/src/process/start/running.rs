//! A child of ours that runs, and the wait for its end.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread;

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{self, SignalKind};

/// A child that has been started. Dropped before it has ended, it is taken off the system's books when it
/// does.
#[derive(Debug)]
pub(in crate::process) struct Running {
    pid: Pid,
    news: News,
    status: Option<ExitStatus>,
}

/// How we learn that it may have ended.
#[derive(Debug)]
enum News {
    /// By a descriptor of the child.
    Descriptor(AsyncFd<OwnedFd>),
    /// By the signal for any child's end, on kernels before 5.3.
    Signal(unix::Signal),
}

impl News {
    fn of(pid: Pid) -> io::Result<Self> {
        match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(descriptor) => watch(descriptor).map(Self::Descriptor),
            Err(_) => unix::signal(SignalKind::child()).map(Self::Signal),
        }
    }

    async fn come(&mut self) -> io::Result<()> {
        match self {
            Self::Descriptor(descriptor) => descriptor.readable().await?.clear_ready(),
            Self::Signal(signal) => drop(signal.recv().await),
        }
        Ok(())
    }
}

#[expect(unsafe_code, reason = "tokio cannot know that the descriptor stays what it is")]
fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is ours, is never replaced, and is closed only when dropped.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?)
}

impl Running {
    /// A child of ours that nobody else waits for.
    pub(super) fn new(pid: Pid) -> io::Result<Self> {
        let news = News::of(pid).inspect_err(|_| {
            // Nobody would ever learn of its end.
            kill_process(pid, Signal::KILL).ok();
            reap(pid);
        })?;
        Ok(Self { pid, news, status: None })
    }

    /// Its number, unless that may be somebody else's by now.
    pub(in crate::process) fn id(&self) -> Option<u32> {
        self.status.is_none().then(|| self.pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// Waits until it has ended. Can be dropped and called again.
    pub(in crate::process) async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.look()? {
                return Ok(status);
            }
            self.news.come().await?;
        }
    }

    fn look(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            let ended = waitpid(Some(self.pid), WaitOptions::NOHANG)?;
            self.status = ended.map(|(_, status)| ExitStatus::from_raw(status.as_raw()));
        }
        Ok(self.status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.look() {
            reap(self.pid);
        }
    }
}

/// Waits for the end of a child that nobody waits for any more. In a thread of its own: it has been killed,
/// but a disk that does not answer can hold it.
fn reap(pid: Pid) {
    let wait = move || waitpid(Some(pid), WaitOptions::empty());
    let thread = thread::Builder::new().name("reaper".to_owned()).stack_size(64 * 1024);
    // Without a thread it stays on the books until we end.
    drop(thread.spawn(wait));
}
