//! What the sandbox enforces here, and what came of trying to get out of it.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use guard::cage::{Bounds, Cage, Network, State, Status};
use guard::process::{Command, Terminals, child_env};
use guard::protect;
use tokio::io::AsyncReadExt;

use super::attempts::{ATTEMPTS, Attempt, SECRET, Tried};
use super::scratch::Scratch;
use super::{Check, Section};
use crate::app::App;
use crate::wiring;

/// How long the attempts may take together.
const LIMIT: Duration = Duration::from_secs(20);
const FIX: &str = "commands are asked about one by one; Linux 5.13 or newer with Landlock switched on (boot \
    parameter lsm=landlock,…) cages them";

/// Looks at the sandbox.
pub(super) fn section(app: &App) -> Section {
    let status = Cage::probe();
    let mut checks = vec![headline(status)];
    checks.extend(status.items.iter().map(|item| {
        let text = format!("{}: {}", item.what, item.how);
        match item.state {
            State::Enforced => Check::good(text),
            State::Partly | State::Missing => Check::warning(text, "see docs/sandbox.md"),
        }
    }));
    if status.works {
        checks.extend(furnished().map_or_else(
            |error| vec![Check::failed(format!("no scratch folder: {error}"), "free some space")],
            |scratch| attempts(app, &scratch, status),
        ));
    }
    Section { name: "sandbox", checks }
}

fn headline(status: &Status) -> Check {
    if !status.works {
        return Check::warning("commands cannot be sandboxed here", FIX);
    }
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let parts = match status.landlock_abi {
        0 => "Seatbelt".to_owned(),
        abi => format!("Landlock version {abi}, seccomp, {}", status.namespace),
    };
    Check::good(format!("{parts} (kernel {})", kernel.trim()))
}

/// A scratch folder with a workspace, a home and an outside.
fn furnished() -> io::Result<Scratch> {
    let scratch = Scratch::new()?;
    scratch.write("home/.ssh/id_x", SECRET)?;
    scratch.write("home/.local/share/caiman/credentials.json", SECRET)?;
    scratch.write("outside/file", "original")?;
    scratch.write("work/.git/config", "original")?;
    scratch.write("work/.git/hooks/sample", "original")?;
    Ok(scratch)
}

/// Not the cage of a session: that may write all of the temporary folder, which the scratch is in.
fn cage(scratch: &Path) -> Cage {
    let work = scratch.join("work");
    Cage::new(Bounds {
        protected: protect::protected(&work),
        writable: vec![work],
        hidden: protect::secret(&scratch.join("home")),
        network: Network::Off,
        temp: scratch.join("temp"),
        records: None,
    })
}

/// Sends a child into the cage that tries everything, and judges what it says.
fn attempts(app: &App, scratch: &Scratch, status: &Status) -> Vec<Check> {
    let said = listen(scratch.path())
        .map_err(|error| error.to_string())
        .and_then(|(_port, _socket, _datagram)| ask(app, scratch));
    match said {
        Ok(said) => ATTEMPTS.iter().map(|attempt| judge(attempt, &said, status)).collect(),
        Err(why) => vec![Check::failed(
            format!("the attempts could not be made: {why}"),
            "run `caiman doctor` again; report it if it stays",
        )],
    }
}

/// A port and two sockets that a caged process must not reach.
fn listen(scratch: &Path) -> io::Result<(TcpListener, UnixListener, UnixDatagram)> {
    let port = TcpListener::bind("127.0.0.1:0")?;
    fs::write(scratch.join("outside/port"), port.local_addr()?.port().to_string())?;
    let socket = UnixListener::bind(scratch.join("outside/socket"))?;
    Ok((port, socket, UnixDatagram::bind(scratch.join("outside/datagram"))?))
}

fn ask(app: &App, scratch: &Scratch) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let command = Command {
        program: program.display().to_string(),
        args: vec![
            "doctor".to_owned(),
            "--inside".to_owned(),
            scratch.path().display().to_string(),
        ],
        folder: scratch.path().join("work"),
        env: child_env(&app.env),
        cage: Some(Arc::new(cage(scratch.path()))),
        stdio: Terminals::Output,
    };
    let runtime = wiring::runtime().map_err(|failure| failure.message)?;
    runtime.block_on(async {
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut said = String::new();
        let mut output = child.output.take().ok_or("it has no output")?;
        let read = tokio::time::timeout(LIMIT, output.read_to_string(&mut said)).await;
        child.end(Duration::ZERO).await.map_err(|error| error.to_string())?;
        match read {
            Ok(Ok(_)) => Ok(said),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_elapsed) => Err("it took too long".to_owned()),
        }
    })
}

fn judge(attempt: &Attempt, said: &str, status: &Status) -> Check {
    let what = attempt.what;
    let fix = "do not rely on the sandbox; report this with the output of `caiman doctor --json`";
    match Tried::find(attempt, said) {
        Some(Tried::Refused(why)) if attempt.is_work() => {
            Check::failed(format!("{what}: refused ({why})"), fix)
        }
        Some(Tried::Done) if attempt.is_work() => Check::good(format!("{what}: works")),
        Some(Tried::Refused(why)) => Check::good(format!("{what}: refused ({why})")),
        Some(Tried::Done) if attempt.is_known_gap(status) => {
            Check::warning(format!("{what}: got through"), "allow user namespaces")
        }
        Some(Tried::Done) => Check::failed(format!("{what}: got through"), fix),
        None => Check::failed(format!("{what}: no answer"), fix),
    }
}
