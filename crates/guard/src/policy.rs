//! The one decision about every call.
//!
//! In this order, first hit wins: a deny rule, an ask rule, protected places and critical deletes, taint,
//! then mode and allow rules, then a question. A call that does several things gets the strictest answer.
//!
//! | module | judges |
//! |---|---|
//! | `place` | reading and changing files |
//! | `line` | nothing: what is known of a command line before any rule is looked at |
//! | `run` | commands: a line as a whole |
//! | `part` | every part of a line by itself |
//! | `typed` | text for running jobs, judged as commands with the job's reach |
//! | `touched` | the files a line touches: its redirects, the paths it names |
//! | `closed` | what deny rules close, found on disk |
//! | `critical` | deletes that are asked about in every mode |
//! | `denials` | the texts that deny and ask rules are held against |
//! | `program_options` | options that make a program run another one |
//! | `repository` | whether git reads the session's repository |
//! | `paths` | which places a command's words mean |
//! | `reason`, `verdict` | why it is decided so, and which parts of the call are to blame |
//! | `blame` | where a part is in the line |
//! | `grants` | the narrowest rules that a yes may store |

mod blame;
mod closed;
mod critical;
mod denials;
mod grants;
mod line;
mod part;
mod paths;
mod place;
mod program_options;
mod reason;
mod repository;
mod run;
mod touched;
mod typed;
mod verdict;

use base::protocol::Mode;
use url::Url;

use crate::action::{Action, Taint};
use crate::cage::Reach;
use crate::fence::Fence;
use crate::rule::{Kind, Rule, Rules};

pub use closed::{Closed, Depth};
pub use part::{Part, PartVerdict};
pub use reason::Reason;
pub use verdict::{BlamedPart, Decision, Verdict};

use line::Line;

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

/// One action of a call, with what is known of its command lines before any rule is looked at: they are analysed
/// once, whoever judges them.
struct Case<'a> {
    tool: &'a str,
    action: &'a Action,
    lines: Vec<Line<'a>>,
}

/// Rules and circumstances that an action is judged by.
#[derive(Debug, Clone, Copy)]
struct Judge<'p> {
    rules: &'p Rules,
    mode: Mode,
    fence: &'p Fence,
    cage: CageState,
}

impl Policy {
    /// Decides about a call of `tool` that would do all of `actions`.
    pub fn decide(&self, tool: &str, actions: &[Action], taint: &Taint) -> Verdict {
        let new_case = |action| Case::new(tool, action, &self.fence);
        let cases: Vec<Case<'_>> = actions.iter().map(new_case).collect();
        if let Some(reason) = self.agent_limit(tool, &cases) {
            return Verdict::deny(reason);
        }

        let judge = self.judge();
        let verdict = cases.iter().map(|case| judge.judge(case, taint)).reduce(Verdict::and);
        let mut verdict = verdict.unwrap_or_else(|| judge.judge_inner(tool, taint));
        if verdict.decision == Decision::Ask && self.mode == Mode::DontAsk {
            verdict.decision = Decision::Deny;
            verdict.reason = verdict.reason.denied_by(self.mode);
        }
        verdict
    }

    fn judge(&self) -> Judge<'_> {
        Judge { rules: &self.rules, mode: self.mode, fence: &self.fence, cage: self.cage }
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

    /// The sub-agent that may not use the tool for all of this, if there is one.
    fn agent_limit(&self, tool: &str, cases: &[Case<'_>]) -> Option<Reason> {
        self.bounds.iter().find_map(|bound| {
            let narrowing = bound.rules.iter().filter(|rule| rule.narrows(tool));
            let rules = Rules { allow: narrowing.cloned().collect(), ..Rules::default() };
            let limit = Judge { rules: &rules, mode: Mode::DontAsk, ..self.judge() };
            if rules.allow.is_empty() || cases.iter().all(|case| limit.covers(case)) {
                return None;
            }
            let (agent, tool) = (bound.agent.clone(), tool.to_owned());
            Some(Reason::AgentLimit { agent, tool, rules: rules.allow })
        })
    }
}

impl<'a> Case<'a> {
    fn new(tool: &'a str, action: &'a Action, fence: &Fence) -> Self {
        let lines = match action {
            Action::Run { command, folder, uncaged } => {
                vec![Line { uncaged: *uncaged, ..Line::new(tool, command, folder, fence) }]
            }
            Action::Type(typed) => typed.lines(fence),
            Action::Read(_)
            | Action::Edit(_)
            | Action::Fetch(_)
            | Action::Browse(_)
            | Action::Named(_)
            | Action::Inner => Vec::new(),
        };
        Self { tool, action, lines }
    }
}

impl Judge<'_> {
    fn judge(&self, case: &Case<'_>, taint: &Taint) -> Verdict {
        let named = |text: String| BlamedPart { text, span: None };
        let host = |url: &Url| url.host_str().map(|host| named(host.to_owned()));
        let Case { tool, action, lines } = case;
        match action {
            Action::Read(spot) => {
                self.judge_read(tool, spot).blaming([named(self.fence.name(spot))])
            }
            Action::Edit(spot) => {
                let is_odd = !spot.inside || self.is_protected(spot);
                let part = is_odd.then(|| named(self.fence.name(spot)));
                self.judge_edit(tool, spot, taint).blaming(part)
            }
            Action::Run { .. } => {
                let judged = lines.iter().map(|line| self.judge_run(line, taint));
                judged.reduce(Verdict::and).unwrap_or_else(|| Verdict::ask(Reason::HiddenCommands))
            }
            Action::Fetch(url) => self.judge_fetch(tool, url, taint).blaming(host(url)),
            Action::Browse(first) => self.judge_browse(tool, first, taint).blaming(host(first)),
            Action::Type(typed) => self.judge_typed(tool, typed, lines, taint),
            Action::Named(name) => {
                let named = |rule: &&Rule| rule.covers_named(tool, name);
                let decided = self.decide_by_rule_or_bypass(named);
                decided.unwrap_or_else(|| self.judge_inner(tool, taint))
            }
            Action::Inner => self.judge_inner(tool, taint),
        }
    }

