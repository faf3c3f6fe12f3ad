//! Asking the user: yes, no, for how long, and nobody there.

use agent::Presence;
use base::protocol::{Approval, Client, Delivery, EventStream, Mode, Op, Query, Reply, Scope};
use base::{Event, RequestId};
use serde_json::{Value, json};
use testkit::Script;

use crate::room::{Plan, Room, to_the_end, until};

fn writing(path: &str) -> Value {
    json!({ "file_path": path, "content": "x\n" })
}

fn attended(script: Script) -> Plan {
    Plan { presence: Presence::Attended, mode: Mode::Default, ..Plan::with_tools(script) }
}

async fn question(events: &mut EventStream) -> RequestId {
    let asked = until(events, |event| matches!(event, Event::ApprovalNeeded { .. })).await;
    let Event::ApprovalNeeded { request, body, .. } = asked else { panic!("{asked:?}") };
    assert!(body.is_some(), "the one who is asked sees what would change");
    request
}

#[tokio::test]
async fn a_yes_for_once_runs_one_call() {
    let script = Script::new().call("write", writing("a")).then().call("write", writing("a2"));
    let room = Room::new(attended(script.then().text("Done."))).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    for _ in 0..2 {
        let request = question(&mut events).await;
        let approval = Approval::Allow { scope: Scope::Once, rule: None };
        room.submit(Op::Approve { request, approval: approval.clone() }).await;
        let again = room.coordinator.submit(Op::Approve { request, approval }).await;
        assert!(again.is_err(), "the first answer counts");
    }
    to_the_end(&mut events).await;
    assert!(room.folder.join("a").exists() && room.folder.join("a2").exists());
    room.assert_valid();
}

