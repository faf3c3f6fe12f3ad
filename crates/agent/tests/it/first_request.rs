//! What a session costs before the first word is said.

use std::path::PathBuf;

use agent::prompt::{self, Hints};
use agent::surroundings::{Git, Status, Surroundings};
use base::Part;
use base::transcript::{Role, ToolSpec, Turn};
use llm::{Request, wire};
use serde_json::Value;
use settings::provider::Wire;
use testkit::validate::{self, Rules};
use tools::Registry;

use crate::lab::target;

/// The most the whole first request may hold, and the prompt's share of it.
const WHOLE: usize = 2_500;
const PROMPT: usize = 650;

/// Offered where a language server fits the folder.
const CODE: [&str; 9] = [
    "call_hierarchy",
    "code_action",
    "definition",
    "diagnostics",
    "hover",
    "lsp_restart",
    "references",
    "rename",
    "symbols",
];

fn tokens(text: &str) -> usize {
    tiktoken::get_encoding("o200k_base").unwrap().count(text)
}

fn spec(tool: &std::sync::Arc<dyn tools::AnyTool>) -> ToolSpec {
    ToolSpec {
        name: tool.name().to_owned(),
        description: tool.description(),
        schema: tool.schema(),
    }
}

/// The request for "hello" in a repository with a few changes, all tools offered.
fn hello() -> Request {
    let lines = (0..5).map(|at| format!(" M src/module_{at}.rs")).collect();
    let surroundings = Surroundings {
        folder: PathBuf::from("/home/ada/projects/engine"),
        platform: "linux",
        shell: Some("bash".to_owned()),
        date: "2026-11-16".to_owned(),
        git: Some(Git { branch: "main".to_owned(), status: Status::Known { lines, more: 0 } }),
    };
    // `recall` is offered once there is something to recall, `skill` where there are skills, the web's
    // own tools to those who are named them.
    let later = ["recall", "skill", "web_search", "web_fetch"].map(str::to_owned);
    let registry = Registry::builtin().without(&later).without(&CODE.map(str::to_owned));
    Request {
        system: prompt::system(&surroundings, &[], &Hints::default()),
        turns: vec![Turn { role: Role::User, parts: vec![Part::user_text("hello")] }],
        tools: registry.iter().map(spec).collect(),
        session_key: Some("0198c2f1-7a3e-7c1b-9d55-1f2e3d4c5b6a".to_owned()),
        ..Request::default()
    }
}

#[test]
fn the_first_request_is_small_on_every_wire() {
    let request = hello();
    let prompt = tokens(&request.system.join("\n\n"));
    assert!(prompt <= PROMPT, "the prompt has {prompt} tokens");
    for wire in Wire::ALL {
        let body = Value::Object(wire::encode(&request, &target(wire)).body);
        let whole = tokens(&body.to_string());
        println!("{wire:?}: {whole} tokens, prompt {prompt}, {} tools", request.tools.len());
        assert!(whole <= WHOLE, "{wire:?}: {whole} tokens");
        let found = validate::request(wire, &body, &Rules::default());
        assert!(found.is_empty(), "{wire:?}: {}", found[0]);
    }
}

#[test]
fn the_tools_that_ask_language_servers_cost_little() {
    let registry = Registry::builtin();
    let cost = |name: &str| {
        let ToolSpec { name, description, schema } = spec(registry.get(name).unwrap());
        tokens(&format!("{name} {description} {schema}"))
    };
    let costs = CODE.map(|name| (name, cost(name)));
    let all: usize = costs.iter().map(|(_, tokens)| tokens).sum();
    println!("{all} tokens: {costs:?}");
    assert!(all <= 650, "{all} tokens: {costs:?}");
}

#[test]
fn the_tool_for_skills_costs_little() {
    let registry = Registry::builtin();
    let ToolSpec { name, description, schema } = spec(registry.get("skill").unwrap());
    let text = format!("{name} {description} {schema}");
    insta::assert_snapshot!(format!("{} tokens: {text}", tokens(&text)), @r#"38 tokens: skill Load a skill: instructions for a kind of task. {"type":"object","properties":{"skill":{"type":"string"},"args":{"type":"string"}},"required":["skill"]}"#);
}
