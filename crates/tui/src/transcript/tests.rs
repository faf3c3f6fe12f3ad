//! The conversation as it is seen: screens, scrolling, copying, folding, and that nothing jumps.

use base::block::{Node, Todo, TodoState};
use base::protocol::{ChildProgress, ChildState, Ending, Event, HookState};
use base::transcript::Outcome;
use base::{
    Block, CallId, EntryId, EntryKind, FailureClass, HookRunId, ModelRef, Money, Part, PartBody,
    RequestId, SessionId, StopReason, TurnId, Usage,
};
use proptest::prelude::*;

use super::sample::{answer, call, entry, look, results, text, user};
use super::*;

fn screen(transcript: &mut Transcript, width: u16, height: u16) -> String {
    let mut canvas = Canvas::new(width, height);
    transcript.draw(&mut canvas, Rect::sized(width, height), &look());
    canvas.plain()
}

/// What is seen, without the bar that tells where.
fn words(transcript: &mut Transcript) -> String {
    screen(transcript, 60, 12).replace(['▐', ' '], "")
}

fn thought(text: &str) -> Part {
    Part::new(PartBody::Reasoning { text: text.to_owned() }, base::Origin::Assistant)
}

/// A small session of every kind of item.
fn session() -> Vec<Entry> {
    let diff = "@@ -1,3 +1,3 @@\n fn main() {\n-    old();\n+    new();\n }\n";
    vec![
        user("fix the test in src/main.rs:12"),
        answer(
            vec![
                thought("**Looking** at the test."),
                Part::assistant_text("I look first."),
                call("a", "view", &[("file_path", "src/main.rs")]),
                call("b", "grep", &[("pattern", "old")]),
                call("c", "view", &[("file_path", "src/lib.rs")]),
            ],
            StopReason::ToolCalls,
        ),
        results(&[
            ("a", "view", "src/main.rs", text("1\tfn main() {")),
            ("b", "grep", "2 matches", text("src/main.rs:2: old();")),
            ("c", "view", "src/lib.rs", text("1\tmod x;")),
        ]),
        answer(
            vec![
                call("d", "edit", &[("file_path", "src/main.rs")]),
                call("e", "bash", &[("command", "cargo test"), ("description", "Run the tests")]),
            ],
            StopReason::ToolCalls,
        ),
        results(&[
            (
                "d",
                "edit",
                "src/main.rs",
                Block::Diff { path: "src/main.rs".into(), unified: diff.into() },
            ),
            (
                "e",
                "bash",
                "Run the tests",
                text("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nok"),
            ),
        ]),
        answer(vec![Part::assistant_text("It **passes** now.")], StopReason::Done),
    ]
}

#[test]
fn a_session_at_80_columns() {
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &session(), More::Nothing);
    insta::assert_snapshot!(screen(&mut transcript, 80, 32), @r#"

    › fix the test in src/main.rs:12

      thought · Looking at the test.

      I look first.

    ● read 2 files, searched 1×
    ● edit src/main.rs +1 −1
      │ 1   fn main() {
      │ 2 -     old();
      │ 2 +     new();
      └ 3   }

    ● bash Run the tests
      │ $ cargo test
      │ one
      │ two
      │ … 4 more lines, ctrl+o
      │ seven
      │ eight
      │ nine
      └ ok

      It passes now.

      tour · 3.6k in, 1k out
    "#);
}

#[test]
fn a_session_at_40_columns() {
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &session(), More::Nothing);
    insta::assert_snapshot!(screen(&mut transcript, 40, 10), @r#"
    │ two
    │ … 4 more lines, ctrl+o
    │ seven
    │ eight
    │ nine
    └ ok

    It passes now.

    tour · 3.6k in, 1k out
    "#);
}

/// Events that make [`session`], as a turn that runs sends them.
fn live(session: SessionId, entries: &[Entry]) -> Vec<Event> {
    let model = ModelRef::new("demo", "tour");
    let mut events =
        vec![Event::TurnStarted { session, turn: TurnId::new(), entries: Vec::new(), model }];
    for entry in entries {
        if let EntryKind::Assistant { parts, .. } = &entry.kind {
            for part in parts {
                let id = entry.id;
                if let PartBody::Text { text } = &part.body {
                    events.extend(pieces(text).map(|delta| Event::Text {
                        session,
                        entry: id,
                        delta,
                    }));
                }
                if let PartBody::Reasoning { text } = &part.body {
                    let thought = |delta| Event::Reasoning { session, entry: id, delta };
                    events.extend(pieces(text).map(thought));
                }
            }
        }
        if let EntryKind::ToolResults { parts } = &entry.kind {
            for result in parts.iter().filter_map(Part::as_result) {
                let shown = result.shown.clone().unwrap();
                let (call, title) = (result.call.clone(), shown.title.clone());
                events.push(Event::ToolStarted {
                    session,
                    call: call.clone(),
                    title: title.clone(),
                });
                let body = text("half");
                events.push(Event::ToolProgress { session, call: call.clone(), body });
                let (outcome, body) = (result.outcome, shown.body.clone());
                events.push(Event::ToolDone { session, call, outcome, title, body });
            }
        }
        events.push(Event::Appended { session, entry: entry.clone() });
    }
    events
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive(' ').map(str::to_owned)
}

