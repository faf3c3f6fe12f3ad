//! Help: all keys and commands, made from the key map and the offers.

use base::protocol::OfferKind;

use super::list::{Hints, List};
use super::{Pressed, Shared};
use crate::keymap::{ACTIONS, Action};
use crate::message::Effect;
use crate::picker::{Picker, Row};

/// What the composer and the mouse do without the key map.
const WRITING: [(&str, &str); 9] = [
    ("/", "commands and skills, at the beginning"),
    ("@", "files, agents, and what servers let be read"),
    ("!", "run a command of your own, at the beginning"),
    ("\\ enter", "new line, where shift+enter is not known"),
    ("up, down", "what was said before, at the first and last row"),
    ("ctrl+a, ctrl+e", "to the beginning, to the end of the line"),
    ("ctrl+w, alt+d", "delete the word before, the word after"),
    ("ctrl+u, ctrl+k", "delete to the beginning, to the end of the line"),
    ("ctrl+y", "put back what was deleted"),
];

/// What a row of the help does when it is taken.
#[derive(Debug)]
pub(crate) enum Does {
    /// Nothing: it only tells.
    Nothing,
    /// What the action does.
    Act(Action),
    /// It writes a command.
    Write(String),
}

/// The help.
#[derive(Debug)]
pub(crate) struct Help {
    rows: Vec<(Row, Does)>,
}

impl Help {
    /// Help for the keys and commands there are.
    pub(crate) fn new(shared: &Shared) -> Self {
        let keys = ACTIONS.iter().map(|entry| {
            let keys = shared.keys.all_hints(entry.action);
            let title = if keys.is_empty() { "(no key)".to_owned() } else { keys };
            let row = Row::new(title).noted(entry.about).under(entry.group.heading());
            (row.with(entry.name), Does::Act(entry.action))
        });
        let writing = WRITING
            .iter()
            .map(|(keys, about)| (Row::new(*keys).noted(*about).under("writing"), Does::Nothing));
        let commands =
            shared.offers.iter().filter(|offer| offer.kind == OfferKind::Command).map(|offer| {
                let title = format!("/{} {}", offer.name, offer.arguments);
                let row = Row::new(title.trim_end()).noted(&offer.about).under("commands");
                (row, Does::Write(format!("/{} ", offer.name)))
            });
        Self { rows: keys.chain(writing).chain(commands).collect() }
    }
}

impl List for Help {
    type Worth = Does;

    fn picker(&mut self) -> Picker<Does> {
        let mut picker = Picker::new("help").in_order().notes_first();
        picker.set(std::mem::take(&mut self.rows), "no keys");
        picker
    }

    fn hints(&self) -> Hints {
        &[("esc", "close"), ("enter", "do it"), ("type", "to search")]
    }

    fn take(&mut self, picker: &mut Picker<Does>) -> Pressed {
        match picker.chosen() {
            Some(Does::Act(action)) => Pressed::Done(vec![Effect::Perform(*action)]),
            Some(Does::Write(text)) => Pressed::Done(vec![Effect::Write(text.clone())]),
            Some(Does::Nothing) | None => Pressed::Taken(Vec::new()),
        }
    }
}
