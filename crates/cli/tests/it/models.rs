//! `caiman models`.

use serde_json::Value;

use crate::home::Home;
use crate::server::Server;

fn rows(out: &str) -> Vec<Value> {
    serde_json::from_str(out).unwrap()
}

#[test]
fn only_what_can_be_used_is_listed_unless_all_is_asked_for() {
    let home = Home::new().with("OPENAI_API_KEY", "sk-x");
    let done = home.run(&["models", "gpt-5.6"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let refs: Vec<&str> =
        done.out.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(refs, ["openai/gpt-5.6-sol", "openai/gpt-5.6-terra", "openai/gpt-5.6-luna"]);
    assert!(done.err.contains("caiman models --all"), "{}", done.err);
    let all = home.run(&["models", "--all"]).out.lines().count();
    assert!(all > 1500, "{all}");
}

#[test]
fn json_tells_facts_and_where_the_key_comes_from() {
    let home = Home::new().with("ANTHROPIC_API_KEY", "sk-ant-x");
    let rows = rows(&home.run(&["models", "opus", "4-8", "--json"]).out);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["ref"], "anthropic/claude-opus-4-8");
    assert_eq!(rows[0]["context_window"], 1_000_000);
    assert_eq!(rows[0]["cost_per_1m_out"], 25.0);
    assert_eq!(rows[0]["key_source"], "$ANTHROPIC_API_KEY");
    assert_eq!(rows[0]["usable"], true);
}

#[test]
fn models_of_the_settings_are_listed_first_and_changed_ones_once() {
    let home = Home::new().with("OPENAI_API_KEY", "k").settings(
        r#"{ "providers": {
            "lab": { "base_url": "http://10.1.1.1/v1", "models": [{ "id": "big", "context_window": 5000 }] },
            "openai": { "models": [{ "id": "gpt-4o", "context_window": 7000 }] } } }"#,
    );
    let rows = rows(&home.run(&["models", "--json"]).out);
    assert_eq!(rows[0]["ref"], "lab/big");
    let changed: Vec<&Value> = rows.iter().filter(|row| row["ref"] == "openai/gpt-4o").collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0]["context_window"], 7000);
}

#[test]
fn a_search_without_success_says_where_else_to_look() {
    let done = Home::new().run(&["models", "claude"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("caiman models --all claude"), "{}", done.err);
    let done = Home::new().run(&["models", "--provider", "olama"]);
    assert!(done.err.contains("did you mean ollama?"), "{}", done.err);
}

#[test]
fn a_local_server_lists_its_own_models() {
    let server = Server::start(&[
        ("GET /api/tags", 200, r#"{"models":[{"name":"qwen3:8b"}]}"#),
        (
            "POST /api/show",
            200,
            r#"{"capabilities":["completion"],"model_info":{"qwen3.context_length":40960}}"#,
        ),
    ]);
    let home = Home::new().with("OLLAMA_HOST", &server.url);
    let done = home.run(&["models", "qwen"]);
    assert!(done.out.contains("ollama/qwen3:8b  40k"), "{}{}", done.out, done.err);
}

#[test]
fn refreshing_keeps_new_models_and_one_failure_stops_nobody() {
    let list = r#"{"data":[{"id":"gpt-5.5"},{"id":"gpt-brand-new","context_window":12345}]}"#;
    let good = Server::start(&[("GET /v1/models", 200, list)]);
    let bad =
        Server::start(&[("GET /v1/models?limit=1000", 401, r#"{"error":{"message":"bad key"}}"#)]);
    let home = Home::new()
        .with("OPENAI_API_KEY", "k")
        .with("OPENAI_API_ENDPOINT", &good.url)
        .with("ANTHROPIC_API_KEY", "k")
        .with("ANTHROPIC_API_ENDPOINT", &bad.url);
    let done = home.run(&["models", "refresh"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("openai: 2 models, 1 new: gpt-brand-new"), "{}", done.out);
    assert!(
        done.out.contains("anthropic: no list (") && done.out.contains("bad key"),
        "{}",
        done.out
    );
    assert!(home.run(&["models", "refresh"]).out.contains("nothing new"));
    let rows = rows(&home.run(&["models", "brand-new", "--json"]).out);
    assert_eq!(rows[0]["context_window"], 12345);
    let done = home.run(&["models", "refresh", "--provider", "anthropic"]);
    assert_eq!(done.code, 4, "asked by name, its failure is ours");
}
