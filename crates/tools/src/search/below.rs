//! Every path below a folder, for faces that complete them as they are typed.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use guard::Fence;
use tokio_util::sync::CancellationToken;

use super::walk::Root;
use super::{Stop, threads};

/// How long a walk may take; what it has found until then is all there is.
const TIME: Duration = Duration::from_secs(10);

/// Files and folders below `folder`, relative to it, in no order; folders end in a slash. They are those that
/// `glob` finds: ignore files count, links are not followed, secret places below `home` are left out. At
/// most about `most` of them. Blocks.
pub fn paths_below(folder: &Path, home: &Path, most: usize) -> io::Result<Vec<String>> {
    let fence = Fence::new(folder, &[], home)?;
    let spot = fence.locate(".").map_err(io::Error::other)?;
    let root = Root::new(&fence, &spot);
    let stop = Stop::new(CancellationToken::new(), TIME);
    let (all, count) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    root.show(threads(), &stop, || {
        let mut share = Share { paths: Vec::new(), all: &all };
        let (root, stop, count) = (&root, &stop, &count);
        move |entry| {
            // A name that is no text cannot be typed.
            let Some(path) = root.relative(entry.path()).to_str().filter(|it| !it.is_empty())
            else {
                return;
            };
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            share.paths.push(if is_folder { format!("{path}/") } else { path.to_owned() });
            if count.fetch_add(1, Ordering::Relaxed) + 1 >= most {
                stop.enough();
            }
        }
    });
    Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// One thread's share, added to all when the thread is done.
struct Share<'a> {
    paths: Vec<String>,
    all: &'a Mutex<Vec<String>>,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.paths);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_git_ignores_and_what_links_lead_to_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("project");
        for name in ["src/deep/one.rs", "target/out.o", "notes/private.md", ".hidden"] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(folder.join(".gitignore"), "target\n").unwrap();
        fs::write(folder.join(".caimanignore"), "notes\n").unwrap();
        fs::create_dir_all(dir.path().join("elsewhere")).unwrap();
        fs::write(dir.path().join("elsewhere/far.rs"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), folder.join("out")).unwrap();
        let mut found = paths_below(&folder, dir.path(), 100).unwrap();
        found.retain(|path| path != "out");
        found.sort();
        let expected =
            [".caimanignore", ".gitignore", ".hidden", "src/", "src/deep/", "src/deep/one.rs"];
        assert_eq!(found, expected);
        assert!(paths_below(&folder.join("gone"), dir.path(), 100).is_err());
    }

    #[test]
    fn a_walk_ends_when_it_has_enough() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..2_000 {
            fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        let found = paths_below(dir.path(), dir.path(), 100).unwrap().len();
        assert!((100..2_000).contains(&found), "{found}");
    }
}
