//! The thread that reads the terminal. It sleeps until there is something to read; only an Escape that may be
//! a key or a beginning makes it wait by the clock.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::key::Input;
use crate::terminal::parse::Parser;
use crate::terminal::tty::Tty;

/// How long an Escape waits for what may follow it.
const ESCAPE: Timespec = Timespec { tv_sec: 0, tv_nsec: 25_000_000 };

/// What the reader has for its listener.
#[derive(Debug)]
pub enum Heard {
    /// The terminal sent something.
    Input(Input),
    /// The terminal is gone.
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Pausing,
    Paused,
    Ending,
    Ended,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Reads the terminal until it is dropped.
#[derive(Debug)]
pub struct Reader {
    shared: Arc<Shared>,
    wake: PipeWriter,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Starts to read; `listener` is called on the reader's thread and must not wait.
    pub fn start(tty: &Tty, listener: impl Fn(Heard) + Send + 'static) -> io::Result<Self> {
        let (woken, wake) = io::pipe()?;
        let shared =
            Arc::new(Shared { state: Mutex::new(State::Reading), changed: Condvar::new() });
        let reading = Reading {
            input: tty.input().try_clone_to_owned()?,
            woken,
            shared: Arc::clone(&shared),
            parser: Parser::new(),
        };
        let thread = std::thread::Builder::new()
            .name("terminal".to_owned())
            .spawn(move || reading.run(&listener))?;
        Ok(Self { shared, wake, thread: Some(thread) })
    }

    /// Leaves the terminal to another program; returns once nothing more will be taken from it.
    pub fn pause(&mut self) {
        self.ask(State::Pausing);
        let mut state = self.shared.state();
        while *state == State::Pausing {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads on.
    pub fn resume(&mut self) {
        let mut state = self.shared.state();
        if *state == State::Paused {
            *state = State::Reading;
            self.shared.changed.notify_all();
        }
    }

    fn ask(&mut self, wanted: State) {
        let mut state = self.shared.state();
        if *state != State::Ended {
            *state = wanted;
            self.shared.changed.notify_all();
            // It cannot fail while the other end is there; if that is gone, so is the thread.
            self.wake.write_all(b"!").ok();
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.ask(State::Ending);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported already.
            thread.join().ok();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread's side.
struct Reading {
    input: OwnedFd,
    woken: PipeReader,
    shared: Arc<Shared>,
    parser: Parser,
}

/// Who woke the thread.
enum Waker {
    Terminal,
    Us,
    Time,
}

impl Reading {
    fn run(mut self, listener: &impl Fn(Heard)) {
        let _ended = EndsAtLast(Arc::clone(&self.shared));
        let mut buffer = vec![0; 64 << 10];
        let mut inputs = Vec::new();
        loop {
            match self.wait() {
                Ok(Waker::Us) => {
                    if !self.obey() {
                        return;
                    }
                }
                Ok(Waker::Time) => self.parser.settle(&mut inputs),
                Ok(Waker::Terminal) => match rustix::io::read(&self.input, &mut buffer) {
                    Ok(0) => return listener(Heard::Gone),
                    Ok(count) => self.parser.feed(&buffer[..count], &mut inputs),
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(_) => return listener(Heard::Gone),
                },
                Err(_) => return listener(Heard::Gone),
            }
            for input in inputs.drain(..) {
                listener(Heard::Input(input));
            }
        }
    }

    fn wait(&self) -> io::Result<Waker> {
        let limit = self.parser.is_waiting().then_some(&ESCAPE);
        let (terminal, us) = (self.input.as_fd(), self.woken.as_fd());
        loop {
            let mut sources =
                [PollFd::new(&us, PollFlags::IN), PollFd::new(&terminal, PollFlags::IN)];
            match poll(&mut sources, limit) {
                Ok(0) => return Ok(Waker::Time),
                Ok(_) if !sources[0].revents().is_empty() => return Ok(Waker::Us),
                Ok(_) => return Ok(Waker::Terminal),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Does what was asked; returns whether to go on.
    fn obey(&mut self) -> bool {
        if self.woken.read(&mut [0; 16]).is_err() {
            return false;
        }
        let mut state = self.shared.state();
        if *state == State::Pausing {
            *state = State::Paused;
            self.shared.changed.notify_all();
        }
        while *state == State::Paused {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        *state != State::Ending
    }
}

/// Says that the thread has ended, however it did.
struct EndsAtLast(Arc<Shared>);

impl Drop for EndsAtLast {
    fn drop(&mut self) {
        *self.0.state() = State::Ended;
        self.0.changed.notify_all();
    }
}
