//! What hooks do to a call: they may forbid or change it, answer for the user, and speak to the model.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use base::protocol::Scope;
use base::transcript::{Call, CallInput, CallResult, Outcome, Piece};
use base::{Block, Event};
use guard::{Action, Decision, Reason, Verdict};
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
        let counts = ruling.decision == Some(Decision::Allow) && may_be_answered_by_hook(&verdict);
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
        wishes.iter().fold(verdict, weigh)
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

/// A verdict with what hooks want. They may forbid anything and ask about anything; what they allow is not asked,
/// unless it is asked about every time, by a rule, or because of what was read.
fn weigh(mut verdict: Verdict, wish: &Wish) -> Verdict {
    let may_lift = wish.occasion == Occasion::PermissionRequest || verdict.rule().is_none();
    let message = || wish.reason.clone();
    match wish.decision {
        Decision::Deny => {
            verdict.decision = Decision::Deny;
            verdict.reason = Reason::DeniedByHook { message: message() };
            verdict.also.clear();
        }
        Decision::Ask if verdict.decision == Decision::Allow => {
            verdict.decision = Decision::Ask;
            verdict.reason = Reason::AskedByHook { message: message() };
            verdict.grants.clear();
        }
        Decision::Allow if may_lift && may_be_answered_by_hook(&verdict) => {
            verdict.decision = Decision::Allow;
        }
        Decision::Ask | Decision::Allow => {}
    }
    verdict
}

/// Whether a hook's yes answers a question: one that a lasting yes would lift, and none of whose reasons is untrusted
/// content in the context.
fn may_be_answered_by_hook(verdict: &Verdict) -> bool {
    verdict.decision == Decision::Ask
        && !verdict.grants.is_empty()
        && !verdict.asks_because_of_taint()
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

#[cfg(test)]
mod tests {
    use std::slice;

    use base::protocol::Mode;
    use guard::policy::CageState;
    use guard::{Fence, Policy, Rules, Taint};

    use super::*;

    /// What becomes of a call that does `actions` when a hook says yes.
    fn decision_after_yes(actions: &[Action], occasion: Occasion, taint: &Taint) -> Decision {
        let (rules, mode, bounds) = (Rules::default(), Mode::Default, Vec::new());
        let fence = Fence::new(std::path::Path::new("/"), &[], std::path::Path::new("/")).unwrap();
        let policy = Policy { rules, mode, fence, cage: CageState::Works, bounds };
        let verdict = policy.decide("download", actions, taint);
        assert_eq!(verdict.decision, Decision::Ask);
        let (decision, reason) = (Decision::Allow, String::new());
        weigh(verdict, &Wish { occasion, decision, reason }).decision
    }

    #[test]
    fn a_hook_answers_usual_questions_and_none_because_of_taint() {
        let fetch = Action::Fetch("https://example.com".parse().unwrap());
        let path = std::path::PathBuf::from("/srv/new/file");
        let edit = Action::Edit(guard::Spot { asked: path.clone(), real: path, inside: true });
        let tainted = Taint::From("a page".to_owned());
        for occasion in [Occasion::PreToolUse, Occasion::PermissionRequest] {
            let after = |actions: &[Action], taint| decision_after_yes(actions, occasion, taint);
            assert_eq!(after(slice::from_ref(&fetch), &Taint::Clean), Decision::Allow);
            assert_eq!(after(slice::from_ref(&fetch), &tainted), Decision::Ask);
            // It changes a file, which taint has nothing to do with: the reason that comes first.
            assert_eq!(after(slice::from_ref(&edit), &tainted), Decision::Allow);
            let both = [edit.clone(), fetch.clone()];
            assert_eq!(after(&both, &Taint::Clean), Decision::Allow);
            assert_eq!(after(&both, &tainted), Decision::Ask);
        }
    }
}
