//! Every recorded exchange: its request passes the validator, its answer can be read.

use std::collections::BTreeMap;

use base::StopReason;
use settings::provider::Wire;
use testkit::cassette::{self, Exchange};
use testkit::oracle::{self, ExpectedCall};
use testkit::validate::{self, Rules, Server, Turns};

fn all() -> Option<Vec<Exchange>> {
    let all = cassette::supported().unwrap();
    if all.is_none() {
        eprintln!("SKIPPED: no recorded traffic (set CAIMAN_CASSETTES)");
    }
    all
}

fn rules(exchange: &Exchange) -> Rules {
    let server = match exchange.provider.as_str() {
        "openai" | "azure" | "anthropic" | "gemini" | "vertex" | "bedrock" => Server::Original,
        _ => Server::Compatible,
    };
    Rules { server, turns: Turns::Any, ..Rules::default() }
}

#[test]
fn every_request_that_was_answered_passes_its_validator() {
    let Some(all) = all() else { return };
    let mut failures = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for exchange in all.iter().filter(|exchange| exchange.response.status == 200) {
        let Some(wire) = exchange.wire() else { continue };
        *counts.entry(wire.as_str()).or_default() += 1;
        // Redaction put an underscore where Bedrock takes none.
        let body =
            exchange.request_json().to_string().replace("document-REDACTED_", "document-REDACTED");
        let body = serde_json::from_str(&body).unwrap();
        for violation in validate::request(wire, &body, &rules(exchange)) {
            failures.push(format!("{}: {violation}", exchange.file));
        }
    }
    assert!(failures.is_empty(), "{} of {counts:?}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_answer_can_be_read_and_its_features_are_found() {
    let Some(all) = all() else { return };
    let mut failures = Vec::new();
    for exchange in &all {
        let read = oracle::expect(exchange);
        let mut complain = |what: &str| failures.push(format!("{}: {what}", exchange.file));
        if exchange.response.status >= 400 {
            let error = read.error.expect("an error status is an error");
            if error.message.is_empty() {
                complain("an error without words");
            }
            continue;
        }
        if let Some(error) = &read.error {
            if !exchange.has("error-in-200") {
                complain(&format!("unexpected error {error:?}"));
            }
            continue;
        }
        if read.stop.is_none() {
            complain("no stop");
        }
        // OpenRouter says `tool_calls` of a call that the limit cut in two.
        let honest = exchange.provider != "openrouter";
        if exchange.has("cut") && read.stop != Some(StopReason::Length) && honest {
            complain(&format!("cut, but stopped by {:?}", read.stop));
        }
        if exchange.has("refusal") && read.stop != Some(StopReason::Refusal) {
            complain(&format!("refused, but stopped by {:?}", read.stop));
        }
        let broken = |call: &ExpectedCall| !call.args.is_object();
        if read.stop != Some(StopReason::Length) && read.calls.iter().any(broken) && honest {
            complain(&format!("broken arguments: {:?}", read.calls));
        }
        // The index calls code the provider runs itself a call.
        let own_code =
            exchange.case.contains("code_execution") || exchange.case.contains("terminal");
        if exchange.has("calls") && read.calls.is_empty() && !own_code {
            complain("no calls");
        }
        // Search results of the provider are sealed too; those are no thoughts.
        let searched = exchange.case.contains("WebSearch");
        if exchange.has("signature") && !read.has_seal && !searched {
            complain("no signature");
        }
        if exchange.has("cache-hit") == (read.usage.cache_read == 0) {
            complain(&format!("cache hit: {:?}", read.usage));
        }
        let blocked = read.stop == Some(StopReason::Refusal);
        if read.usage.total() == 0 && !blocked {
            complain("no tokens");
        }
        if read.usage.reasoning > read.usage.output {
            complain(&format!("more thoughts than output: {:?}", read.usage));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), all.len(), failures.join("\n"));
}

#[test]
fn every_wire_is_among_the_recordings_read() {
    let Some(all) = all() else { return };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for wire in all.iter().filter_map(Exchange::wire) {
        *counts.entry(wire.as_str()).or_default() += 1;
    }
    for wire in Wire::ALL {
        assert!(counts.get(wire.as_str()).is_some_and(|count| *count > 0), "{counts:?}");
    }
}
