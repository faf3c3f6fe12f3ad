//! A workspace, a home and an outside, none of them in a temporary folder that cages may write.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

use base::Env;
use guard::cage::{Bounds, Namespace};
use guard::process::{Command, Terminals, child_env};
use guard::{Cage, Fence, Reach};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;

/// The kinds of cage with mounts that this user can build.
pub(crate) fn walled() -> Vec<Namespace> {
    let is_root = rustix::process::geteuid().is_root();
    if is_root { vec![Namespace::Privileged, Namespace::User] } else { vec![Namespace::User] }
}

/// All kinds of cage this user can build.
pub(crate) fn kinds() -> Vec<Namespace> {
    let mut kinds = walled();
    kinds.push(Namespace::None);
    kinds
}

pub(crate) struct Den {
    pub(crate) dir: TempDir,
    pub(crate) fence: Fence,
    /// Which kind of cage; what the system chooses if none.
    pub(crate) kind: Option<Namespace>,
    pub(crate) reach: Reach,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) text: String,
    pub(crate) swept: Vec<PathBuf>,
}

impl Den {
    pub(crate) fn new() -> Self {
        let place = crate::place::lasting();
        let dir = tempfile::Builder::new().prefix("den").tempdir_in(place).unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for (path, text) in [
            ("home/.ssh/id_x", "PRIVATE KEY"),
            ("home/.bashrc", "# original"),
            ("home/.local/share/caiman/credentials.json", "PRIVATE KEY"),
            ("outside/file", "# original"),
            ("work/.git/config", "# original"),
            ("work/.git/hooks/sample", "# original"),
            ("work/.caiman/settings", "# original"),
            ("work/inside", "# original"),
            ("work/src/main.c", "int main(void) { return 0; }"),
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        fs::create_dir(root.join("temp")).unwrap();
        let fence = Fence::new(&root.join("work"), &[], &root.join("home")).unwrap();
        Self { dir, fence, kind: None, reach: Reach::Workspace }
    }

    pub(crate) fn of(kind: Namespace) -> Self {
        Self { kind: Some(kind), ..Self::new() }
    }

    pub(crate) fn reaching(reach: Reach) -> Self {
        Self { reach, ..Self::new() }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(below)
    }

    pub(crate) fn work(&self) -> &Path {
        self.fence.folder()
    }

    pub(crate) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    pub(crate) fn cage(&self) -> Option<Arc<Cage>> {
        let bounds = Bounds::for_reach(self.reach, &self.fence, &self.path("temp"))?;
        let cage = Cage::new(bounds);
        Some(Arc::new(match self.kind {
            Some(kind) => cage.by(kind),
            None => cage,
        }))
    }

    pub(crate) fn command(&self, script: &str) -> Command {
        let home = self.path("home").display().to_string();
        let outside = self.path("outside").display().to_string();
        let temp = self.path("temp").display().to_string();
        let ours = std::process::id().to_string();
        let more = [("HOME", home), ("OUTSIDE", outside), ("TMPDIR", temp), ("CAIMAN_PID", ours)];
        let env =
            child_env(&Env::of_process()).with(more.map(|(name, value)| (name.to_owned(), value)));
        Command {
            program: "bash".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            folder: self.work().to_owned(),
            env,
            cage: self.cage(),
            stdio: Terminals::Output,
        }
    }

    /// Runs a script in the cage.
    pub(crate) async fn run(&self, script: &str) -> Ran {
        finish(self.command(script)).await
    }

    /// Runs a script with all of our rights.
    pub(crate) async fn run_free(&self, script: &str) -> Ran {
        finish(Command { cage: None, ..self.command(script) }).await
    }
}

pub(crate) async fn finish(command: Command) -> Ran {
    let mut child = command.spawn().unwrap();
    let mut bytes = Vec::new();
    child.output.take().unwrap().read_to_end(&mut bytes).await.unwrap();
    let status = child.wait().await.unwrap();
    let swept = child.sweep().into_iter().map(|swept| swept.place).collect();
    Ran { status, text: String::from_utf8_lossy(&bytes).into_owned(), swept }
}

impl Ran {
    pub(crate) fn ok(self) -> String {
        assert!(self.status.success(), "{self:?}");
        self.text
    }

    pub(crate) fn failed(self) -> String {
        assert!(!self.status.success(), "{self:?}");
        self.text
    }
}
