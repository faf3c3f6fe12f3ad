//! Entries as the text a summariser reads: who said what, long results shortened, no thoughts.

use base::Entry;
use base::transcript::{Outcome, Part, PartBody, Piece};

use super::{cut, short_id};

/// Most of one message, call and result, in bytes.
const MESSAGE_BYTES: usize = 8_000;
const CALL_BYTES: usize = 800;
const RESULT_HEAD_BYTES: usize = 1_000;
const RESULT_TAIL_BYTES: usize = 500;

/// The entries as text, in pieces of at most half the window (and of some 100,000 tokens: a model that
/// reads more at once summarises worse).
pub(super) fn chunks(entries: &[&Entry], window: u64) -> Vec<String> {
    // Half the window, at four bytes a token, leaves room for notes and answer.
    let limit = usize::try_from(window.saturating_mul(2)).unwrap_or(usize::MAX).min(400_000);
    let mut chunks = vec![String::new()];
    for entry in entries {
        let text = entry_text(entry);
        let is_full = |chunk: &String| !chunk.is_empty() && chunk.len() + text.len() > limit;
        if chunks.last().is_none_or(is_full) {
            chunks.push(String::new());
        }
        if let Some(chunk) = chunks.last_mut() {
            chunk.push_str(&text);
        }
    }
    chunks
}

fn entry_text(entry: &Entry) -> String {
    let Some(who) = entry.kind.speaker() else { return String::new() };
    let said: Vec<String> = entry.kind.parts().iter().filter_map(part_text).collect();
    if said.is_empty() {
        return String::new();
    }
    // What is quoted is indented, so that no file or page can speak as the user.
    let said = said.join("\n").replace('\n', "\n ");
    format!("{who} {}:\n {said}\n", short_id(entry))
}

fn part_text(part: &Part) -> Option<String> {
    match &part.body {
        PartBody::Text { text } if text.trim().is_empty() => None,
        PartBody::Text { text } => Some(cut(text.trim(), MESSAGE_BYTES)),
        PartBody::Reasoning { .. } | PartBody::Opaque { .. } => None,
        PartBody::Call(call) => {
            let input = serde_json::to_string(&call.input.value).unwrap_or_default();
            Some(format!("calls {} {}", call.name, cut(&input, CALL_BYTES)))
        }
        PartBody::Result(result) => {
            let outcome = match result.outcome {
                Outcome::Done => "gave",
                Outcome::Failed => "failed",
            };
            let pieces: Vec<String> = result.pieces.iter().map(piece_text).collect();
            Some(format!("{} {outcome}: {}", result.name, pieces.join("\n")))
        }
        PartBody::File(file) => Some(format!("[{}]", file.media_type)),
    }
}

fn piece_text(piece: &Piece) -> String {
    match piece {
        Piece::Text { text } => head_and_tail(text.trim()),
        Piece::File(file) => format!("[{}]", file.media_type),
    }
}

fn head_and_tail(text: &str) -> String {
    if text.len() <= RESULT_HEAD_BYTES + RESULT_TAIL_BYTES + 50 {
        return text.to_owned();
    }
    let mut tail = text.len() - RESULT_TAIL_BYTES;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!("{}\n{}", cut(text, RESULT_HEAD_BYTES), &text[tail..])
}
