//! The composer: where prompts are written.
//!
//! | module | does |
//! |---|---|
//! | `buffer` | the text, its caret, undo |
//! | `marks` | what stands in it for pasted text and files |
//! | `motion` | words and lines |
//! | `rows` | the text wrapped, with every byte's place |
//! | `keys`, `vi` | what keys do |
//! | `kills`, `history` | what was cut, what was said |
//! | `paste`, `attach` | what comes in from outside |
//! | `popup` | what is offered at the caret |
//! | `take` | what goes out |
//! | `draw` | how it looks |

mod attach;
mod buffer;
mod draw;
mod history;
mod keys;
mod kills;
mod marks;
mod motion;
mod paste;
mod popup;
mod rows;
mod take;
#[cfg(test)]
mod tests;
mod vi;

use base::Part;
use base::protocol::Offer;

use crate::canvas::{Canvas, Rect};
use crate::key::Key;
use crate::look::Look;
use buffer::{Buffer, Run, Select};
use draw::View;
use history::History;
use kills::Kills;
use marks::{Content, Marks};
use popup::{Popup, Take, Then};
use rows::{Measure, Rows};
use take::Put;
use vi::Vi;

pub use attach::AttachError;

/// Columns that are assumed until it is drawn.
const FIRST_CELLS: usize = 77;

/// What a composer does with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// It took it; the text may have changed.
    Taken,
    /// It has no use for it.
    Ignored,
}

/// What the popup at the caret wants to offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing.
    Nothing,
    /// Commands and skills that fit what was typed after a slash: from the offers it was given.
    Commands,
    /// Files that fit what was typed after an at sign; agents come from the offers it was given.
    Files {
        /// What was typed.
        search: String,
    },
}

/// What was written, ready to be said.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// Something to say: text with folded pastes put back, and attachments.
    Say(Vec<Part>),
    /// A slash command, with the slash.
    Command(String),
    /// A shell command of the user's, without the exclamation mark.
    Shell(String),
}

/// Settings of a composer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Habits {
    /// Vi's keys.
    pub vim: bool,
}

/// The caret's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caret {
    /// Between graphemes: text is put in.
    Bar,
    /// On a grapheme: keys are orders.
    Block,
}

/// What a text is on its way to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speech {
    /// Something to say.
    Say,
    /// A slash command, or a path.
    Command,
    /// A shell command.
    Shell,
}

/// The composer.
#[derive(Debug)]
pub struct Composer {
    buffer: Buffer,
    marks: Marks,
    rows: Rows,
    /// Cells of a row.
    cells: usize,
    view: View,
    kills: Kills,
    history: History,
    popup: Popup,
    offers: Vec<Offer>,
    vi: Option<Vi>,
    /// The column that up and down try to keep.
    goal: Option<usize>,
    /// Counts keys.
    keystroke: u64,
}

impl Default for Composer {
    fn default() -> Self {
        Self::new(Habits::default())
    }
}

impl Composer {
    /// An empty one.
    pub fn new(habits: Habits) -> Self {
        Self {
            buffer: Buffer::default(),
            marks: Marks::default(),
            rows: Rows::default(),
            cells: FIRST_CELLS,
            view: View::default(),
            kills: Kills::default(),
            history: History::default(),
            popup: Popup::default(),
            offers: Vec::new(),
            vi: habits.vim.then(Vi::default),
            goal: None,
            keystroke: 0,
        }
    }

    /// A key that edits: characters, arrows, Emacs keys, vi's keys; the popup's keys while it is open. Enter,
    /// Escape without popup and vi mode, and what the key map knows otherwise, are ignored. An Enter that is
    /// ignored with the popup open has completed a command, which is to be sent.
    pub fn key(&mut self, key: Key) -> Typed {
        self.keystroke += 1;
        let popup = if self.popup.is_open() { self.popup_key(key) } else { None };
        if let Some(typed) = popup {
            return typed;
        }
        if self.vi.is_some() {
            return self.vi_key(key);
        }
        self.plain_key(key)
    }

    /// Pasted text: long text is folded into a mark that stands for it; paths or addresses of
    /// pictures become wishes to attach them, which are returned.
    pub fn paste(&mut self, text: &str) -> Vec<String> {
        let text = paste::cleaned(text);
        let pictures = paste::pictures(&text);
        if !pictures.is_empty() {
            return pictures;
        }
        if !paste::is_long(&text) || self.marks.is_full() {
            // Several lines that happen to begin with an exclamation mark are not meant for a shell.
            let is_risky = self.is_empty() && text.starts_with('!') && text.contains('\n');
            self.write(&if is_risky { format!(" {text}") } else { text });
        } else if !self.unfold_before_caret(&text)
            && let Some(mark) = self.marks.add(Content::Pasted(text))
        {
            self.write(mark.encode_utf8(&mut [0; 4]));
        }
        Vec::new()
    }

