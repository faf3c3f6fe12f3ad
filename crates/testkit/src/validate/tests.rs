//! Every rule has an example that breaks it, and a body without a fault beside it.

use serde_json::{Value, json};

use super::*;

/// A change that breaks a rule, and words the complaint must hold.
type Case = (&'static str, Value, &'static str);

/// Sets each pointer of `changes` in a good body, and expects the complaint.
fn each(wire: Wire, good: &Value, rules: &Rules, cases: &[Case]) {
    assert_eq!(request(wire, good, rules), Vec::new(), "the good body");
    for (pointer, value, words) in cases {
        let mut body = good.clone();
        put(&mut body, pointer, value.clone());
        let found = request(wire, &body, rules);
        let told = found.iter().any(|violation| violation.to_string().contains(words));
        assert!(told, "{pointer} = {value}: wanted `{words}`, got {found:?}");
    }
}

/// Sets, appends (`/-`) or, with null, removes what a pointer names.
fn put(body: &mut Value, pointer: &str, value: Value) {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = body.pointer_mut(parent).unwrap();
    if let Some(list) = parent.as_array_mut() {
        match field.parse::<usize>() {
            Err(_) => list.push(value),
            Ok(at) if value.is_null() => drop(list.remove(at)),
            Ok(at) => list[at] = value,
        }
        return;
    }
    let fields = parent.as_object_mut().unwrap();
    if value.is_null() {
        fields.remove(field).unwrap();
    } else {
        fields.insert(field.to_owned(), value);
    }
}

fn sealed() -> Rules {
    Rules { issued: Some(["c2VhbA=="].into_iter().collect()), ..Rules::default() }
}

fn anthropic_body() -> Value {
    json!({
        "model": "claude-sonnet-4-6", "max_tokens": 4096, "stream": true,
        "system": [{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }],
        "thinking": { "type": "enabled", "budget_tokens": 2048 },
        "tools": [{ "name": "view", "description": "d", "input_schema": { "type": "object", "properties": {} } }],
        "tool_choice": { "type": "auto" },
        "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "look" },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "aGk=" } }] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "hm", "signature": "c2VhbA==" },
                { "type": "tool_use", "id": "toolu_1", "name": "view", "input": {} }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "toolu_1", "content": [{ "type": "text", "text": "ok" }] },
                { "type": "text", "text": "go on" }] },
        ],
    })
}

#[test]
fn anthropic_rules_for_messages_are_each_enforced() {
    let blank = json!({ "type": "text", "text": " \n" });
    each(
        Wire::AnthropicMessages,
        &anthropic_body(),
        &sealed(),
        &[
            ("/model", Value::Null, "model: must be a string"),
            ("/max_tokens", json!(0), "max_tokens: must be"),
            ("/anthropic_version", json!("bedrock-2023-05-31"), "stands in the path"),
            ("/max_token", json!(5), "no field of this wire"),
            ("/messages", json!([]), "messages: must not be empty"),
            ("/messages/0/role", json!("system"), "must be user or assistant"),
            ("/messages/0", Value::Null, "first turn must be the user's"),
            ("/messages/-", json!({ "role": "user", "content": "x" }), "must alternate"),
            ("/messages/0/content", json!([]), "must not be empty"),
            ("/messages/0/content", json!(""), "must not be empty"),
            ("/messages/0/content/-", blank, "more than white space"),
            ("/messages/0/content/-", json!({ "type": "video" }), "is no content block"),
            ("/messages/0/content/1/source/media_type", json!("image/bmp"), "no media type"),
            ("/messages/0/content/1/source/data", json!("%%"), "must be base64"),
            ("/messages/0/content/-", json!({ "type": "thinking" }), "is not the user's"),
            ("/messages/1/content/0/signature", json!("x"), "not handed out"),
            ("/messages/1/content/0/signature", Value::Null, "signature: must be a string"),
            ("/messages/1/content/1/id", json!("a b"), "is no id here"),
            ("/messages/1/content/1/input", json!("{}"), "must be an object"),
            ("/messages/1/content/1/name", json!("a b"), "is no name for a tool"),
            (
                "/messages/1/content/-",
                json!({ "type": "tool_use", "id": "toolu_2", "name": "view", "input": {} }),
                "`toolu_2` has no tool_result",
            ),
            (
                "/messages/1/content/-",
                json!({ "type": "tool_use", "id": "toolu_1", "name": "view", "input": {} }),
                "is there twice",
            ),
            ("/messages/2/content/0", Value::Null, "`toolu_1` has no tool_result"),
            ("/messages/2", Value::Null, "`toolu_1` has no tool_result"),
            (
                "/messages/2/content/-",
                json!({ "type": "tool_result", "tool_use_id": "toolu_1" }),
                "a second time",
            ),
            (
                "/messages/2/content/-",
                json!({ "type": "tool_result", "tool_use_id": "other" }),
                "does not call",
            ),
            (
                "/messages/2/content",
                json!([{ "type": "text", "text": "first" },
                    { "type": "tool_result", "tool_use_id": "toolu_1" }]),
                "must stand before",
            ),
            (
                "/messages/2/content/0",
                json!({ "type": "tool_result", "tool_use_id": "toolu_1", "is_error": true }),
                "must say what went wrong",
            ),
            (
                "/messages/2/content/0",
                json!({ "type": "tool_result", "tool_use_id": "toolu_1", "is_error": true,
                    "content": [{ "type": "image" }] }),
                "holds text only",
            ),
            ("/messages/2/content/0/content/0/text", json!(""), "must not be empty"),
            (
                "/messages/-",
                json!({ "role": "assistant", "content": "x " }),
                "end with white space",
            ),
            ("/messages/-", json!({ "role": "assistant", "content": "x" }), "with thinking on"),
        ],
    );
}

