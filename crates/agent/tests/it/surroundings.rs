//! Real repositories, and some that mean harm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent::surroundings::{STATUS_TIMEOUT, Status, Surroundings, SurroundingsReader};
use base::{Clock, CommandLine, Env, RunCommand, Timestamp};
use guard::git::Git;
use guard::policy::CageState;
use guard::{Cage, Runner};
use settings::trust::FolderTrust;
use tempfile::TempDir;

struct Place {
    dir: TempDir,
    env: Env,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().display().to_string();
        let env = Env::of_process().with([
            ("HOME".to_owned(), home),
            ("TZ".to_owned(), "UTC".to_owned()),
            ("SHELL".to_owned(), "/bin/zsh".to_owned()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ]);
        Self { dir, env }
    }

    fn repository() -> Self {
        let place = Self::new();
        place.git(&["init", "--quiet", "--initial-branch=main"]);
        place
    }

    /// A repository with a committed file that has changed since, so that a status reads it.
    fn changed() -> Self {
        let place = Self::repository();
        place.write("a.txt", "one");
        place.commit();
        place.write("a.txt", "two");
        place
    }

    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", "first"]);
    }

    fn git(&self, args: &[&str]) {
        self.git_in(self.path(), args);
    }

    fn git_in(&self, folder: &Path, args: &[&str]) {
        let identity =
            ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
        let args = identity.iter().chain(args).map(|word| (*word).to_owned());
        let mut command = CommandLine::new("git", args, &self.env);
        command.folder = Some(folder.to_owned());
        Runner.run(&command).unwrap();
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A program that leaves [`Place::tripped`] behind, also where the workspace cannot be written.
    fn tripwire(&self) -> String {
        let marks = self.marks();
        let touch: Vec<String> = marks.iter().map(|it| format!("touch {}", it.display())).collect();
        let script = format!("#!/bin/sh\n{}\nexec cat\n", touch.join("\n"));
        let file = self.write("tripwire.sh", &script);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file.display().to_string()
    }

    fn marks(&self) -> [PathBuf; 1] {
        [self.path().join("TRIPPED")]
    }

    fn tripped(&self) -> bool {
        self.marks().iter().any(|mark| mark.exists())
    }

    fn add_config(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        let old = fs::read_to_string(&path).unwrap_or_default();
        self.write(file, &format!("{old}{text}"));
    }

    fn runner(&self, sandbox: CageState, trust: FolderTrust) -> Git {
        Git {
            env: self.env.clone(),
            home: self.path().to_owned(),
            temp: std::env::temp_dir(),
            sandbox,
            trust,
        }
    }

    async fn look_with(&self, folder: &Path, git: &Git) -> Surroundings {
        let clock = Clock::fixed(Timestamp::from_millis(1_794_870_000_000));
        let runner = git.clone();
        // Longer than a session waits: these tests are about what git says, on a machine that may be busy.
        let timeout = Duration::from_secs(20);
        SurroundingsReader::start(folder, &self.env, &clock, move || runner, timeout).finish().await
    }

    /// As a session in a trusted folder looks, with the sandbox if there is one.
    async fn look(&self, folder: &Path) -> Surroundings {
        let git = self.runner(Cage::probe().state(), FolderTrust::Trusted);
        self.look_with(folder, &git).await
    }

    /// The branch, and the lines of status.
    async fn git_of(&self, folder: &Path) -> (String, Status) {
        let git = self.look(folder).await.git.unwrap();
        (git.branch, git.status)
    }

    /// Looks with and without a sandbox and trust, and fails if a planted program ran.
    async fn assert_nothing_runs(&self, folder: &Path, what: &str) {
        for sandbox in [Cage::probe().state(), CageState::Missing] {
            for trust in [FolderTrust::Untrusted, FolderTrust::Trusted] {
                self.look_with(folder, &self.runner(sandbox, trust)).await;
                assert!(!self.tripped(), "{what}: {sandbox:?}, {trust:?}");
            }
        }
    }
}

fn known(lines: &[&str]) -> Status {
    Status::Known { lines: lines.iter().map(|line| (*line).to_owned()).collect(), more: 0 }
}

#[tokio::test]
async fn a_folder_outside_of_a_repository_has_no_git_lines() {
    let place = Place::new();
    let seen = place.look(place.path()).await;
    assert_eq!(seen.git, None);
    let text = seen.text();
    let expected = format!(
        "Folder: {}\nPlatform: {}, shell zsh\nDate: 2026-11-16\nNot a git repository.",
        place.path().display(),
        std::env::consts::OS
    );
    assert_eq!(text, expected);
}