    /// Attaches a file: pictures and documents go as they are, text is put in as text.
    pub fn attach(
        &mut self,
        name: &str,
        bytes: Vec<u8>,
        media_type: &str,
    ) -> Result<(), AttachError> {
        let content = attach::content(name, bytes, media_type)?;
        let Some(mark) = self.marks.add(content) else {
            return Err(AttachError::TooMany { name: name.to_owned() });
        };
        let gap = self.gap();
        self.write(&format!("{gap}{mark} "));
        Ok(())
    }

    /// What commands, skills and agents there are.
    pub fn set_offers(&mut self, offers: Vec<Offer>) {
        self.offers = offers;
        self.popup.fill(&self.offers);
    }

    /// What was said before, newest first.
    pub fn set_history(&mut self, prompts: Vec<String>) {
        self.history.set(prompts);
    }

    /// What was said just now.
    pub fn remember(&mut self, prompt: &str) {
        self.history.remember(prompt);
    }

    /// What the popup wants to offer; asked after each change.
    pub fn wanted(&self) -> Wanted {
        self.popup.wanted()
    }

    /// Files for the popup.
    pub fn offer_files(&mut self, search: &str, paths: Vec<String>) {
        self.popup.offer_files(search, paths, &self.offers);
    }

    /// Whether the popup is open: its keys come here before the key map sees them.
    pub fn is_popup_open(&self) -> bool {
        self.popup.is_open()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.buffer.text().is_empty()
    }

    /// Its text, folded pastes unfolded: for drafts, history and the editor.
    pub fn text(&self) -> String {
        self.marks.unfold(self.buffer.text())
    }

    /// What is selected in it, for the clipboard.
    pub fn selected(&self) -> Option<String> {
        let range = self.buffer.selection()?;
        Some(self.marks.unfold(&self.buffer.text()[range]))
    }

    /// Puts a text in place of what is there; undo brings it back. Labels of attached files in it stand for
    /// these again.
    pub fn set_text(&mut self, text: &str) {
        let text = self.marks.fold_labels(&paste::cleaned(text));
        self.buffer.replace(0..self.buffer.text().len(), &text, Run::Alone);
        self.history.stay();
        self.goal = None;
        if self.caret() == Caret::Block {
            self.stay_on_line();
        }
        self.popup.close_for(self.buffer.text(), self.buffer.caret());
    }

    /// Whether a key edits what is written: it is ours then, whatever else it may do.
    pub fn edits_with(&self, key: Key) -> bool {
        !self.is_empty() && keys::edit(key).is_some_and(|(edit, _)| !edit.is_vertical())
    }

    /// Puts a name in at the caret. A slash command goes before all, in place of one that stands there: what
    /// is written becomes its arguments.
    pub fn put_in(&mut self, text: &str) {
        if !text.starts_with('/') {
            let gap = self.gap();
            return self.write(&format!("{gap}{text}"));
        }
        let written = self.buffer.text();
        let first = written.split(char::is_whitespace).next().unwrap_or_default();
        let end = if written.starts_with('/') { first.len() } else { 0 };
        let end = end + written[end..].len() - written[end..].trim_start().len();
        self.buffer.replace(0..end, text, Run::Alone);
        self.put_caret(self.buffer.text().len());
    }

    /// Puts a prompt back that was taken, at the caret: text as text, files as what they were.
    pub fn put_back(&mut self, parts: Vec<Part>) {
        for part in parts {
            let gap = self.gap();
            match take::content_of(part) {
                Some(Put::Text(text)) => self.write(&format!("{gap}{}", paste::cleaned(&text))),
                Some(Put::File(content)) => {
                    if let Some(mark) = self.marks.add(content) {
                        self.write(&format!("{gap}{mark} "));
                    }
                }
                None => {}
            }
        }
    }

