//! Places that are never changed or read by the way: what runs by itself later, and what is secret.
//!
//! The policy asks before they are touched, the cage keeps processes from touching them. Names are held
//! against [`folded`], because some file systems take `.GIT`, `.ｇit` and `.g\u{200c}it` for `.git`.

use std::path::{Component, Path, PathBuf};

/// Folders that say what runs later, at any depth of a workspace.
const FOLDERS: &[&str] = &[
    ".git",
    ".caiman",
    ".claude",
    ".crush",
    ".agents",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
];

/// Files that say what runs later, at any depth of a workspace.
const FILES: &[&str] = &[
    "caiman.json",
    ".caiman.json",
    "crush.json",
    ".crush.json",
    ".claude.json",
    ".mcp.json",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".inputrc",
    ".gitconfig",
    ".gitmodules",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".envrc",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    "lefthook.yml",
    ".lefthook.yml",
    ".ripgreprc",
];

/// Folders below `.config` that hold settings of programs that run commands.
const CONFIG_FOLDERS: &[&str] = &["git", "fish", "caiman", "crush", "autostart", "systemd"];

/// Places that others run for us: guarded once a stranger's words are in the context.
const CI: &[&str] = &[
    ".github",
    ".gitlab-ci.yml",
    ".gitlab",
    ".circleci",
    ".travis.yml",
    ".buildkite",
    ".woodpecker",
    ".woodpecker.yml",
    ".drone.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "agents.md",
    "claude.md",
    "caiman.md",
    "crush.md",
    "gemini.md",
    ".cursorrules",
    ".cursor",
];

/// Places in a home folder that hold keys, tokens or the means to get them.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".kube",
    ".docker/config.json",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".config/git/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/caiman/credentials.json",
    "Library/Keychains",
    "Library/Application Support/caiman/credentials.json",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".local/share/crush/crush.json",
    ".bash_history",
    ".zsh_history",
    ".psql_history",
];

/// Endings of `.env` files that hold examples, not secrets.
const ENV_EXAMPLES: &[&str] =
    &["example", "sample", "template", "dist", "defaults", "schema", "test.example"];

/// What a caged process may not change below a workspace root, whether it exists or not. Deeper
/// folders of the same names are the policy's to guard: a cage would have to walk the whole tree.
pub fn protected(root: &Path) -> Vec<PathBuf> {
    let config = CONFIG_FOLDERS.iter().map(|name| root.join(".config").join(name));
    FOLDERS.iter().chain(FILES).map(|name| root.join(name)).chain(config).collect()
}

/// What a caged process may not read, whether it exists or not.
pub fn secret(home: &Path) -> Vec<PathBuf> {
    SECRETS.iter().map(|place| home.join(place)).collect()
}

/// Whether changing `path` needs a question in every mode but bypass: it is below `root` and says what
/// runs later. Sub-agents' work trees (`.claude/worktrees`) are ordinary folders.
pub fn is_protected(path: &Path, root: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    let names = folded_names(below);
    let last = names.len().saturating_sub(1);
    names.iter().enumerate().any(|(index, name)| {
        let next = names.get(index + 1).map(String::as_str);
        let folder = FOLDERS.contains(&name.as_str())
            && !((name == ".claude" || name == ".caiman") && next == Some("worktrees"));
        let config = name == ".config" && next.is_some_and(|next| CONFIG_FOLDERS.contains(&next));
        folder || config || (index == last && FILES.contains(&name.as_str()))
    })
}

/// Whether `path` below `root` is run or obeyed by others later: CI files, instruction files.
pub fn is_persistent(path: &Path, root: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    is_protected(path, root) || folded_names(below).iter().any(|name| CI.contains(&name.as_str()))
}

/// Whether `path` holds secrets: one of the places of [`secret`], or a `.env` file.
pub fn is_secret(path: &Path, home: &Path) -> bool {
    if path.file_name().is_some_and(|name| is_env_file(&folded(&name.to_string_lossy()))) {
        return true;
    }
    if is_process_memory(path) {
        return true;
    }
    let Ok(below) = path.strip_prefix(home) else { return false };
    let names = folded_names(below);
    SECRETS.iter().any(|place| {
        let mut wanted = place.split('/').map(str::to_lowercase);
        let mut have = names.iter();
        wanted.all(|part| have.next() == Some(&part))
    })
}