fn done(session: SessionId) -> Event {
    Event::TurnDone {
        session,
        turn: TurnId::new(),
        stop: StopReason::Done,
        ending: Ending::Answered,
        usage: Usage { input: 3_600, output: 1_020, ..Usage::default() },
        cost: Some(Money::from_dollars(0.12)),
    }
}

#[test]
fn events_and_stored_entries_show_the_same() {
    let (session_id, entries) = (SessionId::new(), session());
    let mut stored = Transcript::new();
    stored.load(session_id, &entries, More::Nothing);
    let mut seen = Transcript::new();
    seen.load(session_id, &[], More::Nothing);
    for event in live(session_id, &entries) {
        seen.see(&event, 0);
        screen(&mut seen, 80, 30);
    }
    seen.see(&done(session_id), 0);
    let (stored, seen) = (screen(&mut stored, 80, 40), screen(&mut seen, 80, 40));
    let same = |text: &str| {
        let text = text.replace("thought for 0 ms", "thought").replace(" · 0 ms", "");
        text.replace(" · $0.12", "").trim().to_owned()
    };
    assert_eq!(same(&seen), same(&stored));
}

#[test]
fn states_of_a_call_are_told() {
    let id = SessionId::new();
    let mut transcript = Transcript::new();
    let calls = vec![
        call("a", "bash", &[("command", "make")]),
        call("b", "write", &[("file_path", "x.txt")]),
        call("c", "bash", &[("command", "rm -rf /")]),
        call("d", "fetch", &[("url", "https://x.y")]),
    ];
    transcript.load(id, &[user("go"), answer(calls, StopReason::ToolCalls)], More::Nothing);
    let running = Event::ToolStarted { session: id, call: CallId::new("a"), title: "make".into() };
    transcript.see(&running, 0);
    let lines: Vec<String> = (1..=20).map(|line| format!("line {line}")).collect();
    let body = text(&lines.join("\n"));
    transcript.see(&Event::ToolProgress { session: id, call: CallId::new("a"), body }, 0);
    transcript.see(
        &Event::ApprovalNeeded {
            session: id,
            request: RequestId::new(),
            agent: None,
            call: CallId::new("b"),
            title: "x.txt".into(),
            reason: "writes".into(),
            rules: vec![],
            risky: vec![],
            body: None,
        },
        0,
    );
    let reason = "a rule forbids it".to_owned();
    transcript.see(
        &Event::Denied { session: id, call: CallId::new("c"), tool: "bash".into(), reason },
        0,
    );
    let failed = Event::ToolDone {
        session: id,
        call: CallId::new("d"),
        outcome: Outcome::Failed,
        title: "https://x.y".into(),
        body: Some(text("404 not found")),
    };
    transcript.see(&failed, 0);
    assert!(transcript.is_animated());
    let mut canvas = Canvas::new(60, 20);
    let at = Look { now_ms: 12_500, ..look() };
    transcript.draw(&mut canvas, Rect::sized(60, 20), &at);
    insta::assert_snapshot!(canvas.plain(), @r#"

    › go

    ● bash make · 12 s
      │ … 15 lines before
      │ line 16
      │ line 17
      │ line 18
      │ line 19
      └ line 20

    ◌ write x.txt · waiting for you
    ✗ bash rm -rf / · not allowed
      └ a rule forbids it

    ✗ fetch https://x.y · failed
      └ 404 not found
    "#);
    transcript.see(
        &Event::TurnDone {
            session: id,
            turn: TurnId::new(),
            stop: StopReason::Cancelled,
            ending: Ending::Cancelled,
            usage: Usage::default(),
            cost: None,
        },
        20_000,
    );
    assert!(!transcript.is_animated());
    let after = screen(&mut transcript, 60, 24);
    assert!(after.contains("bash make · stopped"), "{after}");
    assert!(after.contains("write x.txt · stopped"), "{after}");
}

#[test]
fn sub_agents_stand_below_their_call() {
    let id = SessionId::new();
    let (child, grandchild) = (SessionId::new(), SessionId::new());
    let mut transcript = Transcript::new();
    let calls = vec![call("a", "agent", &[("description", "find uses")])];
    transcript.load(id, &[user("go"), answer(calls, StopReason::ToolCalls)], More::Nothing);
    let started = |session, call: &str, title: &str| Event::ToolStarted {
        session,
        call: CallId::new(call),
        title: title.into(),
    };
    let child_of = |session, call: &str, child, agent: &str| Event::ChildStarted {
        session,
        call: CallId::new(call),
        child,
        agent: agent.into(),
        color: Some("blue".into()),
    };
    let usage = Usage { input: 34_000, output: 160, ..Usage::default() };
    let model = ModelRef::new("demo", "tour");
    let events = [
        started(id, "a", "explore: find uses"),
        child_of(id, "a", child, "explore"),
        started(child, "x", "src/main.rs"),
        started(child, "y", "helper: look deeper"),
        child_of(child, "y", grandchild, "helper"),
        started(grandchild, "z", "deep.rs"),
        Event::Spent { session: child, model, usage, cost: None },
        Event::ToolProgress {
            session: id,
            call: CallId::new("a"),
            body: Block::Tree { roots: vec![Node { label: "ignored".into(), children: vec![] }] },
        },
    ];
    for event in &events {
        transcript.see(event, 0);
    }
    insta::assert_snapshot!(screen(&mut transcript, 60, 12), @r#"

    › go

    ● agent explore: find uses
      │ ● explore · 2 calls · 34.2k tokens · 0 s
      │   ● src/main.rs
      │   ● helper: look deeper
      │     ● helper · 1 call · 0 s
      └       ● deep.rs
    "#);
    transcript.see(&done(child), 41_000);
    let report = Event::ToolDone {
        session: id,
        call: CallId::new("a"),
        outcome: Outcome::Done,
        title: "explore: find uses".into(),
        body: Some(text("Two **uses**: `a` and `b`.")),
    };
    transcript.see(&report, 41_000);
    insta::assert_snapshot!(screen(&mut transcript, 60, 12), @r#"

    › go

    ● agent explore: find uses · 41 s
      │ ● explore · 2 calls · 34.2k tokens · 41 s
      └ Two uses: a and b.
    "#);
}

#[test]
fn every_block_is_shown() {
    let todo = |text: &str, state| Todo { text: text.into(), state };
    let node = |label: &str, children| Node { label: label.into(), children };
    let blocks = [
        Block::Table {
            head: vec!["name".into(), "size".into()],
            rows: vec![vec!["a.rs".into(), "12".into()], vec!["b.rs".into(), "3".into()]],
        },
        Block::Todos {
            items: vec![
                todo("read", TodoState::Completed),
                todo("write", TodoState::InProgress),
                todo("test", TodoState::Pending),
            ],
        },
        Block::Tree {
            roots: vec![node(
                "src",
                vec![node("a", vec![node("b.rs", vec![])]), node("c.rs", vec![])],
            )],
        },
    ];
    let (mut calls, mut ended) = (Vec::new(), Vec::new());
    let ids = ["a", "b", "c"];
    for (id, block) in ids.iter().zip(blocks) {
        calls.push(call(id, "tool", &[]));
        ended.push((*id, "tool", "shows", block));
    }
    let mut transcript = Transcript::new();
    let entries = [user("go"), answer(calls, StopReason::ToolCalls), results(&ended)];
    transcript.load(SessionId::new(), &entries, More::Nothing);
    insta::assert_snapshot!(screen(&mut transcript, 40, 22), @r#"

    › go

    ● tool shows
      │ name  size
      │ ────  ────
      │ a.rs  12
      └ b.rs  3

    ● tool shows
      │ [x] read
      │ [>] write
      └ [ ] test

    ● tool shows
      │ src
      │ ├ a
      │ │ └ b.rs
      └ └ c.rs
    "#);
}

#[test]
fn notes_are_short_lines() {
    let id = SessionId::new();
    let mut transcript = Transcript::new();
    let usage = Usage { input: 182_000, ..Usage::default() };
    let (model, stop) = (ModelRef::new("demo", "tour"), StopReason::ToolCalls);
    let parts = vec![Part::assistant_text("hi")];
    let entries = [
        user("go"),
        entry(EntryKind::Assistant { parts, model, stop, usage }),
        entry(EntryKind::Compaction { summary: "s".repeat(48_000), keep_from: None }),
        entry(EntryKind::ModelChange { to: ModelRef::new("demo", "slow") }),
        entry(EntryKind::Checkpoint { label: "unseen".into() }),
        entry(EntryKind::Notice { text: "a server is gone".into(), class: None }),
    ];
    transcript.load(id, &entries, More::Nothing);
    let hook = |code, stderr: &str| Event::Hook {
        session: id,
        run: HookRunId::new(),
        name: "lint".into(),
        occasion: "PreToolUse".into(),
        state: HookState::Ended { code, stdout: "{}".into(), stderr: stderr.into() },
    };
    transcript.see(&hook(Some(0), ""), 0);
    transcript.see(&hook(Some(2), "no tabs please\nline 3"), 0);
    let retry = |session| Event::Retrying {
        session,
        attempt: 2,
        wait_ms: 8_000,
        reason: "overloaded".into(),
    };
    transcript.see(&retry(id), 0);
    transcript.see(&retry(SessionId::new()), 0);
    insta::assert_snapshot!(screen(&mut transcript, 60, 16), @r#"

    › go

      hi

    ∙ context summarised, 182k → 12k tokens

    ∙ model is now demo/slow

    ∙ a server is gone
      hook lint (PreToolUse) ended with 2: no tabs please

    ∙ overloaded; try 2 in 8 s
    "#);
    transcript.see(
        &Event::TurnFailed {
            session: id,
            turn: TurnId::new(),
            reason: "the key is not valid: run caiman login".into(),
            class: FailureClass::Auth,
        },
        0,
    );
    let after = screen(&mut transcript, 60, 16);
    assert!(after.contains("✗ the key is not valid"), "{after}");
    assert!(!after.contains("overloaded"), "{after}");
}

/// A transcript of many prompts and answers.
fn long(count: usize) -> (Transcript, Vec<Entry>) {
    let mut entries = Vec::new();
    for turn in 0..count {
        entries.push(user(&format!("question {turn}")));
        let words = format!("answer {turn} with some words that may be wrapped on a narrow screen");
        entries.push(answer(vec![Part::assistant_text(words)], StopReason::Done));
    }
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &entries, More::Older);
    (transcript, entries)
}

#[test]
fn the_reader_stays_where_they_are() {
    let (mut transcript, entries) = long(60);
    screen(&mut transcript, 60, 12);
    assert_eq!(transcript.wants_older(), None);
    transcript.scroll(Scroll::Top);
    screen(&mut transcript, 60, 12);
    transcript.scroll(Scroll::Rows(5));
    let before = words(&mut transcript);
    assert!(!transcript.is_following());
    assert_eq!(transcript.wants_older(), Some(entries[0].id));
    assert_eq!(transcript.wants_older(), None);
    let older: Vec<Entry> = (0..40).map(|number| user(&format!("older {number}"))).collect();
    transcript.prepend(&older, More::Nothing);
    assert_eq!(words(&mut transcript), before);
    let session = transcript.live.main.unwrap();
    transcript.see(&Event::Appended { session, entry: user("newer") }, 0);
    assert_eq!(words(&mut transcript), before);
    transcript.scroll(Scroll::Bottom);
    assert!(screen(&mut transcript, 60, 12).ends_with("› newer"));
    assert!(transcript.is_following());
}

#[test]
fn pages_go_there_and_back_and_the_end_is_followed_again() {
    let (mut transcript, _) = long(40);
    let end = screen(&mut transcript, 60, 12);
    for _ in 0..5 {
        transcript.scroll(Scroll::Pages(-1));
        assert_ne!(screen(&mut transcript, 60, 12), end);
    }
    for _ in 0..5 {
        transcript.scroll(Scroll::Pages(1));
        screen(&mut transcript, 60, 12);
    }
    assert_eq!(screen(&mut transcript, 60, 12), end);
    assert!(transcript.is_following());
}

#[test]
fn a_result_finds_its_call_when_that_comes_later() {
    let made = session();
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &made[2..], More::Older);
    transcript.prepend(&made[..2], More::Nothing);
    let shown = screen(&mut transcript, 80, 40);
    assert!(shown.contains("● read 2 files, searched 1×"), "{shown}");
    assert!(!shown.contains("waiting"), "{shown}");
}

#[test]
fn a_drag_copies_what_was_written() {
    let entries = [
        user("say it"),
        answer(
            vec![Part::assistant_text(
                "First paragraph that is wrapped here.\n\n```sh\nls -l\n```",
            )],
            StopReason::Done,
        ),
    ];
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &entries, More::Nothing);
    screen(&mut transcript, 28, 14);
    transcript.select(Point { x: 0, y: 0 }, Point { x: 27, y: 8 });
    assert_eq!(
        transcript.selected().unwrap(),
        "say it\n\nFirst paragraph that is wrapped here.\n\nls -l"
    );
    transcript.unselect();
    assert_eq!(transcript.selected(), None);
    transcript.select_around(Point { x: 10, y: 3 }, 2);
    assert_eq!(transcript.selected().unwrap(), "paragraph");
    transcript.select_around(Point { x: 5, y: 4 }, 3);
    assert_eq!(transcript.selected().unwrap(), "First paragraph that is wrapped here.");
}

#[test]
fn a_selection_stays_on_its_text_when_it_is_scrolled() {
    let (mut transcript, _) = long(40);
    screen(&mut transcript, 60, 12);
    transcript.scroll(Scroll::Rows(-10));
    screen(&mut transcript, 60, 12);
    let from = Point { x: 3, y: 4 };
    transcript.select(from, Point { x: 20, y: 6 });
    let selected = transcript.selected().unwrap();
    transcript.scroll(Scroll::Pages(-2));
    screen(&mut transcript, 60, 12);
    assert_eq!(transcript.selected().unwrap(), selected);
    transcript.select(from, Point { x: 20, y: 0 });
    assert!(transcript.selected().unwrap().len() > selected.len());
}

#[test]
fn clicks_fold_and_follow_links() {
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &session(), More::Nothing);
    let shown = screen(&mut transcript, 80, 32);
    let row = |text: &str, wanted: &str| {
        u16::try_from(text.lines().position(|line| line.contains(wanted)).unwrap()).unwrap()
    };
    let at = Point { x: 24, y: row(&shown, "fix the test") };
    assert_eq!(transcript.click(at), Clicked::Link("src/main.rs:12".into()));
    assert_eq!(transcript.click(Point { x: 4, y: row(&shown, "I look first") }), Clicked::Nothing);
    assert_eq!(transcript.click(Point { x: 4, y: row(&shown, "read 2 files") }), Clicked::Folded);
    let opened = screen(&mut transcript, 80, 40);
    assert!(opened.contains("● grep old · 2 matches"), "{opened}");
    transcript.click(Point { x: 8, y: row(&opened, "4 more lines") });
    let opened = screen(&mut transcript, 80, 50);
    assert!(opened.contains("│ four"), "{opened}");
    transcript.toggle_all();
    transcript.toggle_thoughts();
    assert!(screen(&mut transcript, 80, 50).contains("│ **Looking** at"));
}

#[test]
fn items_are_chosen_with_keys_and_folded() {
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &session(), More::Nothing);
    screen(&mut transcript, 80, 20);
    transcript.scroll(Scroll::Items(-2));
    let shown = screen(&mut transcript, 80, 20);
    assert!(shown.contains("▌● bash"), "{shown}");
    transcript.toggle_fold();
    let shown = screen(&mut transcript, 80, 20);
    assert!(shown.contains("│ four"), "{shown}");
}

