//! Bedrock Converse: answers in every state of repair.

use llm::Class;
use proptest::prelude::*;
use serde_json::json;
use settings::provider::Wire;

use crate::targets::{check_order, decode, decode_whole, shown, target};

fn bedrock() -> llm::Target {
    target(Wire::BedrockConverse)
}

#[test]
fn a_thought_keeps_its_signature_and_a_hidden_one_its_bytes() {
    let events = [
        ("messageStart", r#"{"role":"assistant"}"#),
        (
            "contentBlockDelta",
            r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"hm"}}}"#,
        ),
        (
            "contentBlockDelta",
            r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"sig"}}}"#,
        ),
        ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
        (
            "contentBlockDelta",
            r#"{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"AAA="}}}"#,
        ),
        ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"text":"yes"}}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":2}"#),
        ("messageStop", r#"{"stopReason":"end_turn"}"#),
        (
            "metadata",
            r#"{"usage":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheWriteInputTokens":4}}"#,
        ),
    ];
    let streamed = decode(&bedrock(), events.map(|(name, data)| (name, data.as_bytes()))).unwrap();
    let whole = br#"{"output":{"message":{"role":"assistant","content":[
        {"reasoningContent":{"reasoningText":{"text":"hm","signature":"sig"}}},
        {"reasoningContent":{"redactedContent":"AAA="}},
        {"text":"yes"}]}},"stopReason":"end_turn",
        "usage":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheWriteInputTokens":4}}"#;
    let whole = decode_whole(&bedrock(), whole).unwrap();
    assert_eq!(shown(&streamed), shown(&whole));
    let expected = json!([
        { "thought": "hm", "native": { "signature": "sig" } },
        { "thought": "", "native": { "redacted": "AAA=" } },
        { "text": "yes" },
    ]);
    assert_eq!(shown(&whole)["parts"], expected);
    assert_eq!(whole.usage.prompt(), 8);
}

#[test]
fn an_answer_that_breaks_off_is_an_error_and_so_is_an_exception() {
    let text = ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"yes"}}"#);
    let cut = decode(&bedrock(), [(text.0, text.1.as_bytes())]).unwrap_err();
    assert_eq!(cut.class, Class::Network);
    let thrown = ("modelStreamErrorException", r#"{"message":"broke"}"#);
    let events = [text, thrown].map(|(name, data)| (name, data.as_bytes()));
    let error = decode(&bedrock(), events).unwrap_err();
    assert_eq!((error.class, error.message.as_str()), (Class::Server, "broke"));
}

proptest! {
    #[test]
    fn events_in_any_order_give_deltas_in_order(
        order in prop::collection::vec(0_usize..8, 0..20),
    ) {
        let pool = [
            ("messageStart", r#"{"role":"assistant"}"#),
            ("contentBlockStart", r#"{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t","name":"x"}}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"text":"yes"}}"#),
            ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"reasoningContent":{"signature":"s"}}}"#),
            ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
            ("messageStop", r#"{"stopReason":"end_turn"}"#),
            ("metadata", r#"{"usage":{"inputTokens":1}}"#),
        ];
        let events: Vec<_> = order.iter().map(|&at| pool[at]).collect();
        prop_assert_eq!(check_order(&bedrock(), &events), Ok(()));
    }
}
