//! Options that make a program run, load or obey something else. While untrusted content is in the context they are
//! asked about, even where a rule covers the line.

use crate::shell::{Meaning, Simple};

/// Long options that mean this in every program that has them.
const LONG: &[&str] = &[
    "checkpoint-action",
    "command",
    "compress-program",
    "config",
    "config-env",
    "config-file",
    "editor",
    "eval",
    "exec",
    "exec-batch",
    "exec-path",
    "ext-diff",
    "extcmd",
    "globalSetup",
    "globalconfig",
    "userconfig",
    "prefix",
    "rsync-path",
    "unzip-command",
    "sendmail-cmd",
    "httpd",
    "hook",
    "hostname-bin",
    "import",
    "info-script",
    "init-command",
    "init-file",
    "init-script",
    "launcher",
    "loader",
    "experimental-loader",
    "node-options",
    "open-files-in-pager",
    "pager",
    "plugin",
    "plugins",
    "pre",
    "preprocessor",
    "rcfile",
    "receive-pack",
    "reporter",
    "require",
    "resolve-plugins-relative-to",
    "rsh",
    "rsh-command",
    "rulesdir",
    "runner",
    "script-shell",
    "settings",
    "setupFiles",
    "setupFilesAfterEnv",
    "shell",
    "ssh-command",
    "template",
    "textconv",
    "to-command",
    "toolexec",
    "transform",
    "upload-pack",
    "use-compress-program",
    "vettool",
    "wrapper",
];

/// The same after one dash.
const SINGLE_DASH: &[&str] = &[
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-toolexec",
    "-vettool",
    "-javaagent",
    "-agentlib",
    "-agentpath",
    "-wrapper",
    "-fplugin",
    "-specs",
];

/// Letters that mean this in one program.
const LETTERS: &[(&str, &str)] = &[
    ("git", "cxO"),
    ("npm", "c"),
    ("npx", "cp"),
    ("node", "repC"),
    ("python", "cm"),
    ("python3", "cm"),
    ("ruby", "reI"),
    ("perl", "eEMmI"),
    ("php", "rdz"),
    ("tar", "IF"),
    ("rsync", "e"),
    ("ssh", "oF"),
    ("scp", "oFS"),
    ("pytest", "pco"),
    ("jest", "c"),
    ("eslint", "c"),
    ("vim", "cSu"),
    ("nvim", "cSu"),
    ("make", "fEI"),
    ("cargo", "ZC"),
    ("rustc", "ZC"),
    ("man", "PH"),
    ("zip", "T"),
    ("sort", ""),
    ("fd", "xX"),
    ("fdfind", "xX"),
    ("mvn", "s"),
    ("gradle", "Ib"),
    ("docker", "v"),
    ("xargs", "I"),
];

/// Subcommands that run what follows.
const VERBS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "filter-branch",
            "submodule",
            "bisect",
            "difftool",
            "mergetool",
            "hook",
            "config",
            "clone",
        ],
    ),
    ("npm", &["exec", "x", "config", "set"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx", "node"]),
    ("cargo", &["install"]),
];

/// The word of a command that makes it run something else, or that may be such an option.
pub(super) fn running_word(command: &Simple) -> Option<&str> {
    let name = command.program_name()?;
    // Their argument is a program, which may run others.
    if matches!(name, "sed" | "awk" | "gawk" | "mawk") && command.read_only().is_err() {
        return command.words.first().map(|word| word.raw.as_str());
    }
    let letters = LETTERS.iter().find(|(program, _)| *program == name).map_or("", |it| it.1);
    let verbs = VERBS.iter().find(|(program, _)| *program == name).map_or(&[][..], |it| it.1);
    let word = command.arguments().iter().find(|word| match &word.meaning {
        Meaning::Plain(text) => {
            is_running(text, letters) || verbs.contains(&text.as_str()) || sets_shell(name, text)
        }
        Meaning::Unknown(_) => true,
        Meaning::Pattern(_) => word.raw.starts_with(['*', '?', '[']),
        Meaning::Number | Meaning::Anchored(_) => false,
    })?;
    Some(&word.raw)
}

fn is_running(text: &str, letters: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    if let Some(long) = name.strip_prefix("--") {
        // Many programs take an option that is cut short.
        return !long.is_empty()
            && LONG.iter().any(|it| *it == long || (long.len() > 2 && it.starts_with(long)));
    }
    if SINGLE_DASH.contains(&name) {
        return true;
    }
    text.starts_with('-') && text.chars().skip(1).any(|it| letters.contains(it))
}

/// `make SHELL=./x`, and `cargo +toolchain`, which may lie in the project.
fn sets_shell(program: &str, text: &str) -> bool {
    match program {
        "make" | "gmake" => text.contains('='),
        "cargo" | "rustc" => text.starts_with('+'),
        _ => false,
    }
}
