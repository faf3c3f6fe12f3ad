//! What each action does.

use base::Effort;
use base::protocol::{Delivery, Mode, Op};
use base::{ModelRef, SessionId};

use super::session::{Session, Turn};
use super::{App, Armed, Left, TWICE_MS, submit};
use crate::keymap::Action;
use crate::message::{Effect, MouseUse, Screen};
use crate::pane::{self, PaneKind};
use crate::panel::Has;
use crate::transcript::{Folding, Scroll, Transcript};

/// Most models kept as recently used.
const RECENT: usize = 8;

impl App {
    /// Does what an action does.
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Send => self.send(Delivery::Steer),
            Action::SendLater => self.send(Delivery::Queue),
            Action::NewLine => {
                self.composer.new_line();
                self.composer_changed()
            }
            Action::Stop => self.stop(),
            Action::Clear => self.clear(),
            Action::Quit => self.quit(),
            Action::Suspend => vec![Effect::Suspend],
            Action::Redraw => vec![Effect::Redraw],
            Action::NewSession => self.new_session(),
            Action::NextMode => self.set_mode(next_mode(self.mode())),
            Action::NextEffort => self.set_effort(next_effort(self.session.effort)),
            Action::OpenEditor => vec![Effect::Edit(self.composer.text())],
            Action::PasteImage => vec![Effect::GetClip],
            Action::ToggleScreen => self.toggle_screen(),
            Action::ToggleMouse => self.toggle_mouse(),
            Action::ToggleSide => {
                self.is_side_hidden = !self.is_side_hidden;
                Vec::new()
            }
            Action::CopyAnswer => match self.transcript.newest_answer() {
                Some(text) => vec![Effect::Copy(text), Effect::Say("answer copied".to_owned())],
                None => vec![Effect::Say("there is no answer yet".to_owned())],
            },
            Action::FocusPanel => self.focus_panel(),
            // A question that waits has taken them already.
            Action::AllowOnce | Action::AllowSession | Action::AllowAlways | Action::Deny => {
                Vec::new()
            }
            Action::ToggleThoughts | Action::ToggleFold | Action::ToggleAll
                if self.screen == Screen::Inline =>
            {
                self.print(action)
            }
            Action::ToggleThoughts
            | Action::ToggleFold
            | Action::ToggleAll
            | Action::ScrollUp
            | Action::ScrollDown
            | Action::PageUp
            | Action::PageDown
            | Action::ScrollTop
            | Action::ScrollBottom
            | Action::ItemUp
            | Action::ItemDown => {
                self.read(action);
                Vec::new()
            }
            Action::OpenPalette
            | Action::OpenModels
            | Action::OpenSessions
            | Action::OpenChanges
            | Action::OpenCheckpoints
            | Action::OpenAgents
            | Action::OpenSkills
            | Action::OpenServers
            | Action::OpenTodos
            | Action::OpenContext
            | Action::OpenCost
            | Action::OpenThemes
            | Action::OpenHelp
            | Action::OpenQueue
            | Action::OpenLogin
            | Action::SearchHistory => {
                pane_of(action).map_or_else(Vec::new, |it| self.open_pane(it))
            }
        }
    }

    /// Inline: what was printed above cannot be changed any more, but printed once more, or otherwise from now
    /// on.
    fn print(&mut self, action: Action) -> Vec<Effect> {
        let (what, folding) = if action == Action::ToggleAll {
            ("what tools do", self.transcript.toggle_all())
        } else if action == Action::ToggleThoughts {
            ("thoughts", self.transcript.toggle_thoughts())
        } else if self.transcript.print_whole(self.size.0, &self.look) {
            return Vec::new();
        } else {
            return vec![Effect::Say("nothing else is folded".to_owned())];
        };
        let how = match folding {
            Folding::Whole => "whole",
            Folding::Folded => "folded",
        };
        vec![Effect::Say(format!("from now on, {what} will be printed {how}"))]
    }

    /// Moves the reader, folds and unfolds.
    fn read(&mut self, action: Action) {
        let transcript: &mut Transcript = &mut self.transcript;
        if let Some(by) = scroll_of(action) {
            transcript.scroll(by);
        } else if action == Action::ToggleFold {
            transcript.toggle_fold();
        } else if action == Action::ToggleAll {
            transcript.toggle_all();
        } else if action == Action::ToggleThoughts {
            transcript.toggle_thoughts();
        }
    }

    /// Opens a pane over what is there.
    pub(super) fn open_pane(&mut self, kind: PaneKind) -> Vec<Effect> {
        self.panes_opened += 1;
        let number = self.panes_opened;
        let mut pane = pane::open(kind, &self.shared(number));
        let effects = pane.open();
        self.panes.push((number, pane));
        effects
    }

    /// Stops the turn; without one, twice leads back in time. What is open is closed by itself before.
    fn stop(&mut self) -> Vec<Effect> {
        self.transcript.unselect();
        if self.has == Has::Keys {
            self.has = Has::OnlySpareKeys;
            return Vec::new();
        }
        if self.session.is_busy() {
            return vec![self.stop_all()];
        }
        if !self.composer.is_empty() || !self.session.is_begun {
            return Vec::new();
        }
        if self.is_armed(Armed::Rewind) {
            return self.open_pane(PaneKind::Checkpoints);
        }
        self.arm(Armed::Rewind, "esc again goes back in time")
    }

    /// Stops the turn and the user's own commands.
    fn stop_all(&mut self) -> Effect {
        if self.session.is_running() {
            self.session.turn = Turn::Stops;
        }
        submit(Op::Stop { session: self.session.id })
    }

    /// Ends, if nothing is being written.
    fn quit(&mut self) -> Vec<Effect> {
        if self.composer.is_empty() {
            return self.leave();
        }
        let key = self.keys.hint(Action::Clear);
        vec![Effect::Say(format!("{key} clears the prompt first"))]
    }

    /// Clears the composer, stops the turn, and ends at the second press.
    fn clear(&mut self) -> Vec<Effect> {
        if self.is_armed(Armed::Quit) {
            return self.leave();
        }
        let key = self.keys.hint(Action::Clear);
        if !self.composer.is_empty() {
            let text = self.composer.text();
            self.composer.set_text("");
            self.composer.remember(&text);
            self.composer_changed();
            return self
                .arm(Armed::Quit, &format!("cleared · {key} again quits · up brings it back"));
        }
        if self.session.is_busy() {
            let mut effects = self.arm(Armed::Quit, &format!("stopping · {key} again quits"));
            effects.push(self.stop_all());
            return effects;
        }
        self.arm(Armed::Quit, &format!("{key} again quits"))
    }

    /// Ends, with the draft kept.
    pub(super) fn leave(&mut self) -> Vec<Effect> {
        let mut effects: Vec<Effect> = self.keep_draft().into_iter().collect();
        effects.push(Effect::Quit);
        effects
    }

    fn is_armed(&self, what: Armed) -> bool {
        self.armed.is_some_and(|(armed, until)| armed == what && self.look.now_ms <= until)
    }

    fn arm(&mut self, what: Armed, hint: &str) -> Vec<Effect> {
        self.armed = Some((what, self.look.now_ms + TWICE_MS));
        vec![Effect::Say(hint.to_owned())]
    }

    /// Leaves the session as it is and begins another.
    pub(super) fn new_session(&mut self) -> Vec<Effect> {
        let next = self.session.next();
        self.show(next);
        vec![Effect::Title(self.window_title()), Effect::Redraw]
    }

    /// Goes on in another session.
    pub(super) fn enter(&mut self, session: SessionId) -> Vec<Effect> {
        self.show(Session::new(Some(session)));
        let mut effects: Vec<Effect> = super::look_up(session).into();
        effects.push(Effect::Redraw);
        effects
    }

    /// Keeps in mind what a session that is left is called, and forgets that of the one that is entered.
    fn note_left(&mut self, entered: SessionId) {
        if self.session.is_begun {
            let Session { id, title, children, .. } = &self.session;
            self.left.push(Left { id: *id, title: title.clone(), children: children.clone() });
        }
        self.left.retain(|left| left.id != entered);
        self.elsewhere.retain(|_, root| *root != Some(entered));
    }

    fn show(&mut self, session: Session) {
        self.note_left(session.id);
        self.panels.keep(|_| false);
        self.going_on.clear();
        self.older = None;
        self.crews.clear();
        // What was said of the session that is left is no news of this one.
        self.status.hush();
        self.session = session;
        self.is_loaded = false;
        self.transcript = Transcript::new();
        self.transcript.set_scrollbar(self.settings.scrollbar);
        self.panes.clear();
        self.has = Has::OnlySpareKeys;
    }

    /// Uses a model from the next request on.
    pub(super) fn use_model(&mut self, model: ModelRef) -> Vec<Effect> {
        let mut effects = vec![Effect::Say(format!("model: {model}"))];
        let name = model.to_string();
        self.recent.retain(|known| *known != name);
        self.recent.insert(0, name);
        self.recent.truncate(RECENT);
        let kept = self.recent.join("\n");
        effects.push(submit(Op::Remember { key: pane::RECENT.to_owned(), value: Some(kept) }));
        if self.session.is_begun {
            let session = self.session.id;
            effects.push(submit(Op::SetModel { session, model: model.clone() }));
        } else {
            self.session.chosen_model = Some(model.clone());
        }
        self.session.model = Some(model);
        effects
    }

    /// Changes what may be done without asking.
    pub(super) fn set_mode(&mut self, mode: Mode) -> Vec<Effect> {
        self.session.mode = mode;
        self.session.is_mode_chosen = true;
        if !self.session.is_begun {
            return Vec::new();
        }
        vec![submit(Op::SetMode { session: self.session.id, mode })]
    }

    fn set_effort(&mut self, effort: Effort) -> Vec<Effect> {
        self.session.effort = Some(effort);
        let mut effects = vec![Effect::Say(format!("effort: {effort}"))];
        if self.session.is_begun {
            effects.push(submit(Op::SetEffort { session: self.session.id, effort }));
        }
        effects
    }

    fn toggle_screen(&mut self) -> Vec<Effect> {
        self.screen = match self.screen {
            Screen::Full => Screen::Inline,
            Screen::Inline => Screen::Full,
        };
        vec![Effect::SetScreen(self.screen)]
    }

    fn toggle_mouse(&mut self) -> Vec<Effect> {
        let (mouse, words) = match self.mouse {
            MouseUse::Ours => {
                (MouseUse::Terminals, "the terminal has the mouse: select and copy as usual")
            }
            MouseUse::Terminals => (MouseUse::Ours, "the mouse scrolls, clicks and selects here"),
        };
        self.mouse = mouse;
        vec![Effect::SetMouse(mouse), Effect::Say(words.to_owned())]
    }

    /// Moves the keys between composer and question.
    fn focus_panel(&mut self) -> Vec<Effect> {
        if self.panels.is_empty() {
            return Vec::new();
        }
        self.has = match self.has {
            Has::Keys => Has::OnlySpareKeys,
            Has::OnlySpareKeys | Has::OnlyShortcuts => Has::Keys,
        };
        Vec::new()
    }
}

