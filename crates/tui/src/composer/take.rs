//! What was written, as it is sent: what kind of prompt it is, and its parts.

use base::Part;
use base::protocol::{Offer, OfferKind};
use base::transcript::{Origin, PartBody};

use super::marks::{Content, Marks};
use super::motion::line_start;
use super::{Prompt, Speech};

/// What stands around a text file's name and its text.
const FILE: &str = "<file path=\"";
const FILE_NAMED: &str = "\">\n";
const FILE_END: &str = "\n</file>";

/// What a text is.
pub(super) fn speech(text: &str) -> Speech {
    match text.as_bytes().first() {
        Some(b'!') => Speech::Shell,
        Some(b'/') => Speech::Command,
        Some(_) | None => Speech::Say,
    }
}

/// The prompt a text makes; none if it says nothing.
pub(super) fn prompt(text: &str, marks: &Marks, offers: &[Offer]) -> Option<Prompt> {
    match speech(text) {
        Speech::Shell => {
            let line = marks.unfold(&text[1..]).trim().to_owned();
            (!line.is_empty()).then_some(Prompt::Shell(line))
        }
        Speech::Command if is_command(text, offers) => {
            Some(Prompt::Command(marks.unfold(text).trim().to_owned()))
        }
        Speech::Command | Speech::Say => {
            let parts = parts(text, marks);
            (!parts.is_empty()).then_some(Prompt::Say(parts))
        }
    }
}

/// Whether a text that begins with a slash is a command, rather than a path.
fn is_command(text: &str, offers: &[Offer]) -> bool {
    let name = text.trim_start_matches('/').split(char::is_whitespace).next().unwrap_or_default();
    let is_known = |offer: &Offer| is_callable(offer.kind) && offer.name.eq_ignore_ascii_case(name);
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    let has_one_slash = !text.starts_with("//");
    has_one_slash && !name.is_empty() && (name.chars().all(is_word) || offers.iter().any(is_known))
}

fn is_callable(kind: OfferKind) -> bool {
    match kind {
        OfferKind::Command | OfferKind::Skill => true,
        OfferKind::Agent | OfferKind::Resource => false,
    }
}

/// What a part of a prompt becomes that is put back.
pub(super) enum Put {
    /// It is written.
    Text(String),
    /// A mark stands for it.
    File(Content),
}

/// What the user put into a part; none for what was added by others.
pub(super) fn content_of(part: Part) -> Option<Put> {
    let (is_users, is_file) = (part.origin == Origin::User, part.origin == Origin::Workspace);
    match part.body {
        PartBody::File(file) if is_users => Some(Put::File(Content::File(file))),
        PartBody::Text { text } if is_users => Some(Put::Text(text)),
        PartBody::Text { text } if is_file => {
            let (name, rest) = text.strip_prefix(FILE)?.split_once(FILE_NAMED)?;
            let (name, text) = (name.to_owned(), rest.strip_suffix(FILE_END)?.to_owned());
            Some(Put::File(Content::Text { name, text }))
        }
        PartBody::Text { .. }
        | PartBody::File(_)
        | PartBody::Reasoning { .. }
        | PartBody::Call(_)
        | PartBody::Result(_)
        | PartBody::Opaque { .. } => None,
    }
}

/// Text and files in their order. Blanks around them are dropped, but for the indent of the first line.
fn parts(text: &str, marks: &Marks) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut said = String::new();
    for c in text.chars() {
        match marks.get(c).map(|mark| &mark.content) {
            None => said.push(c),
            Some(Content::Pasted(pasted)) => said.push_str(pasted),
            Some(Content::File(file)) => {
                say(&mut parts, &mut said);
                parts.push(Part::new(PartBody::File(file.clone()), Origin::User));
            }
            Some(Content::Text { name, text }) => {
                say(&mut parts, &mut said);
                let text = format!("{FILE}{name}{FILE_NAMED}{}{FILE_END}", text.trim_end());
                // Not the user's own words: nobody should take orders from a file.
                parts.push(Part::new(PartBody::Text { text }, Origin::Workspace));
            }
        }
    }
    say(&mut parts, &mut said);
    parts
}

fn say(parts: &mut Vec<Part>, said: &mut String) {
    let text = std::mem::take(said);
    let Some(first) = text.find(|c: char| !c.is_whitespace()) else { return };
    let start = if parts.is_empty() { line_start(&text, first) } else { first };
    parts.push(Part::user_text(text[start..].trim_end()));
}
