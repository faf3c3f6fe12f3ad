//! What a child does between fork and exec.
//!
//! Everything it needs is made before the fork; the steps themselves are system calls only, because
//! another thread may have held the allocator's lock when the process was copied.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::start::Failed;
#[cfg(target_os = "linux")]
use super::start::Supervision;
use super::{Command, SpawnError, Terminals};
use crate::cage::{Entry, Stage, Sweep};

/// The steps of one child, with all they need.
pub(super) struct Steps {
    folder: CString,
    terminal: Ctty,
    parent: libc::pid_t,
    entry: Option<Entry>,
}

/// Whether the child's input becomes its controlling terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ctty {
    Input,
    None,
}

/// Whose memory a child runs on before it becomes the program.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// Ours, while we wait.
    Borrowed,
    /// A copy: whoever makes a user namespace changes who may look into it.
    Copied,
}

/// Makes the steps for a command.
pub(super) fn prepare(command: &Command) -> Result<(Steps, Option<Sweep>), SpawnError> {
    let start = |source| SpawnError::Start { program: command.program.clone(), source };
    let folder =
        CString::new(command.folder.as_os_str().as_bytes()).map_err(|error| start(error.into()))?;
    let terminal = match command.stdio {
        Terminals::Output | Terminals::InputOutput | Terminals::Apart => Ctty::None,
        Terminals::Pty { .. } => Ctty::Input,
    };
    let (entry, sweep) = match &command.cage {
        Some(cage) => {
            let entered = cage.entry().map_err(|error| command.uncaged(error.to_string()))?;
            (Some(entered.0), Some(entered.1))
        }
        None => (None, None),
    };
    let parent = rustix::process::getpid().as_raw_nonzero().get();
    Ok((Steps { folder, terminal, parent, entry }, sweep))
}

impl Steps {
    /// The steps into a sandbox, with nothing else.
    #[cfg(target_os = "linux")]
    pub(super) fn into(entry: Entry) -> io::Result<Self> {
        let folder = CString::new("/")?;
        let parent = rustix::process::getpid().as_raw_nonzero().get();
        Ok(Self { folder, terminal: Ctty::None, parent, entry: Some(entry) })
    }

    /// Takes the steps. Runs in the child: system calls only.
    pub(super) fn run(&self) -> Result<(), Failed> {
        let failed = |(stage, error): (Stage, io::Error)| Failed { stage: Some(stage), error };
        new_session(self.terminal)?;
        default_signals();
        if let Some(entry) = &self.entry {
            entry.enter(&self.folder).map_err(failed)?;
        }
        match self.entry {
            // The supervisor may have another number here, and ends us in any case.
            Some(_) => die_with(None)?,
            None => die_with(Some(self.parent))?,
        }
        hide_descriptors();
        if let Some(entry) = &self.entry {
            entry.seal().map_err(failed)?;
        }
        Ok(())
    }

    /// Whose memory a supervisor can run on.
    #[cfg(target_os = "linux")]
    pub(super) fn memory(&self) -> Memory {
        match self.supervision() {
            Some(Supervision::UserNamespace) => Memory::Copied,
            Some(Supervision::Namespace | Supervision::Subreaper) | None => Memory::Borrowed,
        }
    }

    /// How the descendants are held together; not at all without a cage.
    #[cfg(target_os = "linux")]
    pub(super) fn supervision(&self) -> Option<Supervision> {
        self.entry.as_ref().map(Entry::supervision)
    }

    /// Says who we are in a user namespace of our own. Runs in the child: system calls only.
    #[cfg(target_os = "linux")]
    pub(super) fn become_user(&self) -> Result<(), Failed> {
        let failed = |(stage, error): (Stage, io::Error)| Failed { stage: Some(stage), error };
        self.entry.as_ref().map_or(Ok(()), |entry| entry.become_user().map_err(failed))
    }
}

/// Makes ours a process whose memory, environment and descriptors other processes of the same user
/// cannot look into, and that leaves no core file: it holds keys.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe call for it")]
pub fn harden() -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) })
}

/// Makes ours a process that others cannot look into; here the system sees to it.
#[cfg(not(target_os = "linux"))]
pub fn harden() -> io::Result<()> {
    Ok(())
}

fn new_session(terminal: Ctty) -> io::Result<()> {
    rustix::process::setsid()?;
    if terminal == Ctty::Input {
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
    }
    Ok(())
}

/// What we ignore, handle or hold back is not what the program asked for. The system is asked itself, because
/// the C library keeps two signals from its callers.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "system calls in the child; nothing else is allowed there")]
fn default_signals() {
    // Longer than the kernel's `struct sigaction`; all zeros stand for the default.
    let default = [0_u64; 8];
    for signal in 1..=64 {
        // SAFETY: the structure outlives the call, which writes nothing. Two signals cannot be set.
        unsafe {
            let nothing = std::ptr::null::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), nothing, 8_usize);
        }
    }
    // SAFETY: all zeros, the empty mask, outlive the call; the old one is not asked for.
    unsafe {
        let (how, nothing) = (libc::SIG_SETMASK, std::ptr::null::<u64>());
        libc::syscall(libc::SYS_rt_sigprocmask, how, default.as_ptr(), nothing, 8_usize);
    }
}

/// What we ignore or handle is not what the program asked for. The mask is emptied by the standard library.
#[cfg(not(target_os = "linux"))]
#[expect(unsafe_code, reason = "system calls in the child; nothing else is allowed there")]
fn default_signals() {
    for signal in 1..=31 {
        // SAFETY: plain numbers. Two signals cannot be set.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Asks to be killed when the thread that started us ends. Last of all but the filters: a change of
/// credentials takes the request back.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "system calls in the child; nothing else is allowed there")]
fn die_with(parent: Option<libc::pid_t>) -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    // SAFETY: no arguments. The parent may have ended before we asked.
    let is_there = parent.is_none_or(|parent| unsafe { libc::getppid() } == parent);
    if is_there { Ok(()) } else { Err(errno(libc::ESRCH)) }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
fn die_with(_parent: Option<libc::pid_t>) -> io::Result<()> {
    Ok(())
}

/// Descriptors that came to us open from whoever started us are not the child's business.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "system calls in the child; nothing else is allowed there")]
fn hide_descriptors() {
    // SAFETY: plain numbers. Kernels before 5.11 do not know the flag; ours are marked anyway.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
}

#[cfg(not(target_os = "linux"))]
fn hide_descriptors() {}

#[cfg(target_os = "linux")]
fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(target_os = "linux")]
fn errno(code: libc::c_int) -> io::Error {
    io::Error::from_raw_os_error(code)
}
