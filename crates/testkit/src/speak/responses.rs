//! `OpenAI` Responses.

use base::{StopReason, Usage};
use serde_json::{Value, json};

use super::{Ending, Event, Said, Speak, Speaker};

pub(super) struct Voice {
    speaker: Speaker,
    sequence: usize,
    items: Vec<Value>,
}

impl Voice {
    pub(super) fn new(speaker: Speaker) -> Self {
        Self { speaker, sequence: 0, items: Vec::new() }
    }

    fn event(&mut self, name: &'static str, mut data: Value) -> Event {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        Event::new(name, &data)
    }

    fn response(&self, status: &str, output: &[Value]) -> Value {
        json!({
            "id": format!("resp_scripted_{}", self.speaker.serial), "object": "response",
            "created_at": 0, "status": status, "model": self.speaker.model, "output": output,
            "error": null, "incomplete_details": null, "usage": null,
        })
    }

    fn failed(&self, code: &str, message: &str) -> Value {
        let mut response = self.response("failed", &self.items);
        response["error"] = json!({ "code": code, "message": message });
        response
    }

    fn ended(&self, output: &[Value], ending: &Ending) -> Value {
        let mut response = self.response("completed", output);
        if let Some(reason) = incomplete_reason(ending.stop) {
            response["status"] = json!("incomplete");
            response["incomplete_details"] = json!({ "reason": reason });
        }
        response["usage"] = usage(ending);
        response
    }

    /// Text goes by the thousand in benchmarks, so its deltas are written by hand.
    fn text_deltas(
        &mut self,
        name: &'static str,
        place: &str,
        pieces: &[&str],
        out: &mut Vec<Event>,
    ) {
        let mut last: Option<(&str, String)> = None;
        for piece in pieces {
            let quoted = match last.take() {
                Some((before, quoted)) if std::ptr::eq(before, *piece) => quoted,
                Some(_) | None => Value::from(*piece).to_string(),
            };
            let sequence = self.sequence;
            self.sequence += 1;
            let data = format!(
                r#"{{"type":"{name}",{place},"delta":{quoted},"sequence_number":{sequence}}}"#
            );
            out.push(Event::text(name, data));
            last = Some((piece, quoted));
        }
    }