#[test]
fn inline_mode_takes_what_has_settled_once() {
    let (id, entries) = (SessionId::new(), session());
    let mut transcript = Transcript::new();
    transcript.load(id, &[], More::Nothing);
    let mut taken = Vec::new();
    for event in live(id, &entries) {
        transcript.see(&event, 0);
        taken.extend(transcript.take_settled(60, &look()));
        let wanted = transcript.live_height(60, &look());
        let mut canvas = Canvas::new(60, 3);
        transcript.draw_live(&mut canvas, Rect::sized(60, 3), &look());
        assert_eq!(wanted == 0, canvas.plain().trim().is_empty() && wanted < 2);
    }
    transcript.see(&done(id), 0);
    taken.extend(transcript.take_settled(60, &look()));
    assert!(transcript.take_settled(60, &look()).is_empty());
    assert_eq!(transcript.live_height(60, &look()), 0);
    let text: Vec<String> = taken.iter().map(Line::plain).collect();
    let text = text.join("\n");
    assert_eq!(text.matches("read 2 files, searched 1×").count(), 1, "{text}");
    assert_eq!(text.matches("It passes now.").count(), 1, "{text}");
}

#[test]
fn inline_mode_gives_a_long_answer_piece_by_piece_and_once() {
    let id = SessionId::new();
    let mut transcript = Transcript::new();
    transcript.load(id, &[], More::Nothing);
    let whole: Vec<String> =
        (0..60).map(|number| format!("Paragraph {number} of words.\n\n")).collect();
    let whole = whole.concat();
    let said = answer(vec![Part::assistant_text(whole.clone())], StopReason::Done);
    let mut taken = Vec::new();
    for (turn, delta) in pieces(&whole).enumerate() {
        transcript.see(&Event::Text { session: id, entry: said.id, delta }, 0);
        // The window is made narrower on the way.
        let width = if turn < 100 { 40 } else { 12 };
        taken.extend(transcript.take_settled(width, &look()));
        assert!(transcript.live_height(width, &look()) <= 8);
    }
    transcript.see(&Event::Appended { session: id, entry: said }, 0);
    taken.extend(transcript.take_settled(12, &look()));
    let text: Vec<String> = taken.iter().map(|line| line.plain().trim().to_owned()).collect();
    let text = text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text, whole.split_whitespace().collect::<Vec<_>>().join(" "));
}

