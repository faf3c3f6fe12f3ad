//! Sessions that are open in the editor: begun, opened again, set, closed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, CloseSessionRequest,
    CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, LoadSessionRequest,
    LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse, ResumeSessionRequest,
    ResumeSessionResponse, SessionConfigOption, SessionConfigOptionValue, SessionId as WireId,
    SessionModeState, SessionUpdate, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse, UnstructuredCommandInput,
};
use base::protocol::TrustState;
use base::protocol::{Offer, OfferKind, Op, Query, Reply, SessionState};
use base::{Client, Entry, RequestId, SessionId};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::methods::{can_answer, refused};
use super::tell::{Notices, Teller};
use super::turns::Turns;
use super::{Ground, Shared, invalid, no_model, past, prompt, servers, session_options};
use crate::rpc::Fault;

/// Entries that are asked for at once.
const WINDOW: usize = 200;

/// A session that is open in the editor.
pub(super) struct Seat {
    pub(super) door: Arc<dyn Client>,
    /// Its folder, as the editor names it.
    pub(super) folder: PathBuf,
    /// The same without links.
    real: PathBuf,
    pub(super) teller: Teller,
    pub(super) turns: Turns,
    /// Questions the editor has not answered.
    pub(super) asking: HashMap<RequestId, CancellationToken>,
    /// Agents that can be called like commands.
    pub(super) agents: HashSet<String>,
    /// What waits for the editor to know the session; none once it does.
    pub(super) held: Option<Vec<SessionUpdate>>,
}

/// How a session is set, as answers tell it.
struct Setting {
    /// The folder it works in: the demo has its own.
    folder: PathBuf,
    modes: SessionModeState,
    options: Vec<SessionConfigOption>,
}

impl Seat {
    /// It works elsewhere than it was told: the demo has a folder of its own.
    fn works_in(&mut self, folder: &Path) {
        if folder == self.real {
            return;
        }
        folder.clone_into(&mut self.real);
        folder.clone_into(&mut self.folder);
        self.teller.works_in(folder);
    }

    /// A path as the editor names it: it may know the folder by a link.
    pub(super) fn named(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.real)
            .map_or_else(|_| path.to_owned(), |below| self.folder.join(below))
    }
}

impl Shared {
    pub(super) async fn new_session(
        self: &Arc<Self>,
        asked: NewSessionRequest,
    ) -> Result<NewSessionResponse, Fault> {
        let ground = ground(&asked.cwd, &asked.additional_directories)?;
        let door = self.door(&ground)?;
        let shown = ground.folder.display().to_string();
        if !can_answer(&*door, &shown).await? {
            return Err(no_model());
        }
        servers::lend(&self.outside.lend, &ground, &asked.mcp_servers)?;
        let session = SessionId::new();
        let mut seat = self.seat(session, &door, (&asked.cwd, &ground.folder));
        seat.held = Some(self.warned(&*door, &ground.folder, &seat.teller).await);
        self.rooms().seats.insert(session, seat);
        let begun = door.submit(Op::NewSession { session, folder: shown }).await;
        let told = match begun {
            Ok(()) => setting(&*door, session).await,
            Err(error) => Err(refused(error)),
        };
        let told = told.inspect_err(|_| drop(self.rooms().seats.remove(&session)))?;
        if let Some(seat) = self.rooms().seats.get_mut(&session) {
            seat.works_in(&told.folder);
        }
        Ok(NewSessionResponse::new(session.to_string())
            .modes(told.modes)
            .config_options(told.options))
    }

    /// Opens a session again, and tells all that was said in it.
    pub(super) async fn load_session(
        self: &Arc<Self>,
        asked: LoadSessionRequest,
    ) -> Result<LoadSessionResponse, Fault> {
        let id = parse(&asked.session_id)?;
        let more = (&*asked.additional_directories, &*asked.mcp_servers);
        let (door, folder) = self.take_seat(id, &asked.cwd, more).await?;
        let entries = entries(&*door, id).await?;
        self.outbox.tell(&asked.session_id, past::told(&entries, &folder));
        let set = setting(&*door, id).await?;
        self.tell_commands(id);
        self.outbox.flushed().await;
        Ok(LoadSessionResponse::new().modes(set.modes).config_options(set.options))
    }

