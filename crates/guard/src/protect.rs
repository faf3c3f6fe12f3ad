//! Places that are never changed or read by the way: what runs by itself later, and what is secret. They are
//! listed in `data/places.toml`.
//!
//! The policy asks before they are touched, the cage keeps processes from touching them. Names are held
//! against [`folded`], because some file systems take `.GIT`, `.ｇit` and `.g\u{200c}it` for `.git`.

mod places;

use std::path::{Component, Path, PathBuf};

use self::places::Places;

/// What a caged process may not change below a workspace root, whether it exists or not. Deeper
/// folders of the same names are the policy's to guard: a cage would have to walk the whole tree.
pub fn protected(root: &Path) -> Vec<PathBuf> {
    let start_up = &Places::get().start_up;
    let config = start_up.config_folders.iter().map(|name| root.join(".config").join(name.real()));
    let names = start_up.folders.iter().chain(&start_up.files).map(|name| root.join(name.real()));
    names.chain(config).chain(protected_by_ending(root)).collect()
}

/// Files directly in `root` that are protected for how their names end; only those that exist can be known.
pub fn protected_by_ending(root: &Path) -> Vec<PathBuf> {
    /// Most entries of a folder that are looked at.
    const LOOK_LIMIT: usize = 4096;
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten().take(LOOK_LIMIT);
    let is_protected = |entry: &std::fs::DirEntry| {
        has_protected_ending(&folded(&entry.file_name().to_string_lossy()))
    };
    entries.filter(is_protected).map(|entry| entry.path()).collect()
}

/// What a caged process may not change in a home folder besides [`protected`], whether it exists or not: what starts
/// programs only there.
pub fn home_start_up(home: &Path) -> Vec<PathBuf> {
    Places::get().home_start_up.iter().map(|place| home.join(place.real())).collect()
}

/// What a caged process may not read, whether it exists or not.
pub fn secret(home: &Path) -> Vec<PathBuf> {
    Places::get().secret.iter().map(|place| home.join(place.real())).collect()
}

/// Whether changing `path` needs a question in every mode but bypass: it is below `root` and says what
/// runs later. Sub-agents' work trees (`.claude/worktrees`) are ordinary folders.
pub fn is_protected(path: &Path, root: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    let start_up = &Places::get().start_up;
    let names = folded_names(below);
    let last = names.len().saturating_sub(1);
    names.iter().enumerate().any(|(index, name)| {
        let next = names.get(index + 1).map(String::as_str);
        let folder = start_up.folders.has(name)
            && !((name == ".claude" || name == ".caiman") && next == Some("worktrees"));
        let config =
            name == ".config" && next.is_some_and(|next| start_up.config_folders.has(next));
        let file = index == last && (start_up.files.has(name) || has_protected_ending(name));
        folder || config || file
    })
}

/// Whether `path` is one of the places of [`home_start_up`], or lies in one.
pub fn is_home_start_up(path: &Path, home: &Path) -> bool {
    lies_in(path, home, &Places::get().home_start_up)
}

/// Whether `path` below `root` is run or obeyed by others later: CI files, instruction files.
pub fn is_persistent(path: &Path, root: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    let shared = &Places::get().shared;
    is_protected(path, root) || folded_names(below).iter().any(|name| shared.has(name))
}

/// Whether `path` holds secrets: one of the places of [`secret`], or a `.env` file.
pub fn is_secret(path: &Path, home: &Path) -> bool {
    is_environment_file(path)
        || is_process_memory(path)
        || lies_in(path, home, &Places::get().secret)
}

/// Whether `path` is, by its name, a file with secrets for a program's environment: `.env`, `.env.local`, but not
/// `.env.example`.
pub fn is_environment_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| is_env_file(&folded(&name.to_string_lossy())))
}

/// Whether `path` is one of the places below `home`, or lies in one.
fn lies_in(path: &Path, home: &Path, places: &places::Names) -> bool {
    let Ok(below) = path.strip_prefix(home) else { return false };
    let names = folded_names(below);
    // Every beginning of the path, as a place would be written.
    let mut beginning = String::new();
    names.iter().any(|name| {
        if !beginning.is_empty() {
            beginning.push('/');
        }
        beginning.push_str(name);
        places.has(&beginning)
    })
}

