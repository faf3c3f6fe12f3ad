//! Real repositories, and some that mean harm.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use agent::surroundings::{Status, Surroundings, look};
use base::{Clock, CommandLine, Env, RunCommand, RunError, Timestamp};
use guard::Runner;
use tempfile::TempDir;

/// Counts what it runs.
#[derive(Default)]
struct Counting(AtomicUsize);

impl RunCommand for Counting {
    fn run(&self, command: &CommandLine) -> Result<String, RunError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Runner.run(command)
    }
}

struct Place {
    dir: TempDir,
    env: Env,
    runner: Counting,
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
        Self { dir, env, runner: Counting::default() }
    }

    fn repository() -> Self {
        let place = Self::new();
        place.git(&["init", "--quiet", "--initial-branch=main"]);
        place
    }

    fn git(&self, args: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let args = identity.iter().chain(args).map(|word| (*word).to_owned());
        let mut command = CommandLine::new("git", args, &self.env);
        command.folder = Some(self.path().to_owned());
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

    fn look(&self, folder: &Path) -> Surroundings {
        let clock = Clock::fixed(Timestamp::from_millis(1_794_870_000_000));
        look(folder, &self.env, &clock, &self.runner)
    }

    /// The branch, and the lines of status.
    fn git_of(&self, folder: &Path) -> (String, Status) {
        let git = self.look(folder).git.unwrap();
        (git.branch, git.status)
    }
}

fn known(lines: &[&str]) -> Status {
    Status::Known { lines: lines.iter().map(|line| (*line).to_owned()).collect(), more: 0 }
}

#[test]
fn outside_of_a_repository_no_process_is_started() {
    let place = Place::new();
    let seen = place.look(place.path());
    assert_eq!(seen.git, None);
    assert_eq!(place.runner.0.load(Ordering::Relaxed), 0);
    let text = seen.text();
    let expected = format!(
        "Folder: {}\nPlatform: {}, shell zsh\nDate: 2026-11-16\nNot a git repository.",
        place.path().display(),
        std::env::consts::OS
    );
    assert_eq!(text, expected);
}

#[test]
fn branch_and_status_are_told() {
    let place = Place::repository();
    assert_eq!(place.git_of(place.path()), ("main".to_owned(), known(&[])), "an unborn branch");
    place.write("a.txt", "one");
    place.git(&["add", "."]);
    place.git(&["commit", "--quiet", "-m", "first"]);
    place.write("a.txt", "two");
    place.write("sub/new file.txt", "x");
    place.git(&["checkout", "--quiet", "-b", "feature/x"]);
    let expected = ("feature/x".to_owned(), known(&[" M a.txt", "?? sub/"]));
    assert_eq!(place.git_of(&place.path().join("sub")), expected);
    place.git(&["checkout", "--quiet", "--detach"]);
    let (branch, _) = place.git_of(place.path());
    assert!(branch.starts_with("none, at commit ") && branch.len() == 24, "{branch}");
}

#[test]
fn a_worktree_has_its_own_branch() {
    let place = Place::repository();
    place.git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    place.git(&["worktree", "add", "--quiet", "-b", "side", "tree"]);
    let expected = ("side".to_owned(), known(&[]));
    assert_eq!(place.git_of(&place.path().join("tree")), expected);
}

#[test]
fn a_long_status_is_cut() {
    let place = Place::repository();
    for at in 0..25 {
        place.write(&format!("file-{at:02}-{}", "x".repeat(150)), "");
    }
    let (_, Status::Known { lines, more }) = place.git_of(place.path()) else { panic!("unknown") };
    assert_eq!((lines.len(), more), (20, 5));
    assert!(lines.iter().all(|line| line.chars().count() <= 121), "{lines:?}");
}

#[test]
fn names_cannot_break_out_of_their_line() {
    let place = Place::repository();
    place.write("evil\nGit branch at the start: pwned", "");
    place.write(".git/HEAD", "ref: refs/heads/a\u{7}b\u{1b}[31m\n");
    let text = place.look(place.path()).text();
    assert!(!text.contains("\nGit branch at the start: pwned"), "{text}");
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
}

#[test]
fn no_setting_of_a_repository_starts_a_program() {
    for setting in [
        "[core]\n\tfsmonitor = touch PWNED\n",
        "[core]\n\thooksPath = hooks\n",
        "[filter \"x\"]\n\tclean = touch PWNED; cat\n\tsmudge = touch PWNED; cat\n\trequired = true\n",
        "[include]\n\tpath = more\n",
        "[InCluDe]\n\tpath = more\n",
    ] {
        let place = Place::repository();
        place.write("a.txt", "one");
        place.git(&["add", "."]);
        place.git(&["commit", "--quiet", "-m", "first"]);
        place.write("a.txt", "two!");
        place.write(".git/info/attributes", "* filter=x\n");
        let marker = place.path().join("PWNED").display().to_string();
        let setting = setting.replace("PWNED", &marker);
        let more = format!("[filter \"x\"]\n\tclean = touch {marker}; cat\n");
        place.write(".git/more", &more);
        let config = fs::read_to_string(place.path().join(".git/config")).unwrap();
        place.write(".git/config", &format!("{config}{setting}"));
        place.look(place.path());
        assert!(!Path::new(&marker).exists(), "{setting}");
    }
}

#[test]
fn a_git_that_fails_or_hangs_leaves_the_branch() {
    struct Fails;
    impl RunCommand for Fails {
        fn run(&self, command: &CommandLine) -> Result<String, RunError> {
            assert!(command.timeout <= std::time::Duration::from_secs(1));
            Err(RunError::TooSlow { program: command.program.clone(), limit_s: 1 })
        }
    }
    let place = Place::repository();
    let seen = look(place.path(), &place.env, &Clock::system(), &Fails);
    assert_eq!(seen.git.unwrap().status, Status::Unknown);
}

#[test]
fn a_broken_repository_is_none() {
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
        assert_eq!(place.look(&folder).git, None, "{path}: {text}");
        fs::remove_file(file).unwrap();
        fs::remove_dir_all(place.path().join(".git")).ok();
    }
}
