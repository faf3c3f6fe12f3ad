//! How sub-agents end: with their parent, at a limit, once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::Presence;
use base::protocol::{Delivery, Ending, Op};
use base::{Event, SessionId};
use guard::Action;
use serde_json::{Value, json};
use testkit::Script;
use testkit::script::When;
use tools::{Effect, Output, Tool, ToolCtx, ToolError, Workspace};

use crate::room::{Plan, Room, line, to_the_end, until};

/// A command that tells its process, and runs for long.
const SLEEP: &str = "sleep 600 & echo $! > pid; wait";

fn general(prompt: &str) -> Value {
    json!({ "prompt": prompt, "agent": "general" })
}

fn behind(prompt: &str) -> Value {
    json!({ "prompt": prompt, "agent": "general", "run_in_background": true })
}

/// A request of a sub-agent that was given this task.
fn child(prompt: &str) -> When {
    When { contains: Some(prompt.to_owned()), lacks: Some("PARENT".to_owned()), ..When::default() }
}

/// Waits for a file that says something.
async fn appears(file: &Path) -> String {
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if text.ends_with('\n') {
            return text;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process ends, within a while.
async fn ends(pid: &str) -> bool {
    let alive = Path::new("/proc").join(pid.trim());
    let began = Instant::now();
    while alive.exists() && began.elapsed().as_secs() < 5 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    !alive.exists()
}

fn first_child(events: &[Event]) -> SessionId {
    let child = events.iter().find_map(|event| {
        if let Event::ChildStarted { child, .. } = event { Some(*child) } else { None }
    });
    child.unwrap_or_else(|| panic!("no child in {events:#?}"))
}

#[tokio::test]
async fn cancel_reaches_every_descendant() {
    let script = Script::new()
        .call("agent", general("wait long"))
        .then()
        .when(child("wait long"))
        .call("bash", json!({ "command": SLEEP }))
        .then()
        .text("never");
    // One below it, that works in the background while its parent waits.
    let deeper = Script::new()
        .call("agent", general("have it done"))
        .then()
        .when(child("have it done"))
        .call("agent", behind("deep down"))
        .then()
        .when(child("have it done"))
        .stall()
        .then()
        .when(When {
            contains: Some("deep down".to_owned()),
            lacks: Some("have it done".to_owned()),
            ..When::default()
        })
        .call("bash", json!({ "command": SLEEP }));
    for script in [script, deeper] {
        for presence in [Presence::Alone, Presence::Attended] {
            let mut plan = Plan { presence, ..Plan::with_tools(script.clone()) };
            plan.config.agents.max_depth = 2;
            let room = Room::new(plan).await;
            let mut events = room.watch();
            room.submit(room.saying("PARENT: go", Delivery::Queue)).await;
            let pid = appears(&room.folder.join("pid")).await;
            room.submit(Op::Stop { session: room.session }).await;
            let rest = to_the_end(&mut events).await;
            let told: Vec<String> = rest.iter().filter_map(line).collect();
            assert!(told.last().unwrap().contains("Cancelled"), "{told:#?}");
            assert!(ends(&pid).await, "its process is gone");
            room.assert_valid();
        }
    }
}

#[tokio::test]
async fn a_session_can_be_deleted_while_its_sub_agent_works() {
    let script = Script::new()
        .call("agent", general("wait long"))
        .then()
        .when(child("wait long"))
        .call("bash", json!({ "command": SLEEP }));
    let room = Room::new(Plan::with_tools(script)).await;
    room.submit(room.saying("PARENT: go", Delivery::Queue)).await;
    let pid = appears(&room.folder.join("pid")).await;
    let deleting = room.submit(Op::Delete { session: room.session });
    tokio::time::timeout(Duration::from_secs(10), deleting).await.unwrap();
    assert!(ends(&pid).await, "its process is gone");
}

#[tokio::test]
async fn its_time_is_up_whatever_it_is_at() {
    let silent = Script::new().call("agent", general("think")).then().when(child("think")).stall();
    let busy = Script::new()
        .call("agent", general("think"))
        .then()
        .when(child("think"))
        .text("Two owls so far.")
        .call("bash", json!({ "command": SLEEP }));
    for script in [silent, busy] {
        let mut plan = Plan::with_tools(script.then().text("I see."));
        plan.config.agents.max_seconds = Some(1);
        let room = Room::new(plan).await;
        let began = Instant::now();
        let events = room.say("PARENT: go").await;
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
        let transcript = room.transcript().await;
        assert!(transcript[2].contains("agents.max_seconds"), "{transcript:#?}");
        assert!(transcript.last().unwrap().contains("I see."), "{transcript:#?}");
        let child = first_child(&events);
        let is_over = |event: &Event| {
            let Event::TurnDone { session, ending, .. } = event else { return false };
            *session == child && matches!(ending, Ending::OverBudget(_))
        };
        assert!(events.iter().any(is_over), "{events:#?}");
        if let Ok(pid) = std::fs::read_to_string(room.folder.join("pid")) {
            assert!(ends(&pid).await, "its process is gone");
        }
        room.assert_valid();
    }
}

#[tokio::test]
async fn each_of_its_limits_is_called_what_raises_it() {
    let tireless = || {
        let mut script = Script::new().call("agent", general("look"));
        for number in 0..9 {
            let path = format!("./x{number}");
            script = script.then().when(child("look")).call("ls", json!({ "path": path }));
            script = script.usage(1_000, 100);
        }
        script.then().text("I see.")
    };
    let mut costly = Plan::with_tools(tireless());
    costly.config.agents.max_usd = Some(0.004);
    let mut long = Plan::with_tools(tireless());
    long.config.agents.max_steps = 2;
    for (plan, knob) in [(costly, "agents.max_usd"), (long, "agents.max_steps")] {
        let room = Room::new(plan).await;
        room.say("PARENT: go").await;
        let transcript = room.transcript().await;
        assert!(transcript[2].contains(knob), "{knob}: {transcript:#?}");
        assert!(transcript[2].contains("in this task"), "{knob}: {transcript:#?}");
        assert_eq!(room.server.requests().len(), 4, "two of each");
    }
}

#[tokio::test]
async fn one_that_is_refused_leaves_nothing_behind() {
    let agent = "---\nname: lost\ndescription: d\ntools: Teleport\nbackground: true\n\
                 isolation: worktree\n---\nYou are lost.\n";
    let order = json!({ "prompt": "go", "agent": "lost" });
    let script = Script::new().call("agent", order).then().text("Pity.");
    let room = Room::new(Plan::with_tools(script)).await;
    room.write(".caiman/agents/lost.md", agent);
    room.say("PARENT: go").await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("none of its tools is here"), "{transcript:#?}");
    assert_eq!(room.store.owed_reports(room.session).await.unwrap(), []);
    let all = store::SessionFilter { limit: Some(9), ..store::SessionFilter::default() };
    assert_eq!(room.store.sessions(all).await.unwrap().len(), 1, "no session of its own");
    assert!(!room.dir.path().join(".local/share/caiman/worktrees").exists());
}

#[tokio::test]
async fn one_session_is_resumed_once_at_a_time() {
    let first = Script::new()
        .call("agent", general("first task"))
        .then()
        .when(child("first task"))
        .text("First answer.")
        .then()
        .text("More?");
    let room = Room::new(Plan::with_tools(first)).await;
    let own = first_child(&room.say("PARENT: go").await);
    let again = |prompt: &str| json!({ "prompt": prompt, "resume": own.to_string() });
    let script = Script::new()
        .call("agent", again("and now?"))
        .call("agent", again("and then?"))
        .then()
        .when(child("first task"))
        .delay_ms(100)
        .text("Second answer.")
        .then()
        .text("Thanks.");
    let room = room.rescripted(Plan::with_tools(script)).await;
    room.say("PARENT: ask on").await;
    let transcript = room.transcript().await.join("\n");
    assert_eq!(transcript.matches("Second answer.").count(), 1, "{transcript}");
    assert_eq!(transcript.matches("it is still at work").count(), 1, "{transcript}");
    let branch = room.store.branch(own).await.unwrap();
    let prompts = branch.iter().filter(|it| matches!(it.kind, base::EntryKind::User { .. }));
    assert_eq!(prompts.count(), 2);
}

/// A tool with a defect.
struct Broken;

impl Tool for Broken {
    const NAME: &'static str = "broken";
    const EFFECT: Effect = Effect::Write;
    type Input = BTreeMap<String, String>;

    fn title(&self, _: &Self::Input) -> String {
        String::new()
    }

    fn actions(&self, _: &Self::Input, _: &Workspace) -> Result<Vec<Action>, ToolError> {
        panic!("as it is meant to")
    }

    async fn run(&self, _: Self::Input, _: &ToolCtx) -> Result<Output, ToolError> {
        Err(ToolError::Cancelled)
    }
}

#[tokio::test]
async fn a_defect_in_its_turn_is_its_parents_to_read() {
    let script = Script::new()
        .call("agent", general("break"))
        .then()
        .when(child("break"))
        .call("broken", json!({}))
        .then()
        .text("I see.");
    let plan = Plan { tool: Some(Arc::new(Broken)), ..Plan::with_tools(script) };
    let room = Room::new(plan).await;
    room.say("PARENT: go").await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("a defect of caiman"), "{transcript:#?}");
    assert!(transcript[3].contains("I see."), "{transcript:#?}");
}