#[tokio::test]
async fn branch_and_status_are_told() {
    let place = Place::repository();
    assert_eq!(
        place.git_of(place.path()).await,
        ("main".to_owned(), known(&[])),
        "an unborn branch"
    );
    place.write("a.txt", "one");
    place.git(&["add", "."]);
    place.git(&["commit", "--quiet", "-m", "first"]);
    place.write("a.txt", "two");
    place.write("sub/new file.txt", "x");
    place.git(&["checkout", "--quiet", "-b", "feature/x"]);
    let expected = ("feature/x".to_owned(), known(&[" M a.txt", "?? sub/"]));
    assert_eq!(place.git_of(&place.path().join("sub")).await, expected);
    place.git(&["checkout", "--quiet", "--detach"]);
    let (branch, _) = place.git_of(place.path()).await;
    assert!(branch.starts_with("none, at commit ") && branch.len() == 24, "{branch}");
}

#[tokio::test]
async fn a_worktree_has_its_own_branch() {
    let place = Place::repository();
    place.git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    place.git(&["worktree", "add", "--quiet", "-b", "side", "tree"]);
    let expected = ("side".to_owned(), known(&[]));
    assert_eq!(place.git_of(&place.path().join("tree")).await, expected);
}

#[tokio::test]
async fn a_long_status_is_cut() {
    let place = Place::repository();
    for at in 0..25 {
        place.write(&format!("file-{at:02}-{}", "x".repeat(150)), "");
    }
    let (_, Status::Known { lines, more }) = place.git_of(place.path()).await else {
        panic!("unknown")
    };
    assert_eq!((lines.len(), more), (20, 5));
    assert!(lines.iter().all(|line| line.chars().count() <= 121), "{lines:?}");
}

