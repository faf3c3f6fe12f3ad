//! A prompt of an editor, from its words to its answer, and taking it back.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    PromptRequest, PromptResponse, SessionId as WireId, StopReason,
};
use base::protocol::{ClientError, Delivery, Op};
use base::{EntryId, Part, SessionId};

use super::methods::refused;
use super::said::{self, Said};
use super::sessions::{parse, wire};
use super::tell;
use super::turns::{Prompt, Wanted};
use super::{Shared, invalid};
use crate::rpc::Fault;

/// How a prompt ends that was taken back.
pub(super) const CANCELLED: StopReason = StopReason::Cancelled;
/// Commands that begin another session, which an editor does by itself.
pub(super) const NOT_HERE: [&str; 2] = ["clear", "new"];

impl Shared {
    /// Says something, and answers when the turn is over.
    pub(super) async fn prompt(
        self: &Arc<Self>,
        asked: PromptRequest,
    ) -> Result<PromptResponse, Fault> {
        let (session, door) = self.open_seat(&asked.session_id)?;
        let (ticket, answered, op) = {
            let mut rooms = self.rooms();
            let seat = rooms.seats.get_mut(&session).ok_or_else(gone)?;
            let said = said::read(&asked.prompt, &seat.folder)?;
            let (op, prompt) = match said {
                Said::Parts(parts) => say(session, parts),
                Said::Command(line) => match called(&line, &seat.agents) {
                    Called::Agent(words) => say(session, vec![Part::user_text(words)]),
                    Called::Command => (Op::Command { session, line }, Prompt::Command),
                    Called::NotHere => {
                        drop(rooms);
                        self.reply(
                            session,
                            "Open a new thread in your editor: it begins a new session.",
                        );
                        return Ok(PromptResponse::new(StopReason::EndTurn));
                    }
                },
            };
            let (ticket, answered) = seat.turns.wait(prompt);
            (ticket, answered, op)
        };
        let is_command = matches!(op, Op::Command { .. });
        let submitted = door.submit(op).await;
        let wanted = {
            let mut rooms = self.rooms();
            let turns = rooms.seats.get_mut(&session).map(|seat| &mut seat.turns);
            match (turns, &submitted) {
                (Some(turns), Ok(())) => turns.taken(ticket),
                (Some(turns), Err(_)) => turns.refused(ticket),
                (None, _) => Wanted::NoLonger,
            }
        };
        match (submitted, wanted) {
            (Ok(()), Wanted::Still) => {}
            (Ok(()), Wanted::NoLonger) => self.stop(session).await,
            (Err(_), Wanted::NoLonger) => return Ok(PromptResponse::new(CANCELLED)),
            (Err(ClientError::Refused(why)), Wanted::Still) if is_command => {
                self.reply(session, &why);
                self.outbox.flushed().await;
                return Ok(PromptResponse::new(StopReason::EndTurn));
            }
            (Err(error), Wanted::Still) => return Err(refused(error)),
        }
        // Whoever would answer is gone only with the session.
        let ended = answered.await.unwrap_or(Ok(CANCELLED));
        ended.map(PromptResponse::new)
    }

    /// Takes back all prompts of a session, running or not.
    pub(super) async fn cancel(self: &Arc<Self>, session: &WireId) {
        if let Ok(session) = parse(session) {
            self.stop(session).await;
        }
    }

    /// Stops the turn of a session and what waits for it.
    pub(super) async fn stop(self: &Arc<Self>, session: SessionId) {
        let stopped = {
            let mut rooms = self.rooms();
            rooms.seats.get_mut(&session).map(|seat| (seat.door.clone(), seat.turns.cancel()))
        };
        let Some((door, (waiting, due))) = stopped else { return };
        // What waits goes first, so that it does not begin when the turn has ended.
        for entry in waiting {
            drop(door.submit(Op::Unsay { session, entry }).await);
        }
        // A turn that has ended meanwhile needs no stop.
        drop(door.submit(Op::Stop { session }).await);
        self.outbox.answer(due);
    }

    /// Words of our own.
    fn reply(&self, session: SessionId, text: &str) {
        self.outbox.tell(&wire(session), vec![tell::words(text)]);
    }
}

/// What a line with a slash calls.
enum Called {
    Command,
    /// An agent: what the model is told.
    Agent(String),
    NotHere,
}

fn called(line: &str, agents: &std::collections::HashSet<String>) -> Called {
    let rest = line.trim_start_matches('/');
    let (name, task) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if NOT_HERE.contains(&name) {
        return Called::NotHere;
    }
    if !agents.contains(name) {
        return Called::Command;
    }
    Called::Agent(format!("@agent-{name} {}", task.trim()).trim_end().to_owned())
}

fn say(session: SessionId, parts: Vec<Part>) -> (Op, Prompt) {
    let (entry, delivery) = (EntryId::new(), Delivery::Queue);
    (Op::Say { session, entry, parts, delivery }, Prompt::Said(entry))
}

fn gone() -> Fault {
    invalid("the session was closed meanwhile")
}
