//! A provider's key: pasted, hidden, tried with one request.

use base::{Op, Secret};

use crate::canvas::{Canvas, Point, Rect};
use crate::field::Field;
use crate::key::{Code, Key, Mods};
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::pane::{Overlay, overlay};
use crate::theme::Role;

/// What a key did to the entry.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyStep {
    /// It goes on; this is to be done.
    Stay(Vec<Effect>),
    /// The user wants to leave.
    Back,
}

/// How far the entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// It is written.
    Writing,
    /// The provider is being asked whether it takes it.
    Trying,
    /// It was not taken.
    Refused(String),
}

/// A provider's key that is being entered.
#[derive(Debug)]
pub struct KeyEntry {
    provider: String,
    name: String,
    url: Option<String>,
    field: Field,
    state: State,
}

impl KeyEntry {
    /// An empty entry for a provider's id and name; `url` tells where a key can be had.
    pub fn new(provider: &str, name: &str, url: Option<&str>) -> Self {
        Self {
            provider: provider.to_owned(),
            name: name.to_owned(),
            url: url.map(str::to_owned),
            field: Field::masked(),
            state: State::Writing,
        }
    }

    /// A key.
    pub fn key(&mut self, key: Key) -> KeyStep {
        match key {
            Key { code: Code::Esc, .. } | Key { code: Code::Char('c'), mods: Mods::CTRL } => {
                KeyStep::Back
            }
            // While it is tried nothing may change: what is kept must be what was tried.
            _ if self.state == State::Trying => KeyStep::Stay(Vec::new()),
            Key { code: Code::Enter, mods: Mods::NONE } => self.submit(),
            Key { code: Code::Char('o'), mods: Mods::CTRL } => {
                KeyStep::Stay(self.url.clone().map(Effect::OpenLink).into_iter().collect())
            }
            _ => {
                self.field.key(key);
                KeyStep::Stay(Vec::new())
            }
        }
    }

    /// Pasted text.
    pub fn paste(&mut self, text: &str) {
        if self.state != State::Trying {
            self.field.insert(text.trim());
        }
    }

    /// The provider, or what should have kept the key, did not take it.
    pub fn refused(&mut self, why: &str) {
        self.state = State::Refused(why.to_owned());
    }

    /// Draws it over what is there and returns where the caret is.
    pub fn draw(&self, canvas: &mut Canvas, area: Rect, look: &Look) -> Option<Point> {
        let style = |role| look.theme.style(role);
        let mut lines = Vec::new();
        if let Some(url) = &self.url {
            let begin = Line::new("get one at ", style(Role::Muted));
            lines.push(begin.then(url, style(Role::Link)));
        }
        let (told, role) = match &self.state {
            State::Writing => {
                ("it is tried with one request, then kept in your keyring", Role::Faint)
            }
            State::Trying => ("trying it…", Role::Accent),
            State::Refused(why) => (why.as_str(), Role::Bad),
        };
        lines.extend(told.lines().map(|row| Line::new(row, style(role))));
        let hints: &[(&str, &str)] = match self.url {
            Some(_) => &[("enter", "try it"), ("esc", "back"), ("ctrl+o", "open the page")],
            None => &[("enter", "try it"), ("esc", "back")],
        };
        let title = format!("key for {}", self.name);
        let shown =
            Overlay { title: &title, lines, field: Some((&self.field, "paste the key")), hints };
        overlay(canvas, area, &shown, look)
    }

    fn submit(&mut self) -> KeyStep {
        let text = self.field.text().trim();
        if text.is_empty() {
            return KeyStep::Stay(Vec::new());
        }
        let op = Op::Login { provider: self.provider.clone(), key: Secret::new(text) };
        self.state = State::Trying;
        KeyStep::Stay(vec![Effect::Submit { op, purpose: Purpose::Login }])
    }
}
