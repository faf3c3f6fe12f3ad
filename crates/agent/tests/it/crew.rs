//! Sub-agents: their tasks, what they may do, what they cost, and what comes of them.

use agent::Presence;
use agent::budget::{Budget, Limits};
use base::protocol::{Approval, Delivery, Ending, Mode, Op, Scope};
use base::transcript::prefix;
use base::{Block, EntryKind, Event, Money, Part, SessionId};
use serde_json::{Value, json};
use testkit::Script;
use testkit::script::When;

use crate::room::{Plan, Room, to_the_end, until};

/// What every built-in sub-agent is told first.
const CHILD: &str = "You are a sub-agent of Caiman";

fn task(prompt: &str) -> Value {
    json!({ "prompt": prompt, "description": prompt })
}

/// A request of a sub-agent that was given this task.
fn child(prompt: &str) -> When {
    When { contains: Some(prompt.to_owned()), lacks: Some("PARENT".to_owned()), ..When::default() }
}

fn children(events: &[Event]) -> Vec<SessionId> {
    let child = |event: &Event| {
        if let Event::ChildStarted { child, .. } = event { Some(*child) } else { None }
    };
    events.iter().filter_map(child).collect()
}

#[tokio::test]
async fn a_task_goes_to_a_session_of_its_own_and_its_last_words_come_back() {
    let script = Script::new()
        .call("agent", task("find the owl"))
        .then()
        .when(child("find the owl"))
        .text("Looking.")
        .call("grep", json!({ "pattern": "owl" }))
        .then()
        .when(child("owl.txt"))
        .text("In owl.txt, line 1.")
        .then()
        .text("It is in owl.txt.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write("owl.txt", "an owl\n");
    let events = room.say("PARENT: where is the owl?").await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("In owl.txt, line 1."), "{transcript:#?}");
    assert!(transcript[3].contains("It is in owl.txt."), "{transcript:#?}");
    let [child] = children(&events)[..] else { panic!("{events:#?}") };
    let row = room.store.session(child).await.unwrap();
    assert_eq!(row.agent.as_deref(), Some("explorer"));
    assert_eq!(row.child_of.unwrap().parent, room.session);
    assert_eq!(row.summary.title.as_deref(), Some("find the owl"));
    let own = room.store.branch(child).await.unwrap();
    let (system, tools) = prefix(&own).unwrap();
    assert!(system[0].starts_with(CHILD), "{system:?}");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["glob", "grep", "ls", "sourcegraph", "view"], "it only reads");
    let trees = events.iter().filter(|event| {
        matches!(event, Event::ToolProgress { session, body: Block::Tree { .. }, .. }
            if *session == room.session)
    });
    assert!(trees.count() >= 2, "its calls are shown as they come");
    room.assert_valid();
}

#[tokio::test]
async fn eight_at_once_cost_what_the_script_bills_to_the_token() {
    let mut script = Script::new();
    for number in 0..8 {
        script = script.call("agent", task(&format!("task {number}")));
    }
    script = script.usage(1_000, 10);
    for number in 0..8_u64 {
        let own = child(&format!("task {number}"));
        let report = format!("report {number}");
        script = script
            .then()
            .when(own.clone())
            .call("ls", json!({ "path": "." }))
            .usage(100 + number, 5)
            .then()
            .when(own)
            .text(&report)
            .usage(200 + number, 7);
    }
    let script = script.then().text("All done.").usage(2_000, 20);
    let room = Room::new(Plan::with_tools(script)).await;
    let events = room.say("PARENT: do eight things").await;
    assert_eq!(children(&events).len(), 8);
    let spent = room.spent().await;
    let input: u64 = 1_000 + 2_000 + (0..8).map(|number| 300 + 2 * number).sum::<u64>();
    let output: u64 = 10 + 20 + 8 * 12;
    assert_eq!((spent.calls, spent.usage.input, spent.usage.output), (18, input, output));
    // Two dollars a million in, ten out.
    let bill = Money::from_pico(i64::try_from(input * 2_000_000 + output * 10_000_000).unwrap());
    assert_eq!(spent.cost, bill);
    let Some(Event::TurnDone { usage, cost, .. }) = events.last() else { panic!("{events:#?}") };
    assert_eq!((usage.input, usage.output, *cost), (input, output, Some(bill)));
    let summary = room.store.session(room.session).await.unwrap().summary;
    assert_eq!((summary.usage.input, summary.cost), (input, bill));
    let transcript = room.transcript().await;
    for number in 0..8 {
        assert!(transcript[2].contains(&format!("report {number}")), "{transcript:#?}");
    }
    room.assert_valid();
}