    /// Opens a session again; the editor knows what was said in it.
    pub(super) async fn resume_session(
        self: &Arc<Self>,
        asked: ResumeSessionRequest,
    ) -> Result<ResumeSessionResponse, Fault> {
        let id = parse(&asked.session_id)?;
        let more = (&*asked.additional_directories, &*asked.mcp_servers);
        let (door, _) = self.take_seat(id, &asked.cwd, more).await?;
        let set = setting(&*door, id).await?;
        self.tell_commands(id);
        Ok(ResumeSessionResponse::new().modes(set.modes).config_options(set.options))
    }

    pub(super) async fn delete_session(
        self: &Arc<Self>,
        asked: &DeleteSessionRequest,
    ) -> Result<DeleteSessionResponse, Fault> {
        let session = parse(&asked.session_id)?;
        let open = self.rooms().seats.get(&session).map(|seat| seat.door.clone());
        let door = match open {
            Some(door) => door,
            None => self.door(&self.outside.folder.as_path().into())?,
        };
        self.leave(session).await;
        door.submit(Op::Delete { session }).await.map_err(refused)?;
        Ok(DeleteSessionResponse::new())
    }

    pub(super) async fn close_session(
        self: &Arc<Self>,
        asked: &CloseSessionRequest,
    ) -> Result<CloseSessionResponse, Fault> {
        self.leave(parse(&asked.session_id)?).await;
        Ok(CloseSessionResponse::new())
    }

    pub(super) async fn set_mode(
        self: &Arc<Self>,
        asked: &SetSessionModeRequest,
    ) -> Result<SetSessionModeResponse, Fault> {
        let (session, door) = self.open_seat(&asked.session_id)?;
        let mode = session_options::mode(&asked.mode_id.0)?;
        door.submit(Op::SetMode { session, mode }).await.map_err(refused)?;
        Ok(SetSessionModeResponse::new())
    }

    pub(super) async fn set_option(
        self: &Arc<Self>,
        asked: &SetSessionConfigOptionRequest,
    ) -> Result<SetSessionConfigOptionResponse, Fault> {
        let (session, door) = self.open_seat(&asked.session_id)?;
        let SessionConfigOptionValue::ValueId { value } = &asked.value else {
            return Err(invalid(format!("{} wants one of its values", asked.config_id)));
        };
        if let Some(op) = session_options::set(session, &asked.config_id.0, &value.0)? {
            door.submit(op).await.map_err(refused)?;
        }
        let set = setting(&*door, session).await?;
        Ok(SetSessionConfigOptionResponse::new(set.options))
    }

    pub(super) async fn set_model(self: &Arc<Self>, params: &Value) -> Result<Value, Fault> {
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        let (session, door) = self.open_seat(&WireId::new(text("sessionId")))?;
        if let Some(op) = session_options::set(session, "model", text("modelId"))? {
            door.submit(op).await.map_err(refused)?;
        }
        Ok(json!({}))
    }

    /// How a session is set, for an editor that must be told.
    pub(super) async fn options_of(
        &self,
        door: &dyn Client,
        session: SessionId,
    ) -> Option<Vec<SessionConfigOption>> {
        setting(door, session).await.ok().map(|set| set.options)
    }

    /// The editor knows a session from here on: what it missed is told.
    pub(super) fn is_known(self: &Arc<Self>, session: SessionId) {
        let held = self.rooms().seats.get_mut(&session).and_then(|seat| seat.held.take());
        self.outbox.tell(&wire(session), held.unwrap_or_default());
        self.tell_commands(session);
    }

    /// A session that is open, and its mind.
    pub(super) fn open_seat(&self, id: &WireId) -> Result<(SessionId, Arc<dyn Client>), Fault> {
        let session = parse(id)?;
        let door = self.rooms().seats.get(&session).map(|seat| seat.door.clone());
        let door = door.ok_or_else(|| {
            invalid(format!("session {session} is not open: open it with session/load first"))
        })?;
        Ok((session, door))
    }

