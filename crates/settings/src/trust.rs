//! Folder trust: which projects may run what their files say, as those files were when the user said so.
//!
//! A folder's fingerprint covers every file in it that settings, hooks, agents, skills, commands, output
//! styles and plugins are read from, by name and content. Trust is given to a fingerprint, so a change takes it away. This room
//! reads and decides; the entrance asks the user and writes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::{PROJECT_FILES, project_folders};
use base::clock::Timestamp;
use base::protocol::TrustState;

/// Folders whose files define things that run, wherever they are looked for.
const DEFINITION_FOLDERS: [&str; 17] = [
    ".caiman/agents",
    ".caiman/commands",
    ".caiman/hooks",
    ".caiman/output-styles",
    ".caiman/plugins",
    ".caiman/skills",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/output-styles",
    ".claude/skills",
    ".crush/agents",
    ".crush/commands",
    ".crush/hooks",
    ".crush/output-styles",
    ".crush/skills",
    ".agents/skills",
];
/// Most files a fingerprint covers; a folder with more cannot be trusted.
const FILE_LIMIT: usize = 4096;
/// Most bytes a fingerprint covers.
const BYTE_LIMIT: u64 = 64 * 1024 * 1024;
/// Deepest folder a fingerprint looks into.
const DEPTH_LIMIT: usize = 8;

/// The folders the user trusts: what `trust.json` holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedFolders {
    /// By absolute path, links followed.
    pub folders: BTreeMap<PathBuf, TrustedFolder>,
    /// Folders the user does not trust as they were then, and is not asked about again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<PathBuf, TrustedFolder>,
}

/// One folder the user trusts, or does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedFolder {
    /// The fingerprint trust was given to, or refused.
    pub hash: String,
    /// When that was.
    pub since: Timestamp,
}

/// The fingerprint of a folder that holds no such file. Trust in it lets code of the project itself run.
const NOTHING: &str = "nothing";

/// Whether the user lets code of a folder's project run, be it by trust in the folder or in one above it in the same
/// project. No file that can make something run may be among them that is not trusted. `list` is `trust.json`.
pub fn is_vouched_for(list: &Path, folder: &Path) -> bool {
    let Ok(known) = TrustedFolders::read(list) else { return false };
    let folders = project_folders(folder);
    // A fingerprint reads files; most folders are on no list and need none.
    if !folders.iter().any(|folder| known.folders.contains_key(folder)) {
        return false;
    }
    let mut is_vouched = false;
    for folder in folders {
        let Ok(now) = Fingerprint::of(&folder) else { return false };
        let is_plain = now.is_none();
        let now = now.unwrap_or_else(Fingerprint::nothing);
        match known.folders.get(&folder) {
            Some(trusted) if trusted.hash == now.hash => is_vouched = true,
            Some(_) | None if is_plain => {}
            Some(_) | None => return false,
        }
    }
    is_vouched
}

/// Whether programs and settings of a project may run outside the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderTrust {
    /// The user said so, for the project's files as they are now.
    Trusted,
    /// Nobody said so, or the files have changed since.
    Untrusted,
}

impl FolderTrust {
    /// Looks a folder up; `list` is `trust.json`. Reads the files that trust was given to.
    pub fn of(list: &Path, folder: &Path) -> Self {
        if is_vouched_for(list, folder) { Self::Trusted } else { Self::Untrusted }
    }
}

/// Why trust could not be read or decided.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The list of trusted folders is damaged.
    #[error("{} is damaged: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The folder has too much in it to vouch for.
    #[error("{} holds more than {FILE_LIMIT} definition files or 64 MiB of them", .0.display())]
    TooMuch(PathBuf),
}

