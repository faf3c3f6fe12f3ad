//! The one decision about every call.
//!
//! In this order, first hit wins: a deny rule, an ask rule, protected places and critical deletes, taint,
//! then mode and allow rules, then a question. A call that does several things gets the strictest answer.
//!
//! | module | judges |
//! |---|---|
//! | `place` | reading and changing files |
//! | `run` | commands: every part of a line |
//! | `typed` | text for running jobs, judged as commands with the job's reach |
//! | `touched` | the files a line touches: its redirects, the paths it names |
//! | `closed` | what deny rules close, found on disk |
//! | `critical` | deletes that are asked about in every mode |
//! | `denials` | the texts that deny and ask rules are held against |
//! | `program_options` | options that make a program run another one |
//! | `repository` | whether git reads the session's repository |
//! | `paths` | which places a command's words mean |
//! | `risky` | which parts of a line make it ask |
//! | `grants` | the narrowest rules that a yes may store |

mod closed;
mod critical;
mod denials;
mod grants;
mod paths;
mod place;
mod program_options;
mod repository;
mod risky;
mod run;
mod touched;
mod typed;

use base::protocol::Mode;
use url::Url;

use crate::action::{Action, Taint};
use crate::cage::Reach;
use crate::fence::Fence;
use crate::rule::{Kind, Rule, Rules};

pub use closed::{Closed, Depth};
pub use run::{Part, Standing};

/// What decides: rules, mode, the folders of the session, and whether there is a cage.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The rules.
    pub rules: Rules,
    /// How questions are answered when no rule decides.
    pub mode: Mode,
    /// The folders.
    pub fence: Fence,
    /// Whether this machine can cage a command.
    pub cage: CageState,
    /// What narrows certain tools to some of what they do, besides everything else.
    pub bounds: Vec<Bound>,
}

/// What one agent may use tools for: a tool that some of the rules narrow does only what they cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The agent.
    pub agent: String,
    /// The rules, such as `Bash(git log:*)`.
    pub rules: Vec<Rule>,
}

/// Whether this machine can cage a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CageState {
    /// It can, and it was tried.
    Works,
    /// It cannot, or the user turned it off.
    Missing,
}

/// What may happen to a call. The later, the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It runs.
    Allow,
    /// Somebody must say yes first.
    Ask,
    /// It does not run.
    Deny,
}

/// A decision with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// Why, in one line that a person and a model can act on.
    pub reason: String,
    /// The rule that decided, if one did.
    pub rule: Option<Rule>,
    /// The narrowest rules that would have allowed it: what a yes beyond this call stores. At most five;
    /// none where it is asked every time.
    pub grants: Vec<Rule>,
    /// What made it ask, as it stands in the call: parts of a command, a place outside, a host.
    pub risky: Vec<String>,
    /// How far a process it starts may reach.
    pub reach: Reach,
}

/// Most rules that one answer may store.
const MOST_GRANTS: usize = 5;

impl Verdict {
    fn new(decision: Decision, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            decision,
            reason,
            rule: None,
            grants: Vec::new(),
            risky: Vec::new(),
            reach: Reach::ReadOnly,
        }
    }

    fn allow(reason: impl Into<String>) -> Self {
        Self::new(Decision::Allow, reason)
    }

    fn ask(reason: impl Into<String>) -> Self {
        Self::new(Decision::Ask, reason)
    }

    fn deny(reason: impl Into<String>) -> Self {
        Self::new(Decision::Deny, reason)
    }

    fn by_rule(decision: Decision, rule: &Rule) -> Self {
        let verb = match decision {
            Decision::Allow => "allows",
            Decision::Ask => "asks about",
            Decision::Deny => "forbids",
        };
        let mut verdict = Self::new(decision, format!("the rule `{rule}` {verb} it"));
        verdict.rule = Some(rule.clone());
        verdict
    }

    fn granting(mut self, grants: Vec<Rule>) -> Self {
        self.grants = grants;
        self
    }

    /// Marks what made it ask, if it does.
    fn risking(mut self, what: impl FnOnce() -> Option<String>) -> Self {
        if self.decision == Decision::Ask {
            self.risky.extend(what());
        }
        self
    }

    fn reaching(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// The stricter of two, with the grants of both.
    fn and(self, other: Self) -> Self {
        let reach = widest(self.reach, other.reach);
        // A rule that lifts one question is of no use while another cannot be lifted.
        let hopeless =
            [&self, &other].iter().any(|it| it.decision != Decision::Allow && it.grants.is_empty());
        let mut grants = self.grants.clone();
        grants.extend(other.grants.iter().filter(|it| !self.grants.contains(it)).cloned());
        if hopeless || grants.len() > MOST_GRANTS {
            grants.clear();
        }
        let mut risky = self.risky.clone();
        risky.extend(other.risky.iter().filter(|it| !self.risky.contains(it)).cloned());
        let mut strict = if other.decision > self.decision { other } else { self };
        strict.risky = risky;
        strict.grants = grants;
        strict.reach = reach;
        strict
    }
}

