//! What decoding a long stream costs, beside splitting the same bytes into events.
//!
//! `cargo bench -p llm` prints one line a wire first: nanoseconds a delta for splitting by us, by
//! the `sse-stream` crate, and for the whole way to deltas, with both ratios. Then criterion measures.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench fails and reports by them")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput};
use futures::{FutureExt as _, StreamExt as _};
use llm::wire::{self, StreamEvent};
use llm::{Auth, Delta, Target, Transport, sse};
use serde_json::Map;
use settings::provider::{Model, Network, Quirks, Wire};

const DELTAS: u32 = 20_000;
/// Many, since the kernel counts processor time in steps of some milliseconds.
const RUNS: u32 = 50;
const CHUNK_BYTES: usize = 4096;
/// The promise: the whole way costs less than twice the splitting.
const LIMIT: f64 = 2.0;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for (name, wire, stream) in streams() {
        report(name, wire, &stream);
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(stream.len() as u64));
        group.bench_function("split", |bench| bench.iter(|| split(&stream)));
        group.bench_function("split_by_sse_stream", |bench| bench.iter(|| split_by_crate(&stream)));
        group.bench_function("decode", |bench| bench.iter(|| decode(wire, &stream)));
        group.finish();
    }
    criterion.final_summary();
}

/// One line a wire. Processor time, so that a busy machine does not change it.
fn report(name: &str, wire: Wire, stream: &[u8]) {
    let cost = |work: &dyn Fn() -> usize| {
        black_box(work());
        let started = processor_time();
        for _ in 0..RUNS {
            black_box(work());
        }
        let spent = processor_time().saturating_sub(started);
        spent.as_secs_f64() * 1e9 / f64::from(RUNS) / f64::from(DELTAS)
    };
    let deltas = decode(wire, stream);
    if deltas < DELTAS as usize {
        println!("{name}: the decoder gives only {deltas} deltas; not measured");
        return;
    }
    let ours = cost(&|| split(stream));
    let theirs = cost(&|| split_by_crate(stream));
    let whole = cost(&|| decode(wire, stream));
    println!(
        "{name}: split {ours:.0} ns, split by sse-stream {theirs:.0} ns, decode {whole:.0} ns a delta; \
         decode is {:.2}x ours, {:.2}x sse-stream's (limit {LIMIT}x)",
        whole / ours,
        whole / theirs
    );
    assert!(whole / theirs < LIMIT, "{name}: decoding costs more than {LIMIT}x splitting");
}

/// What this thread has used so far; the clock where the system does not tell.
fn processor_time() -> Duration {
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let used = used.and_then(|text| text.split(' ').next()?.parse().ok());
    used.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn split(stream: &[u8]) -> usize {
    let mut decoder = sse::Decoder::new();
    let mut events = 0;
    for chunk in stream.chunks(CHUNK_BYTES) {
        decoder.push(chunk);
        while let Some(event) = decoder.next().unwrap() {
            black_box(event);
            events += 1;
        }
    }
    events
}

fn split_by_crate(stream: &[u8]) -> usize {
    let chunks =
        stream.chunks(CHUNK_BYTES).map(|chunk| Ok::<_, Infallible>(Bytes::copy_from_slice(chunk)));
    let mut events = sse_stream::SseStream::from_bytes_stream(futures::stream::iter(chunks));
    let mut count = 0;
    while let Some(Some(event)) = events.next().now_or_never() {
        black_box(event.unwrap());
        count += 1;
    }
    count
}

fn decode(wire: Wire, stream: &[u8]) -> usize {
    let mut decoder = wire::decoder(&target(wire));
    let mut events = sse::Decoder::new();
    let mut deltas: Vec<Delta> = Vec::new();
    let mut count = 0;
    for chunk in stream.chunks(CHUNK_BYTES) {
        events.push(chunk);
        while let Some(event) = events.next().unwrap() {
            let event = StreamEvent { name: event.name, data: event.data };
            decoder.event(event, &mut deltas).unwrap();
        }
        count += deltas.len();
        black_box(&deltas);
        deltas.clear();
    }
    count
}

fn streams() -> [(&'static str, Wire, Vec<u8>); 3] {
    [
        ("chat", Wire::OpenaiChat, chat()),
        ("anthropic", Wire::AnthropicMessages, anthropic()),
        ("responses", Wire::OpenaiResponses, responses()),
    ]
}

/// Words as models stream them: mostly short, some with escapes, some not ASCII.
fn words() -> impl Iterator<Item = &'static str> {
    let words =
        [" the", " quick", " brown", "\\n", " naïve", " \\\"fox\\\"", ".", " jumps", " over"];
    words.into_iter().cycle().take(DELTAS as usize)
}

fn chat() -> Vec<u8> {
    let mut stream = String::new();
    for word in words() {
        write!(
            stream,
            "data: {{\"id\":\"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012\",\"object\":\"chat.completion.chunk\",\
             \"created\":1782322100,\"model\":\"gpt-4.1-2025-04-14\",\"service_tier\":\"default\",\
             \"system_fingerprint\":\"fp_0123456789\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}},\
             \"logprobs\":null,\"finish_reason\":null}}],\"usage\":null,\"obfuscation\":\"a1B2c3\"}}\n\n"
        )
        .unwrap();
    }
    stream.push_str("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    stream.into_bytes()
}

fn anthropic() -> Vec<u8> {
    let mut stream = String::from(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\
         \"role\":\"assistant\",\"model\":\"claude\",\"content\":[],\"stop_reason\":null,\
         \"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n\
         event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
         \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    );
    for word in words() {
        write!(
            stream,
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\
             \"delta\":{{\"type\":\"text_delta\",\"text\":\"{word}\"}}}}\n\n"
        )
        .unwrap();
    }
    stream.push_str(
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
         event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\
         \"usage\":{\"output_tokens\":20000}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    stream.into_bytes()
}

fn responses() -> Vec<u8> {
    const ID: &str = "msg_0200025d411b0585016a3c13b4018c81a3852ca4fd5be2b6a6";
    let mut stream = format!(
        "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{\"id\":\"resp_1\",\
         \"status\":\"in_progress\",\"output\":[]}},\"sequence_number\":0}}\n\n\
         event: response.output_item.added\ndata: {{\"type\":\"response.output_item.added\",\"item\":{{\
         \"id\":\"{ID}\",\"type\":\"message\",\"status\":\"in_progress\",\"content\":[],\"role\":\"assistant\"}},\
         \"output_index\":0,\"sequence_number\":1}}\n\n"
    );
    for (number, word) in words().enumerate() {
        write!(
            stream,
            "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"content_index\":0,\
             \"delta\":\"{word}\",\"item_id\":\"{ID}\",\"logprobs\":[],\"obfuscation\":\"a1B2c3d4\",\
             \"output_index\":0,\"sequence_number\":{number}}}\n\n"
        )
        .unwrap();
    }
    stream.push_str(
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\
         \"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":20000}}}\n\n",
    );
    stream.into_bytes()
}

fn target(wire: Wire) -> Target {
    Target {
        provider: "bench".to_owned(),
        model: Model { id: "model".to_owned(), ..Model::default() },
        wire,
        transport: Transport::Direct,
        base_url: String::new(),
        auth: Auth::Anonymous,
        headers: BTreeMap::new(),
        extra_body: Map::new(),
        quirks: Quirks::default(),
        system_prompt_prefix: None,
        flat_rate: false,
        network: Network::default(),
    }
}