#[test]
fn text_around_a_call_is_shown_once() {
    let id = SessionId::new();
    let mut transcript = Transcript::new();
    transcript.load(id, &[], More::Nothing);
    let parts = vec![Part::assistant_text("one two three"), call("a", "view", &[])];
    let said = answer(parts, StopReason::ToolCalls);
    let delta = |delta: &str| Event::Text { session: id, entry: said.id, delta: delta.into() };
    transcript.see(&delta("one two"), 0);
    let started = Event::ToolStarted { session: id, call: CallId::new("a"), title: "x.rs".into() };
    transcript.see(&started, 0);
    transcript.see(&delta(" three"), 0);
    transcript.see(&Event::Appended { session: id, entry: said.clone() }, 0);
    assert_eq!(screen(&mut transcript, 40, 4).trim_end(), "\n   one two three\n\n ● view x.rs");
}

#[test]
fn a_long_prompt_is_folded() {
    let lines: Vec<String> = (0..40).map(|line| format!("line {line}")).collect();
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &[user(&lines.join("\n"))], More::Nothing);
    let shown = screen(&mut transcript, 40, 60);
    assert!(shown.contains("… 28 more lines, ctrl+o"), "{shown}");
    transcript.toggle_fold();
    assert!(screen(&mut transcript, 40, 60).contains("line 39"));
}

