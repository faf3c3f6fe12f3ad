//! A session as a file: JSON lines for programs, Markdown for readers.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use base::protocol::SessionSummary;
use base::transcript::{CallResult, Outcome, Piece};
use base::visible::visible_json;
use base::{Entry, EntryId, EntryKind, Part, PartBody, SessionId};
use jiff::tz::TimeZone;
use serde::Serialize;
use store::Session;

use super::{show, text};
use crate::failure::{Failure, Kind};

/// Takes secrets out of a piece of an export before it is written.
pub(super) type Redact<'a> = &'a dyn Fn(String) -> String;

/// The form of the lines below the header.
const VERSION: u32 = 1;

/// The first line of an export.
#[derive(Debug, Serialize)]
struct Header<'a> {
    caiman_session: u32,
    #[serde(flatten)]
    summary: &'a SessionSummary,
    project: &'a str,
    parent: Option<SessionId>,
    head: Option<EntryId>,
}

/// A header line, then every entry of every branch in the order they were appended.
pub(super) fn jsonl(
    session: &Session,
    entries: &[Entry],
    redact: Redact<'_>,
) -> Result<String, Failure> {
    let header = Header {
        caiman_session: VERSION,
        summary: &session.summary,
        project: &session.project,
        parent: session.child_of.as_ref().map(|child| child.parent),
        head: session.head,
    };
    let mut out = redact(json_line(&header)?);
    for entry in entries {
        out.push_str(&redact(json_line(&entry.clone().bare())?));
    }
    Ok(out)
}

/// The current branch in full, without the sidecars that only a provider understands.
pub(super) fn markdown(
    session: &SessionSummary,
    branch: &[Entry],
    zone: &TimeZone,
    redact: Redact<'_>,
) -> String {
    let mut out = format!("# {}\n\n{}\n", text::title(session, 200), show::facts(session, zone));
    for entry in branch {
        let (heading, body) = section(entry);
        let moment = text::moment(entry.at, zone);
        out.extend(["\n## ", &heading, " · ", &moment, "\n\n", body.trim_end(), "\n"]);
    }
    redact(out)
}

/// Writes an export to a file that only its owner may read.
pub(super) fn write(path: &Path, content: &str) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(content.as_bytes()));
    written.map_err(|error| Failure::user(format!("cannot write {}: {error}", path.display())))
}

fn json_line(value: &impl Serialize) -> Result<String, Failure> {
    let line = serde_json::to_string(value)
        .map_err(|error| Failure::new(Kind::Internal, format!("cannot write JSON: {error}")))?;
    Ok(visible_json(&line).into_owned() + "\n")
}

fn section(entry: &Entry) -> (String, String) {
    let one = |heading: &str, body: &str| (heading.to_owned(), text::plain(body));
    match &entry.kind {
        EntryKind::User { parts } => ("User".to_owned(), parts_of(parts)),
        EntryKind::Assistant { parts, model, .. } => {
            (format!("Assistant ({})", text::line(&model.to_string())), parts_of(parts))
        }
        EntryKind::ToolResults { parts } => ("Tool results".to_owned(), parts_of(parts)),
        EntryKind::Notice { text, class: None } => one("Notice", text),
        EntryKind::Notice { text, class: Some(_) } => one("Failure", text),
        EntryKind::Compaction { summary, .. } => one("Summary of what came before", summary),
        EntryKind::Pruned { calls } => {
            one("Pruned", &format!("{} old results are shown to the model shortened", calls.len()))
        }
        EntryKind::Undone { entry } => one("Undone", &entry.to_string()),
        EntryKind::Prefix { system, reason, .. } => {
            one(&format!("System prompt ({})", text::line(reason)), &system.join("\n\n"))
        }
        EntryKind::ModelChange { to } => one("Model", &to.to_string()),
        EntryKind::Checkpoint { label } => one("Checkpoint", label),
    }
}

fn parts_of(parts: &[Part]) -> String {
    let blocks: Vec<String> = parts.iter().map(part).filter(|block| !block.is_empty()).collect();
    blocks.join("\n\n")
}

fn part(part: &Part) -> String {
    match &part.body {
        PartBody::Text { text } => text::plain(text),
        PartBody::Reasoning { text } if text.is_empty() => String::new(),
        PartBody::Reasoning { text } => {
            format!("<details><summary>Thinking</summary>\n\n{}\n\n</details>", text::plain(text))
        }
        PartBody::Call(call) => {
            let input = serde_json::to_string_pretty(&call.input.value).unwrap_or_default();
            format!(
                "**Call `{}`**\n\n{}",
                text::line(&call.name),
                fenced("json", &visible_json(&input))
            )
        }
        PartBody::Result(answer) => result(answer),
        PartBody::File(each) => format!("*{}*", show::file(each)),
        PartBody::Opaque { label } => format!("*[{}]*", text::line(label)),
    }
}

fn result(result: &CallResult) -> String {
    let outcome = match result.outcome {
        Outcome::Done => "Result",
        Outcome::Failed => "Failure",
    };
    let mut blocks = vec![format!("**{outcome} of `{}`**", text::line(&result.name))];
    blocks.extend(result.pieces.iter().map(|piece| match piece {
        Piece::Text { text } => fenced("", &text::plain(text)),
        Piece::File(each) => format!("*{}*", show::file(each)),
    }));
    blocks.join("\n\n")
}

/// A fence longer than any run of backticks inside, so that nothing inside can end it.
fn fenced(language: &str, content: &str) -> String {
    let longest = content.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", content.trim_end_matches('\n'))
}
