//! The first run: a model to talk to, trust for a folder, instructions for a project. It has the shape of a
//! pane, and asks only what is open.

mod key_entry;
mod question;

use base::protocol::TrustState;
use base::protocol::{ClientError, KeyState, Place, ProviderState, Query, Reply, Trust};
use base::{ModelRef, Op};

use crate::canvas::{Canvas, Point, Rect};
use crate::key::{Key, Mouse};
use crate::keymap::Action;
use crate::look::Look;
use crate::message::{Asker, Effect, Purpose};
use crate::pane::{Pane, PaneKind, Pressed, Shared};
use crate::picker::{Picked, Picker, Row, Side};

pub use key_entry::{KeyEntry, KeyStep};
use question::{Chosen, Question};

/// What keeps the offer to write instructions from being made again; the folder follows.
pub const NO_INIT: &str = "init.never:";

/// The provider that is a script.
const DEMO: &str = "demo";

const PLACE: u8 = 0;
const PROVIDERS: u8 = 1;

/// How far the first run is.
#[derive(Debug)]
pub enum Step {
    /// It is being looked up how things stand.
    Looking,
    /// A provider is to be chosen.
    Provider,
    /// A provider's key is to be entered.
    Key(Box<KeyEntry>, Option<ModelRef>),
    /// It is asked whether the folder's files may run what they say.
    Trust,
    /// It is offered to write the instruction file of this name.
    Init(String),
    /// Nothing is left to ask.
    Finished,
}

/// The first run.
#[derive(Debug)]
pub struct Welcome {
    pane: u64,
    step: Step,
    place: Option<Box<Place>>,
    picker: Picker<ProviderState>,
    question: Question,
    /// Only a key is wanted: what the folder needs is not asked.
    is_login: bool,
    has_model: bool,
    /// The key that lists models.
    models_key: String,
}

impl Welcome {
    /// Whether a place leaves something to ask.
    pub fn is_needed(place: &Place) -> bool {
        place.model.is_none() || wants_trust(place) || place.init.is_some()
    }

    /// The first run in a place, whatever of it is open.
    pub fn new(shared: &Shared, place: Place) -> Self {
        let has_model = place.model.is_some();
        let mut welcome = Self::bare(shared);
        welcome.has_model = has_model;
        welcome.place = Some(Box::new(place));
        welcome.go_on();
        welcome
    }

    /// Only the choice of a provider and its key.
    pub fn login(shared: &Shared) -> Self {
        Self { is_login: true, step: Step::Provider, ..Self::bare(shared) }
    }

    fn bare(shared: &Shared) -> Self {
        Self {
            pane: shared.pane,
            step: Step::Looking,
            place: None,
            picker: Picker::new("welcome to caiman: choose a provider").in_order(),
            question: Question::default(),
            is_login: false,
            has_model: false,
            models_key: shared.keys.hint(Action::OpenModels),
        }
    }

    /// How far it is.
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// Goes to the next thing that is open.
    fn go_on(&mut self) {
        self.step = match &self.place {
            _ if self.is_login && self.has_model => Step::Finished,
            _ if self.is_login || (self.place.is_some() && !self.has_model) => Step::Provider,
            None => Step::Looking,
            Some(place) if wants_trust(place) => {
                self.question = question::trust(place);
                Step::Trust
            }
            Some(place) => match place.init.clone() {
                Some(file) => {
                    self.question = question::init(&file);
                    Step::Init(file)
                }
                None => Step::Finished,
            },
        };
    }

    fn advance(&mut self, effects: Vec<Effect>) -> Pressed {
        self.go_on();
        match self.step {
            Step::Finished => Pressed::Done(effects),
            Step::Looking | Step::Provider | Step::Key(..) | Step::Trust | Step::Init(_) => {
                Pressed::Taken(effects)
            }
        }
    }

