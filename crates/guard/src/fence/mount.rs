//! A folder under another name, for somebody who may know no other: the researcher's `/home/agent`.
//!
//! Paths are turned from shown to real on the way in ([`Mount::enter`]) and from real to shown on the way
//! out ([`Mount::shown`]). What does not lie below the shown folder by its very spelling is refused before
//! the disk is asked, so that nobody can find out by asking what there is elsewhere.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::FenceError;

/// Most refused requests that are remembered word for word.
const REMEMBERED: usize = 1_000;
/// Characters kept of a refused path.
const PATH_CHARS: usize = 200;
/// Encoded dots, slashes, backslashes, tildes and NULs, and percent signs that hide another round.
const ENCODED: [&str; 6] = ["%2e", "%2f", "%5c", "%7e", "%00", "%25"];

/// The name a folder goes by, and what was refused in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    shown: PathBuf,
    refused: Refusals,
}

/// Requests that were refused; clones share them.
#[derive(Debug, Clone, Default)]
struct Refusals(Arc<Mutex<Vec<String>>>);

/// Two are equal if they are one: a fence and its clones.
impl PartialEq for Refusals {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Refusals {}

impl Mount {
    pub(super) fn new(shown: &Path) -> Self {
        Self { shown: shown.to_owned(), refused: Refusals::default() }
    }

    /// The folder's name.
    pub(super) fn name(&self) -> &Path {
        &self.shown
    }

    /// What is meant below the folder, `.` and `..` taken out; none if the path does not stay there.
    pub(super) fn enter(&self, path: &Path) -> Option<PathBuf> {
        let below = if path.has_root() { path.strip_prefix(&self.shown).ok()? } else { path };
        if is_disguised(below) {
            return None;
        }
        let mut inner = PathBuf::new();
        for part in below.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => inner.push(name),
                // Up to the folder and no further: a path that leaves and comes back knows too much.
                Component::ParentDir => {
                    if !inner.pop() {
                        return None;
                    }
                }
                Component::Prefix(_) | Component::RootDir => return None,
            }
        }
        Some(inner)
    }

    /// A real path below `folder` by the name it has here; of any other only its last part.
    pub(super) fn shown(&self, folder: &Path, real: &Path) -> PathBuf {
        match real.strip_prefix(folder) {
            Ok(below) if below.as_os_str().is_empty() => self.shown.clone(),
            Ok(below) => self.shown.join(below),
            Err(_) => real.file_name().map(PathBuf::from).unwrap_or_default(),
        }
    }

    /// Refuses a request, and remembers it.
    pub(super) fn refuse(&self, path: &Path) -> FenceError {
        let shown: String = path.to_string_lossy().chars().take(PATH_CHARS).collect();
        let shown = shown.escape_debug().to_string();
        tracing::warn!(path = %shown, "forbidden request");
        let mut refused = self.refused.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < REMEMBERED {
            refused.push(shown.clone());
        }
        FenceError::Forbidden { path: shown, folder: self.shown.clone() }
    }

    /// What was refused so far.
    pub(super) fn refused(&self) -> Vec<String> {
        self.refused.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether a path is written such that another program would take it for one that leads elsewhere: a home,
/// a variable, a drive, an address, or dots and slashes in disguise. Here it would only be an odd name; but
/// nobody asks for such a name in good faith.
fn is_disguised(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let first = text.split('/').next().unwrap_or_default();
    text.contains('\\')
        || text.contains(is_lookalike)
        || first.starts_with(['~', '$'])
        || first.ends_with(':')
        || matches!(first.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
        || text.split('/').any(|part| part.len() > 2 && part.bytes().all(|byte| byte == b'.'))
        || text.contains('%') && {
            let lower = text.to_ascii_lowercase();
            ENCODED.iter().any(|code| lower.contains(code))
        }
}

/// Letters that look like dots, slashes or a tilde, or that cannot be seen.
fn is_lookalike(letter: char) -> bool {
    matches!(
        letter,
        '\u{ff0e}' | '\u{2024}'..='\u{2026}' | '\u{3002}' | '\u{ff61}'
            | '\u{ff0f}' | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff3c}' | '\u{2216}' | '\u{fe68}'
            | '\u{ff5e}' | '\u{223c}' | '\u{02dc}'
            | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fffd}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn enter(path: &str) -> Option<String> {
        let mount = Mount::new(Path::new("/home/agent"));
        mount.enter(Path::new(path)).map(|inner| inner.display().to_string())
    }

    #[test]
    fn only_what_is_spelled_inside_enters() {
        for (path, inner) in [
            ("a.md", "a.md"),
            (".", ""),
            ("/home/agent", ""),
            ("/home/agent/", ""),
            ("//home//agent/./a/../b", "b"),
            ("a/b/../../c", "c"),
            ("100%.md", "100%.md"),
            ("..a/b..", "..a/b.."),
        ] {
            assert_eq!(enter(path).as_deref(), Some(inner), "{path}");
        }
        for path in
            ["..", "a/../..", "/home/agent/..", "/home/agent/../agent/a", "/home/agents", "/"]
        {
            assert_eq!(enter(path), None, "{path}");
        }
    }

    #[test]
    fn only_the_last_part_is_shown_of_what_lies_elsewhere() {
        let mount = Mount::new(Path::new("/home/agent"));
        let shown = |real: &str| mount.shown(Path::new("/tmp/r/home"), Path::new(real));
        assert_eq!(shown("/tmp/r/home/a/b"), Path::new("/home/agent/a/b"));
        assert_eq!(shown("/tmp/r/home"), Path::new("/home/agent"));
        assert_eq!(shown("/tmp/r/lock"), Path::new("lock"));
        assert_eq!(shown("/"), Path::new(""));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn what_enters_stays(path in "(/home/agent)?(/|\\.|\\.\\.|a|~|%2e|\\\\|é){0,12}") {
            if let Some(inner) = enter(&path) {
                let inner = Path::new(&inner);
                prop_assert!(inner.components().all(|part| matches!(part, Component::Normal(_))));
            }
        }
    }
}
