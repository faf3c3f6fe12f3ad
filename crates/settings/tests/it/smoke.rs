//! A second of damage to every parser, the same in each run. For hours of it see `fuzz/`.

use std::time::Duration;

use testkit::fuzz::smoke;

use crate::parsers;

const LIMIT: Duration = Duration::from_secs(1);
const COUNT: usize = 20_000;

const SETTINGS: [&str; 4] = [
    r#"{ "models": { "large": "anthropic/claude" }, // a comment
       "providers": { "local": { "type": "llamacpp", "base_url": "http://localhost:8080/v1",
       "api_key": "$KEY", "models": [{ "id": "m", "context_window": 8192 }] } } }"#,
    r#"{ "options": { "debug": true }, "permissions": { "allowed_tools": ["view", "ls"] }, }"#,
    r#"{ "providers": { "a": { "extra_headers": { "x": "${Y:-z}" }, "quirks": { "call_id": "nine" },
       "network": { "proxy": "none", "tries": 3 } } }, "providers": 7 }"#,
    "\u{feff}{ /* never closed ",
];

const DEFINITIONS: [&str; 8] = [
    "---\nname: a\ndescription: Use it: often, #1\ntools: Read, Bash(git log:*, ls)\n---\nBody\n",
    "---\nname: 'a'\ndescription: |\n  Two\n  lines\ntools: [Read, \"Write\"]\nmodel: 4\n---\n",
    "  ---\r\n  name: a\r\n  color: #059669\r\n  ---\r\n---\r\nBody",
    "---\nargument-hint: [x] | [y]\ndescription: \"a\\nb\" c\nname: {\n",
    "---\nname: a\ndescription: d\npermissionMode: auto\nmaxTurns: 3\nmcpServers: [x, {y: {command: z}}]\n\
     hooks:\n  Stop:\n    - matcher: x\n      hooks: [{type: command, command: y, timeout: 5}]\n---\nBody",
    "---\ndescription: d\nwhen_to_use: w\nallowed_tools: Read Bash(ls:*)\nuser-invocable: no\neffort: 50\n\
     paths: \"*.{a,b}, c\"\ncontext: fork\n---\nDo $1.",
    r#"{"a": {"description": "d", "prompt": "p", "tools": ["x"]}, "b": []}"#,
    "---\n&a [*a, *a]: &b {<<: *b}\n? - k\n: !!binary x\n---\n",
];

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[test]
fn damaged_settings_are_read_or_complained_about() {
    let done = smoke(&seeds(&SETTINGS), COUNT, LIMIT, parsers::config);
    assert!(done > 10, "only {done} in {LIMIT:?}");
}

#[test]
fn damaged_definition_files_are_read_somehow() {
    let done = smoke(&seeds(&DEFINITIONS), COUNT, LIMIT, parsers::front_matter);
    assert!(done > 10, "only {done} in {LIMIT:?}");
}

#[test]
fn damaged_definitions_are_used_or_complained_about() {
    let done = smoke(&seeds(&DEFINITIONS), COUNT, LIMIT, parsers::definition);
    assert!(done > 10, "only {done} in {LIMIT:?}");
}
