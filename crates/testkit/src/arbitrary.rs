//! Transcripts of every shape a session can get into, and some it should not, for property tests.
//!
//! The property they serve: any transcript, projected to any wire, passes that wire's validator.

use base::CallId;
use base::transcript::{
    Call, CallInput, CallResult, File, FileSource, Maker, Mended, Native, Origin, Outcome, Part,
    PartBody, Piece, Role, Turn,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// A 1×1 PNG.
pub const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// Whole conversations of up to a dozen turns.
///
/// `natives` are sidecars as the wires under test make them, each signed by its maker; add
/// [`strange_natives`] to see that what no wire made does no harm.
pub fn turns(natives: Vec<Native>) -> impl Strategy<Value = Vec<Turn>> {
    vec(exchange(natives), 0..6).prop_map(|exchanges| exchanges.into_iter().flatten().collect())
}

/// Sidecars that are signed well and hold nothing sensible.
pub fn strange_natives(makers: &[Maker]) -> Vec<Native> {
    let shapes = [
        Value::Null,
        json!({}),
        json!("text"),
        json!({ "unknown": [1, 2, 3] }),
        json!({ "signature": 7, "id": null, "encrypted_content": "" }),
    ];
    let of_maker = |maker: &Maker| {
        let maker = maker.clone();
        shapes.clone().map(|data| Native { maker: maker.clone(), data })
    };
    makers.iter().flat_map(of_maker).collect()
}

/// A few turns that belong together: words, an answer with calls, and what became of the calls.
fn exchange(natives: Vec<Native>) -> impl Strategy<Value = Vec<Turn>> {
    let asks = prop_oneof![
        6 => vec(user_part(), 0..4).prop_map(Some),
        1 => Just(None),
    ];
    let answers = prop_oneof![
        6 => vec(assistant_part(natives), 0..6).prop_map(Some),
        1 => Just(None),
    ];
    (asks, answers, after_calls()).prop_map(|(asks, answers, after)| {
        let mut turns = Vec::new();
        if let Some(parts) = asks {
            turns.push(Turn { role: Role::User, parts });
        }
        if let Some(parts) = answers {
            let results = after.results(&parts);
            turns.push(Turn { role: Role::Assistant, parts });
            turns.extend(results);
        }
        turns
    })
}

/// What becomes of the calls of an answer.
#[derive(Debug, Clone)]
struct AfterCalls {
    /// Which calls get a result, by place; calls past its end do.
    answered: Vec<bool>,
    order: Order,
    /// Results nobody asked for.
    orphans: Vec<CallResult>,
    outcomes: Vec<(Outcome, Vec<Piece>)>,
    /// What is said in the same turn.
    beside: Vec<Part>,
}

#[derive(Debug, Clone, Copy)]
enum Order {
    AsCalled,
    Reversed,
    AfterWords,
}

fn after_calls() -> impl Strategy<Value = AfterCalls> {
    let answered = vec(prop::bool::weighted(0.85), 0..6);
    let order = select(vec![Order::AsCalled, Order::AsCalled, Order::Reversed, Order::AfterWords]);
    let orphans = prop_oneof![8 => Just(Vec::new()), 1 => vec(result(), 1..3)];
    let outcomes = vec((outcome(), pieces()), 1..6);
    let beside = prop_oneof![4 => Just(Vec::new()), 1 => vec(user_part(), 1..3)];
    (answered, order, orphans, outcomes, beside).prop_map(
        |(answered, order, orphans, outcomes, beside)| AfterCalls {
            answered,
            order,
            orphans,
            outcomes,
            beside,
        },
    )
}

impl AfterCalls {
    fn results(self, parts: &[Part]) -> Option<Turn> {
        let calls = parts.iter().filter_map(|part| match &part.body {
            PartBody::Call(call) => Some(call),
            PartBody::Text { .. }
            | PartBody::Reasoning { .. }
            | PartBody::Result(_)
            | PartBody::File(_)
            | PartBody::Opaque { .. } => None,
        });
        let mut results: Vec<Part> = calls
            .enumerate()
            .filter(|(at, _)| self.answered.get(*at).copied().unwrap_or(true))
            .map(|(at, call)| {
                let (outcome, pieces) = self.outcomes[at % self.outcomes.len()].clone();
                CallResult {
                    call: call.id.clone(),
                    name: call.name.clone(),
                    outcome,
                    pieces,
                    shown: None,
                }
            })
            .chain(self.orphans)
            .map(|result| Part::new(PartBody::Result(result), Origin::Shell))
            .collect();
        let parts = match self.order {
            Order::AsCalled => {
                results.extend(self.beside);
                results
            }
            Order::Reversed => {
                results.reverse();
                results.extend(self.beside);
                results
            }
            Order::AfterWords => self.beside.into_iter().chain(results).collect(),
        };
        (!parts.is_empty()).then_some(Turn { role: Role::User, parts })
    }
}

fn user_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        6 => text().prop_map(Part::user_text),
        2 => file().prop_map(|file| Part::new(PartBody::File(file), Origin::User)),
        1 => text().prop_map(|text| Part::new(PartBody::Text { text }, Origin::System)),
    ]
}

fn assistant_part(natives: Vec<Native>) -> impl Strategy<Value = Part> {
    let body = prop_oneof![
        5 => text().prop_map(|text| PartBody::Text { text }),
        3 => text().prop_map(|text| PartBody::Reasoning { text }),
        5 => call().prop_map(PartBody::Call),
        1 => file().prop_map(PartBody::File),
        1 => select(vec!["web_search_call", "server_tool_use", ""])
            .prop_map(|label| PartBody::Opaque { label: label.to_owned() }),
    ];
    (body, native(natives))
        .prop_map(|(body, native)| Part { native, ..Part::new(body, Origin::Assistant) })
}