impl TrustedFolders {
    /// Reads the list; no file means an empty one.
    pub fn read(path: &Path) -> Result<Self, TrustError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(TrustError::Read { path: path.to_owned(), source }),
        };
        serde_json::from_str(&text)
            .map_err(|source| TrustError::Damaged { path: path.to_owned(), source })
    }

    /// How a folder stands. The fingerprint is taken only of folders that are on the list, so a
    /// folder nobody trusts costs nothing.
    pub fn state(&self, folder: &Path) -> Result<TrustState, TrustError> {
        let Some(trusted) = self.folders.get(folder) else { return Ok(TrustState::Unknown) };
        Ok(match Fingerprint::of(folder)? {
            None => TrustState::Empty,
            Some(now) if now.hash == trusted.hash => TrustState::Trusted,
            Some(_) => TrustState::Changed,
        })
    }
}

/// The files of a folder that can make something run, and a hash over them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fingerprint {
    /// SHA-256 over names and contents, in hexadecimal.
    pub hash: String,
    /// The files, relative to the folder, sorted.
    pub files: Vec<PathBuf>,
}

impl Fingerprint {
    /// The fingerprint of a folder that holds no such file.
    pub fn nothing() -> Self {
        Self { hash: NOTHING.to_owned(), files: Vec::new() }
    }

    /// Takes a folder's fingerprint; none when it holds no such file.
    pub fn of(folder: &Path) -> Result<Option<Self>, TrustError> {
        let files = covered(folder)?;
        if files.is_empty() {
            return Ok(None);
        }
        let mut hasher = Sha256::new();
        let mut left = BYTE_LIMIT;
        for file in &files {
            hash_file(&folder.join(file), file, &mut hasher, &mut left)
                .map_err(|source| TrustError::Read { path: folder.join(file), source })?;
            if left == 0 {
                return Err(TrustError::TooMuch(folder.to_owned()));
            }
        }
        let hash = hexadecimal(&hasher.finalize());
        Ok(Some(Self { hash, files }))
    }
}

/// The files a fingerprint covers, relative to the folder, sorted. None of them is read.
pub(crate) fn covered(folder: &Path) -> Result<Vec<PathBuf>, TrustError> {
    let mut found = Found { root: folder, files: Vec::new() };
    for name in PROJECT_FILES.into_iter().chain(DEFINITION_FOLDERS) {
        found.add(PathBuf::from(name), 0)?;
    }
    found.files.sort();
    Ok(found.files)
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

struct Found<'a> {
    root: &'a Path,
    files: Vec<PathBuf>,
}

impl Found<'_> {
    /// Adds a file, or a folder's files. A link counts as what it is, not as what it leads to: a
    /// linked folder is recorded by its target and not entered.
    fn add(&mut self, name: PathBuf, depth: usize) -> Result<(), TrustError> {
        let path = self.root.join(&name);
        let Ok(found) = fs::symlink_metadata(&path) else { return Ok(()) };
        if !found.is_dir() {
            self.files.push(name);
        } else if depth < DEPTH_LIMIT {
            let read_error = |source| TrustError::Read { path: path.clone(), source };
            for entry in fs::read_dir(&path).map_err(read_error)? {
                self.add(name.join(entry.map_err(read_error)?.file_name()), depth + 1)?;
            }
        }
        if self.files.len() > FILE_LIMIT {
            return Err(TrustError::TooMuch(self.root.to_owned()));
        }
        Ok(())
    }
}

/// Each field is preceded by its length, so that no two folders give the same bytes.
fn hash_file(path: &Path, name: &Path, hasher: &mut Sha256, left: &mut u64) -> io::Result<()> {
    let mut field = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    field(name.as_os_str().as_encoded_bytes());
    let found = fs::symlink_metadata(path)?;
    if found.is_symlink() {
        field(b"link");
        field(fs::read_link(path)?.as_os_str().as_encoded_bytes());
    }
    // Follows a link: what it leads to is what would be read. Neither pipes nor devices are opened.
    if !fs::metadata(path).is_ok_and(|target| target.is_file()) {
        field(OsStr::new("no file").as_encoded_bytes());
        return Ok(());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(*left).read_to_end(&mut bytes)?;
    *left -= bytes.len() as u64;
    field(b"file");
    field(&bytes);
    Ok(())
}

#[cfg(test)]
mod tests;