    /// Opens a session that is there, with other folders and servers; one that is open stays as it is.
    async fn take_seat(
        self: &Arc<Self>,
        session: SessionId,
        cwd: &Path,
        (others, servers): (&[PathBuf], &[McpServer]),
    ) -> Result<(Arc<dyn Client>, PathBuf), Fault> {
        if let Some(seat) = self.rooms().seats.get(&session) {
            return Ok((seat.door.clone(), seat.folder.clone()));
        }
        let here = ground(cwd, others)?;
        let reply = self.door(&here)?.ask(Query::Session { session }).await.map_err(refused)?;
        let Reply::Sessions { sessions } = reply else { return Err(not_found(session)) };
        let summary = sessions.into_iter().next().ok_or_else(|| not_found(session))?;
        // It works where it began, whatever folder the editor shows.
        let there = Ground { folder: folder(Path::new(&summary.folder))?, ..here.clone() };
        let door = self.door(&there)?;
        servers::lend(&self.outside.lend, &there, servers)?;
        let named = if there == here { cwd } else { &*there.folder };
        let seat = self.seat(session, &door, (named, &there.folder));
        let named = named.to_owned();
        self.rooms().seats.entry(session).or_insert(seat);
        Ok((door, named))
    }

    fn seat(
        &self,
        session: SessionId,
        door: &Arc<dyn Client>,
        (named, real): (&Path, &Path),
    ) -> Seat {
        let shows = self.editor.get().and_then(|editor| editor.session.as_ref());
        let notices = match shows.and_then(|session| session.notices.as_ref()) {
            Some(_) => Notices::Apart,
            None => Notices::Said,
        };
        Seat {
            door: door.clone(),
            folder: named.to_owned(),
            real: real.to_owned(),
            teller: Teller::new(session, named, notices),
            turns: Turns::default(),
            asking: HashMap::new(),
            agents: HashSet::new(),
            held: None,
        }
    }

    /// What the user should know when a session begins.
    async fn warned(
        &self,
        door: &dyn Client,
        folder: &Path,
        teller: &Teller,
    ) -> Vec<SessionUpdate> {
        let mut texts = std::mem::take(&mut self.rooms().notices);
        let query = Query::Place { folder: folder.display().to_string() };
        if let Ok(Reply::Place(place)) = door.ask(query).await
            && matches!(place.trust, TrustState::Unknown | TrustState::Changed)
            && !place.untrusted.is_empty()
        {
            let files = place.untrusted.join(", ");
            texts.push(format!(
                "Nobody has said that these files may run something, so they do not: {files}. \
                 `caiman trust`, in a terminal in this folder, lets them."
            ));
        }
        texts.iter().flat_map(|text| teller.notice(text)).collect()
    }

    /// Stops what a session does and forgets that it is open.
    async fn leave(self: &Arc<Self>, session: SessionId) {
        self.stop(session).await;
        let left = self.rooms().seats.remove(&session);
        if let Some(mut left) = left {
            self.outbox.answer(left.turns.close(&Ok(prompt::CANCELLED)));
        }
    }

    /// Tells which commands there are, in the background.
    fn tell_commands(self: &Arc<Self>, session: SessionId) {
        let shared = self.clone();
        self.scope.spawn(async move {
            let open = |shared: &Self| {
                let rooms = shared.rooms();
                let seat = rooms.seats.get(&session)?;
                Some((seat.door.clone(), seat.folder.display().to_string()))
            };
            let Some((door, folder)) = open(&shared) else { return };
            let Ok(Reply::Offers { offers }) = door.ask(Query::Offers { folder }).await else {
                return;
            };
            let (commands, agents) = commands(&offers);
            if let Some(seat) = shared.rooms().seats.get_mut(&session) {
                seat.agents = agents;
            }
            let update =
                SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands));
            shared.outbox.tell(&wire(session), vec![update]);
        });
    }
}

/// A session's id towards the editor.
pub(super) fn wire(session: SessionId) -> WireId {
    WireId::new(session.to_string())
}

/// The session an editor means.
pub(super) fn parse(id: &WireId) -> Result<SessionId, Fault> {
    id.0.parse().map_err(|_| not_found(id))
}

fn not_found(session: impl std::fmt::Display) -> Fault {
    let message = format!("there is no session {session}: session/list names those there are");
    Fault { code: -32002, message }
}

