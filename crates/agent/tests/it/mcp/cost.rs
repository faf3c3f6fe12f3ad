//! What MCP costs in every request.

use serde_json::{Value, json};
use settings::Config;
use testkit::Script;

use super::lender::{Lender, config, offered, ready};
use crate::room::Plan;

/// A server with as many tools as those people use have, of a usual size.
fn server(tools: usize) -> Lender {
    let tool = |number: usize| {
        json!({
            "name": format!("tool_{number:02}"),
            "description": "Lists what is there, newest first, with all that is known of each; the list can be \
                            narrowed by words and by time.",
            "inputSchema": { "type": "object", "required": ["query"], "properties": {
                "query": { "type": "string", "description": "Words to look for" },
                "since": { "type": "string", "description": "Only what is newer, as a date" },
                "limit": { "type": "integer", "description": "How many at most" },
            } },
        })
    };
    Lender::new(&json!({ "tools": (0..tools).map(tool).collect::<Vec<_>>() }))
}

/// Tokens of the lent tools in a first request, and how many go out by themselves.
async fn cost(config: Config) -> (usize, usize) {
    let plan = Plan { config, ..Plan::with_tools(Script::new().text("Done.")) };
    let room = ready(plan).await;
    room.say("hello").await;
    let tools = offered(&room, 0);
    let is_lent = |(name, _): &&(String, Value)| name.starts_with("mcp_") || name == "use_tool";
    let lent: Vec<&(String, Value)> = tools.iter().filter(is_lent).collect();
    let encoding = tiktoken::get_encoding("o200k_base").unwrap();
    let tokens = lent.iter().map(|(_, tool)| encoding.count(&tool.to_string())).sum();
    room.coordinator.close().await;
    (tokens, lent.iter().filter(|(name, _)| name != "use_tool").count())
}

#[tokio::test]
async fn schemas_go_out_within_the_budget_and_names_beyond_it() {
    let (small, large, huge) = (server(3), server(12), server(90));
    let figures = [
        ("one small server", cost(config(&[("a", &small)])).await),
        ("a small and a large one", cost(config(&[("a", &small), ("b", &large)])).await),
        ("with a huge one", cost(config(&[("a", &small), ("b", &huge), ("c", &small)])).await),
    ];
    for (what, (tokens, direct)) in &figures {
        eprintln!("MCP costs {tokens} tokens for {what}, {direct} schemas sent");
    }
    let [(_, one), (_, two), (_, three)] = figures;
    assert_eq!((one.1, two.1, three.1), (3, 15, 6));
    assert!(one.0 < 600, "{}", one.0);
    assert!(two.0 < 2_300, "{}", two.0);
    assert!(three.0 < 4_500, "{}", three.0);
}

#[tokio::test]
async fn schemas_that_are_always_wanted_go_out_beside_the_budget() {
    let (small, huge) = (server(3), server(90));
    let mut config = config(&[("a", &huge), ("b", &huge), ("c", &small)]);
    config.mcp.get_mut("b").unwrap().always_load = true;
    assert_eq!(cost(config).await.1, 93);
}
