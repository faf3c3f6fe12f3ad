//! The scripted model inside the binary: no key, no network, no AI, and it says so.
//!
//! It answers through the same deltas as every wire, so that a first run shows the real product: asked to
//! fix something, it works on a small project with the tools it is offered, and tells what came of it.

mod work;

use std::time::Duration;

use base::CallId;
use base::model::{StopReason, Usage};
use base::transcript::{Part, Role};
use serde_json::Value;

use crate::delta::{Delta, Opening};
use crate::request::Request;

pub use work::{PROJECT, TEST, asks_for_work};

/// The pause between two words: fast enough to read along, slow enough to be seen streaming.
const PAUSE: Duration = Duration::from_millis(6);
/// Most that is repeated of the user's prompt.
const QUOTE_LIMIT: usize = 120;

/// One step of the script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Beat {
    /// How long to wait before it.
    pub(crate) wait: Duration,
    /// What it brings.
    pub(crate) deltas: Vec<Delta>,
}

/// What the script says and calls in one answer.
#[derive(Debug, Clone, Default, PartialEq)]
struct Lines {
    thought: &'static str,
    text: String,
    calls: Vec<(&'static str, Value)>,
}

/// The script's answer to `request`.
pub(crate) fn script(request: &Request) -> Vec<Beat> {
    let prompt = last_words(request);
    let lines = work::lines(request, &prompt).unwrap_or_else(|| Lines {
        thought: "The script has one thought: say clearly that it is a script.",
        text: answer(&prompt),
        calls: Vec::new(),
    });
    let started = Delta::Started { id: Some("demo".into()), model: Some("tour".into()) };
    let mut beats = vec![Beat { wait: Duration::ZERO, deltas: vec![started] }];
    let mut parts = 0..;
    let mut next = || parts.next().unwrap_or_default();
    if !lines.thought.is_empty() {
        beats.extend(spoken(next(), Opening::Reasoning, lines.thought));
    }
    if !lines.text.is_empty() {
        beats.extend(spoken(next(), Opening::Text, &lines.text));
    }
    for (tool, input) in &lines.calls {
        let opening = Opening::Call { id: CallId::generate(), name: (*tool).to_owned() };
        let part = next();
        let text = input.to_string();
        let deltas = vec![Delta::Open { part, opening }, Delta::More { part, text }];
        beats.push(Beat { wait: PAUSE, deltas });
    }
    beats.push(end(&prompt, &lines));
    beats
}

fn end(prompt: &str, lines: &Lines) -> Beat {
    let called: u64 = lines.calls.iter().map(|(_, input)| estimate(&input.to_string())).sum();
    let usage = Usage {
        input: estimate(prompt),
        output: estimate(lines.thought) + estimate(&lines.text) + called,
        reasoning: estimate(lines.thought),
        ..Usage::default()
    };
    let stop = if lines.calls.is_empty() { StopReason::Done } else { StopReason::ToolCalls };
    Beat { wait: PAUSE, deltas: vec![Delta::Stop(stop), Delta::Usage(usage)] }
}

fn answer(prompt: &str) -> String {
    let said = if prompt.is_empty() {
        "You said nothing, which a script answers just as well.".to_owned()
    } else {
        format!("You said: \"{}\"", quoted(prompt))
    };
    format!(
        "This is the demo: a script inside the Caiman binary, not an AI. {said}\n\
         \n\
         What you see around the script is real. These words took the path every model's answer \
         takes, and the session is on disk:\n\
         \n\
         - `caiman run --model demo/tour \"Fix the bug\"` shows real tools at work, in a scratch folder.\n\
         - `caiman session last` shows a session, `caiman session export` writes it as Markdown or JSONL.\n\
         - `caiman stats` counts tokens and money, per day, model and session.\n\
         \n\
         To talk to a model:\n\
         \n\
         1. Set a key, for example `export ANTHROPIC_API_KEY=...`, or store one with \
         `caiman login openai`. A local Ollama, llama.cpp or LM Studio needs none.\n\
         2. `caiman models` lists what you can use.\n\
         3. `caiman run --model anthropic/claude-sonnet-4-6 \"...\"`, or set a default in \
         `caiman.json`.\n"
    )
}

/// The user's last words; results of calls are not words.
fn last_words(request: &Request) -> String {
    let texts = request.turns.iter().rev().filter(|turn| turn.role == Role::User).map(|turn| {
        turn.parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n").trim().to_owned()
    });
    let mut said = texts.filter(|text| !text.is_empty());
    said.next().unwrap_or_default()
}

fn quoted(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= QUOTE_LIMIT {
        return line;
    }
    line.chars().take(QUOTE_LIMIT).collect::<String>() + "…"
}

fn spoken(part: usize, opening: Opening, text: &str) -> Vec<Beat> {
    let open = Beat { wait: PAUSE, deltas: vec![Delta::Open { part, opening }] };
    let words = text.split_inclusive(' ').map(|word| Beat {
        wait: PAUSE,
        deltas: vec![Delta::More { part, text: word.to_owned() }],
    });
    std::iter::once(open).chain(words).collect()
}

/// About four bytes a token: good enough for a script.
fn estimate(text: &str) -> u64 {
    u64::try_from(text.len() / 4 + 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
