//! Calls of lent tools: what the server is asked, what the model reads, and whose words those are.

use base::protocol::{Delivery, Op};
use base::transcript::{Outcome, Piece};
use base::{Event, Origin};
use serde_json::json;
use settings::provider::Wire;
use testkit::Script;

use super::lender::{Lender, config, lent, offered, ready, results};
use crate::room::{Plan, Room, text, to_the_end, until};

/// One red point.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

fn plan(script: Script, servers: &[(&str, &Lender)]) -> Plan {
    Plan { config: config(servers), ..Plan::with_tools(script) }
}

#[tokio::test]
async fn a_lent_tool_is_called_and_its_words_are_the_servers() {
    let lender = Lender::new(&json!({
        "instructions": "Add before you look.",
        "tools": [{ "name": "add", "description": "Adds.", "does": [{ "text": "three" }],
            "inputSchema": { "type": "object", "properties": { "a": { "type": "number" } }, "required": ["a"] } }],
    }));
    let script = Script::new().call("mcp_sums_add", json!({ "a": 1 })).then();
    let script = script.call("mcp_sums_add", json!({ "a": 2 })).then().text("Done.");
    let room = ready(plan(script, &[("sums", &lender)])).await;
    room.say("go").await;
    assert_eq!(lent(&room, 0), ["mcp_sums_add", "use_tool"]);
    let results = results(&room).await;
    let texts: Vec<String> = results.iter().map(|(_, result)| text(result)).collect();
    let first = "\"three\\n\\nHow the server sums wants to be used:\\nAdd before you look.\"";
    assert_eq!(texts, [first, "\"three\""]);
    assert!(results.iter().all(|(part, _)| part.origin == Origin::Mcp("sums".to_owned())));
    assert_eq!(lender.called(), ["add", "add"]);
    room.assert_valid();
    room.coordinator.close().await;
}

#[tokio::test]
async fn a_call_by_name_gets_the_schema_where_its_input_does_not_fit() {
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "number" } }, "required": ["a"] });
    let tool = json!({ "name": "add", "description": "Adds.", "inputSchema": schema });
    let lender = Lender::new(&json!({ "tools": [tool] }));
    let by_name = |input| json!({ "name": "mcp_sums_add", "input": input });
    let script = Script::new().call("use_tool", by_name(json!({ "b": 1 }))).then();
    let script = script.call("use_tool", by_name(json!({ "a": 1 }))).then();
    let script = script.call("use_tool", json!({ "name": "sums" })).then();
    let script = script.call("use_tool", json!({ "name": "mcp_sums_sub", "input": {} })).then();
    let script = script.call("use_tool", json!({ "name": "nobody" })).then().text("Done.");
    let mut plan = plan(script, &[("sums", &lender)]);
    plan.config.options.mcp_schema_tokens = 0;
    let room = ready(plan).await;
    room.say("go").await;
    let tools = offered(&room, 0);
    let by_name = tools.iter().find(|(name, _)| name == "use_tool").unwrap();
    let about = by_name.1["description"].as_str().unwrap();
    assert!(about.ends_with("The tools:\n- mcp_sums_add: Adds."), "{about}");
    assert_eq!(lent(&room, 0), ["use_tool"]);
    let results = results(&room).await;
    let read: Vec<(Outcome, String)> =
        results.iter().map(|(_, result)| (result.outcome, text(result))).collect();
    assert_eq!(read[0].0, Outcome::Failed);
    assert!(read[0].1.contains("`a` is missing") && read[0].1.contains("number"), "{}", read[0].1);
    assert_eq!(read[1], (Outcome::Done, "\"{\\\"a\\\": 1}\"".to_owned()));
    assert!(read[2].1.contains("- mcp_sums_add: Adds."), "{}", read[2].1);
    assert!(read[3].1.contains("There is no tool `mcp_sums_sub`"), "{}", read[3].1);
    assert!(read[4].1.contains("The servers are: sums"), "{}", read[4].1);
    assert_eq!(lender.called(), ["add"]);
    room.coordinator.close().await;
}

