//! Answers to look-ups, and what comes of operations.

use std::collections::HashSet;

use base::protocol::{ChildState, ClientError, Event, Place, Reply, SessionState};
use base::{ModelRef, RequestId};

use super::hears::request_of;
use super::says::with_own;
use super::{App, CLIP_MS, WINDOW, Wanting};
use crate::message::{Asker, Clip, Effect, Purpose};
use crate::pane::Pane;
use crate::panel::Has;
use crate::picture::media_type;
use crate::transcript::More;
use crate::welcome::Welcome;

impl App {
    /// The answer to a look-up.
    pub(super) fn take_answer(
        &mut self,
        asker: Asker,
        reply: Result<Reply, ClientError>,
    ) -> Vec<Effect> {
        if let Asker::Pane { pane, what } = asker {
            let top = self.panes.iter_mut().find(|(number, _)| *number == pane);
            return top.map_or_else(Vec::new, |(_, pane)| pane.hear(what, reply));
        }
        match reply {
            Ok(reply) => self.take_reply(asker, reply),
            Err(_) if matches!(asker, Asker::Children(_)) => self.take_children(asker, &[]),
            Err(error) if matters(asker) => vec![Effect::Say(error.to_string())],
            Err(_) => Vec::new(),
        }
    }

    fn take_reply(&mut self, asker: Asker, reply: Reply) -> Vec<Effect> {
        if let (Asker::State(session), Reply::State(state)) = (asker, reply.clone()) {
            if session == self.session.id {
                return self.take_state(*state);
            }
            return Vec::new();
        }
        match reply {
            Reply::Place(place) => self.take_place(*place),
            Reply::Offers { offers } => {
                self.offers.clone_from(&offers);
                self.composer.set_offers(with_own(offers));
                Vec::new()
            }
            Reply::Files { mut paths } => {
                let deepest = self.settings.completions.max_depth;
                let depth = |path: &String| path.trim_end_matches('/').matches('/').count();
                let deepest = usize::try_from(deepest).ok().filter(|it| *it > 0);
                paths.retain(|path| deepest.is_none_or(|deepest| depth(path) < deepest));
                if asker == (Asker::Files { turn: self.files.0 }) {
                    let search = self.files.1.clone();
                    self.composer.offer_files(&search, paths);
                }
                Vec::new()
            }
            Reply::History { prompts } => {
                self.composer.set_history(prompts);
                Vec::new()
            }
            Reply::Recalled { value } => {
                self.take_recalled(asker, value);
                Vec::new()
            }
            Reply::Entries { entries, paid } => {
                let Asker::Entries(session) = asker else { return Vec::new() };
                if session != self.session.id {
                    return Vec::new();
                }
                let more = if entries.len() < WINDOW { More::Nothing } else { More::Older };
                self.transcript.know_paid(paid);
                if self.is_loaded {
                    self.transcript.prepend(&entries, more);
                } else {
                    self.is_loaded = true;
                    self.transcript.load(session, &entries, more);
                    for event in std::mem::take(&mut self.going_on) {
                        self.transcript.see(&event, self.look.now_ms);
                    }
                }
                Vec::new()
            }
            Reply::Children { children } => self.take_children(asker, &children),
            Reply::Sessions { .. }
            | Reply::State(_)
            | Reply::Found { .. }
            | Reply::Models { .. }
            | Reply::Changes { .. }
            | Reply::Checkpoints { .. }
            | Reply::Context(_)
            | Reply::Providers { .. }
            | Reply::Servers { .. } => Vec::new(),
        }
    }

    /// Sub-agents that have worked for calls that are seen.
    fn take_children(&mut self, asker: Asker, children: &[ChildState]) -> Vec<Effect> {
        if asker == Asker::Children(self.session.id) {
            self.transcript.know_children(children, self.look.now_ms);
        }
        Vec::new()
    }

