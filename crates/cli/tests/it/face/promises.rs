//! What must hold, measured at the real binary: nothing runs while nothing happens, and how long a session is makes
//! no key slower. `scripts/face.py` measures more, against the release build's figures.

use std::path::Path;
use std::time::{Duration, Instant};

use base::{Entry, EntryId, EntryKind, ModelRef, Part, SessionId, StopReason, Timestamp, Usage};
use serde_json::json;
use store::{NewSession, Store};
use testkit::Script;
use testkit::terminal::Key;

use super::live::Live;
use super::stage::{Face, LARGE, Stage, USUAL};

const PATIENCE: Duration = Duration::from_secs(30);
/// Letters that neither the model nor the interface writes.
const LETTERS: [&str; 5] = ["Z", "Q", "X", "J", "K"];

/// A user whose model says what a test says, and whose window never fills.
fn held() -> (Live, Stage) {
    let live = Live::start();
    let models = json!([{ "id": "m", "context_window": 100_000_000, "default_max_tokens": 4000 }]);
    let lab = json!({ "base_url": live.url, "models": models });
    let stage = Stage::new(Script::new()).set(&json!({ "providers": { "lab": lab } }));
    (live, stage)
}

/// Keeps a session of so many messages; returns its id.
fn session(stage: &Stage, messages: usize) -> String {
    let store = Store::open(&stage.home.database()).unwrap().store;
    let folder = stage.path("").canonicalize().unwrap().display().to_string();
    let (id, project, at) = (SessionId::new(), folder.clone(), Timestamp::default());
    store
        .create_session(NewSession { id, folder, project, agent: None, child_of: None, at })
        .wait()
        .unwrap();
    let mut parent = None;
    let said = |number: usize| {
        let kind = if number.is_multiple_of(2) {
            EntryKind::User { parts: vec![Part::user_text(format!("question {number}"))] }
        } else {
            EntryKind::Assistant {
                parts: vec![Part::assistant_text(format!("**answer** {number}\n\n- a\n- b\n"))],
                model: ModelRef::new("lab", "m"),
                stop: StopReason::Done,
                usage: Usage::default(),
            }
        };
        let id = EntryId::new();
        Entry { id, parent: parent.replace(id), at, kind }
    };
    store.append(id, (0..messages).map(said).collect()).wait().unwrap();
    id.to_string()
}

/// Time from a key to its echo; the letter is taken back.
fn echo(face: &Face, letter: &str) -> Duration {
    let began = Instant::now();
    face.types(letter);
    face.waits(letter);
    let took = began.elapsed();
    face.press(Key::Backspace);
    face.waits_gone(letter);
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[test]
fn a_key_is_echoed_as_soon_in_a_session_of_10_000_messages_while_the_model_talks() {
    let (live, stage) = held();
    let empty = stage.ready(LARGE);
    let (other_live, other_stage) = held();
    let id = session(&other_stage, 10_000);
    let long = other_stage.open(LARGE, &["--session", &id]);
    long.waits("answer 9999");
    for (live, face) in [(&live, &empty), (&other_live, &long)] {
        face.says("Go on");
        live.says("Well,");
        face.waits("Well,");
    }
    let (mut short_times, mut long_times) = (Vec::new(), Vec::new());
    // In turns, so that whatever else runs slows both alike.
    for round in 0..40 {
        for live in [&live, &other_live] {
            live.says(&" word".repeat(3));
        }
        let letter = LETTERS[round % LETTERS.len()];
        short_times.push(echo(&empty, letter));
        long_times.push(echo(&long, letter));
    }
    let (short, long) = (median(short_times), median(long_times));
    assert!(long < short * 2 + Duration::from_millis(5), "{short:?}, {long:?} after 10,000");
    assert!(long < Duration::from_millis(100), "{long:?}");
}

#[test]
fn a_streamed_word_costs_few_bytes() {
    const WORDS: usize = 400;
    let (live, stage) = held();
    let face = stage.ready(LARGE);
    face.says("Go on");
    live.says("Well,");
    face.waits("Well,");
    let before = face.terminal.raw().len();
    for number in 0..WORDS {
        live.says(if number % 60 == 59 { "\n\n" } else { " word" });
        std::thread::sleep(Duration::from_millis(2));
    }
    live.says(" END");
    face.waits("END");
    let written = face.terminal.raw().len() - before;
    assert!(written / WORDS < 200, "{written} bytes for {WORDS} words");
}

/// Processor time of a process, in ticks of the clock.
#[cfg(target_os = "linux")]
fn ticks(face: &Face) -> u64 {
    let id = face.terminal.id().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_runs_and_nothing_is_written_while_nothing_happens_though_a_server_is_attached() {
    const WINDOW: Duration = Duration::from_secs(5);
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/tests/it/mcp/server.py");
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        testkit::parts::skipped(&format!(
            "a test with an MCP server: there is no {}",
            python.display()
        ));
        return;
    }
    let stage = Stage::new(Script::new().text("Hello.").usage(10, 5));
    stage.home.write("spec.json", r#"{"tools":[{"name":"add","description":"Adds."}]}"#);
    let spec = stage.home.path("spec.json").display().to_string();
    let idle = json!({ "type": "stdio", "command": python, "args": [server, spec] });
    let stage = stage.set(&json!({ "mcp": { "idle": idle } }));
    let face = stage.ready(USUAL);
    face.says("Hello");
    face.waits("10 in, 5 out");
    let end = Instant::now() + PATIENCE;
    while !stage.home.path("spec.json.heard").exists() {
        assert!(Instant::now() < end, "the server was not started");
        std::thread::sleep(Duration::from_millis(20));
    }
    // What a turn leaves to be done is done within the first windows; then nothing is, ever.
    let quiet = (0..4).any(|_| {
        let before = (face.terminal.raw().len(), ticks(&face));
        std::thread::sleep(WINDOW);
        before == (face.terminal.raw().len(), ticks(&face))
    });
    assert!(quiet, "{} ticks, {:?}", ticks(&face), face.terminal.screen());
}
