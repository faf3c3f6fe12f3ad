//! A second of damage to every parser, the same in each run. For hours of it see `fuzz/`.

use std::time::Duration;

use settings::provider::Wire;
use testkit::cassette::{self, Exchange};
use testkit::event_stream;
use testkit::fuzz::smoke;

use crate::parsers;

const LIMIT: Duration = Duration::from_secs(1);
const COUNT: usize = 20_000;
/// Recordings to start from, of each wire; more would only be more of the same.
const RECORDINGS: usize = 12;
/// Longer bodies are cut: their ends repeat their beginnings.
const LONGEST_SEED: usize = 2 * 1024;

const SSE: [&str; 4] = [
    "event: message_start\ndata: {\"type\":\"message_start\"}\n\n: ping\n\ndata: [DONE]\n\n",
    "\u{feff}data: a\r\ndata: b\r\rid: 7\nretry: 9\ndata\n\n",
    "data:{\"choices\":[{\"delta\":{\"content\":\"é\"}}]}\n\ndata: {\"cut\":",
    "event: x\n\n:\n\n\n\ndata: y",
];

const ARGUMENTS: [&str; 8] = [
    r#"{"path": "a.txt", "lines": [1, 2.5e3, null, true], "in": {"a": "\u00e9\n"}}"#,
    r"{'path': 'it''s', list: [1,,2], // said
       end: undefined",
    r#"Here it is: ```json
       {"command": "ls -la"}
       ```"#,
    r#""{\"twice\": \"encoded\"}""#,
    r#"[{"alone": 1}]"#,
    "{“smart”: “quotes”, True: False, n: NaN}",
    r#"{"a": "raw
       line", "b": "\ud83e", "c": "\x41"}"#,
    "<arg_key>path</arg_key><arg_value>x</arg_value>",
];

const SPOKEN: [&str; 6] = [
    r#"Text <tool_call>{"name":"ls","arguments":{"path":"src"}}</tool_call> <think>hm</think>"#,
    "```json\n{\"name\":\"ls\",\"arguments\":{}}\n```\n`<think>` é",
    "[TOOL_CALLS][{\"name\":\"ls\",\"arguments\":{}}] <function=ls><parameter=a>b</parameter></function>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{}\n```<｜tool▁call▁end｜>",
    "<|channel|>analysis<|message|>x<|end|><|python_tag|>ls.call(a=\"b\")<|eom_id|>",
    r#"{"name": "ls", "parameters": {"path": "."}}"#,
];

const EVENTS: [&str; 5] = [
    concat!(
        "message_start\t{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":1}}}\n",
        "\t{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n",
        "\t{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\"}}\n",
        "\t{\"type\":\"content_block_stop\",\"index\":0}\n",
        "\t{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n",
        "\t{\"type\":\"message_stop\"}",
    ),
    concat!(
        "\t{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"r\",\"content\":\"<think>a\"}}]}\n",
        "\t{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"ls\",\"arguments\":\"{\"}}]}}]}\n",
        "\t{\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1}}\n\t[DONE]",
    ),
    concat!(
        "\t{\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n",
        "\t{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"f\",\"call_id\":\"c\",\"name\":\"ls\"}}\n",
        "\t{\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{}\"}\n",
        "\t{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"output_tokens\":1}}}",
    ),
    concat!(
        "\t{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true,\"thoughtSignature\":\"s\"}]}}]}\n",
        "\t{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"ls\",\"args\":{}}}]},\"finishReason\":\"STOP\"}]}",
    ),
    concat!(
        "messageStart\t{\"role\":\"assistant\"}\n",
        "contentBlockStart\t{\"contentBlockIndex\":0,\"start\":{\"toolUse\":{\"toolUseId\":\"t\",\"name\":\"ls\"}}}\n",
        "contentBlockDelta\t{\"contentBlockIndex\":0,\"delta\":{\"toolUse\":{\"input\":\"{}\"}}}\n",
        "contentBlockStop\t{\"contentBlockIndex\":0}\nmessageStop\t{\"stopReason\":\"tool_use\"}\n",
        "metadata\t{\"usage\":{\"inputTokens\":1}}",
    ),
];

#[test]
fn a_damaged_event_stream_reads_the_same_however_it_is_cut() {
    let mut seeds = inline(&SSE);
    for wire in Wire::ALL {
        seeds.extend(recorded(wire, "text/event-stream"));
    }
    run(&seeds, parsers::sse);
}

#[test]
fn damaged_frames_read_the_same_however_they_are_cut() {
    let header = b"\x0b:event-type\x07\0\x05chunk";
    let payload = b"{\"bytes\":\"e30=\"}";
    let mut pieces = vec![header.len().to_le_bytes()[0], payload.len().to_le_bytes()[0]];
    pieces.extend([&header[..], payload].concat());
    let mut seeds = vec![pieces, event_stream::event("messageStart", b"{}")];
    seeds.push(event_stream::exception("throttlingException", b"{\"message\":\"slow\"}"));
    seeds.extend(recorded(Wire::BedrockConverse, "application/vnd.amazon.eventstream"));
    run(&seeds, parsers::event_stream);
}

#[test]
fn damaged_arguments_are_read_repaired_or_marked_broken() {
    run(&inline(&ARGUMENTS), parsers::tool_json);
}

#[test]
fn damaged_text_calls_read_the_same_however_they_are_cut() {
    run(&inline(&SPOKEN), parsers::text_calls);
}

#[test]
fn damaged_events_give_deltas_in_order_on_every_wire() {
    for (wire, quirks) in (0_u8..5).flat_map(|wire| [0_u8, 7].map(|quirks| (wire, quirks))) {
        let mut seeds = inline(&EVENTS[usize::from(wire)..=usize::from(wire)]);
        let bodies = recorded(Wire::ALL[usize::from(wire)], "text/event-stream");
        seeds.extend(bodies.iter().map(|body| lines_of(body)));
        let chosen = [wire, quirks];
        let limit = LIMIT / 10;
        let done = smoke(&seeds, COUNT, limit, |bytes| {
            parsers::wire(&[&chosen, bytes].concat());
        });
        assert!(done > 10, "only {done} in {limit:?}");
    }
}

fn run(seeds: &[Vec<u8>], parser: impl FnMut(&[u8])) {
    let done = smoke(seeds, COUNT, LIMIT, parser);
    assert!(done > 10, "only {done} in {LIMIT:?}");
}

fn inline(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// A few recorded bodies of a wire, where there are recordings.
fn recorded(wire: Wire, content_type: &str) -> Vec<Vec<u8>> {
    let Some(exchanges) = cassette::supported().unwrap() else {
        testkit::parts::skipped("no recordings to damage; set CAIMAN_CASSETTES to their folder");
        return Vec::new();
    };
    let fits = |exchange: &&Exchange| {
        let kind = exchange.response.header("content-type").unwrap_or_default();
        exchange.wire() == Some(wire) && kind.starts_with(content_type)
    };
    let cut = |exchange: &Exchange| {
        let mut bytes = exchange.response.bytes();
        bytes.truncate(LONGEST_SEED);
        bytes
    };
    exchanges.iter().filter(fits).step_by(7).take(RECORDINGS).map(cut).collect()
}

/// The data lines of a recorded stream, as [`parsers::wire`] takes them.
fn lines_of(body: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.flat_map(|data| ["\t", data.trim(), "\n"]).collect::<String>().into_bytes()
}
