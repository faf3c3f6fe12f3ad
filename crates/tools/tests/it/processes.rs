//! Looking at real processes.

use std::time::Duration;

use crate::room::Room;

/// Whether a process runs; one that has ended and was not reaped does not.
pub(crate) fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// Waits until a process is gone; fails if it stays.
pub(crate) async fn gone_soon(pid: u32) {
    for _ in 0..1_000 {
        if !alive(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {pid} is still there");
}

/// The process id a command wrote into a file of the workspace.
pub(crate) async fn pid_in(room: &Room, file: &str) -> u32 {
    for _ in 0..1_000 {
        let text = std::fs::read_to_string(room.folder().join(file)).unwrap_or_default();
        if let (true, Ok(pid)) = (text.ends_with('\n'), text.trim().parse()) {
            return pid;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody wrote {file}");
}

/// How many of our children have ended without being reaped.
pub(crate) fn zombies() -> usize {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(stat)
        .filter(|(state, parent)| *state == 'Z' && *parent == std::process::id())
        .count()
}

/// A process's state and parent.
fn stat(pid: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
