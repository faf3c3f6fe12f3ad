//! The fence: where paths lead, and that nothing leaves it between look and use.

#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use guard::{EntryKind, Fence, FenceError};
use proptest::prelude::*;
use tempfile::TempDir;

struct Yard {
    dir: TempDir,
    fence: Fence,
}

impl Yard {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["in/sub/deep", "out", "home"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("in/a.txt"), "a").unwrap();
        fs::write(dir.path().join("out/secret"), "secret").unwrap();
        let fence = Fence::new(&dir.path().join("in"), &[], &dir.path().join("home")).unwrap();
        Self { dir, fence }
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(path)
    }

    fn link(&self, target: impl AsRef<Path>, at: &str) {
        symlink(target, self.path(at)).unwrap();
    }

    /// Where a path leads, below the yard, and whether that is inside.
    fn real(&self, path: impl AsRef<Path>) -> (String, bool) {
        let spot = self.fence.locate(path).unwrap();
        let real = spot.real.strip_prefix(self.path("")).unwrap_or(&spot.real);
        (real.display().to_string(), spot.inside)
    }

    fn read(&self, path: &str) -> std::io::Result<String> {
        let mut text = String::new();
        self.fence.open(&self.fence.locate(path).unwrap())?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn write(&self, path: &str, text: &str) -> std::io::Result<()> {
        self.fence.replace(&self.fence.locate(path).unwrap(), text.as_bytes())
    }

    fn names(&self, path: &str) -> Vec<String> {
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> =
            fs::read_dir(self.path(path)).unwrap().map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

fn inside(path: &str) -> (String, bool) {
    (path.to_owned(), true)
}

fn outside(path: &str) -> (String, bool) {
    (path.to_owned(), false)
}

#[test]
fn knows_inside_from_outside() {
    let yard = Yard::new();
    assert_eq!(yard.real("a.txt"), inside("in/a.txt"));
    assert_eq!(yard.real("./sub/../a.txt"), inside("in/a.txt"));
    assert_eq!(yard.real("."), inside("in"));
    assert_eq!(yard.real(".."), outside(""));
    assert_eq!(yard.real("../out/secret"), outside("out/secret"));
    assert_eq!(yard.real("sub/../../out/secret"), outside("out/secret"));
    assert_eq!(yard.real(yard.path("in/a.txt")), inside("in/a.txt"));
    assert_eq!(yard.real("../in-other/x"), outside("in-other/x"));
    assert_eq!(yard.real("/etc/../etc/passwd"), outside("/etc/passwd"));
    assert_eq!(yard.real("~"), outside("home"));
    assert_eq!(yard.real("~/x"), outside("home/x"));
}

#[test]
fn names_paths_as_the_user_knows_them() {
    let yard = Yard::new();
    let name = |path: &str| yard.fence.name(&yard.fence.locate(path).unwrap());
    assert_eq!(name("./sub//deep/../x"), "sub/x");
    assert_eq!(name("."), ".");
    assert_eq!(name("/etc/passwd"), "/etc/passwd");
}

#[test]
fn refuses_what_is_no_path() {
    let yard = Yard::new();
    let long_name = "n".repeat(256);
    let long_path = "d/".repeat(2048);
    let bad = [
        "",
        "a\0b",
        "a\nb",
        "a\u{1b}[2Jb",
        "photo\u{202e}gnp.sh",
        "~root/.bashrc",
        "~other",
        &long_name,
        &long_path,
    ];
    for path in bad {
        let error = yard.fence.locate(path).unwrap_err();
        assert!(matches!(error, FenceError::Bad { .. }), "{path:?}: {error}");
        assert!(!error.to_string().contains(['\n', '\u{1b}', '\u{202e}']), "{error}");
    }
    assert_eq!(yard.real("./~other"), inside("in/~other"));
}

#[test]
fn takes_names_that_are_not_utf8() {
    let yard = Yard::new();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(yard.path("in").join(name), "x").unwrap();
    let spot = yard.fence.locate(Path::new(name)).unwrap();
    assert!(spot.inside);
    yard.fence.replace(&spot, b"y").unwrap();
    assert_eq!(fs::read(yard.path("in").join(name)).unwrap(), b"y");
}

#[test]
fn follows_links_before_it_judges() {
    let yard = Yard::new();
    yard.link("../out", "in/away");
    yard.link("/etc", "in/etc");
    yard.link("sub", "in/near");
    yard.link("../out/new", "in/dangling");
    yard.link("nowhere/../../out/new", "in/sly");
    assert_eq!(yard.real("away/secret"), outside("out/secret"));
    assert_eq!(yard.real("away/not/yet"), outside("out/not/yet"));
    assert_eq!(yard.real("etc/passwd"), outside("/etc/passwd"));
    assert_eq!(yard.real("near/x"), inside("in/sub/x"));
    assert_eq!(yard.real("dangling"), outside("out/new"));
    assert_eq!(yard.real("sly"), outside("out/new"));
}

#[test]
fn takes_dots_after_a_link_as_the_kernel_does() {
    let yard = Yard::new();
    yard.link("../out", "in/away");
    fs::write(yard.path("top"), "top").unwrap();
    let spot = yard.fence.locate("away/../top").unwrap();
    assert_eq!(spot.asked, yard.path("in/top"));
    assert_eq!(spot.real, yard.path("top"));
    assert!(!spot.inside);
    assert_eq!(fs::canonicalize(yard.path("in/away/../top")).unwrap(), spot.real);
}

#[test]
fn refuses_circles_and_files_that_should_be_folders() {
    let yard = Yard::new();
    yard.link("b", "in/a");
    yard.link("a", "in/b");
    let error = |path: &str| yard.fence.locate(path).unwrap_err();
    assert!(matches!(error("a"), FenceError::Circle { .. }));
    assert!(matches!(error("a/x"), FenceError::Circle { .. }));
    assert!(matches!(error("a.txt/x"), FenceError::Below { .. }));
    assert!(matches!(error("a.txt/x/y"), FenceError::Below { .. }));
}

#[test]
fn a_chain_of_links_is_followed_as_far_as_the_kernel_does() {
    let yard = Yard::new();
    yard.link("a.txt", "in/l0");
    for link in 1..45 {
        yard.link(format!("l{}", link - 1), &format!("in/l{link}"));
    }
    for link in 0..45 {
        let kernel = fs::canonicalize(yard.path(&format!("in/l{link}"))).ok();
        let ours = yard.fence.locate(format!("l{link}")).ok().map(|spot| spot.real);
        assert_eq!(ours, kernel, "l{link}");
    }
}

#[test]
fn an_edited_link_stays_a_link() {
    let yard = Yard::new();
    yard.link("a.txt", "in/link");
    yard.write("link", "new").unwrap();
    assert!(fs::symlink_metadata(yard.path("in/link")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(yard.path("in/a.txt")).unwrap(), "new");
}

#[test]
fn a_link_made_after_the_look_is_refused() {
    let yard = Yard::new();
    let spot = yard.fence.locate("sub/secret").unwrap();
    fs::remove_dir_all(yard.path("in/sub")).unwrap();
    yard.link("../out", "in/sub");
    let is_moved = |error: std::io::Error| error.to_string().contains("may be a link now");
    assert!(is_moved(yard.fence.open(&spot).unwrap_err()));
    assert!(is_moved(yard.fence.replace(&spot, b"x").unwrap_err()));
    assert!(is_moved(yard.fence.remove(&spot).unwrap_err()));
    assert!(is_moved(yard.fence.read_dir(&spot).unwrap_err()));
    let file = yard.fence.locate("plain").unwrap();
    yard.link("../out/secret", "in/plain");
    assert!(is_moved(yard.fence.open(&file).unwrap_err()));
    assert!(is_moved(yard.fence.replace(&file, b"x").unwrap_err()));
    assert!(is_moved(yard.fence.remove(&file).unwrap_err()));
    assert!(is_moved(yard.fence.rename(&file, &spot).unwrap_err()));
    assert_eq!(fs::read_to_string(yard.path("out/secret")).unwrap(), "secret");
}

#[test]
fn a_file_is_restored_with_its_permissions_and_through_no_link() {
    let yard = Yard::new();
    for name in ["a.txt", "deep/new.sh"] {
        let spot = yard.fence.locate(name).unwrap();
        yard.fence.restore(&spot, b"as it was", 0o4751).unwrap();
        let found = fs::metadata(yard.path("in").join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o7777, 0o751, "{name}");
        assert_eq!(fs::read(yard.path("in").join(name)).unwrap(), b"as it was");
    }
    let spot = yard.fence.locate("plain").unwrap();
    yard.link("../out/secret", "in/plain");
    assert!(yard.fence.restore(&spot, b"x", 0o644).is_err());
    assert_eq!(fs::read_to_string(yard.path("out/secret")).unwrap(), "secret");
}

#[test]
fn a_new_file_gets_its_folders() {
    let yard = Yard::new();
    yard.write("x/y/z.txt", "z").unwrap();
    assert_eq!(yard.read("x/y/z.txt").unwrap(), "z");
    assert_eq!(yard.names("in/x/y"), ["z.txt"]);
}

#[test]
fn mode_stays_and_no_spare_file_is_left() {
    let yard = Yard::new();
    for mode in [0o600, 0o755, 0o640] {
        fs::set_permissions(yard.path("in/a.txt"), fs::Permissions::from_mode(mode)).unwrap();
        yard.write("a.txt", "new").unwrap();
        let found = fs::metadata(yard.path("in/a.txt")).unwrap();
        assert_eq!(found.permissions().mode() & 0o7777, mode);
    }
    assert_eq!(yard.names("in"), ["a.txt", "sub"]);
}

#[test]
fn owner_stays_where_the_system_lets_us() {
    if !rustix::process::geteuid().is_root() {
        testkit::parts::skipped("only root can give files away");
        return;
    }
    let yard = Yard::new();
    std::os::unix::fs::chown(yard.path("in/a.txt"), Some(1234), Some(4321)).unwrap();
    yard.write("a.txt", "new").unwrap();
    let found = fs::metadata(yard.path("in/a.txt")).unwrap();
    assert_eq!((found.uid(), found.gid()), (1234, 4321));
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(ErrorKind::ConnectionReset.into())
        }
    }
    let yard = Yard::new();
    let spot = yard.fence.locate("a.txt").unwrap();
    let half = &mut b"half".chain(Broken);
    assert!(yard.fence.replace_from(&spot, half).is_err());
    assert_eq!(yard.read("a.txt").unwrap(), "a");
    assert_eq!(yard.names("in"), ["a.txt", "sub"]);
}

#[test]
fn a_write_does_not_reach_other_hard_links() {
    let yard = Yard::new();
    fs::hard_link(yard.path("out/secret"), yard.path("in/hard")).unwrap();
    yard.write("hard", "mine").unwrap();
    assert_eq!(fs::read_to_string(yard.path("out/secret")).unwrap(), "secret");
    assert_eq!(yard.read("hard").unwrap(), "mine");
}

#[test]
fn refuses_what_is_not_a_file_without_waiting() {
    let yard = Yard::new();
    let pipe = yard.path("in/pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(yard.path("in/socket")).unwrap();
    let refusal = |path: &str| yard.read(path).unwrap_err().to_string();
    assert_eq!(refusal("pipe"), "it is a named pipe, not a file");
    assert_eq!(refusal("socket"), "it is a socket, not a file");
    assert_eq!(refusal("/dev/zero"), "it is a device, not a file");
    assert_eq!(yard.read("sub").unwrap_err().kind(), ErrorKind::IsADirectory);
    assert_eq!(yard.read("/").unwrap_err().kind(), ErrorKind::IsADirectory);
    assert_eq!(yard.read("none").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(yard.write("pipe", "x").unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(yard.write("sub", "x").unwrap_err().kind(), ErrorKind::IsADirectory);
    let folder = yard.fence.locate("sub").unwrap();
    assert_eq!(yard.fence.remove(&folder).unwrap_err().kind(), ErrorKind::IsADirectory);
    assert!(pipe.exists());
}

#[test]
#[cfg(target_os = "linux")]
fn refuses_what_the_kernel_makes_up() {
    let yard = Yard::new();
    for path in ["/proc/self/environ", "/proc/self/mem", "/proc/cpuinfo", "/sys/kernel/notes"] {
        let Ok(spot) = yard.fence.locate(path) else { continue };
        assert!(!spot.inside);
        let refusal = yard.fence.open(&spot).unwrap_err().to_string();
        assert!(refusal.contains("made up by the kernel"), "{path}: {refusal}");
    }
    let through = yard.fence.locate("/proc/self/root/etc/passwd").unwrap();
    assert_eq!(through.real, Path::new("/etc/passwd"));
    let here = yard.fence.locate("/proc/self/cwd").unwrap();
    assert_eq!(here.real, fs::canonicalize(".").unwrap());
}

#[test]
fn lists_a_folder_by_name_without_following_links() {
    let yard = Yard::new();
    yard.link("../out", "in/away");
    let spot = yard.fence.locate(".").unwrap();
    let entries = yard.fence.read_dir(&spot).unwrap();
    let found: Vec<_> =
        entries.iter().map(|entry| (entry.name.to_str().unwrap(), entry.kind)).collect();
    let (file, folder, link) = (EntryKind::File, EntryKind::Folder, EntryKind::Link);
    assert_eq!(found, [("a.txt", file), ("away", link), ("sub", folder)]);
}

#[test]
fn moves_a_file_with_its_mode_over_another() {
    let yard = Yard::new();
    fs::set_permissions(yard.path("in/a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let inode = fs::metadata(yard.path("in/a.txt")).unwrap().ino();
    fs::write(yard.path("in/sub/b.txt"), "b").unwrap();
    let (from, to) = (yard.fence.locate("a.txt").unwrap(), yard.fence.locate("sub/b.txt").unwrap());
    yard.fence.rename(&from, &to).unwrap();
    let found = fs::metadata(yard.path("in/sub/b.txt")).unwrap();
    assert_eq!((found.ino(), found.mode() & 0o777), (inode, 0o755));
    assert!(!yard.path("in/a.txt").exists());
}

#[test]
fn two_spellings_that_are_two_files_stay_two() {
    let yard = Yard::new();
    fs::write(yard.path("in/A.TXT"), "A").unwrap();
    fs::hard_link(yard.path("in/a.txt"), yard.path("in/b.txt")).unwrap();
    fs::hard_link(yard.path("in/b.txt"), yard.path("in/B.TXT")).unwrap();
    for name in ["a.txt", "A.TXT", "b.txt", "B.TXT"] {
        assert_eq!(yard.real(name), inside(&format!("in/{name}")));
    }
}

/// A folder that is swapped for a link to the outside, over and over, while files in it are read, written
/// and deleted: not once may the outside be touched.
#[test]
fn a_folder_swapped_for_a_link_lets_nothing_out() {
    const ROUNDS: usize = 2_000;
    let yard = Yard::new();
    yard.link("../out", "in/bait");
    let (folder, bait) = (yard.path("in/sub"), yard.path("in/bait"));
    fs::write(folder.join("secret"), "mine").unwrap();
    let spot = yard.fence.locate("sub/secret").unwrap();
    let fresh = yard.fence.locate("sub/new/fresh").unwrap();
    let done = AtomicBool::new(false);
    let (mut worked, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap(&folder, &bait);
            }
        });
        for _ in 0..ROUNDS {
            let mut text = String::new();
            let read = yard.fence.open(&spot).and_then(|mut file| file.read_to_string(&mut text));
            assert_ne!(text, "secret", "read through the link");
            let tries = [
                read.map(drop),
                yard.fence.replace(&spot, b"mine"),
                yard.fence.replace(&fresh, b"fresh"),
                yard.fence.remove(&fresh),
            ];
            worked += tries.iter().filter(|tried| tried.is_ok()).count();
            refused += tries.iter().filter(|tried| tried.is_err()).count();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(yard.names("out"), ["secret"]);
    assert_eq!(fs::read_to_string(yard.path("out/secret")).unwrap(), "secret");
    assert!(worked > 0 && refused > 0, "the race was not run: {worked} worked, {refused} refused");
}

/// Exchanges two names in one step where the system can, else in three.
fn swap(one: &Path, other: &Path) {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    }
    #[cfg(not(target_os = "linux"))]
    {
        let spare = one.with_file_name("spare");
        fs::rename(one, &spare).unwrap();
        fs::rename(other, one).unwrap();
        fs::rename(&spare, other).unwrap();
    }
}

fn part() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["..", ".", "sub", "deep", "away", "near", "up", "a.txt", "dangling"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_kernel_on_what_exists(parts in prop::collection::vec(part(), 1..8)) {
        let yard = Yard::new();
        yard.link("../out", "in/away");
        yard.link("sub/deep", "in/near");
        yard.link("..", "in/sub/up");
        yard.link("../../out/new", "in/sub/dangling");
        let path: PathBuf = parts.iter().collect();
        let spot = yard.fence.locate(&path);
        if let Ok(kernel) = fs::canonicalize(yard.path("in").join(&path)) {
            let spot = spot.unwrap();
            prop_assert_eq!(&spot.real, &kernel);
            prop_assert_eq!(spot.inside, kernel.starts_with(yard.path("in")));
        } else if let Ok(spot) = spot {
            // What does not exist is still judged by where it would be made.
            let parent = spot.real.ancestors().find(|above| above.exists()).unwrap();
            prop_assert_eq!(fs::canonicalize(parent).unwrap(), parent);
        }
    }

    #[test]
    fn any_text_is_a_path_or_an_error(path in "\\PC{0,40}|[a-z./~\\x00-\\x1f]{0,20}") {
        let yard = Yard::new();
        if let Ok(spot) = yard.fence.locate(&path) {
            prop_assert!(spot.asked.is_absolute() && spot.real.is_absolute());
            prop_assert_eq!(spot.inside, spot.real.starts_with(yard.path("in")));
        }
    }
}
