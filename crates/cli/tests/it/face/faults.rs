//! What a person sees when things go wrong at the provider, and what they can do then.

use serde_json::json;
use testkit::terminal::Key;
use testkit::{Action, Script};

use super::stage::{Stage, USUAL};

fn tells(name: &str, stage: &Stage, text: &str) {
    let mut face = stage.ready(USUAL);
    face.says("Hello");
    face.waits(text);
    // Whatever happened, one can go on.
    face.waits("ask anything");
    face.shows_at_every_size(name);
    face.press(Key::Ctrl('d'));
    face.ends();
    stage.open(USUAL, &["--continue"]).waits(text);
}

#[test]
fn a_wrong_key_is_told_with_what_to_do() {
    let stage = Stage::new(Script::new().fail(401, "Incorrect API key provided"));
    tells("fault_key", &stage, "Incorrect API key provided");
}

#[test]
fn no_network_is_told() {
    let nobody = json!({ "providers": { "lab": { "base_url": "http://127.0.0.1:1/v1" } } });
    tells("fault_network", &Stage::new(Script::new()).set(&nobody), "127.0.0.1");
}

#[test]
fn a_failing_server_is_asked_again_and_the_answer_comes() {
    let script = Script::new()
        .header("retry-after", "3")
        .fail(500, "The server had an error")
        .then()
        .text("Here I am again.")
        .usage(10, 5);
    let tries = json!({ "providers": { "lab": { "network": { "tries": 3 } } } });
    let face = Stage::new(script).set(&tries).ready(USUAL);
    face.says("Hello");
    face.shows("fault_retry_80x24", "try 2");
    face.shows("fault_retried_80x24", "10 in, 5 out");
}

#[test]
fn a_turn_that_failed_can_be_tried_again() {
    let script = Script::new().fail(500, "The server had an error").then();
    let mut face = Stage::new(script.text("Here I am again.").usage(10, 5)).ready(USUAL);
    face.says("Hello");
    face.waits("/continue tries again");
    face.waits("ask anything");
    face.shows_at_every_size("fault_server");
    face.says("/continue");
    face.waits("Here I am again.");
}

#[test]
fn a_context_that_is_too_long_is_told() {
    let too_long = Action::Fail {
        status: 400,
        code: Some("context_length_exceeded".to_owned()),
        message: "This model's maximum context length is 1000 tokens.".to_owned(),
    };
    tells("fault_context", &Stage::new(Script::new().act(too_long)), "context");
}

#[test]
fn a_stream_that_breaks_off_keeps_what_was_said() {
    let script = Script::new().text("Half of an ans").drop_connection();
    tells("fault_broken", &Stage::new(script), "Half of an ans");
}
