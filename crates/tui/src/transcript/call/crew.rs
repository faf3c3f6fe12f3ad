//! Sub-agents below the call they work for.

use base::protocol::{ChildProgress, ChildState, Event};
use base::{CallId, Part, SessionId, Usage};

use super::super::block::Shape;
use super::super::item::Setting;
use super::super::row::Row;
use super::{CallState, ToolCall, mark, title};
use crate::figures;
use crate::line::Span;
use crate::style::{Color, Style};
use crate::text;
use crate::theme::Role;

/// Calls of a sub-agent that are kept; of more, the newest.
const KEPT: usize = 60;
/// Calls of a sub-agent that are shown while it is folded.
const SHOWN: usize = 4;

/// A sub-agent.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub(crate) session: SessionId,
    agent: String,
    color: Option<String>,
    pub(crate) calls: Vec<ToolCall>,
    /// Calls that were too many to keep.
    forgotten: usize,
    /// Whether there were more than anybody has counted.
    is_longer: bool,
    usage: Usage,
    state: CallState,
    began_ms: u64,
    took_ms: Option<u64>,
    is_thinking: bool,
}

impl Child {
    pub(crate) fn new(session: SessionId, agent: &str, color: Option<&str>, now_ms: u64) -> Self {
        Self {
            session,
            agent: agent.to_owned(),
            color: color.map(str::to_owned),
            calls: Vec::new(),
            forgotten: 0,
            is_longer: false,
            usage: Usage::default(),
            state: CallState::Running,
            began_ms: now_ms,
            took_ms: None,
            is_thinking: false,
        }
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.state == CallState::Running
    }

    /// The call of an id; it is made if it is new.
    pub(crate) fn call(&mut self, id: &CallId) -> &mut ToolCall {
        let known = self.calls.iter().position(|call| call.id == *id);
        let index = known.unwrap_or_else(|| {
            if self.calls.len() >= KEPT {
                self.calls.remove(0);
                self.forgotten += 1;
            }
            self.calls.push(ToolCall::unknown(id.clone()));
            self.calls.len() - 1
        });
        &mut self.calls[index]
    }

    /// Takes an event of its session that is not about a call.
    pub(crate) fn see(&mut self, event: &Event, now_ms: u64) {
        self.is_thinking = matches!(event, Event::Reasoning { .. });
        match event {
            Event::Spent { usage, .. } => self.usage += *usage,
            Event::TurnStarted { .. } => self.state = CallState::Running,
            Event::TurnDone { .. } => self.end(CallState::Done, now_ms),
            Event::TurnFailed { .. } => self.end(CallState::Failed, now_ms),
            Event::Appended { entry, .. } => self.take(entry.kind.parts()),
            Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDone { .. }
            | Event::ChildStarted { .. }
            | Event::ApprovalNeeded { .. }
            | Event::Denied { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::CommandDone { .. } => {}
        }
    }

    /// Takes calls and results.
    fn take(&mut self, parts: &[Part]) {
        for part in parts {
            if let Some(call) = part.as_call() {
                self.call(&call.id).describe(call);
            }
            if let Some(result) = part.as_result() {
                self.call(&result.call).finish(result);
            }
        }
    }

    /// Takes what was looked up of it; what was heard meanwhile comes after that.
    pub(crate) fn learn(&mut self, known: &ChildState, now_ms: u64) {
        let heard = std::mem::take(&mut self.calls);
        self.take(&known.calls);
        for call in heard {
            let id = call.id.clone();
            *self.call(&id) = call;
        }
        self.is_longer = known.earlier.is_none();
        self.forgotten += known.earlier.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        self.usage = known.usage;
        self.began_ms = now_ms.saturating_sub(known.took_ms);
        let state = match known.progress {
            ChildProgress::AtWork => return,
            ChildProgress::Done => CallState::Done,
            ChildProgress::Failed => CallState::Failed,
            ChildProgress::Stopped => CallState::Stopped,
        };
        self.end(state, now_ms);
        self.took_ms = Some(known.took_ms);
    }

    /// It works no longer.
    pub(crate) fn end(&mut self, state: CallState, now_ms: u64) {
        if self.state == CallState::Running {
            self.state = state;
            self.took_ms = Some(now_ms.saturating_sub(self.began_ms));
        }
        self.calls.iter_mut().for_each(|call| call.give_up(now_ms));
    }

    /// Its name, state and figures, and below what it does.
    pub(crate) fn rows(&self, shape: Shape, cells: usize, setting: &Setting<'_>) -> Vec<Row> {
        let look = setting.look;
        let muted = look.theme.style(Role::Muted);
        let mut head = mark(self.state, setting);
        head.push(text::clean(&self.agent), self.style(setting));
        let count = self.calls.len() + self.forgotten;
        let mut told = vec![figures::counted(count, "call")];
        if self.is_longer {
            told = vec![format!("{count}+ calls")];
        }
        if self.usage.total() > 0 {
            told.push(format!("{} tokens", figures::tokens(self.usage.total())));
        }
        let ran = self.took_ms.unwrap_or_else(|| look.now_ms.saturating_sub(self.began_ms));
        told.push(figures::clock(ran));
        if self.is_thinking && self.state == CallState::Running {
            told.push("thinking".to_owned());
        }
        head.push(format!(" · {}", told.join(" · ")), muted);
        let mut rows = vec![Row::ours(head.cut(cells)).folds()];
        let shown = match (shape, self.state) {
            (Shape::Whole, _) => KEPT,
            (_, CallState::Running | CallState::Called | CallState::Asking) => SHOWN,
            (_, CallState::Done | CallState::Failed | CallState::Stopped | CallState::Denied) => 0,
        };
        let hidden = self.calls.len().saturating_sub(shown);
        for call in &self.calls[hidden..] {
            rows.extend(nested(call, shape, cells.saturating_sub(2), setting));
        }
        rows
    }

    fn style(&self, setting: &Setting<'_>) -> Style {
        let strong = setting.look.theme.style(Role::Strong);
        let color = self.color.as_deref().and_then(color);
        color.map_or(strong, |fg| Style { fg, ..strong })
    }
}

fn nested(call: &ToolCall, shape: Shape, cells: usize, setting: &Setting<'_>) -> Vec<Row> {
    let mut line = mark(call.state, setting);
    let gap = if call.name.is_empty() { "" } else { " " };
    line.push(format!("{}{gap}", call.name), setting.look.theme.style(Role::Muted));
    line.push(text::clean(&title::line(call)), setting.look.theme.style(Role::Muted));
    let mut rows = vec![Row::ours(line.cut(cells))];
    for child in &call.children {
        for mut row in child.rows(shape, cells.saturating_sub(2), setting) {
            row.put_before(&[Span::new("  ", Style::PLAIN)]);
            rows.push(row);
        }
    }
    for row in &mut rows {
        row.put_before(&[Span::new("  ", Style::PLAIN)]);
    }
    rows
}

/// A colour by its name or as `#rrggbb`.
fn color(name: &str) -> Option<Color> {
    if let Some(hex) = name.strip_prefix('#').filter(|hex| hex.len() == 6 && hex.is_ascii()) {
        let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
        return Some(Color::Rgb(part(0)?, part(2)?, part(4)?));
    }
    let index = match name.to_ascii_lowercase().as_str() {
        "red" => 1,
        "green" => 2,
        "yellow" | "orange" => 3,
        "blue" => 4,
        "purple" | "magenta" | "pink" => 5,
        "cyan" | "teal" => 6,
        _ => return None,
    };
    Some(Color::Indexed(index))
}
