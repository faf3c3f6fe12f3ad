//! What a frame of the conversation costs: it must not depend on how much was said.
//!
//! `cargo bench -p tui --bench frame` prints one line for each kind of frame first: microseconds with 100 and
//! with 10,000 messages, and their ratio. Then criterion measures. It fails if the ratio is too large.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::print_stdout, reason = "a bench reports by it")]

#[path = "../tests/it/long.rs"]
mod long;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use criterion::Criterion;
use tui::canvas::Canvas;
use tui::code::{Language, Lexer};
use tui::markdown::{Laid, Markdown};

use long::{ANSWER, Cost, LIMIT, SIZE, compared, look, scrolled, still, transcript};

const FRAMES: u32 = 2_000;

/// Prints what a kind of frame costs; tells whether the promise holds.
fn report(name: &str, draw: long::Frame) -> bool {
    let Cost { short, long } = compared(draw, FRAMES, 3);
    let ratio = long / short;
    let verdict = if ratio < LIMIT { "holds" } else { "BROKEN" };
    println!(
        "{name}: {short:.1} µs at 100, {long:.1} µs at 10,000 messages, ratio {ratio:.2}: {verdict}"
    );
    ratio < LIMIT
}

/// A long answer in small pieces, laid out after each.
fn stream(whole: &str) -> usize {
    let (mut text, mut laid) = (Markdown::default(), Laid::default());
    let mut rest = whole;
    while !rest.is_empty() {
        let (delta, after) = rest.split_at(rest.len().min(10));
        text.push(delta);
        text.lay_out(&mut laid, 100, &look(0));
        rest = after;
    }
    laid.rows().len()
}

fn main() -> ExitCode {
    let holds = [report("streaming", still), report("scrolling", scrolled)];
    let whole = ANSWER.repeat(200_000 / ANSWER.len());
    let began = Instant::now();
    black_box(stream(&whole));
    let took = began.elapsed().as_secs_f64();
    let deltas = whole.len().div_ceil(10);
    println!("markdown: {deltas} deltas of {} KB in {:.0} ms", whole.len() / 1_000, took * 1e3);

    let mut criterion = Criterion::default().configure_from_args();
    for messages in [100, 10_000] {
        let (mut transcript, _) = transcript(messages);
        let mut canvas = Canvas::new(SIZE.0, SIZE.1);
        let mut frame = 0;
        criterion.bench_function(&format!("frame/{messages}"), |bench| {
            bench.iter(|| {
                frame += 1;
                scrolled(&mut transcript, &mut canvas, frame);
            });
        });
    }
    let line = "    let found = self.items.iter().filter(|item| item.is_open).map(Item::new); // why not \"this\"";
    criterion.bench_function("code/line", |bench| {
        let mut lexer = Lexer::new(Language::named("rust"));
        bench.iter(|| black_box(lexer.tokens(black_box(line))));
    });
    criterion.final_summary();
    if holds.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
