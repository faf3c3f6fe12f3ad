//! Items: what the conversation is made of, each laid out when it is seen.

use base::EntryId;

use super::call::{self, ToolCall};
use super::note::Note;
use super::prompt::Prompt;
use super::row::Row;
use super::thought::Thought;
use crate::line::Line;
use crate::look::{Look, Pictures};
use crate::markdown::{self, Markdown};

/// Text wider than this is hard to read.
const TEXT_CELLS: u16 = 120;

/// Whether an item shows all it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Fold {
    /// As all items of its kind do.
    #[default]
    Usual,
    /// It does.
    Open,
    /// It does not.
    Closed,
}

/// Which items are open by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Open {
    /// Tool blocks.
    pub(crate) calls: bool,
    /// Thoughts.
    pub(crate) thoughts: bool,
}

/// What items are laid out for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// Cells across.
    pub(crate) cells: u16,
    /// What things look like.
    pub(crate) look: &'a Look,
    /// Which items are open by themselves.
    pub(crate) open: Open,
}

impl Setting<'_> {
    /// Cells across for text that is read.
    pub(crate) fn text_cells(&self) -> usize {
        usize::from(self.cells.min(TEXT_CELLS))
    }
}

/// What an item is.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// What the user said.
    Prompt(Prompt),
    /// What the model said.
    Answer {
        /// The text.
        text: Markdown,
        /// Whether more may come.
        is_arriving: bool,
    },
    /// What the model thought.
    Thought(Thought),
    /// A tool call, or several in a row that only read.
    Calls(Vec<ToolCall>),
    /// A line about the session.
    Note(Note),
}

/// What the rows of an item depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    cells: u16,
    look: u32,
    split: base::interface::DiffMode,
    pictures: Pictures,
    open: Open,
    version: u32,
    /// For what moves: the picture it was laid out for.
    moment: u64,
}

/// Rows of an item, and what they were made for.
#[derive(Debug, Clone)]
struct Laid {
    key: Key,
    rows: Rows,
}

#[derive(Debug, Clone)]
enum Rows {
    Plain(Vec<Row>),
    Markdown(markdown::Laid),
}

/// One item.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// The entry it shows something of; none for what is ours.
    pub(crate) entry: Option<EntryId>,
    /// What it is.
    pub(crate) body: Body,
    /// Whether it shows all it has.
    pub(crate) fold: Fold,
    version: u32,
    laid: Option<Box<Laid>>,
}

impl Item {
    pub(crate) fn new(entry: Option<EntryId>, body: Body) -> Self {
        Self { entry, body, fold: Fold::Usual, version: 0, laid: None }
    }

    /// Must be told after each change, or old rows are shown.
    pub(crate) fn changed(&mut self) {
        self.version = self.version.wrapping_add(1);
    }

    /// Whether it looks different as time passes.
    pub(crate) fn is_moving(&self) -> bool {
        match &self.body {
            Body::Prompt(_) | Body::Answer { .. } => false,
            Body::Thought(thought) => thought.is_arriving(),
            Body::Calls(calls) => calls.iter().any(ToolCall::is_moving),
            Body::Note(note) => note.is_moving(),
        }
    }

    /// Whether it will change no more by itself.
    pub(crate) fn is_settled(&self) -> bool {
        match &self.body {
            Body::Prompt(_) => true,
            Body::Answer { is_arriving, .. } => !is_arriving,
            Body::Thought(thought) => !thought.is_arriving(),
            Body::Calls(calls) => calls.iter().all(ToolCall::is_settled),
            Body::Note(note) => !note.is_moving(),
        }
    }

    /// Whether it shows nothing at all.
    pub(crate) fn is_hidden(&self) -> bool {
        matches!(&self.body, Body::Answer { text, .. } if text.text().is_empty())
    }

    /// Whether it is a run of calls that only read.
    pub(crate) fn is_reading(&self) -> bool {
        matches!(&self.body, Body::Calls(calls) if calls.iter().all(|call| call::is_reading(&call.name)))
    }

    /// Whether it is a call that shows nothing but its title while it is folded.
    pub(crate) fn is_one_line(&self) -> bool {
        self.is_reading() || !self.can_fold()
    }

    /// Whether there is more of it than is shown, or was.
    pub(crate) fn can_fold(&self) -> bool {
        match &self.body {
            Body::Prompt(prompt) => prompt.has_more(),
            Body::Answer { .. } => false,
            Body::Thought(_) => true,
            Body::Calls(calls) => calls.iter().any(ToolCall::has_more),
            Body::Note(note) => note.has_more(),
        }
    }

    /// Whether it is open in a setting.
    pub(crate) fn is_open(&self, open: Open) -> bool {
        match (self.fold, &self.body) {
            (Fold::Open, _) => true,
            (Fold::Usual, Body::Thought(_)) => open.thoughts,
            (Fold::Usual, Body::Calls(_)) => open.calls,
            (Fold::Closed, _)
            | (Fold::Usual, Body::Prompt(_) | Body::Answer { .. } | Body::Note(_)) => false,
        }
    }