    /// What must stand between what is before the caret and what comes there.
    fn gap(&self) -> &'static str {
        let before = self.buffer.text()[..self.buffer.caret()].chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace()) { " " } else { "" }
    }

    /// Puts a text in at the caret.
    pub fn insert(&mut self, text: &str) {
        self.write(&paste::cleaned(text));
    }

    /// A new line at the caret.
    pub fn new_line(&mut self) {
        self.write("\n");
    }

    /// Whether Enter means a new line because a backslash stands before it; the backslash is taken out, but
    /// of a shell command, which needs it.
    pub fn ends_in_backslash(&mut self) -> bool {
        let text = self.buffer.text();
        let count = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
        let is_asked = count % 2 == 1 && self.buffer.caret() == text.len();
        if is_asked && self.speech() != Speech::Shell {
            let end = text.len();
            self.buffer.delete(end - 1..end, Run::Alone);
        }
        is_asked
    }

    /// Takes what was written, and is empty then; none if nothing was.
    pub fn take(&mut self) -> Option<Prompt> {
        let prompt = take::prompt(self.buffer.text(), &self.marks, &self.offers)?;
        self.buffer.clear();
        self.kills.drop_marks();
        self.marks.clear();
        self.history.stay();
        self.goal = None;
        if let Some(vi) = &mut self.vi {
            vi.start_over();
        }
        self.refresh();
        Some(prompt)
    }

    /// The caret's shape.
    pub fn caret(&self) -> Caret {
        match &self.vi {
            Some(vi) if vi.is_normal() => Caret::Block,
            Some(_) | None => Caret::Bar,
        }
    }

    /// Draws the popup, above `area`, over what is there.
    pub fn draw_popup(&mut self, canvas: &mut Canvas, area: Rect, look: &Look) {
        self.popup.draw(canvas, area, look);
    }

    /// What keys do without vi's, and in vi's insert mode.
    fn plain_key(&mut self, key: Key) -> Typed {
        let typed = key.typed().filter(|c| !c.is_control() && !marks::is_mark(*c));
        let is_taken = match (typed, keys::edit(key)) {
            (Some(c), _) => {
                self.buffer.insert(c.encode_utf8(&mut [0; 4]), Run::Typing);
                self.goal = None;
                true
            }
            (None, Some((edit, select))) => {
                // A key that edits must not mean something else at the end of a text: ctrl+d quits.
                let is_ours = !self.is_empty() && !edit.is_vertical();
                self.perform(edit, select) || is_ours
            }
            (None, None) => false,
        };
        self.refresh();
        if is_taken { Typed::Taken } else { Typed::Ignored }
    }

    fn popup_key(&mut self, key: Key) -> Option<Typed> {
        match key.to_string().as_str() {
            "up" | "ctrl+p" => self.popup.step(-1),
            "down" | "ctrl+n" => self.popup.step(1),
            "esc" => self.popup.close(),
            "tab" => return self.complete(Take::Tab),
            "enter" => return self.complete(Take::Enter),
            _ => return None,
        }
        Some(Typed::Taken)
    }

    fn complete(&mut self, take: Take) -> Option<Typed> {
        let choice = self.popup.choose(take, self.buffer.text())?;
        self.buffer.replace(choice.range, &choice.text, Run::Alone);
        match choice.then {
            Then::Write => {
                self.refresh();
                Some(Typed::Taken)
            }
            Then::Send => {
                self.popup.close_for(self.buffer.text(), self.buffer.caret());
                Some(Typed::Ignored)
            }
        }
    }

    /// Puts text in at the caret as a step of its own.
    fn write(&mut self, text: &str) {
        self.buffer.insert(text, Run::Alone);
        self.goal = None;
        self.refresh();
    }

    /// Unfolds a paste that is pasted again right behind its mark; whether it did.
    fn unfold_before_caret(&mut self, text: &str) -> bool {
        let caret = self.buffer.caret();
        let Some(c) = self.buffer.text()[..caret].chars().next_back() else { return false };
        let is_same = self
            .marks
            .get(c)
            .is_some_and(|mark| matches!(&mark.content, Content::Pasted(pasted) if pasted == text));
        if is_same && text.len() <= paste::MOST_UNFOLDED_BYTES {
            self.buffer.replace(caret - c.len_utf8()..caret, text, Run::Alone);
            self.refresh();
            return true;
        }
        false
    }

    /// Moves the caret there, as a click does.
    fn put_caret(&mut self, at: usize) {
        self.buffer.move_to(at, Select::Drop);
        self.goal = None;
        self.refresh();
    }

    /// Looks again what the popup should offer.
    fn refresh(&mut self) {
        if self.caret() == Caret::Block {
            self.popup.close_for(self.buffer.text(), self.buffer.caret());
        } else {
            self.popup.refresh(self.buffer.text(), self.buffer.caret(), &self.offers);
        }
    }

    fn speech(&self) -> Speech {
        take::speech(self.buffer.text())
    }

    fn measure(&self) -> Measure<'_> {
        Measure { text: self.buffer.text(), marks: &self.marks, cells: self.cells }
    }

    /// Lays out what has changed.
    fn settle_rows(&mut self) {
        let dirty = self.buffer.take_dirty();
        let measure = Measure { text: self.buffer.text(), marks: &self.marks, cells: self.cells };
        self.rows.update(measure, dirty);
    }

    /// Row and column of the caret.
    fn place(&mut self) -> (usize, usize) {
        self.settle_rows();
        self.rows.place(self.measure(), self.buffer.caret())
    }
}
