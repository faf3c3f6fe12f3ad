//! How often something broke lately.

use std::time::Duration;

use tokio::time::Instant;

/// What is longer ago does not count.
const RECENT: Duration = Duration::from_mins(10);

/// When something broke.
#[derive(Debug, Default)]
pub(crate) struct Breaks(Vec<Instant>);

impl Breaks {
    /// It broke just now.
    pub(crate) fn note(&mut self) {
        self.0.push(Instant::now());
    }

    /// How often it broke lately.
    pub(crate) fn recent(&mut self) -> usize {
        self.0.retain(|at| at.elapsed() < RECENT);
        self.0.len()
    }

    /// Whatever was is forgiven.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
