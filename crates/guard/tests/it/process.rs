//! Children: output, input, terminals, and that none is left behind.

use std::time::{Duration, Instant};

use base::Env;
use guard::process::{Command, SpawnError, Terminals};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::cage_den::{Den, finish, kinds};

fn command(script: &str, stdio: Terminals) -> Command {
    Command {
        program: "bash".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        folder: std::env::temp_dir(),
        env: Env::from_iter([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TERM", "dumb")]),
        cage: None,
        stdio,
    }
}

async fn output(script: &str, stdio: Terminals) -> String {
    let mut child = command(script, stdio).spawn().unwrap();
    let mut text = String::new();
    child.output.take().unwrap().read_to_string(&mut text).await.unwrap();
    child.wait().await.unwrap();
    text
}

/// State of a process, or none if it is not there.
fn state(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().next()?.to_owned())
}

pub(crate) async fn until(condition: impl Fn() -> bool, limit: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    condition()
}

#[tokio::test]
async fn output_and_error_come_in_the_order_they_were_written() {
    let text = output("echo a; echo b >&2; echo c; echo d >&2", Terminals::Output).await;
    assert_eq!(text, "a\nb\nc\nd\n");
}

#[tokio::test]
async fn a_program_is_the_first_that_runs_on_the_childs_path_and_keeps_its_name() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    for (folder, mode) in [("notes", 0o644), ("mine", 0o755)] {
        let program = dir.path().join(folder).join("greet");
        std::fs::create_dir(dir.path().join(folder)).unwrap();
        std::fs::write(&program, format!("#!/bin/sh\necho {folder}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(mode)).unwrap();
    }
    let root = dir.path().display();
    // A folder of that name, and one relative to where the child runs, are not in the way.
    std::fs::create_dir_all(dir.path().join("folder/greet")).unwrap();
    for path in [
        format!("/nowhere:{root}/notes:{root}/mine:/usr/bin:/bin"),
        format!("{root}/folder:{root}/mine:/usr/bin:/bin"),
        format!("mine:{root}/notes:/usr/bin:/bin"),
    ] {
        let mut command = command("", Terminals::Output);
        command.program = "greet".to_owned();
        command.args.clear();
        command.folder = dir.path().to_owned();
        command.env = Env::from_iter([("PATH", path.as_str())]);
        assert_eq!(finish(command).await.ok(), "mine\n", "{path}");
    }
    assert_eq!(output("echo $0", Terminals::Output).await, "bash\n");
}

#[tokio::test]
async fn output_and_error_come_apart_where_that_is_asked_for() {
    let script = "cat; echo out; echo complaint >&2";
    let mut child = command(script, Terminals::Apart).spawn().unwrap();
    let mut input = child.input.take().unwrap();
    input.write_all(b"in\n").await.unwrap();
    drop(input);
    let (mut text, mut complaint) = (String::new(), String::new());
    child.output.take().unwrap().read_to_string(&mut text).await.unwrap();
    child.error.take().unwrap().read_to_string(&mut complaint).await.unwrap();
    assert_eq!((text.as_str(), complaint.as_str()), ("in\nout\n", "complaint\n"));
    assert!(child.wait().await.unwrap().success());
}

#[tokio::test]
async fn input_is_closed_unless_asked_for() {
    assert_eq!(output("cat; echo end", Terminals::Output).await, "end\n");
    let mut child = command("cat; echo end", Terminals::InputOutput).spawn().unwrap();
    let mut input = child.input.take().unwrap();
    input.write_all(b"hello\n").await.unwrap();
    drop(input);
    let mut text = String::new();
    child.output.take().unwrap().read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "hello\nend\n");
    assert!(child.wait().await.unwrap().success());
}

#[tokio::test]
async fn a_terminal_is_one_and_has_its_size() {
    let terminal = Terminals::Pty { columns: 91, rows: 17 };
    let text =
        output("test -t 0 -a -t 1 -a -t 2 && stty size && echo x > /dev/tty", terminal).await;
    assert_eq!(text, "17 91\r\nx\r\n");
    let mut child = command("read x; stty size; cat", terminal).spawn().unwrap();
    child.resize(50, 5).unwrap();
    let mut input = child.input.take().unwrap();
    input.write_all(b"\nover\n\x04").await.unwrap();
    let mut text = String::new();
    child.output.take().unwrap().read_to_string(&mut text).await.unwrap();
    assert!(text.contains("5 50\r\n") && text.ends_with("over\r\n"), "{text:?}");
}

#[tokio::test]
async fn a_child_inherits_no_descriptors_and_no_ignored_signals() {
    let (reader, writer) = std::io::pipe().unwrap();
    rustix::io::fcntl_setfd(&reader, rustix::io::FdFlags::empty()).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&reader);
    let pipe = std::fs::read_link(format!("/proc/self/fd/{number}")).unwrap();
    let script = "ls -l /proc/$$/fd; grep -E 'SigBlk|SigIgn' /proc/self/status";
    let text = output(script, Terminals::Output).await;
    drop(writer);
    let (open, signals) = text.split_once("SigBlk:").unwrap();
    assert!(open.contains("pipe:") && !open.contains(pipe.to_str().unwrap()), "{open}");
    let none = "0000000000000000";
    assert_eq!(signals.split_whitespace().collect::<Vec<_>>(), [none, "SigIgn:", none]);
}

