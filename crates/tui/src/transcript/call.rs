//! Tool calls: a title line with state and time, and what the tool shows below.

mod crew;
mod title;

use base::protocol::Event;
use base::transcript::{Call, CallResult, Outcome, Piece};
use base::{Block, CallId, EntryId};

use super::block::{self, Shape};
use super::item::Setting;
use super::row::Row;
use crate::figures;
use crate::line::{Line, Span};
use crate::style::Style;
use crate::text;
use crate::theme::Role;

pub(crate) use self::crew::Child;
pub(crate) use self::title::is_reading;

/// What a result says of a call that the user stopped.
const STOPPED: &str = "The user stopped this call";
/// What a result says of a call that was not allowed.
const DENIED: &str = "Permission denied";
/// A call that took less is not worth a figure.
const WORTH_TELLING_MS: u64 = 1_000;

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallState {
    /// The model called; nothing happened yet.
    Called,
    /// Somebody must allow it.
    Asking,
    /// It runs.
    Running,
    /// It did what it should.
    Done,
    /// It failed.
    Failed,
    /// It was stopped.
    Stopped,
    /// It was not allowed.
    Denied,
}

/// Whether it is known which sub-agents work for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crew {
    /// It is: their events are heard, they were looked up, or there can be none.
    Known,
    /// It is not: the call was stored before we came.
    Unknown,
    /// They are being looked up.
    Asked,
}

/// A tool call.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall {
    pub(crate) id: CallId,
    /// The tool; empty until it is known.
    pub(crate) name: String,
    pub(crate) state: CallState,
    title: String,
    /// What it was called for, from its arguments.
    subject: title::Subject,
    body: Option<Block>,
    began_ms: Option<u64>,
    took_ms: Option<u64>,
    /// Sub-agents that work for it.
    pub(crate) children: Vec<Child>,
    /// Whether these are all.
    pub(crate) crew: Crew,
}

impl ToolCall {
    /// A call of which only the id is known.
    pub(crate) fn unknown(id: CallId) -> Self {
        Self {
            id,
            name: String::new(),
            state: CallState::Called,
            title: String::new(),
            subject: title::Subject::default(),
            body: None,
            began_ms: None,
            took_ms: None,
            children: Vec::new(),
            crew: Crew::Known,
        }
    }

    /// A call as the model made it.
    pub(crate) fn of(call: &Call) -> Self {
        let mut made = Self::unknown(call.id.clone());
        made.describe(call);
        made
    }

    /// A call as it is stored: who worked for it is to be looked up.
    pub(crate) fn stored(call: &Call) -> Self {
        let crew = if title::may_delegate(&call.name) { Crew::Unknown } else { Crew::Known };
        Self { crew, ..Self::of(call) }
    }

    /// A command that the user ran, as it is stored.
    pub(crate) fn own(entry: EntryId, line: &str, output: &str) -> Self {
        let mut made = Self::unknown(CallId::new(entry.to_string()));
        made.title = own_title(line);
        made.state = CallState::Done;
        made.body = Some(Block::Text { text: output.to_owned() });
        made
    }

    /// Whether it shows a command of the user's own, which has ended.
    pub(crate) fn is_own(&self, line: &str) -> bool {
        self.has_ended() && self.name.is_empty() && self.title == own_title(line)
    }

    /// Whether it is a command of the user's own, which no turn ends.
    pub(crate) fn is_users(&self) -> bool {
        self.name.is_empty() && is_own_command(&self.title)
    }

    /// Takes name and arguments from the model's call.
    pub(crate) fn describe(&mut self, call: &Call) {
        self.name.clone_from(&call.name);
        self.subject = title::Subject::of(&call.name, &call.input);
    }

    /// Takes the result that was stored.
    pub(crate) fn finish(&mut self, result: &CallResult) {
        if self.name.is_empty() {
            self.name.clone_from(&result.name);
        }
        let text = || result.pieces.iter().find_map(text_of).unwrap_or_default();
        match &result.shown {
            Some(shown) => {
                self.title.clone_from(&shown.title);
                let own = || result.pieces.iter().find_map(picture_of);
                let words = || Some(Block::Text { text: text().to_owned() });
                self.body = shown.body.clone().or_else(own).or_else(words);
                self.took_ms = Some(shown.took_ms);
            }
            None if self.has_ended() => return,
            None => self.body = Some(Block::Text { text: text().to_owned() }),
        }
        self.state = ended(result.outcome, text());
        self.began_ms = None;
    }

