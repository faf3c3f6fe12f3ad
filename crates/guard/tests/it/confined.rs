//! The virtual folder: what is asked for elsewhere is forbidden, logged, and told without the real path.

#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use guard::{Fence, FenceError};
use proptest::prelude::*;
use tempfile::TempDir;

struct Den {
    dir: TempDir,
    fence: Fence,
}

impl Den {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("room/sub")).unwrap();
        fs::write(dir.path().join("room/page.md"), "page").unwrap();
        fs::write(dir.path().join("room/sub/deep.md"), "deep").unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        let fence = Fence::confined(&dir.path().join("room"), Path::new("/home/agent")).unwrap();
        Self { dir, fence }
    }

    fn real(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(path)
    }

    fn read(&self, path: &str) -> String {
        let spot = self.fence.locate(path).unwrap();
        let mut text = String::new();
        self.fence.open(&spot).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    fn forbids(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let before = self.fence.refused().len();
        let error = self.fence.locate(path).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("forbidden request") && text.contains("/home/agent"), "{text}");
        assert!(matches!(error, FenceError::Forbidden { .. }), "{}: {text}", path.display());
        assert!(self.asked_for_it(path) || !text.contains(&self.name()), "{text}");
        assert_eq!(self.fence.refused().len(), before + 1, "{} is not logged", path.display());
    }

    /// The name of the folder that nobody may learn.
    fn name(&self) -> String {
        self.dir.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    fn asked_for_it(&self, path: &Path) -> bool {
        path.to_string_lossy().contains(&self.name())
    }
}

#[test]
fn what_is_inside_is_reached_by_its_shown_name() {
    let den = Den::new();
    for path in [
        "page.md",
        "./page.md",
        "sub/../page.md",
        "/home/agent/page.md",
        "/home/agent/./sub/../page.md",
        "//home/agent//page.md",
    ] {
        assert_eq!(den.read(path), "page", "{path}");
        let spot = den.fence.locate(path).unwrap();
        assert_eq!(den.fence.name(&spot), "/home/agent/page.md");
        assert_eq!((spot.asked.as_path(), spot.inside), (Path::new("/home/agent/page.md"), true));
    }
    for path in [".", "/home/agent", "/home/agent/", "sub/.."] {
        let spot = den.fence.locate(path).unwrap();
        assert_eq!((den.fence.name(&spot), spot.real), ("/home/agent".into(), den.real("room")));
    }
    assert_eq!(den.read("/home/agent/sub/deep.md"), "deep");
    let new = den.fence.locate("new/file.md").unwrap();
    den.fence.replace(&new, b"new").unwrap();
    assert_eq!(fs::read_to_string(den.real("room/new/file.md")).unwrap(), "new");
    assert_eq!(den.fence.shown(&den.real("room/new")), Path::new("/home/agent/new"));
    assert_eq!(den.fence.shown(&den.real("secret")), Path::new("secret"));
    assert!(den.fence.refused().is_empty());
}

#[test]
fn what_is_elsewhere_is_forbidden_and_logged() {
    let den = Den::new();
    let cases = [
        // Absolute.
        "/",
        "/etc/passwd",
        "/etc/shadow",
        "/tmp",
        "/tmp/other-file",
        "/root/config",
        "/home",
        "/home/agent2/x",
        "/home/agents",
        "/home/other/.ssh/id_rsa",
        "/var/log/syslog",
        "/dev/null",
        "/dev/fd/0",
        "/run/secrets/token",
        "/private/tmp",
        // Up and out.
        "..",
        "../",
        "../secret",
        "../../etc/passwd",
        "sub/../../secret",
        "sub/../../../etc/passwd",
        "/home/agent/..",
        "/home/agent/../agent/page.md",
        "/home/agent/../../etc/passwd",
        "/home/agent/sub/../../x",
        "./../secret",
        "././.././secret",
        "sub/../..",
        "...",
        ".../x",
        "..../..../etc/passwd",
        // Homes, variables, drives, addresses.
        "~",
        "~/",
        "~/.ssh/id_rsa",
        "~root",
        "~root/.bashrc",
        "~agent/page.md",
        "$HOME/.ssh",
        "${HOME}",
        "$TMPDIR/x",
        "C:\\Windows\\win.ini",
        "c:/Windows/win.ini",
        "file:///etc/passwd",
        "file:/etc/passwd",
        "\\\\server\\share",
        // The kernel's.
        "/proc/self/environ",
        "/proc/self/cwd/page.md",
        "/proc/self/root/etc/passwd",
        "/proc/1/maps",
        "/proc/self/fd/3",
        "/sys/class/net",
        "/proc",
        // Encoded and disguised.
        "%2e%2e/secret",
        "%2E%2E%2Fsecret",
        "..%2fsecret",
        "..%5csecret",
        "%252e%252e/secret",
        "sub/%2e%2e/%2e%2e/secret",
        "%7eroot",
        "..\\secret",
        "..\\..\\etc\\passwd",
        "sub\\..\\..\\secret",
        "．．/secret",
        "..／secret",
        "․․/secret",
        "‥/secret",
        "..∕secret",
        "..⁄secret",
        "\u{ff5e}/x",
        ".\u{200b}./secret",
        "page.md\u{feff}",
        "\u{202e}dm.egap",
        "page.md%00.txt",
        // Case.
        "/HOME/AGENT/page.md",
        "/Home/agent/page.md",
        "/home/Agent/page.md",
        "/home/AGENT",
        // No path at all.
        "",
        "page.md\0",
        "/home/agent/\0",
        "a\nb",
        "\u{1b}[2J",
    ];
    for path in cases {
        den.forbids(path);
    }
    den.forbids(OsStr::from_bytes(b"\xff\xfe/x"));
    den.forbids("a/".repeat(3_000));
    den.forbids("x".repeat(300));
    den.forbids(den.real("room/page.md"));
    den.forbids(den.real("room"));
    den.forbids(den.real("secret"));
    den.forbids(format!("/home/agent/../..{}", den.real("secret").display()));
    assert!(cases.len() >= 60);
}

