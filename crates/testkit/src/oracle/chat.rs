//! `OpenAI` Chat Completions and all who speak it.

use base::{Money, StopReason, Usage};
use serde_json::Value;

use super::{
    Event, Expected, ExpectedCall, arguments, cut_off, done_or_calls, failed_inside, list, number,
    reported_cost, text,
};

/// Calls as they grow: place, id, name, arguments.
type Growing = Vec<(u64, String, String, String)>;

pub(super) fn stream(events: &[Event], provider: &str) -> Expected {
    let mut out = Expected::default();
    let mut said = Said::default();
    let mut ended = false;
    for Event { data, .. } in events {
        if data == "[DONE]" {
            ended = true;
            continue;
        }
        if data.get("error").is_some_and(|error| !error.is_null()) {
            out.error = Some(failed_inside(data));
        }
        for choice in list(data, "choices").iter().filter(|choice| number(choice, "index") == 0) {
            said.take(&choice["delta"]);
            if let Some(word) = finish_word(choice) {
                said.finish = Some(word);
                ended = true;
            }
        }
        let usage = [&data["usage"], &data["x_groq"]["usage"]].into_iter().find(|u| u.is_object());
        if let Some(usage) = usage {
            let tokens = tokens(usage, provider);
            // Cloudflare's last report says zero of everything.
            out.usage = if tokens.total() > 0 { tokens } else { out.usage };
            out.cost = reported_cost(usage).or(out.cost);
        }
        out.cost = venice_cost(data).or(out.cost);
    }
    if out.error.is_none() && !ended {
        out.error = Some(cut_off());
    }
    said.into_expected(out)
}

pub(super) fn whole(body: &Value, provider: &str) -> Expected {
    let mut out = Expected::default();
    let mut said = Said::default();
    if body.get("error").is_some_and(|error| !error.is_null()) {
        out.error = Some(failed_inside(body));
    }
    // Copilot splits an answer with text and calls into two choices of one index.
    for choice in list(body, "choices").iter().filter(|choice| number(choice, "index") == 0) {
        said.take(&choice["message"]);
        said.finish = finish_word(choice).or(said.finish);
    }
    out.usage = tokens(&body["usage"], provider);
    out.cost = reported_cost(&body["usage"]).or(venice_cost(body));
    said.into_expected(out)
}

/// Why a choice ended. A gateway that sees a call says `tool_calls` even where the limit cut the call
/// off; the upstream's own word beside it tells.
fn finish_word(choice: &Value) -> Option<String> {
    let word = choice["finish_reason"].as_str()?;
    let native = choice["native_finish_reason"].as_str().unwrap_or_default();
    let is_cut = matches!(native, "length" | "max_tokens" | "max_output_tokens");
    Some(if is_cut { "length".to_owned() } else { word.to_owned() })
}

#[derive(Default)]
struct Said {
    text: String,
    refusal: String,
    reasoning: String,
    has_seal: bool,
    calls: Growing,
    finish: Option<String>,
}

