//! Calls and their outcomes.

use std::collections::{HashSet, VecDeque};

use base::transcript::Outcome;

use super::likeness::{call_mark, outcome_mark};
use super::{Alarm, SeenCall};

/// How many calls back repetitions are counted: cycles of up to three calls are caught at their fifth round.
const WINDOW: usize = 15;
/// Same call, same outcome: so often for a nudge, so often for the end.
const NUDGE_AT: usize = 3;
const END_AT: usize = 5;
/// A job that says nothing new may just be slow, so asking for it may go on for longer.
const END_WAITING_AT: usize = 15;
/// So many calls in a row of which none brought anything new: the end, however long the cycle is.
const STALE_AT: usize = 20;
/// Most outcomes remembered.
const REMEMBERED: usize = 4_096;

/// A call and its outcome, as hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Mark {
    call: u64,
    outcome: u64,
}

/// The calls of a turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    recent: VecDeque<Mark>,
    /// Every mark since something last moved on.
    known: HashSet<Mark>,
    /// Changes that were made, by call: the same change twice is no progress.
    changes: HashSet<u64>,
    /// How many calls in a row brought nothing new.
    stale: usize,
}

impl Calls {
    pub(super) fn see(&mut self, call: SeenCall<'_>) -> Option<Alarm> {
        let mark =
            Mark { call: call_mark(call.name, call.input), outcome: outcome_mark(call.text) };
        if changes_files(call.name) && call.outcome == Outcome::Done {
            self.see_change(mark.call);
        }
        let is_new = self.known.len() < REMEMBERED && self.known.insert(mark);
        self.stale = if is_new { 0 } else { self.stale + 1 };
        self.recent.push_back(mark);
        if self.recent.len() > WINDOW {
            self.recent.pop_front();
        }
        let times = self.recent.iter().filter(|seen| **seen == mark).count();
        self.alarm(call.name, times)
    }

    /// A change not made before: what is asked again now may have another answer.
    fn see_change(&mut self, call: u64) {
        if self.changes.len() < REMEMBERED && self.changes.insert(call) {
            self.recent.clear();
            self.known.clear();
        }
    }

    fn alarm(&self, name: &str, times: usize) -> Option<Alarm> {
        let waits = name == "job_output";
        let end_at = if waits { END_WAITING_AT } else { END_AT };
        if times >= end_at {
            return Some(Alarm::End(format!(
                "Stopped: the model called {name} {times} times in the same way with the same \
                 outcome. Tell it what to do differently, or say \"go on\"."
            )));
        }
        if self.stale >= STALE_AT {
            return Some(Alarm::End(format!(
                "Stopped: the last {} calls repeat earlier ones and brought nothing new. Tell the \
                 model what to do differently, or say \"go on\".",
                self.stale
            )));
        }
        if times < NUDGE_AT {
            return None;
        }
        let advice = if waits {
            "Wait for it with a longer wait, or do something else meanwhile."
        } else {
            "Doing it again will not change it: use what you know, try another way, or tell the user \
             what is in the way."
        };
        Some(Alarm::Nudge(format!(
            "[This was call {times} like this, with the same outcome. {advice}]"
        )))
    }
}

fn changes_files(name: &str) -> bool {
    ["edit", "multiedit", "write", "apply_patch", "download"].contains(&name)
}
