//! What the model asks: one question or several, choices and free text.

use base::Op;
use base::protocol::Question;

use super::choices::{self, Choice};
use super::{Drawing, Has, Heard, Questions};
use crate::canvas::{Canvas, Point, Rect};
use crate::field::Field;
use crate::key::{Button, Code, Key, Mods, Mouse, MouseKind};
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::footer;
use crate::text;
use crate::theme::Role;

/// How far one question is.
#[derive(Debug, Default)]
struct Reply {
    /// The row that is pointed at: a choice, or the free text after them.
    at: usize,
    picked: Vec<usize>,
    field: Field,
}

impl Reply {
    /// The answer as the model reads it.
    fn text(&self, question: &Question) -> String {
        let picked = self.picked.iter().filter_map(|index| question.choices.get(*index));
        let written = self.field.text().trim();
        let texts: Vec<&str> = picked
            .map(String::as_str)
            .chain(Some(written).filter(|text| !text.is_empty()))
            .collect();
        texts.join(", ")
    }
}

/// Questions of the model that wait.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) asked: Questions,
    replies: Vec<Reply>,
    /// The question that is shown; one past the last is the page that sends.
    tab: usize,
    top: usize,
    hidden: usize,
    hits: Vec<Rect>,
}

impl Asking {
    /// Questions that were just asked.
    pub(super) fn new(asked: Questions) -> Self {
        let replies = asked.questions.iter().map(|_| Reply::default()).collect();
        Self { asked, replies, tab: 0, top: 0, hidden: 0, hits: Vec::new() }
    }

    /// A key, with the keys or from an empty composer.
    pub(super) fn key(&mut self, key: Key) -> Heard {
        match key {
            Key { code: Code::Up, mods: Mods::SHIFT } => self.scroll(-1),
            Key { code: Code::Down, mods: Mods::SHIFT } => self.scroll(1),
            Key { code: Code::Esc, mods: Mods::NONE } => Heard::Leaves,
            Key { code: Code::Up, mods: Mods::NONE } => self.go(-1),
            Key { code: Code::Down, mods: Mods::NONE } => self.go(1),
            Key { code: Code::Tab, mods: Mods::NONE } if self.has_tabs() => self.turn(1),
            Key { code: Code::Tab, mods: Mods::SHIFT } if self.has_tabs() => self.turn(-1),
            Key { code: Code::Right, mods: Mods::NONE }
                if self.has_tabs() && !self.is_writing() =>
            {
                self.turn(1)
            }
            Key { code: Code::Left, mods: Mods::NONE } if self.has_tabs() && !self.is_writing() => {
                self.turn(-1)
            }
            Key { code: Code::Enter, mods: Mods::NONE } => self.enter(),
            Key { code: Code::Enter, .. } => Heard::Nothing,
            key => self.edit(key),
        }
    }

