//! Options that make a program run, load or obey something else. While untrusted content is in the context they are
//! asked about, even where a rule covers the line.

use crate::shell::{Meaning, Simple, Word};

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
    "confcutdir",
    "manifest-path",
    "rootdir",
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
    "-ldflags",
    "-gcflags",
    "-overlay",
    "-modfile",
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
    ("rsync", "eM"),
    ("curl", "K"),
    ("gcc", "B"),
    ("ssh", "oF"),
    ("scp", "oFS"),
    ("pytest", "pco"),
    ("jest", "c"),
    ("eslint", "c"),
    ("vim", "cSu"),
    ("nvim", "cSu"),
    ("make", "fEIC"),
    ("cargo", "ZC"),
    ("rustc", "ZC"),
    ("man", "PH"),
    ("zip", "T"),
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
    ("rustup", &["run"]),
];

/// The word of a command that makes it run something else, or that may be such an option.
pub(super) fn running_word(command: &Simple) -> Option<&str> {
    if runs_own_language(command) {
        return command.words.first().map(|word| word.raw.as_str());
    }
    let options = ProgramOptions::of(command)?;
    let word = command.arguments().iter().enumerate().find(|(at, word)| match &word.meaning {
        Meaning::Plain(text) => options.runs(text, *at),
        Meaning::Unknown(_) => true,
        Meaning::Pattern(_) => word.raw.starts_with(['*', '?', '[']),
        Meaning::Number | Meaning::Anchored(_) => false,
    });
    word.map(|(_, word)| word.raw.as_str())
}

/// The texts that options of a command hand to a shell or start as a program.
pub(super) fn running_texts(command: &Simple) -> Vec<String> {
    let text = |word: &Word| word.plain().unwrap_or(&word.raw).to_owned();
    if runs_own_language(command) {
        return command.arguments().iter().map(text).collect();
    }
    let Some(options) = ProgramOptions::of(command) else { return Vec::new() };
    let arguments = command.arguments();
    let mut all = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let own = text(word);
        if !options.runs(&own, at) {
            continue;
        }
        // The value may be attached, or be all that follows.
        let attached = own.trim_start_matches('-');
        all.extend(attached.split_once('=').map(|(_, value)| value.to_owned()));
        all.extend(attached.get(1..).map(str::to_owned));
        let rest: Vec<String> = arguments[at + 1..].iter().map(text).collect();
        all.extend(rest.first().cloned());
        all.push(rest.join(" "));
    }
    all
}

/// Whether the command's argument is a program in a language that can run others.
fn runs_own_language(command: &Simple) -> bool {
    matches!(command.program_name(), Some("sed" | "awk" | "gawk" | "mawk" | "ed" | "ex"))
        && command.read_only().is_err()
}

/// The options of one program that run something else.
struct ProgramOptions<'c> {
    program: &'c str,
    letters: &'static str,
    verbs: &'static [&'static str],
}

impl<'c> ProgramOptions<'c> {
    fn of(command: &'c Simple) -> Option<Self> {
        let program = command.program_name()?;
        let letters = LETTERS.iter().find(|(known, _)| *known == program).map_or("", |it| it.1);
        let verbs = VERBS.iter().find(|(known, _)| *known == program).map_or(&[][..], |it| it.1);
        Some(Self { program, letters, verbs })
    }

    fn runs(&self, text: &str, at: usize) -> bool {
        // The first word of tar is a bundle of options without a dash.
        let is_bundle = self.program == "tar" && at == 0 && text.contains(['I', 'F']);
        is_bundle
            || is_running(text, self.letters)
            || self.verbs.contains(&text)
            || sets_shell(self.program, text)
            || (matches!(self.program, "vim" | "nvim" | "vi" | "less") && text.starts_with('+'))
    }
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
