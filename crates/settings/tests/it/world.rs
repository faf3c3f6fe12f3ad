//! A machine with one user and one project, in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};

use base::{Env, Paths, Timestamp};
use settings::trust::{Fingerprint, TrustedFolder, TrustedFolders};
use settings::{Loaded, Sources, TrustSource};

pub(crate) struct World {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl World {
    /// A home folder and a repository, both empty.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("home")).unwrap();
        fs::create_dir_all(root.join("project/.git")).unwrap();
        Self { folder, root }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        assert!(self.folder.path().exists());
        self.root.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn paths(&self) -> Paths {
        Paths::on(base::paths::Platform::Unix, &self.env()).unwrap()
    }

    pub(crate) fn env(&self) -> Env {
        let home = self.at("home");
        Env::from_iter([("HOME", home.to_str().unwrap())])
    }

    pub(crate) fn load(&self, cwd: &str) -> Loaded {
        let sources = Sources {
            paths: self.paths(),
            env: self.env(),
            cwd: self.at(cwd),
            trust: TrustSource::Listed,
        };
        settings::load(&sources)
    }

    pub(crate) fn trust(&self, folder: &str) {
        let file = self.paths().trust();
        let mut list = TrustedFolders::read(&file).unwrap();
        let folder = self.at(folder);
        let hash = Fingerprint::of(&folder).unwrap().unwrap().hash;
        list.folders.insert(folder, TrustedFolder { hash, since: Timestamp::from_millis(0) });
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, serde_json::to_string(&list).unwrap()).unwrap();
    }
}

/// What was told, file names without their folders.
pub(crate) fn told(loaded: &Loaded, world: &World) -> Vec<String> {
    let root = format!("{}/", world.at("").display()).replace("//", "/");
    loaded.problems.iter().map(|problem| problem.to_string().replace(&root, "")).collect()
}

/// The file a value came from, relative to the world.
pub(crate) fn file_of(loaded: &Loaded, path: &str, world: &World) -> String {
    let origin = loaded.origins.of(path).unwrap_or_else(|| panic!("nobody set {path}"));
    let file = origin.file.strip_prefix(world.at("")).map(Path::to_owned).unwrap_or(origin.file);
    format!("{}:{}", file.display(), origin.line)
}
