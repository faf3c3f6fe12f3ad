//! Runs command lines under `strace`, cut off from the network and from every folder but its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::Env;
use base::command::{CommandLine, RunCommand};
use guard::Runner;
use regex::Regex;
use tempfile::TempDir;

/// Programs that may start: they are on the list of read-only commands, or such commands start them.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "nawk",
    "[", "ag", "arch", "awk", "b2sum", "base32", "base64", "basename", "bash", "bunzip2", "bzcat", "bzip2", "cal",
    "cat", "cksum", "cmp", "column", "comm", "cut", "dash", "date", "df", "diff", "dir", "dirname", "du", "echo",
    "egrep", "env", "expand", "expr", "factor", "false", "fd", "fdfind", "fgrep", "file", "find", "fmt", "fold",
    "free", "gawk", "getconf", "git", "grep", "groups", "gunzip", "gzip", "head", "hexdump", "iconv", "id", "iostat",
    "join", "jq", "locale", "ls", "lsblk", "lscpu", "lsusb", "mawk", "md5sum", "nice", "nl", "nm", "nohup", "nproc",
    "numfmt", "objdump", "od", "paste", "pgrep", "pidof", "pr", "printenv", "printf", "ps", "pwd", "readelf",
    "readlink", "realpath", "rev", "rg", "sed", "seq", "sh", "sha1sum", "sha224sum", "sha256sum", "sha384sum",
    "sha512sum", "shuf", "size", "sleep", "sort", "stat", "stdbuf", "strings", "sum", "tac", "tail", "tar", "test",
    "time", "timeout", "tr", "tree", "true", "tsort", "tty", "uname", "unexpand", "uniq", "unxz", "unzip", "uptime",
    "users", "vdir", "vmstat", "w", "wc", "which", "who", "whoami", "xargs", "xxd", "xz", "xzcat", "zcat", "zipinfo",
    "zstd", "addr2line", "ar", "c++filt", "zless", "less",
];

/// Calls that change files or the system by their names alone.
#[rustfmt::skip]
const CHANGES: &[&str] = &[
    "creat", "truncate", "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "link",
    "linkat", "symlink", "symlinkat", "chmod", "fchmodat", "chown", "lchown", "fchownat", "utimensat", "utimes",
    "mknod", "mknodat", "setxattr", "lsetxattr", "removexattr", "mount", "umount2", "sethostname", "settimeofday",
    "clock_settime", "ftruncate", "fchmod", "fchown",
];

/// Kinds of harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    Write,
    Process,
    Socket,
}

/// Something that a read-only line must not do, and the system call that did it.
#[derive(Debug, Clone)]
pub(crate) struct Trip {
    pub(crate) harm: Harm,
    pub(crate) call: String,
}

/// A folder with files that invite harm, and a namespace to run lines in.
pub(crate) struct Arena {
    dir: TempDir,
    quoted: Regex,
    path: String,
}

