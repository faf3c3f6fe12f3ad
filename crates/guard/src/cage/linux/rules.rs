//! The Landlock ruleset of a cage. Rules name files, not paths, so one ruleset serves every child,
//! whatever its mounts.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use libc::c_int;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope, make_bitflags, path_beneath_rules,
};

use super::mounts::{SHARED_MEMORY, View};
use super::system;
use crate::cage::{Bounds, CageError, Namespace, Network, Stage};

/// The newest rights we know; the crate leaves out what the kernel does not.
const NEWEST: ABI = ABI::V9;

/// Devices everybody needs. `/dev/tty` is the child's own terminal or none; the terminals of others, disks
/// and all else under `/dev` stay shut.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts/ptmx",
];

/// Makes the ruleset. With a namespace, hidden and protected places are the mounts' business; without, they
/// are left out of what is granted.
pub(super) fn ruleset(bounds: &Bounds, namespace: Namespace) -> Result<OwnedFd, CageError> {
    let failed =
        |error: RulesetError| CageError::Part { part: Stage::Landlock, why: error.to_string() };
    let ruleset = build(bounds, namespace).map_err(failed)?;
    Option::<OwnedFd>::from(ruleset)
        .ok_or_else(|| CageError::Missing { why: "its kernel has no Landlock".to_owned() })
}

fn build(bounds: &Bounds, namespace: Namespace) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if bounds.network == Network::Off {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let device = Path::new("/dev").to_owned();
    let (unreadable, unwritable) = match namespace {
        Namespace::Privileged | Namespace::User => (vec![device], Vec::new()),
        Namespace::None => {
            let unreadable = bounds.hidden.iter().cloned().chain([device]).collect();
            let unwritable = bounds.protected.iter().chain(&bounds.hidden).cloned().collect();
            (unreadable, existing(unwritable))
        }
    };
    let readable = around(Path::new("/"), &existing(unreadable));
    let writable: Vec<PathBuf> =
        bounds.all_writable().flat_map(|path| around(path, &unwritable)).collect();
    ruleset
        .create()?
        // Names can be listed everywhere: `ls /` must work, and a right to a folder holds for all below.
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(readable, AccessFs::from_read(NEWEST)))?
        .add_rules(path_beneath_rules(writable, change()))?
        .add_rules(path_beneath_rules(DEVICES, use_device()))
}

/// Grants what is mounted for one child alone: its `/proc` and its `/dev/shm`. Rules name files, and these are there
/// only once it has mounted them. Runs in the child: system calls only.
pub(super) fn add_private(ruleset: c_int, view: &View) -> io::Result<()> {
    let rights = view.private_rights();
    if view.has_own_processes() {
        system::add_rule(ruleset, c"/proc", rights.read)?;
    }
    if view.has_own_shared_memory() {
        system::add_rule(ruleset, SHARED_MEMORY, rights.change)?;
    }
    Ok(())
}

/// Rights to what is mounted for one child, as the kernel's bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrivateRights {
    read: u64,
    change: u64,
}

impl PrivateRights {
    /// The rights that this kernel knows.
    pub(super) fn known() -> Self {
        let known = match system::landlock_abi() {
            0 | 1 => ABI::V1,
            2 => ABI::V2,
            3 | 4 => ABI::V3,
            _ => ABI::V5,
        };
        let known = AccessFs::from_all(known);
        let read = (AccessFs::from_read(NEWEST) & known).bits();
        Self { read, change: (change() & known).bits() }
    }
}

/// Rights to a writable place: everything but devices.
fn change() -> BitFlags<AccessFs> {
    let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});
    AccessFs::from_all(NEWEST) & !devices
}

fn use_device() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev})
}

fn existing(places: Vec<PathBuf>) -> Vec<PathBuf> {
    places.into_iter().filter(|place| fs::symlink_metadata(place).is_ok()).collect()
}

/// What to grant so that all below `root` is granted but the `excluded` places: `root` itself if none lies in
/// it, else its entries, one by one. Links lead to files that have rights of their own.
fn around(root: &Path, excluded: &[PathBuf]) -> Vec<PathBuf> {
    if excluded.iter().any(|place| root.starts_with(place)) {
        return Vec::new();
    }
    if !excluded.iter().any(|place| place.starts_with(root)) {
        return vec![root.to_owned()];
    }
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .flat_map(|entry| around(&entry.path(), excluded))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn grants_everything_around_what_is_excluded() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in ["a/x", "a/y/z", "b"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink("a/x", root.join("link")).unwrap();
        let mut granted = around(root, &[root.join("a/y")]);
        granted.sort();
        assert_eq!(granted, [root.join("a/x"), root.join("b")]);
        assert_eq!(around(root, &[]), [root.to_owned()]);
        assert!(around(&root.join("a/y/z"), &[root.join("a")]).is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_folder_is_granted_or_excluded_and_never_both(
            folders in prop::collection::vec("[ab](/[ab]){0,3}", 1..8),
            excluded in prop::collection::vec("[ab](/[ab]){0,3}", 0..4),
        ) {
            let dir = tempfile::tempdir().unwrap();
            for folder in folders.iter().chain(&excluded) {
                fs::create_dir_all(dir.path().join(folder)).unwrap();
            }
            let excluded: Vec<PathBuf> = excluded.iter().map(|it| dir.path().join(it)).collect();
            let granted = around(dir.path(), &excluded);
            for folder in folders.iter().map(|it| dir.path().join(it)) {
                let is_granted = granted.iter().any(|it| folder.starts_with(it));
                let is_excluded = excluded.iter().any(|it| folder.starts_with(it));
                let leads_there = excluded.iter().any(|it| it.starts_with(&folder));
                prop_assert!(!(is_granted && (is_excluded || leads_there)));
                prop_assert!(is_granted || is_excluded || leads_there);
            }
        }
    }
}
