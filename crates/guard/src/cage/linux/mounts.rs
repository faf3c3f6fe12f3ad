//! A view of the file system for one child: everything read-only but what is writable, protected places
//! read-only in it, hidden places empty.
//!
//! A mount keeps a name from being renamed or deleted, but not the folder above it: so every folder
//! between a writable one and a protected place is mounted on itself.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::rules::PrivateRights;
use super::system::{self, Access, Kind, Link};
use crate::cage::{Bounds, CageError, Namespace, Stage};

/// The mounts of a cage, as a plan that a child carries out.
pub(super) struct View {
    user: Option<Identity>,
    /// Whether nothing at all is read-only as a whole, because the workspace is `/`.
    all_writable: bool,
    writable: Vec<CString>,
    places: Vec<Place>,
    covers: Covers,
    /// Whether `/proc` is to show the processes of the sandbox only.
    own_processes: bool,
    /// Whether the child gets a `/dev/shm` of its own.
    own_shared_memory: bool,
    has_own_processes: AtomicBool,
    has_own_shared_memory: AtomicBool,
    rights: PrivateRights,
}

/// Where shared memory has names.
pub(super) const SHARED_MEMORY: &CStr = c"/dev/shm";

/// What is written to say that this user, and nobody else, exists in a user namespace.
struct Identity {
    user: Vec<u8>,
    group: Vec<u8>,
}

struct Place {
    path: CString,
    treatment: Treatment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Treatment {
    /// Stays where it is.
    Pin,
    /// Stays as it is.
    Shut,
    /// Cannot be seen.
    Hide,
}

/// What lies over hidden places: nothing that can be read, listed or changed.
struct Covers {
    file: CString,
    folder: CString,
}

/// A mount attached to nothing yet, and where it goes. At most this many writable places have their own.
const WRITABLE_LIMIT: usize = 32;

impl View {
    /// Plans the view; none without a namespace.
    pub(super) fn plan(bounds: &Bounds, namespace: Namespace) -> Result<Option<Self>, CageError> {
        let user = match namespace {
            Namespace::Privileged => None,
            Namespace::User => Some(Identity::ours()),
            Namespace::None => return Ok(None),
        };
        let writable = outermost(bounds.all_writable());
        if writable.len() > WRITABLE_LIMIT {
            let why = format!("more than {WRITABLE_LIMIT} writable places");
            return Err(CageError::Part { part: Stage::Mounts, why });
        }
        let covers = bounds.temp.join(".covers");
        let mut treatments: BTreeMap<PathBuf, Treatment> = BTreeMap::new();
        let exists = |path: &&PathBuf| fs::symlink_metadata(path).is_ok();
        let protected = bounds.protected.iter().filter(exists).chain([&covers]);
        let shut = protected.map(|path| (path, Treatment::Shut));
        let hidden = bounds.hidden.iter().filter(exists);
        let hide = hidden.map(|path| (path, Treatment::Hide));
        for (path, treatment) in shut.chain(hide) {
            for pin in above(path, &writable) {
                treatments.entry(pin).or_insert(Treatment::Pin);
            }
            let known = treatments.entry(path.clone()).or_insert(treatment);
            *known = treatment.max(*known);
        }
        let mut places: Vec<_> = treatments.into_iter().collect();
        places.sort_by_key(|(path, _)| path.components().count());
        let place = |(path, treatment): (PathBuf, _)| Ok(Place { path: c_path(&path)?, treatment });
        Ok(Some(Self {
            user,
            all_writable: writable.iter().any(|path| path == Path::new("/")),
            writable: writable.iter().map(|path| c_path(path)).collect::<Result<_, _>>()?,
            places: places.into_iter().map(place).collect::<Result<_, CageError>>()?,
            covers: Covers::make(&covers)?,
            own_processes: !is_covered_proc(),
            // A workspace inside it must stay visible.
            own_shared_memory: !writable.iter().any(|path| path.starts_with("/dev/shm")),
            has_own_processes: AtomicBool::new(false),
            has_own_shared_memory: AtomicBool::new(false),
            rights: PrivateRights::known(),
        }))
    }

    /// Rights to what is mounted for one child.
    pub(super) fn private_rights(&self) -> PrivateRights {
        self.rights
    }

    /// Whether the last child got its own `/proc`. Children start one after the other.
    pub(super) fn has_own_processes(&self) -> bool {
        self.has_own_processes.load(Ordering::Relaxed)
    }

    /// Whether the last child got its own `/dev/shm`.
    pub(super) fn has_own_shared_memory(&self) -> bool {
        self.has_own_shared_memory.load(Ordering::Relaxed)
    }

    /// Says who we are in a user namespace that we were started in, then shuts our memory again. Runs in the child:
    /// system calls only.
    pub(super) fn become_user(&self) -> io::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        system::allow_own_files()?;
        system::write_file(c"/proc/self/setgroups", b"deny")?;
        system::write_file(c"/proc/self/uid_map", &user.user)?;
        system::write_file(c"/proc/self/gid_map", &user.group)?;
        system::refuse_looks()
    }