    /// The mouse: a click points, a click on what is pointed at takes it.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> Heard {
        match mouse.kind {
            MouseKind::WheelUp => self.scroll(-3),
            MouseKind::WheelDown => self.scroll(3),
            MouseKind::Down(Button::Left) => {
                let hit = self.hits.iter().position(|hit| hit.contains(mouse.at));
                let (Some(hit), Some(reply)) = (hit, self.replies.get_mut(self.tab)) else {
                    return Heard::Nothing;
                };
                if reply.at == hit {
                    return self.pick();
                }
                reply.at = hit;
                Heard::Taken
            }
            MouseKind::Down(_) | MouseKind::Up(_) | MouseKind::Drag(_) => Heard::Nothing,
        }
    }

    /// Pasted text; whether it was of use.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        if !self.is_writing() {
            return false;
        }
        if let Some(reply) = self.replies.get_mut(self.tab) {
            reply.field.insert(text);
        }
        true
    }

    /// Whether not all of the question is seen.
    pub(super) fn scrolls(&self) -> bool {
        self.hidden > 0
    }

    /// Rows it wants.
    pub(super) fn height(&mut self, width: u16, look: &Look) -> u16 {
        let width = usize::from(width.saturating_sub(2));
        let rows = match self.shown() {
            Some((question, _)) => self.text(width, look).len() + question.choices.len() + 1,
            None => self.replies.len() + 1,
        };
        u16::try_from(rows + 2 + usize::from(self.has_tabs())).unwrap_or(u16::MAX)
    }

    /// Draws it and returns where the caret is.
    pub(super) fn draw(&mut self, canvas: &mut Canvas, drawing: &Drawing<'_>) -> Option<Point> {
        let Drawing { area, look, has, .. } = *drawing;
        canvas.fill(area, look.theme.style(Role::Panel));
        let (title, rest) = area.split_top(1);
        let words = match &self.asked.agent {
            Some(agent) => format!("{agent} asks"),
            None => "the model asks".to_owned(),
        };
        super::title(canvas, title, &words, drawing);
        let rest = rest.inset(1, 0);
        let (rest, foot) = rest.split_bottom(u16::from(rest.height > 2));
        footer(canvas, foot, &self.hints(has), look);
        let (tabs, rest) = rest.split_top(u16::from(self.has_tabs() && rest.height > 2));
        self.draw_tabs(canvas, tabs, look);
        self.hits.clear();
        if self.shown().is_some() {
            self.draw_question(canvas, rest, look).filter(|_| has == Has::Keys)
        } else {
            self.draw_summary(canvas, rest, look);
            None
        }
    }

    fn draw_tabs(&self, canvas: &mut Canvas, row: Rect, look: &Look) {
        let mut line = Line::EMPTY;
        for index in 0..=self.replies.len() {
            let is_answered = self
                .replies
                .get(index)
                .is_some_and(|reply| !reply.picked.is_empty() || !reply.field.is_empty());
            let name = if index == self.replies.len() {
                " send ".to_owned()
            } else {
                format!(" {} ", index + 1)
            };
            let role = match (index == self.tab, is_answered) {
                (true, _) => Role::Chosen,
                (false, true) => Role::Good,
                (false, false) => Role::Muted,
            };
            line.push(name, look.theme.style(role));
        }
        canvas.line(row, &line);
    }

    fn draw_question(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) -> Option<Point> {
        let choices = self.choices();
        let text = self.text(area.width.into(), look);
        let (at, is_writing) = (self.replies.get(self.tab)?.at, self.is_writing());
        let wanted = u16::try_from(choices.len()).unwrap_or(u16::MAX);
        let least = u16::from(area.height > 1);
        let head = u16::try_from(text.len()).unwrap_or(u16::MAX);
        let head = head.min(area.height.saturating_sub(wanted).max(least));
        let (above, below) = area.split_top(head);
        self.hidden = text.len().saturating_sub(usize::from(above.height));
        self.top = self.top.min(self.hidden);
        canvas.lines(above, text.iter().skip(self.top));
        // The row that is pointed at is always seen.
        let skipped = (at + 1).saturating_sub(usize::from(below.height));
        let seen = choices.get(skipped..).unwrap_or_default();
        let drawn = choices::rows(canvas, below, seen, (at - skipped.min(at), look));
        let hits: Vec<Rect> = std::iter::repeat_n(Rect::default(), skipped).chain(drawn).collect();
        let row = hits.get(choices.len() - 1).copied().unwrap_or_default();
        self.hits = hits;
        if !is_writing || row.width < 4 {
            return None;
        }
        let field = &self.replies.get(self.tab)?.field;
        let row = Rect { x: row.x + 2, width: row.width - 2, ..row };
        let style = look.theme.style(Role::Chosen);
        canvas.fill(row, style);
        field.draw(canvas, row, ("write your answer", style), style)
    }

    fn draw_summary(&self, canvas: &mut Canvas, area: Rect, look: &Look) {
        let style = |role| look.theme.style(role);
        let room = usize::from(area.width);
        let line = |(question, reply): (&Question, &Reply)| {
            let answer = reply.text(question);
            let answer = if answer.is_empty() { "(no answer)".to_owned() } else { answer };
            let head = text::ellipsis(&question.text, room / 2).into_owned();
            Line::new(format!("{head} "), style(Role::Muted)).then(answer, style(Role::Text))
        };
        let lines: Vec<Line> = self.asked.questions.iter().zip(&self.replies).map(line).collect();
        canvas.lines(area, &lines);
    }

    fn text(&self, width: usize, look: &Look) -> Vec<Line> {
        let Some((question, _)) = self.shown() else { return Vec::new() };
        let style = look.theme.style(Role::Strong);
        question.text.lines().flat_map(|text| Line::new(text, style).wrap(width, 0)).collect()
    }

    fn choices(&self) -> Vec<Choice> {
        let Some((question, reply)) = self.shown() else { return Vec::new() };
        let row = |(index, text): (usize, &String)| {
            let is_picked = reply.picked.contains(&index);
            let mark = match (question.several, is_picked) {
                (true, true) => "[x] ",
                (true, false) => "[ ] ",
                (false, true) => "(x) ",
                (false, false) => "",
            };
            let key = if index < 9 { (index + 1).to_string() } else { " ".to_owned() };
            Choice {
                key,
                short: text.clone(),
                long: format!("{mark}{text}"),
                detail: String::new(),
            }
        };
        let written = reply.field.text();
        let long = match (written.is_empty(), question.choices.is_empty()) {
            (true, true) => "write your answer".to_owned(),
            (true, false) => "something else".to_owned(),
            (false, _) => written.to_owned(),
        };
        let free = Choice { key: String::new(), short: long.clone(), long, detail: String::new() };
        question.choices.iter().enumerate().map(row).chain([free]).collect()
    }

    fn hints(&self, has: Has) -> Vec<(&'static str, &'static str)> {
        let mut hints = match self.shown() {
            None => vec![("enter", "send the answers")],
            Some((question, _)) if question.several && has == Has::Keys => {
                vec![("space", "pick"), ("enter", "done")]
            }
            // A blank is the composer's as long as the keys are.
            Some((question, _)) if question.several => vec![("enter", "done")],
            Some(_) => vec![("enter", "choose")],
        };
        if self.has_tabs() && has == Has::Keys {
            hints.push(("tab", "next question"));
        }
        match has {
            Has::Keys => hints.push(("esc", "to the prompt")),
            Has::OnlySpareKeys => hints.push(("tab", "to the question")),
            Has::OnlyShortcuts => hints = vec![("tab", "to the question")],
        }
        hints
    }

    fn shown(&self) -> Option<(&Question, &Reply)> {
        self.asked.questions.get(self.tab).zip(self.replies.get(self.tab))
    }

    fn has_tabs(&self) -> bool {
        self.replies.len() > 1
    }

    /// Whether the free text is pointed at.
    fn is_writing(&self) -> bool {
        self.shown().is_some_and(|(question, reply)| reply.at >= question.choices.len())
    }

    fn scroll(&mut self, by: isize) -> Heard {
        self.top = self.top.saturating_add_signed(by).min(self.hidden);
        Heard::Taken
    }

    fn go(&mut self, by: isize) -> Heard {
        let rows = self.shown().map_or(1, |(question, _)| question.choices.len() + 1);
        if let Some(reply) = self.replies.get_mut(self.tab) {
            reply.at = (reply.at + rows).saturating_add_signed(by) % rows;
        }
        Heard::Taken
    }

    fn turn(&mut self, by: isize) -> Heard {
        let tabs = self.replies.len() + 1;
        self.tab = (self.tab + tabs).saturating_add_signed(by) % tabs;
        self.top = 0;
        Heard::Taken
    }

    /// A key that writes or picks.
    fn edit(&mut self, key: Key) -> Heard {
        let is_writing = self.is_writing();
        let Some(question) = self.asked.questions.get(self.tab) else { return Heard::Taken };
        let Some(reply) = self.replies.get_mut(self.tab) else { return Heard::Taken };
        let digit =
            key.typed().and_then(|c| c.to_digit(10)).and_then(|digit| usize::try_from(digit).ok());
        match (key.typed(), digit) {
            (Some(_), Some(digit))
                if !is_writing && digit >= 1 && digit <= question.choices.len() =>
            {
                reply.at = digit - 1;
                self.pick()
            }
            (Some(' '), _) if !is_writing => self.toggle(),
            (typed, _) => {
                // What is typed on a choice is the beginning of another answer.
                if typed.is_some() && !is_writing {
                    reply.at = question.choices.len();
                }
                if typed.is_some() && !question.several {
                    reply.picked.clear();
                }
                reply.field.key(key);
                Heard::Taken
            }
        }
    }

    fn toggle(&mut self) -> Heard {
        let Some(question) = self.asked.questions.get(self.tab) else { return Heard::Taken };
        let Some(reply) = self.replies.get_mut(self.tab) else { return Heard::Taken };
        if reply.at >= question.choices.len() {
            return Heard::WantsKeys;
        }
        if !question.several {
            reply.picked = vec![reply.at];
            reply.field.clear();
        } else if let Some(index) = reply.picked.iter().position(|picked| *picked == reply.at) {
            reply.picked.remove(index);
        } else {
            reply.picked.push(reply.at);
            reply.picked.sort_unstable();
        }
        Heard::Taken
    }

    /// Takes the row that is pointed at: of several, one more; of one, it is the answer.
    fn pick(&mut self) -> Heard {
        let is_several = self.shown().is_some_and(|(question, _)| question.several);
        if is_several || self.is_writing() {
            return self.toggle();
        }
        self.enter()
    }

    fn enter(&mut self) -> Heard {
        let Some((question, reply)) = self.shown() else { return self.send() };
        let on_choice = reply.at < question.choices.len();
        if !on_choice && reply.field.is_empty() && reply.picked.is_empty() {
            // Nothing is written yet: from the composer this means that the user wants to.
            return Heard::WantsKeys;
        }
        let picks_itself = on_choice && (!question.several || reply.picked.is_empty());
        if picks_itself {
            self.toggle();
        }
        if self.has_tabs() { self.turn(1) } else { self.send() }
    }

    fn send(&self) -> Heard {
        let texts = self.asked.questions.iter().zip(&self.replies);
        let answers = texts.map(|(question, reply)| reply.text(question)).collect();
        let request = self.asked.request;
        let op = Op::Answer { request, answers };
        Heard::Answered(Box::new(Effect::Submit { op, purpose: Purpose::Answer(request) }))
    }
}
