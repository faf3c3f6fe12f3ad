//! Ordinary work works in the cage.

use std::sync::Arc;
use std::time::{Duration, Instant};

use guard::cage::Namespace;
use guard::{Cage, Reach};

use crate::cage_den::{Den, kinds};

/// Commands that must succeed in the workspace's cage.
const ORDINARY: &[&str] = &[
    "ls / /dev /proc/self > /dev/null",
    "echo x | cat | grep x",
    "cat < /etc/passwd | head -1",
    "cp inside src/copy && mv src/copy src/moved && rm src/moved",
    "mkdir -p src/a/b && touch src/a/b/c && mv src/a/b src/b && rm -r src/a src/b",
    "ln -s ../inside src/link && cat src/link && ln src/main.c src/hard && rm src/link src/hard",
    "f=$(mktemp) && echo x > $f && cat $f && rm $f",
    "d=$(mktemp -d /tmp/caiman-work-XXXXXX) && touch $d/x && rm -r $d",
    "diff <(echo a) <(echo a)",
    "cat <<END\nhere\nEND",
    "gcc -o src/main src/main.c && src/main",
    "chmod +x src/main.c && test -x src/main.c",
    "sleep 30 & kill $! && ! wait $!",
    "set -m; sleep 0.01 & wait %1",
    "(exit 3); test $? = 3",
    "echo x > /dev/null; head -c 4 /dev/urandom | wc -c",
    "echo x > /dev/stderr; echo y > /dev/fd/1",
    "mkfifo src/pipe && (echo x > src/pipe & cat src/pipe) && rm src/pipe",
    "ps > /dev/null && cat /proc/self/status > /dev/null",
    "ulimit -n 256 && nice true && timeout 5 true",
    "tar cf src/x.tar inside && tar xf src/x.tar -C src && rm src/x.tar src/inside",
    "test \"$AGENT\" = caiman && test -d \"$TMPDIR\"",
    "git -C .. init -q work/repo && git -C repo status && rm -rf repo || true",
    "python3 -c 'import tempfile, subprocess; subprocess.run([\"true\"]); tempfile.TemporaryFile()'",
];

/// What needs a `/dev/shm`: without namespaces there is none of one's own, so there is none at all.
const SHARED_MEMORY: &str = "python3 -c 'import multiprocessing.shared_memory as m; \
    s = m.SharedMemory(create=True, size=9); s.unlink()'";

#[tokio::test]
async fn ordinary_commands_work() {
    for kind in kinds() {
        let den = Den::of(kind);
        for script in ORDINARY {
            // What the tools need of our own home is not at issue here.
            let home = format!("export HOME=/root; {script}");
            let ran = den.run(&home).await;
            assert!(ran.status.success(), "{kind:?} {script}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn shared_memory_works_where_it_can_be_private() {
    for kind in kinds() {
        let ran = Den::of(kind).run(&format!("export HOME=/root; {SHARED_MEMORY}")).await;
        assert_eq!(ran.status.success(), kind != Namespace::None, "{kind:?} {ran:?}");
    }
}

#[tokio::test]
async fn the_workspace_can_be_changed_at_its_top() {
    let den = Den::new();
    den.run("echo x > new && mkdir folder && mv new folder/ && rm -r folder inside").await.ok();
    assert!(!den.path("work/inside").exists());
}

#[tokio::test]
async fn git_looks_but_does_not_commit() {
    let den = Den::new();
    let setup = "rm -rf .git && git init -q . && git config user.email a@b && git config user.name a \
        && git add inside && git commit -qm first && echo more >> inside";
    den.run_free(setup).await.ok();
    let looked = den.run("git status --short && git log --oneline && git diff --stat").await.ok();
    assert!(looked.contains("inside") && looked.contains("first"), "{looked}");
    let refused = den.run("git commit -qam second").await.failed();
    assert!(refused.contains("Read-only file system"), "{refused}");
    assert!(!den.run_free("git log --oneline").await.ok().contains("second"));
}

#[tokio::test]
async fn cargo_runs() {
    let den = Den::new();
    let home = base::Env::of_process();
    let home = home.get("HOME").unwrap();
    den.run(&format!("HOME={home} cargo --version")).await.ok();
}

#[tokio::test]
async fn the_network_works_where_it_is_allowed() {
    let script = "exec 3<>/dev/tcp/127.0.0.1/PORT && cat <&3";
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let script = script.replace("PORT", &port);
    let answer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"hello").unwrap();
    });
    Den::reaching(Reach::Workspace).run(&script).await.failed();
    assert_eq!(Den::reaching(Reach::Network).run(&script).await.ok(), "hello");
    answer.join().unwrap();
}

/// A busy machine waits longer for the end of a namespace than for all else, hence the generous limit.
#[tokio::test]
async fn a_cage_costs_little() {
    let den = Den::new();
    println!("free: {:?}", quickest(&den, None).await);
    for kind in kinds() {
        let den = Den::of(kind);
        let took = quickest(&den, den.cage()).await;
        println!("{kind}: {took:?}");
        assert!(took < Duration::from_millis(25), "{kind}: {took:?}");
    }
}

async fn quickest(den: &Den, cage: Option<Arc<Cage>>) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..60 {
        let mut command = den.command("");
        "/bin/true".clone_into(&mut command.program);
        command.args.clear();
        command.cage.clone_from(&cage);
        let start = Instant::now();
        command.spawn().unwrap().wait().await.unwrap();
        best = best.min(start.elapsed());
    }
    best
}
