//! Children in a sandbox, each below a supervisor that stays until the last descendant has ended.
//!
//! ```text
//! we ── supervisor (process 1 of a process namespace, or a subreaper)
//!         └── program ── its children, wherever they fork or `setsid` to
//! ```
//!
//! The supervisor starts the program, tells us how it ended and whether anything is left, and ends with the last
//! process. In a process namespace the kernel kills everything with it, and kills it with us. Without namespaces
//! it is the parent of every orphan below, and kills its children one by one when it is told to, or when we die.
//!
//! It runs on our memory where it can ([`Memory::Borrowed`]): a copy costs 0.5 ms and grows while the command runs.
//! It has a stack of its own, all its signals are blocked, and once we run beside it, it makes nothing but
//! the raw system calls of [`raw`]: the C library's would write to the memory of the thread that started it.

#![expect(unsafe_code, reason = "processes on borrowed memory; nothing else is allowed there")]

use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::borrowed::{Board, Desk, Ready, run_program};
use super::raw::{self, Reaped};
use super::{Failed, Start};
use crate::process::keeper;
use crate::process::launch::Memory;

/// What a supervisor ends with where its program did not start.
const NOT_STARTED: i32 = 127;
/// Signals it waits for.
const WANTED: u64 = bit(libc::SIGCHLD) | bit(libc::SIGTERM);
/// How often it looks for orphans that have just become its children, while it ends them.
const LOOK_AGAIN_MS: u32 = 2;
/// Its children by number, as the kernel lists them.
const CHILDREN: &std::ffi::CStr = c"/proc/thread-self/children";

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// How a program and its descendants are held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supervision {
    /// A process namespace, made with our own privileges.
    Namespace,
    /// A process namespace in a user namespace.
    UserNamespace,
    /// The supervisor adopts orphans; nothing but its own care ends them.
    Subreaper,
}

impl Supervision {
    /// What the supervisor is started with.
    fn flags(self) -> libc::c_int {
        match self {
            Self::Namespace => libc::CLONE_NEWPID,
            Self::UserNamespace => libc::CLONE_NEWUSER | libc::CLONE_NEWPID,
            Self::Subreaper => 0,
        }
    }

    /// The signal by which the supervisor ends, with all below it.
    fn end_signal(self) -> Signal {
        match self {
            Self::Namespace | Self::UserNamespace => Signal::KILL,
            Self::Subreaper => Signal::TERM,
        }
    }
}

/// What the supervisor says when its program has ended, by the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Report {
    /// As `wait` gives it.
    pub(super) status: i32,
    /// Whether the program left nothing behind.
    pub(super) is_empty: bool,
}

impl Report {
    pub(super) const BYTES: usize = 5;

    fn bytes(self) -> [u8; Self::BYTES] {
        let [a, b, c, d] = self.status.to_le_bytes();
        [a, b, c, d, u8::from(self.is_empty)]
    }

    pub(super) fn parse(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, is_empty] = bytes;
        Self { status: i32::from_le_bytes([a, b, c, d]), is_empty: is_empty != 0 }
    }
}

/// A supervisor that has started its program.
#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) pid: Pid,
    /// The program, by the number it has for us.
    pub(super) program: Pid,
    pub(super) report: OwnedFd,
    kind: Supervision,
    /// Its stack: must stay until it has ended.
    _desk: Desk,
}

impl Supervisor {
    /// Ends the program and everything below it. To be called only until the supervisor is off the books.
    pub(super) fn end(&self) {
        // One that has ended already needs no signal.
        kill_process(self.pid, self.kind.end_signal()).ok();
    }

    /// The same, and takes it off the books.
    pub(super) fn end_and_wait(self) {
        self.end();
        waitpid(Some(self.pid), WaitOptions::empty()).ok();
    }
}

/// What a supervisor takes along.
struct Errand {
    start: Ready,
    kind: Supervision,
    board: *const Board,
    stack: *mut c_void,
    report: i32,
    parent: libc::pid_t,
}

/// Starts a supervisor and, by it, the program.
pub(super) fn start(start: Start, kind: Supervision) -> Result<Supervisor, Failed> {
    let ready = Ready::new(start)?;
    keeper::ask(move || launch(ready, kind))?
}

/// Starts both and waits until the program runs or has failed. Runs on the keeper's thread.
fn launch(ready: Ready, kind: Supervision) -> Result<Supervisor, Failed> {
    let desk = Desk::new()?;
    let memory = match ready.memory() {
        Memory::Borrowed => libc::CLONE_VM,
        Memory::Copied => 0,
    };
    let (reader, writer) = io::pipe()?;
    let errand = Errand {
        start: ready,
        kind,
        board: desk.board(),
        stack: desk.second_stack(),
        report: writer.as_raw_fd(),
        parent: rustix::process::getpid().as_raw_nonzero().get(),
    };
    let flags = memory | kind.flags() | libc::SIGCHLD;
    // SAFETY: the stack is the supervisor's alone and stays until it is off the books. It uses the errand
    // only until it has reported that the program runs, and this thread waits for that.
    let pid = unsafe {
        libc::clone(supervise, desk.stack(), flags, (&raw const errand).cast_mut().cast())
    };
    if pid == -1 {
        return Err(Failed::of_namespace(io::Error::last_os_error()));
    }
    let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("it has no process id"))?;
    drop(writer);
    let mut reader = File::from(OwnedFd::from(reader));
    let started = reader.read_exact(&mut [0]);
    // SAFETY: the board is part of the desk.
    let board = unsafe { &*desk.board() };
    match (started, board.read()) {
        (Ok(()), None) => {
            let program = Pid::from_raw(board.pid.load(Ordering::Acquire)).unwrap_or(pid);
            Ok(Supervisor { pid, program, report: reader.into(), kind, _desk: desk })
        }
        (_, failed) => {
            kill_process(pid, Signal::KILL).ok();
            waitpid(Some(pid), WaitOptions::empty()).ok();
            let killed = || io::Error::other("the process that was to start it was killed").into();
            Err(failed.unwrap_or_else(killed))
        }
    }
}

