//! `caiman policy`: why a call would be allowed, asked about or denied.

mod action;
mod cases;

use std::path::PathBuf;

use base::protocol::Mode;
use clap::{Subcommand, ValueEnum};
use guard::policy::{BlamedPart, CageState, Part, PartVerdict};
use guard::rule::{Collected, Extra};
use guard::{Cage, Decision, Fence, Policy, Reach, Reason, Rule, Taint};
use serde::Serialize;

use crate::app::App;
use crate::failure::Failure;
use crate::render;
use action::Call;

/// Explain and test what may be done.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say whether an action would be allowed, asked about or denied, and why.
    Explain {
        /// A shell line, or `Bash(…)`, `Read(path)`, `Edit(path)`, `WebFetch(url)`, `mcp__server__tool`.
        action: String,
        #[command(flatten)]
        with: With,
        /// As if words from this place were in the context.
        #[arg(long, value_name = "ORIGIN")]
        taint: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check a file of actions and expected decisions against the settings; fails where they differ.
    Test {
        /// JSON (comments allowed), a list or one object a line: `{"action": …, "expect": "allow"}`.
        file: PathBuf,
        #[command(flatten)]
        with: With,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// What to decide with, besides the settings.
#[derive(Debug, clap::Args)]
struct With {
    /// The mode to decide in; that of the settings if left out.
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeName>,
    /// One more rule for what needs no question. May be repeated.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// One more rule for what is never done. May be repeated.
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// As if this machine had no sandbox.
    #[arg(long)]
    no_sandbox: bool,
}

/// Modes as they are written on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeName {
    #[value(alias = "manual")]
    Default,
    #[value(name = "acceptEdits", alias = "accept-edits", alias = "auto")]
    AcceptEdits,
    Plan,
    #[value(name = "dontAsk", alias = "dont-ask")]
    DontAsk,
    #[value(alias = "bypassPermissions")]
    Bypass,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Default => Self::Default,
            ModeName::AcceptEdits => Self::AcceptEdits,
            ModeName::Plan => Self::Plan,
            ModeName::DontAsk => Self::DontAsk,
            ModeName::Bypass => Self::Bypass,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::Explain { action, with, taint, json } => {
            let policy = policy(app, with)?;
            let taint = taint.clone().map_or(Taint::Clean, Taint::From);
            let answer = Answer::of(&policy, action, &taint)?;
            if *json { render::json(&answer) } else { render::out(&answer.text()) }
        }
        What::Test { file, with, json } => {
            let cases = cases::read(&app.cwd.join(file))?;
            cases::check(&policy(app, with)?, &cases, *json)
        }
    }
}

/// The policy that a session here would have.
fn policy(app: &App, with: &With) -> Result<Policy, Failure> {
    let loaded = app.load_config();
    let permissions = &loaded.config.permissions;
    let extra = Extra { allow: &with.allow, deny: &with.deny, granted: &[] };
    let collected = Collected::from_settings(permissions, &loaded.origins, &app.paths, &extra);
    for warning in &collected.warnings {
        render::note(&format!("warning: {warning}"));
    }
    let home = app.paths.home();
    let others = permissions.additional_directories.iter().map(|folder| {
        folder.strip_prefix("~/").map_or_else(|| app.cwd.join(folder), |rest| home.join(rest))
    });
    let others: Vec<PathBuf> = others.filter(|folder| folder.is_dir()).collect();
    let fence = Fence::new(&app.cwd, &others, home)
        .map_err(|error| Failure::config(format!("cannot look at the working folder: {error}")))?;
    let cage = if with.no_sandbox { CageState::Missing } else { Cage::probe().state() };
    let mode = with.mode.map_or(permissions.default_mode, Mode::from);
    Ok(Policy { rules: collected.rules, mode, fence, cage, bounds: Vec::new() })
}

/// What is printed of a decision.
#[derive(Debug, Serialize)]
struct Answer {
    action: String,
    tool: String,
    mode: Mode,
    decision: &'static str,
    reason: String,
    /// The same reason as a value: its `kind`, and what it is about.
    cause: Reason,
    /// Further reasons for the same decision.
    also: Vec<Reason>,
    rule: Option<String>,
    reach: &'static str,
    parts: Vec<PartAnswer>,
    grants: Vec<String>,
    /// The parts of the call that make it ask.
    blame: Vec<BlamedAnswer>,
}

#[derive(Debug, Serialize)]
struct PartAnswer {
    text: String,
    standing: &'static str,
    detail: Option<String>,
}

/// A part to blame, with where it is in the command, in bytes.
#[derive(Debug, Serialize)]
struct BlamedAnswer {
    text: String,
    start: Option<usize>,
    end: Option<usize>,
}

impl Answer {
    fn of(policy: &Policy, text: &str, taint: &Taint) -> Result<Self, Failure> {
        let call = Call::parse(text, &policy.fence)?;
        let verdict = policy.decide(&call.tool, &call.actions, taint);
        let parts = call.command().and_then(|line| policy.parts(line).ok()).unwrap_or_default();
        Ok(Self {
            action: text.to_owned(),
            tool: call.tool,
            mode: policy.mode,
            decision: decision_name(verdict.decision),
            reason: verdict.reason.to_string(),
            rule: verdict.rule().map(Rule::to_string),
            cause: verdict.reason,
            also: verdict.also,
            reach: reach_name(verdict.reach),
            parts: parts.into_iter().map(PartAnswer::from).collect(),
            grants: verdict.grants.iter().map(Rule::to_string).collect(),
            blame: verdict.blame.into_iter().map(BlamedAnswer::from).collect(),
        })
    }

    fn text(&self) -> String {
        let mut rows = vec![format!("{}: {}", self.decision, self.reason)];
        rows.extend(self.rule.iter().map(|rule| format!("rule: {rule}")));
        if self.tool == "bash" && self.decision != "deny" {
            rows.push(format!("reach: {}", self.reach));
        }
        for PartAnswer { text, standing, detail } in &self.parts {
            let detail = detail.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
            rows.push(format!("part: {text}  ({standing}{detail})"));
        }
        rows.extend(self.also.iter().map(|reason| format!("also: {reason}")));
        rows.extend(self.grants.iter().map(|rule| format!("would be allowed by: {rule}")));
        render::lines(rows)
    }
}

impl From<Part> for PartAnswer {
    fn from(part: Part) -> Self {
        let (standing, detail) = match part.verdict {
            PartVerdict::ReadOnly => ("only reads", None),
            PartVerdict::AllowedBy(rule) => ("allowed", Some(rule.to_string())),
            PartVerdict::NeedsApproval(reason) => ("open", Some(reason.to_string())),
        };
        Self { text: part.text, standing, detail }
    }
}

impl From<BlamedPart> for BlamedAnswer {
    fn from(part: BlamedPart) -> Self {
        let (start, end) = part.span.map(|span| (span.start, span.end)).unzip();
        Self { text: part.text, start, end }
    }
}

fn decision_name(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

fn reach_name(reach: Reach) -> &'static str {
    match reach {
        Reach::ReadOnly => "read-only sandbox",
        Reach::Workspace => "workspace sandbox",
        Reach::Network => "workspace sandbox with network",
        Reach::Everything => "no sandbox",
    }
}
