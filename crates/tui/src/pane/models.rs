//! Models: favourites and recent ones first, then by provider; a missing key is asked for in place.

use base::protocol::{ClientError, KeyState, ModelChoice, Query, Reply};
use base::{ModelRef, Op};

use super::list::{Cover, Hints, List};
use super::shared::ask;
use super::{Pressed, Shared};
use crate::canvas::{Canvas, Rect};
use crate::figures;
use crate::key::Key;
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::{Picker, Row};
use crate::theme::Role;
use crate::welcome::{KeyEntry, KeyStep};

/// What favourite models are kept under: one a line.
pub const FAVOURITE: &str = "models.favourite";
/// What recent models are kept under: one a line, newest first.
pub const RECENT: &str = "models.recent";

const LISTED: u8 = 0;
const FAVOURITES: u8 = 1;
const RECENTS: u8 = 2;

/// The list of models.
#[derive(Debug)]
pub(crate) struct Models {
    pane: u64,
    current: Option<ModelRef>,
    choices: Vec<ModelChoice>,
    favourites: Vec<ModelRef>,
    recent: Vec<ModelRef>,
    entering: Option<(KeyEntry, ModelRef)>,
    is_done: bool,
}

impl Models {
    /// A list that looks up all models.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self {
            pane: shared.pane,
            current: shared.model.clone(),
            choices: Vec::new(),
            favourites: Vec::new(),
            recent: Vec::new(),
            entering: None,
            is_done: false,
        }
    }

    fn show(&self, picker: &mut Picker<ModelChoice>) {
        let place = |choice: &ModelChoice| {
            let among = |list: &[ModelRef]| list.iter().position(|model| *model == choice.model);
            match (among(&self.favourites), among(&self.recent), &choice.key) {
                (Some(at), ..) => (0, at),
                (None, Some(at), _) => (1, at),
                (None, None, KeyState::Found(_) | KeyState::NotNeeded) => (2, 0),
                (None, None, KeyState::Missing) => (3, 0),
            }
        };
        let mut models: Vec<&ModelChoice> = self.choices.iter().collect();
        models.sort_by_key(|choice| place(choice));
        let row = |choice: &ModelChoice| {
            let group = match place(choice).0 {
                0 => "favourites".to_owned(),
                1 => "recent".to_owned(),
                2 => choice.provider.clone(),
                _ => format!("{} (no key)", choice.provider),
            };
            self.row(choice).under(group)
        };
        let rows = models.into_iter().map(|choice| (row(choice), choice.clone())).collect();
        picker.set(rows, "no models; settings can name providers");
    }

    fn row(&self, choice: &ModelChoice) -> Row {
        let row = Row::new(&choice.name).noted(choice.model.to_string()).with(figures(choice));
        let is_favourite = self.favourites.contains(&choice.model);
        if self.current.as_ref() == Some(&choice.model) {
            row.marked("●").looking(Role::Accent)
        } else if is_favourite {
            row.marked("*")
        } else if choice.key == KeyState::Missing {
            row.looking(Role::Faint)
        } else {
            row
        }
    }

    fn choose_current(&self, picker: &mut Picker<ModelChoice>) {
        picker.choose(|choice| Some(&choice.model) == self.current.as_ref());
    }

    fn flip_favourite(&mut self, picker: &mut Picker<ModelChoice>) -> Option<Pressed> {
        let model = picker.chosen()?.model.clone();
        match self.favourites.iter().position(|known| *known == model) {
            Some(at) => {
                self.favourites.remove(at);
            }
            None => self.favourites.push(model.clone()),
        }
        self.show(picker);
        picker.choose(|choice| choice.model == model);
        Some(Pressed::Taken(vec![keep(FAVOURITE, &self.favourites)]))
    }
}

impl List for Models {
    type Worth = ModelChoice;

    fn picker(&mut self) -> Picker<ModelChoice> {
        Picker::new("models")
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        &[("enter", "use"), ("esc", "close"), ("ctrl+f", "favourite"), ("tab", "details")]
    }

    fn open(&mut self) -> Vec<Effect> {
        let recall = |key: &str| Query::Recall { key: key.to_owned() };
        vec![
            ask(self.pane, FAVOURITES, recall(FAVOURITE)),
            ask(self.pane, RECENTS, recall(RECENT)),
            ask(self.pane, LISTED, Query::Models { search: None }),
        ]
    }

