//! Every line of the table of guarantees, tried from inside a real sandbox of each kind, as root and as an ordinary user.

use std::fs;
use std::path::Path;

use base::{Env, Paths};
use guard::Cage;
use guard::cage::{Bounds, GUARANTEES, Holds, Level, Namespace, table};

use crate::cage_den::{Den, Ran, finish, kinds};
use crate::process::ourselves;

/// Tries to break one guarantee.
struct Probe {
    what: &'static str,
    script: &'static str,
    /// Whether it held, by what came of it.
    holds: fn(&Den, &Ran) -> bool,
}

/// Everything secret in the den says this.
const SECRET: &str = "PRIVATE";

fn failed(_: &Den, ran: &Ran) -> bool {
    !ran.status.success()
}

fn is_silent(_: &Den, ran: &Ran) -> bool {
    !ran.text.contains(SECRET)
}

const PROBES: &[Probe] = &[
    Probe { what: "no file outside the workspace is changed", script: "echo x > $OUTSIDE/file || echo x > $OUTSIDE/new", holds: failed },
    Probe { what: "modes, owners and times outside stay", script: "chmod 777 $OUTSIDE/file", holds: failed },
    Probe { what: "protected places stay", script: "echo x > .git/config || echo x > .zed/tasks.json", holds: failed },
    Probe {
        what: "git folders by another name and hook folders stay",
        script: "echo x > .bare/config || echo x > team-hooks/pre-commit || echo x > sub/.git/config",
        holds: failed,
    },
    Probe {
        what: "places of credentials cannot be read",
        script: "cat ~/.ssh/id_x ~/.config/rclone/rclone.conf ~/.claude.json ~/.local/share/fish/fish_history",
        holds: is_silent,
    },
    Probe {
        what: "Caiman's own data and settings cannot be read or changed",
        script: "cat $OWN/config/caiman/caiman.json $OWN/data/caiman/caiman.db $OWN/data/caiman/trust.json; \
            echo PRIVATE > $OWN/data/caiman/trust.json && cat $OWN/data/caiman/trust.json; \
            echo PRIVATE > $OWN/data/caiman/new && cat $OWN/data/caiman/new",
        holds: is_silent,
    },
    Probe { what: "`.env` files cannot be read", script: "cat .env sub/.env.local; grep -rs PRIVATE .", holds: is_silent },
    Probe {
        what: "no connection, no datagram, no descriptor passed out",
        script: "python3 -c '
import os, socket
for kind in (1, 2, 3, 4, 5):
    try:
        one = socket.socket(socket.AF_UNIX, kind)
        one.sendmsg([b\"x\"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b\"\\0\\0\\0\\0\")], 0, os.environ[\"OUTSIDE\"] + \"/socket\")
        print(\"PRIVATE\")
    except OSError: pass'",
        holds: is_silent,
    },
    Probe {
        what: "nothing outlives its command or its job",
        script: "(setsid sh -c 'echo > src/began; sleep 0.2; echo x > src/late' >/dev/null 2>&1 &); \
            until test -e src/began; do sleep 0.01; done",
        holds: |den, _| {
            let late = den.path("work/src/late");
            let deadline = std::time::Instant::now() + std::time::Duration::from_millis(600);
            while std::time::Instant::now() < deadline && !late.exists() {
                std::thread::yield_now();
            }
            !late.exists()
        },
    },
    Probe { what: "other processes cannot be seen", script: "test -e /proc/$CAIMAN_PID", holds: failed },
    Probe {
        what: "other processes cannot be looked into or signalled",
        script: "head -c 1 /proc/$CAIMAN_PID/environ || kill -0 $CAIMAN_PID",
        holds: failed,
    },
    Probe {
        what: "other processes keep their priority",
        script: "renice -n 19 -p $CAIMAN_PID || taskset -p 1 $CAIMAN_PID || ionice -c 3 -p $CAIMAN_PID",
        holds: failed,
    },
    Probe {
        what: "shared memory of other programs cannot be reached",
        script: "cat $SHARED",
        holds: is_silent,
    },
    Probe {
        what: "no ptrace, io_uring, new namespaces, mounts or kernel modules",
        script: "unshare -U true || unshare -m true || mount -t tmpfs none src",
        holds: failed,
    },
];

fn furnished(kind: Namespace) -> Den {
    let den = Den::of(kind);
    for (path, text) in [
        ("home/.config/rclone/rclone.conf", SECRET),
        ("home/.claude.json", SECRET),
        ("home/.local/share/fish/fish_history", SECRET),
        ("work/own/config/caiman/caiman.json", SECRET),
        ("work/own/data/caiman/caiman.db", SECRET),
        ("work/own/data/caiman/trust.json", SECRET),
        ("work/.env", SECRET),
        ("work/sub/.env.local", SECRET),
        ("work/sub/.git/config", "# original"),
        ("work/.bare/config", "# original"),
        ("work/team-hooks/sample", "# original"),
        ("work/.zed/tasks.json", "# original"),
        (
            "work/.git/config",
            "[core]\n\thooksPath = team-hooks\n[include]\n\tpath = ../.bare/config\n",
        ),
    ] {
        fs::create_dir_all(den.path(path).parent().unwrap()).unwrap();
        fs::write(den.path(path), text).unwrap();
    }
    den
}

fn bounds(den: &Den) -> Bounds {
    let own = den.path("work/own").display().to_string();
    let folder = |below: &str| format!("{own}/{below}");
    let paths = Paths::of(&Env::from_iter([
        ("HOME", den.path("home").display().to_string()),
        ("XDG_CONFIG_HOME", folder("config")),
        ("XDG_DATA_HOME", folder("data")),
        ("XDG_CACHE_HOME", folder("cache")),
    ]));
    let bounds = Bounds::for_reach(den.reach, &den.fence, &den.path("temp")).unwrap();
    let mut bounds = bounds.without_own_data(&paths.unwrap());
    let policy = guard::Policy {
        rules: guard::Rules::default(),
        mode: base::protocol::Mode::Default,
        fence: den.fence.clone(),
        cage: guard::policy::CageState::Works,
        bounds: Vec::new(),
    };
    bounds.hidden.extend(policy.environment_files(den.work()).places);
    bounds
}

/// A file of another program in `/dev/shm`.
fn shared() -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().prefix("caiman-").tempfile_in("/dev/shm").unwrap();
    fs::write(file.path(), SECRET).unwrap();
    file
}

async fn try_all() {
    let shared = shared();
    for kind in kinds() {
        let level = if kind == Namespace::None { Level::Landlock } else { Level::Namespaces };
        for probe in PROBES {
            let guarantee = GUARANTEES.iter().find(|it| it.what == probe.what).unwrap();
            let den = furnished(kind);
            let _socket =
                std::os::unix::net::UnixDatagram::bind(den.path("outside/socket")).unwrap();
            let mut command = den.command(probe.script);
            command.cage = Some(std::sync::Arc::new(Cage::new(bounds(&den)).by(kind)));
            let own = den.path("work/own").display().to_string();
            command.env = command.env.with([
                ("OWN".to_owned(), own),
                ("SHARED".to_owned(), shared.path().display().to_string()),
            ]);
            let ran = finish(command).await;
            let holds = (probe.holds)(&den, &ran);
            assert_eq!(holds, guarantee.at(level) != Holds::No, "{kind:?} {}: {ran:?}", probe.what);
        }
    }
}

#[tokio::test]
async fn every_guarantee_holds_where_the_table_says_so() {
    try_all().await;
}

#[test]
fn every_guarantee_is_tried() {
    let tried: Vec<&str> = PROBES.iter().map(|probe| probe.what).collect();
    let listed: Vec<&str> = GUARANTEES.iter().map(|guarantee| guarantee.what).collect();
    assert_eq!(tried, listed);
}

/// Without a sandbox every probe gets through, or it would show nothing.
#[tokio::test]
async fn without_a_sandbox_nothing_holds() {
    let shared = shared();
    for probe in PROBES.iter().filter(|probe| !probe.what.starts_with("no ptrace")) {
        let den = furnished(Namespace::None);
        let _socket = std::os::unix::net::UnixDatagram::bind(den.path("outside/socket")).unwrap();
        let mut command = den.command(probe.script);
        let own = den.path("work/own").display().to_string();
        command.env = command.env.with([
            ("OWN".to_owned(), own),
            ("SHARED".to_owned(), shared.path().display().to_string()),
        ]);
        command.cage = None;
        let ran = finish(command).await;
        assert!(!(probe.holds)(&den, &ran), "{}: {ran:?}", probe.what);
    }
}

/// Run by the test below, as another user.
#[tokio::test]
#[ignore = "a part of another test"]
async fn tries_all_as_whoever_runs_it() {
    assert!(!rustix::process::geteuid().is_root());
    try_all().await;
}

#[tokio::test]
async fn every_guarantee_holds_for_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        testkit::parts::skipped(
            "only root can become another user; the test beside this one is the same",
        );
        return;
    }
    let place = tempfile::Builder::new().prefix("caiman-tests-").tempdir_in("/opt").unwrap();
    std::os::unix::fs::chown(place.path(), Some(65534), Some(65534)).unwrap();
    // The program itself may lie where only root looks.
    let program = place.path().join("it");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = ourselves("cage_guarantees::tries_all_as_whoever_runs_it");
    let args =
        ["--reuid=65534", "--regid=65534", "--clear-groups", "--", program.to_str().unwrap()];
    command.args = args.map(str::to_owned).into_iter().chain(command.args).collect();
    "setpriv".clone_into(&mut command.program);
    let folder = place.path().display().to_string();
    command.env = command
        .env
        .with([("CAIMAN_TEST_PLACE".to_owned(), folder.clone()), ("HOME".to_owned(), folder)]);
    let ran = finish(command).await;
    assert!(ran.text.contains("1 passed") && ran.status.success(), "{}", ran.text);
}

#[test]
fn the_documentation_has_the_same_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sandbox.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(&table()), "docs/sandbox.md must contain:\n{}", table());
}
