//! What the user says: prompts, shell commands, and the slash commands that are the face's own.

use base::protocol::{Delivery, Mode, Offer, OfferKind, Op};

use super::{App, ask, submit};
use crate::composer::Prompt;
use crate::keymap::Action;
use crate::message::{Asker, Effect, Purpose};
use crate::pane::PaneKind;
use base::protocol::Query;

/// Slash commands that open something here; with arguments they are the mind's, where it knows them.
const PANES: [(&str, PaneKind); 21] = [
    ("help", PaneKind::Help),
    ("login", PaneKind::Login),
    ("model", PaneKind::Models),
    ("models", PaneKind::Models),
    ("resume", PaneKind::Sessions),
    ("sessions", PaneKind::Sessions),
    ("agents", PaneKind::Agents),
    ("skills", PaneKind::Skills),
    ("context", PaneKind::Context),
    ("cost", PaneKind::Cost),
    ("changes", PaneKind::Changes),
    ("diff", PaneKind::Changes),
    ("rewind", PaneKind::Checkpoints),
    ("checkpoints", PaneKind::Checkpoints),
    ("todos", PaneKind::Todos),
    ("theme", PaneKind::Themes),
    ("themes", PaneKind::Themes),
    ("mcp", PaneKind::Servers),
    ("lsp", PaneKind::Servers),
    ("queue", PaneKind::Queue),
    ("history", PaneKind::History),
];

/// Slash commands that do something here.
const ACTIONS: [(&str, Action); 9] = [
    ("new", Action::NewSession),
    ("clear", Action::NewSession),
    ("copy", Action::CopyAnswer),
    ("editor", Action::OpenEditor),
    ("inline", Action::ToggleScreen),
    ("fullscreen", Action::ToggleScreen),
    ("mouse", Action::ToggleMouse),
    ("keys", Action::OpenHelp),
    ("palette", Action::OpenPalette),
];

/// What the popup says of commands that only the interface knows; of names that mean the same, the usual one.
pub(super) const OWN: [(&str, &str); 18] = [
    ("continue", "goes on with a turn that broke off"),
    ("copy", "copies the newest answer"),
    ("diff", "shows the files changed in this session"),
    ("editor", "opens what is written here in your editor"),
    ("history", "searches what you said in this project"),
    ("inline", "draws in the terminal's own scrollback, or on the whole screen again"),
    ("keys", "shows all keys"),
    ("login", "stores a provider's key"),
    ("mcp", "shows servers, and what they say"),
    ("mouse", "gives the mouse to the terminal, or takes it back"),
    ("new", "begins a new session in this folder"),
    ("palette", "lists everything there is to do"),
    ("queue", "edits prompts that wait"),
    ("quit", "leaves"),
    ("resume", "opens an earlier session"),
    ("theme", "chooses the colours"),
    ("todos", "shows what is to be done"),
    ("yolo", "asks nothing any more, or asks again"),
];

/// What may follow a slash: what the mind offers, and what is ours.
pub(super) fn with_own(mut offers: Vec<Offer>) -> Vec<Offer> {
    let known = |name: &str| offers.iter().any(|offer| offer.name == name);
    let own: Vec<Offer> = OWN.iter().filter(|(name, _)| !known(name)).map(own_offer).collect();
    offers.extend(own);
    // Skills and agents keep their places: each kind is listed by itself.
    offers.sort_by(|one, other| {
        let is_command = |offer: &Offer| offer.kind == OfferKind::Command;
        let both = is_command(one) && is_command(other);
        if both { one.name.cmp(&other.name) } else { is_command(other).cmp(&is_command(one)) }
    });
    offers
}

fn own_offer((name, about): &(&str, &str)) -> Offer {
    Offer {
        kind: OfferKind::Command,
        name: (*name).to_owned(),
        arguments: String::new(),
        about: (*about).to_owned(),
        source: "built in".to_owned(),
        color: None,
    }
}

