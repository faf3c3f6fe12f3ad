//! A session's transcript, to be read in a terminal.

use base::protocol::SessionSummary;
use base::transcript::{Call, CallResult, File, FileSource, Outcome, Piece};
use base::{Entry, EntryKind, Part, PartBody};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::text;

/// Lines shown of a tool's result.
const RESULT_LINES: usize = 12;
/// Characters shown of each of them.
const LINE_CHARS: usize = 200;
/// Characters shown of a call's arguments.
const INPUT_CHARS: usize = 160;

/// `caiman session show --json`.
#[derive(Debug, Serialize)]
pub(super) struct Shown<'a> {
    /// The session.
    pub(super) session: &'a SessionSummary,
    /// Its current branch, oldest first.
    pub(super) entries: &'a [Entry],
}

/// The transcript of a branch.
pub(super) fn transcript(session: &SessionSummary, branch: &[Entry], zone: &TimeZone) -> String {
    let mut out = format!("{}\n{}\n", text::title(session, 200), facts(session, zone));
    for entry in branch {
        let (speaker, body) = spoken(entry);
        let moment = text::moment(entry.at, zone);
        out.extend(["\n── ", &speaker, " · ", &moment, "\n", body.trim_end(), "\n"]);
    }
    out
}

/// One line about a session.
pub(super) fn facts(session: &SessionSummary, zone: &TimeZone) -> String {
    let mut facts = vec![
        session.id.to_string(),
        text::line(&session.folder),
        text::moment(session.updated, zone),
        format!("{} entries", session.entries),
    ];
    facts.extend(session.model.as_ref().map(|model| text::line(&model.to_string())));
    facts.push(session.cost.to_string());
    facts.join(" · ")
}

/// A file in a few words; never its bytes.
pub(super) fn file(file: &File) -> String {
    let name =
        file.name.as_deref().map(|name| format!(" {}", text::line(name))).unwrap_or_default();
    let place = match &file.source {
        FileSource::Base64(bytes) => format!("{} bytes", bytes.len() / 4 * 3),
        FileSource::Url(url) => text::line(url),
    };
    format!("[{}{name}, {place}]", text::line(&file.media_type))
}

/// A call's arguments on one line.
pub(super) fn input(call: &Call) -> String {
    serde_json::Value::Object(call.input.value.clone()).to_string()
}

fn spoken(entry: &Entry) -> (String, String) {
    match &entry.kind {
        EntryKind::User { parts } => ("you".to_owned(), said(parts)),
        EntryKind::Assistant { parts, model, .. } => (text::line(&model.to_string()), said(parts)),
        EntryKind::ToolResults { parts } => ("tools".to_owned(), said(parts)),
        EntryKind::Notice { text, class } => {
            let label = if class.is_some() { "failure" } else { "notice" };
            (label.to_owned(), text::plain(text))
        }
        EntryKind::Compaction { summary, .. } => {
            ("summary of what came before".to_owned(), text::plain(summary))
        }
        EntryKind::Pruned { calls } => {
            ("pruned".to_owned(), format!("{} old results are shown shortened", calls.len()))
        }
        EntryKind::Undone { .. } => {
            ("undone".to_owned(), "what came before counts again".to_owned())
        }
        EntryKind::Prefix { tools, reason, .. } => {
            ("prefix".to_owned(), format!("{}, {} tools", text::line(reason), tools.len()))
        }
        EntryKind::ModelChange { to } => ("model".to_owned(), text::line(&to.to_string())),
        EntryKind::Checkpoint { label } => ("checkpoint".to_owned(), text::line(label)),
    }
}

fn said(parts: &[Part]) -> String {
    parts.iter().map(|each| part(each) + "\n").collect()
}

fn part(part: &Part) -> String {
    match &part.body {
        PartBody::Text { text } => text::plain(text),
        PartBody::Reasoning { text } if text.is_empty() => "(thinking)".to_owned(),
        PartBody::Reasoning { text } => format!("(thinking) {}", text::plain(text)),
        PartBody::Call(call) => {
            format!("→ {} {}", text::line(&call.name), text::short(&input(call), INPUT_CHARS))
        }
        PartBody::Result(answer) => result(answer),
        PartBody::File(each) => file(each),
        PartBody::Opaque { label } => format!("[{}]", text::line(label)),
    }
}

fn result(result: &CallResult) -> String {
    let outcome = match result.outcome {
        Outcome::Done => "",
        Outcome::Failed => " failed",
    };
    let mut out = format!("← {}{outcome}", text::line(&result.name));
    let pieces = result.pieces.iter().map(|piece| match piece {
        Piece::Text { text } => text::plain(text),
        Piece::File(each) => file(each),
    });
    let whole = pieces.collect::<Vec<_>>().join("\n");
    let lines: Vec<&str> = whole.lines().collect();
    for line in lines.iter().take(RESULT_LINES) {
        let shown: String = line.chars().take(LINE_CHARS).collect();
        let more = if shown.len() < line.len() { "…" } else { "" };
        out.extend(["\n  ", &shown, more]);
    }
    if lines.len() > RESULT_LINES {
        let more = (lines.len() - RESULT_LINES).to_string();
        out.extend(["\n  … ", &more, " more lines"]);
    }
    out
}