#[tokio::test]
async fn the_error_names_what_is_missing() {
    let mut missing = command("", Terminals::Output);
    missing.program = "no-such-program".to_owned();
    let error = missing.spawn().unwrap_err();
    assert!(matches!(&error, SpawnError::Start { .. }), "{error}");
    let mut nowhere = command("", Terminals::Output);
    nowhere.folder = "/no/such/folder".into();
    let error = nowhere.spawn().unwrap_err();
    assert!(error.to_string().contains("/no/such/folder"), "{error}");
}

#[tokio::test]
async fn a_script_that_names_no_shell_is_run_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let script = program(&dir, "plain", "echo \"$0 $1\"\n");
    let mut command = command("", Terminals::Output);
    command.program = script.clone();
    command.args = vec!["a b".to_owned()];
    assert_eq!(finish(command).await.ok(), format!("{script} a b\n"));
}

#[tokio::test]
async fn a_program_that_does_not_start_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let lost = program(&dir, "lost", "#!/no/such/interpreter\n");
    let mut commands = vec![command("", Terminals::Output)];
    let dens: Vec<Den> = kinds().into_iter().map(Den::of).collect();
    commands.extend(dens.iter().map(|den| den.command("")));
    for mut command in commands {
        command.program.clone_from(&lost);
        command.folder = dir.path().to_owned();
        let error = command.spawn().unwrap_err();
        assert!(matches!(&error, SpawnError::Start { .. }), "{error}");
    }
    let left =
        || std::fs::read_dir("/proc").unwrap().flatten().filter(never_became_a_program).count();
    assert!(until(|| left() == 0, Duration::from_secs(5)).await, "{} left", left());
}

#[tokio::test]
async fn a_child_nobody_waits_for_is_taken_off_the_books() {
    let child = command("sleep 76", Terminals::Output).spawn().unwrap();
    let pid = child.group();
    assert!(state(pid).is_some());
    drop(child);
    assert!(until(|| state(pid).is_none(), Duration::from_secs(5)).await);
}

#[tokio::test]
async fn children_started_at_the_same_time_keep_apart() {
    let start = |number: usize| async move {
        let mut command = command("echo $NUMBER", Terminals::Output);
        command.env = command.env.with([("NUMBER".to_owned(), number.to_string())]);
        assert_eq!(finish(command).await.ok(), format!("{number}\n"));
    };
    let tasks: Vec<_> = (0..32)
        .map(|number| {
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(start(number));
            })
        })
        .collect();
    for task in tasks {
        task.join().unwrap();
    }
}

/// Makes a file that can be run.
fn program(dir: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Whether a child of ours has ended under the name of the thread that started it.
fn never_became_a_program(entry: &std::fs::DirEntry) -> bool {
    let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
    stat.contains(&format!("(children) Z {} ", std::process::id()))
}

#[tokio::test]
async fn the_whole_group_is_gone_when_killed() {
    for terminals in [Terminals::Output, Terminals::Pty { columns: 80, rows: 24 }] {
        let script = "trap '' INT; set -m; sleep 71 & (sleep 72 & sleep 73) & echo $! $$; wait";
        let mut child = command(script, terminals).spawn().unwrap();
        let mut line = [0; 64];
        let count = child.output.as_mut().unwrap().read(&mut line).await.unwrap();
        assert!(count > 0);
        let group = child.group();
        let members = || session_members(group);
        assert!(until(|| members().len() >= 4, Duration::from_secs(10)).await, "{:?}", members());
        let start = Instant::now();
        child.kill();
        assert!(until(|| members().is_empty(), Duration::from_secs(1)).await, "{:?}", members());
        assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
        child.wait().await.unwrap();
        assert_eq!(state(group), None, "no zombie");
    }
}

fn session_members(session: u32) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let Some((_, rest)) = stat.rsplit_once(')') else { return false };
        let fields: Vec<_> = rest.split_whitespace().collect();
        fields[0] != "Z" && fields[3] == session.to_string()
    })
    .collect()
}