#[tokio::test]
async fn a_sub_agent_has_no_sub_agents_and_cannot_widen_what_it_may() {
    let general = json!({ "prompt": "go wild", "agent": "general" });
    let script = Script::new()
        .call("agent", general)
        .then()
        .when(child("go wild"))
        .call("bash", json!({ "command": "touch wild" }))
        .call("agent", task("deeper"))
        .then()
        .when(child("go wild"))
        .text("I could not.")
        .then()
        .text("Pity.");
    let room = Room::new(Plan { mode: Mode::Plan, ..Plan::with_tools(script) }).await;
    let events = room.say("PARENT: try").await;
    assert!(!room.folder.join("wild").exists(), "what its parent may not, it may not");
    let [child] = children(&events)[..] else { panic!("{events:#?}") };
    let own = room.store.branch(child).await.unwrap();
    let (_, tools) = prefix(&own).unwrap();
    assert!(!tools.iter().any(|tool| tool.name == "agent"), "{tools:?}");
    let said = format!("{own:?}");
    assert!(said.contains("There is no tool `agent`."), "{said}");
    room.assert_valid();
}

#[tokio::test]
async fn its_question_names_it_and_a_yes_holds_for_the_family() {
    let general = json!({ "prompt": "write it", "agent": "general" });
    let script = Script::new()
        .call("agent", general)
        .then()
        .when(child("write it"))
        .call("write", json!({ "file_path": "a", "content": "x\n" }))
        .then()
        .when(child("write it"))
        .text("Written.")
        .then()
        .call("write", json!({ "file_path": "b", "content": "x\n" }))
        .then()
        .text("Both.");
    let plan =
        Plan { presence: Presence::Attended, mode: Mode::Default, ..Plan::with_tools(script) };
    let room = Room::new(plan).await;
    let mut events = room.watch();
    room.submit(room.saying("PARENT: write", Delivery::Queue)).await;
    let asked = until(&mut events, |event| matches!(event, Event::ApprovalNeeded { .. })).await;
    let Event::ApprovalNeeded { request, agent, session, .. } = asked else { panic!("{asked:?}") };
    assert_eq!(agent.as_deref(), Some("general"));
    assert_ne!(session, room.session);
    let approval = Approval::Allow { scope: Scope::Session, rule: None };
    room.submit(Op::Approve { request, approval }).await;
    let second = until(&mut events, |event| {
        matches!(event, Event::ApprovalNeeded { .. } | Event::TurnDone { .. })
            && event.session() == Some(room.session)
    });
    let second = second.await;
    let project = room.folder.display().to_string();
    let grants = room.store.grants(Some(room.session), project).await.unwrap();
    assert_eq!(grants.len(), 1, "kept for the session the user talks to");
    if let Event::ApprovalNeeded { request, agent, .. } = second {
        assert_eq!(agent, None, "the parent asks for itself");
        let approval = Approval::Allow { scope: Scope::Once, rule: None };
        room.submit(Op::Approve { request, approval }).await;
        until(&mut events, |event| {
            matches!(event, Event::TurnDone { .. }) && event.session() == Some(room.session)
        })
        .await;
    }
    assert!(room.folder.join("a").exists() && room.folder.join("b").exists());
}

