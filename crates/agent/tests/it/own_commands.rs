//! Commands the user runs at a face.

use base::protocol::{Client, Delivery, Op};
use base::transcript::Outcome;
use base::{Block, Event, Query, Reply};
use serde_json::json;
use testkit::Script;

use crate::room::{Plan, Room, to_the_end, until};

fn done(event: &Event) -> bool {
    matches!(event, Event::ToolDone { .. })
}

fn kept(event: &Event) -> bool {
    matches!(event, Event::Appended { entry, .. } if entry.kind.is_own_command())
}

fn shell(room: &Room, line: &str) -> Op {
    Op::Shell { session: room.session, line: line.to_owned() }
}

fn body(event: Event) -> (String, Outcome, String) {
    let Event::ToolDone { title, outcome, body: Some(Block::Text { text }), .. } = event else {
        panic!("{event:?}")
    };
    (title, outcome, text)
}

#[tokio::test]
async fn the_model_sees_it_with_the_next_request_and_no_turn_begins() {
    let room = Room::new(Plan::from(Script::new().text("I see."))).await;
    room.write("a.txt", "x");
    let mut events = room.watch();
    room.submit(shell(&room, "ls; exit 3")).await;
    let (title, outcome, text) = body(until(&mut events, done).await);
    assert_eq!((title.as_str(), outcome), ("! ls; exit 3", Outcome::Failed));
    assert!(text.starts_with("a.txt\n") && text.contains('3'), "{text}");
    until(&mut events, kept).await;
    assert!(room.server.requests().is_empty(), "no turn begins");
    let state = room.coordinator.ask(Query::State { session: room.session }).await.unwrap();
    assert!(
        matches!(state, Reply::State(state) if state.running_since.is_none() && !state.is_unfinished)
    );
    room.say("what is there?").await;
    let asked = room.server.bodies()[0].to_string();
    assert!(asked.contains("$ ls; exit 3") && asked.contains("a.txt"), "{asked}");
    assert_eq!(room.transcript().await.len(), 3);
    let titled = room.store.session(room.session).await.unwrap().summary.title;
    assert_eq!(titled.as_deref(), Some("what is there?"), "a command is no title");
    room.assert_valid();
}

#[tokio::test]
async fn while_a_turn_runs_it_joins() {
    let script = Script::new().text("Looking.").delay_ms(300);
    let script = script.call("view", json!({ "file_path": "a" })).then().text("Both.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("a", "x");
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    until(&mut events, |event| matches!(event, Event::Text { .. })).await;
    room.submit(shell(&room, "echo from me")).await;
    let rest = to_the_end(&mut events).await;
    assert!(rest.iter().any(kept), "{rest:?}");
    let asked = room.server.bodies()[1].to_string();
    assert!(asked.contains("from me"), "{asked}");
    room.assert_valid();
}

#[tokio::test]
async fn it_shows_what_it_prints_and_a_stop_ends_it() {
    let room = Room::new(Plan::from(Script::new())).await;
    let mut events = room.watch();
    room.submit(shell(&room, "echo begun; sleep 600")).await;
    let shows = |event: &Event| matches!(event, Event::ToolProgress { .. });
    let event = until(&mut events, shows).await;
    let Event::ToolProgress { body: Block::Text { text }, .. } = event else { panic!("{event:?}") };
    assert_eq!(text, "begun");
    let state = room.coordinator.ask(Query::State { session: room.session }).await.unwrap();
    let Reply::State(state) = state else { panic!("{state:?}") };
    assert!(
        matches!(&state.going_on[..], [Event::ToolStarted { title, .. }] if title.starts_with("! ")),
        "a face that comes now can stop it: {state:?}"
    );
    room.submit(Op::Stop { session: room.session }).await;
    let (_, outcome, text) = body(until(&mut events, done).await);
    assert_eq!(outcome, Outcome::Failed);
    assert!(text.contains("the user stopped it"), "{text}");
    until(&mut events, kept).await;
    room.submit(shell(&room, "echo again")).await;
    assert_eq!(body(until(&mut events, done).await).2, "again", "a stop ends only what runs");
}

#[tokio::test]
async fn it_is_the_users_own_hand() {
    let env = vec![("MY_TOKEN".to_owned(), "abc".to_owned())];
    let plan = Plan { mode: base::protocol::Mode::Plan, env, ..Plan::from(Script::new()) };
    let room = Room::new(plan).await;
    let outside = room.dir.path().join("outside.txt");
    let mut events = room.watch();
    let line = format!("echo $MY_TOKEN > {}", outside.display());
    room.submit(shell(&room, &line)).await;
    until(&mut events, done).await;
    assert_eq!(
        std::fs::read_to_string(outside).unwrap(),
        "abc\n",
        "neither cage nor mode holds it"
    );
    let nothing = room.coordinator.submit(shell(&room, "  ")).await;
    assert!(nothing.unwrap_err().to_string().contains("no command"));
}

#[tokio::test]
async fn its_processes_end_with_us() {
    let room = Room::new(Plan::from(Script::new())).await;
    let mut events = room.watch();
    let mark = format!("{}.75", 87_000 + std::process::id() % 1000);
    room.submit(shell(&room, &format!("echo x; sleep {mark} & sleep {mark}"))).await;
    until(&mut events, |event| matches!(event, Event::ToolProgress { .. })).await;
    room.coordinator.close().await;
    assert_eq!(crate::cancel::processes_with(&mark), Vec::<String>::new(), "processes are left");
}
