//! What servers ask back: forms for the user, answers of a model.

use agent::Presence;
use base::Event;
use base::protocol::{Approval, Client, Delivery, EventStream, Mode, Op, Scope};
use base::transcript::Outcome;
use serde_json::{Value, json};
use testkit::Script;

use super::lender::{Lender, config, ready, results};
use crate::room::{Plan, Room, text, to_the_end, until};

fn asks(method: &str, params: &Value) -> Lender {
    Lender::of_tools(&[("ask", json!([{ "ask": { "method": method, "params": params } }]))])
}

fn form() -> Lender {
    let schema = json!({
        "type": "object", "required": ["name"],
        "properties": {
            "name": { "type": "string", "title": "Your name" },
            "age": { "type": "integer", "minimum": 0, "default": 7 },
            "colour": { "type": "string", "enum": ["red", "blue"] },
        },
    });
    asks("elicitation/create", &json!({ "message": "Who are you?", "requestedSchema": schema }))
}

fn sampling() -> Lender {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Two and two?" } });
    asks("sampling/createMessage", &json!({ "messages": [message], "maxTokens": 50 }))
}

async fn room(lender: &Lender, presence: Presence, mode: Mode, small: &str) -> Room {
    let script = Script::new().call("mcp_m_ask", json!({})).then();
    let script = if small.is_empty() { script } else { script.text(small).usage(7, 3).then() };
    let allow = vec![guard::Rule::parse("mcp__m").unwrap()];
    let rules = guard::Rules { allow, ..guard::Rules::default() };
    let script = script.text("Done.").usage(10, 5);
    ready(Plan {
        config: config(&[("m", lender)]),
        presence,
        mode,
        rules,
        ..Plan::with_tools(script)
    })
    .await
}

/// What the server was answered.
async fn answered(room: &Room) -> Value {
    let results = results(room).await;
    let (_, result) = results.last().unwrap();
    assert_eq!(result.outcome, Outcome::Done, "{result:?}");
    let text: String = serde_json::from_str(&text(result)).unwrap();
    serde_json::from_str(&text).unwrap()
}

async fn question(events: &mut EventStream) -> (base::RequestId, Vec<base::protocol::Question>) {
    let event = until(events, |it| matches!(it, Event::QuestionAsked { .. })).await;
    let Event::QuestionAsked { request, questions, .. } = event else { panic!() };
    (request, questions)
}

#[tokio::test]
async fn a_form_is_asked_of_the_user_and_again_where_an_answer_does_not_fit() {
    let lender = form();
    let room = room(&lender, Presence::Attended, Mode::Default, "").await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let (request, questions) = question(&mut events).await;
    assert_eq!(questions.len(), 3);
    assert!(questions.iter().all(|it| it.text.starts_with("The MCP server m asks: Who are you?")));
    let colour = questions.iter().position(|it| !it.choices.is_empty()).unwrap();
    assert_eq!(questions[colour].choices, ["red", "blue"]);
    let answer = |it: &base::protocol::Question| match it.text.lines().last().unwrap() {
        line if line.contains("Your name") => "Ada".to_owned(),
        line if line.contains("colour") => "blue".to_owned(),
        _ => "young".to_owned(),
    };
    let answers = questions.iter().map(answer).collect();
    room.submit(Op::Answer { request, answers }).await;
    let (request, questions) = question(&mut events).await;
    assert_eq!(questions.len(), 1);
    assert!(questions[0].text.contains("That did not fit: it must be a number"));
    room.submit(Op::Answer { request, answers: vec![String::new()] }).await;
    to_the_end(&mut events).await;
    let expected = json!({ "name": "Ada", "age": 7, "colour": "blue" });
    let came = answered(&room).await;
    assert_eq!((&came["action"], &came["content"]), (&json!("accept"), &expected));
    room.coordinator.close().await;
}

#[tokio::test]
async fn where_nobody_is_there_a_form_is_declined() {
    let lender = form();
    let room = room(&lender, Presence::Alone, Mode::Default, "").await;
    room.say("go").await;
    assert_eq!(answered(&room).await["action"], json!("decline"));
    room.coordinator.close().await;
}

#[tokio::test]
async fn a_model_answers_for_a_server_once_somebody_says_yes_and_it_is_paid_for() {
    let lender = sampling();
    let room = room(&lender, Presence::Attended, Mode::Default, "Four.").await;
    let mut events = room.watch();
    room.submit(room.saying("go", Delivery::Queue)).await;
    let event = until(&mut events, |it| matches!(it, Event::ApprovalNeeded { .. })).await;
    let Event::ApprovalNeeded { request, title, body, .. } = event else { panic!() };
    assert_eq!(title, "m wants an answer of lab/m");
    assert_eq!(body, Some(base::Block::Text { text: "Two and two?".to_owned() }));
    let approval = Approval::Allow { scope: Scope::Once, rule: None };
    room.submit(Op::Approve { request, approval }).await;
    to_the_end(&mut events).await;
    let came = answered(&room).await;
    assert_eq!(came["content"]["text"], json!("Four."), "{came}");
    let spent = room.spent().await;
    assert_eq!(spent.calls, 3);
    let asked = &room.server.requests()[1].body;
    assert_eq!(asked["tools"], Value::Null, "the model has no tools for that");
    assert!(
        asked.to_string().contains("\"max_completion_tokens\":50")
            || asked.to_string().contains("\"max_tokens\":50"),
        "{asked}"
    );
    room.coordinator.close().await;
}

