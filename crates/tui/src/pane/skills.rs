//! Skills: instructions the model reads when they are needed.

use base::protocol::{Offer, OfferKind};

use super::list::{Hints, List};
use super::{Pressed, Shared, offers};
use crate::line::Line;
use crate::look::Look;
use crate::message::Effect;
use crate::picker::Picker;

/// The list of skills.
#[derive(Debug)]
pub(crate) struct Skills {
    offers: Vec<Offer>,
}

impl Skills {
    /// A list of those there are.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { offers: offers::of(shared, OfferKind::Skill) }
    }
}

impl List for Skills {
    type Worth = Offer;

    fn picker(&mut self) -> Picker<Offer> {
        let mut picker = Picker::new("skills");
        picker.set(
            offers::rows(std::mem::take(&mut self.offers)),
            "no skills; .caiman/skills/NAME/SKILL.md defines one",
        );
        picker
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        offers::HINTS
    }

    fn take(&mut self, picker: &mut Picker<Offer>) -> Pressed {
        let write = picker.chosen().map(|offer| Effect::Write(format!("/{} ", offer.name)));
        Pressed::Done(write.into_iter().collect())
    }

    fn preview(&mut self, worth: &Offer, width: usize, look: &Look) -> Vec<Line> {
        offers::preview(worth, width, look)
    }
}