fn scroll_of(action: Action) -> Option<Scroll> {
    let table = [
        (Action::ScrollUp, Scroll::Rows(-1)),
        (Action::ScrollDown, Scroll::Rows(1)),
        (Action::PageUp, Scroll::Pages(-1)),
        (Action::PageDown, Scroll::Pages(1)),
        (Action::ScrollTop, Scroll::Top),
        (Action::ScrollBottom, Scroll::Bottom),
        (Action::ItemUp, Scroll::Items(-1)),
        (Action::ItemDown, Scroll::Items(1)),
    ];
    table.into_iter().find(|(known, _)| *known == action).map(|(_, by)| by)
}

fn pane_of(action: Action) -> Option<PaneKind> {
    let table = [
        (Action::OpenPalette, PaneKind::Palette),
        (Action::OpenModels, PaneKind::Models),
        (Action::OpenSessions, PaneKind::Sessions),
        (Action::OpenChanges, PaneKind::Changes),
        (Action::OpenCheckpoints, PaneKind::Checkpoints),
        (Action::OpenAgents, PaneKind::Agents),
        (Action::OpenSkills, PaneKind::Skills),
        (Action::OpenServers, PaneKind::Servers),
        (Action::OpenTodos, PaneKind::Todos),
        (Action::OpenContext, PaneKind::Context),
        (Action::OpenCost, PaneKind::Cost),
        (Action::OpenThemes, PaneKind::Themes),
        (Action::OpenHelp, PaneKind::Help),
        (Action::OpenQueue, PaneKind::Queue),
        (Action::SearchHistory, PaneKind::History),
        (Action::OpenLogin, PaneKind::Login),
    ];
    table.into_iter().find(|(known, _)| *known == action).map(|(_, kind)| kind)
}

/// The modes a key walks through; the one that asks nothing is not among them.
fn next_mode(mode: Mode) -> Mode {
    match mode {
        Mode::Default => Mode::AcceptEdits,
        Mode::AcceptEdits => Mode::Plan,
        Mode::Plan | Mode::DontAsk | Mode::Bypass => Mode::Default,
    }
}

fn next_effort(effort: Option<Effort>) -> Effort {
    let at = effort.and_then(|now| Effort::ALL.iter().position(|level| *level == now));
    at.map_or(Effort::Medium, |at| Effort::ALL[(at + 1) % Effort::ALL.len()])
}