    /// Takes an event about it.
    pub(crate) fn see(&mut self, event: &Event, now_ms: u64) {
        match event {
            Event::ToolStarted { title, .. } => {
                self.title.clone_from(title);
                self.state = CallState::Running;
                self.began_ms.get_or_insert(now_ms);
            }
            Event::ToolProgress { body, .. } if !self.has_ended() => self.body = Some(body.clone()),
            Event::ToolDone { outcome, title, body, .. } => {
                self.title.clone_from(title);
                self.body.clone_from(body);
                let text = match &self.body {
                    Some(Block::Text { text }) => text.as_str(),
                    Some(_) | None => "",
                };
                let is_denied = self.state == CallState::Denied;
                let state = ended(*outcome, text);
                self.state = if is_denied { CallState::Denied } else { state };
                self.took_ms = self.began_ms.take().map(|began| now_ms.saturating_sub(began));
            }
            Event::ApprovalNeeded { title, .. } => {
                self.title.clone_from(title);
                self.state = CallState::Asking;
            }
            Event::Denied { reason, .. } => {
                self.state = CallState::Denied;
                self.body = Some(Block::Text { text: reason.clone() });
            }
            Event::ToolProgress { .. }
            | Event::TurnStarted { .. }
            | Event::Appended { .. }
            | Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ChildStarted { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::CommandDone { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => {}
        }
    }

    /// The turn is over: what has not ended never will.
    pub(crate) fn give_up(&mut self, now_ms: u64) {
        if !self.has_ended() {
            self.state = CallState::Stopped;
            self.took_ms = self.began_ms.take().map(|began| now_ms.saturating_sub(began));
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        match self.state {
            CallState::Called | CallState::Asking | CallState::Running => false,
            CallState::Done | CallState::Failed | CallState::Stopped | CallState::Denied => true,
        }
    }

    /// Whether it will change no more by itself.
    pub(crate) fn is_settled(&self) -> bool {
        self.has_ended() && self.crew == Crew::Known
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.state == CallState::Running || self.children.iter().any(Child::is_moving)
    }

    pub(crate) fn has_more(&self) -> bool {
        self.body.is_some() || !self.children.is_empty() || self.subject.command.is_some()
    }

    fn is_stored_text(&self) -> bool {
        matches!(&self.body, Some(Block::Text { text }) if text.trim().is_empty())
    }
}

/// What comes before a command of the user's own in its title.
const OWN: &str = "! ";

/// What the mind calls a command of the user's own while it runs.
fn own_title(line: &str) -> String {
    format!("{OWN}{line}")
}

/// Whether a call with this title is a command of the user's own.
pub fn is_own_command(title: &str) -> bool {
    title.starts_with(OWN)
}

fn text_of(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Text { text } => Some(text),
        Piece::File(_) => None,
    }
}

/// A picture that the model was shown: the user wants to see it, too.
fn picture_of(piece: &Piece) -> Option<Block> {
    match piece {
        Piece::File(file) if file.media_type.starts_with("image/") => {
            Some(Block::Image { file: file.clone() })
        }
        Piece::File(_) | Piece::Text { .. } => None,
    }
}

fn ended(outcome: Outcome, text: &str) -> CallState {
    match outcome {
        Outcome::Done => CallState::Done,
        Outcome::Failed if text.starts_with(STOPPED) => CallState::Stopped,
        Outcome::Failed if text.starts_with(DENIED) => CallState::Denied,
        Outcome::Failed => CallState::Failed,
    }
}

/// Rows of a call, or of several that only read.
pub(crate) fn rows(calls: &[ToolCall], is_open: bool, setting: &Setting<'_>) -> Vec<Row> {
    let [only] = calls else { return group(calls, is_open, setting) };
    let mut rows = vec![headed(title_line(only, 0, setting), 0)];
    let shape = if is_open { Shape::Whole } else { Shape::usual(only.state, &only.name) };
    rows.extend(body(only, shape, 2, setting));
    rows
}

fn group(calls: &[ToolCall], is_open: bool, setting: &Setting<'_>) -> Vec<Row> {
    let look = setting.look;
    let is_running = calls.iter().any(|call| !call.has_ended());
    let failed = calls.iter().filter(|call| call.state == CallState::Failed).count();
    let state = if is_running { CallState::Running } else { CallState::Done };
    let mut head = mark(state, setting);
    head.push(
        title::group(calls.iter().map(|call| call.name.as_str())),
        look.theme.style(Role::Text),
    );
    if failed > 0 {
        head.push(format!(", {failed} failed"), look.theme.style(Role::Bad));
    }
    if let Some(newest) = calls.iter().rev().find(|call| !call.has_ended()) {
        head.push(format!("  {}", title::line(newest)), look.theme.style(Role::Muted));
    }
    let mut rows = vec![headed(head.cut(usize::from(setting.cells)), 0)];
    if is_open {
        for call in calls {
            rows.push(headed(title_line(call, 2, setting), 2));
            rows.extend(body(call, Shape::Short, 4, setting));
        }
    }
    rows
}

/// A title's row: it folds, and its mark is not copied.
fn headed(line: Line, indent: u16) -> Row {
    Row { skip: indent + 2, ..Row::new(line).folds() }
}

/// The mark of a state.
pub(crate) fn mark(state: CallState, setting: &Setting<'_>) -> Line {
    let look = setting.look;
    let (fine, plain, role) = match state {
        CallState::Called | CallState::Asking => ("◌ ", "? ", Role::Warning),
        CallState::Running if look.frame % 8 < 4 => ("● ", "* ", Role::Accent),
        CallState::Running => ("○ ", "o ", Role::Accent),
        CallState::Done => ("● ", "* ", Role::Good),
        CallState::Failed => ("✗ ", "x ", Role::Bad),
        CallState::Stopped | CallState::Denied => ("✗ ", "x ", Role::Muted),
    };
    Line::new(if look.unicode { fine } else { plain }, look.theme.style(role))
}

fn title_line(call: &ToolCall, indent: usize, setting: &Setting<'_>) -> Line {
    let look = setting.look;
    let muted = look.theme.style(Role::Muted);
    let mut head = Line::new(" ".repeat(indent), Style::PLAIN);
    head.spans.extend(mark(call.state, setting).spans);
    head.push(call.name.clone(), look.theme.style(Role::Strong));
    let mut title = title::line(call);
    let counts = if let Some(Block::Diff { unified, .. }) = &call.body {
        Some(crate::diff::counts(unified))
    } else {
        None
    };
    if let Some((added, removed)) = counts
        && let Some(bare) = title.strip_suffix(&format!(" +{added} −{removed}"))
    {
        // The tool tells them, too, but in one colour.
        title.truncate(bare.len());
    }
    let gap = if call.name.is_empty() { "" } else { " " };
    head.push(format!("{gap}{}", text::clean(&title)), look.theme.style(Role::Text));
    let mut tail = Line::EMPTY;
    if let Some((added, removed)) = counts {
        tail.push(
            format!(" +{added}"),
            Style { bg: crate::style::Color::Default, ..look.theme.style(Role::Good) },
        );
        let minus = if look.unicode { '−' } else { '-' };
        tail.push(format!(" {minus}{removed}"), look.theme.style(Role::Bad));
    }
    match call.state {
        CallState::Called => tail.push(" · no result yet", muted),
        CallState::Asking => tail.push(" · waiting for you", look.theme.style(Role::Warning)),
        CallState::Running => {
            let ran = call.began_ms.map_or(0, |began| look.now_ms.saturating_sub(began));
            if ran >= WORTH_TELLING_MS {
                tail.push(format!(" · {}", figures::clock(ran)), muted);
            }
        }
        CallState::Failed => tail.push(" · failed", look.theme.style(Role::Bad)),
        CallState::Stopped => tail.push(" · stopped", muted),
        CallState::Denied => tail.push(" · not allowed", look.theme.style(Role::Warning)),
        CallState::Done => {}
    }
    if let Some(took) = call.took_ms.filter(|took| *took >= WORTH_TELLING_MS) {
        tail.push(format!(" · {}", figures::duration(took)), muted);
    }
    let mut head = head.cut(usize::from(setting.cells).saturating_sub(tail.width()));
    head.spans.extend(tail.spans);
    head
}

fn body(call: &ToolCall, shape: Shape, indent: usize, setting: &Setting<'_>) -> Vec<Row> {
    let look = setting.look;
    let cells = usize::from(setting.cells).saturating_sub(indent + 2).max(1);
    let mut rows = Vec::new();
    if let Some(command) = call.subject.command.as_ref().filter(|_| shape != Shape::Nothing) {
        rows.extend(block::command(command, shape, cells, look));
    }
    for child in &call.children {
        rows.extend(child.rows(shape, cells, setting));
    }
    let is_tree_of_child =
        !call.children.is_empty() && matches!(call.body, Some(Block::Tree { .. }));
    if let Some(shown) = call.body.as_ref().filter(|_| !is_tree_of_child && !call.is_stored_text())
    {
        if call.children.is_empty() && !title::is_agent(&call.name) {
            rows.extend(block::rows(shown, shape, cells, setting));
        } else {
            rows.extend(block::report(shown, shape, cells, setting));
        }
    }
    let count = rows.len();
    let bars = if look.unicode { ("│ ", "└ ") } else { ("| ", "` ") };
    let style = look.theme.style(Role::Faint);
    for (index, row) in rows.iter_mut().enumerate() {
        let bar = if index + 1 == count { bars.1 } else { bars.0 };
        row.put_before(&[Span::new(format!("{}{bar}", " ".repeat(indent)), style)]);
    }
    rows
}