/// The supervisor.
extern "C" fn supervise(errand: *mut c_void) -> libc::c_int {
    // SAFETY: it is the errand that `launch` holds until the program runs, and nobody changes it.
    let errand = unsafe { &*errand.cast::<Errand>() };
    // SAFETY: the board outlives us.
    let board = unsafe { &*errand.board };
    match errand.begin(board) {
        Ok(program) => serve(program),
        Err(failed) => {
            board.write(&failed);
            raw::exit(NOT_STARTED.cast_unsigned() as usize)
        }
    }
}

impl Errand {
    /// Starts the program and lets go of all that is not ours. The thread that started us waits until the end of
    /// this, so the C library may be used.
    fn begin(&self, board: &Board) -> Result<libc::pid_t, Failed> {
        self.die_with_parent()?;
        if self.kind == Supervision::UserNamespace {
            self.start.become_user()?;
        }
        // SAFETY: the stack is the program's alone until it has become the program, and we wait for that.
        let program = unsafe {
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            libc::clone(run_supervised, self.stack, flags, (&raw const *self).cast_mut().cast())
        };
        if program == -1 {
            return Err(io::Error::last_os_error().into());
        }
        if let Some(failed) = board.read() {
            return Err(failed);
        }
        // SAFETY: plain numbers and a constant path. What was open for us was open for others: the ends of
        // pipes must close when the program closes them.
        unsafe {
            libc::dup2(self.report, 0);
            libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0);
            libc::chdir(c"/".as_ptr());
            libc::prctl(libc::PR_SET_NAME, c"caiman-sandbox".as_ptr(), 0, 0, 0);
        }
        // From here on, the thread that started us runs again.
        if raw::write(0, &[1]) == 1 { Ok(program) } else { raw::exit(0) }
    }

    /// Asks for a signal when the thread that started us ends.
    fn die_with_parent(&self) -> io::Result<()> {
        let signal = self.kind.end_signal().as_raw();
        // SAFETY: plain numbers.
        unsafe {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, signal))?;
            if self.kind == Supervision::Subreaper {
                check(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))?;
                // In a namespace the parent has no number, but the pipe is broken if it is gone.
                if libc::getppid() != self.parent {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
            }
        }
        Ok(())
    }
}

/// The program, before it is one.
extern "C" fn run_supervised(errand: *mut c_void) -> libc::c_int {
    // SAFETY: it is the errand of the supervisor, which waits for us.
    let errand = unsafe { &*errand.cast::<Errand>() };
    // SAFETY: the board outlives us.
    let board = unsafe { &*errand.board };
    own_number(&board.pid);
    run_program(&errand.start, board)
}

/// Notes our number as those outside know it: `/proc` is still theirs, and says how they call us.
fn own_number(number: &AtomicI32) {
    let mut text = [0_u8; 16];
    // SAFETY: path and text outlive the call.
    let count =
        unsafe { libc::readlink(c"/proc/self".as_ptr(), text.as_mut_ptr().cast(), text.len()) };
    let digits = text.iter().take(usize::try_from(count).unwrap_or(0));
    let value = digits.fold(0_i32, |value, digit| {
        value.wrapping_mul(10).wrapping_add(i32::from(digit.wrapping_sub(b'0')))
    });
    number.store(value, Ordering::Release);
}

/// Reaps until nothing is left below. Raw system calls only: we run beside the process whose memory this is.
fn serve(program: libc::pid_t) -> ! {
    let mut is_ending = false;
    let mut ended = None;
    let mut is_told = false;
    loop {
        let is_empty = loop {
            match raw::reap() {
                Reaped::Child(child, status) if child == program => ended = Some(status),
                Reaped::Child(..) => {}
                Reaped::Running => break false,
                Reaped::Empty => break true,
            }
        };
        if let Some(status) = ended
            && !is_told
        {
            // Without a reader, nobody wants to know.
            raw::write(0, &Report { status, is_empty }.bytes());
            is_told = true;
        }
        if is_empty {
            raw::exit(0);
        }
        if is_ending {
            kill_children();
        }
        let signal = raw::wait_for_signal(WANTED, is_ending.then_some(LOOK_AGAIN_MS));
        is_ending |= signal == libc::SIGTERM as isize;
    }
}

/// Kills all direct children. Their own become ours then, and are next.
fn kill_children() {
    let mut text = [0_u8; 4096];
    let count = usize::try_from(raw::read_file(CHILDREN, &mut text)).unwrap_or(0);
    let mut number = 0_usize;
    // A number that is cut off at the end has no space after it, and waits for the next look.
    for byte in text.iter().take(count) {
        if byte.is_ascii_digit() {
            number = number.wrapping_mul(10).wrapping_add(usize::from(byte.wrapping_sub(b'0')));
        } else {
            if number > 1 {
                raw::kill(number);
            }
            number = 0;
        }
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
