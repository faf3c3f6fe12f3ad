//! Children on Linux, started without a copy of our memory.
//!
//! Copying it took 0.5 ms (median of 61, under `perf trace`), and the copy has to be taken down again. So the child
//! borrows it, as a `vfork` does: it runs on a stack of its own while the thread that started it waits,
//! changes nothing but its stack and the [`Board`], and gives the memory back by becoming the program. Its
//! descriptors, its folder and its rights are its own from the beginning.
//!
//! Sandboxed children are started by a supervisor in between: see [`supervised`](super::supervised).

use std::convert::Infallible;
use std::ffi::{CString, OsString, c_char, c_void};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};

use rustix::process::{Pid, WaitOptions, waitpid};

use super::{Failed, Running, Start, supervised};
use crate::cage::Stage;
use crate::process::keeper;
use crate::process::launch::{Memory, Steps};

/// A child's stack. Its steps need some 2 KB.
const STACK_BYTES: usize = 64 * 1024;
/// Two stacks: a supervisor and its program need one each.
const DESK_BYTES: usize = 2 * STACK_BYTES;
/// What runs a file that is no program and names none.
const SHELL: &std::ffi::CStr = c"/bin/sh";

/// Where a child that fails says why; ours and the child's, whether or not the memory is copied.
#[derive(Debug)]
pub(super) struct Board {
    error: AtomicI32,
    stage: AtomicU8,
    /// The number of a program that a supervisor has started, as we know it; 0 if it does not know.
    pub(super) pid: AtomicI32,
}

/// Memory for one start: the board at its beginning, two stacks, each from its end.
#[derive(Debug)]
pub(super) struct Desk(*mut c_void);

#[expect(unsafe_code, reason = "the compiler cannot know where the pointer leads")]
// SAFETY: the memory belongs to whoever has the desk, and is reached by nothing but system calls and atomics.
unsafe impl Send for Desk {}
#[expect(unsafe_code, reason = "the compiler cannot know where the pointer leads")]
// SAFETY: as above; nothing is written through a shared desk.
unsafe impl Sync for Desk {}

/// What a child takes along.
struct Errand {
    start: Ready,
    board: *const Board,
}

/// A start in the system's own types.
pub(super) struct Ready {
    file: CString,
    args: Strings,
    /// The arguments of the shell, should the file be a script that does not say whose.
    script: Strings,
    env: Strings,
    folder: CString,
    theirs: [std::os::fd::OwnedFd; 3],
    steps: Steps,
}

/// Strings as the system takes them: pointers, the last one null.
struct Strings {
    pointers: Vec<*const c_char>,
    _owned: Vec<CString>,
}

#[expect(unsafe_code, reason = "the compiler cannot know where the pointers lead")]
// SAFETY: the pointers lead to strings that move along, and nobody changes either.
unsafe impl Send for Strings {}

/// Keeps signals from the keeper's thread: a handler of ours must not run in a child on borrowed memory.
#[expect(unsafe_code, reason = "the C library keeps two signals from its callers")]
pub(in crate::process) fn prepare_thread() {
    let all = u64::MAX;
    // SAFETY: a mask of the kernel's size that outlives the call; the old one is not asked for.
    unsafe {
        let nothing = ptr::null::<u64>();
        let (how, mask) = (libc::SIG_SETMASK, &raw const all);
        libc::syscall(libc::SYS_rt_sigprocmask, how, mask, nothing, size_of::<u64>());
    }
}

/// Starts a child.
pub(in crate::process) fn start(start: Start) -> Result<Running, Failed> {
    if let Some(kind) = start.steps.supervision() {
        return Ok(Running::supervised(supervised::start(start, kind)?)?);
    }
    let ready = Ready::new(start)?;
    let pid = keeper::ask(move || launch(ready))??;
    Ok(Running::new(pid)?)
}

impl Ready {
    pub(super) fn new(start: Start) -> io::Result<Self> {
        let Start { file, args, env, folder, theirs, steps } = start;
        let file = CString::new(file.into_os_string().into_vec())?;
        let script = [SHELL.to_owned(), file.clone()].into_iter().map(Ok);
        let script = script.chain(args.iter().skip(1).cloned().map(string));
        Ok(Self {
            script: Strings::new(script.collect::<io::Result<_>>()?),
            args: Strings::new(args.into_iter().map(string).collect::<io::Result<_>>()?),
            env: Strings::new(env.into_iter().map(variable).collect::<io::Result<_>>()?),
            folder: CString::new(folder.as_os_str().as_bytes())?,
            file,
            theirs,
            steps,
        })
    }

    /// Whose memory a supervisor can run on.
    pub(super) fn memory(&self) -> Memory {
        self.steps.memory()
    }

    /// Says who we are in a user namespace that is ours. Runs in the child: system calls only.
    pub(super) fn become_user(&self) -> Result<(), Failed> {
        self.steps.become_user()
    }

