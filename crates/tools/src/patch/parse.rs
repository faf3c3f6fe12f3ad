//! Reading a patch.

use super::{Anchor, Chunk, Deed, Section};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const MOVE: &str = "*** Move to:";

/// Why a text is not a patch. Lines are counted from one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatchError {
    #[error("the patch must begin with the line `{BEGIN}`")]
    NoBegin,
    #[error("the patch must end with the line `{END}`; it may have been cut off")]
    NoEnd,
    #[error("the patch changes nothing")]
    Empty,
    #[error(
        "line {line} of the patch is `{text}`; expected `*** Add File: `, `*** Update File: ` or \
         `*** Delete File: ` and a path"
    )]
    NoSection { line: usize, text: String },
    #[error("line {line} of the patch names no file")]
    NoPath { line: usize },
    #[error("the update of {path} has no changes")]
    NoChunk { path: String },
    #[error("a change of {path} (line {line} of the patch) has no lines that come or go")]
    NoLines { path: String, line: usize },
    #[error(
        "line {line} of the patch is `{text}`; each line of a change begins with a space, `+` or `-`, \
         and each line of a new file with `+`"
    )]
    NoSign { line: usize, text: String },
}

/// Reads a patch, with or without what a shell or a chat wraps around it.
pub(crate) fn parse(text: &str) -> Result<Vec<Section>, PatchError> {
    let mut reader = Reader::unwrap(text)?;
    let mut sections = Vec::new();
    while reader.skip_blank() {
        sections.push(reader.section()?);
    }
    if sections.is_empty() { Err(PatchError::Empty) } else { Ok(sections) }
}

/// The lines of a patch between its first and its last.
struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
    /// How many lines came before.
    skipped: usize,
}

impl<'a> Reader<'a> {
    fn unwrap(text: &'a str) -> Result<Self, PatchError> {
        let lines: Vec<&str> = text.lines().collect();
        let is = |mark: &'static str| move |line: &&str| line.trim() == mark;
        let first = lines.iter().position(|line| is(BEGIN)(line)).ok_or(PatchError::NoBegin)?;
        let last = lines.iter().rposition(|line| is(END)(line)).ok_or(PatchError::NoEnd)?;
        if !lines[..first].iter().all(|line| opens_wrapper(line)) {
            return Err(PatchError::NoBegin);
        }
        let closes = |line: &&str| !line.trim().contains(char::is_whitespace);
        if last < first || !lines[last + 1..].iter().all(closes) {
            return Err(PatchError::NoEnd);
        }
        Ok(Self { lines: lines[first + 1..last].to_vec(), at: 0, skipped: first + 1 })
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn line_number(&self) -> usize {
        self.skipped + self.at + 1
    }

    /// Goes to the next line that says something; false if there is none.
    fn skip_blank(&mut self) -> bool {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
        self.peek().is_some()
    }

    fn section(&mut self) -> Result<Section, PatchError> {
        let line = self.line_number();
        let header = self.peek().unwrap_or_default().trim();
        self.at += 1;
        let (verb, path) = header
            .strip_prefix("*** ")
            .and_then(|rest| rest.split_once(" File:"))
            .ok_or_else(|| PatchError::NoSection { line, text: shown(header) })?;
        let path = named(path, line)?;
        let deed = match verb.trim() {
            "Add" => self.added()?,
            "Delete" => Deed::Delete,
            "Update" => self.updated(&path)?,
            _ => return Err(PatchError::NoSection { line, text: shown(header) }),
        };
        Ok(Section { path: path.into(), deed })
    }

    fn added(&mut self) -> Result<Deed, PatchError> {
        let mut content = String::new();
        while let Some(line) = self.peek() {
            if let Some(text) = line.strip_prefix('+') {
                content.push_str(text);
                content.push('\n');
            } else if line.trim().is_empty() || is_marker(line) {
                break;
            } else {
                return Err(PatchError::NoSign { line: self.line_number(), text: shown(line) });
            }
            self.at += 1;
        }
        Ok(Deed::Add { content })
    }

    fn updated(&mut self, path: &str) -> Result<Deed, PatchError> {
        let mut to = None;
        if let Some(target) = self.peek().and_then(|line| line.trim().strip_prefix(MOVE)) {
            to = Some(named(target, self.line_number())?.into());
            self.at += 1;
        }
        let mut chunks = Vec::new();
        while self.peek().is_some_and(|line| !is_marker(line)) {
            // Blank lines before the next file belong to no change.
            if self.only_blank_ahead() {
                break;
            }
            chunks.push(self.chunk(path)?);
        }
        if chunks.is_empty() && to.is_none() {
            return Err(PatchError::NoChunk { path: path.to_owned() });
        }
        Ok(Deed::Update { to, chunks })
    }

    fn only_blank_ahead(&self) -> bool {
        let mut ahead = self.lines[self.at..].iter().skip_while(|line| line.trim().is_empty());
        let blank = self.peek().is_some_and(|line| line.trim().is_empty());
        blank && ahead.next().is_none_or(|line| is_marker(line))
    }

    fn chunk(&mut self, path: &str) -> Result<Chunk, PatchError> {
        let line = self.line_number();
        let mut chunk = Chunk::default();
        while let Some(heading) = self.peek().and_then(|line| line.strip_prefix("@@")) {
            chunk.headings.extend(heading_of(heading));
            self.at += 1;
        }
        while let Some(text) = self.peek() {
            if text.trim_end() == END_OF_FILE {
                chunk.anchor = Anchor::End;
                self.at += 1;
                break;
            }
            if text.starts_with("@@") || is_marker(text) || self.only_blank_ahead() {
                break;
            }
            self.take(text, &mut chunk)?;
            self.at += 1;
        }
        if chunk.old == chunk.new {
            return Err(PatchError::NoLines { path: path.to_owned(), line });
        }
        Ok(chunk)
    }

    fn take(&self, text: &str, chunk: &mut Chunk) -> Result<(), PatchError> {
        let (sign, rest) = text.split_at_checked(1).unwrap_or((" ", ""));
        match sign {
            "+" => chunk.new.push(rest.to_owned()),
            "-" => chunk.old.push(rest.to_owned()),
            " " => {
                chunk.old.push(rest.to_owned());
                chunk.new.push(rest.to_owned());
            }
            _ => return Err(PatchError::NoSign { line: self.line_number(), text: shown(text) }),
        }
        Ok(())
    }
}

/// What may stand before a patch: a shell's here-document, a fence of a chat, nothing.
fn opens_wrapper(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with("```") || line.contains("<<")
}

fn is_marker(line: &str) -> bool {
    line.starts_with("*** ")
}

fn named(path: &str, line: usize) -> Result<String, PatchError> {
    let path = path.trim();
    // Some write a path the way a chat shows code.
    let quoted = |mark| path.strip_prefix(mark)?.strip_suffix(mark);
    match quoted('`').or_else(|| quoted('"')).unwrap_or(path) {
        "" => Err(PatchError::NoPath { line }),
        path => Ok(path.to_owned()),
    }
}

/// What follows `@@`; the numbers of a unified diff say nothing here, what follows them does.
fn heading_of(text: &str) -> Option<String> {
    let text = match text.trim().strip_prefix('-').and_then(|rest| rest.split_once("@@")) {
        Some((_numbers, heading)) => heading.trim(),
        None => text.strip_prefix(' ').unwrap_or(text),
    };
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn shown(line: &str) -> String {
    line.chars().take(80).collect()
}
