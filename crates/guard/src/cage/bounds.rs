//! From reach and fence to places: what a caged process may change, what it may not, what it does not see.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use base::Paths;

use super::git;
use crate::cage::Reach;
use crate::fence::Fence;
use crate::protect;

/// What a caged process may do. Whatever is not said here is refused; reading is allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Folders and files it may change, with all below.
    pub writable: Vec<PathBuf>,
    /// Places inside `writable` that stay as they are, whether they exist or not.
    pub protected: Vec<PathBuf>,
    /// Places it cannot look into.
    pub hidden: Vec<PathBuf>,
    /// Whether it may open network connections.
    pub network: Network,
    /// Folder for its temporary files; writable in any case.
    pub temp: PathBuf,
    /// Where it is written down which protected places a running command found absent; none for nowhere.
    pub records: Option<PathBuf>,
}

/// Whether a caged process may open network connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// No connections, not even to programs of this machine.
    #[default]
    Off,
    /// The internet and this machine's ports, but no sockets of this user's other programs.
    On,
}

/// Folders for everybody's temporary files.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// Doors to programs that do what they are told and are in no cage: containers, desktop, agents.
const DOORS: &[&str] = &[
    "/run/docker.sock",
    "/run/docker",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/dbus",
    "/run/libvirt",
    "/run/user",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/var/lib/docker",
    "/var/lib/incus/unix.socket",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
];

/// Most entries of a temporary folder that are looked at for sockets.
const LOOK_LIMIT: usize = 4096;

impl Bounds {
    /// The bounds of a reach; none for [`Reach::Everything`].
    pub fn for_reach(reach: Reach, fence: &Fence, temp: &Path) -> Option<Self> {
        let (network, writable) = match reach {
            Reach::ReadOnly => (Network::Off, Vec::new()),
            Reach::Workspace => (Network::Off, writable(fence)),
            Reach::Network => (Network::On, writable(fence)),
            Reach::Everything => return None,
        };
        let home = real(fence.home());
        let mut protected = Vec::new();
        for root in fence.roots() {
            protected.extend(protect::protected(root));
            protected.extend(git::obeyed(root, &home));
            if home.starts_with(root) {
                protected.extend(protect::protected(&home));
                protected.extend(protect::home_start_up(&home));
            }
        }
        // A workspace inside such a place must stay writable.
        protected.retain(|place| !fence.roots().iter().any(|root| root.starts_with(place)));
        let mut hidden = protect::secret(&home);
        if network == Network::On {
            hidden.extend(DOORS.iter().map(PathBuf::from));
            hidden.extend(TEMPORARY.iter().flat_map(|folder| sockets(Path::new(folder))));
        }
        // Whoever works in such a place wants it seen.
        hidden.retain(|place| !fence.roots().iter().any(|root| root.starts_with(place)));
        Some(Self { writable, protected, hidden, network, temp: real(temp), records: None })
    }

    /// Takes Caiman's own files away: nothing that holds keys, settings or what was said can be read, and nothing of its
    /// folders can be changed, wherever they are.
    #[must_use]
    pub fn without_own_data(mut self, paths: &Paths) -> Self {
        let (config, data) = (real(paths.config()), real(paths.data()));
        let settings = ["caiman.json", "caiman.jsonc"].map(|name| config.join(name));
        let kept =
            ["caiman.db", "caiman.db-wal", "caiman.db-shm", "credentials.json", "trust.json"];
        let kept = kept.into_iter().chain(["caiman.log"]).map(|name| data.join(name));
        // Copies of the database have names of their own.
        let copies = entries(&data).map(|entry| entry.path()).filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("caiman.db"))
        });
        self.hidden.extend(settings.into_iter().chain(kept).chain(copies));
        let works_in = |place: &PathBuf| self.writable.iter().any(|it| it.starts_with(place));
        self.records = Some(data.join("sandbox"));
        let own = [config, data, real(paths.cache())];
        let own: Vec<PathBuf> = own.into_iter().filter(|place| !works_in(place)).collect();
        self.protected.extend(own);
        self
    }

    /// What can be changed besides temporary files.
    pub(crate) fn workspace(&self) -> impl Iterator<Item = &PathBuf> {
        let is_temporary = |path: &PathBuf| TEMPORARY.iter().any(|it| path == Path::new(it));
        self.writable.iter().filter(move |path| !is_temporary(path))
    }

    /// All that can be changed, temporary files included.
    pub(crate) fn all_writable(&self) -> impl Iterator<Item = &Path> {
        self.writable.iter().chain([&self.temp]).map(PathBuf::as_path)
    }
}

fn writable(fence: &Fence) -> Vec<PathBuf> {
    let temporary = TEMPORARY.iter().filter_map(|folder| fs::canonicalize(folder).ok());
    fence.roots().iter().cloned().chain(temporary).collect()
}

/// The path with links followed as far as it exists: its last part may not yet.
fn real(path: &Path) -> PathBuf {
    let beside = || Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Sockets in a temporary folder or one folder below: where terminals, editors and agents listen.
fn sockets(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in entries(folder) {
        match entry.file_type() {
            Ok(kind) if kind.is_socket() => found.push(entry.path()),
            Ok(kind) if kind.is_dir() => {
                let inner = entries(&entry.path());
                let inner = inner.filter(|it| it.file_type().is_ok_and(|kind| kind.is_socket()));
                found.extend(inner.map(|it| it.path()));
            }
            Ok(_) | Err(_) => {}
        }
    }
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().take(LOOK_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(folder: &Path, home: &Path) -> Fence {
        Fence::new(folder, &[], home).unwrap()
    }

    #[test]
    fn each_reach_is_wider_than_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let fence = fence(&root, &root.join("home"));
        let bounds = |reach| Bounds::for_reach(reach, &fence, Path::new("/tmp/x"));
        let read = bounds(Reach::ReadOnly).unwrap();
        let work = bounds(Reach::Workspace).unwrap();
        let net = bounds(Reach::Network).unwrap();
        assert!(read.writable.is_empty());
        assert!(work.writable.contains(&root) && work.protected.contains(&root.join(".git")));
        assert_eq!((work.network, net.network), (Network::Off, Network::On));
        assert_eq!(work.writable, net.writable);
        assert!(read.hidden.contains(&root.join("home/.ssh")));
        assert_eq!(bounds(Reach::Everything), None);
    }

    #[test]
    fn a_secret_place_is_seen_by_who_works_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(home.join(".aws/project")).unwrap();
        let fence = fence(&home.join(".aws/project"), &home);
        let bounds = Bounds::for_reach(Reach::Workspace, &fence, Path::new("/tmp/x")).unwrap();
        assert!(!bounds.hidden.contains(&home.join(".aws")));
        assert!(bounds.hidden.contains(&home.join(".ssh")));
    }

    #[test]
    fn sockets_of_other_programs_are_found() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ssh-x")).unwrap();
        let _direct = std::os::unix::net::UnixListener::bind(dir.path().join("a.sock")).unwrap();
        let _below =
            std::os::unix::net::UnixListener::bind(dir.path().join("ssh-x/agent")).unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let mut found = sockets(dir.path());
        found.sort();
        assert_eq!(found, [dir.path().join("a.sock"), dir.path().join("ssh-x/agent")]);
    }
}
