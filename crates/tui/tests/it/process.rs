//! A process of its own on a terminal that controls it: signals, being stopped, a crash, idling.
//!
//! The process is this test binary, told by a variable to play the toy instead of testing it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::interface::{Notifications, Tui};
use base::{Env, TaskScope};
use rustix::process::{Pid, Signal, kill_process};
use testkit::terminal::{Key, Program, Terminal};
use tui::face::{Start, run};
use tui::message::Screen;

use crate::stage::SOON;
use crate::toy::{Mind, Programs, Toy};

const PLAYS: &str = "CAIMAN_TEST_PLAYS_THE_TOY";
const INLINE: &str = "CAIMAN_TEST_PLAYS_INLINE";

/// What the process does; as a test of its own it does nothing.
#[test]
fn plays_the_toy_when_told_to() {
    let env = Env::of_process();
    let Some(log) = env.get(PLAYS).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    let _inside = handle.enter();
    let start = Start {
        folder: PathBuf::from("/"),
        session: None,
        screen: if env.get(INLINE).is_some() { Screen::Inline } else { Screen::Full },
        settings: Tui::default(),
        notifications: Notifications::Disabled,
        progress: false,
        env,
        log,
        version: "0".into(),
    };
    let (mind, programs) = (Arc::new(Mind::default()), Arc::new(Programs::default()));
    let farewell = run(&mut Toy::new(), mind, &TaskScope::new(), start, programs).unwrap();
    println!("farewell {}", farewell.session.is_some());
}

fn start(log: &Path) -> Terminal {
    let terminal = Program::new(std::env::current_exe().unwrap())
        .arg("process::plays_the_toy_when_told_to")
        .arg("--exact")
        .arg("--nocapture")
        .env(PLAYS, log.to_string_lossy())
        .env("RUST_BACKTRACE", "0")
        .size(60, 12)
        .start()
        .unwrap();
    terminal.wait_for("Attributes", SOON).unwrap();
    terminal
}

fn tell(terminal: &Terminal, signal: Signal) {
    let id = i32::try_from(terminal.id().unwrap()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
}

/// Whether what was switched on last is off again.
fn is_given_back(terminal: &Terminal) -> bool {
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    let last = |text: &str| raw.rfind(text).unwrap_or(0);
    last("\x1b[?1049l") > last("\x1b[?1049h") && last("\x1b[<u") > last("\x1b[>5u")
}

#[test]
fn an_end_by_signal_gives_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP] {
        let mut terminal = start(Path::new("/dev/null"));
        tell(&terminal, signal);
        assert_eq!(terminal.wait_exit(SOON).unwrap(), 0);
        assert!(String::from_utf8_lossy(&terminal.raw()).contains("farewell true"));
        assert!(is_given_back(&terminal));
    }
}

#[test]
fn the_system_tells_of_a_new_size() {
    let terminal = start(Path::new("/dev/null"));
    terminal.resize(50, 9).unwrap();
    terminal.wait_for("50x9", SOON).unwrap();
    terminal.resize(1, 1).unwrap();
    terminal.resize(70, 20).unwrap();
    terminal.wait_for("70x20", SOON).unwrap();
}

#[test]
fn whoever_was_stopped_draws_all_again() {
    let terminal = start(Path::new("/dev/null"));
    terminal.send("typed").unwrap();
    terminal.wait_for("> typed", SOON).unwrap();
    tell(&terminal, Signal::STOP);
    tell(&terminal, Signal::CONT);
    let is_drawn_again = || {
        let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
        let entered: Vec<&str> = raw.split("\x1b[?1049h").collect();
        entered.len() == 3 && entered[2].contains("> typed")
    };
    // The screen is the same as before, so there is nothing on it to wait for.
    let end = Instant::now() + SOON;
    while !is_drawn_again() {
        assert!(Instant::now() < end, "it is not drawn again");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_crash_says_where_log_and_session_are() {
    let log = std::env::temp_dir().join(format!("caiman-crash-{}", std::process::id()));
    let mut terminal = start(&log);
    terminal.press(Key::Ctrl('p')).unwrap();
    assert_ne!(terminal.wait_exit(SOON).unwrap(), 0);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(raw.contains(&format!("The log is {}", log.display())), "{raw}");
    assert!(raw.contains("Nothing said is lost: caiman --session"), "{raw}");
    assert!(is_given_back(&terminal));
    let logged = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    assert!(logged.contains("the toy was told to"), "{logged}");
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_wakes_up_while_nothing_happens() {
    let terminal = start(Path::new("/dev/null"));
    terminal.send("x").unwrap();
    terminal.wait_for("> x", SOON).unwrap();
    let id = terminal.id().unwrap();
    let switches = || -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
        let status = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("status")));
        status
            .flat_map(|text| text.unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
            .filter(|line| line.starts_with("voluntary_ctxt_switches"))
            .filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok())
            .sum()
    };
    // What is seen is drawn already, but the thread that drew it may not sleep yet.
    let is_quiet = || {
        let before = (switches(), terminal.raw().len());
        std::thread::sleep(Duration::from_millis(500));
        (switches(), terminal.raw().len()) == before
    };
    assert!((0..4).any(|_| is_quiet()), "something wakes up again and again");
}
