//! Answers to look-ups: how things stand at the start, lists, sessions that are opened.

use base::protocol::TrustState;
use base::protocol::{Place, Reply};

use super::asked::Asked;
use super::list::{self, List};
use super::{Linear, Member, REST, STATUS};
use crate::message::{Asker, Effect};

impl Linear {
    /// Takes an answer.
    pub(super) fn look(&mut self, asker: Asker, reply: Reply) -> Vec<Effect> {
        match reply {
            Reply::Place(place) if asker == Asker::Place => return self.greet(&place),
            Reply::Place(place) => {
                list::tell_place(&place, &mut self.voice);
                self.voice.say("Status: nothing was said yet.");
            }
            Reply::State(state) if asker == REST => {
                return self.rested(state.running_since.is_some());
            }
            Reply::State(state) => {
                self.is_running = state.running_since.is_some();
                if asker == STATUS {
                    list::tell_session(&state, &mut self.voice);
                    self.tell_crew();
                }
                self.waiting = state.waiting;
                // What goes on in a session that was opened is told as if it came now.
                if matches!(asker, Asker::State(_)) {
                    state.going_on.into_iter().for_each(|event| self.hear(event));
                }
            }
            Reply::Entries { entries, .. } => {
                for entry in &entries {
                    self.voice.read_out(entry);
                }
            }
            // A question that was asked meanwhile has the numbers.
            Reply::Sessions { sessions } if self.questions.is_empty() => {
                self.list = List::sessions(&sessions, &mut self.voice);
            }
            Reply::Models { models } if self.questions.is_empty() => {
                self.list = List::models(&models, &mut self.voice);
            }
            Reply::Children { .. }
            | Reply::Sessions { .. }
            | Reply::Models { .. }
            | Reply::Found { .. }
            | Reply::Offers { .. }
            | Reply::Files { .. }
            | Reply::History { .. }
            | Reply::Changes { .. }
            | Reply::Checkpoints { .. }
            | Reply::Context(_)
            | Reply::Recalled { .. }
            | Reply::Providers { .. }
            | Reply::Servers { .. } => {}
        }
        Vec::new()
    }

    fn tell_crew(&mut self) {
        for Member { name, does } in self.crew.values() {
            self.voice.say(&format!("Status: agent {name}: {does}"));
        }
        if !self.questions.is_empty() {
            self.voice.say("Status: a question waits. Enter alone reads it again.");
        }
    }

    fn greet(&mut self, place: &Place) -> Vec<Effect> {
        list::tell_place(place, &mut self.voice);
        if let Some(file) = &place.init {
            self.voice.say(&format!("There is no {file} yet: /init has the model write it."));
        }
        self.voice.say("Type a line and press Enter. /help lists commands, /quit ends.");
        if matches!(place.trust, TrustState::Unknown | TrustState::Changed) {
            let (folder, files) = (place.folder.clone(), place.untrusted.clone());
            self.questions.push_front(Asked::Trust { folder, files });
        }
        self.settle_in()
    }

    /// It is known how things stand: lines count from now on, those that came before included.
    fn settle_in(&mut self) -> Vec<Effect> {
        let Some(held) = self.held.take() else { return Vec::new() };
        let mut effects = self.next_question();
        for line in held {
            effects.extend(self.take(line.trim()));
        }
        effects
    }

    /// A look-up has failed that others wait for.
    pub(super) fn unanswered(&mut self, asker: Asker) -> Vec<Effect> {
        if asker == Asker::Place {
            self.settle_in()
        } else if asker == REST {
            vec![Effect::Quit]
        } else {
            Vec::new()
        }
    }
}
