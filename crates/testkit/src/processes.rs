//! Real processes, seen from outside.

use std::time::Duration;

/// A process's state, as a letter, and its parent; none where there is no such process.
pub fn stat(id: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Whether a process runs; one that has ended and was not reaped does not.
pub fn is_alive(id: u32) -> bool {
    stat(id).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// Waits until a process is gone.
///
/// # Panics
///
/// If it stays.
pub async fn gone_soon(id: u32) {
    for _ in 0..2_000 {
        if !is_alive(id) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {id} is still there");
}
