//! The moments of a session, each with what handlers are told of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::transcript::{Call, CallResult, Outcome};
use base::{Block, EntryId};
use guard::{Action, Fence, Rule};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::handler::Judged;
use super::matcher::Subject;
use super::occasion::Occasion;
use super::ruling::Ruling;
use super::{Firing, Hooks, telling};

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// It is new.
    Startup,
    /// The user has left another one for it.
    Clear,
    /// It was there before this process, or was left for another one.
    Resume,
    /// It shares what was said in another one.
    Fork,
    /// Its context was summarised.
    Compact,
}

/// Why a session is over, for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The user has begun another one.
    Clear,
    /// The user has gone on with another one.
    Resume,
    /// The user has left the interface.
    Exit,
    /// Anything else.
    Other,
}

impl End {
    /// The word handlers know.
    fn word(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Resume => "resume",
            Self::Exit => "prompt_input_exit",
            Self::Other => "other",
        }
    }
}

/// Who begins, besides how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beginner<'a> {
    /// The model.
    pub(crate) model: &'a str,
    /// The agent that is the main one; none for ours.
    pub(crate) agent: Option<&'a str>,
    /// What the session is called by now.
    pub(crate) title: Option<&'a str>,
}

/// Why the context is summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// The user asked for it.
    Manual,
    /// It nears the window, or does not fit.
    Auto,
}

/// A call, as handlers are told of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolCall<'a> {
    pub(crate) call: &'a Call,
    /// What it would do; empty where that is not known.
    pub(crate) actions: &'a [Action],
}

impl ToolCall<'_> {
    /// Its input as handlers know it.
    pub(crate) fn input(&self, fence: &Fence) -> Map<String, Value> {
        telling::input(self.call, fence)
    }
}

