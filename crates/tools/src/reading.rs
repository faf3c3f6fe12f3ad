//! A file as a model reads it: lines of text, a picture, pages of a document, cells of a notebook. Never
//! more of it in memory than is shown, whatever its size, but for formats that can only be read whole.

pub(crate) mod document;
mod lines;
mod near;
mod notebook;
mod picture;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use base::transcript::File as Attachment;
use guard::Spot;
use tokio_util::sync::CancellationToken;

use crate::seen::{self, Fingerprint};
use crate::text;
use crate::tool::ToolError;
use crate::workspace::Workspace;

pub(crate) use near::near_misses;

/// Most of a file that is shown at once, in bytes.
const SHOWN: usize = 200_000;

/// Larger notebooks are shown as the text they are: their cells would have to be in memory all at once.
const NOTEBOOK: u64 = 20_000_000;

/// Which part of a file is wanted: lines, pages or cells, counted from one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) first: usize,
    /// How many; none for as many as are usual.
    pub(crate) count: Option<usize>,
}

/// What is shown of a file.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) files: Vec<Attachment>,
}

impl Shown {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), files: Vec::new() }
    }
}

/// What a file is, by how it begins and what it is called.
enum Kind {
    Lines,
    Picture(image::ImageFormat),
    Document,
    Notebook,
    Binary,
}

impl Kind {
    fn of(sample: &[u8], name: &str, size: u64) -> Self {
        let notebook = || name.to_ascii_lowercase().ends_with(".ipynb") && size <= NOTEBOOK;
        if let Some(format) = picture::format_of(sample) {
            Self::Picture(format)
        } else if sample.starts_with(b"%PDF-") {
            Self::Document
        } else if !text::is_text(sample) {
            Self::Binary
        } else if notebook() {
            Self::Notebook
        } else {
            Self::Lines
        }
    }
}

/// An open file and what reading it needs.
pub(crate) struct Reading<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) spot: &'a Spot,
    /// Its path as the user knows it.
    pub(crate) name: &'a str,
    pub(crate) part: Part,
    pub(crate) cancel: &'a CancellationToken,
}

impl Reading<'_> {
    /// Shows a part of the file, and remembers what the session has seen.
    pub(crate) fn show(&self, mut file: File) -> Result<Shown, ToolError> {
        let size = file.metadata().map_err(|source| self.io(source))?.len();
        let sample = self.sample(&mut file)?;
        match Kind::of(&sample, self.name, size) {
            Kind::Lines => match self.unsaved(&mut file, size)? {
                Some(bytes) => self.lines_of(&bytes),
                None => self.lines(file, &sample, size),
            },
            Kind::Binary => {
                let (name, kind, size) = (self.name, text::kind_of(&sample), text::size(size));
                Ok(Shown::text(format!("{name} is {kind} of {size}, not text")))
            }
            Kind::Picture(format) => {
                let bytes = self.whole(file, size)?;
                self.remember(Fingerprint::of(&bytes))?;
                Ok(picture::show(bytes, format, self))
            }
            Kind::Document => {
                let bytes = self.whole(file, size)?;
                self.remember(Fingerprint::of(&bytes))?;
                let shown = document::show(&bytes, self.name, self.part, self.cancel);
                shown.map(Shown::text)
            }
            Kind::Notebook => {
                let unsaved = self.unsaved(&mut file, size)?;
                let bytes = unsaved.map_or_else(|| self.whole(file, size), Ok)?;
                self.remember(Fingerprint::of(&bytes))?;
                match notebook::show(&bytes, self) {
                    Some(shown) => Ok(Shown::text(shown)),
                    // Called a notebook, but not one: then it is text.
                    None => self.lines_of(&bytes),
                }
            }
        }
    }

    fn lines(&self, mut file: File, sample: &[u8], size: u64) -> Result<Shown, ToolError> {
        let (text, print) = lines::show(&mut file, text::Encoding::of(sample), size, self)?;
        let print = match print {
            Some(print) => print,
            None => Fingerprint::of_large(&mut file).map_err(|source| self.io(source))?,
        };
        self.remember(print)?;
        Ok(Shown::text(text))
    }

    /// The same of content at hand.
    fn lines_of(&self, mut bytes: &[u8]) -> Result<Shown, ToolError> {
        let (encoding, print) = (text::Encoding::of(bytes), Fingerprint::of(bytes));
        let size = bytes.len() as u64;
        let (text, _) = lines::show(&mut bytes, encoding, size, self)?;
        self.remember(print)?;
        Ok(Shown::text(text))
    }

    /// What the editor we work in has in place of the file; the file stands at its start again afterwards.
    fn unsaved(&self, file: &mut File, size: u64) -> Result<Option<Vec<u8>>, ToolError> {
        if !self.workspace.is_for_editor(self.spot) || size > seen::WHOLE {
            return Ok(None);
        }
        let mut disk = Vec::new();
        let read = file.by_ref().take(seen::WHOLE).read_to_end(&mut disk);
        read.and_then(|_| file.rewind()).map_err(|source| self.io(source))?;
        Ok(self.workspace.unsaved(self.spot, &disk))
    }

    /// The file's beginning; the file stands at its start again afterwards.
    fn sample(&self, file: &mut File) -> Result<Vec<u8>, ToolError> {
        let mut sample = Vec::new();
        let read = file.by_ref().take(text::SAMPLE as u64).read_to_end(&mut sample);
        read.and_then(|_| file.rewind()).map_err(|source| self.io(source))?;
        Ok(sample)
    }

    /// All of a file that must be read whole.
    fn whole(&self, file: File, size: u64) -> Result<Vec<u8>, ToolError> {
        if size > seen::WHOLE {
            let (name, size) = (self.name, text::size(size));
            return Err(ToolError::Refused(format!("{name} is too large to show ({size})")));
        }
        let mut bytes = Vec::new();
        let read = file.take(seen::WHOLE).read_to_end(&mut bytes);
        read.map_err(|source| self.io(source))?;
        Ok(bytes)
    }

    fn remember(&self, print: Fingerprint) -> Result<(), ToolError> {
        seen::remember(self.workspace, self.spot, print)
    }

    fn io(&self, source: io::Error) -> ToolError {
        ToolError::Io { what: "read", path: self.spot.asked.clone(), source }
    }
}

/// Cuts a text to a number of bytes, at a letter; says whether it did.
fn cut(text: &mut String, bytes: usize) -> bool {
    let long = text.len() > bytes;
    if long {
        text.truncate(text.floor_char_boundary(bytes));
    }
    long
}

/// A file name as text.
fn shown_name(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