    /// Folds or unfolds it.
    pub(crate) fn toggle(&mut self, open: Open) {
        self.fold = if self.is_open(open) { Fold::Closed } else { Fold::Open };
        self.changed();
    }

    /// Columns its rows are moved to the right.
    pub(crate) fn indent(&self) -> u16 {
        if matches!(self.body, Body::Answer { .. }) { 2 } else { 0 }
    }

    /// Its rows, laid out if they are not.
    pub(crate) fn rows(&mut self, setting: &Setting<'_>) -> &[Row] {
        let key = self.key(setting);
        if self.laid.as_ref().is_none_or(|laid| laid.key != key) {
            let before = self.laid.take();
            let rows = self.lay_out(setting, before.filter(|laid| can_go_on(laid.key, key)));
            self.laid = Some(Box::new(Laid { key, rows }));
        }
        self.laid.as_deref().map(|laid| rows_of(&laid.rows)).unwrap_or_default()
    }

    /// For an answer that is arriving: rows that stay as they are, and the bytes they stand for.
    pub(crate) fn settled(&mut self, setting: &Setting<'_>) -> (usize, usize) {
        let is_arriving = matches!(self.body, Body::Answer { is_arriving: true, .. });
        self.rows(setting);
        match self.laid.as_deref().map(|laid| &laid.rows) {
            Some(Rows::Markdown(laid)) if is_arriving => (laid.settled(), laid.settled_bytes()),
            Some(Rows::Markdown(_) | Rows::Plain(_)) | None => (0, 0),
        }
    }

    /// Rows that the first bytes of an answer take.
    pub(crate) fn rows_of_bytes(&self, bytes: usize, setting: &Setting<'_>) -> usize {
        let Body::Answer { text, .. } = &self.body else { return 0 };
        let Some(taken) = text.text().get(..bytes) else { return 0 };
        Markdown::new(taken).rows(self.answer_cells(setting), setting.look).len()
    }

    fn answer_cells(&self, setting: &Setting<'_>) -> usize {
        setting.text_cells().saturating_sub(usize::from(self.indent()))
    }

    /// Its rows without keeping them, for who only reads.
    pub(crate) fn rows_once(&self, setting: &Setting<'_>) -> Vec<Row> {
        let key = self.key(setting);
        match self.laid.as_ref().filter(|laid| laid.key == key) {
            Some(laid) => rows_of(&laid.rows).to_vec(),
            None => rows_of(&self.lay_out(setting, None)).to_vec(),
        }
    }

    /// All it has, as lines that stand by themselves.
    pub(crate) fn whole(&self, setting: &Setting<'_>) -> Vec<Line> {
        let open = Self { fold: Fold::Open, laid: None, ..self.clone() };
        open.rows_once(setting).iter().map(|row| row.standing(self.indent())).collect()
    }

    /// Whether its rows are at hand.
    #[cfg(test)]
    pub(crate) fn has_rows(&self) -> bool {
        self.laid.is_some()
    }

    /// Forgets its rows.
    pub(crate) fn forget_rows(&mut self) {
        self.laid = None;
    }

    fn key(&self, setting: &Setting<'_>) -> Key {
        let look = setting.look;
        let moment = if self.is_moving() { look.frame ^ (look.now_ms / 100) << 20 } else { 0 };
        Key {
            cells: setting.cells,
            look: look.version,
            split: look.diff,
            pictures: look.pictures,
            open: setting.open,
            version: self.version,
            moment,
        }
    }

    fn lay_out(&self, setting: &Setting<'_>, before: Option<Box<Laid>>) -> Rows {
        let is_open = self.is_open(setting.open);
        match &self.body {
            Body::Prompt(prompt) => Rows::Plain(prompt.rows(is_open, setting)),
            Body::Answer { text, .. } => {
                let mut laid = match before.map(|laid| laid.rows) {
                    Some(Rows::Markdown(laid)) => laid,
                    Some(Rows::Plain(_)) | None => markdown::Laid::default(),
                };
                text.lay_out(&mut laid, self.answer_cells(setting), setting.look);
                Rows::Markdown(laid)
            }
            Body::Thought(thought) => Rows::Plain(thought.rows(is_open, setting)),
            Body::Calls(calls) => Rows::Plain(call::rows(calls, is_open, setting)),
            Body::Note(note) => Rows::Plain(note.rows(is_open, setting)),
        }
    }
}

/// Whether rows made for one key can be gone on with for another: only the text grew.
fn can_go_on(old: Key, new: Key) -> bool {
    Key { version: new.version, moment: new.moment, ..old } == new
}

fn rows_of(rows: &Rows) -> &[Row] {
    match rows {
        Rows::Plain(rows) => rows,
        Rows::Markdown(laid) => laid.rows(),
    }
}
