//! Transcripts for tests: one that has everything, and any at all.

use base::CallId;
use base::transcript::{
    Call, CallInput, CallResult, File, FileSource, Maker, Native, Origin, Outcome, Part, PartBody,
    Piece, Role, Turn,
};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) fn image() -> File {
    let source = FileSource::Base64("aGk=".to_owned());
    File { media_type: "image/png".to_owned(), name: Some("a.png".to_owned()), source }
}

pub(crate) fn call(id: &str, name: &str, input: Value) -> Part {
    let value = input.as_object().cloned().unwrap_or_default();
    let call = Call { id: CallId::new(id), name: name.to_owned(), input: CallInput::sound(value) };
    Part::new(PartBody::Call(call), Origin::Assistant)
}

pub(crate) fn result(id: &str, name: &str, pieces: Vec<Piece>) -> Part {
    let (call, name, outcome) = (CallId::new(id), name.to_owned(), Outcome::Done);
    Part::new(
        PartBody::Result(CallResult { call, name, outcome, pieces, shown: None }),
        Origin::Workspace,
    )
}

pub(crate) fn text(text: &str) -> Piece {
    Piece::Text { text: text.to_owned() }
}

pub(crate) fn thought(text: &str) -> Part {
    Part::new(PartBody::Reasoning { text: text.to_owned() }, Origin::Assistant)
}

pub(crate) fn file(file: File) -> Part {
    Part::new(PartBody::File(file), Origin::User)
}

pub(crate) fn signed(part: Part, maker: &Maker, data: Value) -> Part {
    part.with_native(Native { maker: maker.clone(), data })
}

pub(crate) fn user(parts: Vec<Part>) -> Turn {
    Turn { role: Role::User, parts }
}

pub(crate) fn assistant(parts: Vec<Part>) -> Turn {
    Turn { role: Role::Assistant, parts }
}

/// Any transcript: turns in any order, parts where they do not belong, ids that clash or dangle.
pub(crate) fn arbitrary(makers: Vec<Maker>) -> impl Strategy<Value = Vec<Turn>> {
    let turn = (any::<bool>(), prop::collection::vec(part(makers), 0..5));
    let turn = turn.prop_map(|(asks, parts)| Turn {
        role: if asks { Role::User } else { Role::Assistant },
        parts,
    });
    prop::collection::vec(turn, 0..8)
}

fn part(makers: Vec<Maker>) -> impl Strategy<Value = Part> {
    let id = prop::sample::select(vec!["a", "b", "", "call.with|odd:letters", "abcdefghi"]);
    let words = prop::sample::select(vec!["", " ", "Hello", "Zwölf Boxkämpfer", "{\"a\":1}"]);
    let name = prop::sample::select(vec!["ls", "mcp_git_log", "", "odd name!"]);
    let body =
        (0..6, id, name, words, any::<bool>()).prop_map(|(kind, id, name, words, image_too)| {
            let mut pieces = vec![text(words)];
            if image_too {
                pieces.push(Piece::File(image()));
            }
            match kind {
                0 => PartBody::Text { text: words.to_owned() },
                1 => PartBody::Reasoning { text: words.to_owned() },
                2 => call(id, name, json!({"path": words})).body,
                3 => result(id, name, pieces).body,
                4 => PartBody::File(image()),
                _ => PartBody::Opaque { label: "search".to_owned() },
            }
        });
    let native = prop::option::of(prop::sample::select(makers));
    (body, native).prop_map(|(body, maker)| {
        let data = json!({"thoughtSignature": "sig", "reasoning_details": [{"data": "x"}]});
        let native = maker.map(|maker| Native { maker, data });
        Part { native, ..Part::new(body, Origin::Assistant) }
    })
}
