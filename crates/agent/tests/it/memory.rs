//! What sessions weigh: measured in a process of their own.

use std::process::{Command, Stdio};

use base::protocol::{Delivery, Op};
use base::{Part, SessionId};
use testkit::Script;

use crate::room::{Plan, Room, to_the_end};

const ORDER: &str = "CAIMAN_TEST_WEIGHS";
/// Sessions that are open at once.
const SESSIONS: u64 = 100;
/// What they may weigh together, the process included, in megabytes.
const WHOLE_MB: u64 = 100;
/// What one more may weigh, in kilobytes.
const EACH_KB: u64 = 1_024;

#[test]
#[expect(clippy::disallowed_methods, reason = "a process of its own is weighed")]
fn a_hundred_open_sessions_are_light() {
    let weighed = Command::new(std::env::current_exe().unwrap())
        .args(["memory::weighs", "--exact", "--nocapture"])
        .env(ORDER, "1")
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&weighed.stdout);
    let numbers = said.lines().find_map(|line| line.strip_prefix("weight "));
    let numbers: Vec<u64> = numbers
        .unwrap_or_else(|| panic!("{said}"))
        .split(' ')
        .map(|it| it.parse().unwrap())
        .collect();
    let [before, after] = numbers[..] else { panic!("{numbers:?}") };
    let each = after.saturating_sub(before) / SESSIONS;
    println!("{SESSIONS} sessions: {} MB, {each} kB each", after / 1_024);
    assert!(after / 1_024 <= WHOLE_MB, "{after} kB");
    assert!(each <= EACH_KB, "{each} kB a session");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the order comes from the parent process")]
async fn weighs() {
    if std::env::var(ORDER).is_err() {
        return;
    }
    let script = Script::new().when_contains("hello").always().text("Hi.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.say("hello").await;
    let before = resident_kb();
    for _ in 0..SESSIONS {
        let session = SessionId::new();
        let folder = room.folder.display().to_string();
        room.submit(Op::NewSession { session, folder }).await;
        let mut events = room.watch();
        let parts = vec![Part::user_text("hello")];
        room.submit(Op::say(session, parts, Delivery::Queue)).await;
        to_the_end(&mut events).await;
    }
    println!("weight {before} {}", resident_kb());
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}
