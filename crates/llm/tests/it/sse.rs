//! The event stream decoder against bytes of every kind, cut everywhere.

use llm::sse::{self, Decoder};
use proptest::prelude::*;

type Events = Vec<(String, Vec<u8>)>;

/// Bytes, and the names and data of the events in them.
type Case<'a> = (&'a [u8], &'a [(&'a str, &'a [u8])]);

fn drain(decoder: &mut Decoder, into: &mut Events) {
    while let Some(event) = decoder.next().unwrap() {
        into.push((event.name.to_owned(), event.data.to_vec()));
    }
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Events {
    let (mut decoder, mut events) = (Decoder::new(), Events::new());
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder, &mut events);
    }
    decoder.finish();
    drain(&mut decoder, &mut events);
    events
}

/// The format, read in the slowest and plainest way.
fn reference(bytes: &[u8]) -> Events {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut previous = 0;
    for &byte in bytes {
        match byte {
            b'\n' if previous == b'\r' => {}
            b'\n' | b'\r' => lines.push(Vec::new()),
            other => lines.last_mut().unwrap().push(other),
        }
        previous = byte;
    }
    let unended = lines.pop().unwrap();
    let mut events = Events::new();
    let (mut name, mut data) = (Vec::new(), None::<Vec<u8>>);
    let mut take = |line: &[u8], events: &mut Events| {
        if line.is_empty() {
            let name = String::from_utf8(std::mem::take(&mut name)).unwrap_or_default();
            events.extend(data.take().map(|data| (name, data)));
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match (&line[..colon], &mut data) {
            (b"event", _) => name = value.to_vec(),
            (b"data", Some(data)) => data.extend([b"\n", value].concat()),
            (b"data", none) => *none = Some(value.to_vec()),
            _ => {}
        }
    };
    for line in &lines {
        take(line, &mut events);
    }
    let ended = events.len();
    if !unended.is_empty() {
        take(&unended, &mut events);
    }
    take(b"", &mut events);
    let whole = |data: &[u8]| {
        data.trim_ascii() == b"[DONE]"
            || serde_json::from_str::<serde_json::Value>(&String::from_utf8_lossy(data)).is_ok()
    };
    if events.len() > ended && !whole(&events[ended].1) {
        events.pop();
    }
    events
}

/// Bytes that look like a stream often enough to reach every branch.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"data: {\"a\":1}".to_vec()),
        2 => Just(b"data:".to_vec()),
        2 => Just(b"event: name".to_vec()),
        1 => Just(b"data: [DONE]".to_vec()),
        1 => Just(b": comment".to_vec()),
        1 => Just(b"id: 7\nretry: 3".to_vec()),
        1 => Just(b"\xef\xbb\xbf".to_vec()),
        3 => Just(b"\n".to_vec()),
        3 => Just(b"\n\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        2 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn events_do_not_depend_on_how_bytes_are_split(
        bytes in stream(),
        cuts in proptest::collection::vec(1_usize..9, 1..50),
    ) {
        let expected = reference(&bytes);
        prop_assert_eq!(&decode([&bytes[..]]), &expected);
        prop_assert_eq!(&decode(bytes.chunks(1)), &expected);
        let (mut pieces, mut rest) = (Vec::new(), &bytes[..]);
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(&decode(pieces), &expected);
        sse::check_any_split(&bytes);
    }

    #[test]
    fn a_cut_loses_only_what_comes_after_it(bytes in stream(), at in any::<prop::sample::Index>()) {
        let cut = &bytes[..at.index(bytes.len() + 1)];
        let (whole, short) = (decode([&bytes[..]]), decode([cut]));
        // The event the cut fell into may be given (its data was whole) or not.
        let sure = short.len().saturating_sub(1);
        prop_assert_eq!(&short[..sure], &whole[..sure]);
    }
}

#[test]
fn every_rule_of_the_format_holds() {
    let cases: &[Case<'_>] = &[
        (b"data: a\n\n", &[("", b"a")]),
        (b"data:a\r\n\r\n", &[("", b"a")]),
        (b"data: a\r\rdata: b\r\r", &[("", b"a"), ("", b"b")]),
        (b"data:  a\n\n", &[("", b" a")]),
        (b"data: a\ndata: b\ndata\n\n", &[("", b"a\nb\n")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", &[("x", b"a"), ("", b"b")]),
        (b"event: x\n\ndata: b\n\n", &[("", b"b")]),
        (b": ping\n\ndata: a\n: ping\n\n", &[("", b"a")]),
        (b"id: 1\nretry: 10\nother: y\ndata: a\n\n", &[("", b"a")]),
        (b"\xef\xbb\xbfdata: a\n\n", &[("", b"a")]),
        (b"data: \xff\xfe\n\n", &[("", b"\xff\xfe")]),
        (b"data\n\n", &[("", b"")]),
        (b"data: [DONE]", &[("", b"[DONE]")]),
        (b"data: {\"a\":1}\n", &[("", b"{\"a\":1}")]),
        (b"data: {\"a\":", &[]),
        (b"database: x\n\n", &[]),
    ];
    for (bytes, expected) in cases {
        let expected: Events =
            expected.iter().map(|(name, data)| ((*name).to_owned(), data.to_vec())).collect();
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(decode([*bytes]), expected, "{shown:?}");
        assert_eq!(decode(bytes.chunks(1)), expected, "{shown:?} byte by byte");
    }
}

#[test]
fn bytes_that_are_no_text_become_replacement_characters() {
    assert_eq!(sse::text(b"caf\xc3\xa9"), "café");
    assert_eq!(sse::text(b"{\"a\":\"\xff\"}"), "{\"a\":\"\u{fffd}\"}");
}

#[test]
fn an_event_of_ten_megabytes_passes_in_small_pieces() {
    let big = vec![b'x'; 10 * 1024 * 1024];
    let stream = [b"data: ", &big[..], b"\n\n"].concat();
    let started = std::time::Instant::now();
    let events = decode(stream.chunks(1024));
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].1.len(), big.len());
    // Quadratic work would be 50 GB of copying or searching.
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn a_stream_of_endless_comments_needs_no_memory_and_an_endless_event_is_refused() {
    let comments = b": keep-alive\n".repeat(1024 * 1024);
    let mut decoder = Decoder::new();
    for _ in 0..3 {
        for piece in comments.chunks(4096) {
            decoder.push(piece);
            assert_eq!(decoder.next().unwrap(), None);
        }
    }
    let piece = vec![b'x'; 1024 * 1024];
    decoder.push(b"data: ");
    let refused = (0..20).find_map(|_| {
        decoder.push(&piece);
        decoder.next().err()
    });
    assert!(refused.unwrap().message.contains("16 MB"));
}