impl Policy {
    /// Decides about a call of `tool` that would do all of `actions`.
    pub fn decide(&self, tool: &str, actions: &[Action], taint: &Taint) -> Verdict {
        let judged = actions.iter().map(|action| self.judge(tool, action, taint));
        let verdict = judged.reduce(Verdict::and);
        let mut verdict = verdict.unwrap_or_else(|| self.judge(tool, &Action::Inner, taint));
        if let Some(reason) = self.out_of_bounds(tool, actions) {
            return Verdict::deny(reason);
        }
        if verdict.decision == Decision::Ask && self.mode == Mode::DontAsk {
            verdict.decision = Decision::Deny;
            verdict.reason = format!("{}, and in this mode nobody is asked", verdict.reason);
        }
        verdict
    }

    fn judge(&self, tool: &str, action: &Action, taint: &Taint) -> Verdict {
        match action {
            Action::Read(spot) => {
                self.judge_read(tool, spot).risking(|| Some(self.fence.name(spot)))
            }
            Action::Edit(spot) => {
                let is_odd = !spot.inside || self.is_protected(spot);
                let name = || is_odd.then(|| self.fence.name(spot));
                self.judge_edit(tool, spot, taint).risking(name)
            }
            Action::Run { command, folder, uncaged } => {
                let line = run::Line { tool, command, folder, uncaged: *uncaged };
                self.judge_run(&line, taint)
            }
            Action::Fetch(url) => {
                let host = || url.host_str().map(str::to_owned);
                self.judge_fetch(tool, url, taint).risking(host)
            }
            Action::Browse(first) => {
                let host = || first.host_str().map(str::to_owned);
                self.judge_browse(tool, first, taint).risking(host)
            }
            Action::Type(typed) => self.judge_typed(tool, typed, taint),
            Action::Named(name) => {
                let named = |rule: &&Rule| rule.covers_named(tool, name);
                self.forbidden(named).unwrap_or_else(|| self.judge_inner(tool, taint))
            }
            Action::Inner => self.judge_inner(tool, taint),
        }
    }

    /// What is left of this policy below another: nothing that the other does not allow.
    #[must_use]
    pub fn within(&self, parent: &Self) -> Self {
        let both = |parent: &[Rule], own: &[Rule]| {
            let mut rules = parent.to_vec();
            rules.extend(own.iter().filter(|rule| !parent.contains(rule)).cloned());
            rules
        };
        let rules = Rules {
            allow: parent.rules.allow.clone(),
            ask: both(&parent.rules.ask, &self.rules.ask),
            deny: both(&parent.rules.deny, &self.rules.deny),
        };
        let bounds = parent.bounds.iter().chain(&self.bounds).cloned().collect();
        let mode = self.mode.and(parent.mode);
        Self { rules, mode, fence: self.fence.clone(), cage: self.cage, bounds }
    }

    /// Why a call is not what an agent may use the tool for, if that is so.
    fn out_of_bounds(&self, tool: &str, actions: &[Action]) -> Option<String> {
        let outside = |bound: &&Bound| {
            let own: Vec<&Rule> = bound.rules.iter().filter(|it| it.narrows(tool)).collect();
            let named = |action: &Action| match action {
                Action::Named(name) => own.iter().any(|rule| rule.covers_named(tool, name)),
                Action::Read(_)
                | Action::Edit(_)
                | Action::Run { .. }
                | Action::Fetch(_)
                | Action::Browse(_)
                | Action::Type(_)
                | Action::Inner => {
                    let allow = own.iter().map(|rule| (*rule).clone()).collect();
                    let rules = Rules { allow, ..Rules::default() };
                    // What such a session could do unasked with these rules and nothing else.
                    let alone = Self {
                        rules,
                        mode: Mode::DontAsk,
                        fence: self.fence.clone(),
                        cage: self.cage,
                        bounds: Vec::new(),
                    };
                    alone.judge(tool, action, &Taint::Clean).decision == Decision::Allow
                }
            };
            !own.is_empty() && !actions.iter().all(named)
        };
        self.bounds.iter().find(outside).map(|bound| {
            let rules = bound.rules.iter().filter(|rule| rule.narrows(tool));
            let rules: Vec<String> = rules.map(|rule| format!("`{rule}`")).collect();
            format!("the agent {} may use {tool} only for {}", bound.agent, rules.join(", "))
        })
    }

