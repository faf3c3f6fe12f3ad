//! Nothing outlives a sandboxed command: not by `setsid`, not by forking twice, not when we are killed.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use guard::process::Terminals;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::cage_den::{Den, finish, kinds, walled};
use crate::process::{ourselves, until};

/// Starts a process in a session and group of its own, below nobody, and waits until it runs. It writes `src/late`
/// once `src/go` is there.
const DAEMON: &str = "(setsid bash -c 'echo > src/began; until test -e src/go; do sleep 0.01; done; \
    echo late > src/late' >/dev/null 2>&1 </dev/null &) & wait; \
    until test -e src/began; do sleep 0.01; done; echo started";

/// How long something that must not happen is waited for.
const LONG_ENOUGH: Duration = Duration::from_millis(300);
const LIMIT: Duration = Duration::from_secs(10);

async fn never_comes(den: &Den) -> bool {
    std::fs::write(den.path("work/src/go"), "").unwrap();
    !until(|| den.path("work/src/late").exists(), LONG_ENOUGH).await
}

#[tokio::test]
async fn a_daemon_ends_with_its_command() {
    for kind in kinds() {
        let den = Den::of(kind);
        assert_eq!(den.run(DAEMON).await.ok(), "started\n", "{kind:?}");
        assert!(never_comes(&den).await, "{kind:?}");
    }
}

#[tokio::test]
async fn a_command_is_not_gone_while_a_daemon_of_it_runs() {
    for kind in kinds() {
        let den = Den::of(kind);
        let mut child = den.command(DAEMON).spawn().unwrap();
        assert!(child.wait().await.unwrap().success());
        assert!(!child.is_gone(), "{kind:?}");
        std::fs::write(den.path("work/src/go"), "").unwrap();
        tokio::time::timeout(LIMIT, child.all_ended()).await.unwrap().unwrap();
        assert!(child.is_gone() && den.path("work/src/late").exists(), "{kind:?}");
        assert!(child.wait().await.unwrap().success());
    }
}

#[tokio::test]
async fn a_command_without_leftovers_is_gone_when_it_has_ended() {
    for kind in kinds() {
        let mut child = Den::of(kind).command("sleep 0.01 & wait").spawn().unwrap();
        assert!(child.wait().await.unwrap().success());
        assert!(child.is_gone(), "{kind:?}");
    }
}

#[tokio::test]
async fn killing_ends_a_daemon_too() {
    for kind in kinds() {
        let den = Den::of(kind);
        let mut child = den.command(&format!("{DAEMON}; sleep 60")).spawn().unwrap();
        let mut line = [0; 16];
        assert!(child.output.as_mut().unwrap().read(&mut line).await.unwrap() > 0);
        child.kill();
        tokio::time::timeout(LIMIT, child.all_ended()).await.unwrap().unwrap();
        assert_eq!(child.wait().await.unwrap().signal(), Some(9), "{kind:?}");
        assert!(never_comes(&den).await, "{kind:?}");
    }
}

#[tokio::test]
async fn the_exit_status_is_the_programs_own() {
    for kind in kinds() {
        let den = Den::of(kind);
        for code in [0, 1, 3, 127, 255] {
            let ran = den.run(&format!("exit {code}")).await;
            assert_eq!(ran.status.code(), Some(code), "{kind:?}");
        }
        for signal in [1, 2, 6, 9, 11, 15] {
            let ran = den.run(&format!("kill -{signal} $$; sleep 60")).await;
            assert_eq!(ran.status.signal(), Some(signal), "{kind:?} {ran:?}");
        }
    }
}