    fn take_provider(&mut self) -> Pressed {
        let Some(provider) = self.picker.chosen() else { return Pressed::Taken(Vec::new()) };
        let model = provider.model.clone();
        match provider.key {
            KeyState::Missing => {
                let entry = KeyEntry::new(&provider.id, &provider.name, provider.url.as_deref());
                self.step = Step::Key(Box::new(entry), model);
                Pressed::Taken(Vec::new())
            }
            KeyState::Found(_) | KeyState::NotNeeded => {
                self.has_model = true;
                if provider.id == DEMO {
                    // It works in a project of its own, and cannot write anything here.
                    self.settle(|place| place.init = None);
                }
                self.advance(vec![chosen(model)])
            }
        }
    }

    fn provider_key(&mut self, key: Key) -> Pressed {
        let picked = self.picker.key(key);
        self.picked(picked)
    }

    fn picked(&mut self, picked: Picked) -> Pressed {
        match picked {
            Picked::Ignored => Pressed::Ignored,
            Picked::Taken | Picked::Moved | Picked::Searched => Pressed::Taken(Vec::new()),
            Picked::Chosen => self.take_provider(),
            Picked::Left if self.is_login => Pressed::Done(Vec::new()),
            Picked::Left => {
                let words = format!("no model yet: {} chooses one", self.models_key);
                Pressed::Done(vec![Effect::Say(words)])
            }
        }
    }

    /// A question of the place is answered: it is not asked again.
    fn settle(&mut self, how: impl FnOnce(&mut Place)) {
        if let Some(place) = &mut self.place {
            how(place);
        }
    }

    fn answer(&mut self, chosen: Chosen) -> Pressed {
        let folder = self.place.as_ref().map(|place| place.folder.clone()).unwrap_or_default();
        let submit = |op| vec![Effect::Submit { op, purpose: Purpose::Other }];
        match (&self.step, chosen) {
            (_, Chosen::Quit) => Pressed::Done(vec![Effect::Quit]),
            (Step::Trust, chosen) => {
                self.settle(|place| place.untrusted.clear());
                let trust = if chosen == Chosen::Yes { Trust::Given } else { Trust::Refused };
                self.advance(submit(Op::Trust { folder, trust }))
            }
            (Step::Init(_), Chosen::Yes) => {
                self.settle(|place| place.init = None);
                self.advance(vec![Effect::Write("/init".to_owned())])
            }
            (Step::Init(_), Chosen::Never) => {
                self.settle(|place| place.init = None);
                let key = format!("{NO_INIT}{folder}");
                self.advance(submit(Op::Remember { key, value: Some("never".to_owned()) }))
            }
            (Step::Init(_), Chosen::No) => {
                self.settle(|place| place.init = None);
                self.advance(Vec::new())
            }
            (Step::Looking | Step::Provider | Step::Key(..) | Step::Finished, _) => {
                Pressed::Taken(Vec::new())
            }
        }
    }

    fn show(&mut self, providers: Vec<ProviderState>) {
        let mut providers = providers;
        let is_missing = |provider: &ProviderState| provider.key == KeyState::Missing;
        providers.sort_by_key(|provider| (is_missing(provider), provider.id == DEMO));
        let row = |provider: &ProviderState| {
            let row = Row::new(&provider.name);
            match &provider.key {
                KeyState::Found(place) => row.under("ready").noted(format!("key from {place}")),
                KeyState::NotNeeded if provider.id == DEMO => {
                    row.under("ready").noted("a tour without network or key")
                }
                KeyState::NotNeeded => row.under("ready").noted("found on this machine"),
                KeyState::Missing => {
                    row.under("paste a key").noted(provider.url.as_deref().unwrap_or_default())
                }
            }
        };
        let rows = providers.into_iter().map(|provider| (row(&provider), provider)).collect();
        self.picker.set(rows, "no providers; settings can name one");
    }
}

