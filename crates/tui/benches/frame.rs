//! What a frame of the conversation costs: it must not depend on how much was said.
//!
//! `cargo bench -p tui --bench frame` prints one line for each kind of frame first: microseconds with 100 and
//! with 10,000 messages, and their ratio. Then criterion measures.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::print_stdout, reason = "a bench reports by it")]

use std::hint::black_box;
use std::time::Instant;

use base::config::DiffMode;
use base::protocol::Event;
use base::{Entry, EntryId, EntryKind, ModelRef, Part, SessionId, StopReason, Timestamp, Usage};
use criterion::Criterion;
use tui::canvas::{Canvas, Rect};
use tui::code::{Language, Lexer};
use tui::look::{Look, Pictures};
use tui::markdown::{Laid, Markdown};
use tui::theme::Theme;
use tui::transcript::{More, Scroll, Transcript};

const SIZE: (u16, u16) = (200, 60);
const FRAMES: u32 = 2_000;
/// The promise: a frame of a session a hundred times as long costs at most this much more.
const LIMIT: f64 = 1.3;

const ANSWER: &str = "I **looked** at `src/main.rs:12` and found:\n\n- one thing\n- another thing, with a longer \
    explanation that is wrapped on most screens\n\n```rust\nfn main() {\n    println!(\"hello {}\", 1 + 2);\n}\n```\n";

fn look(frame: u64) -> Look {
    Look {
        theme: Theme::dark(),
        version: 0,
        diff: DiffMode::Auto,
        frame,
        now_ms: frame * 16,
        unicode: true,
        pictures: Pictures::HalfBlocks,
        unfold: "ctrl+o".to_owned(),
    }
}

fn entry(kind: EntryKind) -> Entry {
    Entry { id: EntryId::new(), parent: None, at: Timestamp::default(), kind }
}

fn transcript(messages: usize) -> (Transcript, SessionId) {
    let said = |number: usize| {
        if number.is_multiple_of(2) {
            return entry(EntryKind::User {
                parts: vec![Part::user_text(format!("question {number}"))],
            });
        }
        entry(EntryKind::Assistant {
            parts: vec![Part::assistant_text(ANSWER)],
            model: ModelRef::new("demo", "tour"),
            stop: StopReason::Done,
            usage: Usage::default(),
        })
    };
    let entries: Vec<Entry> = (0..messages).map(said).collect();
    let (mut transcript, session) = (Transcript::new(), SessionId::new());
    transcript.load(session, &entries, More::Nothing);
    (transcript, session)
}

/// One frame at the end of the conversation.
fn still(transcript: &mut Transcript, canvas: &mut Canvas, frame: u64) {
    canvas.reset(SIZE.0, SIZE.1);
    transcript.draw(canvas, Rect::sized(SIZE.0, SIZE.1), &look(frame));
}

/// One frame a few rows up or down.
fn scrolled(transcript: &mut Transcript, canvas: &mut Canvas, frame: u64) {
    transcript.scroll(Scroll::Rows(if frame.is_multiple_of(2) { -3 } else { 3 }));
    still(transcript, canvas, frame);
}

type Frame = fn(&mut Transcript, &mut Canvas, u64);

fn microseconds(messages: usize, draw: Frame) -> f64 {
    let (mut transcript, session) = transcript(messages);
    let (mut canvas, stream) = (Canvas::new(SIZE.0, SIZE.1), EntryId::new());
    draw(&mut transcript, &mut canvas, 0);
    let began = Instant::now();
    for frame in 0..FRAMES {
        let delta = Event::Text { session, entry: stream, delta: "word ".to_owned() };
        transcript.see(&delta, u64::from(frame));
        draw(&mut transcript, &mut canvas, u64::from(frame));
    }
    began.elapsed().as_secs_f64() * 1e6 / f64::from(FRAMES)
}

fn report(name: &str, draw: Frame) {
    let (short, long) = (microseconds(100, draw), microseconds(10_000, draw));
    let ratio = long / short;
    let verdict = if ratio < LIMIT { "holds" } else { "BROKEN" };
    println!(
        "{name}: {short:.1} µs at 100, {long:.1} µs at 10,000 messages, ratio {ratio:.2}: {verdict}"
    );
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

fn main() {
    report("streaming", still);
    report("scrolling", scrolled);
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
}
