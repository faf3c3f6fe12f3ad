//! A polite pace: an engine is asked again only after a pause, whoever in this process asks.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

static TURNS: LazyLock<Mutex<Turns>> = LazyLock::new(Mutex::default);

/// When each engine may be asked next.
#[derive(Debug, Default)]
struct Turns {
    last: HashMap<String, Instant>,
}

impl Turns {
    /// Reserves the next turn, and says how long it is until then.
    fn reserve(&mut self, host: &str, now: Instant, pause: Duration) -> Duration {
        let next = match self.last.get(host) {
            Some(last) => (*last + pause).max(now),
            None => now,
        };
        self.last.insert(host.to_owned(), next);
        next - now
    }
}

/// Waits for the next turn to ask a host: at least `pause_ms` after the turn before, and up to half as long
/// again by chance, so that several processes do not march in step.
pub(super) async fn turn(host: &str, pause_ms: u64) {
    let chance = RandomState::new().hash_one(host) % (pause_ms / 2 + 1);
    let pause = Duration::from_millis(pause_ms + chance);
    let wait = {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        turns.reserve(host, Instant::now(), pause)
    };
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_keep_their_distance_and_engines_do_not_wait_for_each_other() {
        let (mut turns, now) = (Turns::default(), Instant::now());
        let pause = Duration::from_secs(1);
        let waits: Vec<u64> = (0..3).map(|_| turns.reserve("a", now, pause).as_secs()).collect();
        assert_eq!(waits, [0, 1, 2]);
        assert_eq!(turns.reserve("b", now, pause), Duration::ZERO);
        assert_eq!(turns.reserve("a", now + Duration::from_millis(2_500), pause).as_millis(), 500);
        assert_eq!(turns.reserve("a", now + Duration::from_mins(1), pause), Duration::ZERO);
    }
}