#[tokio::test]
async fn one_that_fails_says_why_and_what_it_had() {
    for (name, ending, expected) in [
        ("silent", Script::new().text(""), "ended without an answer"),
        ("broken", Script::new().fail(400, "no such thing"), "no such thing"),
    ] {
        let mut script = Script::new().call("agent", task("hard task"));
        script = script.then().when(child("hard task")).text("So far: two owls.");
        script = script.call("ls", json!({ "path": "." }));
        let mut last = ending.steps[0].clone();
        last.when = Some(child("hard task"));
        script.steps.push(last);
        let room = Room::new(Plan::with_tools(script.then().text("I see."))).await;
        room.say("PARENT: go").await;
        let transcript = room.transcript().await;
        assert!(transcript[2].contains(expected), "{name}: {transcript:#?}");
        assert!(transcript[2].contains("agent:Failed"), "{name}: {transcript:#?}");
        assert!(transcript[2].contains("two owls"), "{name}: {transcript:#?}");
        assert!(transcript[2].contains("resume it"), "{name}: {transcript:#?}");
        room.assert_valid();
    }
}

#[tokio::test]
async fn its_steps_are_limited_and_what_it_spends_its_parent_spends() {
    let mut script = Script::new().call("agent", task("endless"));
    for number in 0..60 {
        let path = format!("./x{number}");
        script =
            script.then().when(child("endless")).call("ls", json!({ "path": path })).usage(10, 1);
    }
    let room = Room::new(Plan::with_tools(script.then().text("Enough."))).await;
    room.say("PARENT: go").await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("50 model calls"), "{transcript:#?}");

    let limits = Limits { tokens: Some(500), ..Limits::default() };
    let mut script = Script::new().call("agent", task("costly")).usage(100, 1);
    for number in 0..60 {
        let path = format!("./x{number}");
        script =
            script.then().when(child("costly")).call("ls", json!({ "path": path })).usage(100, 1);
    }
    let budget = Budget { turn: limits, ..Budget::default() };
    let plan = Plan { budget, ..Plan::with_tools(script.then().text("Enough.")) };
    let room = Room::new(plan).await;
    let events = room.say("PARENT: go").await;
    let Some(Event::TurnDone { ending, usage, .. }) = events.last() else { panic!("{events:?}") };
    assert!(matches!(ending, Ending::OverBudget(_)), "{ending:?}");
    assert!(usage.total() < 700, "the sub-agent stopped at its parent's limit: {usage:?}");
}

