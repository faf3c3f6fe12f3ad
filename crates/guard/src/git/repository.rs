//! A repository as its files describe it, found and checked without git.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest `.git` file, `HEAD` or `commondir` that is read. Git pads none of them.
const POINTER_BYTES: u64 = 8 * 1024;
/// Largest settings file that is read.
const CONFIG_BYTES: u64 = 256 * 1024;
/// Sections, as they begin in a settings file, that name programs git cannot be told to leave out, or files with
/// more settings. A section's name stands in plain ASCII right after its bracket, so no spelling escapes.
const RISKY_SECTIONS: [&str; 3] = ["[filter", "[include", "[hook"];

/// A repository and the folder that is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    top: PathBuf,
    git_dir: PathBuf,
    /// Where a worktree's shared files are; `Err` if its `commondir` cannot be relied on.
    common_dir: Result<PathBuf, ConfigRisk>,
}

/// Why a repository's settings may start programs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigRisk {
    /// They have a section that can name a program.
    #[error("the git settings in {} have a `{section}]` section, which can start programs", file.display())]
    Section {
        /// The settings file.
        file: PathBuf,
        /// The section's first letters.
        section: &'static str,
    },
    /// A file cannot be checked.
    #[error("{} cannot be checked for programs it may start: {why}", file.display())]
    Unchecked {
        /// The file.
        file: PathBuf,
        /// What is odd about it.
        why: String,
    },
}

impl Repository {
    /// The repository `folder` is in: that of the nearest `.git`. A bare repository that lies among the files is not
    /// taken for one, though git would. `None` where there is no usable `.git`.
    pub fn find(folder: &Path) -> Option<Self> {
        let mut above = folder.ancestors();
        let top = above.find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok())?;
        let git_dir = git_dir(&top.join(".git"))?;
        let common_dir = common_dir(&git_dir);
        Some(Self { top: fs::canonicalize(top).ok()?, git_dir, common_dir })
    }

    /// The folder that is checked out.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The git folder, which a worktree has for itself.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git folder that all worktrees share.
    pub fn common_dir(&self) -> Result<&Path, ConfigRisk> {
        self.common_dir.as_deref().map_err(Clone::clone)
    }

    /// Both git folders, as far as they are known.
    pub(super) fn git_folders(&self) -> Vec<PathBuf> {
        std::iter::once(&self.git_dir).chain(&self.common_dir).cloned().collect()
    }

    /// What `HEAD` says, without the line break; `None` if there is none.
    pub fn head(&self) -> Option<String> {
        let head = small_file(&self.git_dir.join("HEAD"), POINTER_BYTES).ok()??;
        Some(String::from_utf8_lossy(&head).trim().to_owned())
    }

    /// Refuses a repository whose settings may start programs. Anything that cannot be read counts as such.
    pub fn check(&self) -> Result<(), ConfigRisk> {
        let common = self.common_dir()?;
        for folder in [common, &self.git_dir] {
            for name in ["config", "config.worktree"] {
                check_settings(&folder.join(name))?;
            }
        }
        Ok(())
    }
}

/// The folder a `.git` is or names: worktrees and submodules have a file there.
fn git_dir(place: &Path) -> Option<PathBuf> {
    if place.is_dir() {
        return fs::canonicalize(place).ok();
    }
    let text = small_file(place, POINTER_BYTES).ok()??;
    let named = path_of(text.strip_prefix(b"gitdir: ")?)?;
    let folder = fs::canonicalize(place.parent()?.join(named)).ok()?;
    folder.is_dir().then_some(folder)
}

fn common_dir(git_dir: &Path) -> Result<PathBuf, ConfigRisk> {
    let file = git_dir.join("commondir");
    let odd = |why: String| ConfigRisk::Unchecked { file: file.clone(), why };
    let text = small_file(&file, POINTER_BYTES).map_err(|error| odd(error.to_string()))?;
    let Some(text) = text else { return Ok(git_dir.to_owned()) };
    let named = path_of(&text).ok_or_else(|| odd("it names no folder".to_owned()))?;
    fs::canonicalize(git_dir.join(named)).map_err(|error| odd(error.to_string()))
}

/// A path on one line, which may end in a line break.
fn path_of(text: &[u8]) -> Option<PathBuf> {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let is_odd = line.is_empty() || line.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0));
    let text = std::str::from_utf8(line).ok()?;
    (!is_odd).then(|| PathBuf::from(text))
}

