//! May this run? What would be done, why it is asked, and how long a yes lasts.

use base::protocol::{Approval, Mode, Scope};
use base::{Block, Op};

use super::choices::{self, Choice};
use super::command::{self, Layout};
use super::{Asked, Drawing, Has, Heard, body};
use crate::canvas::{Canvas, Point, Rect};
use crate::field::Field;
use crate::key::{Button, Code, Key, Mods, Mouse, MouseKind};
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::footer;
use crate::text::clean;
use crate::theme::Role;

/// Up to this many rows above the answers, what would be done is worth more than what it is called.
const LOW: u16 = 4;

const NO_RULE: &str = "no rule can lift this question: yes once, or no";
const READ_FIRST: &str = "read all of it first: shift+down shows more";

/// An answer that can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Yes, this one time.
    Once,
    /// Yes, as long as the session lasts.
    Session,
    /// Yes, by a rule.
    Always,
    /// No.
    No,
    /// No, with a note to the model.
    Tell,
}

/// What is being written.
#[derive(Debug)]
enum Writing {
    Nothing,
    /// The rule that a lasting yes keeps, and where it counts.
    Rule(Field, Scope),
    /// What the model should do instead.
    Note(Field),
}

/// Whether a yes can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    /// It was never drawn: nothing of it was seen.
    Unseen,
    /// Some of what makes it risky was not on the screen yet.
    Locked,
    /// All of that was.
    Open,
}

/// What is asked and why, laid out.
struct Head {
    what: Vec<Line>,
    why: Vec<Line>,
}

/// What stands below the head of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    /// The command.
    Command,
    /// A change, which does not tell of which file, or nothing.
    Other,
}

impl Head {
    fn len(&self) -> usize {
        self.what.len() + self.why.len()
    }

    /// As much of both as fits into some rows: the end of what is asked goes first, all of it where a command
    /// tells as much, then that of why.
    fn fit(&self, rows: usize, below: Below) -> impl ExactSizeIterator<Item = &Line> {
        let least = match below {
            Below::Command if !self.why.is_empty() => rows / 2,
            Below::Command | Below::Other => rows.div_ceil(2),
        };
        let what = self.what.len().min(rows.saturating_sub(self.why.len()).max(least));
        let why = self.why.len().min(rows - what.min(rows));
        let lines: Vec<&Line> = self.what[..what].iter().chain(&self.why[..why]).collect();
        lines.into_iter()
    }
}

/// A question about permission that waits.
#[derive(Debug)]
pub(super) struct Permission {
    pub(super) asked: Asked,
    at: usize,
    writing: Writing,
    /// Why what was written was not taken; until it is changed.
    refusal: Option<String>,
    top: usize,
    /// Rows that the body has and has room for, as it was drawn last.
    rows: (usize, usize),
    /// Rows of the body that were seen, from the first without a gap.
    seen: usize,
    /// Rows of the body that were on the screen last: the most that one step may scroll.
    page: usize,
    lock: Lock,
    hits: Vec<Rect>,
    /// The body, laid out for a width and a look.
    laid_out: Option<(usize, u32, Layout)>,
    /// Whether the title stands where the body does, since it is too long for the head and there is no body.
    titled: bool,
}

impl Permission {
    /// A question that was just asked.
    pub(super) fn new(asked: Asked) -> Self {
        Self {
            asked,
            at: 0,
            writing: Writing::Nothing,
            refusal: None,
            top: 0,
            rows: (0, 0),
            seen: 0,
            page: 1,
            lock: Lock::Unseen,
            hits: Vec::new(),
            laid_out: None,
            titled: false,
        }
    }

    /// What was answered was not taken; why.
    pub(super) fn refuse(&mut self, why: &str) {
        self.refusal = Some(why.to_owned());
    }

