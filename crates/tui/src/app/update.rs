//! A message on its way through the interface.

use base::EntryId;
use base::protocol::Op;

use super::{App, DRAFT_PAUSE_MS, FRAME_MS, ask, submit};
use crate::composer::{Typed, Wanted};
use crate::key::{Answer, Focus, Input, Key};
use crate::keymap::Action;
use crate::message::{Asker, Effect, Message};
use crate::pane::Pressed;
use crate::panel::Has;
use crate::theme::Background;

use base::protocol::Query;

/// Files offered by the popup.
const FILES: usize = 50;

impl App {
    /// Takes a message; tells what is to be done outside.
    pub(super) fn take(&mut self, message: Message, now_ms: u64) -> Vec<Effect> {
        self.look.now_ms = self.look.now_ms.max(now_ms);
        self.look.frame = self.look.now_ms / FRAME_MS;
        self.status.pass(self.look.now_ms);
        let effects = match message {
            Message::Input(input) => self.take_input(input),
            Message::Event(numbered) => self.hear(&numbered.event),
            Message::EventsEnded => self.catch_up(),
            Message::Answer { asker, reply } => self.take_answer(asker, reply.map(|reply| *reply)),
            Message::Submitted { purpose, outcome } => self.take_outcome(purpose, outcome),
            Message::Edited(edited) => self.take_edited(edited),
            Message::Clipped(clip) => self.take_clip(clip),
            Message::Read { path, file } => self.take_file(&path, file),
            Message::Tick => self.tick(),
        };
        self.settle(effects)
    }

    /// Does what is the interface's own to do, until only the outside's is left.
    pub(super) fn settle(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        let mut outside = Vec::new();
        let mut inside: Vec<Effect> = effects;
        // Each round does one thing; a thing that asks for itself again would be a defect, not a feature.
        for _ in 0..64 {
            let Some(effect) = (!inside.is_empty()).then(|| inside.remove(0)) else { break };
            let more = match effect {
                Effect::Perform(action) => self.act(action),
                Effect::Open(kind) => self.open_pane(kind),
                Effect::Enter(session) => self.enter(session),
                Effect::Use(model) => self.use_model(model),
                Effect::SetTheme(name) => {
                    self.theme = name;
                    self.choose_theme();
                    Vec::new()
                }
                Effect::Write(text) => {
                    self.composer.put_in(&text);
                    self.composer_changed()
                }
                Effect::WriteParts(parts) => {
                    self.composer.put_back(parts);
                    self.composer_changed()
                }
                Effect::Run(line) => {
                    self.sent = Some(line.clone());
                    self.command(&line)
                }
                Effect::WriteAgain(entry) => self.write_again(entry),
                Effect::Say(text) => {
                    self.status.say(text, self.look.now_ms);
                    Vec::new()
                }
                Effect::Submit { .. }
                | Effect::Ask { .. }
                | Effect::Copy(_)
                | Effect::Edit(_)
                | Effect::EditFile(_)
                | Effect::GetClip
                | Effect::AskClip
                | Effect::ReadFile(_)
                | Effect::OpenLink(_)
                | Effect::Notify { .. }
                | Effect::Title(_)
                | Effect::Progress(_)
                | Effect::SetScreen(_)
                | Effect::SetMouse(_)
                | Effect::Suspend
                | Effect::Redraw
                | Effect::Quit => {
                    outside.push(effect);
                    Vec::new()
                }
            };
            inside.splice(0..0, more);
        }
        outside
    }

    fn write_again(&mut self, entry: EntryId) -> Vec<Effect> {
        let Some(text) = self.transcript.prompt_of(entry).filter(|_| self.composer.is_empty())
        else {
            return Vec::new();
        };
        self.composer.set_text(&text);
        self.composer_changed()
    }