#[tokio::test]
async fn a_question_where_nobody_answers_is_a_no() {
    let script = Script::new()
        .call("agent", general("write it"))
        .then()
        .when(child("write it"))
        .call("write", json!({ "file_path": "a", "content": "x\n" }))
        .then()
        .when(child("write it"))
        .text("I was not allowed to.")
        .then()
        .text("Pity.");
    let plan = Plan { mode: base::protocol::Mode::Default, ..Plan::with_tools(script) };
    let room = Room::new(plan).await;
    let events = room.say("PARENT: go").await;
    assert!(!room.folder.join("a").exists());
    let own = first_child(&events);
    let denied = |event: &Event| matches!(event, Event::Denied { session, .. } if *session == own);
    assert!(events.iter().any(denied), "{events:#?}");
    assert!(!events.iter().any(|event| matches!(event, Event::ApprovalNeeded { .. })));
}

#[tokio::test]
async fn what_a_turn_costs_is_what_the_ledger_says_titles_included() {
    let script = Script::new().when_contains("Its title:").text("A title").usage(70, 7);
    let script = script
        .then()
        .call("agent", general("look"))
        .delay_ms(200)
        .usage(1_000, 10)
        .then()
        .when(child("look"))
        .text("Seen.")
        .usage(100, 1)
        .then()
        .text("Done.")
        .usage(2_000, 20);
    let room = Room::new(Plan { small: true, ..Plan::with_tools(script) }).await;
    let events = room.say("PARENT: go").await;
    let asked = room.server.bodies();
    let titles = asked.iter().filter(|body| body.to_string().contains("Its title:")).count();
    assert_eq!(titles, 1, "a sub-agent's task has a name");
    let Some(Event::TurnDone { usage, cost, .. }) = events.last() else { panic!("{events:#?}") };
    let spent = room.spent().await;
    assert_eq!((spent.calls, spent.usage.input), (4, 3_170));
    assert_eq!((usage.input, usage.output, *cost), (3_170, 38, Some(spent.cost)));
}

#[tokio::test]
async fn one_in_the_background_ends_before_its_parent_reports() {
    let below = When {
        contains: Some("deep down".to_owned()),
        lacks: Some("have it done".to_owned()),
        ..When::default()
    };
    let script = Script::new()
        .call("agent", general("have it done"))
        .then()
        .when(child("have it done"))
        .call("agent", behind("deep down"))
        .then()
        .when(below)
        .delay_ms(150)
        .text("Owls at the bottom.")
        .then()
        .when(child("have it done"))
        .text("It works on it.")
        .then()
        .when(child("Owls at the bottom."))
        .text("Owls, it says.")
        .then()
        .text("Thanks.");
    let mut plan = Plan { presence: Presence::Attended, ..Plan::with_tools(script) };
    plan.config.agents.max_depth = 2;
    let room = Room::new(plan).await;
    let mut events = room.watch();
    room.submit(room.saying("PARENT: go", Delivery::Queue)).await;
    until(
        &mut events,
        |event| matches!(event, Event::TurnDone { session, .. } if *session == room.session),
    )
    .await;
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("Owls, it says."), "{transcript}");
}
