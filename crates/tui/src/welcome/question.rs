//! A question of the first run: some words, and a few answers of which none is given by accident.

use base::protocol::Place;
use base::protocol::TrustState;

use crate::canvas::{Canvas, Rect};
use crate::key::{Button, Code, Key, Mods, Mouse, MouseKind};
use crate::line::Line;
use crate::look::Look;
use crate::picker::{Framed, footer, frame};
use crate::theme::Role;

/// More files than this are only counted.
const MOST_FILES: usize = 12;

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    /// Yes.
    Yes,
    /// No.
    No,
    /// No, and it is not to be asked again.
    Never,
    /// The user wants to leave Caiman.
    Quit,
}

/// A question of the first run.
#[derive(Debug, Default)]
pub(super) struct Question {
    title: String,
    begin: String,
    files: Vec<String>,
    end: String,
    answers: Vec<(char, &'static str, Chosen)>,
    at: usize,
    rows: Vec<u16>,
}

/// May what the folder's files say be run?
pub(super) fn trust(place: &Place) -> Question {
    let begin = match place.trust {
        TrustState::Changed => "These files can run commands or loosen rules, and have changed:",
        TrustState::Empty | TrustState::Unknown | TrustState::Trusted => {
            "These files can run commands or loosen rules:"
        }
    };
    let named = place.untrusted.len().min(MOST_FILES);
    let mut files = place.untrusted[..named].to_vec();
    if place.untrusted.len() > named {
        files.push(format!("and {} more", place.untrusted.len() - named));
    }
    let end = "Without trust Caiman works here, but leaves what they say alone.";
    Question {
        title: format!("trust {}?", place.folder),
        begin: begin.to_owned(),
        files,
        end: end.to_owned(),
        answers: vec![
            ('y', "yes, I know these files", Chosen::Yes),
            ('n', "no, work without them", Chosen::No),
            ('q', "quit", Chosen::Quit),
        ],
        // Enter alone must not give trust.
        at: 1,
        ..Question::default()
    }
}

/// Shall the instruction file be written?
pub(super) fn init(file: &str) -> Question {
    Question {
        title: format!("write {file}?"),
        begin: format!(
            "There is no {file} yet: notes for agents on how this project is built and tested."
        ),
        end: "The model reads the project and writes them; you see each step.".to_owned(),
        answers: vec![
            ('y', "yes, write it", Chosen::Yes),
            ('n', "not now", Chosen::No),
            ('v', "never in this folder", Chosen::Never),
        ],
        ..Question::default()
    }
}

impl Question {
    /// A key; what was answered by it.
    pub(super) fn key(&mut self, key: Key) -> Option<Chosen> {
        let count = self.answers.len().max(1);
        match key {
            Key { code: Code::Up, .. } => self.at = (self.at + count - 1) % count,
            Key { code: Code::Down | Code::Tab, .. } => self.at = (self.at + 1) % count,
            Key { code: Code::Enter, mods: Mods::NONE } => {
                return self.answers.get(self.at).map(|(_, _, chosen)| *chosen);
            }
            Key { code: Code::Esc, mods: Mods::NONE } => return Some(Chosen::No),
            Key { code: Code::Char('c'), mods: Mods::CTRL } => return Some(Chosen::Quit),
            Key { code: Code::Char(c), mods: Mods::NONE } => {
                return self
                    .answers
                    .iter()
                    .find(|(letter, ..)| *letter == c)
                    .map(|(_, _, chosen)| *chosen);
            }
            _ => {}
        }
        None
    }

    /// The mouse; what was answered by it.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> Option<Chosen> {
        if mouse.kind != MouseKind::Down(Button::Left) {
            return None;
        }
        let hit = self.rows.iter().position(|row| *row == mouse.at.y)?;
        self.answers.get(hit).map(|(_, _, chosen)| *chosen)
    }

    /// Draws it into the whole screen; the answers are always seen.
    pub(super) fn draw(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) {
        let rows = self.files.len() + self.answers.len() + 7;
        let inner = frame(canvas, area, Framed { title: &self.title, rows }, look);
        let (body, foot) = inner.split_bottom(u16::from(inner.height > 5));
        footer(canvas, foot, &[("enter", "choose"), ("up/down", "move")], look);
        let answers = u16::try_from(self.answers.len()).unwrap_or(0);
        let gap = u16::from(body.height > 9);
        let room = body.height.saturating_sub(answers + gap);
        let words = self.words(body.width.into(), room.into(), look);
        let shown = u16::try_from(words.len()).unwrap_or(u16::MAX).min(room);
        let (top, rest) = body.split_top(shown);
        canvas.lines(top, &words);
        let (_, rest) = rest.split_top(gap);
        self.draw_answers(canvas, rest, look);
    }

    /// What is said, in some rows: files are named side by side where they do not fit below each other.
    fn words(&self, width: usize, room: usize, look: &Look) -> Vec<Line> {
        let wrapped = |text: &str, role| Line::new(text, look.theme.style(role)).wrap(width, 0);
        let begin = wrapped(&self.begin, Role::Text);
        let end = wrapped(&self.end, Role::Muted);
        let below = self.files.iter().flat_map(|file| wrapped(&format!("  {file}"), Role::Code));
        let mut files: Vec<Line> = below.collect();
        if begin.len() + files.len() + end.len() > room {
            files = wrapped(&self.files.join("  "), Role::Code);
        }
        let mut lines: Vec<Line> = begin.into_iter().chain(files).chain(end).collect();
        if lines.len() > room && room > 0 {
            lines.truncate(room - 1);
            lines.push(Line::new("…", look.theme.style(Role::Faint)));
        }
        lines
    }

    fn draw_answers(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) {
        let style = |role| look.theme.style(role);
        self.rows.clear();
        for (index, (y, (letter, words, _))) in
            (area.y..area.bottom()).zip(&self.answers).enumerate()
        {
            let is_chosen = index == self.at;
            let pick = |role| style(if is_chosen { Role::Chosen } else { role });
            let pointer = if is_chosen { if look.unicode { "› " } else { "> " } } else { "  " };
            let line = Line::new(format!("{pointer}{letter}  "), pick(Role::Accent))
                .then(*words, pick(Role::Text));
            let fill = is_chosen.then(|| style(Role::Chosen));
            canvas.line(Rect { y, height: 1, ..area }, &Line { fill, ..line });
            self.rows.push(y);
        }
    }
}
