//! Linear mode, for screen readers, plain terminals and pipes: lines are only ever added, each says who speaks,
//! choices are numbers, and the terminal's own line editing is used.
//!
//! | module | holds |
//! |---|---|
//! | [`voice`] | what is said: labels, blocks, what was said before |
//! | [`asked`] | questions, and what a line answers |
//! | [`list`] | lists to choose from, how things stand |
//! | [`hears`] | events of the mind |
//! | [`looks`] | answers to look-ups, the greeting first |

mod asked;
mod hears;
mod list;
mod looks;
#[cfg(test)]
mod tests;
mod voice;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base::protocol::{Delivery, Op, Query, WaitingPrompt};
use base::{CallId, Part, SessionId};

use self::asked::{Asked, Heard, is_number};
use self::list::{List, Picked};
use self::voice::Voice;
use crate::message::{Asker, Effect, Message, Purpose};

/// The commands that are ours; the mind tells of the others.
const COMMANDS: [(&str, &str); 8] = [
    ("/status", "how things stand"),
    ("/stop", "stops the turn"),
    ("/queue [line]", "has a line wait for the turn's end, or lists those that wait"),
    ("/sessions", "lists sessions to go on with"),
    ("/models [word]", "lists models to choose from"),
    ("/new", "begins a new session"),
    ("/continue", "goes on with a turn that broke off"),
    ("/quit", "ends"),
];

/// Entries of a session that are read out when it is opened.
const READ_OUT: usize = 6;

/// Where answers to look-ups go. There are no panes here, so their numbers are free.
const STATUS: Asker = Asker::Pane { pane: 0, what: 0 };
const REST: Asker = Asker::Pane { pane: 0, what: 1 };
const LIST: Asker = Asker::Pane { pane: 0, what: 2 };

/// The interface without a screen. It is told messages and lines, and tells lines and effects.
#[derive(Debug)]
pub struct Linear {
    folder: String,
    session: SessionId,
    begun: Begun,
    input: Input,
    /// Lines that came before it was known how things stand; none from then on.
    held: Option<Vec<String>>,
    /// What is said first, once the folder was asked about.
    prompt: Option<String>,
    /// Operations and look-ups that were not answered yet.
    pending: usize,
    is_running: bool,
    calls: BTreeSet<CallId>,
    crew: BTreeMap<SessionId, Member>,
    waiting: Vec<WaitingPrompt>,
    questions: VecDeque<Asked>,
    list: Option<List>,
    voice: Voice,
}

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// Nothing was said in it.
    No,
    /// The mind was asked to begin it.
    Asked,
    /// It is kept, and can be named.
    Kept,
}

/// Whether lines still come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Open,
    /// No more; how often in a row nothing was going on.
    Over {
        idle: u8,
    },
}

/// A sub-agent at work.
#[derive(Debug)]
struct Member {
    name: String,
    does: String,
}

impl Linear {
    /// One that has said nothing yet; `prompt` is what the user says first.
    pub fn new(folder: String, session: Option<SessionId>, prompt: Option<String>) -> Self {
        Self {
            folder,
            session: session.unwrap_or_else(SessionId::new),
            begun: if session.is_some() { Begun::Kept } else { Begun::No },
            input: Input::Open,
            held: Some(Vec::new()),
            prompt,
            pending: 0,
            is_running: false,
            calls: BTreeSet::new(),
            crew: BTreeMap::new(),
            waiting: Vec::new(),
            questions: VecDeque::new(),
            list: None,
            voice: Voice::default(),
        }
    }

    /// What is looked up first.
    pub fn begin(&mut self) -> Vec<Effect> {
        let place = ask(Query::Place { folder: self.folder.clone() }, Asker::Place);
        let mut effects = vec![place];
        if self.begun == Begun::Kept {
            effects.extend(self.look_back());
        }
        self.counted(effects)
    }

    /// The session, once it is kept.
    pub fn session(&self) -> Option<SessionId> {
        (self.begun == Begun::Kept).then_some(self.session)
    }

    /// Lines to add, safe to print.
    pub fn take_lines(&mut self) -> Vec<String> {
        self.voice.take()
    }

    /// Whether it wants a [`Message::Tick`] now and then: after the last line it looks whether all is done.
    pub fn wants_ticks(&self) -> bool {
        self.input != Input::Open
    }

    /// The user entered a line.
    pub fn line(&mut self, line: &str) -> Vec<Effect> {
        if let Some(held) = &mut self.held {
            held.push(line.to_owned());
            return Vec::new();
        }
        let effects = self.take(line.trim());
        self.counted(effects)
    }

    /// No more lines come: what was asked for is still done.
    pub fn end_input(&mut self) {
        self.input = Input::Over { idle: 0 };
    }

    /// Ctrl-C: stops the turn, or ends.
    pub fn interrupt(&mut self) -> Vec<Effect> {
        let is_busy = self.is_running || !self.calls.is_empty();
        let effects = if is_busy { self.stop() } else { vec![Effect::Quit] };
        self.counted(effects)
    }