    fn hear(&mut self, picker: &mut Picker<ModelChoice>, what: u8, reply: Reply) -> Vec<Effect> {
        match (what, reply) {
            (FAVOURITES, Reply::Recalled { value }) => self.favourites = read(value.as_deref()),
            (RECENTS, Reply::Recalled { value }) => self.recent = read(value.as_deref()),
            (LISTED, Reply::Models { models }) => {
                self.choices = models;
                self.show(picker);
                self.choose_current(picker);
                return Vec::new();
            }
            _ => return Vec::new(),
        }
        if !self.choices.is_empty() {
            self.show(picker);
            self.choose_current(picker);
        }
        Vec::new()
    }

    fn key(&mut self, picker: &mut Picker<ModelChoice>, key: Key) -> Option<Pressed> {
        if let Some((entry, _)) = &mut self.entering {
            return Some(match entry.key(key) {
                KeyStep::Stay(effects) => Pressed::Taken(effects),
                KeyStep::Back => {
                    self.entering = None;
                    Pressed::Taken(Vec::new())
                }
            });
        }
        if key == Key::ctrl('f') { self.flip_favourite(picker) } else { None }
    }

    fn paste(&mut self, text: &str) -> Option<Pressed> {
        let (entry, _) = self.entering.as_mut()?;
        entry.paste(text);
        Some(Pressed::Taken(Vec::new()))
    }

    fn take(&mut self, picker: &mut Picker<ModelChoice>) -> Pressed {
        let Some(choice) = picker.chosen() else { return Pressed::Taken(Vec::new()) };
        let model = choice.model.clone();
        if choice.key == KeyState::Missing {
            let entry = KeyEntry::new(&model.provider, &choice.provider, None);
            self.entering = Some((entry, model));
            return Pressed::Taken(Vec::new());
        }
        Pressed::Done(vec![Effect::Use(model)])
    }

    fn preview(&mut self, worth: &ModelChoice, _width: usize, look: &Look) -> Vec<Line> {
        let style = |role| look.theme.style(role);
        let fact = |name: &str, value: String| {
            Line::new(format!("{name:<10}"), style(Role::Faint)).then(value, style(Role::Text))
        };
        let priced = |money: Option<base::Money>| {
            money.map_or_else(
                || "unknown".to_owned(),
                |money| format!("{} per million", figures::price(money)),
            )
        };
        let key = match &worth.key {
            KeyState::Found(place) => format!("from {place}"),
            KeyState::NotNeeded => "not needed".to_owned(),
            KeyState::Missing => "missing; enter asks for it".to_owned(),
        };
        let able = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let window =
            if worth.window == 0 { "unknown".to_owned() } else { figures::tokens(worth.window) };
        vec![
            Line::new(&worth.name, style(Role::Strong)),
            Line::new(worth.model.to_string(), style(Role::Muted)),
            Line::EMPTY,
            fact("window", window),
            fact("in", priced(worth.input_price)),
            fact("out", priced(worth.output_price)),
            fact("thinks", able(worth.reasons)),
            fact("sees", able(worth.sees)),
            fact("key", key),
        ]
    }

    fn over(&self, canvas: &mut Canvas, area: Rect, look: &Look) -> Cover {
        match &self.entering {
            Some((entry, _)) => Cover::Drawn(entry.draw(canvas, area, look)),
            None => Cover::Nothing,
        }
    }

    fn submitted(&mut self, purpose: Purpose, outcome: Result<(), ClientError>) -> Vec<Effect> {
        if purpose != Purpose::Login {
            return Vec::new();
        }
        let Some((entry, model)) = &mut self.entering else { return Vec::new() };
        if let Err(error) = outcome {
            entry.refused(&error.to_string());
            return Vec::new();
        }
        let model = model.clone();
        self.entering = None;
        self.is_done = true;
        vec![Effect::Use(model)]
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// Price, window and abilities, as columns.
fn figures(choice: &ModelChoice) -> String {
    let price = match (choice.input_price, choice.output_price) {
        (Some(input), Some(output)) => {
            format!("{}/{}", figures::price(input), figures::price(output))
        }
        (Some(_) | None, _) => String::new(),
    };
    let window = if choice.window == 0 { String::new() } else { figures::tokens(choice.window) };
    let thinks = if choice.reasons { "think" } else { "" };
    let sees = if choice.sees { "see" } else { "" };
    format!("{price:>11} {window:>5} {thinks:<5} {sees:<3}")
}

fn read(value: Option<&str>) -> Vec<ModelRef> {
    value.unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
}

fn keep(key: &str, models: &[ModelRef]) -> Effect {
    let lines: Vec<String> = models.iter().map(ToString::to_string).collect();
    let op = Op::Remember { key: key.to_owned(), value: Some(lines.join("\n")) };
    Effect::Submit { op, purpose: Purpose::Other }
}