    /// Whether the allow rules cover an action, so that it needs no question.
    fn covers(&self, case: &Case<'_>) -> bool {
        if let Action::Named(name) = case.action {
            return self.rules.allow.iter().any(|rule| rule.covers_named(case.tool, name));
        }
        self.judge(case, &Taint::Clean).decision == Decision::Allow
    }

    fn judge_fetch(&self, tool: &str, url: &Url, taint: &Taint) -> Verdict {
        let about = |rule: &&Rule| rule.covers_tool(tool, Kind::Fetch) || rule.covers_address(url);
        if let Some(verdict) = self.decide_by_rule_or_bypass(about) {
            return verdict;
        }
        let host = url.host_str().unwrap_or("an address without a host").to_owned();
        let grants = Rule::parse(&format!("WebFetch(domain:{host})")).into_iter().collect();
        let reason = Reason::ReachesHost { host };
        if let Taint::From(origin) = taint {
            let named = self.rules.allow.iter().find(|rule| rule.names_host(url));
            return match named {
                Some(rule) => Verdict::by_rule(Decision::Allow, rule),
                None => Verdict::ask(reason.tainted(origin)).granting(grants),
            };
        }
        match self.rules.allow.iter().find(about) {
            Some(rule) => Verdict::by_rule(Decision::Allow, rule),
            None => Verdict::ask(reason).granting(grants),
        }
    }

    /// The web researcher opens any host, so rules for single hosts do not allow it, and with untrusted content in
    /// the context no rule does: the prompt it is given could carry data out.
    fn judge_browse(&self, tool: &str, first: &Url, taint: &Taint) -> Verdict {
        let about =
            |rule: &&Rule| rule.covers_tool(tool, Kind::Fetch) || rule.covers_address(first);
        if let Some(verdict) = self.decide_by_rule_or_bypass(about) {
            return verdict;
        }
        if let Taint::From(origin) = taint {
            return Verdict::ask(Reason::ReachesAnyHost.tainted(origin));
        }
        let allowing = self.rules.allow.iter().find(|rule| rule.covers_tool(tool, Kind::Fetch));
        if let Some(rule) = allowing {
            return Verdict::by_rule(Decision::Allow, rule);
        }
        let grants = Rule::parse(tool).into_iter().collect();
        Verdict::ask(Reason::ReachesAnyHost).granting(grants)
    }

    fn judge_inner(&self, tool: &str, taint: &Taint) -> Verdict {
        let about = |rule: &&Rule| rule.covers_tool(tool, Kind::Inner);
        if let Some(verdict) = self.decide_by_rule_or_bypass(about) {
            return verdict;
        }
        if !tool.starts_with("mcp_") {
            return Verdict::allow(Reason::SessionOnly);
        }
        let grants = Rule::parse(tool).into_iter().collect();
        if let Taint::From(origin) = taint {
            // A page may send through a server as it may to a host: only to one the user has named.
            return match self.rules.allow.iter().find(|rule| rule.names_server(tool)) {
                Some(rule) => Verdict::by_rule(Decision::Allow, rule),
                None => Verdict::ask(Reason::SendsToServer.tainted(origin)).granting(grants),
            };
        }
        match self.rules.allow.iter().find(about) {
            Some(rule) => Verdict::by_rule(Decision::Allow, rule),
            None => Verdict::ask(Reason::UnknownServerTool).granting(grants),
        }
    }

    /// What deny rules, then bypass mode, then ask rules decide, before anything else is looked at.
    fn decide_by_rule_or_bypass(&self, about: impl Fn(&&Rule) -> bool) -> Option<Verdict> {
        if let Some(rule) = self.rules.deny.iter().find(&about) {
            return Some(Verdict::by_rule(Decision::Deny, rule));
        }
        if self.mode == Mode::Bypass {
            return Some(Self::bypassed());
        }
        self.rules.ask.iter().find(&about).map(|rule| Verdict::by_rule(Decision::Ask, rule))
    }

    fn bypassed() -> Verdict {
        Verdict::allow(Reason::BypassMode).reaching(Reach::Everything)
    }

    /// How far a process may reach at most, on this machine.
    fn reach(&self, wanted: Reach) -> Reach {
        match self.cage {
            CageState::Works => wanted,
            CageState::Missing => Reach::Everything,
        }
    }
}

#[cfg(test)]
mod tests;
