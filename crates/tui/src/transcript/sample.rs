//! Entries and events to test with.

use base::interface::DiffMode;
use base::transcript::{Call, CallInput, CallResult, Outcome, Piece, Shown};
use base::{
    Block, CallId, Entry, EntryId, EntryKind, ModelRef, Origin, Part, PartBody, StopReason,
    Timestamp, Usage,
};

use crate::look::{Look, Pictures};
use crate::theme::Theme;

/// A look.
pub(crate) fn look() -> Look {
    Look {
        theme: Theme::dark(),
        version: 0,
        diff: DiffMode::Auto,
        frame: 0,
        now_ms: 0,
        unicode: true,
        pictures: Pictures::HalfBlocks,
        unfold: "ctrl+o".to_owned(),
    }
}

/// An entry of a kind.
pub(crate) fn entry(kind: EntryKind) -> Entry {
    Entry { id: EntryId::new(), parent: None, at: Timestamp::from_millis(1_000), kind }
}

/// Something the user said.
pub(crate) fn user(text: &str) -> Entry {
    entry(EntryKind::User { parts: vec![Part::user_text(text)] })
}

/// An answer of parts.
pub(crate) fn answer(parts: Vec<Part>, stop: StopReason) -> Entry {
    let usage = Usage { input: 1_200, output: 340, ..Usage::default() };
    entry(EntryKind::Assistant { parts, model: ModelRef::new("demo", "tour"), stop, usage })
}

/// A call of a tool.
pub(crate) fn call(id: &str, name: &str, arguments: &[(&str, &str)]) -> Part {
    let mut input = CallInput::default();
    for (key, value) in arguments {
        input.value.insert((*key).to_owned(), (*value).into());
    }
    let call = Call { id: CallId::new(id), name: name.to_owned(), input };
    Part::new(PartBody::Call(call), Origin::Assistant)
}

/// Results of calls: id, name, title, what is shown.
pub(crate) fn results(all: &[(&str, &str, &str, Block)]) -> Entry {
    let part = |(id, name, title, body): &(&str, &str, &str, Block)| {
        let text = match body {
            Block::Text { text } => text.clone(),
            Block::Diff { .. }
            | Block::Table { .. }
            | Block::Image { .. }
            | Block::Todos { .. }
            | Block::Tree { .. } => "done".to_owned(),
        };
        let shown = Shown { title: (*title).to_owned(), body: Some(body.clone()), took_ms: 0 };
        let result = CallResult {
            call: CallId::new(*id),
            name: (*name).to_owned(),
            outcome: Outcome::Done,
            pieces: vec![Piece::Text { text }],
            shown: Some(Box::new(shown)),
        };
        Part::new(PartBody::Result(result), Origin::Workspace)
    };
    entry(EntryKind::ToolResults { parts: all.iter().map(part).collect() })
}

/// A block of text.
pub(crate) fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}
