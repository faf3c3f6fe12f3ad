//! The only reader of the wall clock, so that tests can set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01 UTC.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Takes milliseconds since the epoch.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// How long `self` is after `earlier`; zero when it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Tells the time: the machine's, or one a test sets.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    fixed: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self { fixed: None }
    }

    /// A clock that stands still until [`Clock::advance`] moves it.
    pub fn fixed(at: Timestamp) -> Self {
        Self { fixed: Some(Arc::new(AtomicI64::new(at.0))) }
    }

    /// The time now.
    #[expect(clippy::disallowed_methods, reason = "this is the sanctioned reader of the clock")]
    pub fn now(&self) -> Timestamp {
        if let Some(at) = &self.fixed {
            return Timestamp(at.load(Ordering::Relaxed));
        }
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    /// Moves a fixed clock; the machine's clock does not listen.
    pub fn advance(&self, by: Duration) {
        if let Some(at) = &self.fixed {
            at.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_moves_only_when_told() {
        let clock = Clock::fixed(Timestamp::from_millis(1_000));
        let other_hand = clock.clone();
        clock.advance(Duration::from_secs(2));
        assert_eq!(other_hand.now(), Timestamp::from_millis(3_000));
        assert_eq!(other_hand.now().since(Timestamp::from_millis(1_000)), Duration::from_secs(2));
    }
}
