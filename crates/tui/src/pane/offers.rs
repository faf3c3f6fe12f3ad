//! Agents that work can be given to, and skills: lists of what may be written by name.

use base::protocol::{Offer, OfferKind, Query};

use super::list::{Hints, List};
use super::{Pressed, Shared};
use crate::key::Key;
use crate::line::Line;
use crate::look::Look;
use crate::message::{Asker, Effect};
use crate::picker::{Picker, Row};
use crate::theme::Role;

/// What the keys of these lists do.
const HINTS: Hints = &[
    ("enter", "write its name"),
    ("esc", "close"),
    ("tab", "details"),
    ("ctrl+o", "edit its file"),
];

/// A list of the offers of a kind.
#[derive(Debug)]
pub(crate) struct Offers {
    listed: Vec<Offer>,
    folder: String,
    title: &'static str,
    /// What is said where there are none.
    nothing: &'static str,
    /// What goes before a name to call it.
    sign: &'static str,
}

impl Offers {
    /// Agents.
    pub(crate) fn agents(shared: &Shared) -> Self {
        let nothing = "no agents; .caiman/agents/NAME.md defines one";
        Self::of(shared, OfferKind::Agent, ("agents", nothing, "@agent-"))
    }

    /// Skills.
    pub(crate) fn skills(shared: &Shared) -> Self {
        let nothing = "no skills; .caiman/skills/NAME/SKILL.md defines one";
        Self::of(shared, OfferKind::Skill, ("skills", nothing, "/"))
    }

    fn of(
        shared: &Shared,
        kind: OfferKind,
        (title, nothing, sign): (&'static str, &'static str, &'static str),
    ) -> Self {
        let listed = shared.offers.iter().filter(|offer| offer.kind == kind).cloned().collect();
        Self { listed, folder: shared.folder.clone(), title, nothing, sign }
    }
}

impl List for Offers {
    type Worth = Offer;

    fn picker(&mut self) -> Picker<Offer> {
        let mut picker = Picker::new(self.title);
        picker.set(rows(std::mem::take(&mut self.listed)), self.nothing);
        picker
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        HINTS
    }

    fn key(&mut self, picker: &mut Picker<Offer>, key: Key) -> Option<Pressed> {
        if key != Key::ctrl('o') {
            return None;
        }
        let source = picker.chosen()?.source.clone();
        if !source.starts_with('/') {
            let words = "it is built in: a file of the same name takes its place";
            return Some(Pressed::Taken(vec![Effect::Say(words.to_owned())]));
        }
        let query = Query::Offers { folder: self.folder.clone() };
        let again = Effect::Ask { query, asker: Asker::Offers };
        Some(Pressed::Done(vec![Effect::EditFile(source), again]))
    }

    fn take(&mut self, picker: &mut Picker<Offer>) -> Pressed {
        let write = |offer: &Offer| Effect::Write(format!("{}{} ", self.sign, offer.name));
        Pressed::Done(picker.chosen().map(write).into_iter().collect())
    }

    fn preview(&mut self, worth: &Offer, width: usize, look: &Look) -> Vec<Line> {
        preview(worth, width, look)
    }
}

/// Offers as rows.
fn rows(offers: Vec<Offer>) -> Vec<(Row, Offer)> {
    offers.into_iter().map(|offer| (Row::new(&offer.name).noted(&offer.about), offer)).collect()
}

/// All that is known of an offer.
fn preview(offer: &Offer, width: usize, look: &Look) -> Vec<Line> {
    let style = |role| look.theme.style(role);
    let title = Line::new(&offer.name, style(Role::Strong));
    let mut lines =
        vec![title.then(format!(" {}", offer.arguments), style(Role::Muted)), Line::EMPTY];
    for text in offer.about.lines() {
        lines.extend(Line::new(text, style(Role::Text)).wrap(width, 0));
    }
    lines.push(Line::EMPTY);
    lines.extend(Line::new(&offer.source, style(Role::Faint)).wrap(width, 0));
    lines
}
