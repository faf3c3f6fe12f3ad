//! The thread that starts children.
//!
//! Children ask the system to be killed when we die, and the system takes "we" for the thread that
//! started them. So all are started by one thread that lives as long as the process.

use std::io;
use std::sync::{OnceLock, mpsc};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

static KEEPER: OnceLock<Option<mpsc::Sender<Job>>> = OnceLock::new();

/// Has the keeper's thread do `work`, and waits for what comes of it.
pub(super) fn ask<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let keeper = KEEPER.get_or_init(start).as_ref().ok_or(io::ErrorKind::OutOfMemory)?;
    let (sender, receiver) = mpsc::sync_channel(1);
    // Whoever asked waits for the answer.
    let job = move || drop(sender.send(work()));
    keeper.send(Box::new(job)).map_err(|_| io::ErrorKind::BrokenPipe)?;
    receiver.recv().map_err(io::Error::other)
}

fn start() -> Option<mpsc::Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let work = move || {
        super::start::prepare_thread();
        for job in jobs {
            job();
        }
    };
    let thread = thread::Builder::new().name("children".to_owned()).stack_size(256 * 1024);
    thread.spawn(work).ok().map(|_| sender)
}