#[test]
fn anthropic_rules_for_settings_are_each_enforced() {
    let mark = json!([
        { "type": "text", "text": "a", "cache_control": { "type": "ephemeral" } },
        { "type": "text", "text": "a", "cache_control": { "type": "ephemeral" } },
        { "type": "text", "text": "a", "cache_control": { "type": "ephemeral" } },
        { "type": "text", "text": "a", "cache_control": { "type": "ephemeral" } },
    ]);
    each(
        Wire::AnthropicMessages,
        &anthropic_body(),
        &sealed(),
        &[
            ("/system", json!(""), "system: must not be empty"),
            ("/system/0/text", json!(" "), "more than white space"),
            ("/system/0/cache_control/type", json!("forever"), "must be ephemeral"),
            ("/system/0/cache_control/ttl", json!("2h"), "5m or 1h"),
            ("/messages/0/content", mark, "at most 4"),
            ("/messages/1/content/0/cache_control", json!({ "type": "ephemeral" }), "on a thought"),
            ("/thinking/budget_tokens", json!(1000), "at least 1024"),
            ("/thinking/budget_tokens", json!(4096), "less than max_tokens"),
            ("/thinking/type", json!("deep"), "no way to think"),
            ("/temperature", json!(0.5), "must be 1 with thinking"),
            ("/temperature", json!(1.5), "from 0 to 1"),
            ("/top_k", json!(5), "cannot be set with thinking"),
            ("/tool_choice/type", json!("any"), "forced call"),
            ("/tool_choice/type", json!("maybe"), "is no choice"),
            ("/tool_choice", json!({ "type": "tool", "name": "edit" }), "names no tool"),
            ("/tools", Value::Null, "needs tools"),
            ("/tools/0/name", json!("a.b"), "is no name for a tool"),
            ("/tools/0/input_schema/type", json!("string"), "of type object"),
            (
                "/tools/-",
                json!({ "name": "view", "input_schema": { "type": "object" } }),
                "is there twice",
            ),
            ("/stop_sequences", json!([" "]), "more than white space"),
        ],
    );
}

