//! What hooks do to a call: they may forbid or change it, answer for the user, and speak to the model.

use std::borrow::Cow;
use std::time::Duration;

use base::Block;
use base::protocol::Scope;
use base::transcript::{Call, CallInput, CallResult, Outcome, Piece};
use guard::{Action, Decision, Taint, Verdict};
use tools::registry::AnyCall;
use tools::{ToolError, claude};

use super::{Answer, Course, Dispatch, Ended};
use crate::hooks::{Occasion, Ruling, ToolCall, fragment};

/// A call as hooks leave it.
pub(super) struct Heard {
    pub(super) ready: Box<dyn AnyCall>,
    pub(super) actions: Vec<Action>,
    /// What they want to happen, and why.
    pub(super) wish: Option<(Decision, String)>,
}

impl Dispatch<'_> {
    /// Lets hooks see a call before it is judged. A changed one is judged as it is then.
    pub(super) async fn before(
        &self,
        call: &Call,
        ready: Box<dyn AnyCall>,
        course: &mut Course,
    ) -> Result<Heard, ToolError> {
        let actions = ready.actions(self.workspace)?;
        if !self.hooks.watches(Occasion::PreToolUse) {
            return Ok(Heard { ready, actions, wish: None });
        }
        let told = ToolCall { call, actions: &actions };
        let ruling = self.hooks.before_tool(told, self.cancel).await;
        if self.cancel.is_cancelled() {
            // Nobody has judged it: it must not run, however quick it is.
            return Err(ToolError::Cancelled);
        }
        course.hear(Occasion::PreToolUse, &ruling);
        let changed = ruling.changed(&told.input(self.workspace.fence.folder()));
        let wish = ruling.decision.map(|decision| (decision, ruling.reason.unwrap_or_default()));
        let Some(changed) = changed else { return Ok(Heard { ready, actions, wish }) };
        let input = claude::ours(&call.name, changed);
        let other = Call { input: CallInput::sound(input.clone()), ..call.clone() };
        let ready = self.prepare(&other).map_err(|error| {
            ToolError::Refused(format!("a hook changed the call's input, and now: {error}"))
        })?;
        let actions = ready.actions(self.workspace)?;
        course.title = ready.title();
        course.input = Some(input);
        Ok(Heard { ready, actions, wish })
    }

    /// The lock's verdict with what hooks want. They may forbid anything and ask about anything; what they
    /// allow is not asked, unless it is asked about every time, by a rule, or because of what was read.
    pub(super) fn weigh(
        &self,
        call: &Call,
        actions: &[Action],
        mut verdict: Verdict,
        wish: Option<(Decision, String)>,
    ) -> Verdict {
        let Some((decision, reason)) = wish else { return verdict };
        match decision {
            Decision::Deny => {
                verdict.decision = Decision::Deny;
                verdict.reason = format!("a hook said no: {reason}");
            }
            Decision::Ask if verdict.decision == Decision::Allow => {
                verdict.decision = Decision::Ask;
                verdict.reason = format!("a hook wants it asked about: {reason}");
                verdict.grants.clear();
            }
            Decision::Allow if verdict.rule.is_none() && self.yields(call, actions, &verdict) => {
                verdict.decision = Decision::Allow;
            }
            Decision::Ask | Decision::Allow => {}
        }
        verdict
    }

    /// Whether a question gives way to a hook's yes: one that a lasting yes would lift, and that is not asked
    /// because of words nobody vouches for.
    fn yields(&self, call: &Call, actions: &[Action], verdict: &Verdict) -> bool {
        let is_usual = || {
            let policy = self.live.policy();
            self.taint == Taint::Clean
                || policy.decide(&call.name, actions, &Taint::Clean).reason == verdict.reason
        };
        verdict.decision == Decision::Ask && !verdict.grants.is_empty() && is_usual()
    }

    /// The answer hooks give in the user's place; none if they give none.
    pub(super) async fn answer_of_hooks(
        &self,
        call: &Call,
        actions: &[Action],
        verdict: &Verdict,
        course: &mut Course,
    ) -> Option<Answer> {
        if !self.hooks.watches(Occasion::PermissionRequest) {
            return None;
        }
        let call = course.as_it_is(call);
        let told = ToolCall { call: &call, actions };
        let ruling = self.hooks.permission(told, &verdict.grants, self.cancel).await;
        course.hear(Occasion::PermissionRequest, &ruling);
        match ruling.decision? {
            Decision::Allow if self.yields(&call, actions, verdict) => {
                Some(Answer::Yes(Scope::Once, Vec::new()))
            }
            Decision::Deny => {
                let reason = ruling.reason.unwrap_or_default();
                Some(Answer::No(Ended::Denied(format!("a hook said no: {reason}"))))
            }
            Decision::Allow | Decision::Ask => None,
        }
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
