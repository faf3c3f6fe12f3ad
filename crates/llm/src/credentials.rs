//! Keys the user gave with `caiman login`: in the system's keyring, else in a file only they can read.
//!
//! The file is also the index: it tells which providers have a key in the keyring and how that key
//! ends. So listing keys unlocks nothing, and a run whose key comes from elsewhere starts no helper.

mod file;
mod keyring;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Env, RunCommand, RunError, Secret};
use serde::{Deserialize, Serialize};

use self::keyring::Keyring;

/// The user's stored keys. Cheap to clone; several processes may use the same file at once.
#[derive(Clone)]
pub struct Credentials {
    file: PathBuf,
    keyring: Keyring,
}

impl Credentials {
    /// Keys in `file` and in the keyring that `env` gives access to. Touches neither yet.
    pub fn new(file: PathBuf, env: &Env, runner: Arc<dyn RunCommand>) -> Self {
        Self { file, keyring: Keyring::of_system(env, runner) }
    }

    /// Keys in `file` alone.
    pub fn in_file(file: PathBuf) -> Self {
        Self { file, keyring: Keyring::None }
    }

    /// Whether a key is stored for `provider`, and where, without reading it.
    pub fn find(&self, provider: &str) -> Result<Option<Listed>, CredentialsError> {
        Ok(self.list()?.into_iter().find(|listed| listed.provider == provider))
    }

    /// The key of `provider`.
    pub fn get(&self, provider: &str) -> Result<Option<Secret>, CredentialsError> {
        match file::read(&self.file)?.keys.remove(provider) {
            None => Ok(None),
            Some(Entry::Here { key }) => Ok(Some(Secret::new(key))),
            Some(Entry::Keyring { .. }) => self.keyring.get(provider).map_err(|source| {
                CredentialsError::Keyring { provider: provider.to_owned(), source }
            }),
        }
    }

    /// Stores the key of `provider`, in the keyring if there is one that works.
    pub fn put(&self, provider: &str, key: &Secret) -> Result<Stored, CredentialsError> {
        let (entry, place, note) = match self.keyring.put(provider, key) {
            Ok(()) => {
                (Entry::Keyring { ending: key.masked() }, Place::Keyring(Keyring::name()), None)
            }
            Err(keyring::Refusal::Absent) => self.in_own_file(key, None),
            Err(keyring::Refusal::Failed(why)) => self.in_own_file(key, Some(why)),
        };
        file::update(&self.file, |index| {
            index.keys.insert(provider.to_owned(), entry);
        })?;
        Ok(Stored { place, note })
    }

    fn in_own_file(&self, key: &Secret, note: Option<String>) -> (Entry, Place, Option<String>) {
        (Entry::Here { key: key.expose().to_owned() }, Place::File(self.file.clone()), note)
    }

    /// Forgets the key of `provider`; tells whether there was one.
    pub fn remove(&self, provider: &str) -> Result<Option<Listed>, CredentialsError> {
        let Some(listed) = self.find(provider)? else { return Ok(None) };
        if let Place::Keyring(_) = listed.place {
            self.keyring.remove(provider).map_err(|source| CredentialsError::Keyring {
                provider: provider.to_owned(),
                source,
            })?;
        }
        file::update(&self.file, |index| {
            index.keys.remove(provider);
        })?;
        Ok(Some(listed))
    }

    /// Every stored key, without reading any from the keyring.
    pub fn list(&self) -> Result<Vec<Listed>, CredentialsError> {
        let listed = |(provider, entry)| match entry {
            Entry::Here { key } => Listed {
                provider,
                place: Place::File(self.file.clone()),
                masked: Secret::new(key).masked(),
            },
            Entry::Keyring { ending } => {
                Listed { provider, place: Place::Keyring(Keyring::name()), masked: ending }
            }
        };
        Ok(file::read(&self.file)?.keys.into_iter().map(listed).collect())
    }

    /// Takes the file away from other users of the machine; tells whether they could read it.
    pub fn tighten(&self) -> Result<bool, CredentialsError> {
        file::tighten(&self.file)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.file
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("file", &self.file).finish_non_exhaustive()
    }
}

/// A stored key, as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The provider's id.
    pub provider: String,
    /// Where the key is.
    pub place: Place,
    /// Its end, behind dots.
    pub masked: String,
}

/// What became of a key given to [`Credentials::put`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Where it is now.
    pub place: Place,
    /// Why it is not in the keyring, if there is one.
    pub note: Option<String>,
}

/// Where a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the system's keyring, by this name.
    Keyring(&'static str),
    /// In this file.
    File(PathBuf),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Why stored keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The file cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file or its folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not what we write. It is left as it is.
    #[error("{} is damaged: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and how.
        source: serde_json::Error,
    },
    /// The keyring does not give the key out.
    #[error("the keyring keeps the key of {provider} to itself: {source}")]
    Keyring {
        /// Whose key.
        provider: String,
        /// What the keyring said.
        source: KeyringError,
    },
}

/// What a keyring said.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// Its helper program failed.
    #[error(transparent)]
    Helper(#[from] RunError),
    /// Its library failed.
    #[error("{0}")]
    Library(String),
    /// This session has none, though the key was put into one.
    #[error("no keyring in this session")]
    Absent,
}

/// The file's content.
#[derive(Default, Deserialize, Serialize)]
struct Index {
    #[serde(default)]
    keys: BTreeMap<String, Entry>,
}

/// What the file holds for one provider. Never printed: it has no `Debug`.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Entry {
    /// The key itself.
    Here { key: String },
    /// The key is in the keyring; this is how it ends.
    Keyring { ending: String },
}
