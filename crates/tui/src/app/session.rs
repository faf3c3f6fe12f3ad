//! What is known of the session on the screen.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base::block::{Todo, files_of};
use base::protocol::{Mode, ModelChoice, SessionState, Spent, WaitingPrompt};
use base::{Block, CallId, Effort, EntryKind, ModelRef, Money, Origin, Part, SessionId, Usage};

use crate::text;

/// Columns of the first prompt that stand for a title until there is a better one.
const TITLE_CELLS: usize = 80;

/// Whether a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    None,
    Runs,
    /// The user has stopped it, and it settles.
    Stops,
}

/// The session on the screen.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    /// Whether the mind knows it: a session begins with its first prompt.
    pub(super) is_begun: bool,
    pub(super) title: Option<String>,
    /// Where it works, once the mind has told.
    pub(super) folder: Option<String>,
    pub(super) model: Option<ModelRef>,
    /// What the user chose before the session began.
    pub(super) chosen_model: Option<ModelRef>,
    pub(super) window: u64,
    /// Tokens in the context at the newest request.
    pub(super) used: u64,
    pub(super) effort: Option<Effort>,
    pub(super) mode: Mode,
    /// Whether the user chose the mode, so that the mind must be told.
    pub(super) is_mode_chosen: bool,
    pub(super) usage: Usage,
    /// What was paid by model, as far as seen.
    pub(super) spent: Vec<Spent>,
    pub(super) cost: Money,
    pub(super) turn: Turn,
    /// When the running turn began.
    pub(super) since_ms: u64,
    pub(super) waiting: Vec<WaitingPrompt>,
    pub(super) todos: Vec<Todo>,
    /// Lines added to and taken from files by tools, as far as seen.
    pub(super) changed: BTreeMap<String, (u64, u64)>,
    /// Commands of the user's own that run.
    pub(super) shells: BTreeSet<CallId>,
    /// Its sub-agents, whose questions are ours to answer.
    pub(super) children: HashSet<SessionId>,
}

impl Session {
    /// A session that begins with the next prompt, or one that is being opened.
    pub(super) fn new(opened: Option<SessionId>) -> Self {
        Self {
            id: opened.unwrap_or_else(SessionId::new),
            is_begun: opened.is_some(),
            title: None,
            folder: None,
            model: None,
            chosen_model: None,
            window: 0,
            used: 0,
            effort: None,
            mode: Mode::Default,
            is_mode_chosen: false,
            usage: Usage::default(),
            spent: Vec::new(),
            cost: Money::default(),
            turn: Turn::None,
            since_ms: 0,
            waiting: Vec::new(),
            todos: Vec::new(),
            changed: BTreeMap::new(),
            shells: BTreeSet::new(),
            children: HashSet::new(),
        }
    }

    /// A new session with the same wishes.
    pub(super) fn next(&self) -> Self {
        Self {
            model: self.model.clone(),
            chosen_model: self.chosen_model.clone(),
            window: self.window,
            effort: self.effort,
            mode: self.mode,
            is_mode_chosen: self.is_mode_chosen,
            ..Self::new(None)
        }
    }

    /// Takes what the mind tells of a session that is being opened. `since_ms` is when its turn began, if one
    /// runs.
    pub(super) fn take(&mut self, state: SessionState, since_ms: Option<u64>) {
        self.title = state.summary.title;
        self.folder = Some(state.summary.folder);
        self.model = Some(state.model);
        self.window = state.window;
        self.used = state.used;
        self.effort = state.effort;
        self.mode = state.mode;
        self.usage = state.summary.usage;
        self.cost = state.summary.cost;
        self.spent = state.spent;
        self.turn = match (since_ms, self.turn) {
            (None, _) => Turn::None,
            (Some(_), Turn::Stops) => Turn::Stops,
            (Some(_), Turn::None | Turn::Runs) => Turn::Runs,
        };
        self.since_ms = since_ms.unwrap_or(self.since_ms);
        self.shells.clear();
        self.wait(&state.waiting);
        self.todos = state.todos;
    }

    /// Takes what waits for the running turn. Reports of sub-agents wait there, too: nobody wrote them.
    pub(super) fn wait(&mut self, prompts: &[WaitingPrompt]) {
        let is_said = |part: &Part| matches!(part.origin, Origin::User | Origin::Channel(_));
        let said = prompts.iter().filter(|prompt| prompt.parts.iter().any(is_said));
        self.waiting = said.cloned().collect();
    }

    /// Calls it by the first line the user wrote, until there is a better title.
    pub(super) fn call_by(&mut self, kind: &EntryKind) {
        if let EntryKind::User { parts } = kind
            && self.title.is_none()
            && !kind.is_own_command()
        {
            let mut lines = parts.iter().filter_map(Part::as_text).flat_map(str::lines);
            let first = lines.find(|line| !line.trim().is_empty());
            self.title = first.map(|line| text::ellipsis(line.trim(), TITLE_CELLS).into_owned());
        }
    }

    /// Takes the model that answers by default.
    pub(super) fn take_default(&mut self, model: &ModelChoice) {
        if self.model.is_none() {
            self.model = Some(model.model.clone());
            self.window = model.window;
        }
    }

    /// Takes what a model call cost.
    pub(super) fn pay(&mut self, model: &ModelRef, usage: Usage, cost: Option<Money>) {
        self.usage += usage;
        self.cost += cost.unwrap_or_default();
        let known = self.spent.iter().position(|spent| spent.model == *model);
        let at = known.unwrap_or_else(|| {
            let (calls, usage) = (0, Usage::default());
            self.spent.push(Spent { model: model.clone(), calls, usage, cost: None });
            self.spent.len() - 1
        });
        let spent = &mut self.spent[at];
        spent.calls += 1;
        spent.usage += usage;
        spent.cost = match (spent.cost, cost) {
            (Some(before), Some(now)) => Some(before + now),
            (before, now) => before.or(now),
        };
    }

    /// Takes what a tool shows of what it did.
    pub(super) fn see_block(&mut self, block: &Block) {
        if let Block::Todos { items } = block {
            self.todos.clone_from(items);
        }
        if let Block::Diff { path, unified } = block {
            for (path, unified) in files_of(path, unified) {
                let count = |mark| {
                    let lines = unified.lines().filter(|line| line.starts_with(mark));
                    u64::try_from(lines.count()).unwrap_or(u64::MAX)
                };
                let (added, removed) = self.changed.entry(path.to_owned()).or_default();
                *added += count('+');
                *removed += count('-');
            }
        }
    }

    /// Whether a turn runs.
    pub(super) fn is_running(&self) -> bool {
        self.turn != Turn::None
    }

    /// Whether there is something to stop: a turn, or a command of the user's own.
    pub(super) fn is_busy(&self) -> bool {
        self.is_running() || !self.shells.is_empty()
    }

    /// How full the context is, in percent; none when the window is unknown.
    pub(super) fn fullness(&self) -> Option<u64> {
        (self.window > 0).then(|| (self.used * 100 / self.window).min(100))
    }
}
