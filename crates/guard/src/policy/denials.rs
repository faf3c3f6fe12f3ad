//! The texts that a rule which denies or asks is held against: every command of a line, and whatever may be a
//! command inside one.

use super::program_options::running_texts;
use crate::shell::{self, Script, Simple, Word};

/// Programs whose words are never a command to run, so that a denied word among them is only a word.
const RUNS_NO_OPERAND: &[&str] = &[
    "git", "cargo", "apt", "apt-get", "brew", "dnf", "yum", "pacman", "apk", "pip", "pip3", "go",
    "rustup", "mkdir", "touch", "cp", "mv", "rm", "ln", "chmod", "chown", "tee", "make", "gcc",
    "g++", "cc", "clang", "rustc", "zip", "unzip", "kill", "pkill", "killall", "gh", "curl",
    "wget", "sed", "export", "declare", "local", "printf", "test", "[", "[[",
];

/// Package managers, which run an operand only with these subcommands.
const RUNS_WITH_VERB: &[(&str, &[&str])] = &[
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["x"]),
];

/// Subcommands of git that run what follows.
const GIT_RUNS: &[&str] =
    &["bisect", "rebase", "submodule", "filter-branch", "difftool", "mergetool", "hook"];

/// Most words of a command that are taken for the beginning of another.
const MOST_STARTS: usize = 64;

/// Every text that a rule which denies or asks is held against.
pub(super) fn texts(line: &str, script: Option<&Script>) -> Vec<String> {
    let mut all = vec![line.trim().to_owned()];
    match script {
        None => all.extend(shell::fragments(line)),
        Some(script) => {
            for command in script.all_commands() {
                all.extend([command.text(), command.plain_text(), command.bare_text()]);
                all.extend(git_texts(command));
                all.extend(inner_texts(command));
                let values = command.assignments.iter().filter_map(|it| it.value.plain());
                let texts = running_texts(command).into_iter().chain(values.map(str::to_owned));
                all.extend(texts.flat_map(|text| shell::fragments(&text.replace(',', " "))));
            }
            if may_hide_commands(script) {
                all.extend(shell::fragments(line));
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Whether a line may run a command that no text of it shows: which program or git subcommand runs is not known, or
/// it evaluates text.
pub(super) fn hides_commands(script: &Script) -> bool {
    let is_hidden = |command: &&Simple| match command.program_name() {
        None => !command.words.is_empty(),
        Some("git") => {
            let verb = command.arguments().iter().find(|it| !it.raw.starts_with('-'));
            verb.is_some_and(|it| it.plain().is_none())
        }
        Some(_) => is_evaluated(command),
    };
    !script.hazards.is_empty() || script.all_commands().iter().any(is_hidden)
}

/// Whether a builtin may evaluate text among its arguments.
fn is_evaluated(command: &Simple) -> bool {
    matches!(command.program_name(), Some("test" | "[" | "[[" | "let" | "printf" | "unset"))
        && command.read_only().is_err()
}

/// Whether a piece of the line may be a command although the syntax does not say so: which program runs is not known, or
/// a program reads commands from its input.
pub(super) fn may_hide_commands(script: &Script) -> bool {
    const READ_COMMANDS: &[&str] = &[
        "sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "source", ".", "at", "batch", "xargs",
        "parallel",
    ];
    let commands = script.all_commands();
    let is_unknown = |it: &&&Simple| !it.words.is_empty() && it.program().is_none();
    let reads_commands = |it: &&&Simple| {
        it.wraps.is_none() && it.program_name().is_some_and(|name| READ_COMMANDS.contains(&name))
    };
    let has_document = script.has_document && commands.iter().any(|it| it.read_only().is_err());
    has_document
        || !script.hazards.is_empty()
        || commands.iter().any(|it| is_unknown(&it) || reads_commands(&it) || is_evaluated(it))
}

/// The commands that the words of a program may be, if it may run them: from each word on, and inside each word.
fn inner_texts(command: &Simple) -> Vec<String> {
    if !may_run_operands(command) || command.read_only().is_ok() {
        return Vec::new();
    }
    let words: Vec<&str> =
        command.words.iter().map(|word| word.plain().unwrap_or(&word.raw)).collect();
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1).take(MOST_STARTS) {
        let program = word.rsplit('/').next().unwrap_or(word);
        let rest = words[at + 1..].join(" ");
        all.push(format!("{program} {rest}").trim_end().to_owned());
        if word.contains([' ', ';', '|', '&', '(', '`', '\n', '=']) {
            all.extend(shell::fragments(word));
        }
    }
    all
}

pub(super) fn may_run_operands(command: &Simple) -> bool {
    let Some(name) = command.program_name() else { return true };
    let verb = command.arguments().first().and_then(Word::plain);
    // Options in front of git's subcommand do not matter here.
    if name == "git" {
        let words = command.arguments().iter().filter_map(Word::plain);
        return words.into_iter().any(|it| GIT_RUNS.contains(&it));
    }
    match RUNS_WITH_VERB.iter().find(|(program, _)| *program == name) {
        Some((_, verbs)) => verb.is_some_and(|verb| verbs.contains(&verb)),
        None => !RUNS_NO_OPERAND.contains(&name),
    }
}

/// `git -C x -c a=b push` as `git push`: options before the subcommand do not hide it. An option that is not known may
/// have a value or not, so both readings count. An alias that the line sets counts as what it stands for.
fn git_texts(command: &Simple) -> Vec<String> {
    let Some(name) = command.program_name().filter(|it| it.starts_with("git")) else {
        return Vec::new();
    };
    let words: Vec<&str> =
        command.arguments().iter().map(|word| word.plain().unwrap_or(&word.raw)).collect();
    let mut all = Vec::new();
    if let Some(verb) = name.strip_prefix("git-") {
        all.push(format!("git {verb} {}", words.join(" ")).trim_end().to_owned());
    }
    if name != "git" {
        return all;
    }
    if words.contains(&"for-each-repo") {
        all.extend((0..words.len()).map(|at| format!("git {}", words[at..].join(" "))));
    }
    let mut aliases = Vec::new();
    let mut after_option = false;
    for (at, word) in words.iter().enumerate() {
        let setting = word.trim_start_matches("-c").trim_start_matches("--config-env=");
        aliases.extend(setting.strip_prefix("alias.").and_then(|it| it.split_once('=')));
        all.push(format!("git {}", words[at..].join(" ")));
        let named = aliases.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        if let Some((_, value)) = named {
            let rest = words[at + 1..].join(" ");
            match value.strip_prefix('!') {
                Some(shell_text) => all.extend(shell::fragments(&format!("{shell_text} {rest}"))),
                None => all.push(format!("git {value} {rest}").trim_end().to_owned()),
            }
        }
        // The first word that is neither an option nor a possible value of one is the subcommand.
        if !after_option && !word.starts_with('-') {
            break;
        }
        after_option = word.starts_with('-');
    }
    all
}
