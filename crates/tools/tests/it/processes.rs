//! Looking at real processes.

use std::time::Duration;

use testkit::processes::stat;

use crate::room::Room;

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
