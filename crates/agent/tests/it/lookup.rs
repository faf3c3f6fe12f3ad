//! What faces look up, and what they are told unasked.

use agent::Meant;
use base::protocol::{
    ChildProgress, Client, Delivery, EventStream, Mode, Offer, OfferKind, SessionState,
};
use base::{CallId, Effort, EntryKind, Event, ModelRef, Op, PartBody, Query, Reply};
use serde_json::json;
use settings::definition::Definitions;
use testkit::Script;
use testkit::script::When;

use crate::definitions::{command, skill};
use crate::room::{Plan, Room, to_the_end, until};

async fn state(room: &Room) -> SessionState {
    let reply = room.coordinator.ask(Query::State { session: room.session }).await.unwrap();
    let Reply::State(state) = reply else { panic!("{reply:?}") };
    *state
}

fn said(event: &Event) -> bool {
    matches!(event, Event::Text { .. })
}

/// A room whose model is in the middle of its answer.
async fn busy(after: Script) -> (Room, EventStream) {
    let mut script = Script::new().text("Half").stall();
    script.steps.extend(after.steps);
    let room = Room::new(Plan { window: 100_000, ..Plan::with_tools(script) }).await;
    let mut events = room.watch();
    room.submit(room.saying("one", Delivery::Queue)).await;
    until(&mut events, said).await;
    (room, events)
}

/// What waits, as the next event about it says.
async fn waiting(events: &mut EventStream) -> Vec<(String, Delivery)> {
    let event = until(events, |event| matches!(event, Event::Waiting { .. })).await;
    let Event::Waiting { prompts, .. } = event else { panic!("{event:?}") };
    let text = |prompt: &base::protocol::WaitingPrompt| {
        (prompt.parts[0].as_text().unwrap().to_owned(), prompt.delivery)
    };
    prompts.iter().map(text).collect()
}

#[tokio::test]
async fn the_state_of_a_busy_session_is_known_at_once() {
    let (room, _events) = busy(Script::new()).await;
    let session = room.session;
    room.submit(room.saying("later", Delivery::Queue)).await;
    room.submit(room.saying("now", Delivery::Steer)).await;
    room.submit(Op::SetMode { session, mode: Mode::Plan }).await;
    room.submit(Op::SetEffort { session, effort: Effort::High }).await;
    room.submit(Op::SetModel { session, model: ModelRef::new("lab", "other") }).await;
    let state = state(&room).await;
    assert!(state.running_since.is_some() && !state.is_unfinished);
    assert_eq!((state.mode, state.effort), (Mode::Plan, Some(Effort::High)));
    assert_eq!((state.model, state.window), (ModelRef::new("lab", "other"), 100_000));
    let order: Vec<_> = state.waiting.iter().map(|it| it.parts[0].as_text().unwrap()).collect();
    assert_eq!(order, ["now", "later"]);
    assert!(state.used > 1_000, "the prefix counts: {}", state.used);
    room.coordinator.close().await;
}

#[tokio::test]
async fn a_turn_that_just_begins_has_not_broken_off() {
    for _ in 0..30 {
        let room = Room::new(Plan::from(Script::new().text("Half").stall())).await;
        let saying = room.submit(room.saying("one", Delivery::Queue));
        let looking = async {
            for _ in 0..10 {
                assert!(!state(&room).await.is_unfinished);
            }
        };
        tokio::join!(saying, looking);
        room.coordinator.close().await;
    }
}

#[tokio::test]
async fn the_state_of_a_session_nobody_has_opened_comes_from_disk() {
    let (room, _events) = busy(Script::new()).await;
    room.submit(room.saying("later", Delivery::Queue)).await;
    room.coordinator.close().await;
    let plan = Plan { mode: Mode::AcceptEdits, ..Plan::from(Script::new()) };
    let room = room.rescripted(plan).await;
    let state = state(&room).await;
    assert!(state.running_since.is_none() && state.is_unfinished, "its turn broke off");
    assert_eq!(state.mode, Mode::AcceptEdits);
    assert_eq!(state.waiting.len(), 1);
}

