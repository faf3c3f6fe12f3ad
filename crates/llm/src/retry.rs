//! When to try again, and how long to wait first.

use std::time::Duration;

use crate::error::Error;

/// The longest wait a provider may ask for; beyond it the user should decide.
const LONGEST_ASKED_WAIT: Duration = Duration::from_mins(1);
/// The longest wait we choose ourselves.
const LONGEST_OWN_WAIT: Duration = Duration::from_secs(30);

/// How often to try, and the first wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Tries in all, the first included.
    pub tries: u32,
    /// The wait before the second try; it doubles from there.
    pub first_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { tries: 3, first_wait: Duration::from_secs(1) }
    }
}

impl Retry {
    /// The wait after the `attempt`-th try failed with `error`; none means give up.
    ///
    /// `dice` is in `0.0..1.0`: waits are spread so that many clients do not return at once.
    pub fn wait(&self, attempt: u32, error: &Error, dice: f64) -> Option<Duration> {
        if attempt >= self.tries || !error.class.is_transient() {
            return None;
        }
        if let Some(asked) = error.retry_after {
            let spread = asked.mul_f64(dice * 0.1);
            return (asked <= LONGEST_ASKED_WAIT).then(|| asked + spread);
        }
        let doubled = self.first_wait.saturating_mul(2_u32.saturating_pow(attempt - 1));
        Some(doubled.min(LONGEST_OWN_WAIT).mul_f64(0.5 + dice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;

    fn error(class: Class, retry_after_s: Option<u64>) -> Error {
        Error { retry_after: retry_after_s.map(Duration::from_secs), ..Error::new(class, "x") }
    }

    #[test]
    fn three_tries_with_growing_waits() {
        let (retry, busy) = (Retry::default(), error(Class::Overloaded, None));
        assert_eq!(retry.wait(1, &busy, 0.5), Some(Duration::from_secs(1)));
        assert_eq!(retry.wait(2, &busy, 0.5), Some(Duration::from_secs(2)));
        assert_eq!(retry.wait(3, &busy, 0.5), None);
    }

    #[test]
    fn waits_are_spread() {
        let (retry, busy) = (Retry::default(), error(Class::Server, None));
        assert_eq!(retry.wait(1, &busy, 0.0), Some(Duration::from_millis(500)));
        assert!(retry.wait(1, &busy, 0.99) > Some(Duration::from_millis(1_400)));
    }

    #[test]
    fn a_providers_wish_is_honoured_up_to_a_minute() {
        let retry = Retry::default();
        let asked = |seconds| retry.wait(1, &error(Class::RateLimit, Some(seconds)), 0.0);
        assert_eq!(asked(7), Some(Duration::from_secs(7)));
        assert_eq!(asked(60), Some(Duration::from_mins(1)));
        assert_eq!(asked(61), None);
    }

    #[test]
    fn what_cannot_pass_is_not_tried_again() {
        for class in [Class::Auth, Class::Billing, Class::BadRequest, Class::ContextOverflow] {
            assert_eq!(Retry::default().wait(1, &error(class, Some(1)), 0.0), None, "{class}");
        }
    }
}