#[tokio::test]
async fn end_waits_for_who_ends_by_itself_and_kills_who_does_not() {
    let mut polite =
        command("trap 'exit 7' INT; echo up; while :; do sleep 0.01; done", Terminals::Output)
            .spawn()
            .unwrap();
    polite.output.as_mut().unwrap().read_u8().await.unwrap();
    assert_eq!(polite.end(Duration::from_secs(30)).await.unwrap().code(), Some(7));
    let mut stubborn =
        command("trap '' INT; echo up; while :; do sleep 60; done", Terminals::Output)
            .spawn()
            .unwrap();
    stubborn.output.as_mut().unwrap().read_u8().await.unwrap();
    let group = stubborn.group();
    let status = stubborn.end(Duration::from_millis(50)).await.unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    assert!(until(|| session_members(group).is_empty(), Duration::from_secs(5)).await);
    assert_eq!(state(group), None);
}

#[tokio::test]
async fn dropping_a_child_kills_whom_it_left_behind() {
    let mut child = command("sleep 74 & echo $!", Terminals::Output).spawn().unwrap();
    let mut line = [0; 32];
    let count = child.output.as_mut().unwrap().read(&mut line).await.unwrap();
    let left: u32 = std::str::from_utf8(&line[..count]).unwrap().trim().parse().unwrap();
    child.wait().await.unwrap();
    assert!(state(left).is_some());
    drop(child);
    assert!(until(|| state(left).is_none_or(|it| it == "Z"), Duration::from_secs(5)).await);
}

/// Started by the test below, in a process of its own.
#[tokio::test]
#[ignore = "a part of another test"]
async fn starts_a_child_and_waits_to_be_killed() {
    let child = command("sleep 75", Terminals::Output).spawn().unwrap();
    println!("child {}", child.group());
    tokio::time::sleep(Duration::from_mins(1)).await;
}

/// This very program, running one of the tests that are part of another.
pub(crate) fn ourselves(test: &str) -> Command {
    let mut ours = command("", Terminals::Output);
    ours.program = std::env::current_exe().unwrap().display().to_string();
    ours.args = ["--ignored", "--exact", test, "--nocapture"].map(str::to_owned).to_vec();
    ours
}

/// Run by the test below, in a process of its own.
#[tokio::test]
#[ignore = "a part of another test"]
async fn hardens_itself_and_cages_children() {
    guard::process::harden().unwrap();
    let dumpable = rustix::process::dumpable_behavior().unwrap();
    assert_eq!(dumpable, rustix::process::DumpableBehavior::NotDumpable);
    for kind in kinds() {
        Den::of(kind).run("echo x > inside && ! echo x > $OUTSIDE/new").await.ok();
        // A child must not open our memory to others, whatever it does to its own.
        assert_eq!(rustix::process::dumpable_behavior().unwrap(), dumpable, "{kind:?}");
    }
}

#[tokio::test]
async fn a_hardened_process_can_still_cage_its_children() {
    let ran = finish(ourselves("process::hardens_itself_and_cages_children")).await;
    assert!(ran.text.contains("1 passed"), "{ran:?}");
    assert!(ran.status.success());
}

#[tokio::test]
async fn children_die_with_us() {
    let mut parent = ourselves("process::starts_a_child_and_waits_to_be_killed").spawn().unwrap();
    let mut text = String::new();
    let mut buffer = [0; 512];
    let pid: u32 = loop {
        let count = parent.output.as_mut().unwrap().read(&mut buffer).await.unwrap();
        assert!(count > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        let line = text.lines().find_map(|line| line.strip_prefix("child "));
        if let Some(pid) = line.and_then(|pid| pid.trim().parse().ok()) {
            break pid;
        }
    };
    assert!(state(pid).is_some());
    parent.kill();
    parent.wait().await.unwrap();
    assert!(until(|| state(pid).is_none_or(|it| it == "Z"), Duration::from_secs(10)).await);
}

#[tokio::test]
async fn a_thousand_quick_commands_leak_nothing() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    output("true", Terminals::Output).await;
    let before = open();
    for _ in 0..200 {
        output("true", Terminals::Output).await;
    }
    assert!(open() <= before + 20, "{before} then {}", open());
}
