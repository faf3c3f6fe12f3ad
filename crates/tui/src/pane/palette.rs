//! The palette: every action with its keys, every slash command.

use base::protocol::{Offer, OfferKind};

use super::list::{Hints, List};
use super::{Pressed, Shared};
use crate::keymap::{ACTIONS, Action, Group};
use crate::message::Effect;
use crate::picker::{Picker, Row};

/// What a row of the palette does.
#[derive(Debug)]
pub(crate) enum Does {
    /// It performs an action.
    Act(Action),
    /// It runs a slash command as it is.
    Run(String),
    /// It writes a slash command that wants arguments.
    Write(String),
}

/// The palette.
#[derive(Debug)]
pub(crate) struct Palette {
    rows: Vec<(Row, Does)>,
}

impl Palette {
    /// A palette of what there is.
    pub(crate) fn new(shared: &Shared) -> Self {
        let acts = |group: Group| {
            let entries = ACTIONS.iter().filter(move |entry| entry.group == group);
            entries.filter(|entry| is_command(entry.action)).map(|entry| {
                let row = Row::new(entry.about).under(entry.group.heading());
                (row.with(shared.keys.hint(entry.action)), Does::Act(entry.action))
            })
        };
        let rows = acts(Group::Session)
            .chain(acts(Group::Panes))
            .chain(shared.offers.iter().filter_map(command))
            .chain([Group::Prompt, Group::Reading, Group::Interface].into_iter().flat_map(acts));
        Self { rows: rows.collect() }
    }
}

/// Whether an action is worth a row: not what only a key makes sense for.
fn is_command(action: Action) -> bool {
    let is_move = matches!(
        action,
        Action::PageUp
            | Action::PageDown
            | Action::ScrollUp
            | Action::ScrollDown
            | Action::ItemUp
            | Action::ItemDown
    );
    let is_typing = matches!(
        action,
        Action::Send | Action::SendLater | Action::NewLine | Action::Clear | Action::Stop
    );
    !is_move && !is_typing && action != Action::OpenPalette
}

fn command(offer: &Offer) -> Option<(Row, Does)> {
    let group = match offer.kind {
        OfferKind::Command => "commands",
        OfferKind::Skill => "skills",
        OfferKind::Agent | OfferKind::Resource => return None,
    };
    let does = if offer.arguments.is_empty() {
        Does::Run(format!("/{}", offer.name))
    } else {
        Does::Write(format!("/{} ", offer.name))
    };
    let title = format!("/{} {}", offer.name, offer.arguments);
    Some((Row::new(title.trim_end()).under(group).noted(&offer.about), does))
}

impl List for Palette {
    type Worth = Does;

    fn picker(&mut self) -> Picker<Does> {
        let mut picker = Picker::new("commands");
        picker.set(std::mem::take(&mut self.rows), "no commands");
        picker
    }

    fn hints(&self) -> Hints {
        &[("enter", "do it"), ("esc", "close"), ("up/down", "move")]
    }

    fn take(&mut self, picker: &mut Picker<Does>) -> Pressed {
        let Some(does) = picker.chosen() else { return Pressed::Taken(Vec::new()) };
        let effect = match does {
            Does::Act(action) => Effect::Perform(*action),
            Does::Run(line) => Effect::Run(line.clone()),
            Does::Write(text) => Effect::Write(text.clone()),
        };
        Pressed::Done(vec![effect])
    }
}
