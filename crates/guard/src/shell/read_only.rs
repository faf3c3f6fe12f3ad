//! The proof that a script neither writes, starts other programs nor connects.
//!
//! It refuses whatever it does not know: a program that is not in the table, an option that its entry does not list,
//! a word whose value is not a literal, unless no option of the program can do harm. Programs whose arguments are a
//! language of their own, or whose operands decide, are checked by a module here besides the table.
//!
//! | module | checks |
//! |---|---|
//! | `awk`, `sed`, `find` | the programs in their arguments |
//! | `git` | formats, listings, settings |
//! | `builtins` | builtins that set variables or evaluate: `read`, `export`, `test`, `printf` … |

mod awk;
mod builtins;
mod find;
mod git;
mod sed;

use super::programs::{self, Assurance, Mismatch};
use super::{Assignment, Direction, Meaning, Redirect, Script, Simple, Word, Wrap};

/// Why a script may do more than read: one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotReadOnly(String);

impl NotReadOnly {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

type Proof = Result<Assurance, NotReadOnly>;

/// Variables that change nothing but how output looks: they may reach any program.
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

/// Names in capitals that scripts use for themselves and no listed program reads.
const SCRIPT_NAMES: &[&str] = &[
    "A", "B", "BASE", "BRANCH", "COMMIT", "COUNT", "DIR", "DIRS", "F", "FILE", "FILES", "FOUND",
    "HASH", "I", "LINE", "LIST", "N", "NAME", "NUM", "OUT", "OUTPUT", "PATTERN", "REPO", "RESULT",
    "REV", "ROOT", "SHA", "SRC", "TARGET", "TOTAL", "VERSION", "X", "Y",
];

/// Whether a name has a meaning that scripts rely on, so that a function must not take it.
pub(super) fn is_known(name: &str) -> bool {
    programs::is_listed(name)
        || [
            "sed",
            "awk",
            "gawk",
            "mawk",
            "nawk",
            "find",
            "test",
            "[",
            "[[",
            "printf",
            "set",
            "rm",
            "mv",
            "cp",
            "sudo",
            "alias",
            "unalias",
            "source",
            ".",
            "export",
            "declare",
            "typeset",
            "local",
            "readonly",
            "unset",
            "read",
            "mapfile",
            "readarray",
            "less",
            "more",
            "ps",
            "tar",
        ]
        .contains(&name)
}

/// Variables that name a pager, which is none with these values.
const PAGERS: &[&str] =
    &["PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "BAT_PAGER", "SYSTEMD_PAGER", "AWS_PAGER"];

/// Variables of git that switch something off with `0`.
const SWITCHES: &[&str] = &["GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS"];

/// Whether a variable may be set for a program without changing what runs.
pub(crate) fn is_harmless_for_programs(assignment: &Assignment) -> bool {
    let name = assignment.name.as_str();
    match assignment.value.plain() {
        Some("cat" | "") if PAGERS.contains(&name) => true,
        Some("0") if SWITCHES.contains(&name) => true,
        Some(_) | None => HARMLESS.contains(&name),
    }
}

/// Whether a shell variable may be set that no program is meant to see: lower case, and none of the names that
/// programs read from the environment, where it may have come from.
pub(crate) fn is_harmless_in_shell(name: &str) -> bool {
    let lower = name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_')
        && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_');
    let is_read_by_programs = name.ends_with("_proxy")
        || ["npm_", "pnpm_", "yarn_", "pip_", "uv_", "git_", "ld_"]
            .iter()
            .any(|it| name.starts_with(it))
        || ["path", "cdpath", "fpath", "manpath", "module_path", "prompt", "histchars", "_"]
            .contains(&name);
    (lower && !is_read_by_programs) || SCRIPT_NAMES.contains(&name) || HARMLESS.contains(&name)
}

impl Script {
    /// Proves that nothing in it writes, starts other programs or connects; says under which condition.
    pub fn read_only(&self) -> Result<Assurance, NotReadOnly> {
        if let Some(hazard) = self.hazards.first() {
            return Err(NotReadOnly::new(*hazard));
        }
        for redirect in &self.redirects {
            self.check_redirect(redirect)?;
        }
        if let Some(odd) = self.assignments.iter().find(|it| !is_harmless_in_shell(&it.name)) {
            return Err(changes_what_runs(odd));
        }
        let mut weakest = Assurance::Inert;
        for command in &self.commands {
            weakest = weakest.max(command.read_only()?);
        }
        Ok(weakest)
    }
}

impl Script {
    fn check_redirect(&self, redirect: &Redirect) -> Result<(), NotReadOnly> {
        let target = &redirect.target;
        let nowhere = target
            .plain()
            .is_some_and(|it| ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&it));
        match redirect.direction {
            Direction::Out if !nowhere => {
                Err(NotReadOnly::new(format!("it writes to {}", target.raw)))
            }
            Direction::In if may_be_network(target) && !self.is_file_variable(target) => {
                Err(NotReadOnly::new(format!("`{}` may be a connection", target.raw)))
            }
            Direction::Out | Direction::In => Ok(()),
        }
    }

    /// Whether a word is a variable that the line gives no value which may be a connection.
    fn is_file_variable(&self, word: &Word) -> bool {
        let Some(name) = word.variable() else { return false };
        let mut values = self.assignments.iter().filter(|it| it.name == name).peekable();
        values.peek().is_some() && values.all(|it| !may_be_network(&it.value))
    }
}

impl Simple {
    /// Proves that the command neither writes, starts other programs nor connects; says under which condition.
    pub fn read_only(&self) -> Result<Assurance, NotReadOnly> {
        let Some(program) = self.words.first() else { return Ok(Assurance::Inert) };
        let Some(program) = program.plain() else {
            return Err(NotReadOnly::new("which program runs is only known when the command runs"));
        };
        let name = self.program_name().unwrap_or(program);
        check_path(program)?;
        if let Some(proof) = builtins::proof(name, self) {
            return proof;
        }
        if let Some(odd) = self.assignments.iter().find(|it| !is_harmless_for_programs(it)) {
            return Err(changes_what_runs(odd));
        }
        if let Some(wrapped) = &self.wraps {
            check_started(name, &wrapped.inner)?;
        }
        match &self.wraps {
            None => check_program(name, self.arguments()),
            Some(wrapped) => match wrapped.wrap {
                Wrap::Transparent | Wrap::Reparsed | Wrap::AppendsWords if name != "nohup" => {
                    // Without a sandbox nothing that starts a program runs unasked.
                    Ok(wrapped.inner.read_only()?.max(Assurance::Checked))
                }
                Wrap::PerFile => {
                    let own = find::proof(self.arguments())?;
                    Ok(own.max(wrapped.inner.read_only()?))
                }
                Wrap::Transparent | Wrap::Reparsed | Wrap::AppendsWords | Wrap::ChangesContext => {
                    Err(NotReadOnly::new(format!("`{program}` does more than the command it runs")))
                }
            },
        }
    }
}

/// Commands that only a shell has.
const SHELL_ONLY: &[&str] = &[
    ".",
    ":",
    "[[",
    "alias",
    "break",
    "builtin",
    "cd",
    "command",
    "continue",
    "declare",
    "dirs",
    "eval",
    "exec",
    "exit",
    "export",
    "help",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "unset",
    "wait",
];

/// Programs that start another program and know none of the shell's builtins.
const STARTERS: &[&str] = &["env", "exec", "find", "nice", "nohup", "stdbuf", "timeout", "xargs"];

/// `env read` runs a program called `read`, whatever that is, and not the builtin.
fn check_started(starter: &str, inner: &Script) -> Result<(), NotReadOnly> {
    if !STARTERS.contains(&starter) {
        return Ok(());
    }
    let mut names = inner.commands.iter().filter_map(Simple::program_name);
    match names.find(|name| SHELL_ONLY.contains(name)) {
        Some(name) => Err(NotReadOnly::new(format!(
            "`{starter} {name}` runs a program of that name, not the shell's builtin"
        ))),
        None => Ok(()),
    }
}

fn check_program(name: &str, arguments: &[Word]) -> Proof {
    match name {
        "sed" => return sed::proof(arguments),
        "awk" | "gawk" | "mawk" | "nawk" => return awk::proof(arguments),
        "find" => return find::proof(arguments),
        "ps" => return builtins::ps(arguments),
        "tar" => return builtins::tar(arguments),
        "sh" | "bash" | "dash" if is_syntax_check(arguments) => return Ok(Assurance::Checked),
        _ => {}
    }
    let Some(entry) = programs::find(name, arguments) else {
        return Err(unlisted(name, arguments));
    };
    entry.program.check(entry.after).map_err(|mismatch| explain(&entry.name, &mismatch))?;
    if let Some(subcommand) = entry.name.strip_prefix("git ") {
        git::check(subcommand, entry.after)?;
    }
    Ok(entry.program.assurance())
}

/// `bash -n file` reads a script without running it.
fn is_syntax_check(arguments: &[Word]) -> bool {
    match arguments {
        [option, files @ ..] => {
            option.plain() == Some("-n") && files.iter().all(|it| !it.may_be_option())
        }
        [] => false,
    }
}

fn unlisted(name: &str, arguments: &[Word]) -> NotReadOnly {
    match arguments.first().and_then(Word::plain) {
        Some(subcommand) if programs::is_listed(name) => NotReadOnly::new(format!(
            "`{name} {subcommand}` is not on the list of read-only commands"
        )),
        Some(_) | None => {
            NotReadOnly::new(format!("`{name}` is not on the list of read-only commands"))
        }
    }
}

fn explain(name: &str, mismatch: &Mismatch) -> NotReadOnly {
    NotReadOnly::new(match mismatch {
        Mismatch::Option(option) => {
            format!("`{name} {option}` is not on the list of read-only options")
        }
        Mismatch::Unknown(word) => {
            format!(
                "the value of `{word}` is only known when the command runs, and may be an option of `{name}`"
            )
        }
        Mismatch::Operand(word) => format!("`{name} {word}` may write or change something"),
        Mismatch::Missing => format!("`{name}` with these options may do more than read"),
    })
}

/// A program elsewhere than in the system's folders may be anything.
fn check_path(program: &str) -> Result<(), NotReadOnly> {
    let folder = program.rsplit_once('/').map(|(folder, _)| folder);
    match folder {
        None | Some("/bin" | "/usr/bin" | "/usr/local/bin" | "/opt/homebrew/bin") => Ok(()),
        Some(_) => Err(NotReadOnly::new(format!("`{program}` may be any program"))),
    }
}

fn changes_what_runs(assignment: &Assignment) -> NotReadOnly {
    let name = if assignment.name.is_empty() { "a variable" } else { &assignment.name };
    NotReadOnly::new(format!("setting {name} may change what runs"))
}

/// A word whose value is not known may be any option.
fn unsure(program: &str, word: &Word) -> NotReadOnly {
    explain(program, &Mismatch::Unknown(word.raw.clone()))
}

/// Whether bash takes a file's name for a connection.
pub(crate) fn is_network(target: &Word) -> bool {
    target.plain().is_some_and(|it| it.starts_with("/dev/tcp") || it.starts_with("/dev/udp"))
}

/// Whether bash may take a file's name for a connection, for all that is known of it.
fn may_be_network(target: &Word) -> bool {
    match &target.meaning {
        Meaning::Plain(_) => is_network(target),
        Meaning::Pattern(text) | Meaning::Anchored(text) => {
            let folder: String = text.chars().take("/dev".len()).collect();
            "/dev".starts_with(&folder)
        }
        Meaning::Number => false,
        Meaning::Unknown(_) => true,
    }
}
