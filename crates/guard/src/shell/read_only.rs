//! The proof that a script neither writes, runs nor connects.
//!
//! A program is read-only only with arguments that keep it so. What is not in the tables is not
//! read-only; a word that shows only when it runs may be any option.

mod git;
mod options;
mod scripts;

use super::{Assignment, Direction, Script, Simple, Word, Wrap};
use options::Banned;

/// Why a script may do more than read: one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotReadOnly(String);

impl NotReadOnly {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

type Proof = Result<(), NotReadOnly>;

/// Programs and builtins that only read, whatever their arguments.
const ALWAYS: &[&str] = &[
    "ls",
    "dir",
    "vdir",
    "cat",
    "head",
    "tail",
    "wc",
    "nl",
    "tac",
    "rev",
    "cut",
    "paste",
    "tr",
    "fold",
    "fmt",
    "expand",
    "unexpand",
    "comm",
    "join",
    "tsort",
    "column",
    "pr",
    "cmp",
    "diff",
    "grep",
    "egrep",
    "fgrep",
    "jq",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "cksum",
    "sum",
    "od",
    "hexdump",
    "strings",
    "stat",
    "readlink",
    "realpath",
    "basename",
    "dirname",
    "pwd",
    "echo",
    "true",
    "false",
    ":",
    "seq",
    "expr",
    "factor",
    "numfmt",
    "sleep",
    "whoami",
    "id",
    "groups",
    "users",
    "who",
    "uname",
    "nproc",
    "uptime",
    "free",
    "lscpu",
    "lsblk",
    "df",
    "du",
    "ps",
    "pgrep",
    "printenv",
    "getconf",
    "locale",
    "tty",
    "which",
    "whereis",
    "type",
    "cd",
    "pathchk",
    "cal",
    "exit",
    "return",
    "break",
    "continue",
    "wait",
    "eza",
    "exa",
];

/// Programs that only read unless one of these options is there.
const UNLESS: &[(&str, Banned)] = &[
    ("sort", Banned { short: "oT", long: &["output", "compress-program", "temporary-directory"] }),
    ("shuf", Banned { short: "o", long: &["output"] }),
    ("base64", Banned { short: "o", long: &["output"] }),
    ("base32", Banned { short: "o", long: &["output"] }),
    ("iconv", Banned { short: "o", long: &["output"] }),
    ("tree", Banned { short: "oR", long: &["output"] }),
    ("file", Banned { short: "CzZ", long: &["compile", "uncompress", "uncompress-noreport"] }),
    ("rg", Banned { short: "z", long: &["pre", "hostname-bin", "search-zip"] }),
    ("fd", Banned { short: "xXl", long: &["exec", "exec-batch", "list-details"] }),
    ("fdfind", Banned { short: "xXl", long: &["exec", "exec-batch", "list-details"] }),
];

/// Programs that tell their version and do nothing else with that one argument.
const VERSIONED: &[&str] = &[
    "node", "npm", "pnpm", "yarn", "bun", "deno", "python", "python3", "pip", "pip3", "ruby",
    "gem", "perl", "php", "java", "javac", "go", "cargo", "rustc", "rustup", "gcc", "g++", "clang",
    "make", "cmake", "ninja", "git", "docker", "kubectl", "bash", "zsh", "curl", "wget", "tar",
    "rg", "fd", "jq", "uv", "poetry", "ruff", "tsc", "gh",
];

/// Variables that change nothing but how output looks.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "TERM",
    "COLUMNS",
    "LINES",
    "CI",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "DEBUG",
    "VERBOSE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "NODE_ENV",
    "CARGO_TERM_COLOR",
    "QUIET",
];

/// Whether a name has a meaning that scripts rely on.
pub(super) fn is_known(name: &str) -> bool {
    ALWAYS.contains(&name)
        || UNLESS.iter().any(|(known, _)| *known == name)
        || VERSIONED.contains(&name)
        || [
            "git", "sed", "awk", "gawk", "mawk", "find", "date", "hostname", "xxd", "uniq", "test",
            "[", "printf", "set", "rm", "mv", "cp", "sudo", "alias", "unalias", "source", ".",
            "export", "declare", "read", "less", "more", "man",
        ]
        .contains(&name)
}

/// Whether a variable changes nothing that matters.
pub(crate) fn is_harmless(name: &str) -> bool {
    let own = name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_')
        && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
        && !name.ends_with("_proxy");
    own || HARMLESS.contains(&name)
}

