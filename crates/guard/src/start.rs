//! How the user's own programs start for a project: MCP servers, language servers, hooks.
//!
//! They are the user's, but many run what they find in the folder they start in: `npx` looks for `node_modules`,
//! `python -m` for modules, `make` for a `Makefile`. Until the user trusts the project they start in an empty folder
//! of ours instead, and are told of the project by a variable, an MCP root or a `rootUri`.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Env, Paths};
use settings::trust::FolderTrust;

use crate::cage::{Bounds, Cage, Reach};
use crate::fence::Fence;

/// A project that programs are started for.
#[derive(Debug, Clone, Copy)]
pub struct Project<'a> {
    /// Its folder.
    pub folder: &'a Path,
    /// The user's folders.
    pub paths: &'a Paths,
    /// Whether the user trusts it.
    pub trust: FolderTrust,
}

/// Whether a program starts in the sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sandboxed {
    /// It may do what the user may.
    #[default]
    No,
    /// It writes the workspace and temporary folders only, sees no secrets and has no network.
    Yes,
}

/// How one program starts.
#[derive(Debug, Clone)]
pub struct ProgramStart {
    /// The folder it starts in.
    pub folder: PathBuf,
    /// All of its environment.
    pub env: Env,
    /// Its sandbox.
    pub cage: Option<Arc<Cage>>,
}

impl From<bool> for Sandboxed {
    /// As `sandbox` stands in the settings.
    fn from(sandbox: bool) -> Self {
        if sandbox { Self::Yes } else { Self::No }
    }
}

impl ProgramStart {
    /// The start of a program in `folder`, without a sandbox, whoever wrote what is there.
    pub fn within(folder: &Path, env: &Env) -> Self {
        Self { folder: folder.to_owned(), env: env.with_absolute_path(), cage: None }
    }
}

impl Project<'_> {
    /// How a program with this environment starts.
    pub fn start(&self, env: &Env, sandboxed: Sandboxed) -> io::Result<ProgramStart> {
        let mut start = match self.trust {
            FolderTrust::Trusted => ProgramStart::within(self.folder, env),
            FolderTrust::Untrusted => {
                let folder = neutral_folder(self.paths, self.folder);
                // Python puts neither the folder it starts in nor a script's on its search path.
                let more = [
                    ("PYTHONSAFEPATH".to_owned(), "1".to_owned()),
                    ("PWD".to_owned(), folder.display().to_string()),
                ];
                ProgramStart::within(&folder, &env.avoiding(self.folder).with(more))
            }
        };
        start.cage = match sandboxed {
            Sandboxed::No => None,
            Sandboxed::Yes => Some(self.cage(env)?),
        };
        Ok(start)
    }

    fn cage(&self, env: &Env) -> io::Result<Arc<Cage>> {
        let fence = Fence::new(self.folder, &[], self.paths.home())?;
        let temp = env.temporary().join(format!("caiman-programs-{}", std::process::id()));
        let bounds = Bounds::for_reach(Reach::Workspace, &fence, &temp);
        let mut bounds = bounds.ok_or_else(|| io::Error::other("there is no sandbox"))?;
        bounds.hidden.push(self.paths.credentials());
        Ok(Arc::new(Cage::new(bounds)))
    }
}

/// An empty folder of ours that is not inside `project`: programs search the folders above as well. The root of the
/// file system where there is none.
pub fn neutral_folder(paths: &Paths, project: &Path) -> PathBuf {
    let project = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let places = [paths.cache(), paths.data()].map(|folder| folder.join("empty"));
    let usable = places.iter().filter_map(|place| empty_folder(place).ok());
    let mut outside = usable.filter(|place| !place.starts_with(&project));
    outside.next().unwrap_or_else(|| PathBuf::from("/"))
}

/// Makes sure that a folder is there, empty and ours, and cannot be written by mistake. Returns its real path.
fn empty_folder(place: &Path) -> io::Result<PathBuf> {
    if let Some(above) = place.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(above)?;
    }
    let make = || fs::DirBuilder::new().mode(0o500).create(place);
    match make() {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(place)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it is not a folder of ours"));
    }
    if fs::read_dir(place)?.next().is_some() {
        fs::remove_dir_all(place)?;
        make()?;
    }
    fs::canonicalize(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(home: &Path) -> Paths {
        Paths::of(&Env::from_iter([("HOME", home.display().to_string())])).unwrap()
    }

    #[test]
    fn an_untrusted_project_starts_programs_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let (home, work) = (root.join("home"), root.join("work"));
        fs::create_dir_all(work.join("bin")).unwrap();
        let paths = paths(&home);
        let path = format!("./bin::{}/bin:/usr/bin", work.display());
        let env = Env::from_iter([("PATH", path)]);
        let mut project = Project { folder: &work, paths: &paths, trust: FolderTrust::Untrusted };
        let start = project.start(&env, Sandboxed::No).unwrap();
        assert!(!start.folder.starts_with(&work) && start.folder.starts_with(&home));
        assert_eq!(fs::read_dir(&start.folder).unwrap().count(), 0);
        assert_eq!(start.env.get("PATH"), Some("/usr/bin"));
        assert_eq!(start.env.get("PYTHONSAFEPATH"), Some("1"));

        project.trust = FolderTrust::Trusted;
        let start = project.start(&env, Sandboxed::No).unwrap();
        assert_eq!(start.folder, work);
        let expected = format!("{}/bin:/usr/bin", work.display());
        assert_eq!(start.env.get("PATH"), Some(expected.as_str()));
    }

    #[test]
    fn the_neutral_folder_is_empty_and_not_in_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap();
        let work = home.join("work");
        let neutral = neutral_folder(&paths(&home), &work);
        drop(fs::write(neutral.join("package.json"), "{}"));
        assert_eq!(neutral_folder(&paths(&home), &work), neutral);
        assert_eq!(fs::read_dir(&neutral).unwrap().count(), 0);
        assert_eq!(neutral_folder(&paths(&home), &home), Path::new("/"), "the home is the project");
        fs::remove_dir(&neutral).unwrap();
        fs::create_dir(&work).unwrap();
        std::os::unix::fs::symlink(&work, &neutral).unwrap();
        assert!(!neutral_folder(&paths(&home), &work).starts_with(&work), "a link is not used");
    }
}
