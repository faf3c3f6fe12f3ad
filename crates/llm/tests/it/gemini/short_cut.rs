//! The short cut around the JSON parser gives what the long way gives.

use llm::{Answer, Error};
use settings::provider::Wire;

use crate::recordings;
use crate::targets::{self, target};

/// Decodes events with `padding` behind each: white space no short cut expects.
fn decode<'a>(events: impl Iterator<Item = &'a str>, padding: &str) -> Result<Answer, Error> {
    let events: Vec<String> = events.map(|data| format!("{data}{padding}")).collect();
    targets::decode(&target(Wire::Gemini), events.iter().map(|data| ("", data.as_bytes())))
}

#[test]
fn a_stream_of_like_chunks_reads_the_same_both_ways() {
    let chunk = |text: &str, more: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"{more}}}]}}}}],"responseId":"1"}}"#
        )
    };
    let events = [
        chunk("One", ""),
        chunk(" two", ""),
        chunk(" \\\"three\\\"\\n", ""),
        chunk(" four", r#","thoughtSignature":"s""#),
        chunk("Hm", r#","thought":true"#),
        chunk("m", r#","thought":true"#),
        chunk("", r#","functionCall":{"name":"ls","args":{}}"#),
        chunk("Done", ""),
        chunk(".", ""),
        r#"{"candidates":[{"finishReason":"STOP"}]}"#.to_owned(),
    ];
    let mut short = decode(events.iter().map(String::as_str), "").unwrap();
    let mut long = decode(events.iter().map(String::as_str), " ").unwrap();
    for answer in [&mut short, &mut long] {
        recordings::forget_made_up_ids(answer);
    }
    assert_eq!(short, long);
    assert_eq!(short.parts[0].as_text(), Some("One two \"three\"\n four"));
    assert_eq!(short.parts.len(), 4);
}