impl Script {
    /// Proves that nothing in it writes, runs or connects.
    pub fn read_only(&self) -> Result<(), NotReadOnly> {
        if let Some(hazard) = self.hazards.first() {
            return Err(NotReadOnly::new(*hazard));
        }
        for redirect in &self.redirects {
            let target = redirect.target.plain().unwrap_or_default();
            let nowhere = ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&target);
            match redirect.direction {
                Direction::Out if !nowhere => {
                    return Err(NotReadOnly::new(format!("it writes to {}", redirect.target.raw)));
                }
                Direction::In if is_network(&redirect.target) => {
                    return Err(NotReadOnly::new("it reads from the network"));
                }
                Direction::Out | Direction::In => {}
            }
        }
        assignments(&self.assignments)?;
        let moves = self.all_commands().into_iter().any(|it| it.program_name() == Some("cd"));
        for command in &self.commands {
            command.read_only()?;
            // A repository's own settings may name programs that git runs.
            if moves && command.program_name() == Some("git") {
                return Err(NotReadOnly::new("git runs in another folder"));
            }
        }
        Ok(())
    }
}

impl Simple {
    /// Proves that the command neither writes, runs nor connects.
    pub fn read_only(&self) -> Result<(), NotReadOnly> {
        assignments(&self.assignments)?;
        if self.words.is_empty() {
            return Ok(());
        }
        let Some(program) = self.program() else {
            return Err(NotReadOnly::new("which program runs shows only when it runs"));
        };
        if let Some(wrapped) = &self.wraps {
            return match wrapped.wrap {
                Wrap::Nothing | Wrap::Text | Wrap::Words
                    if self.program_name() != Some("nohup") =>
                {
                    known_path(program)?;
                    wrapped.inner.read_only()
                }
                Wrap::Nothing | Wrap::Text | Wrap::Words | Wrap::Powers => {
                    Err(NotReadOnly::new(format!("`{program}` does more than it runs")))
                }
            };
        }
        known_path(program)?;
        let name = self.program_name().unwrap_or(program);
        let arguments = self.arguments();
        if let [only] = arguments
            && VERSIONED.contains(&name)
            && matches!(only.plain(), Some("--version" | "-V" | "--help"))
        {
            return Ok(());
        }
        program_proof(name, arguments)
    }
}

fn program_proof(name: &str, arguments: &[Word]) -> Proof {
    if ALWAYS.contains(&name) {
        return Ok(());
    }
    if let Some((_, banned)) = UNLESS.iter().find(|(known, _)| *known == name) {
        return banned.check(name, arguments);
    }
    match name {
        "git" => git::proof(arguments),
        "sed" => scripts::sed(arguments),
        "awk" | "gawk" | "mawk" => scripts::awk(arguments),
        "find" => options::find(arguments),
        "date" => options::date(arguments),
        "hostname" => options::only(
            "hostname",
            arguments,
            &["-f", "-i", "-I", "-s", "-d", "-A", "--fqdn", "--short"],
        ),
        "xxd" => options::one_operand("xxd", arguments, &["-l", "-s", "-c", "-g", "-n"], "r"),
        "uniq" => options::one_operand("uniq", arguments, &["-f", "-s", "-w"], ""),
        "test" | "[" | "[[" => options::test(arguments),
        "printf" => match arguments.first() {
            Some(first) if first.may_be_option() => {
                Err(NotReadOnly::new("`printf` may set a variable"))
            }
            Some(_) | None => Ok(()),
        },
        "set" => options::only(
            "set",
            arguments,
            &[
                "-e", "-u", "-x", "-eu", "-ex", "-euo", "-eo", "-o", "pipefail", "-euxo", "+e",
                "+x", "-uo",
            ],
        ),
        "command" => options::lookup(arguments),
        "env" if arguments.is_empty() => Ok(()),
        "go" => options::only("go", arguments, &["version"]),
        "export" | "local" | "readonly" if arguments.iter().all(|it| !it.may_be_option()) => Ok(()),
        _ => Err(NotReadOnly::new(format!("`{name}` is not known to only read"))),
    }
}

/// A program elsewhere than in the system's folders may be anything.
fn known_path(program: &str) -> Proof {
    let folder = program.rsplit_once('/').map(|(folder, _)| folder);
    match folder {
        None | Some("/bin" | "/usr/bin" | "/usr/local/bin" | "/opt/homebrew/bin") => Ok(()),
        Some(_) => Err(NotReadOnly::new(format!("`{program}` may be any program"))),
    }
}

fn assignments(all: &[Assignment]) -> Proof {
    match all.iter().find(|it| !is_harmless(&it.name)) {
        Some(odd) => Err(NotReadOnly::new(format!("setting {} may change what runs", odd.name))),
        None => Ok(()),
    }
}

/// Whether bash takes a file's name for a connection.
pub(crate) fn is_network(target: &Word) -> bool {
    target.raw.contains("/dev/tcp") || target.raw.contains("/dev/udp")
}