#[tokio::test]
async fn the_newest_list_of_things_to_do_is_part_of_the_state() {
    let list = |status: &str| json!({ "todos": [{ "content": "one", "status": status }] });
    let script = Script::new().call("todos", list("pending"));
    let script = script.then().call("todos", list("done")).then().call("todos", json!({}));
    let room = Room::new(Plan::with_tools(script.then().text("Done."))).await;
    room.say("go").await;
    let todos = state(&room).await.todos;
    assert_eq!(todos.len(), 1, "a call that failed counts for nothing");
    assert_eq!(todos[0].state, base::block::TodoState::Completed);
}

#[tokio::test]
async fn faces_see_every_change_of_what_waits() {
    let (room, mut events) = busy(Script::new().text("All.").then().text("Last.")).await;
    let session = room.session;
    let of = |text: &str, delivery| (text.to_owned(), delivery);
    room.submit(room.saying("a", Delivery::Queue)).await;
    assert_eq!(waiting(&mut events).await, [of("a", Delivery::Queue)]);
    room.submit(room.saying("b", Delivery::Steer)).await;
    let both = [of("b", Delivery::Steer), of("a", Delivery::Queue)];
    assert_eq!(waiting(&mut events).await, both);
    let entry = state(&room).await.waiting[1].entry;
    room.submit(Op::Unsay { session, entry }).await;
    assert_eq!(waiting(&mut events).await, [of("b", Delivery::Steer)]);
    room.submit(Op::Stop { session }).await;
    assert_eq!(waiting(&mut events).await, [of("b", Delivery::Steer)], "a stop leaves it");
    room.submit(room.saying("c", Delivery::Queue)).await;
    assert!(waiting(&mut events).await.is_empty(), "the next prompt takes it along");
    to_the_end(&mut events).await;
    room.assert_valid();
}

#[tokio::test]
async fn faces_hear_what_was_set() {
    let room = Room::new(Plan::from(Script::new())).await;
    let session = room.session;
    let mut events = room.watch();
    let changed = |event: &Event| matches!(event, Event::SessionChanged { .. });
    room.submit(Op::SetMode { session, mode: Mode::Plan }).await;
    let event = until(&mut events, changed).await;
    assert!(matches!(event, Event::SessionChanged { mode: Some(Mode::Plan), model: None, .. }));
    room.submit(Op::SetEffort { session, effort: Effort::Low }).await;
    let event = until(&mut events, changed).await;
    assert!(matches!(event, Event::SessionChanged { effort: Some(Effort::Low), mode: None, .. }));
    let line = "/mode acceptEdits".to_owned();
    room.submit(Op::Command { session, line }).await;
    let event = until(&mut events, changed).await;
    assert!(matches!(event, Event::SessionChanged { mode: Some(Mode::AcceptEdits), .. }));
}

