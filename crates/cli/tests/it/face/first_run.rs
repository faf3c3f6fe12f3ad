//! Before anything is set up: onboarding, a key, trust, the offer to write instructions, the demo.

use serde_json::json;
use testkit::Script;
use testkit::terminal::Key;

use super::stage::{LARGE, Stage, USUAL};
use crate::model::KEY;
use crate::server::Server;

/// Settings without a model; whose key is missing answers at `url`.
fn newcomer(url: &str) -> Stage {
    let provider = json!({
        "type": "openai-compat", "name": "Lab", "base_url": url, "api_key": "$LAB_API_KEY",
        "models": [{ "id": "m", "context_window": 100_000, "default_max_tokens": 4000 }],
    });
    let settings = json!({ "providers": { "lab": null }, "models": null });
    Stage::new(Script::new()).set(&settings).set(&json!({ "providers": { "lab": provider } }))
}

#[test]
fn somebody_without_a_key_is_shown_what_there_is() {
    let stage = newcomer("http://127.0.0.1:1");
    let mut face = stage.open(USUAL, &[]);
    face.waits("a tour without network");
    face.shows_at_every_size("onboarding");
}

#[test]
fn a_key_is_tried_refused_with_the_providers_words_and_kept_once_it_is_taken() {
    let refusal = r#"{"error":{"message":"Incorrect API key provided"}}"#;
    let refuses = Server::start(&[("GET /v1/models", 401, refusal)]);
    let stage = newcomer(&format!("{}/v1", refuses.url));
    let mut face = stage.open(USUAL, &[]);
    face.waits("a tour without network");
    face.types("Lab");
    face.waits("Lab");
    face.press(Key::Enter);
    face.waits("key for Lab");
    face.shows_at_every_size("key");
    face.terminal.paste("sk-wrong").unwrap();
    face.press(Key::Enter);
    face.waits("does not take this key");
    face.shows_at_every_size("key_refused");
    assert!(!face.terminal.screen().contains("sk-wrong"), "a key is never shown");
    assert!(!stage.home.credentials().exists());

    let takes = Server::start(&[("GET /v1/models", 200, r#"{"data":[{"id":"m"}]}"#)]);
    let stage = newcomer(&format!("{}/v1", takes.url));
    let face = stage.open(USUAL, &[]);
    face.waits("a tour without network");
    face.types("Lab");
    face.press(Key::Enter);
    face.waits("key for Lab");
    face.terminal.paste(KEY).unwrap();
    face.press(Key::Enter);
    face.shows("key_taken_80x24", "model: lab/m");
    assert!(stage.home.credentials().exists());
    assert!(takes.requests()[0].contains(KEY));
}

#[test]
fn a_folder_that_can_run_commands_is_trusted_only_on_purpose() {
    const SETTINGS: &str = r#"{"permissions":{"allowed_tools":["bash"]}}"#;
    let stage = Stage::new(Script::new().text("Hello."));
    stage.file("caiman.json", SETTINGS);
    let mut face = stage.open(USUAL, &[]);
    face.waits("trust");
    face.shows_at_every_size("trust");
    // Enter alone says no.
    for (key, is_trusted) in [("\r", false), ("y", true)] {
        let stage = Stage::new(Script::new().text("Hello."));
        stage.file("caiman.json", SETTINGS);
        let mut face = stage.open(USUAL, &[]);
        face.waits("yes, I know these files");
        face.types(key);
        face.waits_gone("yes, I know these files");
        // What was answered has been kept once the model can be talked to.
        face.says("Hello?");
        face.waits("Hello.");
        face.waits("ask anything");
        face.press(Key::Ctrl('d'));
        face.ends();
        let counts = stage.home.run(&["config", "show", "-C", "shop"]).out;
        assert_eq!(counts.contains(r#"allowed_tools[0] = "bash""#), is_trusted, "{counts}");
    }
}

#[test]
fn a_folder_without_instructions_is_offered_some() {
    let stage = Stage::new(Script::new().text("Hello."));
    std::fs::remove_file(stage.path("AGENTS.md")).unwrap();
    let mut face = stage.ready(USUAL);
    face.waits("AGENTS.md");
    face.shows_at_every_size("init");
}

#[test]
fn the_demo_works_without_key_and_network() {
    let stage = newcomer("http://127.0.0.1:1");
    let face = stage.open(LARGE, &[]);
    face.waits("a tour without network");
    face.types("demo");
    face.waits_gone("Anthropic");
    face.press(Key::Enter);
    face.waits("ask anything");
    face.says("Fix the bug");
    face.waits("may this run?");
    face.waits("sh test.sh");
    face.press(Key::Alt('s'));
    face.waits("largest=$1");
    face.press(Key::Alt('y'));
    face.waits("All tests pass now");
}