    fn take_input(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Key(key) => self.take_key(key),
            Input::Paste(text) => self.take_paste(&text),
            Input::Mouse(mouse) => self.take_mouse(mouse),
            Input::Resize { width, height } => {
                self.size = (width, height);
                Vec::new()
            }
            Input::Focus(focus) => {
                self.focus = Some(focus);
                Vec::new()
            }
            Input::Answer(Answer::Clipboard(bytes)) => self.take_told_clip(bytes),
            Input::Answer(answer) => {
                self.take_told(&answer);
                Vec::new()
            }
        }
    }

    /// A key goes to what lies on top; what that has no use for goes to the key map, and then to the composer.
    fn take_key(&mut self, key: Key) -> Vec<Effect> {
        let action = self.action(key);
        if !matches!(action, Some(Action::Clear | Action::Stop)) && self.armed.take().is_some() {
            // What a second press would have done is true no more.
            self.status.hush();
        }
        if let Some((_, pane)) = self.panes.last_mut() {
            let pressed = pane.key(key);
            if let Some(effects) = self.taken_by_pane(pressed) {
                return effects;
            }
            return match action {
                Some(action) if is_general(action) => self.act(action),
                Some(_) | None => Vec::new(),
            };
        }
        if !self.panels.is_empty() {
            let has = self.panel_has();
            match self.panels.key(key, has, self.look.now_ms) {
                Pressed::Taken(effects) => return effects,
                Pressed::Done(effects) => {
                    self.has = Has::OnlySpareKeys;
                    return effects;
                }
                Pressed::Ignored => {}
            }
        }
        // The popup's keys come before the key map's: Enter takes what is chosen there.
        if self.composer.is_popup_open() && self.composer.key(key) == Typed::Taken {
            return self.composer_changed();
        }
        // Escape is vi's, too: it leaves insert mode before it stops anything.
        let is_composers = action.is_none() || action == Some(Action::Stop);
        let is_composers = is_composers || self.composer.edits_with(key);
        if is_composers && self.composer.key(key) == Typed::Taken {
            return self.composer_changed();
        }
        action.map_or_else(Vec::new, |action| self.act(action))
    }

    /// What a key does by the key map. Without a question its keys are the composer's.
    fn action(&self, key: Key) -> Option<Action> {
        let is_meant = |action: &Action| !action.is_for_questions() || !self.panels.is_empty();
        self.keys.action(key).filter(is_meant)
    }

    /// What a question may do with a key: all while the user has moved there, else only what the composer has
    /// no use for.
    pub(super) fn panel_has(&self) -> Has {
        match self.has {
            Has::Keys => Has::Keys,
            Has::OnlySpareKeys | Has::OnlyShortcuts if self.composer.is_empty() => {
                Has::OnlySpareKeys
            }
            Has::OnlySpareKeys | Has::OnlyShortcuts => Has::OnlyShortcuts,
        }
    }

    /// What came of a key or click in the pane on top; none if it had no use for it.
    pub(super) fn taken_by_pane(&mut self, pressed: Pressed) -> Option<Vec<Effect>> {
        match pressed {
            Pressed::Taken(effects) => Some(effects),
            Pressed::Done(effects) => {
                let mut all = effects;
                all.extend(self.close_pane());
                Some(all)
            }
            Pressed::Ignored => None,
        }
    }

    /// Closes the pane on top. After the last of the first questions, what they changed is looked up again.
    pub(super) fn close_pane(&mut self) -> Vec<Effect> {
        self.panes.pop();
        self.panels.uncover();
        if !self.panes.is_empty() || !std::mem::take(&mut self.is_welcoming) {
            return Vec::new();
        }
        self.after_welcome()
    }

    pub(super) fn take_paste(&mut self, text: &str) -> Vec<Effect> {
        if let Some((_, pane)) = self.panes.last_mut() {
            let pressed = pane.paste(text);
            return self.taken_by_pane(pressed).unwrap_or_default();
        }
        if self.has == Has::Keys
            && let Pressed::Taken(effects) | Pressed::Done(effects) = self.panels.paste(text)
        {
            return effects;
        }
        let wishes = self.composer.paste(text);
        let mut effects = self.composer_changed();
        effects.extend(wishes.into_iter().map(Effect::ReadFile));
        effects
    }

    /// The terminal told something of itself.
    fn take_told(&mut self, answer: &Answer) {
        match answer {
            Answer::Background(red, green, blue) => {
                let background = Background::of(*red, *green, *blue);
                if background != self.background {
                    self.background = background;
                    self.choose_theme();
                }
            }
            // What it can do comes by `Application::learn`.
            Answer::KittyGraphics
            | Answer::Attributes { .. }
            | Answer::Name(_)
            | Answer::Clipboard(_)
            | Answer::KittyKeyboard
            | Answer::CellSize { .. } => {}
        }
    }

    /// What follows a change of the composer's text: files for its popup, and the draft in a while.
    pub(super) fn composer_changed(&mut self) -> Vec<Effect> {
        self.draft.due_ms = Some(self.look.now_ms + DRAFT_PAUSE_MS);
        let wanted = self.composer.wanted();
        let before = std::mem::replace(&mut self.wanted, wanted.clone());
        let mut effects = Vec::new();
        if before == Wanted::Nothing && wanted != Wanted::Nothing {
            // As after a turn: what is offered may have changed meanwhile.
            effects.push(ask(Query::Offers { folder: self.folder.clone() }, Asker::Offers));
        }
        let Wanted::Files { search } = wanted else { return effects };
        if search == self.files.1 && self.files.0 > 0 {
            return effects;
        }
        self.files = (self.files.0 + 1, search.clone());
        let limit = match self.settings.completions.max_items {
            0 => FILES,
            most => usize::try_from(most).unwrap_or(FILES).min(FILES),
        };
        let query = Query::Files { folder: self.folder().to_owned(), search, limit };
        effects.push(ask(query, Asker::Files { turn: self.files.0 }));
        effects
    }

    fn tick(&mut self) -> Vec<Effect> {
        let now = self.look.now_ms;
        let mut effects = match self.panes.last_mut() {
            Some((_, pane)) if pane.wants_tick() => pane.tick(now),
            Some(_) | None => Vec::new(),
        };
        if let Some(before) = self.older.take() {
            effects.push(super::look_up_entries(self.session.id, Some(before)));
        }
        let calls = std::mem::take(&mut self.crews);
        if !calls.is_empty() {
            let session = self.session.id;
            effects.push(ask(Query::Children { session, calls }, Asker::Children(session)));
        }
        if self.clip.as_ref().is_some_and(|wanted| wanted.until_ms <= now) {
            effects.extend(self.clip.take().map(|wanted| Effect::Say(wanted.problem)));
        }
        if self.draft.due_ms.is_some_and(|due| due <= now) {
            effects.extend(self.keep_draft());
        }
        effects
    }

    /// Keeps what is in the composer, if it is not what was kept last.
    pub(super) fn keep_draft(&mut self) -> Option<Effect> {
        self.draft.due_ms = None;
        let text = self.composer.text();
        if text == self.draft.kept {
            return None;
        }
        self.draft.kept.clone_from(&text);
        let value = (!text.is_empty()).then_some(text);
        Some(submit(Op::Remember { key: self.draft_key(), value }))
    }

    /// Whether the user looks elsewhere, as far as the terminal tells.
    pub(super) fn is_away(&self) -> bool {
        self.focus == Some(Focus::Away)
    }
}

/// Whether an action makes sense while something lies over the conversation.
fn is_general(action: Action) -> bool {
    matches!(action, Action::Clear | Action::Suspend | Action::Redraw | Action::ToggleMouse)
}