/// Whether `path` shows what another process knows: its environment or memory.
fn is_process_memory(path: &Path) -> bool {
    let below = path.strip_prefix("/proc").ok().and_then(Path::file_name);
    below.is_some_and(|name| name == "environ" || name == "mem" || name == "kcore")
}

/// A name as the most forgiving file system compares it: case, width and invisible characters gone.
pub fn folded(name: &str) -> String {
    let visible = name.chars().filter(|c| !is_ignorable(*c));
    let plain: String = visible.map(plain).flat_map(char::to_lowercase).collect();
    // Windows drops these, and calls the alternate stream of a folder by a suffix.
    let plain = plain.split("::$").next().unwrap_or_default();
    let trimmed = plain.trim_end_matches(['.', ' ']);
    if trimmed.is_empty() { plain.to_owned() } else { trimmed.to_owned() }
}

fn folded_names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(folded(&name.to_string_lossy())),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => None,
        })
        .collect()
}

/// Whether a folded name is that of a file with secrets for a program's environment.
fn is_env_file(name: &str) -> bool {
    match name.strip_prefix(".env") {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|rest| {
            !ENV_EXAMPLES.iter().any(|end| rest == *end || rest.ends_with(&format!(".{end}")))
        }),
        None => false,
    }
}

/// Characters that HFS+ leaves out when it compares names.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The plain letter behind a compatibility form. All names here are ASCII, so no more is needed.
fn plain(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => {
            u32::from(c).checked_sub(0xfee0).and_then(char::from_u32).unwrap_or(c)
        }
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        '\u{131}' | '\u{130}' => 'i',
        '\u{2024}' | '\u{fe52}' => '.',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(path: &str) -> bool {
        is_protected(&Path::new("/w").join(path), Path::new("/w"))
    }

    #[test]
    fn what_runs_later_is_protected_at_any_depth() {
        for path in [
            ".git/hooks/pre-commit",
            ".git",
            "sub/.git/config",
            ".bashrc",
            "a/.envrc",
            ".mcp.json",
            ".config/git/config",
            ".claude/settings.json",
        ] {
            assert!(guarded(path), "{path}");
        }
        for path in [
            "src/main.rs",
            ".gitignore",
            ".github/workflows/x.yml",
            ".claude/worktrees/a/src/x.rs",
            ".bashrc/x",
            ".config/other",
            "git",
        ] {
            assert!(!guarded(path), "{path}");
        }
        assert!(!is_protected(Path::new("/v/.git"), Path::new("/w")));
    }

    #[test]
    fn other_spellings_of_a_name_are_the_same_name() {
        for path in [
            ".GIT/config",
            ".ｇｉｔ/config",
            ".g\u{200c}it/config",
            ".git./x",
            ".git /x",
            "․git/x",
            ".huſky/x",
        ] {
            assert!(guarded(path), "{path}");
        }
    }

    #[test]
    fn keys_and_environment_files_are_secret_and_examples_are_not() {
        let home = Path::new("/home/u");
        for path in [
            "/home/u/.ssh/id_rsa",
            "/home/u/.SSH",
            "/w/.env",
            "/w/.env.local",
            "/w/.ENV",
            "/proc/1/environ",
        ] {
            assert!(is_secret(Path::new(path), home), "{path}");
        }
        for path in ["/w/.env.example", "/w/.env.local.sample", "/w/.environment", "/home/u/.sshx"]
        {
            assert!(!is_secret(Path::new(path), home), "{path}");
        }
    }

    #[test]
    fn ci_and_instruction_files_persist() {
        let root = Path::new("/w");
        assert!(is_persistent(Path::new("/w/.github/workflows/ci.yml"), root));
        assert!(is_persistent(Path::new("/w/AGENTS.md"), root));
        assert!(!is_persistent(Path::new("/w/src/lib.rs"), root));
    }
}
