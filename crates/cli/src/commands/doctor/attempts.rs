//! Attempts to get out of the sandbox, made by a process in it. It prints a line for each.

use std::fs;
use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;

use guard::cage::{Namespace, Status};

use crate::failure::Failure;
use crate::render;

/// What must not be read.
pub(super) const SECRET: &str = "a secret of nobody";

/// One attempt.
pub(super) struct Attempt {
    /// What is tried, for the user.
    pub(super) what: &'static str,
    kind: Kind,
    act: fn(&Path) -> io::Result<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Must be refused.
    Escape,
    /// Must be refused where there are mounts of our own; nothing else can.
    Mounts,
    /// Must work.
    Work,
}

/// What came of an attempt.
pub(super) enum Tried {
    Done,
    Refused(String),
}

/// All attempts. The argument is the scratch folder.
pub(super) const ATTEMPTS: &[Attempt] = &[
    work("change the workspace", |at| fs::write(at.join("work/src"), "x")),
    work("make a temporary file", |at| fs::write(at.join("temp/new"), "x")),
    escape("write a file outside", |at| fs::write(at.join("outside/new"), "x")),
    escape("write outside through a link", |at| {
        symlink(at.join("outside"), at.join("work/link"))?;
        fs::write(at.join("work/link/new"), "x")
    }),
    escape("link a file from outside", |at| {
        fs::hard_link(at.join("outside/file"), at.join("work/hard"))
    }),
    escape("move a file from outside", |at| {
        fs::rename(at.join("outside/file"), at.join("work/moved"))
    }),
    escape("empty a file outside", |at| fs::File::create(at.join("outside/file")).map(drop)),
    escape("write by /proc/self/root", |at| {
        let inside = at.strip_prefix("/").map_err(io::Error::other)?;
        fs::write(Path::new("/proc/self/root").join(inside).join("outside/new"), "x")
    }),
    Attempt {
        what: "change the mode of a file outside",
        kind: Kind::Mounts,
        act: |at| fs::set_permissions(at.join("outside/file"), fs::Permissions::from_mode(0o777)),
    },
    escape("change .git/config", |at| fs::write(at.join("work/.git/config"), "x")),
    escape("make a git hook", |at| fs::write(at.join("work/.git/hooks/pre-commit"), "x")),
    escape("move .git away", |at| fs::rename(at.join("work/.git"), at.join("work/gone"))),
    escape("read a private key", |at| read_secret(&at.join("home/.ssh/id_x"))),
    escape("read stored API keys", |at| {
        read_secret(&at.join("home/.local/share/caiman/credentials.json"))
    }),
    escape("connect to a port of this machine", |at| {
        let port = fs::read_to_string(at.join("outside/port"))?;
        TcpStream::connect(format!("127.0.0.1:{port}")).map(drop)
    }),
    escape("send a datagram", |_| UdpSocket::bind("127.0.0.1:0").map(drop)),
    escape("connect to another program's socket", |at| {
        UnixStream::connect(at.join("outside/socket")).map(drop)
    }),
    escape("send a datagram to another program's socket", |at| {
        UnixDatagram::unbound()?.send_to(b"x", at.join("outside/datagram")).map(drop)
    }),
    escape("read shared memory of another program", |_| {
        let foreign =
            fs::read_dir("/dev/shm")?.flatten().any(|entry| fs::read(entry.path()).is_ok());
        if foreign { Ok(()) } else { Err(io::Error::other("there is none here")) }
    }),
    escape("read caiman's environment", |_| fs::read(of_parent("environ")?).map(drop)),
    escape("read caiman's memory", |_| fs::File::open(of_parent("mem")?).map(drop)),
    escape("send caiman a signal", |_| Ok(rustix::process::test_kill_process(parent()?)?)),
];

const fn escape(what: &'static str, act: fn(&Path) -> io::Result<()>) -> Attempt {
    Attempt { what, kind: Kind::Escape, act }
}

const fn work(what: &'static str, act: fn(&Path) -> io::Result<()>) -> Attempt {
    Attempt { what, kind: Kind::Work, act }
}

impl Attempt {
    /// Whether it must succeed.
    pub(super) fn is_work(&self) -> bool {
        self.kind == Kind::Work
    }

    /// Whether this system is known not to refuse it.
    pub(super) fn is_known_gap(&self, status: &Status) -> bool {
        self.kind == Kind::Mounts && status.namespace == Namespace::None
    }
}

impl Tried {
    /// What the child said about an attempt.
    pub(super) fn find(attempt: &Attempt, said: &str) -> Option<Self> {
        let mut lines = said.lines().filter_map(|line| line.split_once('\t'));
        let (_, outcome) = lines.find(|(what, _)| *what == attempt.what)?;
        Some(match outcome {
            "done" => Self::Done,
            why => Self::Refused(why.to_owned()),
        })
    }
}

/// Tries everything and prints what came of it.
pub(super) fn inside(scratch: &Path) -> Result<(), Failure> {
    let line = |attempt: &Attempt| {
        let outcome = match (attempt.act)(scratch) {
            Ok(()) => "done".to_owned(),
            Err(error) => reason(&error),
        };
        format!("{}\t{outcome}\n", attempt.what)
    };
    render::out(&ATTEMPTS.iter().map(line).collect::<String>())
}

/// The system's words without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

fn read_secret(path: &Path) -> io::Result<()> {
    let text = fs::read_to_string(path)?;
    if text.contains(SECRET) { Ok(()) } else { Err(io::Error::other("it is empty here")) }
}

fn of_parent(file: &str) -> io::Result<std::path::PathBuf> {
    Ok(Path::new("/proc").join(parent()?.as_raw_nonzero().to_string()).join(file))
}

fn parent() -> io::Result<rustix::process::Pid> {
    rustix::process::getppid().ok_or_else(|| io::Error::other("it cannot be seen"))
}
