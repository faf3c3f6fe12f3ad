//! What holds of every parser whatever bytes it is given.
//!
//! The smoke tests beside this file and the targets in `fuzz/` run the same functions; each panics
//! when its parser does, or when what it says depends on how the bytes were cut.

use base::transcript::{CallInput, Mended};
use llm::eventstream::Frames;
use llm::text_calls::{Splitter, Spoken};
use llm::{Error, Target, repair, sse, wire};
use serde_json::{Map, Value};
use settings::provider::{Quirks, Wire};
use testkit::event_stream;

use crate::targets;

type Events = Vec<(String, Vec<u8>)>;

/// Server-sent events: the same in one piece and byte by byte.
pub(crate) fn sse(bytes: &[u8]) {
    sse::check_any_split(bytes);
}

/// AWS's frames, from raw bytes and from bytes put into frames whose checksums fit.
pub(crate) fn event_stream(bytes: &[u8]) {
    for stream in [bytes.to_vec(), framed(bytes)] {
        let whole = frames(&[&stream]);
        let split = frames(&stream.chunks(1).collect::<Vec<_>>());
        assert_eq!(whole, split, "the cut matters");
    }
}

/// Without this no random bytes would ever get past the checksums: the first byte of each piece
/// says how long its headers are, the second how long its payload is.
fn framed(mut bytes: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    while let [headers, payload, rest @ ..] = bytes {
        let (headers, rest) = rest.split_at(usize::from(*headers).min(rest.len()));
        let (payload, rest) = rest.split_at(usize::from(*payload).min(rest.len()));
        stream.extend(event_stream::sealed(headers, payload));
        bytes = rest;
    }
    stream
}

fn frames(pieces: &[&[u8]]) -> (Events, Result<(), Error>) {
    let (mut frames, mut events) = (Frames::new(), Events::new());
    for piece in pieces {
        let kept = |event: wire::StreamEvent<'_>| {
            events.push((event.name.to_owned(), event.data.to_vec()));
            Ok(())
        };
        if let Err(error) = frames.feed(piece, kept) {
            return (events, Err(error));
        }
    }
    let end = frames.end();
    (events, end)
}

/// A call's arguments: JSON is taken as it is, and of anything else the original is kept.
pub(crate) fn tool_json(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let input = repair::call_input(&text);
    match serde_json::from_str::<Map<String, Value>>(&text) {
        Ok(value) => assert_eq!(input, CallInput::sound(value)),
        Err(_) => match &input.mended {
            None => assert!(text.trim().is_empty() && input.value.is_empty()),
            Some(Mended::Repaired(original)) => assert_eq!(*original, text),
            Some(Mended::Broken(original)) => {
                assert_eq!(*original, text);
                assert!(input.value.is_empty(), "what is broken has no arguments");
            }
        },
    }
    if let Some(value) = repair::partial(&text) {
        assert!(value.is_object(), "{value}");
    }
}

/// Every decoder, fed with lines as events: deltas come in the order every reader relies on. The
/// first byte chooses the wire, the second the quirks; a tab parts an event's name from its data.
pub(crate) fn wire(bytes: &[u8]) {
    let [wire, quirks, rest @ ..] = bytes else { return };
    let target = any_target(*wire, *quirks);
    let text = String::from_utf8_lossy(rest);
    let events: Vec<(&str, &str)> =
        text.lines().map(|line| line.split_once('\t').unwrap_or(("", line))).collect();
    if let Err(why) = targets::check_order(&target, &events) {
        panic!("{why}");
    }
    // A cut or broken answer is an error; only a panic is wrong here.
    let pieces = events.iter().map(|(name, data)| (*name, data.as_bytes()));
    drop(targets::decode(&target, pieces));
    drop(targets::decode_whole(&target, rest));
}

fn any_target(wire: u8, quirks: u8) -> Target {
    let wire = Wire::ALL[usize::from(wire) % Wire::ALL.len()];
    let flag = |bit: u8| Some(quirks & (1 << bit) != 0);
    let quirks = Quirks {
        text_calls: flag(0),
        think_tags: flag(1),
        reasoning_beside_output: flag(2),
        ..Quirks::default()
    };
    Target { quirks, ..targets::target(wire) }
}

/// Calls and thoughts written as text: the same in one piece and character by character.
pub(crate) fn text_calls(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for calls in [true, false] {
        let whole = spoken(&[&text], calls);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(whole, spoken(&letters, calls), "the cut matters");
    }
}

/// What was said, neighbours of one kind joined.
fn spoken(pieces: &[&str], calls: bool) -> Vec<Spoken> {
    let (mut splitter, mut out) = (Splitter::new(calls), Vec::new());
    for piece in pieces {
        splitter.push(piece, &mut out);
    }
    splitter.finish(&mut out);
    let mut joined: Vec<Spoken> = Vec::new();
    for next in out {
        match (joined.last_mut(), next) {
            (Some(Spoken::Text(so_far)), Spoken::Text(more))
            | (Some(Spoken::Thought(so_far)), Spoken::Thought(more)) => so_far.push_str(&more),
            (_, next) => joined.push(next),
        }
    }
    joined
}
