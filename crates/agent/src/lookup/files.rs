//! Files of a folder by some letters of their path, while somebody types them.
//!
//! The first look walks the folder; after that the paths are kept, one big text and where each path ends,
//! so that a letter typed costs a pass over memory. A list that has aged is searched all the same and
//! renewed beside it; one nobody has used for a while is dropped at the next use of any.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base::TaskScope;
use base::fuzzy::{self, Pattern, Scratch};
use base::protocol::ClientError;

use super::aside;
use crate::live::lock;

/// How long a list counts as what is on disk.
const FRESH: Duration = Duration::from_secs(3);
/// How long a list that nobody uses is kept, and how old one may be that is still searched.
const KEPT: Duration = Duration::from_mins(1);
/// Most paths that are kept: about 20 MB of them.
const MOST_PATHS: usize = 300_000;

/// A folder to look through.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// The user's home: what is secret there is left out.
    pub(super) home: PathBuf,
}

/// The lists of a process. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Files {
    lists: Arc<Mutex<HashMap<PathBuf, Kept>>>,
    /// Held by the one walk that runs: whoever comes meanwhile finds its list.
    walking: Arc<tokio::sync::Mutex<()>>,
}

struct Kept {
    list: Arc<List>,
    walked: Instant,
    used: Instant,
}

/// What was found at one walk, shallow paths first.
struct List {
    text: String,
    /// Where each path ends in `text`, and which letters it holds.
    paths: Vec<(u32, u64)>,
}

impl Files {
    /// The paths that fit, best first.
    pub(super) async fn search(
        &self,
        scope: &TaskScope,
        place: Place,
        search: String,
        limit: usize,
    ) -> Result<Vec<String>, ClientError> {
        let list = match self.known(&place.folder) {
            Some((list, age)) => {
                if age > FRESH {
                    self.renew(scope, place);
                }
                list
            }
            None => self.walk(place).await?,
        };
        aside(move || list.search(&search, limit)).await
    }

    /// A list that may still be searched, and its age.
    fn known(&self, folder: &Path) -> Option<(Arc<List>, Duration)> {
        let now = Instant::now();
        let mut lists = lock(&self.lists);
        lists.retain(|_, kept| now.duration_since(kept.used) < KEPT);
        let kept = lists.get_mut(folder)?;
        let age = now.duration_since(kept.walked);
        kept.used = now;
        (age < KEPT).then(|| (kept.list.clone(), age))
    }

    /// Walks beside whoever searches, unless somebody walks already.
    fn renew(&self, scope: &TaskScope, place: Place) {
        let Ok(walking) = self.walking.clone().try_lock_owned() else { return };
        let files = self.clone();
        scope.spawn(async move {
            // A folder that is gone meanwhile is told of when its list is too old.
            drop(aside(move || files.take(&place, walking)).await);
        });
    }

    async fn walk(&self, place: Place) -> Result<Arc<List>, ClientError> {
        let walking = self.walking.clone().lock_owned().await;
        if let Some((list, _)) = self.known(&place.folder) {
            return Ok(list);
        }
        let files = self.clone();
        aside(move || files.take(&place, walking)).await?
    }

    /// Walks a folder and keeps its list.
    fn take(
        &self,
        place: &Place,
        _walking: tokio::sync::OwnedMutexGuard<()>,
    ) -> Result<Arc<List>, ClientError> {
        let paths = tools::paths_below(&place.folder, &place.home, MOST_PATHS);
        let paths = paths.map_err(|error| {
            let folder = place.folder.display();
            ClientError::Refused(format!("cannot look into {folder}: {error}"))
        })?;
        let list = Arc::new(List::of(paths));
        let now = Instant::now();
        let kept = Kept { list: list.clone(), walked: now, used: now };
        lock(&self.lists).insert(place.folder.clone(), kept);
        Ok(list)
    }
}

impl List {
    fn of(mut paths: Vec<String>) -> Self {
        let depth = |path: &str| path.trim_end_matches('/').matches('/').count();
        paths.sort_by_cached_key(|path| (depth(path), path.clone()));
        let mut list = Self {
            text: String::with_capacity(paths.iter().map(String::len).sum()),
            paths: Vec::with_capacity(paths.len()),
        };
        for path in paths {
            let Ok(end) = u32::try_from(list.text.len() + path.len()) else { break };
            list.text.push_str(&path);
            list.paths.push((end, fuzzy::mask(&path)));
        }
        list
    }

    fn search(&self, search: &str, limit: usize) -> Vec<String> {
        let pattern = Pattern::new(search);
        if pattern.is_empty() {
            return self.all().take(limit).map(|(path, _)| path.to_owned()).collect();
        }
        let mut scratch = Scratch::default();
        let fitting = self.all().enumerate().filter(|(_, (_, mask))| pattern.may_fit(*mask));
        let scored = fitting.filter_map(|(number, (path, _))| {
            let score = pattern.score(path, &mut scratch)?;
            Some((Reverse(score), path.len(), number))
        });
        let mut scored: Vec<_> = scored.collect();
        if scored.len() > limit && limit > 0 {
            scored.select_nth_unstable(limit - 1);
        }
        scored.truncate(limit);
        scored.sort_unstable();
        scored.into_iter().map(|(.., number)| self.path(number).to_owned()).collect()
    }

    fn path(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.paths[before].0);
        &self.text[start as usize..self.paths[number].0 as usize]
    }

    fn all(&self) -> impl Iterator<Item = (&str, u64)> {
        self.paths.iter().enumerate().map(|(number, (_, mask))| (self.path(number), *mask))
    }
}

#[cfg(test)]
mod tests;
