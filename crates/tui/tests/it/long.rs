//! What a frame of the conversation costs: it must not depend on how much was said. The bench `frame` measures the
//! same for longer.

use std::time::Instant;

use base::interface::DiffMode;
use base::protocol::Event;
use base::{Entry, EntryId, EntryKind, ModelRef, Part, SessionId, StopReason, Timestamp, Usage};
use tui::canvas::{Canvas, Rect};
use tui::look::{Look, Pictures};
use tui::theme::Theme;
use tui::transcript::{More, Scroll, Transcript};

pub(crate) const SIZE: (u16, u16) = (200, 60);
/// The promise: a frame of a session a hundred times as long costs at most this much more.
pub(crate) const LIMIT: f64 = 1.3;

pub(crate) const ANSWER: &str = "I **looked** at `src/main.rs:12` and found:\n\n- one thing\n- another thing, with a longer \
    explanation that is wrapped on most screens\n\n```rust\nfn main() {\n    println!(\"hello {}\", 1 + 2);\n}\n```\n";

pub(crate) fn look(frame: u64) -> Look {
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

/// A conversation of so many messages.
pub(crate) fn transcript(messages: usize) -> (Transcript, SessionId) {
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
pub(crate) fn still(transcript: &mut Transcript, canvas: &mut Canvas, frame: u64) {
    canvas.reset(SIZE.0, SIZE.1);
    transcript.draw(canvas, Rect::sized(SIZE.0, SIZE.1), &look(frame));
}

/// One frame a few rows up or down.
pub(crate) fn scrolled(transcript: &mut Transcript, canvas: &mut Canvas, frame: u64) {
    transcript.scroll(Scroll::Rows(if frame.is_multiple_of(2) { -3 } else { 3 }));
    still(transcript, canvas, frame);
}

/// A kind of frame.
pub(crate) type Frame = fn(&mut Transcript, &mut Canvas, u64);

/// Microseconds a frame costs with 100 and with 10,000 messages.
pub(crate) struct Cost {
    pub(crate) short: f64,
    pub(crate) long: f64,
}

/// Measures both in turns; the best of some rounds counts, since whatever else runs only ever adds.
pub(crate) fn compared(draw: Frame, frames: u32, rounds: u32) -> Cost {
    let mut best = Cost { short: f64::INFINITY, long: f64::INFINITY };
    for _ in 0..rounds {
        best.short = best.short.min(microseconds(100, draw, frames));
        best.long = best.long.min(microseconds(10_000, draw, frames));
    }
    best
}

/// A frame while an answer streams in.
fn microseconds(messages: usize, draw: Frame, frames: u32) -> f64 {
    let (mut transcript, session) = transcript(messages);
    let (mut canvas, stream) = (Canvas::new(SIZE.0, SIZE.1), EntryId::new());
    draw(&mut transcript, &mut canvas, 0);
    let began = Instant::now();
    for frame in 0..frames {
        let delta = Event::Text { session, entry: stream, delta: "word ".to_owned() };
        transcript.see(&delta, u64::from(frame));
        draw(&mut transcript, &mut canvas, u64::from(frame));
    }
    began.elapsed().as_secs_f64() * 1e6 / f64::from(frames)
}

#[test]
fn a_frame_costs_the_same_after_100_messages_and_after_10_000() {
    for (name, draw) in [("streaming", still as Frame), ("scrolling", scrolled)] {
        let mut best = compared(draw, 60, 7);
        // On a busy machine it takes more rounds until both were measured undisturbed.
        for _ in 0..9 {
            if best.long / best.short < LIMIT {
                break;
            }
            let more = compared(draw, 60, 7);
            best.short = best.short.min(more.short);
            best.long = best.long.min(more.long);
        }
        let Cost { short, long } = best;
        assert!(long / short < LIMIT, "{name}: {short:.0} µs at 100, {long:.0} µs at 10,000");
    }
}