#[tokio::test]
async fn a_yes_for_the_session_is_not_asked_for_again() {
    let script = Script::new().call("bash", json!({ "command": "touch one" }));
    let script = script.then().call("bash", json!({ "command": "touch one" })).then().text("Done.");
    let room = Room::new(attended(script)).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let request = until(&mut events, |event| matches!(event, Event::ApprovalNeeded { .. })).await;
    let Event::ApprovalNeeded { request, .. } = request else { panic!("{request:?}") };
    let approval = Approval::Allow { scope: Scope::Session, rule: None };
    room.submit(Op::Approve { request, approval }).await;
    let rest = to_the_end(&mut events).await;
    let asked = |event: &Event| matches!(event, Event::ApprovalNeeded { .. });
    assert!(!rest.iter().any(asked), "{rest:?}");
    assert!(room.folder.join("one").exists());
    let project = room.folder.display().to_string();
    assert_eq!(room.store.grants(Some(room.session), project).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_rule_the_user_has_edited_is_kept_and_a_bad_one_leaves_the_question_open() {
    let script = Script::new().call("bash", json!({ "command": "touch one" }));
    let script = script.then().call("bash", json!({ "command": "mkdir two" })).then().text("Done.");
    let room = Room::new(attended(script)).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let asked = until(&mut events, |event| matches!(event, Event::ApprovalNeeded { .. })).await;
    let Event::ApprovalNeeded { request, rules, risky, .. } = asked else { panic!("{asked:?}") };
    assert_eq!((rules, risky), (vec!["Bash(touch:*)".to_owned()], vec!["touch one".to_owned()]));
    let approve = |rule: &str| {
        let approval = Approval::Allow { scope: Scope::Project, rule: Some(rule.to_owned()) };
        Op::Approve { request, approval }
    };
    for (bad, why) in [
        ("Bash(touch:*", "not closed"),
        ("Write(x)", "would allow nothing"),
        ("*", "would allow everything"),
        ("", "is empty"),
    ] {
        let refused = room.coordinator.submit(approve(bad)).await.unwrap_err().to_string();
        assert!(refused.contains(why), "{bad}: {refused}");
    }
    room.submit(approve("Bash(mkdir:*)")).await;
    let rest = to_the_end(&mut events).await;
    let asked = |event: &Event| matches!(event, Event::ApprovalNeeded { .. });
    assert!(!rest.iter().any(asked), "the edited rule covers the next call: {rest:?}");
    let grants = room.store.grants(Some(room.session), room.folder.display().to_string());
    let rules: Vec<String> = grants.await.unwrap().into_iter().map(|grant| grant.rule).collect();
    assert_eq!(rules, ["Bash(mkdir:*)"], "in place of the proposed one");
    assert!(room.folder.join("one").exists() && room.folder.join("two").exists());
}

#[tokio::test]
async fn a_no_is_a_result_with_the_users_words() {
    let script = Script::new().call("write", writing("a")).then().text("As you like.");
    let room = Room::new(attended(script)).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let request = question(&mut events).await;
    let instead = Some("use b instead".to_owned());
    room.submit(Op::Approve { request, approval: Approval::Deny { instead } }).await;
    to_the_end(&mut events).await;
    let transcript = room.transcript().await;
    assert!(transcript[2].contains("use b instead"), "{transcript:#?}");
    assert!(!room.folder.join("a").exists());
    room.assert_valid();
}

#[tokio::test]
async fn nobody_there_means_no_and_says_what_would_allow_it() {
    let script = Script::new().call("write", writing("a")).then().text("Pity.");
    let room = Room::new(Plan { mode: Mode::Default, ..Plan::with_tools(script) }).await;
    let told = room.told("go").await;
    let denied = told.iter().find(|line| line.starts_with("denied write")).unwrap();
    assert!(denied.contains("--allow"), "{denied}");
    assert!(!room.folder.join("a").exists());
}

/// What goes on in the session, as a face that comes now is told.
async fn going_on(room: &Room) -> Vec<Event> {
    let reply = room.coordinator.ask(Query::State { session: room.session }).await.unwrap();
    let Reply::State(state) = reply else { panic!("{reply:?}") };
    state.going_on
}

#[tokio::test]
async fn a_face_that_comes_later_is_told_what_waits_for_an_answer() {
    let script = Script::new().call("write", writing("a")).then().text("Done.");
    let room = Room::new(attended(script)).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let asked = until(&mut events, |event| matches!(event, Event::ApprovalNeeded { .. })).await;
    assert_eq!(going_on(&room).await, std::slice::from_ref(&asked));
    let Event::ApprovalNeeded { request, .. } = asked else { panic!("{asked:?}") };
    let approval = Approval::Allow { scope: Scope::Once, rule: None };
    room.submit(Op::Approve { request, approval }).await;
    to_the_end(&mut events).await;
    assert_eq!(going_on(&room).await, []);
}

#[tokio::test]
async fn a_sub_agents_question_is_among_its_familys() {
    let task = json!({ "prompt": "write it", "description": "write", "agent": "general" });
    let script = Script::new().call("agent", task).then().call("write", writing("a"));
    let room = Room::new(attended(script.then().text("Done."))).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let mut told = Vec::new();
    for _ in 0..2 {
        let is_it = |event: &Event| {
            matches!(event, Event::ChildStarted { .. } | Event::ApprovalNeeded { .. })
        };
        told.push(until(&mut events, is_it).await);
    }
    assert_eq!(going_on(&room).await, told, "whose it is comes before what it asks");
    room.submit(Op::Stop { session: room.session }).await;
    to_the_end(&mut events).await;
    assert_eq!(going_on(&room).await, []);
}

#[tokio::test]
async fn a_stop_settles_what_the_model_has_asked() {
    let asking = json!({ "questions": [{ "question": "Which one?" }] });
    let room = Room::new(attended(Script::new().call("question", asking))).await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let asked = until(&mut events, |event| matches!(event, Event::QuestionAsked { .. })).await;
    let Event::QuestionAsked { request, .. } = asked else { panic!("{asked:?}") };
    room.submit(Op::Stop { session: room.session }).await;
    let rest = to_the_end(&mut events).await;
    let settled =
        |event: &Event| matches!(event, Event::Settled { request: it, .. } if *it == request);
    assert!(rest.iter().any(settled), "{rest:?}");
    assert_eq!(going_on(&room).await, []);
}