#[test]
fn a_frame_lays_out_only_what_is_seen() {
    let (mut transcript, _) = long(5_000);
    screen(&mut transcript, 80, 40);
    let laid = transcript.items.iter_mut().filter(|item| item.has_rows()).count();
    assert!(laid <= 41, "{laid}");
}

#[test]
fn rows_far_from_the_screen_are_forgotten() {
    let (mut transcript, _) = long(2_000);
    for _ in 0..400 {
        transcript.scroll(Scroll::Pages(-1));
        screen(&mut transcript, 80, 40);
    }
    let kept = transcript.items.iter_mut().filter(|item| item.has_rows()).count();
    assert!(kept < 120, "{kept}");
}

/// Anything a face may do.
#[derive(Debug, Clone)]
enum Step {
    See(u8, u8, String),
    Scroll(i32, u8),
    Click(u16, u16),
    Select(u16, u16, u16, u16),
    Toggle(u8),
    Draw(u16, u16),
    Inline(u16),
}

fn step() -> impl Strategy<Value = Step> {
    let small = 0u16..60;
    prop_oneof![
        4 => (0u8..12, 0u8..4, "([a-z`*|#\\n-]|日|\u{1b}){0,20}").prop_map(|(kind, id, text)| Step::See(kind, id, text)),
        1 => (-9i32..9, 0u8..5).prop_map(|(by, kind)| Step::Scroll(by, kind)),
        1 => (small.clone(), small.clone()).prop_map(|(x, y)| Step::Click(x, y)),
        1 => (small.clone(), small.clone(), small.clone(), small.clone())
            .prop_map(|(a, b, c, d)| Step::Select(a, b, c, d)),
        1 => (0u8..3).prop_map(Step::Toggle),
        3 => (small.clone(), small.clone()).prop_map(|(x, y)| Step::Draw(x, y)),
        1 => small.prop_map(Step::Inline),
    ]
}

