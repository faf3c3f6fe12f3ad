//! How many tokens something is, without a tokenizer: a guess from bytes, corrected by what the
//! provider last counted.
//!
//! Measured against `o200k_base` on prose, code, JSON and other scripts the guess is within a third; a
//! provider's own count then corrects what is left, whatever its tokenizer.

use base::transcript::{CallResult, File, FileSource, Part, PartBody, Piece, Seen, ToolSpec, Turn};
use base::{Entry, EntryKind};

/// Bytes of a token in English text and code.
const ASCII_BYTES: u64 = 4;
/// What a picture costs, about, after the provider has scaled it.
const IMAGE_TOKENS: u64 = 1_500;
/// Base64 bytes of a document for one token: a page of 60 KB is some 2,000.
const DOCUMENT_BYTES: u64 = 30;
/// Marks around a message, a part, a tool.
const FRAME_TOKENS: u64 = 4;

/// Tokens of a text, about.
pub fn of_text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    // A letter of another script is about one token, whatever its bytes.
    let other = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii.div_ceil(ASCII_BYTES) + other
}

/// Tokens of the tools of a request, about.
pub fn of_tools(tools: &[ToolSpec]) -> u64 {
    let one = |tool: &ToolSpec| {
        let schema = tool.schema.to_string();
        FRAME_TOKENS + of_text(&tool.name) + of_text(&tool.description) + of_text(&schema)
    };
    tools.iter().map(one).sum()
}

/// Tokens of a conversation, about.
pub fn of_turns(turns: &[Turn]) -> u64 {
    turns.iter().map(|turn| FRAME_TOKENS + of_parts(&turn.parts)).sum()
}

/// Tokens of parts, about.
pub fn of_parts(parts: &[Part]) -> u64 {
    parts.iter().map(of_part).sum()
}

fn of_part(part: &Part) -> u64 {
    match &part.body {
        PartBody::Text { text } | PartBody::Reasoning { text } => of_text(text),
        PartBody::Call(call) => {
            let input = serde_json::to_string(&call.input.value).unwrap_or_default();
            FRAME_TOKENS + of_text(&call.name) + of_text(&input)
        }
        PartBody::Result(result) => FRAME_TOKENS + of_result(result),
        PartBody::File(file) => of_file(file),
        PartBody::Opaque { .. } => FRAME_TOKENS,
    }
}

/// Tokens of what a call came to, about.
pub fn of_result(result: &CallResult) -> u64 {
    let piece = |piece: &Piece| match piece {
        Piece::Text { text } => of_text(text),
        Piece::File(file) => of_file(file),
    };
    result.pieces.iter().map(piece).sum()
}

fn of_file(file: &File) -> u64 {
    match &file.source {
        FileSource::Base64(bytes) if !file.is_image() => bytes.len() as u64 / DOCUMENT_BYTES,
        FileSource::Base64(_) | FileSource::Url(_) => IMAGE_TOKENS,
    }
}

/// Tokens of what an entry adds to the conversation, about.
pub fn of_entry(entry: &Entry) -> u64 {
    match &entry.kind {
        EntryKind::User { parts }
        | EntryKind::Assistant { parts, .. }
        | EntryKind::ToolResults { parts } => FRAME_TOKENS + of_parts(parts),
        EntryKind::Compaction { summary, .. } => of_text(summary),
        EntryKind::Notice { .. }
        | EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Checkpoint { .. } => 0,
    }
}

/// Tokens of what every request of a session begins with, about.
pub fn of_prefix(system: &[String], tools: &[ToolSpec]) -> u64 {
    system.iter().map(|segment| of_text(segment)).sum::<u64>() + of_tools(tools)
}

/// Tokens the next request of a branch will hold: what the provider counted at the newest answer and a
/// guess for what came since. `prefix` gives [`of_prefix`] of the session, which costs more than all the
/// rest and is asked for only where it is needed.
///
/// After a compaction, pruning or undoing the newest count is of another conversation; then all of it is
/// a guess, corrected by how far off the guess was when a count was last there.
pub fn used(branch: &[Entry], prefix: impl FnOnce() -> u64) -> u64 {
    let cut = branch.iter().rposition(|entry| is_cut(&entry.kind)).unwrap_or(0);
    let counted = branch[cut..].iter().rposition(|entry| count(entry) > 0).map(|at| cut + at);
    if let Some(at) = counted {
        return count(&branch[at]) + branch[at + 1..].iter().map(of_entry).sum::<u64>();
    }
    let prefix = prefix();
    let guess = prefix + of_turns(&Seen::of(branch).turns());
    let Some(at) = branch.iter().rposition(|entry| count(entry) > 0) else { return guess };
    let guessed_then = prefix + of_turns(&Seen::of(&branch[..=at]).turns());
    scaled(guess, count(&branch[at]), guessed_then)
}