impl Arena {
    /// `None`, said aloud, where lines cannot be traced or cut off.
    pub(crate) fn new() -> Option<Self> {
        let dir = tempfile::tempdir_in(crate::place::lasting()).unwrap();
        let path = Env::of_process().get("PATH").unwrap_or("/usr/bin:/bin").to_owned();
        let quoted = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
        let arena = Self { dir, quoted, path };
        fs::write(arena.file("setup.sh"), include_str!("setup.sh")).unwrap();
        fs::write(arena.file("driver.sh"), include_str!("driver.sh")).unwrap();
        fs::write(arena.file("fill.sh"), include_str!("fill.sh")).unwrap();
        if let Err(error) = arena.script("fill.sh", &[], Duration::from_secs(30)) {
            testkit::parts::skipped(&format!("no folder for lines to run in: {error}"));
            return None;
        }
        arena.restore();
        let trips = arena.try_run(&["echo x > pwn".to_owned()]);
        arena.restore();
        match trips {
            Ok(trips) if !trips[0].is_empty() => Some(arena),
            Ok(_) => {
                testkit::parts::skipped("strace does not see what a line writes");
                None
            }
            Err(error) => {
                let why = "strace (scripts/servers) or namespaces are missing";
                testkit::parts::skipped(&format!("{why}: {error}"));
                None
            }
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn script(&self, name: &str, args: &[String], timeout: Duration) -> Result<String, String> {
        let top = self.dir.path().to_str().unwrap();
        let env = Env::from_iter([("PATH", self.path.as_str()), ("TOP", top), ("LC_ALL", "C")]);
        let script = self.file(name).to_str().unwrap().to_owned();
        let args = std::iter::once(script).chain(args.iter().cloned());
        let mut command = CommandLine::new("bash", args, &env);
        command.folder = Some(self.dir.path().to_owned());
        command.timeout = timeout;
        Runner.run(&command).map_err(|error| error.to_string())
    }

    /// Puts the folder back as it was.
    pub(crate) fn restore(&self) {
        let line = ["restore".to_owned()];
        self.script("fill.sh", &line, Duration::from_secs(30)).unwrap();
    }

    /// What each of these lines did that it must not.
    pub(crate) fn run(&self, lines: &[String]) -> Vec<Vec<Trip>> {
        match self.try_run(lines) {
            Ok(trips) => trips,
            // A batch that does not end is taken apart; a single line that does not end did no harm that was seen.
            Err(_) if lines.len() > 1 => {
                let (left, right) = lines.split_at(lines.len() / 2);
                [self.run(left), self.run(right)].concat()
            }
            Err(_) => vec![Vec::new()],
        }
    }

    fn try_run(&self, lines: &[String]) -> Result<Vec<Vec<Trip>>, String> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        fs::write(self.file("lines"), lines.join("\0") + "\0").unwrap();
        drop(fs::remove_file(self.file("trace")));
        let timeout = Duration::from_secs(20 + 2 * lines.len() as u64);
        self.script("setup.sh", &[], timeout)?;
        let trace = fs::read(self.file("trace")).map_err(|error| error.to_string())?;
        let trace = String::from_utf8_lossy(&trace);
        let mut trips = vec![Vec::new(); lines.len()];
        let mut current = None;
        for call in trace.lines() {
            if let Some((_, rest)) = call.split_once("/dev/null/mark-") {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                current = digits.parse::<usize>().ok();
                continue;
            }
            let Some(trips) = current.and_then(|index| trips.get_mut(index)) else { continue };
            trips.extend(self.trip(call));
        }
        if current == Some(lines.len()) {
            Ok(trips)
        } else {
            Err("the lines did not end".to_owned())
        }
    }

    /// What is wrong with one line of the trace, `PID call(arguments) = result`.
    fn trip(&self, call: &str) -> Option<Trip> {
        let (_, call) = call.trim_start().split_once(' ')?;
        let (name, arguments) = call.trim_start().split_once('(')?;
        let quoted = self.quoted.captures(arguments).map(|found| found[1].to_owned());
        let path = quoted.unwrap_or_default();
        let trip = |harm| Trip { harm, call: call.chars().take(200).collect() };
        match name {
            "execve" | "execveat" => (!self.is_listed(&path)).then(|| trip(Harm::Process)),
            "open" | "openat" | "openat2" => {
                let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"];
                let writes = writes.iter().any(|flag| arguments.contains(flag));
                (writes && !is_harmless_target(&path)).then(|| trip(Harm::Write))
            }
            "socket" => {
                let local = ["AF_UNIX", "AF_NETLINK", "AF_ALG"];
                let local = local.iter().any(|family| arguments.starts_with(family));
                (!local).then(|| trip(Harm::Socket))
            }
            "connect" | "bind" => {
                let known = ["nscd", "userdb", "AF_NETLINK", "AF_UNSPEC"];
                let known = known.iter().any(|it| arguments.contains(it));
                (!known).then(|| trip(Harm::Socket))
            }
            name if CHANGES.contains(&name) => {
                (!is_harmless_target(&path)).then(|| trip(Harm::Write))
            }
            _ => None,
        }
    }

    /// Whether a program is on the list and lies where the system keeps its programs.
    fn is_listed(&self, path: &str) -> bool {
        let path = Path::new(path);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let folder = path.parent().and_then(Path::to_str).unwrap_or_default();
        let system = self.path.split(':').any(|it| it == folder) || folder.ends_with("/git-core");
        system
            && (PROGRAMS.contains(&name)
                || guard::shell::listed_programs().any(|it| it.split(' ').next() == Some(name)))
    }
}

/// Devices, and the temporary files of bash, sort and tac, which unlink them at once.
fn is_harmless_target(path: &str) -> bool {
    let devices = ["/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/full", "/dev/zero"];
    devices.contains(&path)
        || [
            "/dev/fd/",
            "/proc/self/fd/",
            "/proc/self/coredump_filter",
            "/tmp/sh-thd",
            "/tmp/sort",
            "/tmp/tac",
            "/dev/pts/",
        ]
        .iter()
        .any(|folder| path.starts_with(folder))
        || path.ends_with(".git/index.lock")
}
