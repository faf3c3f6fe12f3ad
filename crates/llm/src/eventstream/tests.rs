use proptest::prelude::*;

use super::*;
use crate::error::Class;

/// Builds a frame the way AWS does.
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).unwrap());
        head.extend(name.as_bytes());
        head.push(7);
        head.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        head.extend(value.as_bytes());
    }
    raw_frame(&head, payload)
}

fn raw_frame(head: &[u8], payload: &[u8]) -> Vec<u8> {
    let total = u32::try_from(PRELUDE + head.len() + payload.len() + TRAILER).unwrap();
    let mut bytes = total.to_be_bytes().to_vec();
    bytes.extend(u32::try_from(head.len()).unwrap().to_be_bytes());
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes.extend(head);
    bytes.extend(payload);
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes
}

fn event(name: &str, payload: &str) -> Vec<u8> {
    frame(&[(":event-type", name), (":message-type", "event")], payload.as_bytes())
}

type Seen = Vec<(String, Vec<u8>)>;

fn feed_all(pieces: &[&[u8]]) -> (Seen, Result<(), Error>) {
    let (mut frames, mut seen) = (Frames::new(), Vec::new());
    for piece in pieces {
        let fed = frames.feed(piece, |event| {
            seen.push((event.name.to_owned(), event.data.to_vec()));
            Ok(())
        });
        if fed.is_err() {
            return (seen, fed);
        }
    }
    (seen, frames.end())
}

#[test]
fn the_checksum_is_the_usual_one() {
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
}

#[test]
fn a_chunk_gives_the_event_inside() {
    let bytes = event("chunk", r#"{"bytes":"eyJ0eXBlIjoicGluZyJ9","p":"abc"}"#);
    let (seen, end) = feed_all(&[&bytes]);
    assert_eq!((seen, end), (vec![(String::new(), br#"{"type":"ping"}"#.to_vec())], Ok(())));
}

#[test]
fn an_exception_is_a_typed_error() {
    let headers = [(":exception-type", "throttlingException"), (":message-type", "exception")];
    let (_, end) = feed_all(&[&frame(&headers, br#"{"message":"slow down"}"#)]);
    let error = end.unwrap_err();
    assert_eq!((error.class, error.message.as_str()), (Class::RateLimit, "slow down"));
    assert_eq!(error.code.as_deref(), Some("throttlingException"));
    let headers = [(":exception-type", "validationException"), (":message-type", "exception")];
    let told = br#"{"message":"Input is too long for requested model."}"#;
    let long = feed_all(&[&frame(&headers, told)]).1.unwrap_err();
    assert_eq!(long.class, Class::ContextOverflow);
}

#[test]
fn every_kind_of_header_is_read() {
    let mut head = Vec::new();
    for (name, kind, value) in [
        ("t", 0, vec![]),
        ("f", 1, vec![]),
        ("b", 2, vec![0xFF]),
        ("s", 3, vec![0x01, 0x00]),
        ("i", 4, vec![0, 0, 0, 7]),
        ("l", 5, vec![0, 0, 0, 0, 0, 0, 0, 9]),
        ("y", 6, vec![0, 2, 5, 6]),
        ("x", 7, vec![0, 2, b'o', b'k']),
        ("m", 8, vec![0, 0, 0, 0, 0, 0, 3, 232]),
        ("u", 9, vec![1; 16]),
    ] {
        head.extend([1, name.as_bytes()[0], kind]);
        head.extend(value);
    }
    let mut frames = Frames::new();
    frames.push(&raw_frame(&head, b"body"));
    let frame = frames.next_frame().unwrap().unwrap();
    let values: Vec<_> = frame.headers.iter().map(|(_, value)| *value).collect();
    let expected = [
        Header::Bool(true),
        Header::Bool(false),
        Header::Integer(-1),
        Header::Integer(256),
        Header::Integer(7),
        Header::Integer(9),
        Header::Bytes(&[5, 6]),
        Header::Text("ok"),
        Header::Timestamp(1000),
        Header::Uuid([1; 16]),
    ];
    assert_eq!(values, expected);
    assert_eq!((frame.text("x"), frame.payload), (Some("ok"), b"body".as_slice()));
}

#[test]
fn a_frame_longer_than_the_limit_is_refused_before_it_is_kept() {
    let mut bytes = 0x7FFF_FFFF_u32.to_be_bytes().to_vec();
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(crc32(&bytes).to_be_bytes());
    assert_eq!(feed_all(&[&bytes]).1.unwrap_err().class, Class::Server);
}

proptest! {
    #[test]
    fn the_split_does_not_matter(
        payloads in prop::collection::vec("[a-z]{0,40}", 1..6),
        cuts in prop::collection::vec(0_usize..400, 0..8),
    ) {
        let bytes: Vec<u8> =
            payloads.iter().flat_map(|text| event("messageStart", text)).collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let (seen, end) = feed_all(&pieces);
        prop_assert_eq!(end, Ok(()));
        let texts: Vec<_> = seen.into_iter().map(|(_, data)| String::from_utf8(data).unwrap()).collect();
        prop_assert_eq!(texts, payloads);
    }

    #[test]
    fn a_flipped_bit_never_passes_for_the_truth(at in 0_usize..10_000, bit in 0_u8..8) {
        let good = event("contentBlockDelta", r#"{"delta":{"text":"hello"}}"#);
        let mut bad = good.clone();
        let at = at % bad.len();
        bad[at] ^= 1 << bit;
        let (seen, end) = feed_all(&[&bad]);
        prop_assert!(end.is_err() && seen.is_empty());
    }

    #[test]
    fn a_cut_is_an_error_and_nothing_else(keep in 0_usize..10_000) {
        let bytes = [event("a", "1"), event("b", "2")].concat();
        let keep = keep % bytes.len();
        let (seen, end) = feed_all(&[&bytes[..keep]]);
        let whole = keep == 0 || keep == bytes.len() / 2;
        prop_assert_eq!(end.is_ok(), whole);
        prop_assert_eq!(seen.len(), keep * 2 / bytes.len());
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(feed_all(&[&bytes]));
        if let Some(headers) = read_headers(&bytes) {
            prop_assert!(headers.len() <= bytes.len());
        }
    }
}
