//! How much a turn, a session and a day may use up: model calls, tokens, money, time.

use std::time::Duration;

use base::{Money, Usage};
use settings::Budgets;

/// The limits of a run. What is left out has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// For one turn.
    pub turn: Limits,
    /// For the session, all turns and side calls together.
    pub session: Limits,
    /// For all sessions of a day.
    pub day_cost: Option<Money>,
    /// Whose turn it is, which decides what its limits are called.
    pub span: Span,
}

/// Whose turn a budget is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Span {
    /// The user's.
    #[default]
    Turn,
    /// A sub-agent's, which is its task.
    Task,
}

/// Limits of one span.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Model calls.
    pub steps: Option<u64>,
    /// Tokens, prompts and answers together.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<Money>,
    /// Time on the wall.
    pub time: Option<Duration>,
}

/// What has been used up so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// In this turn.
    pub turn: Tally,
    /// In this session.
    pub session: Tally,
    /// Today, in all sessions.
    pub day_cost: Money,
}

/// What one span has used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Model calls.
    pub steps: u64,
    /// Tokens, prompts and answers together.
    pub tokens: u64,
    /// Money of the calls with a known price.
    pub cost: Money,
    /// Time on the wall.
    pub time: Duration,
    /// Calls whose price is unknown.
    pub unpriced: u64,
}

impl Tally {
    /// Counts one model call.
    pub fn count(&mut self, usage: Usage, cost: Option<Money>) {
        self.steps += 1;
        self.tokens += usage.total();
        match cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced += 1,
        }
    }
}

/// What a limit is called, so that the one who meets it knows how to raise it.
struct Names {
    span: &'static str,
    steps: &'static str,
    tokens: &'static str,
    cost: &'static str,
    time: &'static str,
}

const TURN: Names = Names {
    span: "turn",
    steps: "--max-steps or budgets.turn_calls",
    tokens: "budgets.turn_tokens",
    cost: "--max-cost or budgets.turn_usd",
    time: "--max-time or budgets.turn_seconds",
};
const TASK: Names = Names {
    span: "task",
    steps: "maxTurns in the agent's file or agents.max_steps",
    tokens: "budgets.turn_tokens",
    cost: "agents.max_usd",
    time: "agents.max_seconds",
};
const SESSION: Names = Names {
    span: "session",
    steps: "budgets.session_calls",
    tokens: "budgets.session_tokens",
    cost: "budgets.session_usd",
    time: "--max-time",
};

impl Budget {
    /// The limits of the settings, with those of the command line over the turn's.
    pub fn new(settings: &Budgets, flags: Limits) -> Self {
        let dollars = |amount: Option<f64>| amount.map(Money::from_dollars);
        let turn = Limits {
            steps: flags.steps.or(settings.turn_calls.map(u64::from)),
            tokens: flags.tokens.or(settings.turn_tokens),
            cost: flags.cost.or(dollars(settings.turn_usd)),
            time: flags.time.or(settings.turn_seconds.map(Duration::from_secs)),
        };
        let session = Limits {
            steps: settings.session_calls.map(u64::from),
            tokens: settings.session_tokens,
            cost: dollars(settings.session_usd),
            time: None,
        };
        Self { turn, session, day_cost: dollars(settings.day_usd), span: Span::Turn }
    }

    /// Why no further model call may be made; none while one may. Ask before each call.
    pub fn exceeded(&self, spent: &Spent) -> Option<String> {
        let names = match self.span {
            Span::Turn => &TURN,
            Span::Task => &TASK,
        };
        self.turn
            .exceeded(&spent.turn, names)
            .or_else(|| self.session.exceeded(&spent.session, &SESSION))
            .or_else(|| {
                let limit = self.day_cost.filter(|limit| spent.day_cost >= *limit)?;
                let used = format!("{} today, over all sessions", spent.day_cost);
                Some(sentence(&used, &limit.to_string(), "budgets.day_usd"))
            })
    }

    /// Says that a limit on money cannot hold because some calls have no known price.
    pub fn blind(&self, spent: &Spent) -> Option<String> {
        let limited = self.turn.cost.or(self.session.cost).or(self.day_cost)?;
        let unpriced = spent.session.unpriced.max(spent.turn.unpriced);
        (unpriced > 0).then(|| {
            format!(
                "The limit of {limited} cannot be kept: {unpriced} calls went to a model without a \
                 known price. Set its prices in the settings (providers.<id>.models), or limit \
                 steps or tokens instead."
            )
        })
    }
}

