use base::transcript::{CallInput, CallResult, Maker, Outcome, PartBody, Piece, ToolSpec, Turn};
use base::{Origin, StopReason};
use serde_json::{Value, json};

use super::*;
use crate::fold::{Answer, Fold};

fn played(request: &Request) -> Answer {
    let maker = Maker { provider: "demo".into(), model: "tour".into(), wire: "demo".into() };
    let mut fold = Fold::new(maker);
    script(request).into_iter().flat_map(|beat| beat.deltas).for_each(|delta| fold.push(delta));
    fold.answer()
}

fn said(prompt: &str) -> Request {
    let turns = vec![Turn { role: Role::User, parts: vec![Part::user_text(prompt)] }];
    Request { turns, ..Request::default() }
}

fn told(prompt: &str) -> String {
    let answer = played(&said(prompt));
    assert_eq!(answer.stop, Some(StopReason::Done));
    assert!(matches!(answer.parts[0].body, PartBody::Reasoning { .. }));
    answer.parts[1].as_text().unwrap().to_owned()
}

/// A request with the tools the script needs.
fn with_tools(prompt: &str) -> Request {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: String::new(),
        schema: json!({ "type": "object" }),
    };
    Request { tools: ["bash", "edit", "ls", "view"].map(tool).to_vec(), ..said(prompt) }
}

/// Plays on until the script has no more calls; `tool` answers them. Gives the calls and the last words.
fn walk(
    request: &mut Request,
    mut tool: impl FnMut(&str, &Value) -> (Outcome, String),
) -> (Vec<String>, String) {
    let mut called = Vec::new();
    loop {
        let answer = played(request);
        let mut results = Vec::new();
        for part in &answer.parts {
            if let PartBody::Call(call) = &part.body {
                assert_eq!(call.input, CallInput::sound(call.input.value.clone()));
                called.push(call.name.clone());
                let (outcome, text) = tool(&call.name, &Value::Object(call.input.value.clone()));
                let result = CallResult {
                    call: call.id.clone(),
                    name: call.name.clone(),
                    outcome,
                    pieces: vec![Piece::Text { text }],
                    shown: None,
                };
                results.push(Part::new(PartBody::Result(result), Origin::Workspace));
            }
        }
        let words: String = answer.parts.iter().filter_map(Part::as_text).collect();
        request.turns.push(Turn { role: Role::Assistant, parts: answer.parts });
        if results.is_empty() {
            assert_eq!(answer.stop, Some(StopReason::Done));
            return (called, words);
        }
        assert_eq!(answer.stop, Some(StopReason::ToolCalls));
        request.turns.push(Turn { role: Role::User, parts: results });
    }
}

#[test]
fn says_that_it_is_a_script_and_repeats_the_prompt() {
    let text = told("what  is\nthis?");
    assert!(text.contains("not an AI"), "{text}");
    assert!(text.contains("You said: \"what is this?\""), "{text}");
}

#[test]
fn a_long_prompt_is_cut_at_a_character() {
    let text = told(&"ü".repeat(500));
    assert!(text.contains(&format!("{}…", "ü".repeat(QUOTE_LIMIT))), "{text}");
}

#[test]
fn without_its_tools_it_only_talks() {
    assert!(told("fix the bug").contains("not an AI"));
}

#[test]
fn looks_tests_mends_and_tests_again() {
    let mut is_mended = false;
    let (called, words) = walk(&mut with_tools("Fix the bug"), |tool, input| match tool {
        "bash" if is_mended => (Outcome::Done, "ok: the largest".to_owned()),
        "bash" => (Outcome::Done, "ok: x\nFAILED: y\nexit code 1".to_owned()),
        "edit" => {
            let source = PROJECT[0].1;
            assert_eq!(source.matches(input["old_string"].as_str().unwrap()).count(), 1);
            is_mended = true;
            (Outcome::Done, "changed".to_owned())
        }
        _ => (Outcome::Done, "…".to_owned()),
    });
    assert_eq!(called, ["ls", "view", "view", "bash", "edit", "bash"]);
    assert!(words.contains("All tests pass now"), "{words}");
}

#[test]
fn a_denied_call_is_told_as_such() {
    for (denied, word) in [("edit", "change the file"), ("bash", "run the tests")] {
        let (_, words) = walk(&mut with_tools("fix it"), |tool, _| match tool {
            _ if tool == denied => (Outcome::Failed, "Permission denied: no".to_owned()),
            "bash" => (Outcome::Done, "FAILED: y".to_owned()),
            _ => (Outcome::Done, String::new()),
        });
        assert!(words.contains(&format!("I could not {word}: Permission denied: no")), "{words}");
        assert!(!words.contains("pass now") && words.contains("--mode acceptEdits"), "{words}");
    }
}

#[test]
fn nothing_is_mended_where_nothing_fails() {
    let (called, words) =
        walk(&mut with_tools("run the tests"), |_, _| (Outcome::Done, "ok: x".into()));
    assert!(!called.contains(&"edit".to_owned()) && words.contains("nothing to fix"), "{words}");
}
