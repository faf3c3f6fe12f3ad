//! The text form of a run: the answer on standard output, everything else on standard error.

use std::io::{self, IsTerminal, Write};

use base::model::StopReason;
use base::transcript;
use base::visible::{VisibleStream, visible_direction, visible_json};
use base::{Block, CallId, EntryKind, Event};

use super::flags::Pipes;
use super::outcome::Outcome;
use crate::commands::session::text::{line, plain};
use crate::render;

/// Writes the text form; keeps what lines and steps need.
#[expect(clippy::struct_excessive_bools, reason = "flags, and what was last on the line")]
pub(crate) struct Text {
    shows_tools: bool,
    shows_thoughts: bool,
    /// Whether only the JSON at the end is printed.
    is_structured: bool,
    /// The answer as a terminal shows it; `None` for a file or a pipe, which get it to the byte but for characters
    /// that turn the direction of text.
    shown: Option<VisibleStream>,
    ends_in_line_break: bool,
    is_thinking: bool,
    /// Progress of calls that run while the model still talks: shown when it is done, not amid its words.
    early: Vec<(char, CallId, String)>,
}

impl Text {
    /// The form the flags ask for; `is_terminal` is about standard output.
    pub(crate) fn new(pipes: &Pipes, is_terminal: bool) -> Self {
        Self {
            shows_tools: pipes.verbose || io::stderr().is_terminal(),
            shows_thoughts: pipes.verbose,
            is_structured: pipes.output_schema.is_some() || pipes.json_schema.is_some(),
            shown: is_terminal.then(VisibleStream::default),
            ends_in_line_break: true,
            is_thinking: false,
            early: Vec::new(),
        }
    }

    /// What an event adds to standard output.
    pub(crate) fn event(&mut self, event: &Event, outcome: &Outcome) -> String {
        self.show_early(event, outcome);
        match event {
            Event::Text { delta, .. } => return self.said(delta),
            Event::Reasoning { delta, .. } if self.shows_thoughts => {
                self.is_thinking = true;
                thought(&plain(delta));
            }
            Event::Appended { entry, .. } => {
                if let EntryKind::Assistant { stop: StopReason::ToolCalls, .. } = entry.kind {
                    return self.line_break();
                }
            }
            Event::ToolStarted { call, title, .. } => self.progress('→', call, title, outcome),
            Event::ToolDone { call, outcome: transcript::Outcome::Failed, body, title, .. } => {
                let why = match body {
                    Some(Block::Text { text }) => text.lines().next().unwrap_or(title),
                    Some(_) | None => title,
                };
                self.progress('✗', call, why, outcome);
            }
            Event::Retrying { attempt, wait_ms, reason, .. } => render::note(&format!(
                "note: {}; try {attempt} in {:.1} s",
                reason.trim_end_matches('.'),
                seconds(*wait_ms)
            )),
            Event::Notice { text, .. } if outcome.is_reply() => {
                return self.said(&format!("{text}\n"));
            }
            Event::Notice { text, .. } => render::note(&format!("note: {}", line(text))),
            Event::TurnStarted { .. }
            | Event::Reasoning { .. }
            | Event::ChildStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ApprovalNeeded { .. }
            | Event::Denied { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::CommandDone { .. }
            | Event::Hook { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => {}
        }
        String::new()
    }

    /// Shows what a sub-agent does, under its name.
    pub(crate) fn crew_event(&mut self, event: &Event, agent: &str) {
        let said = match event {
            Event::ToolStarted { title, .. } => format!("  {}  → {}", line(agent), line(title)),
            Event::ToolDone { outcome: transcript::Outcome::Failed, title, .. } => {
                format!("  {}  ✗ {}", line(agent), line(title))
            }
            Event::TurnFailed { reason, .. } => format!("  {}  ✗ {}", line(agent), line(reason)),
            Event::TurnStarted { .. }
            | Event::Appended { .. }
            | Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ChildStarted { .. }
            | Event::ApprovalNeeded { .. }
            | Event::Denied { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::CommandDone { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::TurnDone { .. } => return,
        };
        if self.shows_tools {
            self.end_thought();
            render::progress(&said);
        }
    }

    /// The end of an exchange: what is missing on standard output, and remarks on standard error.
    pub(crate) fn end(&mut self, outcome: &Outcome) -> String {
        self.end_thought();
        let text = match &outcome.structured {
            Some(value) => format!("{}\n", visible_json(&value.to_string())),
            None => self.line_break(),
        };
        if let Some(remark) = remark(outcome) {
            render::note(&format!("note: {remark}"));
        }
        text
    }

    fn said(&mut self, delta: &str) -> String {
        self.end_thought();
        if self.is_structured {
            return String::new();
        }
        self.ends_in_line_break = delta.ends_with('\n');
        match &mut self.shown {
            Some(shown) => shown.push(delta),
            None => visible_direction(delta).into_owned(),
        }
    }

    fn line_break(&mut self) -> String {
        let held = self.shown.as_mut().map(VisibleStream::finish).unwrap_or_default();
        let is_missing = !std::mem::replace(&mut self.ends_in_line_break, true);
        if is_missing { held + "\n" } else { held }
    }

    fn progress(&mut self, sign: char, call: &CallId, title: &str, outcome: &Outcome) {
        if !self.shows_tools {
            return;
        }
        let Some(known) = outcome.call(call) else {
            self.early.push((sign, call.clone(), title.to_owned()));
            return;
        };
        self.end_thought();
        render::progress(&format!("{sign} {}: {}", line(&known.name), line(title)));
    }

    /// Shows what was held back, once the answer it belongs to is recorded and its line is ended.
    fn show_early(&mut self, event: &Event, outcome: &Outcome) {
        if !self.early.is_empty() && matches!(event, Event::Spent { .. }) {
            for (sign, call, title) in std::mem::take(&mut self.early) {
                self.progress(sign, &call, &title, outcome);
            }
        }
    }

    fn end_thought(&mut self) {
        if std::mem::take(&mut self.is_thinking) {
            thought("\n");
        }
    }
}

/// What a reader of the text alone would not notice.
fn remark(outcome: &Outcome) -> Option<&'static str> {
    let said_nothing = || outcome.parts.is_empty().then_some("the model said nothing");
    match outcome.stop? {
        StopReason::Length => Some("the answer is cut: it reached its token limit (--max-tokens)"),
        StopReason::ContextFull => Some("the answer is cut: the model's window is full"),
        StopReason::Refusal => Some("the model declined to answer"),
        StopReason::Paused => Some("the provider paused the answer; --continue goes on with it"),
        StopReason::Done | StopReason::ToolCalls | StopReason::Other => said_nothing(),
        StopReason::Cancelled => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "display only")]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// Thoughts go to standard error, dimmed on a terminal.
fn thought(text: &str) {
    let mut stderr = io::stderr().lock();
    let written = if stderr.is_terminal() {
        write!(stderr, "\x1b[2m{text}\x1b[0m")
    } else {
        write!(stderr, "{text}")
    };
    drop(written);
}