#[tokio::test]
async fn the_small_model_answers_for_a_server_where_there_is_one() {
    let lender = sampling();
    let script = Script::new().when_contains("Its title:").text("\"Sums\"").then();
    let script = script.when_contains("Two and two?").text("Four.").then();
    let script = script.call("mcp_m_ask", json!({})).then().text("Done.");
    let plan = Plan {
        config: config(&[("m", &lender)]),
        presence: Presence::Attended,
        small: true,
        ..Plan::with_tools(script)
    };
    let room = ready(plan).await;
    room.say("go").await;
    assert_eq!(answered(&room).await["content"]["text"], json!("Four."));
    let requests = room.server.requests();
    let asked = requests.iter().find(|it| it.body.to_string().contains("Two and two?")).unwrap();
    assert_eq!(asked.body["model"], json!("small"));
    let talks = requests.iter().filter(|it| it.body["model"] == json!("m"));
    assert_eq!(talks.count(), 2, "the talk itself stays with the session's model");
    room.coordinator.close().await;
}

#[tokio::test]
async fn no_model_answers_where_somebody_says_no_or_nobody_is_there() {
    let lender = sampling();
    let alone = room(&lender, Presence::Alone, Mode::Bypass, "").await;
    alone.say("go").await;
    let came = answered(&alone).await.to_string();
    assert!(came.contains("nobody is here"), "{came}");
    assert_eq!(alone.server.requests().len(), 2);
    alone.coordinator.close().await;

    let attended = room(&lender, Presence::Attended, Mode::Default, "").await;
    let mut events = attended.watch();
    attended.submit(attended.saying("go", Delivery::Queue)).await;
    let event = until(&mut events, |it| matches!(it, Event::ApprovalNeeded { .. })).await;
    let Event::ApprovalNeeded { request, .. } = event else { panic!() };
    attended.submit(Op::Approve { request, approval: Approval::Deny { instead: None } }).await;
    to_the_end(&mut events).await;
    let came = answered(&attended).await.to_string();
    assert!(came.contains("the user said no"), "{came}");
    attended.coordinator.close().await;
}

/// A prompt and a resource that are given once something else is known.
fn curious() -> Lender {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let form = json!({ "message": "Who are you?", "requestedSchema": schema });
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Two and two?" } });
    let sampling = json!({ "messages": [message], "maxTokens": 50 });
    Lender::new(&json!({
        "prompts": [{
            "name": "greet", "text": "Greet:",
            "asks": { "method": "elicitation/create", "params": form },
        }],
        "resources": [{
            "uri": "note://1", "name": "One", "text": "It is ",
            "asks": { "method": "sampling/createMessage", "params": sampling },
        }],
    }))
}

/// The newest prompt's words of the server.
async fn given(room: &Room) -> String {
    let branch = room.store.branch(room.session).await.unwrap();
    let newest = branch.iter().rev().find_map(|entry| {
        if let base::EntryKind::User { parts } = &entry.kind { Some(parts.clone()) } else { None }
    });
    let servers = base::Origin::Mcp("m".to_owned());
    let words = newest.unwrap().into_iter().filter(|part| part.origin == servers);
    words.filter_map(|part| part.as_text().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_server_may_ask_before_it_gives_a_prompt_or_a_resource() {
    let lender = curious();
    let script = Script::new().text("Hello.").then().text("Four.").then().text("Yes.");
    let plan = Plan {
        config: config(&[("m", &lender)]),
        presence: Presence::Attended,
        mode: Mode::Default,
        ..Plan::with_tools(script)
    };
    let room = ready(plan).await;
    let mut events = room.watch();
    let (session, coordinator) = (room.session, room.coordinator.clone());
    let asking = tokio::task::spawn_blocking(move || {
        let op = Op::Command { session, line: "/mcp__m__greet".to_owned() };
        tokio::runtime::Handle::current().block_on(coordinator.submit(op))
    });
    let (request, questions) = question(&mut events).await;
    assert!(questions[0].text.starts_with("The MCP server m asks: Who are you?"));
    room.submit(Op::Answer { request, answers: vec!["Ada".to_owned()] }).await;
    asking.await.unwrap().unwrap();
    to_the_end(&mut events).await;
    assert!(given(&room).await.contains(r#""name": "Ada""#), "{}", given(&room).await);

    room.submit(room.saying("what is @m:note://1 ?", Delivery::Queue)).await;
    let event = until(&mut events, |it| matches!(it, Event::ApprovalNeeded { .. })).await;
    let Event::ApprovalNeeded { request, call, title, .. } = event else { panic!() };
    assert_eq!(title, "m wants an answer of lab/m");
    let approval = Approval::Allow { scope: Scope::Once, rule: None };
    room.submit(Op::Approve { request, approval }).await;
    let ended = |it: &Event| matches!(it, Event::ToolDone { call: of, .. } if *of == call);
    until(&mut events, ended).await;
    to_the_end(&mut events).await;
    assert!(given(&room).await.contains("Four."), "{}", given(&room).await);
    room.coordinator.close().await;
}

#[tokio::test]
async fn where_nobody_is_there_prompts_and_resources_come_without_being_asked_about() {
    let lender = curious();
    let plan = Plan {
        config: config(&[("m", &lender)]),
        presence: Presence::Alone,
        ..Plan::with_tools(Script::new().text("Done.").then().text("Done."))
    };
    let room = ready(plan).await;
    let mut events = room.watch();
    let line = "/mcp__m__greet".to_owned();
    room.submit(Op::Command { session: room.session, line }).await;
    to_the_end(&mut events).await;
    assert!(given(&room).await.contains(r#""action": "decline""#), "{}", given(&room).await);
    room.say("what is @m:note://1 ?").await;
    assert!(given(&room).await.contains("nobody is here"), "{}", given(&room).await);
    room.coordinator.close().await;
}