#[test]
fn chat_rules_are_each_enforced() {
    let good = json!({
        "model": "gpt-5", "stream": true, "stream_options": { "include_usage": true },
        "max_completion_tokens": 100, "tool_choice": "auto", "reasoning_effort": "low",
        "tools": [{ "type": "function", "function": { "name": "view", "parameters": { "type": "object" } } }],
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": [{ "type": "text", "text": "look" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,aGk=" } }] },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "call_1", "type": "function", "function": { "name": "view", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "call_1", "content": "ok" },
        ],
    });
    let call = json!({ "id": "call_2", "type": "function", "function": { "name": "view", "arguments": "{}" } });
    let long = "c".repeat(41);
    each(
        Wire::OpenaiChat,
        &good,
        &sealed(),
        &[
            ("/model", json!(""), "model: must not be empty"),
            ("/messages", json!([]), "messages: must not be empty"),
            ("/thinking", json!({}), "thinking: is no field"),
            ("/messages/2/reasoning_content", json!("hm"), "reasoning_content: is no field"),
            ("/messages/1/role", json!("human"), "is no role"),
            ("/messages/0/content", json!(""), "must not be empty"),
            ("/messages/1/content", json!([]), "must not be empty"),
            ("/messages/1/content/0/text", json!(""), "must not be empty"),
            ("/messages/1/content/-", json!({ "type": "video_url" }), "is no content part"),
            ("/messages/1/content/1/image_url/url", json!("file:///x"), "http(s) or data URL"),
            (
                "/messages/1/content/1/image_url/url",
                json!("data:image/bmp;base64,aGk="),
                "media type",
            ),
            (
                "/messages/1/content/1/image_url/url",
                json!("data:image/png;base64,%"),
                "hold base64",
            ),
            ("/messages/1", Value::Null, "nobody asks"),
            ("/messages/-", json!({ "role": "assistant", "content": "" }), "says nothing"),
            ("/messages/2/tool_calls", json!([]), "must not be empty"),
            ("/messages/2/tool_calls/0/id", json!(""), "1 to 40 characters"),
            ("/messages/2/tool_calls/0/id", json!(long), "1 to 40 characters"),
            ("/messages/2/tool_calls/0/function/name", json!("a b"), "is no name for a tool"),
            ("/messages/2/tool_calls/0/function/arguments", json!("{"), "text of a JSON object"),
            ("/messages/2/tool_calls/-", call, "call `call_2` has no answer"),
            ("/messages/3", Value::Null, "call `call_1` has no answer"),
            ("/messages/3/role", json!("user"), "before the answer to call `call_1`"),
            (
                "/messages/-",
                json!({ "role": "tool", "tool_call_id": "call_1", "content": "again" }),
                "which no open call has",
            ),
            ("/messages/3/content", json!([{ "type": "image_url" }]), "must be a text part"),
            (
                "/messages/2/reasoning_details",
                json!([{ "type": "reasoning.text", "text": "x", "signature": "foreign" }]),
                "not handed out",
            ),
            ("/tools", json!([]), "must not be empty"),
            ("/tools/0/function/parameters/type", json!("array"), "of type object"),
            ("/tools/0/function/name", json!("n".repeat(65)), "is no name for a tool"),
            ("/tool_choice", json!("any"), "is no choice"),
            (
                "/tool_choice",
                json!({ "type": "function", "function": { "name": "edit" } }),
                "names no tool",
            ),
            ("/tools", Value::Null, "needs tools"),
            ("/stream", Value::Null, "needs stream"),
            ("/max_tokens", json!(5), "beside max_completion_tokens"),
            ("/max_completion_tokens", json!(0), "at least 1"),
            ("/temperature", json!(3), "from 0 to 2"),
            ("/stop", json!(["a", "b", "c", "d", "e"]), "at most 4"),
            ("/reasoning_effort", json!("hard"), "is no effort"),
        ],
    );
    let nine = Rules { call_id: Some(CallIdForm::Nine), ..Rules::default() };
    assert!(!chat::check(&good, &nine).is_empty(), "Mistral's ids have nine characters");
    let compatible = Rules { server: super::Server::Compatible, ..Rules::default() };
    let mut any = good;
    any["tool_choice"] = json!("any");
    assert_eq!(chat::check(&any, &compatible), Vec::new());
}

