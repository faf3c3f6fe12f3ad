//! Sessions of all projects: searched by title and by what was said, renamed, deleted, forked.

use base::protocol::{Hit, Query, Reply, SessionSummary};
use base::{Entry, EntryKind, Money, Op, SessionId, Timestamp};

use super::list::{Cover, Hints, List};
use super::shared::ask;
use super::{Overlay, Pressed, Shared, overlay};
use crate::canvas::{Canvas, Rect};
use crate::field::Field;
use crate::figures;
use crate::key::{Code, Key, Mods};
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::{Picked, Picker, Row};
use crate::text;
use crate::theme::Role;

/// More sessions than anybody scrolls through; older ones are found by their words.
const MOST_SESSIONS: usize = 1_000;
const MOST_HITS: usize = 40;
const PREVIEW_ENTRIES: usize = 20;
/// How long typing or moving must rest before something is looked up.
const PAUSE_MS: u64 = 180;

const LISTED: u8 = 0;
const FOUND: u8 = 1;
/// Look-ups of previews count from here: an answer for a row that was left is dropped.
const PREVIEWS: u8 = 2;

/// How long the user has neither typed nor moved; only a tick knows the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// It began with the last key.
    Begins,
    /// It began at this time, or little before.
    Since(u64),
    /// What was to be looked up is.
    Over,
}

/// The list of sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    pane: u64,
    current: Option<SessionId>,
    folder: String,
    home: String,
    now: Timestamp,
    known: Vec<SessionSummary>,
    hits: Vec<Hit>,
    rest: Rest,
    searched: String,
    previews: u8,
    preview: Option<(SessionId, Vec<Entry>)>,
    renaming: Option<(SessionId, Field)>,
    doomed: Option<SessionId>,
}

impl Sessions {
    /// A list that looks up all sessions.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self {
            pane: shared.pane,
            current: shared.session,
            folder: shared.folder.clone(),
            home: shared.home.clone(),
            now: shared.now,
            known: Vec::new(),
            hits: Vec::new(),
            rest: Rest::Over,
            searched: String::new(),
            previews: 0,
            preview: None,
            renaming: None,
            doomed: None,
        }
    }

    fn show(&mut self, picker: &mut Picker<SessionSummary>) {
        let mut sessions: Vec<&SessionSummary> = self.known.iter().collect();
        // Newest first within a folder; our own folder first, then by each folder's newest session.
        let newest = |folder: &str| {
            self.known.iter().filter(|session| session.folder == folder).map(|s| s.updated).max()
        };
        let mut folders: Vec<&str> = Vec::new();
        for session in &sessions {
            if !folders.contains(&session.folder.as_str()) {
                folders.push(&session.folder);
            }
        }
        folders.sort_by_cached_key(|folder| {
            (*folder != self.folder, std::cmp::Reverse(newest(folder)))
        });
        let place = |session: &SessionSummary| folders.iter().position(|f| *f == session.folder);
        sessions.sort_by_cached_key(|session| (place(session), std::cmp::Reverse(session.updated)));
        let listed = sessions.into_iter().map(|session| (self.row(session), session.clone()));
        let found = self.hits.iter().filter(|hit| hit.entry.is_some()).map(|hit| {
            let row = self.row(&hit.session).under("said").noted(hit.snippet.trim()).pinned();
            (row, hit.session.clone())
        });
        let rows = listed.chain(found).collect();
        picker.set(rows, "no sessions yet");
    }

    fn row(&self, session: &SessionSummary) -> Row {
        let title = session.title.as_deref().unwrap_or("(untitled)");
        let is_current = Some(session.id) == self.current;
        let row = Row::new(title)
            .under(text::below_home(&session.folder, &self.home))
            .with(figures::ago(session.updated, self.now))
            .marked(if is_current { "●" } else { "" });
        if self.doomed == Some(session.id) {
            return row.looking(Role::Bad).noted("ctrl+x again deletes it for good");
        }
        row
    }

    fn rest(&mut self) {
        self.rest = Rest::Begins;
    }

    fn delete(&mut self, picker: &mut Picker<SessionSummary>) -> Pressed {
        let Some(session) = picker.chosen().map(|session| session.id) else {
            return Pressed::Taken(Vec::new());
        };
        if Some(session) == self.current {
            return Pressed::Taken(vec![Effect::Say(
                "this session is open; open another first".to_owned(),
            )]);
        }
        if self.doomed != Some(session) {
            self.doomed = Some(session);
            self.show(picker);
            return Pressed::Taken(Vec::new());
        }
        self.doomed = None;
        self.known.retain(|known| known.id != session);
        self.hits.retain(|hit| hit.session.id != session);
        self.show(picker);
        self.rest();
        let op = Op::Delete { session };
        Pressed::Taken(vec![Effect::Submit { op, purpose: Purpose::Other }])
    }

    fn fork(&self, picker: &Picker<SessionSummary>) -> Pressed {
        let Some(session) = picker.chosen().map(|session| session.id) else {
            return Pressed::Taken(Vec::new());
        };
        let entry = match &self.preview {
            Some((of, entries)) if *of == session => entries.last().map(|entry| entry.id),
            Some(_) | None => None,
        };
        let Some(entry) = entry else {
            let words = "what is to be forked is still being looked up, or empty";
            return Pressed::Taken(vec![Effect::Say(words.to_owned())]);
        };
        let into = SessionId::new();
        let op = Op::Fork { session, entry, into };
        Pressed::Done(vec![Effect::Submit { op, purpose: Purpose::Fork(into) }])
    }

    fn renaming_key(&mut self, picker: &mut Picker<SessionSummary>, key: Key) -> Option<Pressed> {
        let (session, field) = self.renaming.as_mut()?;
        let mut effects = Vec::new();
        match key {
            Key { code: Code::Enter, .. } => {
                let (session, title) = (*session, field.text().trim().to_owned());
                if !title.is_empty() {
                    for known in self.known.iter_mut().filter(|known| known.id == session) {
                        known.title = Some(title.clone());
                    }
                    let op = Op::Rename { session, title };
                    effects.push(Effect::Submit { op, purpose: Purpose::Other });
                }
                self.renaming = None;
                self.show(picker);
            }
            Key { code: Code::Esc, .. } | Key { code: Code::Char('c'), mods: Mods::CTRL } => {
                self.renaming = None;
            }
            _ => {
                field.key(key);
            }
        }
        Some(Pressed::Taken(effects))
    }
}

