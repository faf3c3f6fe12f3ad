//! What hooks do to a call: they may forbid or change it, answer for the user, and speak to the model.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use base::protocol::Scope;
use base::transcript::{Call, CallInput, CallResult, Outcome, Piece};
use base::{Block, Event};
use guard::{Action, Decision, Taint, Verdict};
use tools::registry::AnyCall;
use tools::{ToolError, claude};

use super::{Course, Dispatch, Ended, Meant, failed};
use crate::hooks::{Lasting, Occasion, Ruling, ToolCall, fragment};

/// A call as hooks leave it.
pub(super) struct Heard {
    pub(super) ready: Box<dyn AnyCall>,
    pub(super) actions: Vec<Action>,
    wishes: Vec<Wish>,
}

/// What the hooks of an event want to happen to a call.
struct Wish {
    occasion: Occasion,
    decision: Decision,
    reason: String,
}

impl Dispatch<'_> {
    /// What becomes of a call: hooks see it before it is judged, and again where somebody would be asked.
    pub(super) async fn hear_out(
        &self,
        meant: &Meant<'_>,
        ready: Box<dyn AnyCall>,
        course: &mut Course,
    ) -> Result<(Heard, Verdict), Ended> {
        let actions = self.foreseen(&meant.call, &*ready, course).await?;
        let mut heard = Heard { ready, actions, wishes: Vec::new() };
        if self.hooks.watches(Occasion::PreToolUse) {
            let told = ToolCall { call: &meant.call, actions: &heard.actions };
            let ruling = self.hooks.before_tool(told, self.cancel).await;
            heard = self.heed(meant, heard, (Occasion::PreToolUse, &ruling), course).await?;
        }
        let verdict = self.verdict(&meant.call, &heard.actions, &heard.wishes).await;
        if verdict.decision != Decision::Ask || !self.hooks.watches(Occasion::PermissionRequest) {
            return Ok((heard, verdict));
        }
        let began = Instant::now();
        let call = course.as_it_is(&meant.call);
        let told = ToolCall { call: &call, actions: &heard.actions };
        let ruling = self.hooks.permission(told, &verdict.grants, self.cancel).await;
        course.asked += began.elapsed();
        // Nothing lasts of a yes to a question that no hook may answer.
        let counts = ruling.decision == Some(Decision::Allow)
            && self.yields(&meant.call.name, &heard.actions, &verdict);
        let heard = self.heed(meant, heard, (Occasion::PermissionRequest, &ruling), course).await?;
        let verdict = self.verdict(&meant.call, &heard.actions, &heard.wishes).await;
        if counts && verdict.decision == Decision::Allow {
            self.keep(ruling.lasting, course);
        }
        Ok((heard, verdict))
    }

    /// Does to a call what the hooks of an event want. A changed one is prepared anew, and judged as it is then.
    async fn heed(
        &self,
        meant: &Meant<'_>,
        mut heard: Heard,
        (occasion, ruling): (Occasion, &Ruling),
        course: &mut Course,
    ) -> Result<Heard, Ended> {
        if self.cancel.is_cancelled() {
            // Nobody has judged it: it must not run, however quick it is.
            return Err(failed(&ToolError::Cancelled));
        }
        course.hear(occasion, ruling);
        let call = course.as_it_is(&meant.call);
        let told = ToolCall { call: &call, actions: &heard.actions };
        if let Some(changed) = ruling.changed(&told.input(&self.workspace.fence)) {
            let input = claude::ours(&call.name, changed);
            heard.ready = meant.tool.clone().prepare(input.clone()).map_err(|error| {
                Ended::Failed(format!("a hook changed the call's input, and now: {error}"))
            })?;
            heard.actions = self.foreseen(&meant.call, &*heard.ready, course).await?;
            // A yes was said to another call.
            heard.wishes.retain(|wish| wish.decision != Decision::Allow);
            course.title = heard.ready.title();
            course.input = Some(input);
        }
        let wish = ruling.wish().map(|(decision, reason)| Wish { occasion, decision, reason });
        heard.wishes.extend(wish);
        Ok(heard)
    }

    /// The lock's verdict, with what hooks want.
    async fn verdict(&self, call: &Call, actions: &[Action], wishes: &[Wish]) -> Verdict {
        if actions.iter().any(|action| matches!(action, Action::Run { .. })) {
            self.live.look_for_cage().await;
        }
        let verdict = self.live.policy().decide(&call.name, actions, &self.taint);
        wishes.iter().fold(verdict, |verdict, wish| self.weigh(&call.name, actions, verdict, wish))
    }

    /// Keeps what hooks want to hold beyond a call they were right to allow.
    fn keep(&self, lasting: Lasting, course: &mut Course) {
        if !lasting.rules.is_empty() {
            course.granted = Some((Scope::Session, lasting.rules));
        }
        if let Some(mode) = lasting.mode {
            self.live.set_mode(mode);
            let (session, mode) = (self.workspace.session, Some(mode));
            let (title, model, effort) = (None, None, None);
            self.events.publish(Event::SessionChanged { session, title, model, effort, mode });
        }
    }

    /// What a call would do, found out first where that takes looking or asking somebody; what it looks at for
    /// that is judged before, for already its errors may quote it.
    async fn foreseen(
        &self,
        call: &Call,
        ready: &dyn AnyCall,
        course: &mut Course,
    ) -> Result<Vec<Action>, Ended> {
        let failed = |error: ToolError| failed(&error);
        let looked_at = ready.looks_at(self.workspace).map_err(failed)?;
        if !looked_at.is_empty() {
            let verdict = self.verdict(call, &looked_at, &[]).await;
            self.permit(call, ready, verdict, course).await?;
        }
        let foreseeing = self.cancel.run_until_cancelled(ready.foresee(self.workspace)).await;
        foreseeing.unwrap_or(Err(ToolError::Cancelled)).map_err(failed)?;
        ready.actions(self.workspace).map_err(failed)
    }

    /// A verdict with what hooks want. They may forbid anything and ask about anything; what they allow is not
    /// asked, unless it is asked about every time, by a rule, or because of what was read.
    fn weigh(&self, tool: &str, actions: &[Action], mut verdict: Verdict, wish: &Wish) -> Verdict {
        let may_lift = wish.occasion == Occasion::PermissionRequest || verdict.rule.is_none();
        match wish.decision {
            Decision::Deny => {
                verdict.decision = Decision::Deny;
                verdict.reason = format!("a hook said no: {}", wish.reason);
            }
            Decision::Ask if verdict.decision == Decision::Allow => {
                verdict.decision = Decision::Ask;
                verdict.reason = format!("a hook wants it asked about: {}", wish.reason);
                verdict.grants.clear();
            }
            Decision::Allow if may_lift && self.yields(tool, actions, &verdict) => {
                verdict.decision = Decision::Allow;
            }
            Decision::Ask | Decision::Allow => {}
        }
        verdict
    }

    /// Whether a question gives way to a hook's yes: one that a lasting yes would lift, and that is not asked
    /// because of words nobody vouches for.
    fn yields(&self, tool: &str, actions: &[Action], verdict: &Verdict) -> bool {
        let is_usual = || {
            let policy = self.live.policy();
            self.taint == Taint::Clean
                || policy.decide(tool, actions, &Taint::Clean).reason == verdict.reason
        };
        verdict.decision == Decision::Ask && !verdict.grants.is_empty() && is_usual()
    }

    /// Lets hooks see what came of a call, and speak to the model about it.
    pub(super) async fn after(
        &self,
        call: &Call,
        (result, shown): (&mut CallResult, &Block),
        took: Duration,
        course: &mut Course,
    ) {
        let occasion = match result.outcome {
            Outcome::Done => Occasion::PostToolUse,
            Outcome::Failed => Occasion::PostToolUseFailure,
        };
        if !self.hooks.watches(occasion) {
            return;
        }
        let call = course.as_it_is(call);
        let told = ToolCall { call: &call, actions: &course.actions };
        let ruling = self.hooks.after_tool(told, (result, Some(shown)), took, self.cancel).await;
        if let Some(text) = &ruling.output
            && let Some(Piece::Text { text: old }) = result.pieces.first_mut()
        {
            old.clone_from(text);
        }
        course.told.extend(ruling.no().map(|reason| fragment(occasion, reason)));
        course.hear(occasion, &ruling);
    }
}

impl Course {
    fn hear(&mut self, occasion: Occasion, ruling: &Ruling) {
        self.told.extend(ruling.context.iter().map(|text| fragment(occasion, text)));
        self.halt = ruling.halt.clone().or(self.halt.take());
    }

    /// The call with the input it has by now.
    fn as_it_is<'a>(&self, call: &'a Call) -> Cow<'a, Call> {
        match &self.input {
            Some(input) => {
                let input = CallInput::sound(input.clone());
                Cow::Owned(Call { input, ..call.clone() })
            }
            None => Cow::Borrowed(call),
        }
    }
}
