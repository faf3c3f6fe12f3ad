//! What git is told besides its command: an environment of its own, and settings over the repository's.

use std::path::{Path, PathBuf};

use base::Env;

use super::Repository;

/// Variables that git gets from the user's environment.
const KEPT_VARIABLES: [&str; 8] =
    ["HOME", "PATH", "TMPDIR", "TZ", "USER", "LOGNAME", "XDG_CONFIG_HOME", "SYSTEMROOT"];

/// Variables that are the same for every call.
const FIXED_VARIABLES: [(&str, &str); 14] = [
    // Only the repository's own settings count: they were checked.
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    // An empty list allows no protocol, whatever `protocol.*.allow` says.
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_SSH_COMMAND", "/bin/false"),
    ("GIT_EDITOR", "/bin/false"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// Settings that win over the repository's, so that git starts no program of its choice.
const OVERRIDES: [&str; 22] = [
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.editor=/bin/false",
    "core.askPass=/bin/false",
    "core.sshCommand=/bin/false",
    "core.gitProxy=/bin/false",
    "core.alternateRefsCommand=/bin/false",
    "core.quotePath=true",
    "credential.helper=",
    "gpg.program=/bin/false",
    "gpg.ssh.program=/bin/false",
    "gpg.x509.program=/bin/false",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "diff.submodule=short",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// The user's own settings that change what a status says. They name no program.
const USER_SETTINGS: [&str; 3] = ["excludesfile", "autocrlf", "eol"];
/// Largest settings file of the user's that is read.
const USER_BYTES: u64 = 256 * 1024;

/// The few variables git needs of the user's environment.
pub(super) fn clean(env: &Env) -> Env {
    let kept = KEPT_VARIABLES.iter().filter_map(|name| Some((*name, env.get(name)?)));
    let language = env.iter().filter(|(name, _)| name.starts_with("LC_") || *name == "LANG");
    kept.chain(language).collect()
}

/// The whole environment of a call: cleaned, and pinned to the repository that was checked.
pub(super) fn environment(env: &Env, repository: &Repository) -> Env {
    let path = |path: &Path| path.display().to_string();
    let git_dir = repository.git_dir();
    let fixed = FIXED_VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let pinned = [
        ("GIT_DIR".to_owned(), path(git_dir)),
        ("GIT_WORK_TREE".to_owned(), path(repository.top())),
        ("GIT_COMMON_DIR".to_owned(), path(repository.common_dir().unwrap_or(git_dir))),
    ];
    clean(env).with(fixed).with(pinned)
}

/// The arguments before the command: `-c name=value` for each setting.
pub(super) fn overrides(env: &Env, home: &Path) -> Vec<String> {
    let fixed = OVERRIDES.iter().map(|setting| (*setting).to_owned());
    let own = user_settings(env, home);
    let settings = fixed.chain(own).flat_map(|setting| ["-c".to_owned(), setting]);
    ["--no-pager".to_owned()].into_iter().chain(settings).collect()
}

/// What the user's own files say about ignored files and line ends. Later files win.
fn user_settings(env: &Env, home: &Path) -> Vec<String> {
    let xdg = env.get("XDG_CONFIG_HOME").map(PathBuf::from);
    let xdg = xdg.unwrap_or_else(|| home.join(".config"));
    let files = [xdg.join("git/config"), home.join(".gitconfig")];
    files.iter().flat_map(|file| core_settings(&read_text(file), home)).collect()
}

/// Wanted settings of the `[core]` section, in the plain form that git itself writes.
fn core_settings(text: &str, home: &Path) -> Vec<String> {
    let mut is_core = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line.eq_ignore_ascii_case("[core]");
        }
        let Some((name, value)) = line.split_once('=').filter(|_| is_core) else { continue };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"'));
        if !USER_SETTINGS.contains(&name.as_str()) || value.contains(['\\', '#', ';', '"']) {
            continue;
        }
        let value = match value.strip_prefix("~/") {
            Some(rest) => home.join(rest).display().to_string(),
            None => value.to_owned(),
        };
        found.push(format!("core.{name}={value}"));
    }
    found
}

fn read_text(file: &Path) -> String {
    let is_small = |found: std::fs::Metadata| found.is_file() && found.len() <= USER_BYTES;
    let is_readable = std::fs::metadata(file).is_ok_and(is_small);
    let text = if is_readable { std::fs::read_to_string(file).ok() } else { None };
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_git_variable_of_the_user_reaches_git() {
        let env = Env::from_iter([
            ("GIT_DIR", "/evil"),
            ("GIT_EXTERNAL_DIFF", "/evil"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_EXEC_PATH", "/evil"),
            ("LD_PRELOAD", "/evil"),
            ("PATH", "/bin"),
            ("LC_CTYPE", "C.UTF-8"),
        ]);
        let kept: Vec<String> = clean(&env).iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(kept, ["LC_CTYPE", "PATH"]);
    }

    #[test]
    fn the_users_ignored_files_are_known() {
        let text = "[user]\n\texcludesfile = no\n[core]\n\teditor = vim\n\texcludesFile = ~/.ignored\n\
                    \tautocrlf = input ; comment\n[alias]\n\teol = lf\n";
        assert_eq!(core_settings(text, Path::new("/h")), ["core.excludesfile=/h/.ignored"]);
    }
}