fn check_settings(file: &Path) -> Result<(), ConfigRisk> {
    let odd = |why: String| ConfigRisk::Unchecked { file: file.to_owned(), why };
    let text = small_file(file, CONFIG_BYTES).map_err(|error| odd(error.to_string()))?;
    let text = text.unwrap_or_default().to_ascii_lowercase();
    for section in RISKY_SECTIONS {
        if text.windows(section.len()).any(|part| part == section.as_bytes()) {
            return Err(ConfigRisk::Section { file: file.to_owned(), section });
        }
    }
    Ok(())
}

/// A small regular file; `None` where there is nothing of that name.
fn small_file(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    // The name itself, too: a link that leads nowhere now may lead somewhere later.
    match fs::symlink_metadata(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    // Not opened before it is known to be a file: a pipe would block.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it is larger than {} KiB", limit / 1024)));
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        dir
    }

    #[test]
    fn settings_that_name_programs_are_refused() {
        for text in [
            "[filter \"x\"]\n\tclean = touch x\n",
            "[FILTER \"x\"] clean = touch x",
            "[filter.x]\nclean = touch x\n",
            "[core]\n\tbare = false\n[user] name = a [includeIf \"gitdir:/\"]\npath = more\n",
            "\u{feff}[include]\npath = more\n",
            "[hook \"x\"]\n\tcommand = touch x\n\tevent = post-checkout\n",
        ] {
            let dir = repository();
            for name in [".git/config", ".git/config.worktree"] {
                fs::write(dir.path().join(name), text).unwrap();
                let found = Repository::find(dir.path()).unwrap();
                assert!(matches!(found.check(), Err(ConfigRisk::Section { .. })), "{name}: {text}");
                fs::remove_file(dir.path().join(name)).unwrap();
            }
        }
    }

    #[test]
    fn ordinary_settings_pass() {
        let dir = repository();
        let text = "[core]\n\thooksPath = .husky\n[remote \"origin\"]\n\tpartialclonefilter = blob:none\n\
                    \tpromisor = true\n[lfs]\n\trepositoryformatversion = 0\n[user]\n\tname = J\u{fc}rgen\n";
        fs::write(dir.path().join(".git/config"), text).unwrap();
        assert_eq!(Repository::find(dir.path()).unwrap().check(), Ok(()));
    }

    #[test]
    fn what_cannot_be_checked_is_refused() {
        let cases: [(&str, Vec<u8>); 6] = [
            ("commondir", [b"../shared".to_vec(), vec![b'\n'; 400_000]].concat()),
            ("commondir", b"../shared\n\n".to_vec()),
            ("commondir", b"".to_vec()),
            ("commondir", b"../gone\n".to_vec()),
            ("config", vec![b'\n'; 400_000]),
            ("config.worktree", vec![b'#'; 400_000]),
        ];
        for (name, text) in cases {
            let dir = repository();
            fs::create_dir(dir.path().join("shared")).unwrap();
            fs::write(dir.path().join(".git").join(name), &text).unwrap();
            let found = Repository::find(dir.path()).unwrap();
            let checked = found.check();
            assert!(matches!(checked, Err(ConfigRisk::Unchecked { .. })), "{name} {}", text.len());
        }
        let dir = repository();
        fs::create_dir(dir.path().join(".git/config")).unwrap();
        assert!(Repository::find(dir.path()).unwrap().check().is_err(), "a folder");
        let dir = repository();
        std::os::unix::fs::symlink("gone", dir.path().join(".git/config")).unwrap();
        assert!(Repository::find(dir.path()).unwrap().check().is_err(), "a link to nowhere");
    }

    #[test]
    fn a_shared_folder_is_checked_too() {
        let dir = repository();
        fs::create_dir_all(dir.path().join("tree")).unwrap();
        fs::create_dir_all(dir.path().join(".git/worktrees/tree")).unwrap();
        fs::write(dir.path().join(".git/worktrees/tree/commondir"), "../..\n").unwrap();
        let pointer = format!("gitdir: {}/.git/worktrees/tree\n", dir.path().display());
        fs::write(dir.path().join("tree/.git"), pointer).unwrap();
        let found = Repository::find(&dir.path().join("tree")).unwrap();
        assert_eq!(found.check(), Ok(()));
        fs::write(dir.path().join(".git/config"), "[include]\npath = x\n").unwrap();
        assert!(found.check().is_err());
    }
}