impl App {
    /// Says what is in the composer.
    pub(super) fn send(&mut self, delivery: Delivery) -> Vec<Effect> {
        if self.composer.ends_in_backslash() {
            self.composer.new_line();
            return self.composer_changed();
        }
        let text = self.composer.text();
        let Some(prompt) = self.composer.take() else { return self.send_waiting() };
        self.composer.remember(&text);
        self.sent = Some(text);
        let mut effects: Vec<Effect> = self.keep_draft().into_iter().collect();
        self.transcript.scroll(crate::transcript::Scroll::Bottom);
        match prompt {
            Prompt::Say(parts) => {
                effects.extend(self.begun());
                let session = self.session.id;
                effects.push(said(Op::say(session, parts, delivery)));
            }
            Prompt::Shell(line) => {
                effects.extend(self.begun());
                effects.push(said(Op::Shell { session: self.session.id, line }));
            }
            Prompt::Command(line) => effects.extend(self.command(&line)),
        }
        effects
    }

    /// Says what waits since a turn was stopped: the newest again, which takes the others along.
    fn send_waiting(&mut self) -> Vec<Effect> {
        let Some(last) = self.session.waiting.last().filter(|_| !self.session.is_running()) else {
            return Vec::new();
        };
        let (session, parts, delivery) = (self.session.id, last.parts.clone(), last.delivery);
        vec![
            submit(Op::Unsay { session, entry: last.entry }),
            said(Op::say(session, parts, delivery)),
        ]
    }

    /// A slash command: ours, or the mind's.
    pub(super) fn command(&mut self, line: &str) -> Vec<Effect> {
        let (name, arguments) = line
            .trim_start_matches('/')
            .split_once(' ')
            .unwrap_or((line.trim_start_matches('/'), ""));
        if arguments.trim().is_empty() {
            if let Some((_, kind)) = PANES.iter().find(|(known, _)| *known == name) {
                return vec![Effect::Open(*kind)];
            }
            if let Some((_, action)) = ACTIONS.iter().find(|(known, _)| *known == name) {
                return vec![Effect::Perform(*action)];
            }
            match name {
                "quit" | "exit" => return self.leave(),
                "continue" => return self.go_on(),
                "yolo" => {
                    let mode =
                        if self.mode() == Mode::Bypass { Mode::Default } else { Mode::Bypass };
                    return self.set_mode(mode);
                }
                _ => {}
            }
        }
        let mut effects = self.begun();
        effects.push(said(Op::Command { session: self.session.id, line: line.to_owned() }));
        effects
    }

    /// Goes on with a turn that broke off.
    pub(super) fn go_on(&mut self) -> Vec<Effect> {
        if !self.session.is_begun {
            return vec![Effect::Say("there is nothing to go on with".to_owned())];
        }
        vec![submit(Op::GoOn { session: self.session.id })]
    }

    /// What must come before the first words of a session.
    pub(super) fn begun(&mut self) -> Vec<Effect> {
        if self.session.is_begun {
            return Vec::new();
        }
        self.session.is_begun = true;
        let (session, folder) = (self.session.id, self.folder.clone());
        let mut effects = vec![said(Op::NewSession { session, folder })];
        if let Some(model) = self.session.chosen_model.take() {
            effects.push(submit(Op::SetModel { session, model }));
        }
        if let Some(effort) = self.session.effort {
            effects.push(submit(Op::SetEffort { session, effort }));
        }
        if self.session.is_mode_chosen {
            effects.push(submit(Op::SetMode { session, mode: self.session.mode }));
        }
        self.transcript.load(session, &[], crate::transcript::More::Nothing);
        effects
    }

    /// After the first questions: what they may have changed is looked up again, and the first words are said.
    pub(super) fn after_welcome(&mut self) -> Vec<Effect> {
        let folder = self.folder.clone();
        vec![
            ask(Query::Place { folder: folder.clone() }, Asker::Place),
            ask(Query::Offers { folder }, Asker::Offers),
        ]
    }
}

/// An operation whose refusal puts the text back into the composer.
fn said(op: Op) -> Effect {
    Effect::Submit { op, purpose: Purpose::Say }
}
