//! Children by the standard library.

use std::io;
use std::process::{ExitStatus, Stdio};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;

use super::{Failed, Start};
use crate::process::keeper;

/// A child that has been started.
#[derive(Debug)]
pub(in crate::process) struct Running(Child);

/// The keeper's thread needs nothing.
pub(in crate::process) fn prepare_thread() {}

/// Starts a child.
pub(in crate::process) fn start(start: Start) -> Result<Running, Failed> {
    let runtime = Handle::try_current().map_err(io::Error::other)?;
    let mut command = command(start);
    let started = keeper::ask(move || {
        let _inside = runtime.enter();
        command.spawn()
    });
    Ok(Running(started??))
}

#[expect(clippy::disallowed_methods, reason = "this is the sanctioned door to processes")]
#[expect(unsafe_code, reason = "there is no other way to act between fork and exec")]
fn command(start: Start) -> Command {
    let Start { file, args, env, folder, theirs: [stdin, stdout, stderr], steps } = start;
    let mut command = Command::new(file);
    let mut args = args.into_iter();
    if let Some(name) = args.next() {
        command.arg0(name);
    }
    command.args(args).env_clear().envs(env).current_dir(folder);
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    // SAFETY: `run` makes system calls on memory that was allocated before the fork, and neither
    // allocates, locks nor panics.
    unsafe { command.pre_exec(move || steps.run().map_err(|failed| failed.error)) };
    command
}

impl Running {
    /// Its number.
    pub(in crate::process) fn id(&self) -> Option<u32> {
        self.0.id()
    }

    /// Nobody can tell here when the last descendant of a program has ended.
    pub(in crate::process) async fn all_ended(&mut self) -> io::Result<()> {
        std::future::pending().await
    }

    /// Only the process group can tell here.
    pub(in crate::process) fn is_empty(&mut self) -> Option<bool> {
        None
    }

    /// Nothing holds descendants together here.
    pub(in crate::process) fn end_all(&self) -> bool {
        false
    }

    /// Nothing is between us and a program here.
    pub(in crate::process) fn is_supervised(&self) -> bool {
        false
    }

    /// Nothing can be waited for here.
    pub(in crate::process) fn settle(&mut self, _limit: std::time::Duration) {}

    /// Waits until it has ended. Can be dropped and called again.
    pub(in crate::process) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }
}