    fn judge_fetch(&self, tool: &str, url: &Url, taint: &Taint) -> Verdict {
        let about = |rule: &&Rule| rule.covers_tool(tool, Kind::Fetch) || rule.covers_address(url);
        if let Some(verdict) = self.forbidden(about) {
            return verdict;
        }
        let host = url.host_str().unwrap_or("an address without a host");
        let grants = Rule::parse(&format!("WebFetch(domain:{host})")).into_iter().collect();
        if let Taint::From(origin) = taint {
            let named = self.rules.allow.iter().find(|rule| rule.names_host(url));
            return match named {
                Some(rule) => Verdict::by_rule(Decision::Allow, rule),
                None => Verdict::ask(format!(
                    "it reaches {host} while words from {origin} are in the context"
                ))
                .granting(grants),
            };
        }
        match self.rules.allow.iter().find(about) {
            Some(rule) => Verdict::by_rule(Decision::Allow, rule),
            None => Verdict::ask(format!("it reaches {host}")).granting(grants),
        }
    }

    /// The web researcher opens any host, so rules for single hosts do not allow it, and with untrusted content in
    /// the context no rule does: the prompt it is given could carry data out.
    fn judge_browse(&self, tool: &str, first: &Url, taint: &Taint) -> Verdict {
        let about =
            |rule: &&Rule| rule.covers_tool(tool, Kind::Fetch) || rule.covers_address(first);
        if let Some(verdict) = self.forbidden(about) {
            return verdict;
        }
        if let Taint::From(origin) = taint {
            return Verdict::ask(format!(
                "the web researcher may open any host while words from {origin} are in the context"
            ));
        }
        let allowing = self.rules.allow.iter().find(|rule| rule.covers_tool(tool, Kind::Fetch));
        if let Some(rule) = allowing {
            return Verdict::by_rule(Decision::Allow, rule);
        }
        let grants = Rule::parse(tool).into_iter().collect();
        Verdict::ask("the web researcher may open any host").granting(grants)
    }

    fn judge_inner(&self, tool: &str, taint: &Taint) -> Verdict {
        let about = |rule: &&Rule| rule.covers_tool(tool, Kind::Inner);
        if let Some(verdict) = self.forbidden(about) {
            return verdict;
        }
        if !tool.starts_with("mcp_") {
            return Verdict::allow("it touches nothing outside the session");
        }
        let grants = Rule::parse(tool).into_iter().collect();
        if let Taint::From(origin) = taint {
            // A page may send through a server as it may to a host: only to one the user has named.
            return match self.rules.allow.iter().find(|rule| rule.names_server(tool)) {
                Some(rule) => Verdict::by_rule(Decision::Allow, rule),
                None => Verdict::ask(format!(
                    "a server is told something while words from {origin} are in the context"
                ))
                .granting(grants),
            };
        }
        match self.rules.allow.iter().find(about) {
            Some(rule) => Verdict::by_rule(Decision::Allow, rule),
            None => Verdict::ask("what a server's tool does is not known").granting(grants),
        }
    }

    /// What deny rules, ask rules and bypass say, before anything else is looked at.
    fn forbidden(&self, about: impl Fn(&&Rule) -> bool) -> Option<Verdict> {
        if let Some(rule) = self.rules.deny.iter().find(&about) {
            return Some(Verdict::by_rule(Decision::Deny, rule));
        }
        if self.mode == Mode::Bypass {
            return Some(Self::bypassed());
        }
        self.rules.ask.iter().find(&about).map(|rule| Verdict::by_rule(Decision::Ask, rule))
    }

    fn bypassed() -> Verdict {
        Verdict::allow("nothing is asked in this mode").reaching(Reach::Everything)
    }

    /// How far a process may reach at most, on this machine.
    fn reach(&self, wanted: Reach) -> Reach {
        match self.cage {
            CageState::Works => wanted,
            CageState::Missing => Reach::Everything,
        }
    }
}

/// The wider of two reaches.
fn widest(one: Reach, other: Reach) -> Reach {
    let rank = |reach| match reach {
        Reach::ReadOnly => 0,
        Reach::Workspace => 1,
        Reach::Network => 2,
        Reach::Everything => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}
