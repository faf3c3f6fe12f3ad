//! A child of ours that runs, and the wait for its end.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{self, SignalKind};

use super::supervised::{Report, Supervisor};

/// A child that has been started. Dropped before it has ended, it is taken off the system's books when it
/// does.
#[derive(Debug)]
pub(in crate::process) struct Running {
    /// Our own child: the program, or its supervisor.
    pid: Pid,
    /// The number of the program.
    program: Pid,
    news: News,
    status: Option<ExitStatus>,
    /// What our own child left, once it is off the books and its number may be another's.
    reaped: Option<ExitStatus>,
    supervisor: Option<Supervised>,
}

/// A program below a supervisor.
#[derive(Debug)]
struct Supervised {
    supervisor: Supervisor,
    /// The other end of what the supervisor says, as a stream of news.
    report: AsyncFd<OwnedFd>,
    is_empty: bool,
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
            reap(pid, None);
        })?;
        Ok(Self { pid, program: pid, news, status: None, reaped: None, supervisor: None })
    }

    /// A program that a supervisor has started for us.
    pub(super) fn supervised(supervisor: Supervisor) -> io::Result<Self> {
        let report = rustix::io::ioctl_fionbio(&supervisor.report, true)
            .map_err(io::Error::from)
            .and_then(|()| watch(supervisor.report.try_clone()?));
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                supervisor.end();
                reap(supervisor.pid, Some(supervisor));
                return Err(error);
            }
        };
        let (pid, program) = (supervisor.pid, supervisor.program);
        let supervised = Supervised { supervisor, report, is_empty: false };
        let mut running = Self::new(pid)?;
        running.program = program;
        running.supervisor = Some(supervised);
        Ok(running)
    }

    /// The number of the program, unless that may be somebody else's by now.
    pub(in crate::process) fn id(&self) -> Option<u32> {
        self.status.is_none().then(|| self.program.as_raw_nonzero().get().unsigned_abs())
    }

    /// Waits until the program has ended. Can be dropped and called again.
    pub(in crate::process) async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.look()? {
                return Ok(status);
            }
            match &self.supervisor {
                Some(supervised) => supervised.report.readable().await?.clear_ready(),
                None => self.news.come().await?,
            }
        }
    }

    /// Waits until nothing is left of a sandboxed program and its descendants. For any other program nobody
    /// can tell, so this never returns.
    pub(in crate::process) async fn all_ended(&mut self) -> io::Result<()> {
        if self.supervisor.is_none() {
            return std::future::pending().await;
        }
        while !self.reap_now()? {
            self.news.come().await?;
        }
        Ok(())
    }

    /// Whether nothing is left of the program and its descendants; `None` where only its process group can tell.
    pub(in crate::process) fn is_empty(&mut self) -> Option<bool> {
        let is_reaped = self.reap_now().unwrap_or(false);
        self.supervisor.as_ref().map(|it| it.is_empty || is_reaped)
    }

    /// Ends a sandboxed program with all its descendants. False where there is no supervisor to do that.
    pub(in crate::process) fn end_all(&self) -> bool {
        match &self.supervisor {
            Some(supervised) if self.reaped.is_none() => {
                supervised.supervisor.end();
                true
            }
            Some(_) => true,
            None => false,
        }
    }

    /// Whether a supervisor is between us and the program.
    pub(in crate::process) fn is_supervised(&self) -> bool {
        self.supervisor.is_some()
    }

    /// Waits until nothing is left of a program that was just killed, at most `limit`. Blocks.
    pub(in crate::process) fn settle(&mut self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while self.supervisor.is_some()
            && matches!(self.reap_now(), Ok(false))
            && Instant::now() < deadline
        {
            thread::sleep(Duration::from_micros(200));
        }
    }

    fn look(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_some() {
            return Ok(self.status);
        }
        let Some(supervised) = &mut self.supervisor else {
            self.reap_now()?;
            return Ok(self.status);
        };
        let mut bytes = [0; Report::BYTES];
        match rustix::io::read(supervised.report.get_ref(), &mut bytes) {
            Ok(Report::BYTES) => {
                let report = Report::parse(bytes);
                supervised.is_empty = report.is_empty;
                self.status = Some(ExitStatus::from_raw(report.status));
            }
            // The supervisor was killed before it could say anything; the program went with it.
            Ok(_) => {
                self.reap(WaitOptions::empty())?;
                self.status = self.reaped;
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.status)
    }

    /// Takes our own child off the books if it has ended; says whether it is off them.
    fn reap_now(&mut self) -> io::Result<bool> {
        self.reap(WaitOptions::NOHANG)?;
        if self.supervisor.is_none() {
            self.status = self.reaped;
        }
        Ok(self.reaped.is_some())
    }

    fn reap(&mut self, options: WaitOptions) -> io::Result<()> {
        if self.reaped.is_none() {
            let ended = waitpid(Some(self.pid), options)?;
            self.reaped = ended.map(|(_, status)| ExitStatus::from_raw(status.as_raw()));
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(false) = self.reap_now() {
            let supervised = self.supervisor.take();
            let is_ending = supervised.as_ref().is_some_and(|it| it.is_empty);
            let supervisor = supervised.map(|it| it.supervisor);
            if is_ending {
                reap_soon(self.pid, supervisor);
            } else {
                reap(self.pid, supervisor);
            }
        }
    }
}

/// Waits for the end of a child that nobody waits for any more. In a thread of its own: it has been killed,
/// but a disk that does not answer can hold it. A supervisor's stack is kept until then.
fn reap(pid: Pid, supervisor: Option<Supervisor>) {
    let wait = move || {
        waitpid(Some(pid), WaitOptions::empty()).ok();
        drop(supervisor);
    };
    let thread = thread::Builder::new().name("reaper".to_owned()).stack_size(64 * 1024);
    // Without a thread it stays on the books until we end.
    drop(thread.spawn(wait));
}

/// A child that is about to end, with the stack it may still use.
type Ending = (Pid, Option<Supervisor>);

/// The same for a supervisor that is about to end by itself: one thread serves all of them, because every sandboxed
/// command has one and a thread for each would cost as much as the wait.
fn reap_soon(pid: Pid, supervisor: Option<Supervisor>) {
    static REAPER: OnceLock<Option<mpsc::Sender<Ending>>> = OnceLock::new();
    let start = || {
        let (sender, ending) = mpsc::channel::<Ending>();
        let work = move || {
            for (pid, supervisor) in ending {
                waitpid(Some(pid), WaitOptions::empty()).ok();
                drop(supervisor);
            }
        };
        let thread = thread::Builder::new().name("reaper".to_owned()).stack_size(64 * 1024);
        thread.spawn(work).ok().map(|_| sender)
    };
    let left = match REAPER.get_or_init(start) {
        Some(reaper) => reaper.send((pid, supervisor)).err().map(|error| error.0),
        None => Some((pid, supervisor)),
    };
    if let Some((pid, supervisor)) = left {
        reap(pid, supervisor);
    }
}