    /// Takes the steps and becomes the program. Runs in the child: system calls only.
    #[expect(unsafe_code, reason = "system calls in the child; nothing else is allowed there")]
    fn become_program(&self) -> Result<Infallible, Failed> {
        for (theirs, number) in self.theirs.iter().zip(0..) {
            // SAFETY: a descriptor of ours and a number. Ours lie above these three.
            check(unsafe { libc::dup2(theirs.as_raw_fd(), number) })?;
        }
        // SAFETY: the path outlives the call.
        check(unsafe { libc::chdir(self.folder.as_ptr()) })?;
        self.steps.run()?;
        // SAFETY: the strings outlive the calls, and each list ends with a null pointer. The calls return
        // only when they have failed.
        unsafe {
            libc::execve(self.file.as_ptr(), self.args.as_ptr(), self.env.as_ptr());
            if io::Error::last_os_error().raw_os_error() == Some(libc::ENOEXEC) {
                libc::execve(SHELL.as_ptr(), self.script.as_ptr(), self.env.as_ptr());
            }
        }
        Err(io::Error::last_os_error().into())
    }
}

/// Starts the child and waits until it is the program or has failed.
#[expect(unsafe_code, reason = "the standard library copies memory as soon as there are steps")]
fn launch(ready: Ready) -> Result<Pid, Failed> {
    let desk = Desk::new()?;
    let errand = Errand { start: ready, board: desk.board() };
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is the child's alone, and it, the errand and the board outlive the child's use
    // of them: this thread goes on only when the child has left our memory.
    let pid = check(unsafe {
        libc::clone(run, desk.stack(), flags, (&raw const errand).cast_mut().cast())
    })?;
    let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("it has no process id"))?;
    // SAFETY: the board is part of the desk.
    match unsafe { &*desk.board() }.read() {
        None => Ok(pid),
        Some(failed) => {
            // It has ended, or is about to.
            waitpid(Some(pid), WaitOptions::empty()).ok();
            Err(failed)
        }
    }
}

/// The child.
#[expect(unsafe_code, reason = "system calls in the child; nothing else is allowed there")]
extern "C" fn run(errand: *mut c_void) -> libc::c_int {
    // SAFETY: it is the errand that `launch` holds, and nobody changes it.
    let errand = unsafe { &*errand.cast::<Errand>() };
    // SAFETY: the board outlives us.
    run_program(&errand.start, unsafe { &*errand.board })
}

/// Becomes the program, or says on the board why not. Runs in the child: system calls only.
#[expect(unsafe_code, reason = "system calls in the child; nothing else is allowed there")]
pub(super) fn run_program(start: &Ready, board: &Board) -> libc::c_int {
    let Err(failed) = start.become_program();
    board.write(&failed);
    // SAFETY: a number. Nothing of ours may be cleaned up here: it is the parent's.
    unsafe { libc::_exit(127) }
}

impl Board {
    pub(super) fn write(&self, failed: &Failed) {
        self.stage.store(failed.stage.map_or(0, Stage::byte), Ordering::Relaxed);
        let code = failed.error.raw_os_error().unwrap_or(libc::EIO);
        self.error.store(code, Ordering::Release);
    }

    pub(super) fn read(&self) -> Option<Failed> {
        let code = self.error.load(Ordering::Acquire);
        let stage = Stage::from_byte(self.stage.load(Ordering::Relaxed));
        (code != 0).then(|| Failed { stage, error: io::Error::from_raw_os_error(code) })
    }
}

#[expect(unsafe_code, reason = "memory that two processes share, from the system")]
impl Desk {
    pub(super) fn new() -> io::Result<Self> {
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, at a place of the system's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), DESK_BYTES, access, kind, -1, 0) };
        if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self(start)) }
    }

    /// All zeros, which is a board with nothing on it.
    pub(super) fn board(&self) -> *const Board {
        self.0.cast()
    }

    pub(super) fn stack(&self) -> *mut c_void {
        // SAFETY: the end of the memory.
        unsafe { self.0.byte_add(DESK_BYTES) }
    }

    pub(super) fn second_stack(&self) -> *mut c_void {
        // SAFETY: the middle of the memory.
        unsafe { self.0.byte_add(STACK_BYTES) }
    }
}

#[expect(unsafe_code, reason = "memory that two processes share, from the system")]
impl Drop for Desk {
    fn drop(&mut self) {
        // SAFETY: ours, of this size, and used by nobody any more.
        unsafe { libc::munmap(self.0, DESK_BYTES) };
    }
}

impl Strings {
    fn new(owned: Vec<CString>) -> Self {
        let pointers = owned.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
        Self { pointers, _owned: owned }
    }

    fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

fn string(text: OsString) -> io::Result<CString> {
    Ok(CString::new(text.into_vec())?)
}

fn variable((mut name, value): (OsString, OsString)) -> io::Result<CString> {
    name.push("=");
    name.push(value);
    string(name)
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