/// A folder an editor names, as the system knows it.
pub(super) fn folder(named: &Path) -> Result<PathBuf, Fault> {
    let shown = named.display();
    if !named.is_absolute() {
        return Err(invalid(format!("a folder must be an absolute path, not {shown}")));
    }
    let real = std::fs::canonicalize(named)
        .map_err(|error| invalid(format!("cannot work in {shown}: {error}")))?;
    if !real.is_dir() {
        return Err(invalid(format!("cannot work in {shown}: it is no folder")));
    }
    Ok(real)
}

/// Where an editor wants a session to work.
fn ground(cwd: &Path, others: &[PathBuf]) -> Result<Ground, Fault> {
    let main = folder(cwd)?;
    let mut others = others.iter().map(|it| folder(it)).collect::<Result<Vec<_>, _>>()?;
    others.retain(|other| *other != main);
    others.sort();
    others.dedup();
    Ok(Ground { folder: main, others })
}

async fn setting(door: &dyn Client, session: SessionId) -> Result<Setting, Fault> {
    let state = state(door, session).await?;
    let known = door.ask(Query::Models { search: None }).await.map_err(refused)?;
    let choices = if let Reply::Models { models } = known { models } else { Vec::new() };
    let options = session_options::options(&state, &choices);
    let (folder, modes) = (state.summary.folder.into(), session_options::modes(state.mode));
    Ok(Setting { folder, modes, options })
}

pub(super) async fn state(door: &dyn Client, session: SessionId) -> Result<SessionState, Fault> {
    let reply = door.ask(Query::State { session }).await.map_err(refused)?;
    if let Reply::State(state) = reply { Ok(*state) } else { Err(not_found(session)) }
}

/// All entries of the current branch, oldest first.
async fn entries(door: &dyn Client, session: SessionId) -> Result<Vec<Entry>, Fault> {
    let mut windows = Vec::new();
    let mut before = None;
    loop {
        let query = Query::Entries { session, before, limit: WINDOW };
        let Reply::Entries { entries, .. } = door.ask(query).await.map_err(refused)? else { break };
        let is_last = entries.len() < WINDOW;
        before = entries.first().map(|entry| entry.id);
        windows.push(entries);
        if is_last {
            break;
        }
    }
    Ok(windows.into_iter().rev().flatten().collect())
}

/// What may follow a slash in an editor, and the agents among it.
fn commands(offers: &[Offer]) -> (Vec<AvailableCommand>, HashSet<String>) {
    let mut names: HashSet<&str> = HashSet::new();
    let mut agents = HashSet::new();
    let mut commands = Vec::new();
    for offer in offers.iter().filter(|offer| !prompt::NOT_HERE.contains(&offer.name.as_str())) {
        if !names.insert(&offer.name) {
            continue;
        }
        let hint = match offer.kind {
            OfferKind::Agent => {
                agents.insert(offer.name.clone());
                "what to do"
            }
            OfferKind::Command | OfferKind::Skill => offer.arguments.as_str(),
            // It stands after an at sign, which editors have their own list for.
            OfferKind::Resource => continue,
        };
        let mut command = AvailableCommand::new(offer.name.clone(), offer.about.clone());
        if !hint.is_empty() {
            let input = UnstructuredCommandInput::new(hint);
            command = command.input(AvailableCommandInput::Unstructured(input));
        }
        commands.push(command);
    }
    (commands, agents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_before_agents_of_their_name() {
        let offer = |kind, name: &str| Offer {
            kind,
            name: name.to_owned(),
            arguments: String::new(),
            about: format!("does {name}"),
            source: "built in".to_owned(),
            color: None,
        };
        let (commands, agents) = commands(&[
            offer(OfferKind::Command, "help"),
            offer(OfferKind::Command, "clear"),
            offer(OfferKind::Skill, "review"),
            offer(OfferKind::Agent, "review"),
            offer(OfferKind::Agent, "scout"),
        ]);
        let names: Vec<_> = commands.iter().map(|command| command.name.as_str()).collect();
        assert_eq!(names, ["help", "review", "scout"]);
        assert_eq!(agents, HashSet::from(["scout".to_owned()]));
    }
}