impl Pane for Welcome {
    fn open(&mut self) -> Vec<Effect> {
        let asker = Asker::Pane { pane: self.pane, what: PROVIDERS };
        vec![Effect::Ask { query: Query::Providers, asker }]
    }

    fn hear(&mut self, what: u8, reply: Result<Reply, ClientError>) -> Vec<Effect> {
        match (what, reply) {
            (PROVIDERS, Ok(Reply::Providers { providers })) => self.show(providers),
            (PLACE, Ok(Reply::Place(place))) => {
                self.has_model |= place.model.is_some();
                self.place = Some(place);
                if matches!(self.step, Step::Looking) {
                    self.go_on();
                }
            }
            (_, Err(error)) => self.picker.fail(error.to_string()),
            (_, Ok(_)) => {}
        }
        Vec::new()
    }

    fn key(&mut self, key: Key) -> Pressed {
        match &mut self.step {
            Step::Key(entry, _) => match entry.key(key) {
                KeyStep::Stay(effects) => Pressed::Taken(effects),
                KeyStep::Back => {
                    self.step = Step::Provider;
                    Pressed::Taken(Vec::new())
                }
            },
            Step::Provider => self.provider_key(key),
            Step::Trust | Step::Init(_) => match self.question.key(key) {
                Some(chosen) => self.answer(chosen),
                None => Pressed::Taken(Vec::new()),
            },
            Step::Looking | Step::Finished => Pressed::Ignored,
        }
    }

    fn paste(&mut self, text: &str) -> Pressed {
        match &mut self.step {
            Step::Key(entry, _) => entry.paste(text),
            Step::Provider => {
                self.picker.paste(text);
            }
            Step::Looking | Step::Trust | Step::Init(_) | Step::Finished => {}
        }
        Pressed::Taken(Vec::new())
    }

    fn mouse(&mut self, mouse: Mouse) -> Pressed {
        match &self.step {
            Step::Provider => {
                let picked = self.picker.mouse(mouse);
                self.picked(picked)
            }
            Step::Trust | Step::Init(_) => match self.question.mouse(mouse) {
                Some(chosen) => self.answer(chosen),
                None => Pressed::Taken(Vec::new()),
            },
            Step::Looking | Step::Key(..) | Step::Finished => Pressed::Taken(Vec::new()),
        }
    }

    fn draw(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) -> Option<Point> {
        const HINTS: [(&str, &str); 3] =
            [("enter", "choose"), ("up/down", "move"), ("esc", "later")];
        match &self.step {
            Step::Looking | Step::Finished => None,
            Step::Provider => self.picker.draw(canvas, area, (&HINTS, Side::Nothing), look).caret,
            Step::Key(entry, _) => {
                self.picker.draw(canvas, area, (&HINTS, Side::Nothing), look);
                entry.draw(canvas, area, look)
            }
            Step::Trust | Step::Init(_) => {
                self.question.draw(canvas, area, look);
                None
            }
        }
    }

    fn submitted(&mut self, purpose: Purpose, outcome: Result<(), ClientError>) -> Vec<Effect> {
        let Step::Key(entry, model) = &mut self.step else { return Vec::new() };
        if purpose != Purpose::Login {
            return Vec::new();
        }
        if let Err(error) = outcome {
            entry.refused(&error.to_string());
            return Vec::new();
        }
        let effect = chosen(model.take());
        self.has_model = true;
        self.go_on();
        vec![effect]
    }

    fn is_done(&self) -> bool {
        matches!(self.step, Step::Finished)
    }
}

fn wants_trust(place: &Place) -> bool {
    match place.trust {
        TrustState::Unknown | TrustState::Changed => !place.untrusted.is_empty(),
        TrustState::Empty | TrustState::Trusted => false,
    }
}

/// A provider's own model is used; where none is known the user chooses one.
fn chosen(model: Option<ModelRef>) -> Effect {
    model.map_or(Effect::Open(PaneKind::Models), Effect::Use)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::providers as providers_for_tests;