fn event(
    session: SessionId,
    child: SessionId,
    entries: &[EntryId],
    step: (u8, u8, String),
) -> Event {
    let (kind, id, said) = step;
    let (entry_id, call_id) = (entries[usize::from(id)], CallId::new(format!("c{id}")));
    let of = if id == 3 { child } else { session };
    match kind {
        0 | 1 => Event::Text { session, entry: entry_id, delta: said },
        2 => Event::Reasoning { session, entry: entry_id, delta: said },
        3 => Event::ToolStarted { session: of, call: call_id, title: said },
        4 => Event::ToolProgress { session: of, call: call_id, body: text(&said) },
        5 => Event::ToolDone {
            session: of,
            call: call_id,
            outcome: Outcome::Failed,
            title: said,
            body: None,
        },
        6 => Event::ChildStarted { session, call: call_id, child, agent: said, color: None },
        7 => {
            let parts = vec![Part::assistant_text(said), call(call_id.as_str(), "view", &[])];
            Event::Appended {
                session,
                entry: Entry { id: entry_id, ..answer(parts, StopReason::ToolCalls) },
            }
        }
        8 => Event::Appended { session, entry: user(&said) },
        9 => Event::Retrying { session, attempt: 1, wait_ms: 10, reason: said },
        10 => Event::Notice { session: None, text: said },
        _ => done(of),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_breaks_it(steps in prop::collection::vec(step(), 0..60)) {
        let (session, child) = (SessionId::new(), SessionId::new());
        let entries: Vec<EntryId> = (0..4).map(|_| EntryId::new()).collect();
        let mut transcript = Transcript::new();
        transcript.load(session, &super::tests::session(), More::Older);
        for (now, step) in (0..).zip(steps) {
            match step {
                Step::See(kind, id, text) => {
                    transcript.see(&event(session, child, &entries, (kind, id, text)), now * 100);
                }
                Step::Scroll(by, kind) => transcript.scroll(match kind {
                    0 => Scroll::Rows(by),
                    1 => Scroll::Pages(by),
                    2 => Scroll::Items(by),
                    3 => Scroll::Top,
                    _ => Scroll::Bottom,
                }),
                Step::Click(x, y) => {
                    transcript.click(Point { x, y });
                    transcript.select_around(Point { x, y }, 2 + u8::from(x % 2 == 0));
                }
                Step::Select(a, b, c, d) => {
                    transcript.select(Point { x: a, y: b }, Point { x: c, y: d });
                    let _text = transcript.selected();
                }
                Step::Toggle(which) => match which {
                    0 => transcript.toggle_fold(),
                    1 => {
                        transcript.toggle_all();
                    }
                    _ => {
                        transcript.toggle_thoughts();
                    }
                },
                Step::Draw(width, height) => {
                    let shown = screen(&mut transcript, width, height);
                    let has_escape = shown.contains('\u{1b}');
                    prop_assert!(!has_escape);
                    let _older = transcript.wants_older();
                    let _calls = transcript.wants_children();
                }
                Step::Inline(width) => {
                    transcript.take_settled(width, &look());
                    transcript.live_height(width, &look());
                    transcript.print_whole(width, &look());
                }
            }
        }
    }
}

#[test]
fn a_command_of_the_users_own_looks_the_same_live_and_stored() {
    let (session, id) = (SessionId::new(), CallId::new("own"));
    let mut live = Transcript::new();
    live.load(session, &[], More::Nothing);
    let title = "! ls".to_owned();
    live.see(&Event::ToolStarted { session, call: id.clone(), title: title.clone() }, 0);
    let body = Some(text("a.rs"));
    live.see(&Event::ToolDone { session, call: id, outcome: Outcome::Done, title, body }, 10);
    let stored = entry(EntryKind::User { parts: Part::own_command("ls", "a.rs") });
    live.see(&Event::Appended { session, entry: stored.clone() }, 20);
    let mut again = Transcript::new();
    again.load(session, std::slice::from_ref(&stored), More::Nothing);
    let shown = words(&mut live);
    assert_eq!(shown, words(&mut again));
    assert_eq!((shown.matches("!ls").count(), shown.matches("a.rs").count()), (1, 1), "{shown}");
    assert!(!shown.contains('›'), "{shown}");
}

#[test]
fn the_counts_of_a_change_are_told_once() {
    let unified = "@@ -0,0 +1,2 @@\n+hello\n+world\n".to_owned();
    let body = Block::Diff { path: "notes.md".to_owned(), unified };
    let entries = [
        answer(vec![call("a", "write", &[("file_path", "notes.md")])], StopReason::ToolCalls),
        results(&[("a", "write", "notes.md +2 −0", body)]),
    ];
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &entries, More::Nothing);
    let shown = screen(&mut transcript, 160, 12);
    assert!(shown.contains("● write notes.md +2 −0\n"), "{shown}");
    assert!(shown.contains("│ 1 + hello"), "what is only added needs no second side: {shown}");
}