impl List for Sessions {
    type Worth = SessionSummary;

    fn picker(&mut self) -> Picker<SessionSummary> {
        Picker::new("sessions")
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        &[
            ("enter", "open"),
            ("esc", "close"),
            ("ctrl+r", "rename"),
            ("ctrl+x", "delete"),
            ("ctrl+f", "fork"),
            ("tab", "preview"),
        ]
    }

    fn open(&mut self) -> Vec<Effect> {
        vec![ask(self.pane, LISTED, Query::Sessions { folder: None, limit: MOST_SESSIONS })]
    }

    fn hear(&mut self, picker: &mut Picker<SessionSummary>, what: u8, reply: Reply) -> Vec<Effect> {
        match (what, reply) {
            (LISTED, Reply::Sessions { sessions }) => {
                self.known = sessions;
                self.show(picker);
                let other = self
                    .known
                    .iter()
                    .map(|session| session.id)
                    .find(|id| Some(*id) != self.current);
                let is_first = |session: &SessionSummary| Some(session.id) == other;
                if self.known.first().is_some_and(|first| Some(first.id) == self.current) {
                    picker.choose(is_first);
                }
                self.rest();
            }
            (FOUND, Reply::Found { hits }) => {
                self.hits = hits;
                self.show(picker);
                self.rest();
            }
            (what, Reply::Entries { entries, .. }) if what == PREVIEWS + self.previews => {
                if let Some((_, shown)) = &mut self.preview {
                    *shown = entries;
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn key(&mut self, picker: &mut Picker<SessionSummary>, key: Key) -> Option<Pressed> {
        if self.renaming.is_some() {
            return self.renaming_key(picker, key);
        }
        if key == Key::ctrl('x') {
            return Some(self.delete(picker));
        }
        if self.doomed.take().is_some() {
            self.show(picker);
        }
        if key == Key::ctrl('f') {
            return Some(self.fork(picker));
        }
        if key == Key::ctrl('r') {
            let chosen = picker.chosen()?;
            let title = chosen.title.as_deref().unwrap_or_default();
            self.renaming = Some((chosen.id, Field::new(title)));
            return Some(Pressed::Taken(Vec::new()));
        }
        None
    }

    fn paste(&mut self, text: &str) -> Option<Pressed> {
        let (_, field) = self.renaming.as_mut()?;
        field.insert(text);
        Some(Pressed::Taken(Vec::new()))
    }

    fn take(&mut self, picker: &mut Picker<SessionSummary>) -> Pressed {
        let enter = picker.chosen().map(|session| Effect::Enter(session.id));
        Pressed::Done(enter.into_iter().collect())
    }

    fn moved(&mut self, picker: &mut Picker<SessionSummary>, how: Picked) -> Vec<Effect> {
        if how == Picked::Searched && !self.hits.is_empty() {
            self.hits.clear();
            self.show(picker);
        }
        self.rest();
        Vec::new()
    }

    fn preview(&mut self, worth: &SessionSummary, width: usize, look: &Look) -> Vec<Line> {
        let style = |role| look.theme.style(role);
        let mut lines = facts(worth, &self.home, look);
        match &self.preview {
            Some((session, entries)) if *session == worth.id => {
                lines.extend(entries.iter().flat_map(|entry| said(entry, width, look)));
            }
            Some(_) | None => lines.push(Line::new("…", style(Role::Faint))),
        }
        lines
    }

    fn over(&self, canvas: &mut Canvas, area: Rect, look: &Look) -> Cover {
        let Some((_, field)) = self.renaming.as_ref() else { return Cover::Nothing };
        let shown = Overlay {
            title: "rename",
            lines: Vec::new(),
            field: Some((field, "a title")),
            hints: &[("enter", "keep"), ("esc", "back")],
        };
        Cover::Drawn(overlay(canvas, area, &shown, look))
    }

    fn wants_tick(&self) -> bool {
        self.rest != Rest::Over
    }

    fn tick(&mut self, picker: &mut Picker<SessionSummary>, now_ms: u64) -> Vec<Effect> {
        match self.rest {
            Rest::Over => return Vec::new(),
            Rest::Begins => {
                self.rest = Rest::Since(now_ms);
                return Vec::new();
            }
            Rest::Since(began) if now_ms.saturating_sub(began) < PAUSE_MS => return Vec::new(),
            Rest::Since(_) => self.rest = Rest::Over,
        }
        let mut effects = Vec::new();
        let words = picker.search().trim().to_owned();
        if words != self.searched {
            self.searched.clone_from(&words);
            if !words.is_empty() {
                effects.push(ask(self.pane, FOUND, Query::Find { words, limit: MOST_HITS }));
            }
        }
        let chosen = picker.chosen().map(|session| session.id);
        let shown = self.preview.as_ref().map(|(session, _)| *session);
        if let Some(session) = chosen.filter(|chosen| shown != Some(*chosen)) {
            self.previews = (self.previews + 1) % 128;
            self.preview = Some((session, Vec::new()));
            let query = Query::Entries { session, before: None, limit: PREVIEW_ENTRIES };
            effects.push(ask(self.pane, PREVIEWS + self.previews, query));
        }
        effects
    }
}

fn facts(session: &SessionSummary, home: &str, look: &Look) -> Vec<Line> {
    let style = |role| look.theme.style(role);
    let title = session.title.as_deref().unwrap_or("(untitled)");
    let model =
        session.model.as_ref().map(|model| format!("{} · ", model.model)).unwrap_or_default();
    let tokens = figures::tokens(session.usage.total());
    let cost = (session.cost != Money::ZERO).then(|| format!(" · {}", session.cost));
    let cost = cost.unwrap_or_default();
    let told = format!("{model}{} entries · {tokens} tokens{cost}", session.entries);
    vec![
        Line::new(title, style(Role::Strong)),
        Line::new(text::below_home(&session.folder, home), style(Role::Muted)),
        Line::new(told, style(Role::Faint)),
        Line::EMPTY,
    ]
}

/// What was said in an entry: a few rows, marked by who said it.
fn said(entry: &Entry, width: usize, look: &Look) -> Vec<Line> {
    let (mark, role) = match &entry.kind {
        EntryKind::User { .. } => (if look.unicode { "› " } else { "> " }, Role::User),
        EntryKind::Assistant { .. } => ("  ", Role::Text),
        EntryKind::ToolResults { .. }
        | EntryKind::Notice { .. }
        | EntryKind::Compaction { .. }
        | EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Checkpoint { .. } => return Vec::new(),
    };
    let style = look.theme.style(role);
    let texts = entry.kind.parts().iter().filter_map(base::Part::as_text);
    let rows = texts.flat_map(str::lines).filter(|text| !text.trim().is_empty()).take(4);
    let mut lines: Vec<Line> = rows
        .enumerate()
        .flat_map(|(index, text)| {
            let begin = if index == 0 { mark } else { "  " };
            Line::new(begin, look.theme.style(Role::Accent)).then(text, style).wrap(width, 2)
        })
        .take(6)
        .collect();
    if !lines.is_empty() {
        lines.push(Line::EMPTY);
    }
    lines
}
