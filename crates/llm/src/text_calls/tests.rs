use base::CallId;
use base::transcript::CallInput;
use proptest::prelude::*;

use super::*;

fn call(name: &str, arguments: &str) -> Spoken {
    Spoken::Call { name: name.into(), arguments: arguments.into() }
}

fn said(text: &str) -> Spoken {
    Spoken::Text(text.into())
}

/// Splits `text` fed in pieces of so many characters, with neighbours joined.
fn split(text: &str, size: usize) -> Vec<Spoken> {
    let mut splitter = Splitter::new(true);
    let mut all: Vec<Spoken> = Vec::new();
    let letters: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    for piece in letters.chunks(size.max(1)) {
        splitter.push(&piece.iter().collect::<String>(), &mut out);
    }
    splitter.finish(&mut out);
    for one in out {
        match (all.last_mut(), one) {
            (Some(Spoken::Text(so_far)), Spoken::Text(more))
            | (Some(Spoken::Thought(so_far)), Spoken::Thought(more)) => so_far.push_str(&more),
            (_, one) => all.push(one),
        }
    }
    all
}

fn check(text: &str, expected: &[Spoken]) {
    for size in [1, 2, 3, 5, 8, 13, text.len()] {
        assert_eq!(split(text, size), expected, "pieces of {size}: {text}");
    }
}