impl Hooks {
    /// A session begins, or a sub-agent does.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        begin: Begin,
        who: Beginner<'_>,
        cancel: &CancellationToken,
    ) -> Ruling {
        let source = match begin {
            Begin::Startup => "startup",
            Begin::Clear => "clear",
            Begin::Resume => "resume",
            Begin::Fork => "fork",
            Begin::Compact => "compact",
        };
        let (occasion, subject) = match (&self.seat.agent, begin) {
            (None, _) => (Occasion::SessionStart, Subject::Word(source)),
            (Some(agent), Begin::Startup) => (Occasion::SubagentStart, Subject::Word(&agent.kind)),
            (Some(_), Begin::Clear | Begin::Resume | Begin::Fork | Begin::Compact) => {
                return Ruling::default();
            }
        };
        let fields = match &self.seat.agent {
            None => telling::begin(source, who.model, who.agent, who.title),
            Some(_) => Map::new(),
        };
        self.fire(Firing { occasion, subject, call: None, fields }, cancel).await
    }

    /// The user said something.
    pub(crate) async fn prompt(
        self: &Arc<Self>,
        entry: EntryId,
        prompt: &str,
        cancel: &CancellationToken,
    ) -> Ruling {
        self.take_up(entry);
        let (occasion, fields) = (Occasion::UserPromptSubmit, telling::prompt(prompt));
        let firing = Firing { occasion, subject: Subject::Nothing, call: None, fields };
        self.fire(firing, cancel).await
    }

    /// A call is about to be judged.
    pub(crate) async fn before_tool(
        self: &Arc<Self>,
        call: ToolCall<'_>,
        cancel: &CancellationToken,
    ) -> Ruling {
        let fields = telling::call(call.call, &self.seat.fence);
        self.fire(self.about(Occasion::PreToolUse, call, fields), cancel).await
    }

    /// Somebody would be asked about a call; `grants` are the rules a lasting yes would make.
    pub(crate) async fn permission(
        self: &Arc<Self>,
        call: ToolCall<'_>,
        grants: &[Rule],
        cancel: &CancellationToken,
    ) -> Ruling {
        let fields = telling::permission(call.call, &self.seat.fence, grants);
        self.fire(self.about(Occasion::PermissionRequest, call, fields), cancel).await
    }

    /// A call has run; `shown` is what faces show of it.
    pub(crate) async fn after_tool(
        self: &Arc<Self>,
        call: ToolCall<'_>,
        (result, shown): (&CallResult, Option<&Block>),
        took: Duration,
        cancel: &CancellationToken,
    ) -> Ruling {
        let (fence, done) = (&self.seat.fence, (result, shown));
        let fields = telling::result(call.call, fence, done, took, cancel.is_cancelled());
        let occasion = match result.outcome {
            Outcome::Done => Occasion::PostToolUse,
            Outcome::Failed => Occasion::PostToolUseFailure,
        };
        self.fire(self.about(occasion, call, fields), cancel).await
    }

    /// What waits for the beginning of this session.
    pub(crate) fn begin_occasion(&self) -> Occasion {
        if self.seat.agent.is_some() { Occasion::SubagentStart } else { Occasion::SessionStart }
    }

    /// What waits for the end of this session's turns.
    pub(crate) fn stop_occasion(&self) -> Occasion {
        if self.seat.agent.is_some() { Occasion::SubagentStop } else { Occasion::Stop }
    }

    /// The model has no more to do; `held` is how often it was made to go on already.
    pub(crate) async fn stop(
        self: &Arc<Self>,
        answer: &str,
        held: u32,
        cancel: &CancellationToken,
    ) -> Ruling {
        let fields = telling::stop(answer, held);
        let subject = self.seat.agent.as_ref();
        let subject = subject.map_or(Subject::Nothing, |agent| Subject::Word(&agent.kind));
        let firing = Firing { occasion: self.stop_occasion(), subject, call: None, fields };
        self.fire(firing, cancel).await
    }

    /// The context is about to be summarised.
    pub(crate) async fn compact(
        self: &Arc<Self>,
        trigger: Trigger,
        focus: Option<&str>,
        cancel: &CancellationToken,
    ) -> Ruling {
        let word = match trigger {
            Trigger::Manual => "manual",
            Trigger::Auto => "auto",
        };
        let fields = telling::compact(word, focus);
        let (occasion, subject) = (Occasion::PreCompact, Subject::Word(word));
        self.fire(Firing { occasion, subject, call: None, fields }, cancel).await
    }

    /// Something waits for the user. Nobody waits for the handlers.
    pub(crate) fn notify(self: &Arc<Self>, kind: &'static str, message: String) {
        if !self.watches(Occasion::Notification) {
            return;
        }
        let hooks = self.clone();
        self.background.spawn(async move {
            let fields = telling::notification(kind, &message);
            let (occasion, subject) = (Occasion::Notification, Subject::Word(kind));
            let cancel = hooks.background.token().clone();
            hooks.fire(Firing { occasion, subject, call: None, fields }, &cancel).await;
        });
    }

    /// The session is over, for now: should it go on, it begins again. Nobody waits for the handlers.
    pub(crate) fn part(self: &Arc<Self>, end: End) {
        if self.begun.swap(false, Ordering::Relaxed) {
            let hooks = self.clone();
            self.background.spawn(async move { hooks.tell_end(end).await });
        }
    }

    /// The session is closed.
    pub(crate) async fn end(self: &Arc<Self>, end: End) {
        if self.begun.swap(false, Ordering::Relaxed) {
            self.tell_end(end).await;
        }
        self.close().await;
    }

    async fn tell_end(self: &Arc<Self>, end: End) {
        if self.watches(Occasion::SessionEnd) {
            let (occasion, subject) = (Occasion::SessionEnd, Subject::Word(end.word()));
            let fields = telling::end(end.word());
            let firing = Firing { occasion, subject, call: None, fields };
            self.fire(firing, &CancellationToken::new()).await;
        }
    }

    fn about<'a>(
        &'a self,
        occasion: Occasion,
        call: ToolCall<'a>,
        fields: Map<String, Value>,
    ) -> Firing<'a> {
        let tool = &call.call.name;
        let (actions, fence) = (call.actions, &self.seat.fence);
        let judged = (!actions.is_empty()).then_some(Judged { tool, actions, fence });
        Firing { occasion, subject: Subject::Tool(tool), call: judged, fields }
    }
}
