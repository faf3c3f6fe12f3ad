//! The thread that starts children.
//!
//! Children ask the system to be killed when we die, and the system takes "we" for the thread that
//! started them. So all are started by one thread that lives as long as the process.

use std::io;
use std::sync::{OnceLock, mpsc};
use std::thread;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;

type Job = Box<dyn FnOnce() + Send>;

static KEEPER: OnceLock<Option<mpsc::Sender<Job>>> = OnceLock::new();

/// Starts a child from the keeper's thread, for the runtime we are in.
pub(super) fn spawn(mut command: Command) -> io::Result<Child> {
    let runtime = Handle::try_current().map_err(io::Error::other)?;
    let keeper = KEEPER.get_or_init(start).as_ref().ok_or(io::ErrorKind::OutOfMemory)?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let job = move || {
        let _inside = runtime.enter();
        // Whoever asked waits for the answer.
        drop(sender.send(command.spawn()));
    };
    keeper.send(Box::new(job)).map_err(|_| io::ErrorKind::BrokenPipe)?;
    receiver.recv().map_err(io::Error::other)?
}

fn start() -> Option<mpsc::Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let work = move || jobs.into_iter().for_each(|job| job());
    let thread = thread::Builder::new().name("children".to_owned()).stack_size(256 * 1024);
    thread.spawn(work).ok().map(|_| sender)
}
