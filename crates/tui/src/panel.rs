//! Questions between conversation and composer: may this run, and what the model asks. They never take a
//! key that was typed for the composer.

mod body;
mod choices;
mod command;
mod permission;
mod questions;

use std::collections::VecDeque;

use base::protocol::{Mode, Question};
use base::{Block, RequestId, SessionId};

use crate::canvas::{Canvas, Point, Rect};
use crate::key::{Code, Key, Mods, Mouse};
use crate::keymap::{Action, KeyMap};
use crate::line::Line;
use crate::look::Look;
use crate::message::Effect;
use crate::pane::Pressed;
use crate::theme::Role;

pub(crate) use command::collapsed;
use permission::{Answer, Permission};
use questions::Asking;

/// How long a question must have been seen before arrows and Enter are taken for it: who was about to press
/// Enter for something else has noticed it by then.
const SEEN_MS: u64 = 300;

/// A question about permission, as it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Of which session.
    pub session: SessionId,
    /// What to answer to.
    pub request: RequestId,
    /// The sub-agent that wants it; none for the main one.
    pub agent: Option<String>,
    /// One line: what it would do.
    pub title: String,
    /// Why it is asked.
    pub reason: String,
    /// The rules a lasting yes would keep.
    pub rules: Vec<String>,
    /// The parts of a command that made it ask.
    pub risky: Vec<String>,
    /// What it would change.
    pub body: Option<Block>,
    /// The mode it was asked in.
    pub mode: Mode,
}

/// Questions the model asks, as they were asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Questions {
    /// Of which session.
    pub session: SessionId,
    /// What to answer to.
    pub request: RequestId,
    /// The sub-agent that asks; none for the main one.
    pub agent: Option<String>,
    /// The questions.
    pub questions: Vec<Question>,
}

/// Whether a panel has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Has {
    /// It has them: the user moved there.
    Keys,
    /// The composer has them and is empty: a panel may take arrows and Enter, which it has no use for;
    /// characters are always the composer's.
    OnlySpareKeys,
    /// The composer has them and something is written there: only the keys of the key map for questions count.
    OnlyShortcuts,
}

/// The keys for questions that count wherever the caret is.
#[derive(Debug)]
struct Shortcuts {
    keys: Vec<(Key, Answer)>,
}

impl Shortcuts {
    fn of(map: &KeyMap) -> Self {
        let answers = [
            (Action::AllowOnce, Answer::Once),
            (Action::AllowSession, Answer::Session),
            (Action::AllowAlways, Answer::Always),
            (Action::Deny, Answer::No),
        ];
        let keys = answers
            .into_iter()
            .flat_map(|(action, answer)| map.keys(action).iter().map(move |key| (*key, answer)));
        Self { keys: keys.collect() }
    }

    fn answer(&self, key: Key) -> Option<Answer> {
        self.keys.iter().find(|(known, _)| *known == key).map(|(_, answer)| *answer)
    }

    fn hint(&self, answer: Answer) -> String {
        let key = self.keys.iter().find(|(_, known)| *known == answer);
        key.map(|(key, _)| key.to_string()).unwrap_or_default()
    }
}

/// What a question did with a key.
#[derive(Debug, PartialEq)]
enum Heard {
    /// It has no use for it.
    Nothing,
    /// It took it.
    Taken,
    /// It must be given the keys: something is to be written.
    WantsKeys,
    /// The user wants to go back to the composer.
    Leaves,
    /// It is answered.
    Answered(Box<Effect>),
    /// It cannot be done; why.
    Refused(&'static str),
}

/// A question that waits.
#[derive(Debug)]
enum Waiting {
    /// About permission.
    Permission(Box<Permission>),
    /// Of the model.
    Questions(Box<Asking>),
}

impl Waiting {
    fn request(&self) -> RequestId {
        match self {
            Self::Permission(permission) => permission.asked.request,
            Self::Questions(asking) => asking.asked.request,
        }
    }

    /// Whether not all of it is seen.
    fn scrolls(&self) -> bool {
        match self {
            Self::Permission(permission) => permission.scrolls(),
            Self::Questions(asking) => asking.scrolls(),
        }
    }

