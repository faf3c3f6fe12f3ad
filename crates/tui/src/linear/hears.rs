//! Events of the mind: of the session, and of its sub-agents as far as they matter.

use base::StopReason;
use base::protocol::{Delivery, Ending, Event, HookState, WaitingPrompt};
use base::transcript::Outcome;

use super::asked::{Asked, Permission};
use super::voice::Speaker;
use super::{Linear, Member};
use crate::figures;

impl Linear {
    pub(super) fn hear(&mut self, event: Event) {
        if let Some(session) = event.session().filter(|session| *session != self.session) {
            if self.crew.contains_key(&session) {
                self.hear_crew(event);
            }
            return;
        }
        match event {
            Event::TurnStarted { .. } => self.is_running = true,
            Event::Text { delta, .. } => self.voice.stream(Speaker::Caiman, &delta),
            Event::Reasoning { delta, .. } => self.voice.stream(Speaker::Thought, &delta),
            Event::Appended { .. } => self.voice.finish_line(),
            Event::ToolStarted { call, title, .. } => {
                self.calls.insert(call);
                self.voice.say(&format!("Tool: {title}"));
            }
            Event::ToolDone { call, outcome, title, body, .. } => {
                self.calls.remove(&call);
                let how = match outcome {
                    Outcome::Done => "Tool done",
                    Outcome::Failed => "Tool failed",
                };
                self.voice.say(&format!("{how}: {title}"));
                if let Some(body) = body {
                    self.voice.show(&body);
                }
            }
            Event::Denied { tool, reason, .. } => {
                self.voice.say(&format!("Denied: {tool}: {reason}"));
            }
            Event::Retrying { attempt, wait_ms, reason, .. } => {
                let wait = figures::duration(wait_ms);
                self.voice.say(&format!("Trying again ({attempt}) in {wait}: {reason}"));
            }
            Event::Notice { text, .. } => self.voice.say(&format!("Notice: {text}")),
            Event::TurnDone { stop, ending, usage, cost, .. } => {
                self.is_running = false;
                let cost = cost.map(|cost| format!(", {}", figures::money(cost)));
                let (how, cost) = (how_it_ended(stop, ending), cost.unwrap_or_default());
                self.voice.say(&format!("{how}. {} tokens{cost}.", usage.total()));
            }
            Event::TurnFailed { reason, .. } => {
                self.is_running = false;
                self.voice.say(&format!("Error: {reason}"));
            }
            Event::Waiting { prompts, .. } => self.hear_waiting(prompts),
            Event::Hook { name, occasion, state, .. } => {
                if let HookState::Ended { code, stderr, .. } = state
                    && code != Some(0)
                {
                    let why = stderr.lines().next().unwrap_or_default();
                    self.voice.say(&format!("Hook {name} ({occasion}) failed: {why}"));
                }
            }
            Event::SessionChanged { model, mode, .. } => {
                if let Some(model) = model {
                    self.voice.say(&format!("Notice: {model} answers from now on."));
                }
                if let Some(mode) = mode {
                    self.voice.say(&format!("Notice: Caiman {}.", super::list::mode_words(mode)));
                }
            }
            event @ (Event::ChildStarted { .. }
            | Event::ApprovalNeeded { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }) => self.hear_any(event),
            Event::ToolProgress { .. } | Event::Spent { .. } | Event::CommandDone { .. } => {}
        }
    }

    /// An event of a sub-agent: its steps are told on request only.
    fn hear_crew(&mut self, event: Event) {
        let Some(member) = event.session().and_then(|session| self.crew.get_mut(&session)) else {
            return;
        };
        if let Event::ToolStarted { title, .. } = event {
            member.does = title;
        } else if let Event::TurnDone { session, .. } = event {
            self.voice.say(&format!("Agent {} is done.", member.name));
            self.crew.remove(&session);
        } else if let Event::TurnFailed { session, reason, .. } = event {
            self.voice.say(&format!("Agent {} failed: {reason}", member.name));
            self.crew.remove(&session);
        } else {
            self.hear_any(event);
        }
    }

    /// What matters whoever it is of: the session or one of its sub-agents.
    fn hear_any(&mut self, event: Event) {
        if let Event::ChildStarted { child, agent, .. } = event {
            self.voice.say(&format!("Agent {agent} begins. /status tells what it does."));
            self.crew.insert(child, Member { name: agent, does: "begins".to_owned() });
        } else if let Event::ApprovalNeeded {
            request,
            agent,
            title,
            reason,
            rules,
            risky,
            body,
            ..
        } = event
        {
            let asked = Permission { request, agent, title, reason, rules, risky, body };
            self.ask(Asked::Permission(Box::new(asked)));
        } else if let Event::QuestionAsked { request, questions, .. } = event {
            self.ask(Asked::Words { request, questions, answers: Vec::new() });
        } else if let Event::Settled { request, .. } = event {
            let is_first =
                self.questions.front().is_some_and(|asked| asked.request() == Some(request));
            self.questions.retain(|asked| asked.request() != Some(request));
            if is_first {
                self.voice.say("Notice: the question is settled.");
                self.pose();
            }
        }
    }

    /// Says what becomes of a line that was said while a turn runs.
    fn hear_waiting(&mut self, prompts: Vec<WaitingPrompt>) {
        let is_new =
            |prompt: &&WaitingPrompt| !self.waiting.iter().any(|known| known.entry == prompt.entry);
        let new: Vec<Delivery> =
            prompts.iter().filter(is_new).map(|prompt| prompt.delivery).collect();
        for delivery in new {
            self.voice.say(match delivery {
                Delivery::Steer => "Notice: your line joins the turn.",
                Delivery::Queue => "Notice: your line waits for the turn's end.",
            });
        }
        self.waiting = prompts;
    }
}

fn how_it_ended(stop: StopReason, ending: Ending) -> String {
    match ending {
        Ending::Answered => match stop {
            StopReason::Length => "Ended: output limit reached".to_owned(),
            StopReason::ContextFull => "Ended: context is full".to_owned(),
            StopReason::Refusal => "Ended: declined".to_owned(),
            StopReason::Done
            | StopReason::ToolCalls
            | StopReason::Paused
            | StopReason::Cancelled
            | StopReason::Other => "Done".to_owned(),
        },
        Ending::Cancelled => "Stopped".to_owned(),
        Ending::OverBudget(why) | Ending::GoingInCircles(why) | Ending::Halted(why) => {
            format!("Ended: {why}")
        }
    }
}
