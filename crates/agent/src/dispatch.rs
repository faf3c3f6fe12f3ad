//! Calls to results: judged, asked about, run, bounded, masked. Every call gets exactly one result, and a
//! failure is a result the model can read.

mod hooked;

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::protocol::{Approval, Scope};
use base::transcript::{Call, CallInput, CallResult, Mended, Outcome, Piece, Shown, ToolSpec};
use base::{Block, CallId, Event, Origin, Part, PartBody};
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use guard::{Action, Cage, Decision, Policy, Rule, Taint, Verdict};
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;
use tools::mcp::{Found, USE_TOOL};
use tools::registry::{AnyCall, AnyTool};
use tools::{Effect, Output, Progress, ToolCtx, ToolError, Workspace};

use crate::approvals::Waiting;
use crate::events::Events;
use crate::hooks::{Hooks, Occasion};
use crate::live::Live;
use crate::mind::{Mind, Presence};
use hooked::Heard;

/// How long a cancelled tool may take to put its things in order.
const GRACE: Duration = Duration::from_millis(80);
/// What the model is told of a call that was cancelled.
const CANCELLED: &str = "The user stopped this call before it had a result.";
/// What the model is told of calls that did not run because the turn ended.
pub(crate) const NOT_RUN: &str = "This call did not run: the turn ended before it.";

/// What calls of one step are run with.
pub(crate) struct Dispatch<'a> {
    pub(crate) mind: &'a Mind,
    pub(crate) events: &'a Events,
    pub(crate) waiting: &'a Waiting,
    pub(crate) workspace: &'a Arc<Workspace>,
    pub(crate) live: &'a Live,
    /// The tools the model was offered: it has no others.
    pub(crate) offered: &'a [ToolSpec],
    /// The sub-agent whose calls they are; none for the main one.
    pub(crate) agent: Option<String>,
    pub(crate) hooks: &'a Arc<Hooks>,
    pub(crate) taint: Taint,
    pub(crate) cancel: &'a CancellationToken,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    /// The result, as the transcript keeps it.
    pub(crate) part: Part,
    /// Rules the user's yes made, with how far they reach.
    pub(crate) granted: Option<(Scope, Vec<Rule>)>,
    /// Why hooks want the turn to end with it.
    pub(crate) halt: Option<String>,
}

/// Calls that ran while the model still talked.
pub(crate) type Early = HashMap<CallId, Finished>;

/// What becomes known of a call on its way.
#[derive(Debug, Default)]
struct Course {
    /// One line for a face.
    title: String,
    granted: Option<(Scope, Vec<Rule>)>,
    /// What hooks tell the model beside the result.
    told: Vec<String>,
    halt: Option<String>,
    /// How long somebody thought about whether it may run.
    asked: Duration,
    /// What it does; known once it may run.
    actions: Vec<Action>,
    /// The input hooks have put in place of the model's.
    input: Option<Map<String, Value>>,
}

/// What a call means: the tool that runs, and the call under the name that rules and hooks know.
struct Meant<'a> {
    tool: Arc<dyn AnyTool>,
    call: Cow<'a, Call>,
}

impl Meant<'_> {
    fn prepare(&self) -> Result<Box<dyn AnyCall>, ToolError> {
        self.tool.clone().prepare(self.call.input.value.clone())
    }
}

/// How a call ended, before it is put into words.
enum Ended {
    Done(Output),
    Failed(String),
    /// It failed, and tells words from elsewhere.
    Told(Output),
    Denied(String),
}

