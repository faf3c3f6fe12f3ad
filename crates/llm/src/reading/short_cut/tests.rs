use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn event(text: &str, number: u32, padding: &str) -> String {
    let event = json!({
        "type": "x.delta", "sequence_number": number, "item_id": "a\"b", "delta": text,
        "obfuscation": padding, "output_index": 0,
    });
    event.to_string()
}

fn learnt(event: &str, text: &str) -> ShortCut<()> {
    let start = event.find(text).unwrap();
    ShortCut::learn(event.as_bytes(), &event[start..start + text.len()], ()).unwrap()
}

fn usual() -> ShortCut<()> {
    learnt(&event("plain", 7, "abc"), "plain")
}

fn read(short_cut: &ShortCut<()>, event: &[u8]) -> Option<String> {
    short_cut.take(event).map(|(text, ())| text.into_owned())
}

proptest! {
    #[test]
    fn any_text_number_and_padding_fit(text: String, number: u32, padding in "[a-zA-Z0-9]{0,12}") {
        prop_assert_eq!(read(&usual(), event(&text, number, &padding).as_bytes()), Some(text));
    }

    #[test]
    fn other_bytes_never_panic(bytes: Vec<u8>, cut in 0_usize..80) {
        let whole = event("te\\xt", 1, "p");
        let cut = &whole.as_bytes()[..cut.min(whole.len() - 1)];
        prop_assert_eq!(read(&usual(), &bytes), None);
        prop_assert_eq!(read(&usual(), cut), None);
    }

    #[test]
    fn what_fits_is_what_the_parser_reads(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        text: String,
    ) {
        let mut bytes = event(&text, 41, "pad").into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(text) = read(&usual(), &bytes) {
            let parsed: Value = serde_json::from_slice(&bytes).unwrap();
            prop_assert_eq!(&parsed["delta"], &json!(text));
        }
    }
}

#[test]
fn any_other_difference_does_not_fit() {
    let same = event("t", 1, "p");
    assert!(read(&usual(), same.as_bytes()).is_some());
    for (from, to) in [
        ("x.delta", "y.delta"),
        ("\"output_index\":0", "\"output_index\":1"),
        ("\"output_index\":0", "\"output_index\":0,\"more\":1"),
        ("\"delta\":\"t\"", "\"delta\":null"),
        ("\"delta\":\"t\"", "\"delta\":\"t\",\"more\":\"x\""),
        ("\"delta\":\"t\"", "\"delta\":\"\\ud83d\""),
        ("\"delta\":\"t\"", "\"delta\":\"a\nb\""),
        ("\"sequence_number\":1", "\"sequence_number\":-1"),
        ("\"sequence_number\":1", "\"sequence_number\":"),
        ("\"obfuscation\":\"p\"", "\"obfuscation\":\"\\q\""),
        ("\"obfuscation\":\"p\"", "\"obfuscation\":\"p\",\"error\":\"x\""),
    ] {
        let other = same.replace(from, to);
        assert_ne!(other, same);
        assert_eq!(read(&usual(), other.as_bytes()), None, "{other}");
    }
}

#[test]
fn a_string_that_ends_the_event_fits_too() {
    let short_cut = learnt(r#"{"content":"Hel"}"#, "Hel");
    assert_eq!(read(&short_cut, br#"{"content":"lo"}"#).unwrap(), "lo");
    assert_eq!(read(&short_cut, br#"{"content":""}"#).unwrap(), "");
    for other in [r#"{"content":"lo","x":"y"}"#, r#"{"content":"lo"#, r#"{"content":"lo\"#, ""] {
        assert_eq!(read(&short_cut, other.as_bytes()), None, "{other}");
    }
}

#[test]
fn a_text_that_is_no_slice_of_the_event_teaches_nothing() {
    let event = event("plain", 7, "abc");
    assert!(ShortCut::learn(event.as_bytes(), &String::from("plain"), ()).is_none());
    let part = event.find("lain").unwrap();
    assert!(ShortCut::learn(event.as_bytes(), &event[part..part + 4], ()).is_none());
}

#[test]
fn only_an_event_with_one_string_that_matters_has_a_short_cut() {
    let event = event("plain", 7, "abc");
    let start = event.find("plain").unwrap();
    let text = &event[start..start + 5];
    let mut strings = Strings::default();
    assert!(strings.short_cut(event.as_bytes()).is_none());
    strings.note(text, ());
    assert!(strings.short_cut(event.as_bytes()).is_some());
    strings.note(text, ());
    assert!(strings.short_cut(event.as_bytes()).is_none());
    let mut spoilt = Strings::default();
    spoilt.spoil();
    spoilt.note(text, ());
    assert!(spoilt.short_cut(event.as_bytes()).is_none());
}