    /// Carries the plan out. Runs in the child: system calls only.
    pub(super) fn enter(&self) -> Result<(), (Stage, io::Error)> {
        system::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWIPC)
            .map_err(|error| (Stage::Namespace, error))?;
        self.mount().map_err(|error| (Stage::Mounts, error))
    }

    fn mount(&self) -> io::Result<()> {
        system::make_private()?;
        self.mount_own_processes();
        if !self.all_writable {
            // Copied before all becomes read-only, so that each keeps the options it has.
            let mut copies = [const { None }; WRITABLE_LIMIT];
            for (copy, path) in copies.iter_mut().zip(&self.writable) {
                *copy = unless_absent(system::copy_tree(path, Link::Target))?;
            }
            system::make_all_read_only()?;
            for (copy, path) in copies.iter().zip(&self.writable) {
                if let Some(tree) = copy {
                    system::attach(tree, path, Link::Target)?;
                }
            }
        }
        self.mount_own_shared_memory();
        self.places.iter().try_for_each(|place| self.treat(place))
    }

    /// A `/proc` for the process namespace. Where the kernel refuses it, as it does in some containers, the old one
    /// stays: it shows processes that cannot be reached.
    fn mount_own_processes(&self) {
        let mounted =
            self.own_processes && system::mount_new(c"proc", c"/proc", c"", Access::Read).is_ok();
        self.has_own_processes.store(mounted, Ordering::Relaxed);
    }

    /// A `/dev/shm` of its own. Without one there is none: the old one is granted to nobody.
    fn mount_own_shared_memory(&self) {
        let options = c"mode=1777";
        let mounted = self.own_shared_memory
            && system::mount_new(c"tmpfs", SHARED_MEMORY, options, Access::Write).is_ok();
        self.has_own_shared_memory.store(mounted, Ordering::Relaxed);
    }

    fn treat(&self, place: &Place) -> io::Result<()> {
        let Some(kind) = unless_absent(system::kind(&place.path, Link::Itself))? else {
            return Ok(());
        };
        match place.treatment {
            Treatment::Pin => {
                let tree = system::copy_tree(&place.path, Link::Itself)?;
                system::attach(&tree, &place.path, Link::Itself)
            }
            Treatment::Shut => {
                if kind == Kind::Link {
                    unless_absent(shut(place, Link::Target))?;
                }
                shut(place, Link::Itself)
            }
            Treatment::Hide => {
                let target = unless_absent(system::kind(&place.path, Link::Target))?;
                target.map_or(Ok(()), |kind| self.hide(place, kind))
            }
        }
    }

    /// Every failure counts here: a cover that is missing must not leave the place bare.
    fn hide(&self, place: &Place, kind: Kind) -> io::Result<()> {
        let cover = match kind {
            Kind::Folder => &self.covers.folder,
            Kind::Other | Kind::Link => &self.covers.file,
        };
        let tree = system::copy_tree(cover, Link::Itself)?;
        system::make_tree_read_only(&tree)?;
        system::attach(&tree, &place.path, Link::Target)
    }
}

fn shut(place: &Place, link: Link) -> io::Result<()> {
    let tree = system::copy_tree(&place.path, link)?;
    system::make_tree_read_only(&tree)?;
    system::attach(&tree, &place.path, link)
}

/// None for what is not there, or cannot be reached, which is as good.
fn unless_absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::ELOOP) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Whether something is mounted over parts of `/proc`, as containers do to hide them. A new one would show them.
fn is_covered_proc() -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    places
        .filter_map(|place| place.strip_prefix("/proc/"))
        .any(|below| below != "sys/fs/binfmt_misc")
}

impl Identity {
    fn ours() -> Self {
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        Self {
            user: format!("{user} {user} 1").into_bytes(),
            group: format!("{group} {group} 1").into_bytes(),
        }
    }
}

impl Covers {
    /// Makes an empty file and an empty folder. Both can be read: a program that finds its settings empty goes on,
    /// one that may not open them often does not.
    fn make(folder: &Path) -> Result<Self, CageError> {
        let error =
            |source| CageError::Temporary { folder: folder.to_owned(), source: Arc::new(source) };
        let (file, empty) = (folder.join("file"), folder.join("folder"));
        if !empty.exists() {
            fs::create_dir_all(&empty).map_err(error)?;
            fs::write(&file, "").map_err(error)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).map_err(error)?;
            // Whoever cleans up must be able to look into it.
            fs::set_permissions(&empty, fs::Permissions::from_mode(0o500)).map_err(error)?;
        }
        Ok(Self { file: c_path(&file)?, folder: c_path(&empty)? })
    }
}

/// The places, without those that lie in others.
fn outermost<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.map(Path::to_owned).collect();
    paths.sort_by_key(|path| path.components().count());
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.iter().any(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

/// The folders between a writable one and a place in it, which could be renamed with all in them.
fn above(place: &Path, writable: &[PathBuf]) -> Vec<PathBuf> {
    let Some(outer) = writable.iter().find(|outer| place.starts_with(outer)) else {
        return Vec::new();
    };
    place.ancestors().skip(1).take_while(|folder| *folder != outer).map(Path::to_owned).collect()
}

fn c_path(path: &Path) -> Result<CString, CageError> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| CageError::Part {
        part: Stage::Mounts,
        why: format!("{} is not a usable path", path.display()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folders_on_the_way_to_a_place_are_pinned() {
        let writable = [PathBuf::from("/tmp"), PathBuf::from("/w")];
        let pins = above(Path::new("/tmp/a/b/.git"), &writable);
        assert_eq!(pins, [PathBuf::from("/tmp/a/b"), PathBuf::from("/tmp/a")]);
        assert!(above(Path::new("/w/.git"), &writable).is_empty());
        assert!(above(Path::new("/home/.ssh"), &writable).is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_place_lies_in_an_outermost_one(
            paths in prop::collection::vec("(/[ab]){1,4}", 1..8),
        ) {
            let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
            let kept = outermost(paths.iter().map(PathBuf::as_path));
            for path in &paths {
                prop_assert_eq!(kept.iter().filter(|outer| path.starts_with(outer)).count(), 1);
            }
        }
    }
}