    fn deltas(&mut self, said: &Said<'_>, item: &str, out: &mut Vec<Event>) {
        let at = self.items.len();
        let place = format!(r#""item_id":"{item}","output_index":{at}"#);
        let in_content = format!(r#"{place},"content_index":0"#);
        let content = json!({ "item_id": item, "output_index": at, "content_index": 0 });
        match said {
            Said::Text(pieces) => {
                let mut added = content.clone();
                added["part"] = json!({ "type": "output_text", "text": "", "annotations": [] });
                out.push(self.event("response.content_part.added", added));
                self.text_deltas("response.output_text.delta", &in_content, pieces, out);
                let mut done = content;
                done["text"] = json!(said.whole());
                out.push(self.event("response.output_text.done", done));
            }
            Said::Refusal(text) => {
                let mut added = content;
                added["part"] = json!({ "type": "refusal", "refusal": "" });
                out.push(self.event("response.content_part.added", added));
                self.text_deltas("response.refusal.delta", &in_content, &[text], out);
            }
            Said::Thought { pieces, .. } if !said.whole().is_empty() => {
                let part = json!({ "item_id": item, "output_index": at, "summary_index": 0,
                    "part": { "type": "summary_text", "text": "" } });
                out.push(self.event("response.reasoning_summary_part.added", part));
                let summary = format!(r#"{place},"summary_index":0"#);
                self.text_deltas("response.reasoning_summary_text.delta", &summary, pieces, out);
            }
            Said::Thought { .. } => {}
            Said::Call { pieces, .. } => {
                self.text_deltas("response.function_call_arguments.delta", &place, pieces, out);
                let done =
                    json!({ "item_id": item, "output_index": at, "arguments": said.whole() });
                out.push(self.event("response.function_call_arguments.done", done));
            }
        }
    }
}

impl Speak for Voice {
    fn start(&mut self, out: &mut Vec<Event>) {
        let response = self.response("in_progress", &[]);
        out.push(self.event("response.created", json!({ "response": response.clone() })));
        out.push(self.event("response.in_progress", json!({ "response": response })));
    }

    fn say(&mut self, said: &Said<'_>, out: &mut Vec<Event>) {
        let at = self.items.len();
        let done = item(self.speaker.serial, at, said);
        let added = json!({ "output_index": at, "item": opened(&done) });
        out.push(self.event("response.output_item.added", added));
        let id = done["id"].as_str().unwrap_or_default().to_owned();
        self.deltas(said, &id, out);
        let finished = json!({ "output_index": at, "item": done.clone() });
        out.push(self.event("response.output_item.done", finished));
        self.items.push(done);
    }

    fn finish(&mut self, ending: &Ending, out: &mut Vec<Event>) {
        let response = self.ended(&self.items, ending);
        let name = match incomplete_reason(ending.stop) {
            Some(_) => "response.incomplete",
            None => "response.completed",
        };
        out.push(self.event(name, json!({ "response": response })));
    }

    fn fail(&mut self, code: &str, message: &str, out: &mut Vec<Event>) {
        let response = self.failed(code, message);
        out.push(self.event("response.failed", json!({ "response": response })));
    }

    fn fail_whole(&mut self, code: &str, message: &str) -> String {
        self.failed(code, message).to_string()
    }

    fn whole(&self, said: &[Said<'_>], ending: &Ending) -> Value {
        let items: Vec<Value> =
            said.iter().enumerate().map(|(at, said)| item(self.speaker.serial, at, said)).collect();
        self.ended(&items, ending)
    }
}

fn item(serial: usize, at: usize, said: &Said<'_>) -> Value {
    let message = |content: Value| {
        json!({ "type": "message", "id": format!("msg_{serial}_{at}"), "role": "assistant",
            "status": "completed", "content": [content] })
    };
    match said {
        Said::Text(_) => {
            message(json!({ "type": "output_text", "text": said.whole(), "annotations": [] }))
        }
        Said::Refusal(text) => message(json!({ "type": "refusal", "refusal": text })),
        Said::Thought { seal, .. } => {
            let text = said.whole();
            let summary = match text.as_str() {
                "" => json!([]),
                text => json!([{ "type": "summary_text", "text": text }]),
            };
            json!({ "type": "reasoning", "id": format!("rs_{serial}_{at}"), "summary": summary,
                "encrypted_content": seal })
        }
        Said::Call { id, name, .. } => {
            json!({ "type": "function_call", "id": format!("fc_{serial}_{at}"), "call_id": id,
                "name": name, "arguments": said.whole(), "status": "completed" })
        }
    }
}

/// An item as it is when it begins.
fn opened(item: &Value) -> Value {
    let mut item = item.clone();
    for (field, empty) in [("content", json!([])), ("summary", json!([])), ("arguments", json!(""))]
    {
        if item.get(field).is_some() {
            item[field] = empty;
        }
    }
    if item.get("status").is_some() {
        item["status"] = json!("in_progress");
    }
    item
}

fn usage(ending: &Ending) -> Value {
    let Usage { cache_read, cache_write, output, reasoning, .. } = ending.usage;
    let prompt = ending.usage.prompt();
    let mut usage = json!({
        "input_tokens": prompt, "output_tokens": output, "total_tokens": prompt + output,
        "input_tokens_details": { "cached_tokens": cache_read, "cache_write_tokens": cache_write },
        "output_tokens_details": { "reasoning_tokens": reasoning },
    });
    if let Some(cost) = ending.cost {
        usage["cost"] = json!(cost);
    }
    usage
}

fn incomplete_reason(stop: StopReason) -> Option<&'static str> {
    match stop {
        StopReason::Length | StopReason::ContextFull => Some("max_output_tokens"),
        StopReason::Done
        | StopReason::ToolCalls
        | StopReason::Refusal
        | StopReason::Paused
        | StopReason::Cancelled
        | StopReason::Other => None,
    }
}