#[tokio::test]
async fn the_schema_is_told_where_the_server_refuses_the_input_or_none_is_given() {
    let schema = json!({ "type": "object", "properties": { "odd": { "type": "number" } } });
    let tool = |name: &str, does| json!({ "name": name, "inputSchema": schema, "does": does });
    let words = "MCP error -32602: Input validation error";
    let lender = Lender::new(&json!({ "tools": [
        tool("refuse", json!([{ "refuses": -32602 }])),
        tool("fail", json!([{ "text": words }, { "fails": true }])),
        tool("other", json!([{ "refuses": -32000 }])),
        { "name": "bare", "does": [{ "text": "done" }] },
    ]}));
    let script = ["refuse", "fail", "other"].iter().fold(Script::new(), |script, name| {
        script.call(&format!("mcp_m_{name}"), json!({ "odd": 2 })).then()
    });
    let by_name = |name: &str| json!({ "name": format!("mcp_m_{name}") });
    let script = script.call("use_tool", by_name("refuse")).then();
    let script = script.call("use_tool", by_name("bare")).then().text("Done.");
    let room = ready(plan(script, &[("m", &lender)])).await;
    room.say("go").await;
    let read: Vec<String> = results(&room).await.iter().map(|(_, it)| text(it)).collect();
    let schema = |name: &str| format!("The schema of mcp_m_{name}: {{\\\"type\\\"");
    assert!(read[0].contains("it does not fit") && read[0].contains(&schema("refuse")), "{read:?}");
    assert!(read[1].contains(words) && read[1].contains(&schema("fail")), "{read:?}");
    assert!(read[2].contains("it does not fit") && !read[2].contains("schema"), "{read:?}");
    assert!(read[3].contains("`input` is missing") && read[3].contains(&schema("refuse")));
    assert_eq!(read[4], "\"done\"");
    assert_eq!(lender.called(), ["refuse", "fail", "other", "bare"]);
    room.coordinator.close().await;
}

/// One who fails with a picture, draws, sings and packs.
fn artist() -> (Lender, Script) {
    let lender = Lender::of_tools(&[
        ("fail", json!([{ "text": "no luck" }, { "picture": PNG }, { "fails": true }])),
        ("draw", json!([{ "picture": PNG }])),
        ("sing", json!([{ "text": "la" }, { "sound": "UklGRg==" }])),
        ("pack", json!([{ "blob": "UEsDBA==" }])),
    ]);
    let script = ["fail", "draw", "sing", "pack"].iter().fold(Script::new(), |script, name| {
        script.call(&format!("mcp_m_{name}"), json!({})).then()
    });
    (lender, script.text("Done."))
}

#[tokio::test]
async fn pictures_and_sound_go_to_a_model_that_sees_and_hears() {
    let (lender, script) = artist();
    let plan = Plan { wire: Wire::Gemini, sees: true, ..plan(script, &[("m", &lender)]) };
    let room = ready(plan).await;
    room.say("go").await;
    let results = results(&room).await;
    let kinds = |at: usize| {
        let files = results[at].1.pieces.iter().filter_map(|piece| match piece {
            Piece::File(file) => Some(file.media_type.clone()),
            Piece::Text { .. } => None,
        });
        files.collect::<Vec<String>>()
    };
    assert_eq!(results[0].1.outcome, Outcome::Failed);
    assert_eq!([kinds(0), kinds(1), kinds(2)], [["image/png"], ["image/png"], ["audio/wav"]]);
    let heard = room.server.requests()[3].body.to_string();
    assert!(heard.contains("audio/wav") && heard.contains("UklGRg=="), "{heard}");
    room.assert_valid();
    room.coordinator.close().await;
}

#[tokio::test]
async fn what_a_model_cannot_be_shown_lies_in_a_file_it_is_told_of() {
    let (lender, script) = artist();
    let room = ready(plan(script, &[("m", &lender)])).await;
    room.say("go").await;
    let bytes: [&[u8]; 3] = [b"RIFF", b"PK\x03\x04", b"\x89PNG"];
    let results = results(&room).await;
    assert!(results.iter().all(|(_, it)| matches!(it.pieces[..], [Piece::Text { .. }])));
    for (at, bytes) in [(2, bytes[0]), (3, bytes[1]), (0, bytes[2]), (1, bytes[2])] {
        let told = text(&results[at].1);
        let path = told.split(" bytes, in ").nth(1).unwrap_or_else(|| panic!("{told}"));
        let path = path.split(']').next().unwrap();
        assert!(std::fs::read(path).unwrap().starts_with(bytes), "{told}");
        assert!(path.contains(&room.session.to_string()), "{told}");
    }
    room.coordinator.close().await;
}

