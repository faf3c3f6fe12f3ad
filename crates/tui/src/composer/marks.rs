//! Marks: what stands in the text for something longer, such as a pasted log or a picture.
//!
//! A mark is one character that no keyboard types, so the caret steps over it and deletes it as one, and
//! undo, kill ring and vi's keys need to know nothing of it.

use std::borrow::Cow;

use base::transcript::File;

use crate::text;

/// Characters that are marks: the end of a private plane that no font is known to use.
const FIRST: u32 = 0x10_F000;
const LAST: u32 = 0x10_FFFD;

/// Cells of a file's name in its mark.
const NAME_CELLS: usize = 24;

/// Whether a character is a mark.
pub(super) fn is_mark(c: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(c))
}

/// What a mark stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Pasted text.
    Pasted(String),
    /// A picture or a document, as it is sent.
    File(File),
    /// A text file.
    Text {
        /// Its name.
        name: String,
        /// What is in it.
        text: String,
    },
}

/// A mark's look and content.
#[derive(Debug)]
pub(super) struct Mark {
    /// What is shown: `[image #1]`.
    pub(super) label: String,
    /// What it stands for.
    pub(super) content: Content,
}

/// All marks of a composer. They stay when they are deleted from the text: undo may bring them back.
#[derive(Debug, Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
}

impl Marks {
    /// Makes a mark; none if there are too many.
    pub(super) fn add(&mut self, content: Content) -> Option<char> {
        let index = u32::try_from(self.marks.len()).ok()?;
        let mark = char::from_u32(FIRST + index).filter(|c| is_mark(*c))?;
        let label = self.label(&content);
        self.marks.push(Mark { label, content });
        Some(mark)
    }

    /// Whether no other can be made.
    pub(super) fn is_full(&self) -> bool {
        self.marks.len() > usize::try_from(LAST - FIRST).unwrap_or(0)
    }

    /// What a character stands for, if it is a mark.
    pub(super) fn get(&self, c: char) -> Option<&Mark> {
        let index = u32::from(c).checked_sub(FIRST)?;
        self.marks.get(usize::try_from(index).ok()?)
    }

    /// What is shown of a grapheme: a mark's label, or itself made safe.
    pub(super) fn shown<'a>(&'a self, grapheme: &'a str) -> Cow<'a, str> {
        match grapheme.chars().next().and_then(|c| self.get(c)) {
            Some(mark) => text::clean(&mark.label),
            None => text::clean(grapheme),
        }
    }

    /// A text with pasted text in place of its marks, and labels in place of others.
    pub(super) fn unfold(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match self.get(c) {
                Some(Mark { content: Content::Pasted(pasted), .. }) => out.push_str(pasted),
                Some(Mark { label, content: Content::File(_) | Content::Text { .. } }) => {
                    out.push_str(label);
                }
                None => out.push(c),
            }
        }
        out
    }

    /// The opposite for files: labels become their marks again, as when a text comes back from an editor.
    pub(super) fn fold_labels(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (index, mark) in (FIRST..=LAST).zip(&self.marks) {
            let is_file = !matches!(mark.content, Content::Pasted(_));
            if let Some(c) = char::from_u32(index).filter(|_| is_file && out.contains(&mark.label))
            {
                out = out.replacen(&mark.label, c.encode_utf8(&mut [0; 4]), 1);
            }
        }
        out
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.marks.clear();
    }

    fn label(&self, content: &Content) -> String {
        let kind = kind(content);
        let same = self.marks.iter().filter(|mark| self::kind(&mark.content) == kind);
        let number = same.count() + 1;
        match content {
            Content::Pasted(text) => {
                let lines = text.lines().count();
                let amount = if lines > 1 {
                    format!("{lines} lines")
                } else {
                    format!("{} characters", text.chars().count())
                };
                format!("[pasted {amount} #{number}]")
            }
            Content::File(file) if file.is_image() => format!("[image #{number}]"),
            Content::File(file) => {
                let name = file.name.as_deref().unwrap_or("file");
                format!("[{} #{number}]", text::ellipsis(name, NAME_CELLS))
            }
            Content::Text { name, .. } => {
                format!("[{} #{number}]", text::ellipsis(name, NAME_CELLS))
            }
        }
    }
}

/// What a mark is counted among.
#[derive(PartialEq)]
enum Kind {
    Pasted,
    Image,
    File,
}

fn kind(content: &Content) -> Kind {
    match content {
        Content::Pasted(_) => Kind::Pasted,
        Content::File(file) if file.is_image() => Kind::Image,
        Content::File(_) | Content::Text { .. } => Kind::File,
    }
}