#[tokio::test]
async fn another_model_answers_from_the_next_step_on() {
    let script = Script::new().text("Looking.").delay_ms(150);
    let script = script.call("view", json!({ "file_path": "a" })).then().text("Done.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("a", "x");
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    until(&mut events, said).await;
    let model = ModelRef::new("lab", "other");
    room.submit(Op::SetModel { session: room.session, model }).await;
    to_the_end(&mut events).await;
    let asked = room.server.bodies();
    let models: Vec<&str> = asked.iter().map(|body| body["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["m", "other"]);
    room.assert_valid();
}

#[tokio::test]
async fn commands_that_look_need_not_wait_for_a_turn() {
    let (room, mut events) = busy(Script::new()).await;
    let session = room.session;
    for line in ["/context", "/cost", "/help", "/agents", "/skills", "/model", "/mode"] {
        let command = Op::Command { session, line: line.to_owned() };
        room.submit(command).await;
        let told = until(&mut events, |event| matches!(event, Event::Notice { .. })).await;
        let Event::Notice { text, .. } = told else { panic!("{told:?}") };
        assert!(!text.is_empty(), "{line}");
        until(&mut events, |event| matches!(event, Event::CommandDone { .. })).await;
    }
    let compact = Op::Command { session, line: "/compact".to_owned() };
    let refused = room.coordinator.submit(compact).await.unwrap_err();
    assert!(refused.to_string().contains("a turn is running"), "{refused}");
    assert!(state(&room).await.running_since.is_some());
    room.coordinator.close().await;
}

#[tokio::test]
async fn offers_are_commands_then_skills_then_agents() {
    let mut deploy = skill("deploy", "Brings\nit   out");
    deploy.argument_hint = Some("[where]".to_owned());
    let mut silent = skill("lore", "For the model");
    silent.callers = settings::definition::skill::Callers::Model;
    let definitions = Definitions {
        skills: vec![silent, deploy],
        commands: vec![command("tidy", "Tidies"), command("help", "Hidden by ours")],
        ..Definitions::default()
    };
    let room = Room::new(Plan { definitions, ..Plan::from(Script::new()) }).await;
    let folder = room.folder.display().to_string();
    let reply = room.coordinator.ask(Query::Offers { folder }).await.unwrap();
    let Reply::Offers { offers } = reply else { panic!("{reply:?}") };
    let of = |kind| {
        let own = offers.iter().filter(move |offer: &&Offer| offer.kind == kind);
        own.map(|offer| offer.name.as_str()).collect::<Vec<_>>()
    };
    let commands = of(OfferKind::Command);
    assert!(commands.is_sorted() && commands.contains(&"tidy"), "{commands:?}");
    assert_eq!(commands.iter().filter(|name| **name == "help").count(), 1);
    assert_eq!(of(OfferKind::Skill), ["deploy"]);
    assert_eq!(of(OfferKind::Agent), ["explorer", "general"]);
    let deploy = offers.iter().find(|offer| offer.name == "deploy").unwrap();
    assert_eq!((deploy.arguments.as_str(), deploy.about.as_str()), ("[where]", "Brings it out"));
    let help = offers.iter().find(|offer| offer.name == "help").unwrap();
    assert_eq!(help.source, "built in");
}

#[tokio::test]
async fn files_are_found_by_letters_of_their_path() {
    let room = Room::new(Plan::from(Script::new())).await;
    for path in ["src/main.rs", "src/parser/mod.rs", "target/debug/main.o", "README.md"] {
        room.write(path, "");
    }
    room.write(".gitignore", "target\n");
    let ask = async |search: &str, limit: usize| {
        let (folder, search) = (room.folder.display().to_string(), search.to_owned());
        let reply = room.coordinator.ask(Query::Files { folder, search, limit }).await.unwrap();
        let Reply::Files { paths } = reply else { panic!("{reply:?}") };
        paths
    };
    assert_eq!(ask("main", 9).await, ["src/main.rs"]);
    assert_eq!(ask("pars", 9).await, ["src/parser/", "src/parser/mod.rs"]);
    assert_eq!(ask("", 2).await, [".gitignore", "README.md"]);
}

#[tokio::test]
async fn the_bill_of_a_context_is_the_one_the_command_prints() {
    let room = Room::new(Plan { window: 100_000, ..Plan::with_tools(Script::new().text("Hi.")) });
    let room = room.await;
    room.write("AGENTS.md", &"Use tabs. ".repeat(40));
    room.say("hello").await;
    let reply = room.coordinator.ask(Query::Context { session: room.session }).await.unwrap();
    let Reply::Context(bill) = reply else { panic!("{reply:?}") };
    let items: Vec<&str> = bill.lines.iter().map(|line| line.what.as_str()).collect();
    for item in ["system prompt", "AGENTS.md", "environment", "tool bash", "answers", "free"] {
        assert!(items.contains(&item), "{item} is missing: {items:?}");
    }
    let sum: u64 = bill.lines.iter().map(|line| line.tokens).sum();
    assert_eq!((bill.window, sum), (100_000, 100_000));
    let mut events = room.watch();
    let command = Op::Command { session: room.session, line: "/context".to_owned() };
    room.submit(command).await;
    let told = until(&mut events, |event| matches!(event, Event::Notice { .. })).await;
    let Event::Notice { text, .. } = told else { panic!("{told:?}") };
    for line in &bill.lines {
        let printed = format!("{:>9}  {}", line.tokens, line.what);
        assert!(text.contains(&printed), "{printed:?} is not in\n{text}");
    }
}

#[tokio::test]
async fn a_reopened_session_goes_on_with_the_model_that_answered_last() {
    let room = Room::new(Plan::from(Script::new().text("One.").usage(100, 10))).await;
    let (session, other) = (room.session, ModelRef::new("lab", "other"));
    room.submit(Op::SetModel { session, model: other.clone() }).await;
    room.say("one").await;
    let room = room.rescripted(Plan::from(Script::new().text("Two."))).await;
    let shown = state(&room).await;
    assert_eq!(shown.model, other);
    let [spent] = &shown.spent[..] else { panic!("{shown:?}") };
    assert_eq!((&spent.model, spent.calls, spent.usage.total()), (&other, 1, 110));
    assert!(spent.cost.is_some());
    room.say("two").await;
    assert_eq!(room.server.bodies()[0]["model"], "other");
    let named = Plan { meant: Meant::All, ..Plan::from(Script::new().text("Three.")) };
    let room = room.rescripted(named).await;
    room.say("three").await;
    assert_eq!(room.server.bodies()[0]["model"], "m", "the user has named it for this process");
}

#[tokio::test]
async fn sub_agents_that_have_ended_are_known_from_their_sessions() {
    let only = |what: &str, not: &str| When {
        contains: Some(what.to_owned()),
        lacks: Some(not.to_owned()),
        ..When::default()
    };
    let script = Script::new()
        .call("agent", json!({ "prompt": "find the owl", "description": "owl" }))
        .usage(100, 10)
        .then()
        .when(only("find the owl", "PARENT"))
        .call("grep", json!({ "pattern": "owl" }))
        .usage(20, 2)
        .then()
        .when(only("owl.txt", "PARENT"))
        .text("In owl.txt.")
        .usage(30, 3)
        .then()
        .text("Done.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("owl.txt", "an owl\n");
    room.say("PARENT: where is the owl?").await;
    let branch = room.store.branch(room.session).await.unwrap();
    let calls: Vec<CallId> = branch
        .iter()
        .flat_map(|entry| entry.kind.parts())
        .filter_map(|part| part.as_call().map(|call| call.id.clone()))
        .collect();
    room.coordinator.close().await;
    let room = room.rescripted(Plan::from(Script::new())).await;
    let query = |calls| Query::Children { session: room.session, calls };
    let reply = room.coordinator.ask(query(calls.clone())).await.unwrap();
    let Reply::Children { children } = reply else { panic!("{reply:?}") };
    let [child] = &children[..] else { panic!("{children:?}") };
    assert_eq!((child.above, &child.call), (room.session, &calls[0]));
    assert_eq!((child.agent.as_str(), child.progress), ("explorer", ChildProgress::Done));
    assert_eq!((child.usage.input, child.usage.output), (50, 5));
    let [made, came] = &child.calls[..] else { panic!("{:?}", child.calls) };
    assert_eq!(made.as_call().unwrap().name, "grep");
    assert!(came.as_result().unwrap().shown.as_ref().is_some_and(|shown| shown.body.is_none()));
    let none = room.coordinator.ask(query(vec![CallId::new("other")])).await.unwrap();
    assert_eq!(none, Reply::Children { children: Vec::new() });
}

#[tokio::test]
async fn how_long_a_thought_took_and_why_a_turn_failed_are_written_down() {
    let script = Script::new().reasoning("Hm.").delay_ms(60).text("Yes.").then();
    let script = script.fail(400, "no such owl");
    let room = Room::new(Plan::from(script)).await;
    room.say("one").await;
    room.say("two").await;
    let branch = room.store.branch(room.session).await.unwrap();
    let thought = branch
        .iter()
        .flat_map(|entry| entry.kind.parts())
        .find(|part| matches!(part.body, PartBody::Reasoning { .. }));
    assert!(thought.unwrap().took_ms.unwrap() >= 50, "{thought:?}");
    let newest = &branch.last().unwrap().kind;
    let EntryKind::Notice { text, class: Some(class) } = newest else { panic!("{newest:?}") };
    assert!(
        text.contains("no such owl") && *class == base::FailureClass::BadRequest,
        "{text}: {class:?}"
    );
    assert!(state(&room).await.is_unfinished);
}