#[test]
fn every_trained_form_is_a_call() {
    let src = r#"{"path":"src"}"#;
    let ls = [call("ls", src)];
    check(r#"<tool_call>{"name":"ls","arguments":{"path":"src"}}</tool_call>"#, &ls);
    check("<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"src\"}}\n</tool_call>", &ls);
    check(r#"<tool_call>{"name":"ls","arguments":"{\"path\":\"src\"}"}</tool_call>"#, &ls);
    check(r#"<tool_call>{"function":{"name":"ls","arguments":{"path":"src"}}}</tool_call>"#, &ls);
    check(
        "<tool_call>\n<function=ls>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>",
        &ls,
    );
    check("<function=ls><parameter=path>src</parameter></function>", &ls);
    check(r#"<function=ls>{"path":"src"}</function>"#, &ls);
    check("<tool_call>ls\n<arg_key>path</arg_key>\n<arg_value>src</arg_value>\n</tool_call>", &ls);
    check(
        "<function_calls>\n<invoke name=\"ls\">\n<parameter name=\"path\">src</parameter>\n</invoke>\n</function_calls>",
        &ls,
    );
    check(r#"[TOOL_CALLS][{"name":"ls","arguments":{"path":"src"}}]"#, &ls);
    check(r#"[TOOL_CALLS]ls[ARGS]{"path":"src"}"#, &ls);
    check(r#"<|python_tag|>{"name":"ls","parameters":{"path":"src"}}"#, &ls);
    check(r#"<|python_tag|>{"name":"ls","parameters":{"path":"src"}}<|eom_id|>"#, &ls);
    check(r#"{"name":"ls","parameters":{"path":"src"}}"#, &ls);
    check(r#"{"type":"function","name":"ls","parameters":{"path":"src"}}"#, &ls);
    check("```json\n{\"name\":\"ls\",\"arguments\":{\"path\":\"src\"}}\n```", &ls);
    check("```tool_call\n{\"name\":\"ls\",\"arguments\":{\"path\":\"src\"}}\n```", &ls);
    check(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{\"path\":\"src\"}<|tool_call_end|><|tool_calls_section_end|>",
        &ls,
    );
    check(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{\"path\":\"src\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        &ls,
    );
    check(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{\"path\":\"src\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        &ls,
    );
}

#[test]
fn several_calls_keep_their_order_and_the_text_around_them() {
    let two = [call("a", "{}"), call("b", "{}")];
    let (a, b) = (r#"{"name":"a","arguments":{}}"#, r#"{"name":"b","arguments":{}}"#);
    check(&format!("<tool_call>{a}</tool_call>\n<tool_call>{b}</tool_call>"), &two);
    check(&format!("<tool_call>{a}\n{b}</tool_call>"), &two);
    check(&format!("<tool_call>{a}\n<tool_call>{b}</tool_call>"), &two);
    check(&format!("[TOOL_CALLS][{a},{b}]"), &two);
    check(&format!("<|python_tag|>{a}; {b}"), &two);
    check(&format!("[{a},{b}]"), &two);
    check(
        &format!("First.\n<tool_call>{a}</tool_call>\nThen.\n<tool_call>{b}</tool_call>"),
        &[said("First.\n"), call("a", "{}"), said("Then.\n"), call("b", "{}")],
    );
}

#[test]
fn a_tag_inside_code_is_code() {
    for text in [
        "Write `<tool_call>{}</tool_call>` to call.",
        "```xml\n<tool_call>{\"name\":\"ls\",\"arguments\":{}}</tool_call>\n```\nDone.",
        "```json\n{\"a\": 1}\n```\nDone.",
        "If a < b and c[0] then `x`.",
        "{\"answer\": 42}",
        "[1, 2, 3]",
        "{\"name\": \"Bob\", \"age\": 7}",
        "<b>bold</b>",
    ] {
        check(text, &[said(text)]);
    }
}

#[test]
fn thoughts_are_taken_out() {
    let expected = [Spoken::Thought("Hm <x> `y`.".into()), said("Four.")];
    check("<think>\nHm <x> `y`.</think>\n\nFour.", &expected);
    check("<thinking>Hm <x> `y`.</thinking>Four.", &expected);
    check("Hm.</think>Four.", &[said("Hm.Four.")]);
    let mut splitter = Splitter::new(false);
    let mut out = Vec::new();
    splitter.push("<think>Hm</think><tool_call>", &mut out);
    splitter.finish(&mut out);
    assert_eq!(out, [Spoken::Thought("Hm".into()), said("<tool_call>")]);
}

#[test]
fn what_the_end_cuts_off_is_used_as_far_as_it_goes() {
    check(
        r#"<tool_call>{"name":"ls","arguments":{"path":"src"}}"#,
        &[call("ls", r#"{"path":"src"}"#)],
    );
    check(r#"<tool_call>{"name":"ls","arguments":{"path":"sr"#, &[call("ls", r#"{"path":"sr"#)]);
    check(r#"<tool_call>{"name":"ls","#, &[said(r#"{"name":"ls","#)]);
    check("Hello <tool_ca", &[said("Hello ")]);
    check("a <", &[said("a <")]);
    check("<function=ls", &[said("ls")]);
    check("<think>Hm", &[Spoken::Thought("Hm".into())]);
}

#[test]
fn a_call_nobody_can_read_reaches_the_model_as_one() {
    check("<tool_call>{oops}</tool_call>", &[call("", "{oops}")]);
    check(
        "<tool_call>{\"name\": \"ls\", \"arguments\": {'path': 'src'}}</tool_call>",
        &[call("ls", "{'path': 'src'}")],
    );
    check("<tool_call>words</tool_call>", &[said("words")]);
}

#[test]
fn the_prompt_says_how_to_call() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = ToolSpec { name: "ls".into(), description: "Lists a folder.".into(), schema };
    let tools = [tool];
    insta::assert_snapshot!(prompt(&tools, &ToolChoice::Auto).unwrap(), @r#"
    # Tools

    To call a tool, write one line of this form, the object being valid JSON:
    <tool_call>{"name": "<tool>", "arguments": {…}}</tool_call>
    Write one such line for each call, then stop; the results come back inside <tool_result> tags. Never write a <tool_result> yourself. Call a tool when you need it; otherwise just answer.

    The tools, one JSON object a line, `parameters` being the JSON Schema of `arguments`:
    {"name":"ls","description":"Lists a folder.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}
    "#);
    assert_eq!(prompt(&tools, &ToolChoice::Never), None);
    assert_eq!(prompt(&[], &ToolChoice::Auto), None);
    let named = prompt(&tools, &ToolChoice::Named("ls".into())).unwrap();
    assert!(named.contains("must call the tool `ls`"));
}

#[test]
fn what_we_write_we_can_read() {
    let input = CallInput::sound(json!({"path": "a </tool> b"}).as_object().unwrap().clone());
    let past = Call { id: CallId::new("1"), name: "ls".into(), input };
    check(&call_text(&past), &[call("ls", r#"{"path":"a </tool> b"}"#)]);
    assert_eq!(
        result_text("ls", "gone", true),
        "<tool_result name=\"ls\" failed=\"true\">\ngone\n</tool_result>"
    );
}

proptest! {
    #[test]
    fn the_pieces_do_not_matter(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<tool_call>", "</tool_call>", r#"{"name":"ls","arguments":{}}"#, "text ", "`", "```json\n", "\n```",
            "\n", "<think>", "</think>", "<", "[", "[TOOL_CALLS]", "```\n", "é", "<function=x>", "</function>", "{", " ",
        ]), 0..12),
        size in 1..9_usize,
    ) {
        let text = pieces.concat();
        prop_assert_eq!(split(&text, size), split(&text, text.len()));
    }
}