    fn take_state(&mut self, state: SessionState) -> Vec<Effect> {
        let is_unfinished = state.is_unfinished;
        let passed =
            |since| u64::try_from(self.time_of_day().since(since).as_millis()).unwrap_or(0);
        let since_ms = state.running_since.map(|it| self.look.now_ms.saturating_sub(passed(it)));
        let going_on = state.going_on.clone();
        self.session.take(state, since_ms);
        let mut effects = vec![Effect::Title(self.window_title())];
        effects.extend(self.take_going_on(going_on));
        if is_unfinished {
            effects.push(Effect::Say(
                "the last turn broke off · /continue goes on with it".to_owned(),
            ));
        }
        effects
    }

    /// What goes on since before we came, as if it was told now. Questions that are not among it are settled.
    fn take_going_on(&mut self, events: Vec<Event>) -> Vec<Effect> {
        let open: HashSet<RequestId> = events.iter().filter_map(request_of).collect();
        self.panels.keep(|request| open.contains(&request));
        let mut effects = Vec::new();
        for event in &events {
            self.note_child(event);
            effects.extend(self.hear_any(event));
            if self.is_loaded {
                self.transcript.see(event, self.look.now_ms);
            }
        }
        if !self.is_loaded {
            self.going_on = events;
        }
        if self.panels.is_empty() {
            self.has = Has::OnlySpareKeys;
        }
        effects
    }

    /// How things stand in our folder: the first questions, if there are any to ask.
    fn take_place(&mut self, place: Place) -> Vec<Effect> {
        if let Some(model) = &place.model {
            self.session.take_default(model);
        }
        if !self.session.is_begun && !self.session.is_mode_chosen {
            self.session.mode = place.mode;
        }
        let is_first = self.place.is_none();
        self.place = Some(place.clone());
        self.take_picked();
        // An instruction file alone is no reason to stand between the user and the prompt: the empty
        // conversation offers it.
        let must_ask = Welcome::is_needed(&Place { init: None, ..place.clone() });
        if !is_first || !must_ask {
            return self.first_words();
        }
        self.panes_opened += 1;
        let mut welcome = Welcome::new(&self.shared(self.panes_opened), place);
        let effects = welcome.open();
        self.is_welcoming = true;
        self.panes.push((self.panes_opened, Box::new(welcome)));
        effects
    }

    /// Before the first words, the model that was picked last answers, unless the user has named one.
    fn take_picked(&mut self) {
        let is_free =
            self.place.as_ref().is_some_and(|it| it.model.is_some() && !it.is_model_named);
        let is_new = !self.session.is_begun && self.session.chosen_model.is_none();
        let picked = self.recent.first().and_then(|name| name.parse::<ModelRef>().ok());
        if let Some(model) = picked.filter(|_| is_free && is_new) {
            self.session.model = Some(model.clone());
            self.session.chosen_model = Some(model);
        }
    }

    /// What the command line wants said first.
    fn first_words(&mut self) -> Vec<Effect> {
        let Some(prompt) = self.beginning.prompt.take() else { return Vec::new() };
        self.composer.set_text(&prompt);
        vec![Effect::Perform(crate::keymap::Action::Send)]
    }

    fn take_recalled(&mut self, asker: Asker, value: Option<String>) {
        let Some(value) = value else { return };
        if asker == Asker::Draft && self.composer.is_empty() {
            self.draft.kept.clone_from(&value);
            self.composer.set_text(&value);
        }
        if asker == Asker::Recent {
            self.recent = value.lines().map(str::to_owned).collect();
            self.take_picked();
        }
        // What the settings name counts more than what was chosen once.
        if asker == Asker::Theme && self.settings.theme.is_none() {
            self.theme = value;
            self.choose_theme();
        }
    }