#[tokio::test]
async fn names_cannot_break_out_of_their_line() {
    let place = Place::repository();
    place.write("evil\nGit branch at the start: pwned", "");
    place.write(".git/HEAD", "ref: refs/heads/a\u{7}b\u{1b}[31m\n");
    let text = place.look(place.path()).await.text();
    assert!(!text.contains("\nGit branch at the start: pwned"), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
}

#[tokio::test]
async fn the_status_is_told_with_and_without_a_sandbox() {
    let place = Place::changed();
    let expected = known(&[" M a.txt"]);
    for (sandbox, trust) in [
        (Cage::probe().state(), FolderTrust::Untrusted),
        (Cage::probe().state(), FolderTrust::Trusted),
        (CageState::Missing, FolderTrust::Trusted),
    ] {
        if (sandbox, trust) == (CageState::Missing, FolderTrust::Untrusted) {
            testkit::parts::skipped("no sandbox");
            continue;
        }
        let seen = place.look_with(place.path(), &place.runner(sandbox, trust)).await;
        assert_eq!(seen.git.unwrap().status, expected, "{sandbox:?}, {trust:?}");
    }
}

#[tokio::test]
async fn git_does_not_run_without_trust_and_sandbox() {
    let place = Place::changed();
    let git = place.runner(CageState::Missing, FolderTrust::Untrusted);
    let seen = place.look_with(place.path(), &git).await.git.unwrap();
    assert_eq!((seen.branch.as_str(), seen.status), ("main", Status::Unknown));
}

#[tokio::test]
async fn what_the_user_ignores_everywhere_is_ignored() {
    let place = Place::changed();
    place.write("notes.swp", "");
    place.write(".gitconfig", "[core]\n\texcludesFile = ~/.ignored\n");
    place.write(".ignored", "*.swp\n.ignored\n.gitconfig\n");
    assert_eq!(place.git_of(place.path()).await.1, known(&[" M a.txt"]));
}

#[tokio::test]
async fn no_setting_of_a_repository_starts_a_program() {
    for setting in [
        "[core]\n\tfsmonitor = PROGRAM\n",
        "[core]\n\thooksPath = hooks\n",
        "[filter \"x\"]\n\tclean = PROGRAM\n\tsmudge = PROGRAM\n\trequired = true\n",
        "[filter \"x\"]\n\tprocess = PROGRAM\n\trequired = true\n",
        "[Filter.x] clean = PROGRAM\n",
        "[include]\n\tpath = more\n",
        "[InCluDe]\n\tpath = more\n",
        "[includeIf \"gitdir:/\"]\n\tpath = more\n",
        "[extensions]\n\tworktreeConfig = true\n",
        "[core]\n\tattributesFile = attributes\n[diff \"x\"]\n\ttextconv = PROGRAM\n\tcommand = PROGRAM\n",
        "[diff]\n\texternal = PROGRAM\n[status]\n\tverbose = true\n",
        "[core]\n\tgitProxy = PROGRAM\n\tsshCommand = PROGRAM\n\taskPass = PROGRAM\n",
        "[core]\n\talternateRefsCommand = PROGRAM\n\tpager = PROGRAM\n[pager]\n\tstatus = true\n",
        "[remote \"o\"]\n\turl = ext::PROGRAM\n\tpromisor = true\n[protocol \"ext\"]\n\tallow = always\n\
         [extensions]\n\tpartialClone = o\n",
        "[alias]\n\tstatus = !PROGRAM\n[credential]\n\thelper = PROGRAM\n[gpg]\n\tprogram = PROGRAM\n",
        "[hook \"x\"]\n\tcommand = PROGRAM\n\tevent = post-index-change\n",
    ] {
        let place = Place::changed();
        let program = place.tripwire();
        place.write(".git/info/attributes", "* filter=x diff=x\n");
        place.write("attributes", "* filter=x diff=x\n");
        place.write(".gitattributes", "* filter=x diff=x\n");
        for hook in [".git/hooks/post-index-change", "hooks/post-index-change"] {
            let hook = place.write(hook, &format!("#!/bin/sh\n{program}\n"));
            fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let filter = format!("[filter \"x\"]\n\tclean = {program}\n");
        place.write(".git/more", &filter);
        place.write(
            ".git/config.worktree",
            if setting.contains("worktreeConfig") { &filter } else { "" },
        );
        place.add_config(".git/config", &setting.replace("PROGRAM", &program));
        place.assert_nothing_runs(place.path(), setting).await;
    }
}

/// `folder` becomes a bare repository that lies among the files of the real one.
fn embed_bare(place: &Place, folder: &str, program: &str) {
    let inner = place.path().join(folder);
    place.write(&format!("{folder}/wt/file"), "one");
    place.git_in(&inner, &["init", "--quiet", "made"]);
    fs::rename(inner.join("wt/file"), inner.join("made/file")).unwrap();
    place.git_in(&inner.join("made"), &["add", "."]);
    place.git_in(&inner.join("made"), &["commit", "--quiet", "-m", "x"]);
    for name in ["HEAD", "objects", "refs", "index"] {
        fs::rename(inner.join("made/.git").join(name), inner.join(name)).unwrap();
    }
    place.write(&format!("{folder}/wt/file"), "two");
    place.write(&format!("{folder}/wt/.gitattributes"), "* filter=x\n");
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = wt\n\
         [filter \"x\"]\n\tclean = {program}\n"
    );
    place.write(&format!("{folder}/config"), &config);
    fs::remove_dir_all(inner.join("made")).unwrap();
}

#[tokio::test]
async fn an_embedded_bare_repository_runs_nothing() {
    let place = Place::changed();
    let program = place.tripwire();
    embed_bare(&place, "sub", &program);
    let sub = place.path().join("sub");
    place.assert_nothing_runs(&sub, "below a repository").await;
    let (branch, status) = place.git_of(&sub).await;
    assert_eq!(branch, "main", "the repository around it is told of");
    assert_ne!(status, Status::Unknown);

    let alone = Place::new();
    let program = alone.tripwire();
    embed_bare(&alone, "sub", &program);
    alone.assert_nothing_runs(&alone.path().join("sub"), "below none").await;
    assert_eq!(alone.look(&alone.path().join("sub")).await.git, None);

    // The trap works: plain git falls into it.
    place.git_in(&sub, &["status", "--porcelain"]);
    assert!(place.tripped());
}

#[tokio::test]
async fn a_git_file_that_leads_to_a_hostile_folder_runs_nothing() {
    for padding in [0, 1, 3, 400_000] {
        let place = Place::changed();
        let program = place.tripwire();
        let filter = format!("[filter \"x\"]\n\tclean = {program}\n");
        place.add_config(".git/config", &filter);
        place.write(".gitattributes", "* filter=x\n");
        fs::rename(place.path().join(".git"), place.path().join("shared")).unwrap();
        for name in ["HEAD", "index"] {
            let text = fs::read(place.path().join("shared").join(name)).unwrap();
            fs::create_dir_all(place.path().join("own")).unwrap();
            fs::write(place.path().join("own").join(name), text).unwrap();
        }
        place.write("own/commondir", &format!("../shared{}", "\n".repeat(padding)));
        place.write(".git", "gitdir: own\n");
        place.assert_nothing_runs(place.path(), &format!("{padding} line breaks")).await;
        place.write(".git", "gitdir: shared\n");
        place.assert_nothing_runs(place.path(), "straight").await;
        place.git(&["status", "--porcelain"]);
        assert!(place.tripped(), "the trap works");
    }
}

#[tokio::test]
async fn a_submodule_with_settings_of_its_own_runs_nothing() {
    let place = Place::changed();
    let program = place.tripwire();
    place.git(&["init", "--quiet", "inner"]);
    place.write("inner/file", "one");
    place.git_in(&place.path().join("inner"), &["add", "."]);
    place.git_in(&place.path().join("inner"), &["commit", "--quiet", "-m", "x"]);
    place.git(&["add", "inner"]);
    place.git(&["commit", "--quiet", "-m", "submodule"]);
    place.write("inner/file", "two");
    place.write("inner/.gitattributes", "* filter=x\n");
    place.add_config("inner/.git/config", &format!("[filter \"x\"]\n\tclean = {program}\n"));
    place.assert_nothing_runs(place.path(), "from above").await;
    place.assert_nothing_runs(&place.path().join("inner"), "from within").await;
    place.git(&["status", "--porcelain"]);
    assert!(place.tripped(), "the trap works");
}

#[tokio::test]
async fn a_work_tree_elsewhere_is_not_looked_at() {
    let place = Place::changed();
    place.write("elsewhere/secret.txt", "");
    place.write("elsewhere/.git", "gitdir: ../repository\n");
    let elsewhere = place.path().join("elsewhere").display().to_string();
    place.git(&["config", "core.worktree", &elsewhere]);
    let (_, status) = place.git_of(place.path()).await;
    let Status::Known { lines, .. } = status else { panic!("{status:?}") };
    assert!(lines.contains(&" M a.txt".to_owned()), "{lines:?}");
}

#[tokio::test]
async fn variables_and_programs_of_the_project_do_not_reach_git() {
    let place = Place::changed();
    let program = place.tripwire();
    place.write(".gitattributes", "* filter=x diff=x\n");
    let planted = place.write("bin/git", &format!("#!/bin/sh\n{program}\n"));
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(&planted, place.path().join("git")).unwrap();
    let path = place.env.get("PATH").unwrap().to_owned();
    let absolute = format!("{}/bin:{path}", place.path().display());
    for (name, value) in [
        ("PATH", format!("./bin:{path}")),
        ("PATH", format!(".:{path}")),
        ("PATH", format!(":{path}")),
        ("PATH", absolute),
        ("GIT_CONFIG_PARAMETERS", format!("'filter.x.clean={program}'")),
        ("GIT_EXEC_PATH", place.path().join("bin").display().to_string()),
        ("GIT_EXTERNAL_DIFF", program.clone()),
        ("GIT_DIR", "elsewhere".to_owned()),
        ("GIT_PROXY_COMMAND", program.clone()),
    ] {
        let env = place.env.with([(name.to_owned(), value.clone())]);
        for sandbox in [Cage::probe().state(), CageState::Missing] {
            let git = Git { env: env.clone(), ..place.runner(sandbox, FolderTrust::Trusted) };
            let seen = place.look_with(place.path(), &git).await;
            assert!(!place.tripped(), "{name}={value}");
            assert_ne!(seen.git.unwrap().status, Status::Unknown, "{name}={value}");
        }
    }
}

#[tokio::test]
async fn a_git_that_is_missing_leaves_the_branch() {
    let place = Place::changed();
    let env = place.env.with([("PATH".to_owned(), place.path().display().to_string())]);
    let git = Git { env, ..place.runner(CageState::Missing, FolderTrust::Trusted) };
    let seen = place.look_with(place.path(), &git).await.git.unwrap();
    assert_eq!(seen.branch, "main");
}

#[tokio::test]
async fn a_broken_repository_is_none() {
    let place = Place::new();
    for (path, text) in
        [(".git/HEAD", "garbage"), (".git/HEAD", ""), ("other/.git", "gitdir: nowhere")]
    {
        let file = place.write(path, text);
        let folder = if path.starts_with("other") {
            place.path().join("other")
        } else {
            place.path().to_owned()
        };
        assert_eq!(place.look(&folder).await.git, None, "{path}: {text}");
        fs::remove_file(file).unwrap();
        fs::remove_dir_all(place.path().join(".git")).ok();
    }
}

#[tokio::test]
async fn a_session_does_not_wait_for_a_git_that_is_slow() {
    let place = Place::changed();
    let programs = tempfile::tempdir().unwrap();
    let slow = programs.path().join("git");
    fs::write(&slow, "#!/bin/sh\nexec sleep 20\n").unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", programs.path().display());
    let env = place.env.with([("PATH".to_owned(), path)]);
    let git = Git { env, ..place.runner(CageState::Missing, FolderTrust::Trusted) };

    let clock = Clock::fixed(Timestamp::from_millis(1_794_870_000_000));
    let started = Instant::now();
    let reader =
        SurroundingsReader::start(place.path(), &place.env, &clock, move || git, STATUS_TIMEOUT);
    let seen = reader.finish().await;

    // Ten times what is promised: other tests run beside this one.
    assert!(started.elapsed() < Duration::from_millis(600), "{:?}", started.elapsed());
    let text = seen.text();
    assert!(text.contains("Git branch at the start: main; its status was not read"), "{text}");
}