impl Dispatch<'_> {
    /// Runs calls while the model still talks: those before its first call that may change something, as
    /// long as they need no question.
    pub(crate) async fn run_early(&self, mut calls: UnboundedReceiver<Call>) -> Early {
        let mut early = Early::new();
        let mut running = FuturesUnordered::new();
        let mut open = true;
        loop {
            tokio::select! {
                call = calls.recv(), if open => match call {
                    Some(call) if self.needs_nothing(&call) => running.push(async move {
                        let finished = self.one(&call).await;
                        (call.id, finished)
                    }),
                    Some(_) | None => open = false,
                },
                Some((id, finished)) = running.next() => drop(early.insert(id, finished)),
                else => return early,
            }
        }
    }

    /// Runs the calls of one answer that have not run early: neighbours that only read, or work apart,
    /// run beside each other, the others one by one, in the model's order. One result a call, in the order of the
    /// calls; none runs after one with which hooks end the turn.
    pub(crate) async fn run(&self, calls: &[Call], mut early: Early) -> Vec<Finished> {
        let mut finished = Vec::with_capacity(calls.len());
        let mut rest = calls;
        while let Some(first) = rest.first() {
            let is_over = finished.iter().any(|done: &Finished| done.halt.is_some());
            let count = if let Some(done) = early.remove(&first.id) {
                finished.push(done);
                1
            } else if is_over {
                finished.push(Finished { part: first.failed(NOT_RUN), granted: None, halt: None });
                1
            } else {
                let mine = |call: &&Call| self.runs_beside(call) && !early.contains_key(&call.id);
                let count = rest.iter().take_while(mine).count().max(1);
                finished.extend(join_all(rest[..count].iter().map(|call| self.one(call))).await);
                count
            };
            rest = &rest[count..];
        }
        finished
    }

    /// Whether a call only reads and is allowed without a question.
    fn needs_nothing(&self, call: &Call) -> bool {
        let is_free = || {
            let meant = self.meant(call).ok().filter(|it| it.tool.effect() == Effect::Read)?;
            let actions = meant.prepare().ok()?.actions(self.workspace).ok()?;
            let verdict = self.live.policy().decide(&meant.call.name, &actions, &self.taint);
            (verdict.decision == Decision::Allow).then_some(())
        };
        // Hooks that are asked first may ask the user.
        !self.hooks.watches(Occasion::PreToolUse) && is_free().is_some()
    }

    /// A call nobody knows fails by itself, in its turn.
    fn runs_beside(&self, call: &Call) -> bool {
        let effect = self.meant(call).map_or(Effect::Write, |meant| meant.tool.effect());
        matches!(effect, Effect::Read | Effect::Apart)
    }

    async fn one(&self, call: &Call) -> Finished {
        let session = self.workspace.session;
        let began = Instant::now();
        let mut course = Course { title: call.name.clone(), ..Course::default() };
        let meant = self.meant(call);
        let known = meant.as_ref().map_or(call, |meant| &meant.call);
        let ready = meant.as_ref().map(|meant| (meant, meant.prepare()));
        let ended = match ready {
            Ok((meant, Ok(ready))) => {
                course.title = ready.title();
                self.judge_and_run(meant, ready, &mut course).await
            }
            Ok((_, Err(error))) => failed(&error),
            Err(error) => failed(error),
        };
        let has_run = !matches!(ended, Ended::Denied(_));
        let (outcome, output) = match ended {
            Ended::Done(output) => (Outcome::Done, output),
            Ended::Failed(text) => (Outcome::Failed, Output::text(text).from(Origin::System)),
            Ended::Told(output) => (Outcome::Failed, output),
            Ended::Denied(reason) => {
                self.events.publish(Event::Denied {
                    session,
                    call: call.id.clone(),
                    tool: known.name.clone(),
                    reason: reason.clone(),
                });
                let text = format!("Permission denied: {reason}");
                (Outcome::Failed, Output::text(text).from(Origin::System))
            }
        };
        let text = self.mind.redactor.text(&output.text).into_owned();
        let body = self.shown(output.body, &text);
        let mut pieces = vec![Piece::Text { text }];
        pieces.extend(output.files.into_iter().map(Piece::File));
        let mut result = CallResult {
            call: call.id.clone(),
            name: call.name.clone(),
            outcome,
            pieces,
            shown: None,
        };
        let took = began.elapsed().saturating_sub(course.asked);
        if has_run {
            self.after(known, (&mut result, &body), took, &mut course).await;
        }
        let title = output.title.unwrap_or(course.title);
        result.shown = Some(Box::new(Shown {
            title: title.clone(),
            body: (!is_text_of(&body, &result)).then(|| body.clone()),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }));
        result.pieces.extend(course.told.into_iter().map(|text| Piece::Text { text }));
        let (call, body) = (call.id.clone(), Some(body));
        self.events.publish(Event::ToolDone { session, call, outcome, title, body });
        let part = Part::new(PartBody::Result(result), output.origin);
        Finished { part, granted: course.granted, halt: course.halt }
    }

    /// What faces see of a result: secrets are masked there, too.
    fn shown(&self, body: Option<Block>, text: &str) -> Block {
        let mask = |text: String| self.mind.redactor.text(&text).into_owned();
        match body {
            None => Block::Text { text: text.to_owned() },
            Some(Block::Text { text }) => Block::Text { text: mask(text) },
            Some(Block::Diff { path, unified }) => Block::Diff { path, unified: mask(unified) },
            Some(
                other @ (Block::Table { .. }
                | Block::Image { .. }
                | Block::Todos { .. }
                | Block::Tree { .. }),
            ) => other,
        }
    }

    /// What a call means. A tool of a server that came later can be called by its name, too.
    fn meant<'c>(&self, call: &'c Call) -> Result<Meant<'c>, ToolError> {
        if let Some(Mended::Broken(_)) = &call.input.mended {
            let why = "they are not JSON. Send one JSON object that fits the tool's schema.";
            return Err(ToolError::Arguments(why.to_owned()));
        }
        let is_offered = |name: &str| self.offered.iter().any(|tool| tool.name == name);
        let is_lent = call.name.starts_with("mcp_") && is_offered(USE_TOOL);
        if (is_lent || is_offered(&call.name))
            && let Some(found) = self.workspace.mcp.find(&call.name, &call.input.value)
        {
            let Found { tool, input } = found?;
            let (name, input) = (tool.name().to_owned(), CallInput::sound(input));
            return Ok(Meant { tool, call: Cow::Owned(Call { id: call.id.clone(), name, input }) });
        }
        let tool = self.mind.registry.get(&call.name).filter(|_| is_offered(&call.name));
        let Some(tool) = tool else {
            let names: Vec<&str> = self.offered.iter().map(|tool| tool.name.as_str()).collect();
            let names = names.join(", ");
            let text = format!("There is no tool `{}`. The tools are: {names}.", call.name);
            return Err(ToolError::Refused(text));
        };
        Ok(Meant { tool: tool.clone(), call: Cow::Borrowed(call) })
    }

    async fn judge_and_run(
        &self,
        meant: &Meant<'_>,
        ready: Box<dyn AnyCall>,
        course: &mut Course,
    ) -> Ended {
        let call = &*meant.call;
        let (heard, verdict) = match self.hear_out(meant, ready, course).await {
            Ok(heard) => heard,
            Err(ended) => return ended,
        };
        let Heard { ready, actions, .. } = heard;
        let ctx = match self.permit(call, &*ready, verdict, course).await {
            Ok(ctx) => ctx,
            Err(ended) => return ended,
        };
        course.actions = actions;
        self.events.publish(Event::ToolStarted {
            session: self.workspace.session,
            call: call.id.clone(),
            title: course.title.clone(),
        });
        self.run_one(ready, &ctx).await
    }

    /// Does as a verdict says, and asks the user if need be. Gives what the call may run with.
    async fn permit(
        &self,
        call: &Call,
        ready: &dyn AnyCall,
        verdict: Verdict,
        course: &mut Course,
    ) -> Result<ToolCtx, Ended> {
        let ctx = self.ctx(call, self.live.policy(), self.live.cage(verdict.reach));
        match verdict.decision {
            Decision::Deny => return Err(Ended::Denied(verdict.reason.to_string())),
            Decision::Ask => {
                let began = Instant::now();
                let answer = self.ask(ready, &verdict, &course.title, &ctx).await;
                course.asked += began.elapsed();
                match answer {
                    Answer::Yes(Scope::Once, _) => {}
                    Answer::Yes(scope, rules) => course.granted = Some((scope, rules)),
                    Answer::No(ended) => return Err(ended),
                }
            }
            Decision::Allow => {}
        }
        Ok(ctx)
    }

    fn ctx(&self, call: &Call, policy: Arc<Policy>, cage: Option<Arc<Cage>>) -> ToolCtx {
        let (events, session, id) = (self.events.clone(), self.workspace.session, call.id.clone());
        ToolCtx {
            workspace: self.workspace.clone(),
            call: call.id.clone(),
            policy,
            cage,
            cancel: self.cancel.clone(),
            progress: Progress::new(move |body| {
                events.publish(Event::ToolProgress { session, call: id.clone(), body });
            }),
        }
    }

    /// Runs a call. One that is cancelled has a moment to end its processes; one that panics has failed.
    async fn run_one(&self, ready: Box<dyn AnyCall>, ctx: &ToolCtx) -> Ended {
        let running = AssertUnwindSafe(ready.run(ctx)).catch_unwind();
        let out_of_time = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            biased;
            ended = running => match ended {
                Ok(Ok(output)) => Ended::Done(output),
                Ok(Err(error)) => failed(&error),
                Err(_) => Ended::Failed(
                    "The tool broke: a defect of caiman. Do it another way.".to_owned(),
                ),
            },
            () = out_of_time => Ended::Failed(CANCELLED.to_owned()),
        }
    }

    /// Asks the user, if there is one.
    async fn ask(
        &self,
        ready: &dyn AnyCall,
        verdict: &Verdict,
        title: &str,
        ctx: &ToolCtx,
    ) -> Answer {
        if self.mind.presence == Presence::Alone {
            return Answer::No(Ended::Denied(alone(verdict)));
        }
        let session = self.workspace.session;
        let body = ready.preview(ctx).await.map(|body| self.shown(Some(body), ""));
        let message = format!("Caiman asks for permission: {title}");
        self.hooks.notify("permission_prompt", message);
        let pending =
            self.waiting.approval(self.events, session, |request| Event::ApprovalNeeded {
                session,
                request,
                agent: self.agent.clone(),
                call: ctx.call.clone(),
                title: title.to_owned(),
                reason: verdict.reason.to_string(),
                rules: verdict.grants.iter().map(ToString::to_string).collect(),
                risky: verdict.blamed_texts(),
                body,
            });
        match self.cancel.run_until_cancelled(pending.answer()).await.flatten() {
            Some(Approval::Allow { scope, rule }) => {
                // It was read when it was answered.
                let rule = rule.and_then(|text| Rule::parse(&text).ok());
                let rules = rule.map_or_else(|| verdict.grants.clone(), |rule| vec![rule]);
                Answer::Yes(scope, rules)
            }
            Some(Approval::Deny { instead }) => Answer::No(Ended::Denied(match instead {
                Some(words) => format!("the user said no, and: {words}"),
                None => "the user said no. Do not try the same another way.".to_owned(),
            })),
            None => Answer::No(Ended::Failed(CANCELLED.to_owned())),
        }
    }
}