    /// Takes a message of the mind.
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        let effects = match message {
            Message::Event(numbered) => {
                if let Input::Over { idle } = &mut self.input {
                    *idle = 0;
                }
                self.hear(numbered.event);
                Vec::new()
            }
            Message::Answer { asker, reply } => {
                self.pending = self.pending.saturating_sub(1);
                match reply {
                    Ok(reply) => self.look(asker, *reply),
                    Err(error) => {
                        self.voice.say(&format!("Error: {error}"));
                        self.unanswered(asker)
                    }
                }
            }
            Message::Submitted { purpose, outcome } => {
                self.pending = self.pending.saturating_sub(1);
                self.submitted(purpose, outcome.err().map(|error| error.to_string()));
                Vec::new()
            }
            Message::EventsEnded => {
                self.voice.say("Notice: some lines were missed. /status tells how things stand.");
                Vec::new()
            }
            Message::Tick => self.rest(),
            Message::Input(_) | Message::Edited(_) | Message::Clipped(_) | Message::Read { .. } => {
                Vec::new()
            }
        };
        self.counted(effects)
    }

    fn submitted(&mut self, purpose: Purpose, error: Option<String>) {
        match (error, purpose, self.begun) {
            (Some(error), purpose, begun) => {
                self.voice.say(&format!("Error: {error}"));
                if purpose == Purpose::Say && begun == Begun::Asked {
                    self.begun = Begun::No;
                }
            }
            (None, Purpose::Say, Begun::Asked) => self.begun = Begun::Kept,
            (None, _, _) => {}
        }
    }

    /// Counts what will be answered.
    fn counted(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        let answered =
            |effect: &&Effect| matches!(effect, Effect::Submit { .. } | Effect::Ask { .. });
        self.pending += effects.iter().filter(answered).count();
        effects
    }

    /// After the last line: looks whether anything is still going on. Twice, since the last words may be on
    /// their way when the session already rests.
    fn rest(&mut self) -> Vec<Effect> {
        if self.input == Input::Open || self.pending > 0 || self.held.is_some() {
            return Vec::new();
        }
        if let Some(asked) = self.questions.pop_front() {
            self.voice.say("Nobody is left to answer: no.");
            let mut effects: Vec<Effect> = asked.refuse().map(submit).into_iter().collect();
            effects.extend(self.next_question());
            return effects;
        }
        if self.begun == Begun::No {
            return vec![Effect::Quit];
        }
        vec![ask(Query::State { session: self.session }, REST)]
    }

    fn rested(&mut self, is_running: bool) -> Vec<Effect> {
        let Input::Over { idle } = &mut self.input else { return Vec::new() };
        let is_idle = !is_running && self.calls.is_empty();
        *idle = if is_idle { *idle + 1 } else { 0 };
        if *idle > 1 { vec![Effect::Quit] } else { Vec::new() }
    }

    /// A line: a command of ours, an answer, a choice, or something for the mind.
    fn take(&mut self, line: &str) -> Vec<Effect> {
        if let Some(effects) = self.command(line) {
            return effects;
        }
        if !is_command(line)
            && let Some(effects) = self.answer(line)
        {
            return effects;
        }
        if let Some(list) = self.list.take()
            && is_number(line)
        {
            if let Some(picked) = list.pick(line) {
                return self.picked(picked);
            }
            self.voice.say(&format!("The list has no number {line}."));
            self.list = Some(list);
            return Vec::new();
        }
        if line.is_empty() { Vec::new() } else { self.tell(line, Delivery::Steer) }
    }

    /// The commands that are ours.
    fn command(&mut self, line: &str) -> Option<Vec<Effect>> {
        let (name, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let words = words.trim();
        Some(match name {
            "/quit" | "/exit" => vec![Effect::Quit],
            "/stop" => self.stop(),
            "/new" | "/clear" if words.is_empty() => {
                self.open(SessionId::new(), Begun::No);
                self.voice.say("Caiman: a new session begins with your next line.");
                Vec::new()
            }
            "/continue" => self.go_on(),
            "/status" => self.status(),
            "/queue" if words.is_empty() => {
                self.list = List::waiting(&self.waiting, &mut self.voice);
                Vec::new()
            }
            "/queue" => self.tell(words, Delivery::Queue),
            "/sessions" | "/resume" => self.wants_list(Query::Sessions { folder: None, limit: 20 }),
            "/models" => {
                let search = (!words.is_empty()).then(|| words.to_owned());
                self.wants_list(Query::Models { search })
            }
            "/model" if words.is_empty() => self.wants_list(Query::Models { search: None }),
            "/help" => {
                for (name, about) in COMMANDS {
                    self.voice.say(&format!("{name}: {about}"));
                }
                self.tell(line, Delivery::Steer)
            }
            _ => return None,
        })
    }

    /// Looks up what can be chosen from. A number answers one thing only, so questions come first.
    fn wants_list(&mut self, query: Query) -> Vec<Effect> {
        if self.questions.is_empty() {
            return vec![ask(query, LIST)];
        }
        self.voice.say("Answer the question first. Enter alone reads it again.");
        Vec::new()
    }

    fn go_on(&mut self) -> Vec<Effect> {
        if self.begun == Begun::No {
            self.voice.say("Caiman: there is nothing to go on with.");
            return Vec::new();
        }
        vec![submit(Op::GoOn { session: self.session })]
    }

    fn status(&mut self) -> Vec<Effect> {
        let query = match self.begun {
            Begun::No => Query::Place { folder: self.folder.clone() },
            Begun::Asked | Begun::Kept => Query::State { session: self.session },
        };
        vec![ask(query, STATUS)]
    }

    fn stop(&mut self) -> Vec<Effect> {
        if self.begun == Begun::No {
            self.voice.say("Caiman: no turn runs.");
            return Vec::new();
        }
        self.voice.say("Caiman: stopping.");
        vec![submit(Op::Stop { session: self.session })]
    }

    /// Something for the mind: a prompt, a command, a command for the shell.
    fn tell(&mut self, line: &str, delivery: Delivery) -> Vec<Effect> {
        let session = self.session;
        let mut effects = self.begun();
        effects.push(said(if is_command(line) {
            Op::Command { session, line: line.to_owned() }
        } else if let Some(command) = line.strip_prefix('!') {
            Op::Shell { session, line: command.trim().to_owned() }
        } else {
            Op::say(session, vec![Part::user_text(line)], delivery)
        }));
        effects
    }

    /// What must come before the first words of a session.
    fn begun(&mut self) -> Vec<Effect> {
        if self.begun != Begun::No {
            return Vec::new();
        }
        self.begun = Begun::Asked;
        vec![said(Op::NewSession { session: self.session, folder: self.folder.clone() })]
    }

    /// What a line is to the question that was asked; none if it is for others, or none was.
    fn answer(&mut self, line: &str) -> Option<Vec<Effect>> {
        let asked = self.questions.front_mut()?;
        if line.is_empty() {
            asked.pose(&mut self.voice);
            return Some(Vec::new());
        }
        match asked.hear(line) {
            Heard::Answer(op) => {
                self.questions.pop_front();
                let mut effects = vec![submit(op)];
                effects.extend(self.next_question());
                Some(effects)
            }
            Heard::Part => {
                asked.pose(&mut self.voice);
                Some(Vec::new())
            }
            Heard::Unclear(words) => {
                self.voice.say(&words);
                Some(Vec::new())
            }
            Heard::Other => None,
            Heard::Passed => {
                self.questions.pop_front();
                let mut effects = self.next_question();
                effects.extend(self.take(line));
                Some(effects)
            }
        }
    }

    /// Puts a question behind those that wait.
    fn ask(&mut self, asked: Asked) {
        self.questions.push_back(asked);
        match self.questions.len() {
            1 => {
                self.list = None;
                self.pose();
            }
            count => self.voice.say(&format!("Notice: {} more wait to be answered.", count - 1)),
        }
    }

    /// Asks the first of the questions that wait.
    fn pose(&mut self) {
        if let Some(asked) = self.questions.front() {
            asked.pose(&mut self.voice);
        }
    }

    /// A question is over: the next is asked. Once the folder was asked about, the first prompt is said.
    fn next_question(&mut self) -> Vec<Effect> {
        self.pose();
        match self.prompt.take_if(|_| self.questions.is_empty()) {
            Some(prompt) => self.take(prompt.trim()),
            None => Vec::new(),
        }
    }

    fn picked(&mut self, picked: Picked) -> Vec<Effect> {
        let session = self.session;
        match picked {
            Picked::Session(chosen) => {
                self.open(chosen, Begun::Kept);
                let mut effects = self.look_back();
                effects.push(ask(Query::State { session: chosen }, STATUS));
                effects
            }
            Picked::Model(model) => {
                let mut effects = self.begun();
                effects.push(said(Op::SetModel { session, model }));
                effects
            }
            Picked::Waiting(entry) => vec![submit(Op::Unsay { session, entry })],
        }
    }

    /// Goes on in another session.
    fn open(&mut self, session: SessionId, begun: Begun) {
        (self.session, self.begun, self.is_running) = (session, begun, false);
        self.calls.clear();
        self.crew.clear();
        self.waiting.clear();
        self.questions.clear();
        (self.list, self.prompt) = (None, None);
    }

    fn look_back(&self) -> Vec<Effect> {
        let session = self.session;
        let query = Query::Entries { session, before: None, limit: READ_OUT };
        vec![
            ask(query, Asker::Entries(session)),
            ask(Query::State { session }, Asker::State(session)),
        ]
    }
}

/// Whether a line names a command, not a path.
fn is_command(line: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    line.strip_prefix('/').is_some_and(|rest| {
        let name = rest.split_whitespace().next().unwrap_or_default();
        !name.is_empty() && name.chars().all(is_letter)
    })
}

fn ask(query: Query, asker: Asker) -> Effect {
    Effect::Ask { query, asker }
}

fn submit(op: Op) -> Effect {
    Effect::Submit { op, purpose: Purpose::Other }
}

/// An operation that a new session begins with.
fn said(op: Op) -> Effect {
    Effect::Submit { op, purpose: Purpose::Say }
}