#[test]
fn responses_rules_are_each_enforced() {
    let good = json!({
        "model": "gpt-5", "store": false, "stream": true, "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 64, "reasoning": { "effort": "low", "summary": "auto" },
        "tools": [{ "type": "function", "name": "view", "parameters": { "type": "object",
            "properties": {}, "additionalProperties": false, "required": [] }, "strict": true }],
        "tool_choice": "auto",
        "input": [
            { "role": "developer", "content": "Be brief." },
            { "role": "user", "content": [{ "type": "input_text", "text": "look" },
                { "type": "input_image", "image_url": "data:image/png;base64,aGk=" }] },
            { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA==" },
            { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "view", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "call_1", "output": "ok" },
        ],
    });
    each(
        Wire::OpenaiResponses,
        &good,
        &sealed(),
        &[
            ("/model", Value::Null, "model: must be a string"),
            ("/messages", json!([]), "no field of this wire"),
            ("/input", json!([]), "input: must not be empty"),
            ("/input", json!(""), "input: must not be empty"),
            ("/input/1/role", json!("tool"), "is no role"),
            ("/input/1/content", json!([]), "must not be empty"),
            ("/input/1/content/0/text", json!(""), "must not be empty"),
            ("/input/1/content/0/type", json!("output_text"), "cannot stand in a message"),
            ("/input/1/content/1/image_url", json!("data:image/bmp;base64,aGk="), "media type"),
            ("/input/-", json!({ "type": "thought" }), "is no item"),
            ("/input/2/summary", Value::Null, "summary: must be a list"),
            ("/input/2/encrypted_content", json!("foreign"), "not handed out"),
            ("/input/2/encrypted_content", Value::Null, "when nothing is stored"),
            ("/input/2/id", json!("msg_1"), "must begin with rs"),
            ("/input/3/id", json!("call_1"), "must begin with fc"),
            ("/input/3/arguments", json!("nope"), "text of a JSON object"),
            ("/input/3/name", json!("a b"), "is no name for a tool"),
            ("/input/3/call_id", json!("c".repeat(65)), "more than 64"),
            ("/input/4", Value::Null, "call `call_1` has no output"),
            ("/input/3", Value::Null, "needs the item it led to"),
            ("/input/3", Value::Null, "which no open call has"),
            (
                "/input/-",
                json!({ "type": "function_call", "call_id": "call_1", "name": "view", "arguments": "{}" }),
                "is there twice",
            ),
            ("/input/4/output", json!([]), "must not be empty"),
            ("/tools/0/parameters/type", json!("string"), "of type object"),
            (
                "/tools/0/parameters/properties/a",
                json!({ "type": "string" }),
                "require every property",
            ),
            (
                "/tools/0/parameters/additionalProperties",
                json!(true),
                "additionalProperties to false",
            ),
            ("/tool_choice", json!("any"), "is no choice"),
            ("/tool_choice", json!({ "type": "function", "name": "edit" }), "names no tool"),
            ("/tools", Value::Null, "needs tools"),
            ("/max_output_tokens", json!(15), "at least 16"),
            ("/reasoning/effort", json!("hard"), "is no effort"),
            ("/reasoning/summary", json!("long"), "no way to summarise"),
            ("/include/-", json!("all"), "nothing that can be included"),
            ("/prompt_cache_key", json!("k".repeat(65)), "more than 64"),
            ("/temperature", json!(3), "from 0 to 2"),
        ],
    );
}

#[test]
fn gemini_rules_are_each_enforced() {
    let good = json!({
        "systemInstruction": { "parts": [{ "text": "Be brief." }] },
        "generationConfig": { "maxOutputTokens": 100, "thinkingConfig": { "thinkingBudget": 1024 } },
        "tools": [{ "functionDeclarations": [
            { "name": "view", "parameters": { "type": "object", "properties": { "a": { "type": "string" } } } }] }],
        "toolConfig": { "functionCallingConfig": { "mode": "AUTO" } },
        "contents": [
            { "role": "user", "parts": [{ "text": "look" },
                { "inlineData": { "mimeType": "image/png", "data": "aGk=" } }] },
            { "role": "model", "parts": [
                { "functionCall": { "name": "view", "args": {} }, "thoughtSignature": "c2VhbA==" }] },
            { "role": "user", "parts": [{ "functionResponse": { "name": "view", "response": { "output": "ok" } } }] },
        ],
    });
    let rules = Rules { model: Some("gemini-3-pro-preview".to_owned()), ..sealed() };
    let answer = json!({ "functionResponse": { "name": "view", "response": {} } });
    each(
        Wire::Gemini,
        &good,
        &rules,
        &[
            ("/messages", json!([]), "no field of this wire"),
            ("/contents", json!([]), "contents: must not be empty"),
            ("/contents/0/role", json!("assistant"), "must be user or model"),
            ("/contents/0", Value::Null, "first turn must be the user's"),
            (
                "/contents/-",
                json!({ "role": "user", "parts": [{ "text": "x" }] }),
                "must alternate",
            ),
            ("/contents/-", json!({ "role": "model", "parts": [{ "text": "x" }] }), "last turn"),
            ("/contents/0/parts", json!([]), "must not be empty"),
            ("/contents/0/parts/0/text", json!(""), "text: must not be empty"),
            ("/contents/0/parts/0", json!({}), "must hold something"),
            ("/contents/0/parts/0/fileData", json!({ "fileUri": "x" }), "exactly one thing"),
            ("/contents/0/parts/1/inlineData/mimeType", json!("image/tiff"), "no media type"),
            ("/contents/0/parts/1/inlineData/data", json!("%"), "must be base64"),
            ("/contents/1/parts/0/functionCall/name", json!("a b"), "is no name for a tool"),
            ("/contents/1/parts/0/functionCall/name", json!("9a"), "begin with a letter"),
            ("/contents/1/parts/0/functionCall/args", json!("{}"), "must be an object"),
            ("/contents/1/parts/0/thoughtSignature", json!("Zm9yZWlnbg=="), "not handed out"),
            ("/contents/1/parts/0/thoughtSignature", json!("%"), "must be base64"),
            ("/contents/1/parts/0/thoughtSignature", Value::Null, "needs its thoughtSignature"),
            ("/contents/2/parts/-", answer.clone(), "are answered by"),
            ("/contents/2/parts/0/functionResponse/name", json!("edit"), "are answered by"),
            ("/contents/2", Value::Null, "are answered by"),
            ("/contents/0/parts/-", answer, "which nobody called"),
            ("/contents/2/parts/0/functionResponse/response", json!("ok"), "must be an object"),
            ("/systemInstruction/parts/0/text", json!(""), "must not be empty"),
            ("/tools/0/functionDeclarations/0/name", json!("a/b"), "is no name for a tool"),
            ("/tools/0/functionDeclarations/0/parameters/type", json!("string"), "of type object"),
            (
                "/tools/0/functionDeclarations/0/parameters/$schema",
                json!("x"),
                "no field of this wire",
            ),
            (
                "/tools/0/functionDeclarations/0/parameters/properties/a/const",
                json!("x"),
                "no field of this wire",
            ),
            (
                "/tools/0/functionDeclarations/0/parametersJsonSchema",
                json!({ "type": "object" }),
                "parameters twice",
            ),
            ("/tools/0/functionDeclarations/-", json!({ "name": "view" }), "is there twice"),
            ("/toolConfig/functionCallingConfig/mode", json!("SOME"), "is no mode"),
            (
                "/toolConfig/functionCallingConfig/allowedFunctionNames",
                json!(["view"]),
                "needs mode ANY",
            ),
            (
                "/toolConfig/functionCallingConfig",
                json!({ "mode": "ANY", "allowedFunctionNames": ["edit"] }),
                "names no function",
            ),
            ("/generationConfig/maxOutputTokens", json!(0), "at least 1"),
            ("/generationConfig/temperature", json!(3), "from 0 to 2"),
            (
                "/generationConfig/thinkingConfig/thinkingLevel",
                json!("low"),
                "both a budget and a level",
            ),
            ("/generationConfig/thinkingConfig", json!({ "thinkingLevel": "deep" }), "is no level"),
            ("/generationConfig/thinkingConfig/thinkingBudget", json!(-2), "-1 or more"),
        ],
    );
}

#[test]
fn converse_rules_are_each_enforced() {
    let good = json!({
        "system": [{ "text": "Be brief." }, { "cachePoint": { "type": "default" } }],
        "inferenceConfig": { "maxTokens": 100, "temperature": 0.5 },
        "toolConfig": { "tools": [{ "toolSpec": { "name": "view", "description": "d",
            "inputSchema": { "json": { "type": "object" } } } }], "toolChoice": { "auto": {} } },
        "messages": [
            { "role": "user", "content": [{ "text": "look" },
                { "image": { "format": "png", "source": { "bytes": "aGk=" } } },
                { "document": { "format": "pdf", "name": "a doc", "source": { "bytes": "aGk=" } } }] },
            { "role": "assistant", "content": [
                { "reasoningContent": { "reasoningText": { "text": "hm", "signature": "c2VhbA==" } } },
                { "toolUse": { "toolUseId": "t1", "name": "view", "input": {} } }] },
            { "role": "user", "content": [
                { "toolResult": { "toolUseId": "t1", "status": "success", "content": [{ "text": "ok" }] } }] },
        ],
    });
    let rules = Rules { model: Some("anthropic.claude".to_owned()), ..sealed() };
    let point = json!({ "cachePoint": { "type": "default" } });
    let result = json!({ "toolResult": { "toolUseId": "t1", "content": [{ "text": "again" }] } });
    each(
        Wire::BedrockConverse,
        &good,
        &rules,
        &[
            ("/max_tokens", json!(1), "no field of this wire"),
            ("/messages", json!([]), "messages: must not be empty"),
            ("/messages/0/role", json!("system"), "must be user or assistant"),
            ("/messages/0", Value::Null, "first turn must be the user's"),
            (
                "/messages/-",
                json!({ "role": "user", "content": [{ "text": "x" }] }),
                "must alternate",
            ),
            (
                "/messages/-",
                json!({ "role": "assistant", "content": [{ "text": "x" }] }),
                "last message",
            ),
            ("/messages/0/content", json!([]), "must not be empty"),
            ("/messages/0/content/0/text", json!(" "), "more than white space"),
            ("/messages/0/content/0/cachePoint", json!({}), "exactly one thing"),
            ("/messages/0/content/-", json!({ "sound": {} }), "is no content block"),
            ("/messages/0/content/-", json!({ "toolUse": {} }), "is not the user's"),
            ("/messages/0/content/1/image/format", json!("bmp"), "png, jpeg, gif or webp"),
            ("/messages/0/content/1/image/source/bytes", json!("%"), "must be base64"),
            ("/messages/0/content/2/document/name", json!("a.pdf"), "name may not have"),
            ("/messages/0/content/2/document/format", json!("ps"), "no format"),
            ("/messages/0/content/0", Value::Null, "needs a text beside it"),
            (
                "/messages/1/content/0/reasoningContent/reasoningText/signature",
                json!("foreign"),
                "not handed out",
            ),
            (
                "/messages/1/content/0/reasoningContent/reasoningText/signature",
                Value::Null,
                "signature: must be a string",
            ),
            ("/messages/1/content/0/reasoningContent", json!({}), "either reasoningText"),
            ("/messages/1/content/1/toolUse/toolUseId", json!("a b"), "is no id here"),
            ("/messages/1/content/1/toolUse/input", json!("{}"), "must be an object"),
            ("/messages/1/content/1/toolUse/name", json!("a b"), "is no name for a tool"),
            ("/messages/2", Value::Null, "has no toolResult"),
            ("/messages/2/content/-", result, "a second time"),
            ("/messages/2/content/0/toolResult/toolUseId", json!("t2"), "does not call"),
            ("/messages/2/content/0/toolResult/status", json!("bad"), "success or error"),
            ("/messages/2/content/0/toolResult/content", json!([]), "must not be empty"),
            ("/messages/2/content/0/toolResult/content/0", json!({ "x": 1 }), "exactly one of"),
            ("/system/0/text", json!(""), "must not be empty"),
            ("/system", json!([point, point, point, point, point]), "at most 4"),
            ("/toolConfig", Value::Null, "must be there when messages call tools"),
            ("/toolConfig/tools", json!([]), "must not be empty"),
            (
                "/toolConfig/tools/0/toolSpec/inputSchema/json/type",
                json!("string"),
                "of type object",
            ),
            ("/toolConfig/tools/0/toolSpec/description", json!(""), "must not be empty"),
            ("/toolConfig/toolChoice", json!({ "tool": { "name": "edit" } }), "names no tool"),
            ("/toolConfig/toolChoice", json!({ "none": {} }), "exactly one of auto"),
            ("/inferenceConfig/maxTokens", json!(0), "at least 1"),
            ("/inferenceConfig/topK", json!(1), "no field of this wire"),
            ("/inferenceConfig/temperature", json!(2), "from 0 to 1"),
        ],
    );
}