/// Whether what faces see of a result is its own text: then it is kept once.
fn is_text_of(body: &Block, result: &CallResult) -> bool {
    match (body, result.pieces.first()) {
        (Block::Text { text: shown }, Some(Piece::Text { text })) => shown == text,
        (Block::Image { file: shown }, _) => {
            let is_it = |piece: &Piece| matches!(piece, Piece::File(file) if file == shown);
            result.pieces.iter().any(is_it)
        }
        (
            Block::Text { .. }
            | Block::Diff { .. }
            | Block::Table { .. }
            | Block::Todos { .. }
            | Block::Tree { .. },
            _,
        ) => false,
    }
}

/// What the model is told of an error.
fn failed(error: &ToolError) -> Ended {
    match error {
        ToolError::Cancelled => Ended::Failed(CANCELLED.to_owned()),
        ToolError::Told { text, origin, files } => {
            let output = Output::text(text).from(origin.clone());
            Ended::Told(Output { files: files.clone(), ..output })
        }
        ToolError::Arguments(_)
        | ToolError::Path(_)
        | ToolError::Io { .. }
        | ToolError::Refused(_) => Ended::Failed(error.to_string()),
    }
}

enum Answer {
    /// Yes, for how long, and the rules that keep it.
    Yes(Scope, Vec<Rule>),
    No(Ended),
}

/// Why a call that would be asked about is denied when nobody is there, and what would allow it.
fn alone(verdict: &Verdict) -> String {
    let rules: Vec<String> =
        verdict.grants.iter().map(|rule| format!("--allow '{rule}'")).collect();
    let way = if rules.is_empty() { String::new() } else { format!(" ({})", rules.join(" ")) };
    format!("{}; nobody is here to say yes{way}", verdict.reason)
}
