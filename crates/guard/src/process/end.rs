//! How a session of processes is ended, and whoever has left it.

#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use rustix::process::kill_process;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::Terminals;

/// Kills every process that was started with a variable, written as `NAME=value`, wherever it has gone since;
/// tells how many there were. They may have started others meanwhile.
#[cfg(target_os = "linux")]
pub fn kill_marked(mark: &str) -> usize {
    let is_marked = |folder: &Path| {
        let variables = std::fs::read(folder.join("environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let marked = processes().filter(|(_, folder)| is_marked(folder));
    let marked: Vec<Pid> = marked.map(|(id, _)| id).collect();
    for id in &marked {
        // Who has ended by now needs no signal.
        kill_process(*id, Signal::KILL).ok();
    }
    marked.len()
}

/// Kills every process that was started with a variable; only Linux tells.
#[cfg(not(target_os = "linux"))]
pub fn kill_marked(_mark: &str) -> usize {
    0
}

/// Sends a signal to the group, and to the other groups of its session: a shell with job control puts
/// each of its children into a group of its own.
pub(super) fn signal(group: Pid, signal: Signal) {
    // A group that has ended already needs no signal.
    kill_process_group(group, signal).ok();
    for other in other_groups(group) {
        kill_process_group(other, signal).ok();
    }
}

/// Whether anybody of the session is left. Only a shell at a terminal makes other groups as a matter of
/// course; looking for them costs a walk through all processes, so nobody else pays for it.
pub(super) fn has_members(group: Pid, stdio: Terminals) -> bool {
    test_kill_process_group(group).is_ok()
        || match stdio {
            Terminals::Output | Terminals::InputOutput | Terminals::Apart => false,
            Terminals::Pty { .. } => !other_groups(group).is_empty(),
        }
}

/// The groups of a session besides its leader's.
#[cfg(target_os = "linux")]
fn other_groups(session: Pid) -> Vec<Pid> {
    let session = session.as_raw_nonzero().get();
    let mut groups: Vec<i32> = processes()
        .filter_map(|(_, folder)| std::fs::read_to_string(folder.join("stat")).ok())
        .filter_map(|stat| group_and_session(&stat))
        .filter(|(group, of)| *of == session && *group != session)
        .map(|(group, _)| group)
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups.into_iter().filter_map(Pid::from_raw).collect()
}

/// All processes, each with the folder where the system tells about it.
#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = (Pid, PathBuf)> {
    let listing = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    listing.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some((Pid::from_raw(id)?, entry.path()))
    })
}

/// The groups of a session besides its leader's; only Linux tells cheaply.
#[cfg(not(target_os = "linux"))]
fn other_groups(_session: Pid) -> Vec<Pid> {
    Vec::new()
}

/// Group and session in a line of `/proc/<pid>/stat`. The name before them may hold anything, brackets
/// too, so they are counted from its last bracket. Who has ended and only waits to be reaped is left out.
#[cfg(target_os = "linux")]
fn group_and_session(stat: &str) -> Option<(i32, i32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    (state != "Z" && state != "X").then_some((group, session))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn reads_group_and_session_behind_any_name() {
        let line = "42 (a) b (c) S 1 40 39 0 -1 4194304";
        assert_eq!(group_and_session(line), Some((40, 39)));
        assert_eq!(group_and_session("42 (gone) Z 1 40 39 0"), None);
        assert_eq!(group_and_session("42 (cut"), None);
    }
}