#[tokio::test]
async fn an_interrupt_reaches_the_program_and_its_children() {
    for kind in kinds() {
        let den = Den::of(kind);
        let mut child = den.command("echo up; sleep 60").spawn().unwrap();
        let mut line = [0; 8];
        assert!(child.output.as_mut().unwrap().read(&mut line).await.unwrap() > 0);
        let began = Instant::now();
        child.interrupt();
        let status = tokio::time::timeout(LIMIT, child.wait()).await.unwrap().unwrap();
        assert_eq!(status.signal(), Some(2), "{kind:?} after {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_key_interrupts_the_program_at_a_terminal() {
    for kind in kinds() {
        let den = Den::of(kind);
        let mut command = den.command("echo up; sleep 60; echo not this");
        command.stdio = Terminals::Pty { columns: 80, rows: 24 };
        let mut child = command.spawn().unwrap();
        let mut line = [0; 8];
        assert!(child.output.as_mut().unwrap().read(&mut line).await.unwrap() > 0);
        child.input.as_mut().unwrap().write_all(b"\x03").await.unwrap();
        let status = tokio::time::timeout(LIMIT, child.wait()).await.unwrap().unwrap();
        assert_eq!(status.signal(), Some(2), "{kind:?}");
    }
}

#[tokio::test]
async fn job_control_works_at_a_terminal() {
    for kind in kinds() {
        let den = Den::of(kind);
        let mut command =
            den.command("set -m; sleep 60 & kill %1; wait %1; jobs; ps -o pid= -p $$; echo over");
        command.stdio = Terminals::Pty { columns: 80, rows: 24 };
        let ran = finish(command).await;
        assert!(ran.text.contains("over") && ran.status.success(), "{kind:?} {ran:?}");
    }
}

#[tokio::test]
async fn only_processes_of_the_command_are_seen() {
    for kind in walled() {
        let den = Den::of(kind);
        let text =
            den.run("ls -d /proc/[0-9]* | wc -l; echo $$; cat /proc/$$/comm; true").await.ok();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].parse::<u32>().unwrap() < 8, "{kind:?} {text}");
        assert_eq!(lines[2], "bash", "{kind:?} {text}");
        den.run(&format!("test -e /proc/{}", std::process::id())).await.failed();
        // The first process is ours, and shows nothing of ours.
        for attempt in ["environ", "mem", "maps"] {
            den.run(&format!("head -c 1 /proc/1/{attempt}")).await.failed();
        }
        den.run("ls /proc/1/root/ /proc/1/cwd/ /proc/1/fd/").await.failed();
    }
}

/// Started by the test below, in a process of its own, with the kind of sandbox in a variable.
#[tokio::test]
#[ignore = "a part of another test"]
async fn starts_a_daemon_and_waits_to_be_killed() {
    let wanted = base::Env::of_process();
    let wanted = wanted.get("CAGE_KIND").unwrap();
    let kind = kinds().into_iter().find(|kind| format!("{kind:?}") == wanted).unwrap();
    let den = Den::of(kind);
    let mut child = den.command(&format!("{DAEMON}; sleep 60")).spawn().unwrap();
    let mut line = [0; 16];
    assert!(child.output.as_mut().unwrap().read(&mut line).await.unwrap() > 0);
    println!("den {}", den.path("").display());
    tokio::time::sleep(Duration::from_mins(1)).await;
}

#[tokio::test]
async fn everything_ends_when_we_are_killed() {
    for kind in kinds() {
        let mut parent = ourselves("cage_processes::starts_a_daemon_and_waits_to_be_killed");
        parent.env = parent.env.with([("CAGE_KIND".to_owned(), format!("{kind:?}"))]);
        let mut parent = parent.spawn().unwrap();
        let mut text = String::new();
        let mut buffer = [0; 512];
        let place = loop {
            let count = parent.output.as_mut().unwrap().read(&mut buffer).await.unwrap();
            assert!(count > 0, "{kind:?} {text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..count]));
            let line = text.lines().find_map(|line| line.strip_prefix("den "));
            if let Some(place) = line.filter(|_| text.ends_with('\n')) {
                break std::path::PathBuf::from(place);
            }
        };
        let id = i32::try_from(parent.group()).unwrap();
        let id = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        parent.wait().await.unwrap();
        let late = place.join("work/src/late");
        std::fs::write(place.join("work/src/go"), "").unwrap();
        assert!(!until(|| late.exists(), LONG_ENOUGH).await, "{kind:?}");
        std::fs::remove_dir_all(place).unwrap();
    }
}

#[tokio::test]
async fn many_commands_leave_no_zombies_and_no_descriptors() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    for kind in kinds() {
        let den = Den::of(kind);
        let cage = den.cage();
        let again = || {
            let mut command = den.command("true");
            command.cage.clone_from(&cage);
            command
        };
        finish(again()).await.ok();
        let before = open();
        for _ in 0..150 {
            finish(again()).await.ok();
        }
        assert!(open() <= before + 20, "{kind:?} {before} then {}", open());
    }
    let ours = std::process::id();
    let zombies = move || {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let stats = entries.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok());
        stats.filter(|stat| stat.contains(&format!("(caiman-sandbox) Z {ours} "))).count()
    };
    assert!(until(|| zombies() < 5, LIMIT).await, "{} zombies", zombies());
}