    /// A key, with the keys or from an empty composer.
    pub(super) fn key(&mut self, key: Key) -> Heard {
        if !matches!(self.writing, Writing::Nothing) && !super::is_scroll(key) {
            return self.write(key);
        }
        match key {
            Key { code: Code::Up, mods: Mods::SHIFT } => self.scroll(-1),
            Key { code: Code::Down, mods: Mods::SHIFT } => self.scroll(1),
            Key { code: Code::PageUp, mods: Mods::NONE } => self.scroll(-8),
            Key { code: Code::PageDown, mods: Mods::NONE } => self.scroll(8),
            Key { code: Code::Up | Code::Left, mods: Mods::NONE } => self.go(-1),
            Key { code: Code::Down | Code::Right, mods: Mods::NONE } => self.go(1),
            Key { code: Code::Enter, mods: Mods::NONE } => self.take(),
            Key { code: Code::Esc, mods: Mods::NONE } => Heard::Leaves,
            Key { code: Code::Char(c), mods: Mods::NONE } => self.letter(c),
            _ => Heard::Nothing,
        }
    }

    /// The mouse: a click chooses, a click on what is chosen answers.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> Heard {
        match mouse.kind {
            MouseKind::WheelUp => self.scroll(-3),
            MouseKind::WheelDown => self.scroll(3),
            MouseKind::Down(Button::Left) => {
                match self.hits.iter().position(|hit| hit.contains(mouse.at)) {
                    Some(hit) if hit == self.at => self.take(),
                    Some(hit) => {
                        self.at = hit;
                        Heard::Taken
                    }
                    None => Heard::Nothing,
                }
            }
            MouseKind::Down(_) | MouseKind::Up(_) | MouseKind::Drag(_) => Heard::Nothing,
        }
    }

    /// Pasted text; whether it was of use.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        match &mut self.writing {
            Writing::Nothing => false,
            Writing::Rule(field, _) | Writing::Note(field) => {
                field.insert(text);
                self.refusal = None;
                true
            }
        }
    }

    /// Whether not all of what is asked about is seen.
    pub(super) fn scrolls(&self) -> bool {
        self.rows.0 > self.rows.1
    }

    /// Rows it wants.
    pub(super) fn height(&mut self, width: u16, look: &Look) -> u16 {
        let width = width.saturating_sub(2);
        let head = self.head(usize::from(width), look).len();
        let body = self.body(usize::from(width), look).lines.len();
        let body = if self.titled { 0 } else { body };
        let all = 2 + head + body + self.all_answers().len();
        u16::try_from(all).unwrap_or(u16::MAX)
    }

    /// Draws it and returns where the caret is.
    pub(super) fn draw(&mut self, canvas: &mut Canvas, drawing: &Drawing<'_>) -> Option<Point> {
        let Drawing { area, look, has, .. } = *drawing;
        canvas.fill(area, look.theme.style(Role::Panel));
        let (title, rest) = area.split_top(1);
        let rest = rest.inset(1, 0);
        // On a small screen the reason is worth more than hints, which the title gives in short.
        let has_footer = rest.height >= super::ROOMY || !matches!(self.writing, Writing::Nothing);
        let (rest, foot) = rest.split_bottom(u16::from(has_footer && rest.height > 3));
        if !matches!(self.writing, Writing::Nothing) {
            super::title(canvas, title, "may this run?", drawing);
            footer(canvas, foot, &self.hints(drawing), look);
            return self.draw_writing(canvas, rest, look).filter(|_| has == Has::Keys);
        }
        let head = self.head(rest.width.into(), look);
        // The answers have the same room whether a yes is offered or not, so that offering it hides nothing.
        let all = self.choices(self.all_answers());
        let listed = u16::try_from(all.len()).unwrap_or(0);
        let head_rows = u16::try_from(head.len()).unwrap_or(u16::MAX);
        let lines = self.body(rest.width.into(), look).lines.len();
        // A row an answer, if that leaves a few for what is asked about.
        let wanted = head_rows.saturating_add(u16::try_from(lines.min(4)).unwrap_or(4));
        let is_listed = rest.height >= listed.saturating_add(wanted);
        let below = if is_listed { listed } else { choices::packed_height(&all, rest.width) };
        let (above, below) = rest.split_bottom(below.min(rest.height.saturating_sub(1)));
        self.draw_above(canvas, above, &head, look);
        self.update_lock();
        let words =
            if self.lock == Lock::Open { "may this run?" } else { "may this run? read on first" };
        super::title(canvas, title, words, drawing);
        footer(canvas, foot, &self.hints(drawing), look);
        self.draw_choices(canvas, below, is_listed, look);
        None
    }

    /// Draws the answers that can be given now, and how to get to the others.
    fn draw_choices(&mut self, canvas: &mut Canvas, area: Rect, is_listed: bool, look: &Look) {
        let choices = self.choices(self.answers());
        let chosen = (self.at, look);
        self.hits = if is_listed {
            choices::rows(canvas, area, &choices, chosen)
        } else {
            choices::packed(canvas, area, &choices, chosen)
        };
        let used = self.hits.iter().map(|hit| hit.bottom()).max().unwrap_or(area.y);
        if self.lock != Lock::Open && used < area.bottom() {
            let row = Rect { y: used, height: 1, ..area };
            canvas.text(row, " shift+down: read on, then yes", look.theme.style(Role::Muted));
        }
    }

    /// Whether all that must be seen was on the screen. The answer that is chosen stays the same.
    fn update_lock(&mut self) {
        let must_see = self.laid_out.as_ref().map_or(0, |(_, _, layout)| layout.must_see);
        let lock = if self.seen >= must_see { Lock::Open } else { Lock::Locked };
        let chosen = self.answers().get(self.at).copied().filter(|_| self.lock != Lock::Unseen);
        self.lock = lock;
        let place = chosen.and_then(|chosen| self.answers().iter().position(|it| *it == chosen));
        self.at = place.unwrap_or(0);
    }

    fn draw_above(&mut self, canvas: &mut Canvas, area: Rect, head: &Head, look: &Look) {
        self.place_title(head, area, look);
        let count = self.body(area.width.into(), look).lines.len();
        // On the smallest screen, too, nothing is allowed unseen: one row is what would be done.
        let below = match &self.asked.body {
            Some(Block::Text { .. }) if count > 0 => Below::Command,
            None if self.titled => Below::Command,
            Some(_) | None => Below::Other,
        };
        let kept = match below {
            Below::Command if area.height <= LOW => u16::try_from(count).unwrap_or(u16::MAX),
            Below::Command | Below::Other => area.height / 2,
        };
        let kept = kept.clamp(1, area.height.saturating_sub(1).max(1)).min(area.height);
        let kept = if count == 0 { 0 } else { kept };
        let only_why = Head { what: Vec::new(), why: head.why.clone() };
        let head = if self.titled { &only_why } else { head };
        let lines = head.fit(usize::from(area.height - kept), below);
        let (top, rest) = area.split_top(u16::try_from(lines.len()).unwrap_or(u16::MAX));
        canvas.lines(top, lines);
        self.draw_body(canvas, rest, look);
    }

    /// A long title without a body is scrolled like one: it tells what would be done.
    fn place_title(&mut self, head: &Head, area: Rect, look: &Look) {
        let rows = head.what.len() + head.why.len().min(1);
        let titled = self.asked.body.is_none() && rows > usize::from(area.height);
        if titled != self.titled {
            self.titled = titled;
            self.laid_out = None;
            self.body(area.width.into(), look);
        }
    }

    fn draw_body(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) {
        let count = self.body(area.width.into(), look).lines.len();
        let height = usize::from(area.height);
        self.rows = (count, height);
        self.scroll(0);
        let first = self.top;
        let is_writing = !matches!(self.writing, Writing::Nothing);
        let how = if is_writing { "" } else { ", shift+down" };
        let badge = |hidden: usize| format!(" {hidden} more{how} ");
        let mut visible = height.min(count.saturating_sub(first));
        let mut hidden = count - first.min(count) - visible;
        let layout = self.body(area.width.into(), look);
        let (lines, must_see) = (&layout.lines, layout.must_see);
        let last = (first + visible).checked_sub(1).filter(|at| *at < must_see);
        let is_covered = last
            .and_then(|at| lines.get(at))
            .is_some_and(|line| line.width() + badge(hidden).len() > usize::from(area.width));
        // The count of what is hidden must not itself hide the end of a row.
        if hidden > 0 && is_covered && visible > 1 {
            visible -= 1;
            hidden += 1;
        }
        let is_covered = is_covered && visible == 1;
        canvas.lines(area, lines.iter().skip(first).take(visible));
        if first <= self.seen {
            self.seen = self.seen.max(first + visible);
        }
        self.rows = (count, height);
        self.page = visible.max(1);
        if hidden > 0 && area.height > 0 && !is_covered {
            let words = badge(hidden);
            let wide = u16::try_from(words.len()).unwrap_or(0).min(area.width);
            let at = Rect { x: area.right() - wide, y: area.bottom() - 1, width: wide, height: 1 };
            canvas.text(at, &words, look.theme.style(Role::Muted));
        }
    }

    fn draw_writing(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) -> Option<Point> {
        self.hits.clear();
        let style = |role| look.theme.style(role);
        let mut told = match &self.refusal {
            Some(why) => Line::new(why.as_str(), style(Role::Bad)).wrap(area.width.into(), 0),
            None => Vec::new(),
        };
        let rows = u16::try_from(told.len()).unwrap_or(u16::MAX);
        let (above, below) = area.split_bottom(rows.saturating_add(2));
        let head = self.head(area.width.into(), look);
        if above.height > 0 {
            self.draw_above(canvas, above, &head, look);
        }
        let (label, field, hint) = match &self.writing {
            Writing::Nothing => return None,
            Writing::Rule(field, Scope::Always) => ("rule, in every project:", field, "a rule"),
            Writing::Rule(field, Scope::Once | Scope::Session | Scope::Project) => {
                ("rule, in this project:", field, "a rule")
            }
            Writing::Note(field) => {
                ("no; tell the model what to do instead:", field, "use pnpm here")
            }
        };
        told.push(Line::new(label, style(Role::Muted)));
        let (first, second) = below.split_top(below.height.saturating_sub(1));
        canvas.lines(first, &told);
        let x = canvas.text(second, if look.unicode { "› " } else { "> " }, style(Role::Accent));
        let row = Rect { x, width: second.right().saturating_sub(x), ..second };
        field.draw(canvas, row, (hint, style(Role::Faint)), style(Role::Text))
    }

    /// What is asked, who asks and why.
    fn head(&self, width: usize, look: &Look) -> Head {
        let style = |role| look.theme.style(role);
        let Asked { title, reason, risky, body, .. } = &self.asked;
        // "it changes a.rs" needs no "a.rs" above it.
        let says_all = matches!(body, Some(Block::Diff { .. })) && reason.contains(title.as_str());
        let (what, reason) = if says_all { (reason, "") } else { (title, reason.as_str()) };
        let cleaned: Vec<String> = risky.iter().map(|part| clean(part).into_owned()).collect();
        let what = command::marked(&clean(what), &cleaned, style(Role::Strong), look);
        let mut why = Line::EMPTY;
        if let Some(agent) = &self.asked.agent {
            why.push(format!("{agent} asks: "), style(Role::Accent));
        }
        why.push(clean(reason), style(Role::Muted));
        let mode = match self.asked.mode {
            Mode::Default => "",
            Mode::AcceptEdits => " (mode: accept edits)",
            Mode::Plan => " (mode: plan)",
            Mode::DontAsk => " (mode: don't ask)",
            Mode::Bypass => " (mode: bypass)",
        };
        why.push(mode, style(Role::Faint));
        let why = if why.width() == 0 { Vec::new() } else { why.wrap(width, 0) };
        Head { what: what.wrap(width, 2), why }
    }

    fn body(&mut self, width: usize, look: &Look) -> &Layout {
        let is_fresh =
            |(wide, version, _): &(usize, u32, Layout)| (*wide, *version) == (width, look.version);
        if !self.laid_out.as_ref().is_some_and(is_fresh) {
            let layout = match &self.asked.body {
                Some(block) => body::layout(block, &self.asked, width, look),
                None if self.titled => command::layout(&self.asked.title, &[], width, look),
                None => Layout::default(),
            };
            // Other rows: what was seen before says nothing of them.
            self.seen = 0;
            self.laid_out = Some((width, look.version, layout));
        }
        &self.laid_out.get_or_insert_with(|| (width, look.version, Layout::default())).2
    }

    /// The answers that can be given now.
    fn answers(&self) -> &'static [Answer] {
        if self.lock == Lock::Open { self.all_answers() } else { &[Answer::No, Answer::Tell] }
    }

    /// The answers that can be given once all was seen that must be.
    fn all_answers(&self) -> &'static [Answer] {
        if self.asked.rules.is_empty() {
            &[Answer::Once, Answer::No, Answer::Tell]
        } else {
            &[Answer::Once, Answer::Session, Answer::Always, Answer::No, Answer::Tell]
        }
    }

    fn choices(&self, answers: &[Answer]) -> Vec<Choice> {
        let rule = self.asked.rules.join(" · ");
        let choice = |answer: &Answer| {
            let (key, short, long, detail) = match answer {
                Answer::Once => ("y", "once", "yes, once", ""),
                Answer::Session => ("s", "session", "yes, for this session", ""),
                Answer::Always => ("a", "always", "yes, always in this project:", rule.as_str()),
                Answer::No => ("n", "no", "no", ""),
                Answer::Tell => ("t", "tell", "no, and tell the model what to do instead", ""),
            };
            let [key, short, long, detail] = [key, short, long, detail].map(str::to_owned);
            Choice { key, short, long, detail }
        };
        answers.iter().map(choice).collect()
    }

    fn hints<'a>(&self, drawing: &Drawing<'a>) -> Vec<(&'a str, &'a str)> {
        match (&self.writing, drawing.has) {
            (Writing::Rule(..), _) => {
                vec![("enter", "keep"), ("esc", "back"), ("tab", "where it counts")]
            }
            (Writing::Note(_), _) => vec![("enter", "send"), ("esc", "back")],
            (Writing::Nothing, _) if self.lock != Lock::Open => {
                vec![("shift+down", "read on; then yes can be chosen")]
            }
            (Writing::Nothing, Has::Keys) if self.asked.rules.is_empty() => {
                vec![("enter", "choose"), ("esc", "to the prompt")]
            }
            (Writing::Nothing, Has::Keys) => {
                vec![("enter", "choose"), ("e", "edit the rule"), ("esc", "to the prompt")]
            }
            (Writing::Nothing, Has::OnlySpareKeys) => {
                vec![("up/down, enter", "choose"), (drawing.yes, "yes"), ("tab", "to the question")]
            }
            (Writing::Nothing, Has::OnlyShortcuts) => {
                vec![(drawing.yes, "yes"), ("tab", "to the question")]
            }
        }
    }

    fn scroll(&mut self, by: isize) -> Heard {
        let most = self.rows.0.saturating_sub(self.rows.1);
        // A step beyond what is on the screen would leave rows out.
        let page = isize::try_from(self.page).unwrap_or(isize::MAX);
        self.top = self.top.saturating_add_signed(by.clamp(-page, page)).min(most);
        if self.lock == Lock::Locked {
            // Several keys may come before the next frame: none of them scrolls past a row that was not drawn.
            self.top = self.top.min(self.seen);
        }
        Heard::Taken
    }

    fn go(&mut self, by: isize) -> Heard {
        let count = self.answers().len();
        self.at = (self.at + count).saturating_add_signed(by) % count;
        Heard::Taken
    }

    fn letter(&mut self, c: char) -> Heard {
        let digit = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
        match (c, digit) {
            (_, Some(digit)) => match self.answers().get(digit.wrapping_sub(1)) {
                Some(answer) => self.give(*answer),
                None => Heard::Taken,
            },
            ('y', None) => self.give(Answer::Once),
            ('s', None) => self.give(Answer::Session),
            ('a', None) => self.give(Answer::Always),
            ('n', None) => self.give(Answer::No),
            ('t', None) => self.give(Answer::Tell),
            ('e', None) => self.edit_rule(),
            // The user is in the question: what they type is not for the composer.
            (_, None) => Heard::Taken,
        }
    }

    fn take(&mut self) -> Heard {
        match self.answers().get(self.at) {
            Some(answer) => self.give(*answer),
            None => Heard::Taken,
        }
    }

    fn edit_rule(&mut self) -> Heard {
        let Some(rule) = self.asked.rules.first() else { return Heard::Refused(NO_RULE) };
        if self.lock != Lock::Open {
            return Heard::Refused(READ_FIRST);
        }
        self.writing = Writing::Rule(Field::new(rule), Scope::Project);
        Heard::WantsKeys
    }

    /// An answer is given, or what it needs is asked for.
    pub(super) fn give(&mut self, answer: Answer) -> Heard {
        if !self.answers().contains(&answer) {
            let is_later = self.all_answers().contains(&answer);
            return Heard::Refused(if is_later { READ_FIRST } else { NO_RULE });
        }
        let allow = |scope| Approval::Allow { scope, rule: None };
        match answer {
            Answer::Once => self.answer(allow(Scope::Once)),
            Answer::Session => self.answer(allow(Scope::Session)),
            Answer::Always => self.answer(allow(Scope::Project)),
            Answer::No => self.answer(Approval::Deny { instead: None }),
            Answer::Tell => {
                self.writing = Writing::Note(Field::default());
                Heard::WantsKeys
            }
        }
    }

    fn answer(&self, approval: Approval) -> Heard {
        let request = self.asked.request;
        let op = Op::Approve { request, approval };
        Heard::Answered(Box::new(Effect::Submit { op, purpose: Purpose::Answer(request) }))
    }

    /// A key while something is being written.
    fn write(&mut self, key: Key) -> Heard {
        match (key, &mut self.writing) {
            (_, Writing::Nothing) => Heard::Nothing,
            (Key { code: Code::Esc, .. }, _) => {
                self.writing = Writing::Nothing;
                self.refusal = None;
                Heard::Taken
            }
            (Key { code: Code::Tab, .. }, Writing::Rule(_, scope)) => {
                *scope = if *scope == Scope::Project { Scope::Always } else { Scope::Project };
                Heard::Taken
            }
            (Key { code: Code::Enter, mods: Mods::NONE }, Writing::Rule(field, scope)) => {
                let (rule, scope) = (field.text().trim().to_owned(), *scope);
                if rule.is_empty() {
                    return Heard::Refused("an empty rule allows nothing: write one, or esc");
                }
                // Unchanged, all the proposed ones are kept, not only the first.
                let rule = (self.asked.rules.first() != Some(&rule)).then_some(rule);
                self.answer(Approval::Allow { scope, rule })
            }
            (Key { code: Code::Enter, mods: Mods::NONE }, Writing::Note(field)) => {
                let note = field.text().trim().to_owned();
                self.answer(Approval::Deny { instead: (!note.is_empty()).then_some(note) })
            }
            (key, Writing::Rule(field, _) | Writing::Note(field)) => {
                field.key(key);
                self.refusal = None;
                Heard::Taken
            }
        }
    }
}