impl Said {
    fn take(&mut self, message: &Value) {
        match &message["content"] {
            Value::String(text) => self.text.push_str(text),
            Value::Array(parts) => self.take_parts(parts),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        self.refusal.push_str(text(message, "refusal"));
        let details = list(message, "reasoning_details");
        let shown = [text(message, "reasoning_content"), text(message, "reasoning")];
        match shown.into_iter().find(|shown| !shown.is_empty()) {
            Some(shown) => self.reasoning.push_str(shown),
            None => {
                for detail in details {
                    self.reasoning.push_str(text(detail, "text"));
                    self.reasoning.push_str(text(detail, "summary"));
                }
            }
        }
        let sealed = |detail: &Value| {
            !text(detail, "signature").is_empty() || !text(detail, "data").is_empty()
        };
        self.has_seal |= details.iter().any(sealed);
        for call in list(message, "tool_calls") {
            self.take_call(call);
        }
    }

    /// Mistral sends text and thoughts as parts.
    fn take_parts(&mut self, parts: &[Value]) {
        for part in parts {
            match text(part, "type") {
                "text" => self.text.push_str(text(part, "text")),
                "refusal" => self.refusal.push_str(text(part, "refusal")),
                "thinking" => {
                    self.reasoning.push_str(text(part, "thinking"));
                    for thought in list(part, "thinking") {
                        self.reasoning.push_str(text(thought, "text"));
                    }
                }
                _ => {}
            }
        }
    }

    fn take_call(&mut self, call: &Value) {
        let id = text(call, "id");
        let function = &call["function"];
        let index = call.get("index").and_then(Value::as_u64);
        let known = match index {
            Some(index) => self.calls.iter_mut().rev().find(|(at, ..)| *at == index),
            None if id.is_empty() => self.calls.last_mut(),
            None => None,
        };
        let args = &function["arguments"];
        let more = match args.as_object() {
            Some(_) => args.to_string(),
            None => text(function, "arguments").to_owned(),
        };
        match known {
            // Some servers number every call 0 and tell them apart by id.
            Some((_, old, name, args)) if id.is_empty() || old.is_empty() || *old == id => {
                if old.is_empty() {
                    id.clone_into(old);
                }
                if name.is_empty() {
                    text(function, "name").clone_into(name);
                }
                args.push_str(&more);
            }
            Some(_) | None => {
                let place = index.unwrap_or(self.calls.len() as u64);
                self.calls.push((place, id.to_owned(), text(function, "name").to_owned(), more));
            }
        }
    }

    fn into_expected(self, out: Expected) -> Expected {
        let calls: Vec<ExpectedCall> = self
            .calls
            .into_iter()
            .map(|(_, id, name, args)| ExpectedCall {
                id: Some(id).filter(|id| !id.is_empty()),
                name,
                args: arguments(&args),
            })
            .collect();
        let stop = self.finish.map(|word| match word.as_str() {
            "stop" | "eos" | "end_turn" if !self.refusal.is_empty() => StopReason::Refusal,
            "stop" | "eos" | "end_turn" => done_or_calls(&calls),
            "tool_calls" | "function_call" => StopReason::ToolCalls,
            "length" | "model_length" | "max_tokens" => StopReason::Length,
            "content_filter" => StopReason::Refusal,
            _ => StopReason::Other,
        });
        let text = self.text + &self.refusal;
        Expected { text, reasoning: self.reasoning, has_seal: self.has_seal, calls, stop, ..out }
    }
}

fn tokens(usage: &Value, provider: &str) -> Usage {
    let details = &usage["prompt_tokens_details"];
    let first = |all: [u64; 4]| all.into_iter().find(|&tokens| tokens > 0).unwrap_or(0);
    let cache_read = first([
        number(details, "cached_tokens"),
        number(usage, "prompt_cache_hit_tokens"),
        number(usage, "cache_read_input_tokens"),
        number(usage, "cached_tokens"),
    ]);
    let cache_write = first([
        number(details, "cache_write_tokens"),
        number(usage, "cache_creation_input_tokens"),
        0,
        0,
    ]);
    let prompt = number(usage, "prompt_tokens");
    let completion = number(usage, "completion_tokens");
    let thought = first([
        number(&usage["completion_tokens_details"], "reasoning_tokens"),
        number(usage, "reasoning_tokens"),
        0,
        0,
    ]);
    let by_sum = thought > 0 && number(usage, "total_tokens") == prompt + completion + thought;
    let beside = by_sum || (provider == "vercel" && thought > completion);
    let output = if beside { completion + thought } else { completion };
    Usage {
        input: prompt.saturating_sub(cache_read + cache_write),
        cache_read,
        cache_write,
        output,
        reasoning: thought.min(output),
    }
}

fn venice_cost(body: &Value) -> Option<Money> {
    body["cost"]["usd"].as_f64().map(Money::from_dollars)
}