/// `guess` times `counted / guessed`, where that is anywhere near one: a count that includes a picture or
/// a hidden thought must not spoil every guess after it.
fn scaled(guess: u64, counted: u64, guessed: u64) -> u64 {
    let counted = counted.clamp(guessed / 2, guessed.saturating_mul(2)).max(1);
    let scaled = u128::from(guess) * u128::from(counted) / u128::from(guessed.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// What the provider counted when it gave this answer, itself included.
pub(crate) fn count(entry: &Entry) -> u64 {
    if let EntryKind::Assistant { usage, .. } = &entry.kind { usage.total() } else { 0 }
}

/// Whether the conversation before the entry is no longer what it was.
fn is_cut(kind: &EntryKind) -> bool {
    match kind {
        EntryKind::Compaction { .. }
        | EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::ModelChange { .. } => true,
        EntryKind::User { .. }
        | EntryKind::Assistant { .. }
        | EntryKind::ToolResults { .. }
        | EntryKind::Notice { .. }
        | EntryKind::Checkpoint { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use base::model::{ModelRef, StopReason, Usage};
    use base::{EntryId, Timestamp};

    use super::*;

    #[test]
    fn the_guess_is_near_a_real_tokenizer() {
        let encoding = tiktoken::get_encoding("o200k_base").unwrap();
        let json = r#"{"name":"view","input":{"file_path":"src/main.rs","limit":200}}"#;
        for (what, text) in [
            ("code", include_str!("tokens.rs")),
            ("prose", include_str!("../../../docs/sessions.md")),
            ("table", include_str!("../../../docs/headless.md")),
            ("json", &json.repeat(20)),
            ("chinese", &"代码代理在终端里工作，并且读取文件。".repeat(20)),
            ("russian", &"Агент читает файлы и запускает команды.".repeat(20)),
        ] {
            let (guess, real) = (of_text(text), encoding.count(text) as u64);
            // Other scripts are guessed high on purpose: a window that overflows costs more.
            assert!(guess * 3 >= real * 2, "{what}: guessed {guess}, really {real}");
            let most = if text.is_ascii() { real * 3 / 2 } else { real * 5 };
            assert!(guess <= most, "{what}: guessed {guess}, really {real}");
        }
    }

    fn entry(kind: EntryKind) -> Entry {
        Entry { id: EntryId::new(), parent: None, at: Timestamp::default(), kind }
    }

    fn user(text: &str) -> Entry {
        entry(EntryKind::User { parts: vec![Part::user_text(text)] })
    }

    fn answer(total: u64) -> Entry {
        entry(EntryKind::Assistant {
            parts: vec![Part::assistant_text("y".repeat(400))],
            model: ModelRef::new("p", "m"),
            stop: StopReason::Done,
            usage: Usage { input: total, ..Usage::default() },
        })
    }

    #[test]
    fn a_count_of_the_provider_is_worth_more_than_a_guess() {
        let mut branch = vec![user(&"x".repeat(4_000)), answer(7_000)];
        assert_eq!(used(&branch, || 100), 7_000);
        branch.push(user(&"x".repeat(400)));
        assert_eq!(used(&branch, || 100), 7_000 + 100 + FRAME_TOKENS);
        assert_eq!(used(&branch[..1], || 100), 100 + 1_000 + FRAME_TOKENS);
    }

    #[test]
    fn a_count_of_before_a_compaction_only_corrects_the_guess() {
        let mut branch = vec![user(&"x".repeat(40_000)), answer(15_000)];
        branch.push(entry(EntryKind::Compaction { summary: "s".repeat(4_000), keep_from: None }));
        let guess = 1_000 + FRAME_TOKENS;
        let now = used(&branch, || 0);
        assert!(now > guess * 14 / 10 && now < guess * 16 / 10, "{now}");
    }
}