#[tokio::test]
async fn failures_pictures_and_structures_come_as_what_they_are() {
    let lender = Lender::of_tools(&[
        ("fail", json!([{ "text": "no luck" }, { "fails": true }])),
        ("draw", json!([{ "text": "a point" }, { "picture": PNG }])),
        ("count", json!([{ "structured": { "n": 3 } }])),
        ("nothing", json!([])),
        ("long", json!([{ "long": 5_000 }])),
    ]);
    let script =
        ["fail", "draw", "count", "nothing", "long"].iter().fold(Script::new(), |script, name| {
            script.call(&format!("mcp_m_{name}"), json!({})).then()
        });
    let room = ready(Plan { sees: true, ..plan(script.text("Done."), &[("m", &lender)]) }).await;
    room.say("go").await;
    let results = results(&room).await;
    assert_eq!(results.len(), 5);
    assert_eq!(results[0].1.outcome, Outcome::Failed);
    assert_eq!(text(&results[0].1), "\"no luck\"");
    assert_eq!(results[0].0.origin, Origin::Mcp("m".to_owned()), "failures taint, too");
    let is_picture = |piece: &Piece| matches!(piece, Piece::File(file) if file.is_image());
    assert!(results[1].1.pieces.iter().any(is_picture), "{:?}", results[1].1.pieces);
    assert!(room.server.requests()[2].body.to_string().contains(PNG));
    assert_eq!(text(&results[2].1), "\"{\\\"n\\\":3}\"");
    assert_eq!(text(&results[3].1), "\"(no output)\"");
    let long = text(&results[4].1);
    assert!(long.len() < 50_000 && long.contains("characters"), "{}", long.len());
    room.coordinator.close().await;
}

#[tokio::test]
async fn progress_is_shown_and_a_stop_reaches_the_server() {
    let far = json!({ "progress": 1, "total": 4, "message": "reading" });
    let lender = Lender::of_tools(&[("wait", json!([{ "progress": far }, { "hangs": true }]))]);
    let script = Script::new().call("mcp_m_wait", json!({})).then().text("Never.");
    let room = ready(plan(script, &[("m", &lender)])).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let shown = until(&mut events, |event| matches!(event, Event::ToolProgress { .. })).await;
    let Event::ToolProgress { body, .. } = shown else { panic!("{shown:?}") };
    assert_eq!(body, base::Block::Text { text: "25 % reading".to_owned() });
    room.submit(Op::Stop { session: room.session }).await;
    to_the_end(&mut events).await;
    let told = async {
        while !lender.heard().iter().any(|(method, _)| method == "notifications/cancelled") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), told).await.unwrap();
    room.coordinator.close().await;
}

#[tokio::test]
async fn what_servers_let_be_read_is_listed_and_read() {
    let page =
        json!({ "uri": "note://1", "name": "One", "description": "A note", "text": "the words" });
    let lender = Lender::new(&json!({ "resources": [page] }));
    let script = Script::new().call("mcp_resources", json!({})).then();
    let script = script.call("mcp_resources", json!({ "uri": "note://1" })).then();
    let script =
        script.call("mcp_resources", json!({ "server": "docs", "uri": "note://2" })).then();
    let room = ready(plan(script.text("Done."), &[("docs", &lender)])).await;
    room.say("go").await;
    assert_eq!(lent(&room, 0), ["mcp_resources", "use_tool"]);
    let results = results(&room).await;
    let texts: Vec<String> = results.iter().map(|(_, result)| text(result)).collect();
    assert_eq!(texts[0], "\"- docs: note://1 A note\"");
    assert_eq!(texts[1], "\"note://1:\\nthe words\"");
    assert!(texts[2].contains("nothing is there"), "{}", texts[2]);
    assert!(results.iter().all(|(part, _)| part.origin == Origin::Mcp("docs".to_owned())));
    room.coordinator.close().await;
}

#[tokio::test]
async fn neighbours_that_only_read_run_beside_each_other() {
    let does = json!([{ "meets": 20 }]);
    let reads = json!({ "name": "one", "annotations": { "readOnlyHint": true }, "does": does });
    let lender = Lender::new(&json!({ "tools": [reads] }));
    let one = |script: Script, number| script.call("mcp_m_one", json!({ "number": number }));
    let script = (0..20).fold(Script::new(), one);
    let room = ready(plan(script.then().text("Done."), &[("m", &lender)])).await;
    room.say("go").await;
    assert_eq!(lender.called().len(), 20);
    let all = results(&room).await;
    assert!(all.iter().all(|(_, result)| text(result) == "\"met\""), "{all:?}");
    room.coordinator.close().await;
}

#[tokio::test]
async fn offers_of_a_room_without_servers_are_as_they_were() {
    let room = Room::new(Plan::with_tools(Script::new().text("Done."))).await;
    room.say("go").await;
    assert_eq!(lent(&room, 0), Vec::<String>::new());
    assert!(room.coordinator.servers().is_empty());
    room.coordinator.close().await;
}
