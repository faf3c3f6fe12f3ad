//! What a session and its sub-agents have used up, and whether more may be used. What a sub-agent spends is
//! spent by everybody above it, at once, so no number of them outspends a limit.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use base::{Money, Usage};

use crate::budget::{Budget, Spent, Tally};
use crate::live::lock;

/// What a session has used up and may use up.
#[derive(Debug)]
pub(crate) struct Purse {
    budget: Budget,
    /// The purse of the session that this one works for.
    above: Option<Arc<Purse>>,
    spending: Mutex<Spending>,
}

#[derive(Debug)]
struct Spending {
    /// Of the session, earlier processes and side calls included.
    session: Tally,
    /// Of the running turn: calls are its own, tokens and money its sub-agents' too.
    turn: Tally,
    usage: Usage,
    began: Instant,
    /// What all sessions cost today.
    day_cost: Money,
}

impl Purse {
    /// A purse out of which `session` was spent already, and `day_cost` by all sessions today.
    pub(crate) fn new(
        budget: Budget,
        session: Tally,
        day_cost: Money,
        above: Option<Arc<Self>>,
    ) -> Self {
        let (turn, usage) = (Tally::default(), Usage::default());
        let spending = Spending { session, turn, usage, began: Instant::now(), day_cost };
        Self { budget, above, spending: Mutex::new(spending) }
    }

    /// A turn begins.
    pub(crate) fn begin_turn(&self) {
        let mut spending = self.lock();
        spending.turn = Tally::default();
        spending.usage = Usage::default();
        spending.began = Instant::now();
    }

    /// Counts a model call of the session.
    pub(crate) fn count(&self, usage: Usage, cost: Option<Money>) {
        self.count_step();
        self.count_aside(usage, cost);
    }

    /// Counts a model call, but not yet what it cost.
    pub(crate) fn count_step(&self) {
        self.lock().turn.steps += 1;
    }

    /// Counts what a call cost, here and above; one beside the conversation is no step of it.
    pub(crate) fn count_aside(&self, usage: Usage, cost: Option<Money>) {
        let mut purse = Some(self);
        while let Some(each) = purse {
            let mut spending = each.lock();
            spending.session.count(usage, cost);
            let steps = spending.turn.steps;
            spending.turn.count(usage, cost);
            spending.turn.steps = steps;
            spending.usage += usage;
            spending.day_cost += cost.unwrap_or_default();
            purse = each.above.as_deref();
        }
    }

    /// Tokens and money of the running turn, sub-agents included; no money where no price was known.
    pub(crate) fn of_turn(&self) -> (Usage, Option<Money>) {
        let spending = self.lock();
        let turn = spending.turn;
        let known = turn.cost > Money::ZERO || turn.unpriced == 0;
        (spending.usage, known.then_some(turn.cost))
    }

    /// Why no further model call may be made; none while one may.
    pub(crate) fn exceeded(&self) -> Option<String> {
        let own = self.budget.exceeded(&self.spent());
        own.or_else(|| self.above.as_ref()?.exceeded())
    }

    /// Waits until the running turn has used its time up; for ever where it has no limit.
    pub(crate) async fn out_of_time(&self) {
        match self.budget.turn.time {
            Some(limit) => {
                let elapsed = self.lock().began.elapsed();
                tokio::time::sleep(limit.saturating_sub(elapsed)).await;
            }
            None => std::future::pending().await,
        }
    }

    /// Says, at the first call without a price, that a limit on money cannot hold.
    pub(crate) fn blind(&self) -> Option<String> {
        let spent = self.spent();
        (spent.turn.unpriced == 1).then(|| self.budget.blind(&spent)).flatten()
    }

    fn spent(&self) -> Spent {
        let spending = self.lock();
        let turn = Tally { time: spending.began.elapsed(), ..spending.turn };
        Spent { turn, session: spending.session, day_cost: spending.day_cost }
    }

    fn lock(&self) -> MutexGuard<'_, Spending> {
        lock(&self.spending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Limits;

    fn purse(limits: Limits, above: Option<Arc<Purse>>) -> Arc<Purse> {
        let budget = Budget { turn: limits, ..Budget::default() };
        Arc::new(Purse::new(budget, Tally::default(), Money::ZERO, above))
    }

    fn tokens(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    #[test]
    fn what_a_sub_agent_spends_is_spent_by_all_above() {
        let limits = Limits { tokens: Some(100), steps: Some(3), ..Limits::default() };
        let root = purse(limits, None);
        let child = purse(Limits::default(), Some(root.clone()));
        let grandchild = purse(Limits::default(), Some(child.clone()));
        grandchild.count(tokens(40), Some(Money::from_pico(4)));
        child.count(tokens(50), Some(Money::from_pico(5)));
        assert_eq!(root.of_turn(), (tokens(90), Some(Money::from_pico(9))));
        assert_eq!(child.of_turn(), (tokens(90), Some(Money::from_pico(9))));
        assert_eq!(grandchild.of_turn(), (tokens(40), Some(Money::from_pico(4))));
        assert_eq!(root.exceeded(), None, "calls are counted where they are made");
        grandchild.count(tokens(10), None);
        let said = grandchild.exceeded().unwrap();
        assert!(said.contains("100 tokens"), "{said}");
    }

    #[test]
    fn a_turn_begins_at_zero() {
        let purse = purse(Limits { steps: Some(1), ..Limits::default() }, None);
        purse.count(tokens(1), None);
        assert!(purse.exceeded().is_some());
        purse.begin_turn();
        assert_eq!(purse.exceeded(), None);
        assert_eq!(purse.of_turn(), (tokens(0), Some(Money::ZERO)));
    }
}