    /// Its answer was not taken; why.
    fn refuse(&mut self, why: &str) {
        match self {
            Self::Permission(permission) => permission.refuse(why),
            Self::Questions(_) => {}
        }
    }
}

/// The questions that wait, first come first shown.
#[derive(Debug)]
pub struct Panels {
    waiting: VecDeque<Waiting>,
    /// Those whose answer is on its way: one that is not taken puts its question back.
    answered: Vec<Waiting>,
    /// When the first one was drawn first.
    seen_at: Option<u64>,
    /// Whether it stands where another one was just answered.
    follows: bool,
    shortcuts: Shortcuts,
}

impl Default for Panels {
    fn default() -> Self {
        Self::new()
    }
}

impl Panels {
    /// None, with the default keys.
    pub fn new() -> Self {
        Self::with_keys(&KeyMap::default())
    }

    /// None, with the user's keys.
    pub fn with_keys(map: &KeyMap) -> Self {
        let shortcuts = Shortcuts::of(map);
        let (waiting, answered) = (VecDeque::new(), Vec::new());
        Self { waiting, answered, seen_at: None, follows: false, shortcuts }
    }

    /// The most rows that questions may take of a screen: three fifths, so that what led to them can be read.
    pub fn most(screen_height: u16) -> u16 {
        screen_height.saturating_mul(3) / 5
    }

    /// A question about permission came at a time.
    pub fn ask(&mut self, asked: Asked, _now_ms: u64) {
        self.add(Waiting::Permission(Box::new(Permission::new(asked))));
    }

    /// The model's questions came at a time.
    pub fn question(&mut self, questions: Questions, _now_ms: u64) {
        self.add(Waiting::Questions(Box::new(Asking::new(questions))));
    }

    /// A question was settled, here or elsewhere, or nobody waits for it any more.
    pub fn settled(&mut self, request: RequestId) {
        self.keep(|waiting| waiting != request);
    }

    /// An answer was not taken: its question stands in front again, with what was written, and tells why.
    pub fn refused(&mut self, request: RequestId, why: &str) {
        let Some(at) = self.answered.iter().position(|it| it.request() == request) else { return };
        let mut waiting = self.answered.remove(at);
        waiting.refuse(why);
        self.waiting.push_front(waiting);
        (self.seen_at, self.follows) = (None, true);
    }

    /// Forgets all questions but those that are kept.
    pub fn keep(&mut self, is_kept: impl Fn(RequestId) -> bool) {
        let first = self.waiting.front().map(Waiting::request);
        self.waiting.retain(|waiting| is_kept(waiting.request()));
        self.answered.retain(|waiting| is_kept(waiting.request()));
        if self.waiting.front().map(Waiting::request) != first {
            (self.seen_at, self.follows) = (None, true);
        }
    }

