//! A real, small model behind three wires. Run by `scripts/real-model`, which starts it.

use std::time::Duration;

use base::transcript::PartBody;
use base::{Env, Part, StopReason};
use llm::{Class, Delta, Request, Target, ToolChoice, ToolSpec};
use serde_json::json;
use settings::provider::{Sampling, Wire};
use tokio::time::timeout;

use crate::speaking::{ask, caller, text_of};
use crate::targets;
use crate::transcripts::user;

/// The wires llama.cpp's own server speaks.
const WIRES: [Wire; 3] = [Wire::OpenaiChat, Wire::OpenaiResponses, Wire::AnthropicMessages];

/// The model on each wire; nothing, loudly, where there is none.
fn models() -> Vec<Target> {
    let Some(url) = Env::of_process().get("CAIMAN_REAL_MODEL").map(str::to_owned) else {
        testkit::parts::skipped("no real model; run scripts/real-model");
        return Vec::new();
    };
    let at = |wire| {
        let mut target = targets::target(wire);
        target.base_url = format!("{}/v1", url.trim_end_matches('/'));
        "smollm2".clone_into(&mut target.model.id);
        target.model.can_reason = false;
        target
    };
    WIRES.map(at).to_vec()
}

fn asking(text: &str, max_tokens: u64) -> Request {
    Request {
        turns: vec![user(vec![Part::user_text(text)])],
        max_tokens: Some(max_tokens),
        sampling: Sampling { temperature: Some(0.0), ..Sampling::default() },
        ..Request::default()
    }
}

#[tokio::test]
async fn real_model_speaks_on_every_wire_and_counts_its_tokens() {
    for target in models() {
        let answer = ask(&target, &asking("Say hello.", 24)).await.unwrap();
        assert!(!text_of(&answer).trim().is_empty(), "{:?}", target.wire);
        assert!(answer.usage.input > 0 && answer.usage.output > 0, "{answer:?}");
        assert!(matches!(answer.stop, Some(StopReason::Done | StopReason::Length)), "{answer:?}");
        eprintln!("{:?}: {:?} {:?}", target.wire, text_of(&answer), answer.usage);
    }
}

#[tokio::test]
async fn real_model_calls_a_tool_when_it_must() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}},
        "required": ["path"]});
    let tool =
        ToolSpec { name: "read_file".to_owned(), description: "Reads a file.".to_owned(), schema };
    for target in models() {
        let request = Request {
            tools: vec![tool.clone()],
            tool_choice: ToolChoice::Required,
            ..asking("Read the file /etc/hostname", 80)
        };
        let answer = ask(&target, &request).await.unwrap();
        let called = answer.parts.iter().find_map(|part| match &part.body {
            PartBody::Call(call) => Some(call),
            PartBody::Text { .. }
            | PartBody::Reasoning { .. }
            | PartBody::Result(_)
            | PartBody::File(_)
            | PartBody::Opaque { .. } => None,
        });
        let call = called.unwrap_or_else(|| panic!("{:?}: {answer:?}", target.wire));
        assert_eq!(call.name, "read_file");
        assert!(call.input.value.contains_key("path"), "{call:?}");
        eprintln!("{:?}: {:?}", target.wire, call.input.value);
    }
}

#[tokio::test]
async fn real_model_says_when_its_window_is_full() {
    let long = "All work and no play makes the lizard a dull beast. ".repeat(2000);
    for target in models() {
        let error = ask(&target, &asking(&long, 8)).await.unwrap_err();
        assert_eq!(error.class, Class::ContextOverflow, "{:?}: {error:?}", target.wire);
    }
}

#[tokio::test]
async fn real_model_is_free_again_once_an_answer_is_dropped() {
    for target in models() {
        let long = asking("Count from one to one thousand, in words.", 2000);
        let mut reply = caller(1).open(&target, &long, &mut |_| {}).await.unwrap();
        let mut deltas: Vec<Delta> = Vec::new();
        reply.next(&mut deltas).await.unwrap();
        drop(reply);
        // The one slot is taken until the server notices that nobody listens.
        let short = asking("Say hello.", 8);
        let answer = timeout(Duration::from_mins(1), ask(&target, &short)).await;
        assert!(answer.unwrap().is_ok(), "{:?}", target.wire);
    }
}
