//! What providers listed of themselves on this machine: one small file a provider in the cache folder.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::Timestamp;
use serde::{Deserialize, Serialize};
use settings::provider::Model;

/// The folder of such lists.
#[derive(Debug, Clone)]
pub struct Seen {
    folder: PathBuf,
}

/// One provider's list.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
pub struct SeenModels {
    /// When it was asked for.
    pub at: Timestamp,
    /// Its models.
    pub models: Vec<Model>,
}

impl SeenModels {
    /// How old the list is.
    pub fn age(&self, now: Timestamp) -> Duration {
        now.since(self.at)
    }
}

/// A list cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct SeenError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Seen {
    /// Lists in the folder `models` of the cache folder.
    pub fn in_cache(cache: &Path) -> Self {
        Self { folder: cache.join("models") }
    }

    /// The list of one provider. One that cannot be read can be asked for again, so it counts as none.
    pub fn load(&self, provider: &str) -> Option<SeenModels> {
        let text = fs::read(self.file(provider)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps the list of one provider.
    pub fn store(&self, provider: &str, seen: &SeenModels) -> Result<(), SeenError> {
        let path = self.file(provider);
        let write = || {
            fs::create_dir_all(&self.folder)?;
            // Processes that write at the same time write the same kind of thing; the last one wins.
            let beside = path.with_extension(format!("{}.new", std::process::id()));
            let mut file = fs::File::create(&beside)?;
            file.write_all(&serde_json::to_vec(seen)?)?;
            fs::rename(&beside, &path)
        };
        write().map_err(|source| SeenError { path: path.clone(), source })
    }

    /// An id may hold anything a JSON key can; a file name may not.
    fn file(&self, provider: &str) -> PathBuf {
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        self.folder.join(provider.chars().map(safe).collect::<String>() + ".json")
    }
}