impl Limits {
    fn exceeded(&self, tally: &Tally, names: &Names) -> Option<String> {
        let span = names.span;
        if let Some(limit) = self.steps.filter(|limit| tally.steps >= *limit) {
            let used = format!("{} model calls in this {span}", tally.steps);
            return Some(sentence(&used, &limit.to_string(), names.steps));
        }
        if let Some(limit) = self.tokens.filter(|limit| tally.tokens >= *limit) {
            let used = format!("{} tokens in this {span}", tally.tokens);
            return Some(sentence(&used, &limit.to_string(), names.tokens));
        }
        if let Some(limit) = self.cost.filter(|limit| tally.cost >= *limit) {
            let used = format!("{} in this {span}", tally.cost);
            return Some(sentence(&used, &limit.to_string(), names.cost));
        }
        let limit = self.time.filter(|limit| tally.time >= *limit)?;
        let used = format!("{} s in this {span}", tally.time.as_secs());
        Some(sentence(&used, &format!("{} s", limit.as_secs()), names.time))
    }
}

fn sentence(used: &str, limit: &str, name: &str) -> String {
    format!("Stopped by a budget: {used}; the limit is {limit}. Raise it with {name}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(tally: Tally) -> Spent {
        Spent { turn: tally, session: tally, ..Spent::default() }
    }

    #[test]
    fn no_limit_never_stops() {
        let much = Tally { steps: u64::MAX, tokens: u64::MAX, ..Tally::default() };
        assert_eq!(Budget::default().exceeded(&spent(much)), None);
    }

    #[test]
    fn each_limit_names_itself_and_how_to_raise_it() {
        let settings = Budgets {
            turn_calls: Some(9),
            turn_tokens: Some(1_000),
            turn_usd: Some(1.0),
            turn_seconds: Some(60),
            session_calls: Some(50),
            session_tokens: Some(5_000),
            session_usd: Some(5.0),
            day_usd: Some(20.0),
        };
        let budget = Budget::new(&settings, Limits { steps: Some(3), ..Limits::default() });
        let said = |turn: Tally, session: Tally, day: f64| {
            let day_cost = Money::from_dollars(day);
            budget.exceeded(&Spent { turn, session, day_cost }).unwrap_or_default()
        };
        let none = Tally::default();
        let steps = |steps| Tally { steps, ..none };
        let tokens = |tokens| Tally { tokens, ..none };
        let cost = |dollars| Tally { cost: Money::from_dollars(dollars), ..none };
        let time = |seconds| Tally { time: Duration::from_secs(seconds), ..none };
        assert_eq!(said(steps(2), none, 0.0), "", "the flag lies over the settings");
        insta::assert_snapshot!([
            said(steps(3), none, 0.0),
            said(tokens(1_000), none, 0.0),
            said(cost(1.25), none, 0.0),
            said(time(61), none, 0.0),
            said(none, steps(50), 0.0),
            said(none, tokens(5_001), 0.0),
            said(none, cost(5.0), 0.0),
            said(none, none, 20.5),
        ].join("\n"), @r"
        Stopped by a budget: 3 model calls in this turn; the limit is 3. Raise it with --max-steps or budgets.turn_calls.
        Stopped by a budget: 1000 tokens in this turn; the limit is 1000. Raise it with budgets.turn_tokens.
        Stopped by a budget: $1.25 in this turn; the limit is $1.00. Raise it with --max-cost or budgets.turn_usd.
        Stopped by a budget: 61 s in this turn; the limit is 60 s. Raise it with --max-time or budgets.turn_seconds.
        Stopped by a budget: 50 model calls in this session; the limit is 50. Raise it with budgets.session_calls.
        Stopped by a budget: 5001 tokens in this session; the limit is 5000. Raise it with budgets.session_tokens.
        Stopped by a budget: $5.00 in this session; the limit is $5.00. Raise it with budgets.session_usd.
        Stopped by a budget: $20.50 today, over all sessions; the limit is $20.00. Raise it with budgets.day_usd.
        ");
    }

    #[test]
    fn a_limit_on_money_without_prices_is_called_blind() {
        let budget = Budget {
            turn: Limits { cost: Some(Money::from_dollars(1.0)), ..Limits::default() },
            ..Budget::default()
        };
        assert_eq!(budget.blind(&Spent::default()), None);
        let said = budget.blind(&spent(Tally { unpriced: 2, ..Tally::default() })).unwrap();
        assert!(said.contains("$1.00") && said.contains("2 calls"), "{said}");
        assert_eq!(
            Budget::default().blind(&spent(Tally { unpriced: 2, ..Tally::default() })),
            None
        );
    }
}
