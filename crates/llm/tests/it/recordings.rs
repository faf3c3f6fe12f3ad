//! Every recording of a wire we have: what we decode equals what the recorded bytes say, and what we
//! would send for the same conversation passes the wire's validator.
//!
//! The folder is `CAIMAN_CASSETTES`, else `../shared/cassettes` beside the workspace.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use base::transcript::{Mended, Part, PartBody};
use base::{CallId, Env, ModelRef, Secret};
use llm::catalog::{Catalog, Seen, Setup};
use llm::credentials::Credentials;
use llm::framing::Framing;
use llm::wire;
use llm::{Answer, Class, Error, Target};
use serde_json::Value;
use settings::provider::{Model, Provider, Wire};
use testkit::cassette::{self, Exchange};
use testkit::oracle::{self, Expected, FailureKind, squeezed};
use testkit::validate::{self, Rules, Server};

use crate::import;
use crate::targets;

/// In how many places a stream is cut.
const CUTS: usize = 24;

/// Runs `check` over every recording; prints a line a failing file and a count a provider.
pub(crate) fn over_all(check: impl Fn(&Exchange, Wire) -> Result<(), String>) {
    let Some(exchanges) = cassette::supported().unwrap() else {
        testkit::parts::skipped("no cassettes; set CAIMAN_CASSETTES to their folder");
        return;
    };
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut report = String::new();
    for exchange in &exchanges {
        let Some(wire) = exchange.wire() else { continue };
        let count = counts.entry(&exchange.provider).or_default();
        count.0 += 1;
        if let Err(why) = check(exchange, wire) {
            count.1 += 1;
            writeln!(report, "FAILED {}: {why}", exchange.file).unwrap();
        }
    }
    for (provider, (all, failed)) in &counts {
        eprintln!("{provider}: {} of {all} recordings pass", all - failed);
    }
    assert!(!counts.is_empty(), "the folder has no recording of a wire we have");
    assert!(report.is_empty(), "{report}");
}

#[test]
fn every_recording_decodes_to_what_its_bytes_say() {
    over_all(|exchange, wire| {
        let expected = oracle::expect(exchange);
        for chunk in [usize::MAX, 7] {
            compare(&expected, decode(exchange, wire, chunk))
                .map_err(|why| format!("in chunks of {chunk}: {why}"))?;
        }
        Ok(())
    });
}

#[test]
fn a_stream_cut_anywhere_is_an_error_or_already_whole() {
    over_all(|exchange, wire| {
        let bytes = exchange.response.bytes();
        let Ok(mut whole) = decode(exchange, wire, usize::MAX) else { return Ok(()) };
        if !exchange.is_stream() {
            return Ok(());
        }
        // Gemini may finish, go on and finish again; then the first end is as good as the second.
        let ends = String::from_utf8_lossy(&bytes).matches("finishReason").count();
        if wire == Wire::Gemini && ends > 1 {
            return Ok(());
        }
        forget_made_up_ids(&mut whole);
        for step in 0..CUTS {
            let cut = bytes.len() * step / CUTS;
            let Ok(mut part) = decode_bytes(exchange, wire, &bytes[..cut], usize::MAX) else {
                continue;
            };
            forget_made_up_ids(&mut part);
            if (&part.parts, part.stop) != (&whole.parts, whole.stop) {
                return Err(format!("cut at {cut} of {} it passes as a whole answer", bytes.len()));
            }
        }
        Ok(())
    });
}

#[test]
fn what_we_would_send_for_every_recording_passes_the_validator() {
    over_all(|exchange, wire| {
        let target = target(exchange, wire);
        let body = exchange.request_json();
        if exchange.response.status >= 400 || body.is_null() {
            return Ok(());
        }
        let request = import::request(wire, &body, &target.maker());
        let encoded = wire::encode(&request, &target);
        let rules = Rules {
            model: Some(target.model.id.clone()),
            call_id: target.quirks.call_id,
            server: Server::Compatible,
            ..Rules::default()
        };
        let found = validate::request(wire, &Value::Object(encoded.body), &rules);
        match found.as_slice() {
            [] => Ok(()),
            [first, ..] => Err(format!("{} violations, first {first}", found.len())),
        }
    });
}

/// The model a recording spoke to, as the catalogue knows it; plain where it does not.
pub(crate) fn target(exchange: &Exchange, wire: Wire) -> Target {
    let body = exchange.request_json();
    let named = body["model"].as_str().map(str::to_owned);
    let id = named.unwrap_or_else(|| model_in_path(&exchange.request.url));
    let own = Provider {
        base_url: Some("http://127.0.0.1".into()),
        api_key: Some(Secret::new("key")),
        project: Some("project".to_owned()),
        ..Provider::default()
    };
    let nowhere = Path::new("/nonexistent");
    let credentials = Credentials::in_file(nowhere.join("credentials.json"));
    let mut setup = Setup::new(Env::default(), credentials, Seen::in_cache(nowhere));
    setup.providers.insert(exchange.provider.clone(), own);
    let model = ModelRef::new(&exchange.provider, &id);
    let known = Catalog::new(setup).resolve(&model).unwrap_or_else(|_| targets::target(wire));
    Target { wire, model: Model { can_reason: true, ..known.model }, ..known }
}

/// Gemini and Bedrock name the model in the path.
fn model_in_path(url: &str) -> String {
    let after = |mark: &str| url.split(mark).nth(1).map(str::to_owned);
    let tail = after("/models/").or_else(|| after("/model/")).unwrap_or_default();
    tail.split([':', '/', '?']).next().unwrap_or_default().to_owned()
}