#[test]
fn a_failed_turn_tells_what_to_do() {
    let session = SessionId::new();
    let mut transcript = Transcript::new();
    transcript.load(session, &[], More::Nothing);
    let fail = |reason: &str, class: FailureClass| Event::TurnFailed {
        session,
        turn: TurnId::new(),
        reason: reason.to_owned(),
        class,
    };
    transcript.see(&fail("Incorrect API key provided.", FailureClass::Auth), 0);
    transcript.see(&fail("The disk is full.", FailureClass::Store), 0);
    let shown = screen(&mut transcript, 80, 12);
    assert!(shown.contains("Incorrect API key provided."), "{shown}");
    assert!(shown.contains("/login enters another key"), "{shown}");
    assert!(shown.contains("The disk is full.\n"), "{shown}");
}

#[test]
fn a_stored_turn_tells_what_it_and_its_sub_agents_have_cost() {
    let at = |ms: i64| base::Timestamp::from_millis(1_790_000_000_000 + ms);
    let mut entries =
        vec![user("go"), answer(vec![Part::assistant_text("Done.")], StopReason::Done)];
    (entries[0].at, entries[1].at) = (at(0), at(9_000));
    let paid = |ms, input| base::protocol::Paid {
        at: at(ms),
        usage: Usage { input, ..Usage::default() },
        cost: Some(Money::from_dollars(0.01)),
    };
    let mut transcript = Transcript::new();
    // One of a turn before, one of a sub-agent's, one of its own.
    transcript.know_paid(vec![paid(-5, 70_000), paid(4_000, 40_000), paid(9_000, 2_000)]);
    transcript.load(SessionId::new(), &entries, More::Nothing);
    let screen = screen(&mut transcript, 80, 12);
    assert!(screen.contains("42k in") && screen.contains("$0.02"), "{screen}");
}

/// A sub-agent that was looked up.
fn looked_up(above: SessionId, call_id: &str, calls: Vec<Part>) -> ChildState {
    ChildState {
        above,
        call: CallId::new(call_id),
        session: SessionId::new(),
        agent: "explore".into(),
        color: Some("blue".into()),
        progress: ChildProgress::Done,
        took_ms: 41_000,
        usage: Usage { input: 34_000, output: 160, ..Usage::default() },
        calls,
        earlier: Some(0),
    }
}