    /// Something lay over the questions: they are seen from now on.
    pub fn uncover(&mut self) {
        self.seen_at = None;
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A key. Effects are `Submit`s of `Op::Approve` and `Op::Answer`, and `Perform(FocusPanel)` where the keys
    /// are to go to the panel or back to the composer.
    pub fn key(&mut self, key: Key, has: Has, now_ms: u64) -> Pressed {
        let is_seen = self.seen_at.is_some_and(|at| now_ms.saturating_sub(at) >= SEEN_MS);
        let Some(first) = self.waiting.front_mut() else { return Pressed::Ignored };
        if let (Some(answer), Waiting::Permission(permission)) =
            (self.shortcuts.answer(key), &mut *first)
        {
            // Who holds the key down has not read this question, nor has anybody before it was drawn.
            if !is_seen && (self.follows || self.seen_at.is_none()) {
                return Pressed::Taken(Vec::new());
            }
            let heard = permission.give(answer);
            return self.heard(heard, has);
        }
        let is_heard = match has {
            Has::Keys => true,
            Has::OnlySpareKeys if is_scroll(key) => first.scrolls(),
            Has::OnlySpareKeys => is_seen && is_spare(key),
            Has::OnlyShortcuts => is_scroll(key) && first.scrolls(),
        };
        if !is_heard {
            return Pressed::Ignored;
        }
        // Who held the key down, or pressed it twice, answered the question before this one.
        if has == Has::Keys && self.follows && !is_seen && answers(key) {
            return Pressed::Taken(Vec::new());
        }
        let heard = match first {
            Waiting::Permission(permission) => permission.key(key),
            Waiting::Questions(asking) => asking.key(key),
        };
        self.heard(heard, has)
    }

    /// The mouse.
    pub fn mouse(&mut self, mouse: Mouse) -> Pressed {
        let heard = match self.waiting.front_mut() {
            Some(Waiting::Permission(permission)) => permission.mouse(mouse),
            Some(Waiting::Questions(asking)) => asking.mouse(mouse),
            None => Heard::Nothing,
        };
        self.heard(heard, Has::Keys)
    }

    /// Pasted text, for a note or an answer that is being written.
    pub fn paste(&mut self, text: &str) -> Pressed {
        let took = match self.waiting.front_mut() {
            Some(Waiting::Permission(permission)) => permission.paste(text),
            Some(Waiting::Questions(asking)) => asking.paste(text),
            None => false,
        };
        if took { Pressed::Taken(Vec::new()) } else { Pressed::Ignored }
    }

    /// Rows the first one wants, at most `most`; see [`Panels::most`].
    pub fn height(&mut self, width: u16, most: u16, look: &Look) -> u16 {
        let wanted = match self.waiting.front_mut() {
            Some(Waiting::Permission(permission)) => permission.height(width, look),
            Some(Waiting::Questions(asking)) => asking.height(width, look),
            None => 0,
        };
        wanted.min(most)
    }

    /// Draws the first one and returns where the caret is.
    pub fn draw(
        &mut self,
        canvas: &mut Canvas,
        area: Rect,
        has: Has,
        look: &Look,
    ) -> Option<Point> {
        let count = self.waiting.len();
        if area.width == 0 || area.height == 0 || count == 0 {
            return None;
        }
        self.seen_at.get_or_insert(look.now_ms);
        let place = if count > 1 { format!("1 of {count}") } else { String::new() };
        let hint = self.shortcuts.hint(Answer::Once);
        let drawing = Drawing { area, has, look, place: &place, yes: &hint };
        match self.waiting.front_mut()? {
            Waiting::Permission(permission) => permission.draw(canvas, &drawing),
            Waiting::Questions(asking) => asking.draw(canvas, &drawing),
        }
    }

    fn add(&mut self, waiting: Waiting) {
        let mut known = self.waiting.iter().chain(&self.answered);
        if known.any(|known| known.request() == waiting.request()) {
            return;
        }
        if self.waiting.is_empty() {
            (self.seen_at, self.follows) = (None, false);
        }
        self.waiting.push_back(waiting);
    }

    fn heard(&mut self, heard: Heard, has: Has) -> Pressed {
        let focus = || vec![Effect::Perform(Action::FocusPanel)];
        match heard {
            Heard::Nothing => Pressed::Ignored,
            Heard::Taken => Pressed::Taken(Vec::new()),
            Heard::WantsKeys if has == Has::Keys => Pressed::Taken(Vec::new()),
            Heard::WantsKeys | Heard::Leaves => Pressed::Taken(focus()),
            Heard::Refused(why) => Pressed::Taken(vec![Effect::Say(why.to_owned())]),
            Heard::Answered(effect) => {
                self.answered.extend(self.waiting.pop_front());
                (self.seen_at, self.follows) = (None, true);
                Pressed::Taken(vec![*effect])
            }
        }
    }
}

/// What a question is drawn by.
struct Drawing<'a> {
    area: Rect,
    has: Has,
    look: &'a Look,
    /// Which of how many it is; empty for the only one.
    place: &'a str,
    /// The key that says yes from the composer.
    yes: &'a str,
}

/// From this many rows below its title on a question has room for hints.
const ROOMY: u16 = 6;

/// Draws the row above a question: a rule, what it is, and which of how many.
fn title(canvas: &mut Canvas, row: Rect, words: &str, drawing: &Drawing<'_>) {
    let look = drawing.look;
    let role = if drawing.has == Has::Keys { Role::Accent } else { Role::Warning };
    let dash = if look.unicode { "─" } else { "-" };
    canvas.text(row, &dash.repeat(usize::from(row.width)), look.theme.style(role));
    let at = Rect { x: row.x + 1.min(row.width), width: row.width.saturating_sub(1), ..row };
    let mut line = Line::new(format!(" {words} "), look.theme.style(Role::Strong));
    if !drawing.place.is_empty() {
        line.push(format!("{} ", drawing.place), look.theme.style(Role::Muted));
    }
    if drawing.area.height <= ROOMY && drawing.has != Has::Keys {
        line.push("tab answers ", look.theme.style(Role::Muted));
    }
    canvas.line(at, &line);
}

/// Keys that an empty composer has no use for.
fn is_spare(key: Key) -> bool {
    key.mods == Mods::NONE
        && matches!(key.code, Code::Up | Code::Down | Code::Left | Code::Right | Code::Enter)
}

/// Keys that scroll what is asked about.
fn is_scroll(key: Key) -> bool {
    key.mods == Mods::SHIFT && matches!(key.code, Code::Up | Code::Down)
}

/// Keys that may answer a question.
fn answers(key: Key) -> bool {
    key.typed().is_some() || key.code == Code::Enter
}

#[cfg(test)]
mod tests;
