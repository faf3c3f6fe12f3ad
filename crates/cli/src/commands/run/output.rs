//! What is printed of a run, in each of the formats.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use base::model::{ModelRef, Money, StopReason, Usage};
use base::{EntryKind, Event, Part, SessionId};

use super::OutputFormat;
use super::stream_json::StreamJson;
use crate::commands::session::text::plain;
use crate::render;

/// What does not change during a run.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// The session.
    pub(crate) session: SessionId,
    /// The model.
    pub(crate) model: ModelRef,
    /// The model's window and output limit, for the summary.
    pub(crate) limits: (u64, u64),
    /// The folder.
    pub(crate) folder: String,
    /// When the run began.
    pub(crate) began: Instant,
}

/// How a run ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    /// The answer's parts.
    pub(crate) parts: Vec<Part>,
    /// Why the model stopped; none if it failed.
    pub(crate) stop: Option<StopReason>,
    /// Tokens.
    pub(crate) usage: Usage,
    /// Money; none where the price is unknown.
    pub(crate) cost: Option<Money>,
    /// Time spent waiting for the provider.
    pub(crate) waited: Duration,
    /// What went wrong: class and words.
    pub(crate) error: Option<(&'static str, String)>,
}

impl Outcome {
    /// Takes from an event what the end tells again: a call that fails has its tokens and words too.
    pub(crate) fn take(&mut self, event: &Event) {
        if let Event::Spent { usage, cost, .. } = event {
            (self.usage, self.cost) = (*usage, *cost);
        }
        if let Event::Appended { entry, .. } = event
            && let EntryKind::Assistant { parts, .. } = &entry.kind
        {
            self.parts.clone_from(parts);
        }
    }
}

/// Prints events as they come.
pub(crate) struct Printer {
    form: Form,
    closed: bool,
    is_terminal: bool,
}

enum Form {
    Text { verbose: bool, ends_in_line_break: bool, is_thinking: bool },
    Json(StreamJson),
    StreamJson(StreamJson),
}

impl Printer {
    /// A printer of one format.
    pub(crate) fn new(
        format: OutputFormat,
        verbose: bool,
        partial: bool,
        setting: Setting,
    ) -> Self {
        let form = match format {
            OutputFormat::Text => {
                Form::Text { verbose, ends_in_line_break: true, is_thinking: false }
            }
            OutputFormat::Json => Form::Json(StreamJson::new(setting, false)),
            OutputFormat::StreamJson => Form::StreamJson(StreamJson::new(setting, partial)),
        };
        Self { form, closed: false, is_terminal: io::stdout().is_terminal() }
    }

    /// Prints what an event says.
    pub(crate) fn event(&mut self, event: &Event) {
        match &mut self.form {
            Form::Text { verbose, ends_in_line_break, is_thinking } => match event {
                Event::Text { delta, .. } => {
                    if std::mem::take(is_thinking) {
                        thought("\n");
                    }
                    *ends_in_line_break = delta.ends_with('\n');
                    // A file or a pipe gets the answer to the byte; a terminal must not be steered.
                    if self.is_terminal {
                        self.put(plain(delta).as_bytes());
                    } else {
                        self.put(delta.as_bytes());
                    }
                }
                Event::Reasoning { delta, .. } if *verbose => {
                    *is_thinking = true;
                    thought(&plain(delta));
                }
                Event::Retrying { attempt, wait_ms, reason, .. } => render::note(&format!(
                    "note: {}; try {attempt} in {:.1} s",
                    reason.trim_end_matches('.'),
                    Seconds(*wait_ms).value()
                )),
                Event::TurnStarted { .. }
                | Event::Appended { .. }
                | Event::Reasoning { .. }
                | Event::ToolStarted { .. }
                | Event::ToolProgress { .. }
                | Event::ToolDone { .. }
                | Event::ApprovalNeeded { .. }
                | Event::QuestionAsked { .. }
                | Event::Settled { .. }
                | Event::Spent { .. }
                | Event::SessionChanged { .. }
                | Event::Notice { .. }
                | Event::TurnDone { .. }
                | Event::TurnFailed { .. } => {}
            },
            Form::Json(_) => {}
            Form::StreamJson(lines) => {
                let text = lines.event(event);
                self.put(text.as_bytes());
            }
        }
    }

    /// Prints the end: a last line break, or the result object.
    pub(crate) fn end(&mut self, outcome: &Outcome) {
        if let Form::Text { is_thinking: true, .. } = self.form {
            thought("\n");
        }
        let text = match &mut self.form {
            Form::Text { ends_in_line_break: true, .. } => String::new(),
            Form::Text { .. } => "\n".to_owned(),
            Form::Json(lines) | Form::StreamJson(lines) => lines.result(outcome),
        };
        self.put(text.as_bytes());
        if let Form::Text { .. } = self.form
            && let Some(remark) = remark(outcome)
        {
            render::note(&format!("note: {remark}"));
        }
    }

    /// Whether standard output has no reader any more: nobody wants the rest.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    fn put(&mut self, bytes: &[u8]) {
        let mut stdout = io::stdout().lock();
        self.closed |= stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err();
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

struct Seconds(u64);

impl Seconds {
    #[expect(clippy::cast_precision_loss, reason = "display only")]
    fn value(&self) -> f64 {
        self.0 as f64 / 1000.0
    }
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