#[tokio::test]
async fn one_in_the_background_reports_once_when_it_ends() {
    let order = json!({ "prompt": "slow task", "run_in_background": true });
    let script = Script::new()
        .call("agent", order)
        .then()
        .when(child("slow task"))
        .delay_ms(150)
        .text("The slow report.")
        .then()
        .text("It works in the background.")
        .then()
        .text("Now I know.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.say("PARENT: go").await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("works in the background"), "{transcript:#?}");
    let told = transcript.iter().filter(|entry| entry.contains("The slow report.")).count();
    assert_eq!(told, 1, "{transcript:#?}");
    assert!(transcript.last().unwrap().contains("Now I know."), "{transcript:#?}");
    assert_eq!(room.store.owed_reports(room.session).await.unwrap(), []);
    room.assert_valid();
}

#[tokio::test]
async fn a_report_of_a_dead_process_is_told_by_the_next() {
    let order = json!({ "prompt": "slow task", "run_in_background": true });
    let script = Script::new()
        .call("agent", order)
        .then()
        .when(child("slow task"))
        .stall()
        .then()
        .text("Meanwhile.")
        .then()
        .text("Too bad.");
    let plan = Plan { presence: Presence::Attended, ..Plan::with_tools(script) };
    let room = Room::new(plan).await;
    room.say("PARENT: go").await;
    room.coordinator.close().await;
    assert_eq!(room.store.owed_reports(room.session).await.unwrap().len(), 1);
    let again = Plan::with_tools(Script::new().text("Too bad."));
    let other = room.reopened(&again);
    let mut events = base::protocol::Client::subscribe(&other, base::protocol::EventFilter::All, 0);
    let parts = vec![Part::user_text("PARENT: and?")];
    let say = Op::say(room.session, parts, Delivery::Queue);
    base::protocol::Client::submit(&other, say).await.unwrap();
    to_the_end(&mut events).await;
    let transcript = room.transcript().await;
    let told = transcript.iter().filter(|entry| entry.contains("did not finish")).count();
    assert_eq!(told, 1, "{transcript:#?}");
    assert_eq!(room.store.owed_reports(room.session).await.unwrap(), []);
}

#[tokio::test]
async fn a_finished_one_takes_a_follow_up() {
    let script = Script::new()
        .call("agent", task("first task"))
        .then()
        .when(child("first task"))
        .text("First answer.")
        .then()
        .text("More?");
    let room = Room::new(Plan::with_tools(script)).await;
    let events = room.say("PARENT: go").await;
    let [child_session] = children(&events)[..] else { panic!("{events:?}") };
    let follow_up = json!({ "prompt": "and the second?", "resume": child_session.to_string() });
    let script = Script::new()
        .call("agent", follow_up)
        .then()
        .when(child("and the second?"))
        .text("Second answer.")
        .then()
        .text("Thanks.");
    let other = room.rescripted(Plan::with_tools(script)).await;
    let events = other.say("PARENT: ask on").await;
    assert_eq!(children(&events), [child_session]);
    let transcript = other.transcript().await;
    assert!(format!("{transcript:?}").contains("Second answer."), "{transcript:#?}");
    let own = other.store.branch(child_session).await.unwrap();
    let said = own.iter().filter(|entry| matches!(entry.kind, EntryKind::User { .. })).count();
    assert_eq!(said, 2, "one session, two prompts");
}

#[tokio::test]
async fn deeper_where_the_settings_say_so_and_never_more_at_once() {
    let below = When {
        contains: Some("go deeper".to_owned()),
        lacks: Some("PARENT".to_owned()),
        ..When::default()
    };
    let script = Script::new()
        .call("agent", json!({ "prompt": "go deeper", "agent": "general" }))
        .usage(1, 1)
        .then()
        .when(below.clone())
        .call("agent", task("deepest"))
        .usage(10, 1)
        .then()
        .when(When {
            contains: Some("\"deepest\"".to_owned()),
            lacks: Some("go deeper".to_owned()),
            ..When::default()
        })
        .text("Bottom.")
        .usage(100, 1)
        .then()
        .when(below)
        .text("Below: bottom.")
        .usage(1_000, 1)
        .then()
        .text("Done.")
        .usage(10_000, 1);
    let mut plan = Plan::with_tools(script);
    plan.config.agents.max_depth = 2;
    let room = Room::new(plan).await;
    let events = room.say("PARENT: go").await;
    assert_eq!(children(&events).len(), 2);
    assert_eq!(room.spent().await.usage.input, 11_111);
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("Below: bottom."), "{transcript}");

    let mut script = Script::new();
    for number in 0..3 {
        script = script.call("agent", task(&format!("task {number}")));
    }
    for number in 0..3 {
        let own = child(&format!("task {number}"));
        script = script.then().when(own).text(&format!("report {number}"));
    }
    let mut plan = Plan::with_tools(script.then().text("Done."));
    plan.config.agents.max_running = 1;
    let room = Room::new(plan).await;
    let events = room.say("PARENT: go").await;
    let (mut running, mut most) = (0, 0);
    for event in &events {
        let is_childs = event.session() != Some(room.session);
        if matches!(event, Event::TurnStarted { .. }) && is_childs {
            running += 1;
            most = most.max(running);
        } else if matches!(event, Event::TurnDone { .. }) && is_childs {
            running -= 1;
        }
    }
    assert_eq!((children(&events).len(), most), (3, 1), "the others wait for their place");
}
