//! What is printed of a run, in each of the formats.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use base::model::ModelRef;
use base::protocol::Mode;
use base::visible::visible_json;
use base::{Event, SessionId};
use links::Mcp;
use serde_json::Value;

use super::flags::{OutputFormat, Pipes};
use super::found::Found;
use super::outcome::Outcome;
use super::stream_json::StreamJson;
use super::text::Text;

/// What does not change during a run.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// The session.
    pub(crate) session: SessionId,
    /// The model the run begins with.
    pub(crate) model: ModelRef,
    /// That model's window and output limit, for the summary.
    pub(crate) limits: (u64, u64),
    /// Where its key comes from, in Claude Code's words.
    pub(crate) key_source: &'static str,
    /// The mode the run begins with.
    pub(crate) mode: Mode,
    /// The tools offered last, for a session that goes on.
    pub(crate) tools: Vec<String>,
    /// The folder.
    pub(crate) folder: String,
    /// What definition files bring.
    pub(crate) found: Found,
    /// MCP servers.
    pub(crate) mcp: Mcp,
    /// When the run began.
    pub(crate) began: Instant,
}

/// Prints events as they come.
pub(crate) struct Printer {
    form: Form,
    closed: bool,
}

enum Form {
    Text(Text),
    Json(StreamJson),
    StreamJson(StreamJson),
}

impl Printer {
    /// A printer of the format the flags name.
    pub(crate) fn new(pipes: &Pipes, setting: Setting) -> Self {
        let form = match pipes.output_format {
            OutputFormat::Text => Form::Text(Text::new(pipes, io::stdout().is_terminal())),
            OutputFormat::Json => Form::Json(StreamJson::new(setting)),
            OutputFormat::StreamJson => {
                let mut lines = StreamJson::new(setting);
                if pipes.include_partial_messages {
                    lines = lines.in_pieces();
                }
                if pipes.include_hook_events {
                    lines = lines.with_hooks();
                }
                Form::StreamJson(lines)
            }
        };
        Self { form, closed: false }
    }

    /// A new exchange begins.
    pub(crate) fn begin(&mut self) {
        match &mut self.form {
            Form::Text(_) => {}
            Form::Json(lines) | Form::StreamJson(lines) => lines.begin(),
        }
    }

    /// Prints what an event says; `outcome` has taken it already.
    pub(crate) fn event(&mut self, event: &Event, outcome: &Outcome) {
        let text = match &mut self.form {
            Form::Text(text) => text.event(event, outcome),
            Form::Json(_) => String::new(),
            Form::StreamJson(lines) => lines.event(event, outcome),
        };
        self.put(&text);
    }

    /// Prints what a sub-agent's event says.
    pub(crate) fn crew_event(&mut self, event: &Event, outcome: &Outcome) {
        let worker = event.session().and_then(|session| outcome.crew.get(&session));
        let Some(worker) = worker else { return };
        let text = match &mut self.form {
            Form::Text(text) => {
                text.crew_event(event, &worker.agent);
                String::new()
            }
            Form::Json(_) => String::new(),
            Form::StreamJson(lines) => lines.crew_event(event, &worker.call, outcome),
        };
        self.put(&text);
    }

    /// Prints the end of an exchange: a last line break, or the result object.
    pub(crate) fn end(&mut self, outcome: &Outcome) {
        let text = match &mut self.form {
            Form::Text(text) => text.end(outcome),
            Form::Json(lines) | Form::StreamJson(lines) => lines.result(outcome),
        };
        self.put(&text);
    }

    /// Prints a line of the conversation with the program at the other end.
    pub(crate) fn line(&mut self, line: &Value) {
        self.put(&format!("{line}\n"));
    }

    /// Prints back a message that was taken from standard input.
    pub(crate) fn replay(&mut self, message: &Value) {
        if let Form::StreamJson(lines) = &self.form {
            let text = lines.replayed(message);
            self.put(&text);
        }
    }

    /// What is allowed without asking changed.
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        match &mut self.form {
            Form::Text(_) => {}
            Form::Json(lines) | Form::StreamJson(lines) => lines.set_mode(mode),
        }
    }

    /// Whether standard output has no reader any more: nobody wants the rest.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    fn put(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = match self.form {
            Form::Text(_) => Cow::Borrowed(text),
            Form::Json(_) | Form::StreamJson(_) => visible_json(text),
        };
        let mut stdout = io::stdout().lock();
        self.closed |= stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err();
    }
}