fn native(natives: Vec<Native>) -> BoxedStrategy<Option<Native>> {
    if natives.is_empty() {
        return Just(None).boxed();
    }
    prop_oneof![1 => Just(None), 1 => select(natives).prop_map(Some)].boxed()
}

/// Texts: nothing, blanks, odd scripts, what looks like a protocol, and very much.
pub fn text() -> impl Strategy<Value = String> {
    let odd = select(vec![
        "",
        " ",
        "\n\t  \r\n",
        "ends with a blank ",
        "\u{0}",
        "e\u{301}\u{200d}🦎🏳️‍🌈",
        "مرحبا בעולם",
        "\u{feff}bom",
        "<tool_call>{\"name\":\"x\"}</tool_call>",
        "data: [DONE]\n\n",
        "{\"a\": [1, 2",
        "</think>",
    ]);
    prop_oneof![
        12 => "[a-z ,.]{1,30}",
        8 => odd.prop_map(str::to_owned),
        4 => "\\PC{0,40}",
        1 => (1000..60_000_usize).prop_map(|length| "x".repeat(length)),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    (call_id(), tool_name(), call_input()).prop_map(|(id, name, input)| Call { id, name, input })
}

/// Ids as providers make them, and as they do not. The pool is small, so ids repeat.
fn call_id() -> impl Strategy<Value = CallId> {
    let pool = vec![
        "toolu_01A".to_owned(),
        "call_1".to_owned(),
        "abcDEF123".to_owned(),
        "call_0123456789abcdef0123456789abcdef".to_owned(),
        String::new(),
        "has a blank".to_owned(),
        "functions.view:0".to_owned(),
        "ünïcode".to_owned(),
        "x".repeat(100),
        format!("{}1", "y".repeat(64)),
        format!("{}2", "y".repeat(64)),
    ];
    prop_oneof![
        1 => select(pool).prop_map(CallId::new),
        1 => "call_[a-z0-9]{8,24}".prop_map(CallId::new),
    ]
}

fn tool_name() -> impl Strategy<Value = String> {
    let odd = vec![
        String::new(),
        "has a blank".to_owned(),
        "9lives".to_owned(),
        "mcp.server/tool".to_owned(),
        "wörk".to_owned(),
        "n".repeat(140),
    ];
    prop_oneof![
        5 => select(vec!["view", "bash", "edit", "mcp_docs_search"]).prop_map(str::to_owned),
        1 => select(odd),
    ]
}

fn call_input() -> impl Strategy<Value = CallInput> {
    let sound = object().prop_map(CallInput::sound);
    let repaired = (object(), text()).prop_map(|(value, original)| CallInput {
        value,
        mended: Some(Mended::Repaired(original)),
    });
    let broken = text().prop_map(|original| CallInput {
        value: Map::new(),
        mended: Some(Mended::Broken(original)),
    });
    prop_oneof![6 => sound, 1 => repaired, 1 => broken]
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        vec(any::<u8>().prop_map(Value::from), 0..3).prop_map(Value::from),
    ];
    vec(("[a-z_]{1,8}", leaf), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

fn result() -> impl Strategy<Value = CallResult> {
    (call_id(), tool_name(), outcome(), pieces()).prop_map(|(call, name, outcome, pieces)| {
        CallResult { call, name, outcome, pieces, shown: None }
    })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    select(vec![Outcome::Done, Outcome::Done, Outcome::Failed])
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = prop_oneof![
        5 => text().prop_map(|text| Piece::Text { text }),
        1 => file().prop_map(Piece::File),
    ];
    vec(piece, 0..3)
}

fn file() -> impl Strategy<Value = File> {
    let media = select(vec![
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/tiff",
        "image/svg+xml",
        "application/pdf",
        "text/plain",
        "application/octet-stream",
        "",
    ]);
    let name = prop_oneof![
        2 => Just(None),
        1 => select(vec!["a.png", "we/ird  näme.pdf", ""]).prop_map(|name| Some(name.to_owned())),
    ];
    let source = select(vec![
        FileSource::Base64(PNG.to_owned()),
        FileSource::Base64(PNG.to_owned()),
        FileSource::Base64("aGVsbG8=".to_owned()),
        FileSource::Base64(String::new()),
        FileSource::Url("https://example.com/a.png".to_owned()),
    ]);
    (media, name, source).prop_map(|(media_type, name, source)| File {
        media_type: media_type.to_owned(),
        name,
        source,
    })
}

#[cfg(test)]
mod tests {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn every_promised_shape_turns_up() {
        let maker = Maker { provider: "p".into(), model: "m".into(), wire: "w".into() };
        let strategy = turns(strange_natives(&[maker]));
        let mut runner = TestRunner::deterministic();
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..300 {
            let turns = strategy.new_tree(&mut runner).unwrap().current();
            if turns.first().is_some_and(|turn| turn.role == Role::Assistant) {
                seen.insert("assistant first");
            }
            if turns.windows(2).any(|pair| pair[0].role == pair[1].role) {
                seen.insert("twice in a row");
            }
            if turns.iter().any(|turn| turn.parts.is_empty()) {
                seen.insert("empty turn");
            }
            let json = serde_json::to_string(&turns).unwrap();
            for (mark, name) in [
                ("\"repaired\"", "repaired input"),
                ("\"broken\"", "broken input"),
                ("\"failed\"", "failed result"),
                ("\"type\":\"opaque\"", "opaque"),
                ("\"native\"", "sidecar"),
                ("image/tiff", "odd picture"),
            ] {
                if json.contains(mark) {
                    seen.insert(name);
                }
            }
        }
        assert_eq!(seen.len(), 9, "{seen:?}");
    }
}