fn decode(exchange: &Exchange, wire: Wire, chunk: usize) -> Result<Answer, Error> {
    decode_bytes(exchange, wire, &exchange.response.bytes(), chunk)
}

fn decode_bytes(
    exchange: &Exchange,
    wire: Wire,
    bytes: &[u8],
    chunk: usize,
) -> Result<Answer, Error> {
    let target = target(exchange, wire);
    let headers: reqwest::header::HeaderMap = exchange
        .response
        .headers
        .iter()
        .filter_map(|(name, value)| {
            let name = reqwest::header::HeaderName::try_from(name).ok()?;
            Some((name, reqwest::header::HeaderValue::try_from(value).ok()?))
        })
        .collect();
    if exchange.response.status >= 400 {
        return Err(Error::from_response(exchange.response.status, &headers, bytes));
    }
    let kind = exchange.response.header("content-type").unwrap_or_default();
    let (mut framing, mut decoder) = (Framing::of(kind)?, wire::decoder(&target));
    let mut deltas = Vec::new();
    for piece in bytes.chunks(chunk.min(bytes.len().max(1))) {
        framing.push(piece, &mut *decoder, &mut deltas)?;
    }
    framing.finish(&mut *decoder, &mut deltas)?;
    Ok(targets::fold(&target, deltas))
}

pub(crate) fn compare(expected: &Expected, decoded: Result<Answer, Error>) -> Result<(), String> {
    let answer = match (&expected.error, decoded) {
        (Some(failure), Err(error)) => {
            let class = class(failure);
            return if class == error.class {
                Ok(())
            } else {
                Err(format!("error {} ({}) should be {class}", error.class, error.message))
            };
        }
        (Some(failure), Ok(_)) => return Err(format!("should fail: {}", failure.message)),
        (None, Err(error)) => return Err(format!("fails with {}: {error}", error.class)),
        (None, Ok(answer)) => answer,
    };
    let text: String = answer.parts.iter().filter_map(Part::as_text).collect();
    same("text", &expected.text, &text)?;
    same("reasoning", &squeezed(&expected.reasoning), &squeezed(&reasoning(&answer)))?;
    same_calls(expected, &answer)?;
    same("stop", &expected.stop, &answer.stop)?;
    same("usage", &expected.usage, &answer.usage)?;
    same("cost", &expected.cost, &answer.cost)?;
    let sealed = answer.parts.iter().any(|part| part.native.is_some());
    if expected.has_seal && !sealed {
        return Err("a signature was lost".to_owned());
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, want: &T, got: &T) -> Result<(), String> {
    if want == got { Ok(()) } else { Err(format!("{what}: want {want:?}, got {got:?}")) }
}

fn reasoning(answer: &Answer) -> String {
    let thought = |part: &Part| match &part.body {
        PartBody::Reasoning { text } => Some(text.clone()),
        _ => None,
    };
    answer.parts.iter().filter_map(thought).collect()
}

fn same_calls(expected: &Expected, answer: &Answer) -> Result<(), String> {
    let calls: Vec<_> = answer
        .parts
        .iter()
        .filter_map(|part| match &part.body {
            PartBody::Call(call) => Some(call),
            _ => None,
        })
        .collect();
    same("number of calls", &expected.calls.len(), &calls.len())?;
    for (want, got) in expected.calls.iter().zip(calls) {
        same("call's name", &want.name, &got.name)?;
        if let Some(id) = &want.id {
            same("call's id", &id.as_str(), &got.id.as_str())?;
        }
        let arguments = match (&want.args, &got.input.mended) {
            // Text that was no object: the original must be kept.
            (Value::String(_), Some(Mended::Repaired(text) | Mended::Broken(text))) => {
                Value::String(text.clone())
            }
            _ => Value::Object(got.input.value.clone()),
        };
        same("call's arguments", &want.args, &arguments)?;
    }
    Ok(())
}

/// Ids a provider did not give are made anew at each decoding.
pub(crate) fn forget_made_up_ids(answer: &mut Answer) {
    for part in &mut answer.parts {
        if let PartBody::Call(call) = &mut part.body
            && call.id.as_str().starts_with("call_")
        {
            call.id = CallId::new("made");
        }
    }
}

/// What a person would say of a failure: the status, unless the words are plainer.
fn class(failure: &oracle::Failure) -> Class {
    let words = format!("{:?} {}", failure.code, failure.message).to_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| words.contains(word));
    if failure.kind == FailureKind::CutOff {
        return Class::Network;
    }
    match failure.status {
        400 | 413 | 422
            if says(&[
                "context size",
                "context length",
                "context_length",
                "prompt is too long",
            ]) =>
        {
            Class::ContextOverflow
        }
        400 if says(&["api key not valid", "incorrect api key"]) => Class::Auth,
        400 if says(&["credit balance"]) => Class::Billing,
        400 if says(&["invalid model", "model not found", "not a valid model"]) => {
            Class::ModelNotFound
        }
        404 if says(&["model"]) => Class::ModelNotFound,
        400 | 404 | 413 | 422 | 501 => Class::BadRequest,
        401 | 403 => Class::Auth,
        402 => Class::Billing,
        408 | 504 => Class::Timeout,
        429 if says(&["insufficient_quota"]) => Class::Billing,
        429 => Class::RateLimit,
        503 | 529 => Class::Overloaded,
        200 if says(&["overloaded"]) => Class::Overloaded,
        200 if says(&["rate_limit", "rate limit", "throttl", "429"]) => Class::RateLimit,
        200 if says(&["invalid_request", "invalid request", "bad request", "400"]) => {
            Class::BadRequest
        }
        _ => Class::Server,
    }
}