    /// What came of an operation.
    pub(super) fn take_outcome(
        &mut self,
        purpose: Purpose,
        outcome: Result<(), ClientError>,
    ) -> Vec<Effect> {
        match (purpose, outcome) {
            (Purpose::Login, outcome) => {
                let Some((_, pane)) = self.panes.last_mut() else { return Vec::new() };
                let mut effects = pane.submitted(purpose, outcome);
                if pane.is_done() {
                    effects.extend(self.close_pane());
                }
                effects
            }
            (Purpose::Say | Purpose::Other, Ok(())) => Vec::new(),
            (Purpose::Answer(request), Ok(()) | Err(ClientError::NotFound(_))) => {
                self.panels.settled(request);
                Vec::new()
            }
            (Purpose::Answer(request), Err(error)) => {
                self.panels.refused(request, &error.to_string());
                vec![Effect::Say(error.to_string())]
            }
            (Purpose::Fork(into), Ok(())) => vec![Effect::Enter(into)],
            (Purpose::Say, Err(error)) => {
                if let Some(text) = self.sent.take().filter(|_| self.composer.is_empty()) {
                    self.composer.set_text(&text);
                }
                self.transcript.notice(&error.to_string());
                Vec::new()
            }
            (Purpose::Fork(_) | Purpose::Other, Err(error)) => {
                vec![Effect::Say(error.to_string())]
            }
        }
    }

    pub(super) fn take_edited(&mut self, edited: Result<String, String>) -> Vec<Effect> {
        match edited {
            Ok(text) => {
                self.composer.set_text(text.trim_end_matches('\n'));
                self.composer_changed()
            }
            Err(problem) => vec![Effect::Say(problem)],
        }
    }

    /// What programs found on the clipboard; where they found nothing, the terminal may know.
    pub(super) fn take_clip(&mut self, clip: Result<Clip, String>) -> Vec<Effect> {
        match clip {
            Ok(Clip::Picture(bytes)) => self.attach("pasted.png", bytes, "image/png"),
            Ok(Clip::Text(text)) => self.take_paste(&text),
            Err(problem) => {
                let problem = format!("{problem} · the terminal's own key pastes text");
                self.clip = Some(Wanting { problem, until_ms: self.look.now_ms + CLIP_MS });
                vec![Effect::AskClip]
            }
        }
    }

    /// What the terminal has on its clipboard. Unasked it is nothing.
    pub(super) fn take_told_clip(&mut self, bytes: Vec<u8>) -> Vec<Effect> {
        let Some(wanted) = self.clip.take() else { return Vec::new() };
        let kind = media_type(&bytes);
        if kind.starts_with("image/") {
            return self.attach("pasted", bytes, kind);
        }
        match String::from_utf8(bytes) {
            Ok(text) if !text.trim().is_empty() => self.take_paste(&text),
            Ok(_) | Err(_) => vec![Effect::Say(wanted.problem)],
        }
    }

    pub(super) fn take_file(
        &mut self,
        path: &str,
        file: Result<(Vec<u8>, String), String>,
    ) -> Vec<Effect> {
        match file {
            Ok((bytes, media_type)) => self.attach(path, bytes, &media_type),
            Err(problem) => {
                // What was pasted was meant as text, then.
                self.composer.insert(path);
                vec![Effect::Say(problem)]
            }
        }
    }

    fn attach(&mut self, name: &str, bytes: Vec<u8>, media_type: &str) -> Vec<Effect> {
        match self.composer.attach(name, bytes, media_type) {
            Ok(()) => self.composer_changed(),
            Err(problem) => vec![Effect::Say(problem.to_string())],
        }
    }
}

/// Whether the user waits for an answer that failed to come.
fn matters(asker: Asker) -> bool {
    match asker {
        Asker::State(_) | Asker::Entries(_) | Asker::Place => true,
        Asker::Theme
        | Asker::Children(_)
        | Asker::Offers
        | Asker::Files { .. }
        | Asker::History
        | Asker::Draft
        | Asker::Recent
        | Asker::Pane { .. } => false,
    }
}
