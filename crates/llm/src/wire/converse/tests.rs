use base::transcript::{CallInput, Native, Origin, Outcome, Part, PartBody, Piece, Turn};
use settings::provider::Wire;

use super::*;
use crate::request::{Reasoning, ToolSpec};
use crate::wire::anthropic::tests::{assistant, call, file, result, target, tool, user};

fn body(request: &Request, target: &Target) -> Value {
    encode(request, target).body.into()
}

fn request(turns: Vec<Turn>) -> Request {
    Request { turns, ..Request::default() }
}

#[test]
fn a_conversation_with_calls_is_written_as_converse_wants_it() {
    let target = target(Wire::BedrockConverse);
    let turns = vec![
        user(vec![Part::user_text("go")]),
        assistant(vec![Part::assistant_text("looking"), call("c 1", CallInput::default())]),
        user(vec![result("c 1", Outcome::Failed, vec![Piece::Text { text: "no".into() }])]),
    ];
    let asked = Request {
        system: vec!["be kind".into()],
        tools: vec![tool(), ToolSpec { description: String::new(), ..tool() }],
        tool_choice: ToolChoice::Required,
        stop_sequences: vec!["STOP".into()],
        ..request(turns)
    };
    let schema = json!({ "json": { "type": "object", "properties": {} } });
    let expected = json!({
        "inferenceConfig": { "maxTokens": 32_000, "stopSequences": ["STOP"] },
        "toolConfig": {
            "tools": [
                { "toolSpec": { "name": "look", "inputSchema": schema, "description": "Looks." } },
                { "toolSpec": { "name": "look", "inputSchema": schema } },
            ],
            "toolChoice": { "any": {} },
        },
        "system": [{ "text": "be kind" }],
        "messages": [
            { "role": "user", "content": [{ "text": "go" }] },
            { "role": "assistant", "content": [
                { "text": "looking" },
                { "toolUse": { "toolUseId": "c_1", "name": "look", "input": {} } },
            ]},
            { "role": "user", "content": [
                { "toolResult": {
                    "toolUseId": "c_1", "content": [{ "text": "no" }], "status": "error",
                }},
            ]},
        ],
    });
    assert_eq!(body(&asked, &target), expected);
    let untooled =
        body(&Request { tools: vec![], tool_choice: ToolChoice::Auto, ..asked }, &target);
    assert_eq!(untooled["toolConfig"]["tools"][0]["toolSpec"]["name"], "look");
}

#[test]
fn cache_points_stand_only_where_the_model_caches() {
    let mut target = target(Wire::BedrockConverse);
    let turns = vec![user(vec![Part::user_text("go")])];
    let asked = Request { system: vec!["s".into()], tools: vec![tool()], ..request(turns) };
    assert!(!body(&asked, &target).to_string().contains("cachePoint"));
    target.model.cost_per_1m_out_cached = 0.3;
    let marked = body(&asked, &target);
    assert_eq!(marked.to_string().matches("cachePoint").count(), 3);
    assert_eq!(marked["messages"][0]["content"][1], cache_point());
}

#[test]
fn thinking_goes_into_the_models_own_fields_and_comes_back_signed() {
    let target = target(Wire::BedrockConverse);
    let data = json!({ "signature": "sig" });
    let native = Native { maker: target.maker(), data };
    let thought = PartBody::Reasoning { text: "hm".into() };
    let turns = vec![
        user(vec![Part::user_text("go")]),
        assistant(vec![
            Part::new(thought, Origin::Assistant).with_native(native),
            Part::assistant_text("yes"),
        ]),
        user(vec![Part::user_text("more")]),
    ];
    let body = body(&Request { reasoning: Reasoning::Budget(2000), ..request(turns) }, &target);
    let thinking = json!({ "thinking": { "type": "enabled", "budget_tokens": 2000 } });
    assert_eq!(body["additionalModelRequestFields"], thinking);
    let signed = json!({ "reasoningText": { "text": "hm", "signature": "sig" } });
    assert_eq!(body["messages"][1]["content"][0], json!({ "reasoningContent": signed }));
}

#[test]
fn documents_have_names_of_their_own_and_text_beside_them() {
    let target = target(Wire::BedrockConverse);
    let part = |kind: &str| Part::new(PartBody::File(file(kind, "AAAA")), Origin::User);
    let turns = vec![user(vec![part("application/pdf"), part("text/plain"), part("image/png")])];
    let content = body(&request(turns), &target)["messages"][0]["content"].clone();
    let expected = json!([
        { "document": { "format": "pdf", "name": "a b 1", "source": { "bytes": "AAAA" } } },
        { "document": { "format": "txt", "name": "a b 2", "source": { "bytes": "AAAA" } } },
        { "image": { "format": "png", "source": { "bytes": "AAAA" } } },
        { "text": "See the document." },
    ]);
    assert_eq!(content, expected);
}

#[test]
fn the_path_holds_the_models_id_whatever_is_in_it() {
    let mut target = target(Wire::BedrockConverse);
    target.model.id = "arn:aws:bedrock:us-east-1:1:profile/x".into();
    let path = encode(&request(vec![]), &target).path;
    assert_eq!(path, "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprofile%2Fx/converse-stream");
}