fn has_protected_ending(name: &str) -> bool {
    Places::get().start_up.endings.iter().any(|ending| name.ends_with(ending.folded()))
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
            let mut endings = Places::get().environment_examples.iter().map(places::Name::folded);
            !endings.any(|end| {
                rest.strip_suffix(end)
                    .is_some_and(|before| before.is_empty() || before.ends_with('.'))
            })
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
    fn start_up_files_of_agents_editors_and_shells_are_protected() {
        for path in [
            ".cursor/mcp.json",
            ".gemini/settings.json",
            ".codex/config.toml",
            ".opencode/agent/x.md",
            "opencode.json",
            ".kiro/hooks/x",
            ".windsurf/rules",
            ".roo/mcp.json",
            ".zed/tasks.json",
            ".vscode/tasks.json",
            "sub/team.code-workspace",
            ".devcontainer.json",
            ".exrc",
            ".nvim.lua",
            ".dir-locals.el",
            ".gdbinit",
            ".lldbinit",
            ".mise.toml",
            "bunfig.toml",
            ".pnpmfile.cjs",
            "lefthook.yaml",
            "lefthook-local.yml",
            ".bazelrc",
            ".Rprofile",
            ".config/nushell/config.nu",
            ".config/fish/config.fish",
        ] {
            assert!(guarded(path), "{path}");
        }
    }

    #[test]
    fn ordinary_project_files_are_not_protected() {
        for path in [
            "package.json",
            "Makefile",
            "Cargo.toml",
            "pyproject.toml",
            "Dockerfile",
            "docker-compose.yml",
            ".gitignore",
            ".gitattributes",
            ".editorconfig",
            ".prettierrc",
            ".eslintrc.json",
            "tsconfig.json",
            "justfile",
            ".tool-versions",
            ".nvmrc",
            ".python-version",
            "bin/tool",
            "src/.local/bin/x",
            "settings.json",
        ] {
            assert!(!guarded(path), "{path}");
        }
    }

    #[test]
    fn places_that_hold_credentials_are_secret() {
        let home = Path::new("/home/u");
        for path in [
            ".config/caiman/caiman.json",
            ".local/share/caiman/caiman.db",
            ".claude.json",
            ".config/crush/crush.json",
            ".local/share/fish/fish_history",
            ".python_history",
            ".mysql_history",
            ".sqlite_history",
            ".local/share/opencode/auth.json",
            ".gemini/oauth_creds.json",
            ".config/github-copilot/hosts.json",
            ".config/rclone/rclone.conf",
            ".m2/settings.xml",
            ".gradle/gradle.properties",
            ".composer/auth.json",
            ".config/composer/auth.json",
            ".cache/huggingface/token",
            ".huggingface/token",
            ".pulumi/credentials.json",
            ".config/glab-cli/config.yml",
            ".config/BraveSoftware/Brave-Browser/Default/Cookies",
            ".config/microsoft-edge/Default/Cookies",
            ".thunderbird/x/logins.json",
            ".config/Slack/Cookies",
            ".config/solana/id.json",
            ".config/Code/User/globalStorage/state.vscdb",
        ] {
            assert!(is_secret(&home.join(path), home), "{path}");
        }
        for path in [".config/fish/config.fish", ".cargo/config.toml", ".m2/repository/x.jar", "x"]
        {
            assert!(!is_secret(&home.join(path), home), "{path}");
        }
    }

    #[test]
    fn what_starts_programs_in_a_home_folder_does_so_only_there() {
        let home = Path::new("/home/u");
        for path in [".local/bin/ls", ".xprofile", ".config/environment.d/x.conf", ".vim/plugin/x"]
        {
            assert!(is_home_start_up(&home.join(path), home), "{path}");
            assert!(!is_home_start_up(&Path::new("/w").join(path), home), "{path}");
        }
        assert!(!is_home_start_up(&home.join("work/bin/x"), home));
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
