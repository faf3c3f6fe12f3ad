//! Looking through a tree of files: what `glob`, `grep` and `ls` share.
//!
//! | module | does |
//! |---|---|
//! | [`walk`] | which files there are: ignore files respected, links not followed, secret places left out |
//! | [`pattern`] | path patterns as models write them |
//! | [`newest`] | the newest files that match a pattern |
//! | [`below`] | every path below a folder |
//! | [`lines`] | the lines of one file that match a regular expression |
//! | [`sweep`] | the same over a whole tree, many files at once |
//! | [`tree`] | a folder as a tree, the widest parts cut |
//!
//! All of it blocks, so it runs on threads of its own ([`aside`]) that look at a [`Stop`] as they go.

pub(crate) mod below;
pub(crate) mod lines;
pub(crate) mod newest;
pub(crate) mod pattern;
pub(crate) mod sweep;
pub(crate) mod tree;
pub(crate) mod walk;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::tool::ToolError;
use crate::workspace::ToolCtx;

/// Most results that a search returns.
pub(crate) const RESULT_LIMIT: usize = 100;

/// Most threads of one search: more only contend for the folder cache.
const THREAD_LIMIT: usize = 8;

/// When a search ends before it has seen everything.
#[derive(Debug)]
pub(crate) struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
    late: AtomicBool,
    enough: AtomicBool,
}

impl Stop {
    /// Ends at `cancel`, or once `time` has passed.
    pub(crate) fn new(cancel: CancellationToken, time: Duration) -> Self {
        let deadline = Instant::now() + time;
        Self { cancel, deadline, late: AtomicBool::new(false), enough: AtomicBool::new(false) }
    }

    /// Whether to stop. Cheap enough to ask for each file.
    pub(crate) fn reached(&self) -> bool {
        if self.enough.load(Ordering::Relaxed) || self.cancel.is_cancelled() {
            return true;
        }
        let late = Instant::now() >= self.deadline;
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        late
    }

    /// Says that nothing more is needed.
    pub(crate) fn enough(&self) {
        self.enough.store(true, Ordering::Relaxed);
    }

    /// Whether it was told that nothing more is needed.
    pub(crate) fn had_enough(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }

    /// Whether time ran out.
    pub(crate) fn was_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }
}

/// Runs blocking work aside; a cancelled or dropped call ends it at its next look at the [`Stop`].
pub(crate) async fn aside<T: Send + 'static>(
    ctx: &ToolCtx,
    time: Duration,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, ToolError> {
    let token = ctx.cancel.child_token();
    let _ends_with_the_call = token.clone().drop_guard();
    let stop = Stop::new(token, time);
    let running = tokio::task::spawn_blocking(move || work(&stop));
    match ctx.cancel.run_until_cancelled(running).await {
        Some(Ok(result)) => Ok(result),
        Some(Err(_)) => {
            Err(ToolError::Refused("the search broke off; try a narrower one".to_owned()))
        }
        None => Err(ToolError::Cancelled),
    }
}

/// How many threads a search uses.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().clamp(2, THREAD_LIMIT))
}

/// A number with thousands set apart, as people read it.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `2,000 files`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let plural = match (number, noun.as_bytes().last()) {
        (1, _) => "",
        (_, Some(b'h')) => "es",
        (_, _) => "s",
    };
    format!("{} {noun}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_nouns_counted() {
        let said = [counted(0, "file"), counted(1, "match"), counted(1_234_567, "match")];
        assert_eq!(said, ["0 files", "1 match", "1,234,567 matches"]);
        assert_eq!([grouped(999), grouped(1_000)], ["999", "1,000"]);
    }

    #[test]
    fn a_stop_knows_why() {
        let stop = Stop::new(CancellationToken::new(), Duration::from_hours(1));
        assert!(!stop.reached());
        stop.enough();
        assert!(stop.reached() && !stop.was_late());
        let late = Stop::new(CancellationToken::new(), Duration::ZERO);
        assert!(late.reached() && late.was_late());
        let cancel = CancellationToken::new();
        let stop = Stop::new(cancel.clone(), Duration::from_hours(1));
        cancel.cancel();
        assert!(stop.reached() && !stop.was_late());
    }
}