/// What is seen, without the bar that tells where.
fn unbarred(transcript: &mut Transcript, height: u16) -> String {
    let shown = screen(transcript, 60, height).replace('▐', " ");
    shown.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn sub_agents_of_a_stored_call_are_looked_up_once_it_is_seen() {
    let id = SessionId::new();
    let mut entries = vec![
        user("go"),
        answer(vec![call("a", "agent", &[("description", "find uses")])], StopReason::ToolCalls),
        results(&[("a", "agent", "explore: find uses", text("Two uses."))]),
    ];
    entries.extend((0..40).map(|number| user(&format!("prompt {number}"))));
    let mut transcript = Transcript::new();
    transcript.load(id, &entries, More::Nothing);
    screen(&mut transcript, 60, 12);
    assert!(transcript.wants_children().is_empty(), "it is not on the screen");
    transcript.scroll(Scroll::Top);
    screen(&mut transcript, 60, 12);
    assert_eq!(transcript.wants_children(), [CallId::new("a")]);
    screen(&mut transcript, 60, 12);
    assert!(transcript.wants_children().is_empty(), "it is being looked up");
    let EntryKind::ToolResults { parts: read } =
        results(&[("x", "view", "src/main.rs", text("fn main"))]).kind
    else {
        panic!()
    };
    let below = vec![call("x", "view", &[]), read[0].clone(), call("y", "agent", &[])];
    let child = looked_up(id, "a", below);
    let deep = ChildState {
        agent: "helper".into(),
        progress: ChildProgress::Failed,
        earlier: None,
        ..looked_up(child.session, "y", vec![call("z", "bash", &[("command", "make")])])
    };
    transcript.know_children(&[child, deep], 0);
    insta::assert_snapshot!(unbarred(&mut transcript, 7), @r"

    › go

    ● agent explore: find uses
      │ ● explore · 2 calls · 34.2k tokens · 41 s
      └ Two uses.
    ");
    transcript.toggle_all();
    insta::assert_snapshot!(unbarred(&mut transcript, 10), @r"

    › go

    ● agent explore: find uses
      │ ● explore · 2 calls · 34.2k tokens · 41 s
      │   ● view src/main.rs
      │   ✗ agent
      │     ✗ helper · 1+ calls · 34.2k tokens · 41 s
      │       ✗ bash make
      └ Two uses.
    ");
    assert!(transcript.wants_children().is_empty());
    assert!(!transcript.is_animated());
}

#[test]
fn what_is_looked_up_of_a_sub_agent_at_work_comes_before_what_is_heard() {
    let id = SessionId::new();
    let calls = vec![call("a", "agent", &[("description", "find uses")])];
    let mut transcript = Transcript::new();
    transcript.load(id, &[user("go"), answer(calls, StopReason::ToolCalls)], More::Nothing);
    let known = looked_up(id, "a", vec![call("x", "view", &[("file_path", "a.rs")])]);
    let child = known.session;
    let begun = Event::ChildStarted {
        session: id,
        call: CallId::new("a"),
        child,
        agent: "explore".into(),
        color: None,
    };
    transcript.see(&begun, 0);
    let started =
        Event::ToolStarted { session: child, call: CallId::new("y"), title: "b.rs".into() };
    transcript.see(&started, 0);
    screen(&mut transcript, 60, 12);
    assert_eq!(transcript.wants_children().len(), 1);
    transcript.know_children(&[ChildState { progress: ChildProgress::AtWork, ..known }], 0);
    let shown = screen(&mut transcript, 60, 12);
    let (first, second) = (shown.find("a.rs").unwrap(), shown.find("b.rs").unwrap());
    assert!(first < second && shown.matches("explore").count() == 1, "{shown}");
    transcript.see(&done(child), 1_000);
    assert!(!transcript.is_animated());
}

#[test]
fn inline_mode_prints_a_stored_call_once_its_sub_agents_are_known() {
    let id = SessionId::new();
    let entries = [
        user("go"),
        answer(vec![call("a", "agent", &[])], StopReason::ToolCalls),
        results(&[("a", "agent", "explore", text("Two uses."))]),
        user("thanks"),
    ];
    let mut transcript = Transcript::new();
    transcript.load(id, &entries, More::Nothing);
    let printed = |transcript: &mut Transcript| {
        let lines = transcript.take_settled(60, &look());
        lines.iter().map(Line::plain).collect::<Vec<_>>().join("\n")
    };
    assert!(!printed(&mut transcript).contains("thanks"));
    assert_eq!(transcript.wants_children(), [CallId::new("a")]);
    transcript.know_children(&[looked_up(id, "a", Vec::new())], 0);
    let rest = printed(&mut transcript);
    assert!(rest.contains("explore · 0 calls") && rest.contains("thanks"), "{rest}");
}

#[test]
fn a_stored_thought_tells_how_long_it_took_and_a_failed_turn_why() {
    let thought = Part { took_ms: Some(3_000), ..thought("Tea is cheap.") };
    let said = answer(vec![thought, Part::assistant_text("Tea is")], StopReason::Other);
    let (text, class) = ("The key was refused.".to_owned(), Some(FailureClass::Auth));
    let entries = [user("go"), said, entry(EntryKind::Notice { text, class })];
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &entries, More::Nothing);
    insta::assert_snapshot!(screen(&mut transcript, 80, 12), @r"

    › go

      thought for 3.0 s · Tea is cheap.

      Tea is

    ✗ The key was refused.
      /login enters another key, /model chooses another model
    ");
}

#[test]
fn inline_mode_prints_what_was_folded_whole_the_newest_first() {
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &session(), More::Nothing);
    let printed = |transcript: &mut Transcript| {
        let lines = transcript.take_settled(60, &look());
        lines.iter().map(Line::plain).collect::<Vec<_>>().join("\n")
    };
    assert!(printed(&mut transcript).contains("… 4 more lines, ctrl+o"));
    assert!(transcript.print_whole(60, &look()));
    let again = printed(&mut transcript);
    assert!(again.contains("bash Run the tests") && again.contains("│ five"), "{again}");
    assert!(printed(&mut transcript).is_empty(), "once");
    assert!(transcript.print_whole(60, &look()));
    let before = printed(&mut transcript);
    assert!(before.contains("read 2 files") && before.contains("mod x;"), "{before}");
    assert!(transcript.print_whole(60, &look()));
    assert!(printed(&mut transcript).contains("**Looking** at the test."));
    assert!(!transcript.print_whole(60, &look()));
}

#[test]
fn the_headings_of_a_thought_lose_their_stars_and_what_is_no_heading_keeps_them() {
    let said = thought("**Looking at prices**\n\n2 ** 3 is 8, **not** 6\n**a** and **b**\n****");
    let mut transcript = Transcript::new();
    transcript.load(SessionId::new(), &[answer(vec![said], StopReason::Done)], More::Nothing);
    transcript.toggle_thoughts();
    let shown = screen(&mut transcript, 60, 12);
    for line in ["│ Looking at prices", "│ 2 ** 3 is 8, **not** 6", "│ **a** and **b**", "│ ****"]
    {
        assert!(shown.contains(line), "{line}:\n{shown}");
    }
}