#[test]
fn links_that_lead_out_are_forbidden() {
    let den = Den::new();
    let outside = den.real("secret");
    for (target, link) in [
        (outside.as_path(), "file"),
        (Path::new("../secret"), "relative"),
        (Path::new("/"), "top"),
        (Path::new("/proc/self"), "self"),
        (Path::new(".."), "up"),
        (&den.real("room/file"), "chain"),
        (Path::new("circle"), "circle"),
        (Path::new("../not-there"), "dangling"),
    ] {
        symlink(target, den.real("room").join(link)).unwrap();
    }
    for path in [
        "file",
        "relative",
        "top",
        "top/etc/passwd",
        "self/environ",
        "self/cwd",
        "up",
        "up/secret",
        "chain",
        "/home/agent/chain",
        "circle",
        "circle/x",
        "dangling",
        "top/proc/self/root",
    ] {
        den.forbids(path);
    }
    // By the rules of the kernel `top/..` would be `/`; here it is the folder.
    assert_eq!(den.read("top/../page.md"), "page");
    den.forbids(format!("top{}", den.real("secret").display()));
    symlink("sub/deep.md", den.real("room/inner")).unwrap();
    symlink(den.real("room/page.md"), den.real("room/whole")).unwrap();
    assert_eq!((den.read("inner"), den.read("whole")), ("deep".into(), "page".into()));
    assert_eq!(den.fence.name(&den.fence.locate("inner").unwrap()), "/home/agent/inner");
}

#[test]
fn errors_name_what_was_asked_and_nothing_else() {
    let den = Den::new();
    let error = den.fence.locate("page.md/x").unwrap_err().to_string();
    assert_eq!(error, "/home/agent/page.md is a file, so nothing can be below it");
    // Judged, then swapped for a link: the fence says so, but not where.
    let spot = den.fence.locate("sub/deep.md").unwrap();
    fs::rename(den.real("room/sub"), den.real("room/old")).unwrap();
    symlink(den.real("room/old"), den.real("room/sub")).unwrap();
    let errors = [
        den.fence.open(&spot).unwrap_err(),
        den.fence.read_dir(&spot).unwrap_err(),
        den.fence.replace(&spot, b"x").unwrap_err(),
        den.fence.remove(&spot).unwrap_err(),
        den.fence.rename(&spot, &spot).unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(!text.contains(&den.name()) && !text.contains("/room"), "{text}");
    }
    let long = "/etc/".to_owned() + &"\u{7}x".repeat(4_000);
    let text = den.fence.locate(&long).unwrap_err().to_string();
    assert!(text.len() < 1_500 && !text.contains('\u{7}'), "{text}");
}

#[test]
fn clones_share_one_log_which_is_bounded() {
    let den = Den::new();
    let other = den.fence.clone();
    assert_eq!(other, den.fence);
    for number in 0..1_200 {
        assert!(other.locate(format!("/etc/{number}")).is_err());
    }
    let refused = den.fence.refused();
    assert_eq!((refused.len(), refused[0].as_str()), (1_000, "/etc/0"));
    let open = Fence::new(den.dir.path(), &[], den.dir.path()).unwrap();
    assert!(!open.is_confined() && open.refused().is_empty());
    assert_eq!(open.shown(Path::new("/etc/x")), Path::new("/etc/x"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn whatever_is_asked_stays_inside_or_is_forbidden(
        path in "(/|/home/agent/|~|[.]{1,4}|\\.\\./|sub|page.md|link|top|%2e|\\\\|[ -~]|[^ -~]){0,10}"
    ) {
        let den = Den::new();
        symlink(den.dir.path(), den.real("room/link")).unwrap();
        symlink("/", den.real("room/top")).unwrap();
        match den.fence.locate(&path) {
            Ok(spot) => {
                prop_assert!(spot.inside && spot.real.starts_with(den.real("room")), "{spot:?}");
                prop_assert!(spot.asked.starts_with("/home/agent"), "{spot:?}");
                prop_assert!(!den.fence.name(&spot).contains(&den.name()));
            }
            Err(error) => prop_assert!(!error.to_string().contains(&den.name()), "{error}"),
        }
    }
}
