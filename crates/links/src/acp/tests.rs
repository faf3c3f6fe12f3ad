//! An editor at one end, a mind of wood at the other.

use std::collections::VecDeque;

use base::protocol::TrustState;
use base::protocol::{
    Approval, ClientError, Ending, EventFilter, EventStream, KeyState, Mode, ModelChoice, Numbered,
    Op, Place, Query, Question, Reply, Scope, SessionState, SessionSummary,
};
use base::{
    CallId, Entry, EntryId, EntryKind, Event, FailureClass, ModelRef, Money, Part, RequestId,
    StopReason, Timestamp, TurnId, Usage,
};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use proptest::prelude::*;
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::{oneshot, watch};

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

/// Does what it is told to, and remembers what it was asked for.
#[derive(Default)]
struct Wood {
    events: Arc<Mutex<Vec<Numbered>>>,
    newest: watch::Sender<u64>,
    ops: watch::Sender<Vec<Op>>,
    entries: Mutex<Vec<Entry>>,
    has_no_key: bool,
}

impl Wood {
    fn publish(&self, event: Event) {
        let mut events = self.events.lock().unwrap();
        let number = events.len() as u64 + 1;
        events.push(Numbered::new(number, event));
        self.newest.send_replace(number);
    }

    /// The first operation that fits, once it was asked for.
    async fn op(&self, fits: impl Fn(&Op) -> bool) -> Op {
        let mut ops = self.ops.subscribe();
        let found = |ops: &Vec<Op>| ops.iter().any(&fits);
        let ops = tokio::time::timeout(PATIENCE, ops.wait_for(found)).await.unwrap().unwrap();
        ops.iter().find(|op| fits(op)).unwrap().clone()
    }

    fn done(&self, session: SessionId, ending: Ending) {
        let (stop, usage) = (StopReason::Done, Usage::default());
        self.publish(Event::TurnDone {
            session,
            turn: TurnId::new(),
            stop,
            ending,
            usage,
            cost: None,
        });
    }

    fn summary(session: SessionId) -> SessionSummary {
        SessionSummary {
            id: session,
            title: Some("Parser".into()),
            folder: std::env::temp_dir().canonicalize().unwrap().display().to_string(),
            created: Timestamp::default(),
            updated: Timestamp::from_millis(1_794_851_999_999),
            entries: 0,
            model: None,
            usage: Usage::default(),
            cost: Money::from_dollars(0.25),
        }
    }

    fn reply(&self, query: Query) -> Result<Reply, ClientError> {
        let model = ModelRef::new("lab", "m");
        let choice = ModelChoice {
            model: model.clone(),
            name: "M".into(),
            provider: "Lab".into(),
            window: 1000,
            input_price: None,
            output_price: None,
            reasons: true,
            sees: true,
            key: if self.has_no_key { KeyState::Missing } else { KeyState::NotNeeded },
        };
        Ok(match query {
            Query::Place { folder } => Reply::Place(Box::new(Place {
                folder,
                branch: None,
                trust: TrustState::Unknown,
                untrusted: vec![".mcp.json".into()],
                model: Some(choice),
                is_model_named: false,
                mode: Mode::Default,
                init: None,
            })),
            Query::Providers => Reply::Providers { providers: Vec::new() },
            Query::Models { .. } => Reply::Models { models: vec![choice] },
            Query::Offers { .. } => Reply::Offers { offers: Vec::new() },
            Query::State { session } => Reply::State(Box::new(SessionState {
                summary: Self::summary(session),
                model,
                window: 1000,
                used: 10,
                effort: None,
                mode: Mode::Default,
                running_since: None,
                is_unfinished: false,
                waiting: Vec::new(),
                todos: Vec::new(),
                going_on: Vec::new(),
                spent: Vec::new(),
            })),
            Query::Session { session } => {
                Reply::Sessions { sessions: vec![Self::summary(session)] }
            }
            Query::Sessions { .. } => {
                Reply::Sessions { sessions: vec![Self::summary(SessionId::new())] }
            }
            Query::Entries { .. } => {
                Reply::Entries { entries: self.entries.lock().unwrap().clone(), paid: Vec::new() }
            }
            Query::Children { .. }
            | Query::Find { .. }
            | Query::Files { .. }
            | Query::History { .. }
            | Query::Changes { .. }
            | Query::Checkpoints { .. }
            | Query::Context { .. }
            | Query::Recall { .. }
            | Query::Servers { .. }
            | Query::ServersChanged { .. } => {
                return Err(ClientError::Refused("not here".to_owned()));
            }
        })
    }
}

impl Client for Wood {
    fn submit(&self, op: Op) -> BoxFuture<'_, Result<(), ClientError>> {
        if let Op::Command { line, .. } = &op
            && line.starts_with("/nothing")
        {
            return async { Err(ClientError::Refused("There is no /nothing.".into())) }.boxed();
        }
        self.ops.send_modify(|ops| ops.push(op));
        async { Ok(()) }.boxed()
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>> {
        let reply = self.reply(query);
        async { reply }.boxed()
    }

    fn subscribe(&self, _: EventFilter, since: u64) -> EventStream {
        let start = (self.events.clone(), self.newest.subscribe(), since);
        let next = |(events, mut newest, seen): (
            Arc<Mutex<Vec<Numbered>>>,
            watch::Receiver<u64>,
            u64,
        )| async move {
            newest.wait_for(|newest| *newest > seen).await.ok()?;
            let event = events.lock().unwrap()[usize::try_from(seen).unwrap()].clone();
            Some((event, (events, newest, seen + 1)))
        };
        stream::unfold(start, next).boxed()
    }
}

/// An editor, and what is behind the agent it talks to.
struct Room {
    wood: Arc<Wood>,
    agent: Agent,
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    /// What was told while an answer was waited for.
    told: VecDeque<Value>,
    next: i64,
    scope: TaskScope,
    lent: Arc<Mutex<Vec<String>>>,
}

impl Room {
    fn new() -> Self {
        Self::of(Wood::default())
    }

    fn of(wood: Wood) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (wood, scope) = (Arc::new(wood), TaskScope::new());
        let behind: Arc<dyn Client> = wood.clone();
        let lent = Arc::new(Mutex::new(Vec::new()));
        let lending = lent.clone();
        let outside = Outside {
            open: Arc::new(move |_| Ok(behind.clone())),
            lend: Arc::new(move |_, name, _| lending.lock().unwrap().push(name.to_owned())),
            folder: std::env::temp_dir(),
            version: "0",
        };
        let agent = Agent::new(outside, &scope);
        let serving = agent.clone();
        let (input, output) = tokio::io::split(theirs);
        scope.spawn(async move {
            serving.serve(output, input).await;
        });
        let (output, input) = tokio::io::split(ours);
        let output = BufReader::new(output).lines();
        Self { wood, agent, input, output, told: VecDeque::new(), next: 0, scope, lent }
    }

    async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn next_line(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await.unwrap();
        serde_json::from_str(&line.unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.send(&message).await;
        self.next
    }

    async fn answer(&mut self, id: i64) -> Result<Value, Value> {
        loop {
            let line = self.next_line().await;
            if line["id"] == id && line.get("method").is_none() {
                return line.get("result").cloned().ok_or_else(|| line["error"].clone());
            }
            self.told.push_back(line);
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// What is told next that fits.
    async fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = match self.told.pop_front() {
                Some(line) => line,
                None => self.next_line().await,
            };
            if fits(&line) {
                return line;
            }
        }
    }

    async fn update(&mut self, kind: &str) -> Value {
        let line = self.hear(|line| line["params"]["update"]["sessionUpdate"] == kind).await;
        line["params"]["update"].clone()
    }

    async fn begin(&mut self) -> SessionId {
        let files = json!({ "readTextFile": true, "writeTextFile": true });
        let capabilities = json!({ "fs": files, "terminal": true });
        let params = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
        self.call("initialize", params).await.unwrap();
        let params = json!({ "cwd": std::env::temp_dir(), "mcpServers": [] });
        let begun = self.call("session/new", params).await.unwrap();
        begun["sessionId"].as_str().unwrap().parse().unwrap()
    }

    async fn prompt(&mut self, session: SessionId, text: &str) -> i64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.ask("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await
    }
}

fn says(op: &Op) -> bool {
    matches!(op, Op::Say { .. })
}

fn needs(session: SessionId, request: RequestId, call: &str) -> Event {
    Event::ApprovalNeeded {
        session,
        request,
        agent: None,
        call: CallId::new(call),
        title: "rm x".into(),
        reason: "it deletes".into(),
        rules: vec!["Bash(rm x)".into()],
        risky: Vec::new(),
        body: None,
    }
}

#[tokio::test]
async fn tells_what_it_can_do() {
    let mut room = Room::new();
    let params =
        json!({ "protocolVersion": 9, "clientCapabilities": { "auth": { "terminal": true } } });
    let told = room.call("initialize", params).await.unwrap();
    assert_eq!(told["protocolVersion"], 1);
    let abilities = &told["agentCapabilities"];
    assert_eq!(abilities["loadSession"], true);
    assert_eq!(abilities["promptCapabilities"]["image"], true);
    assert_eq!(abilities["promptCapabilities"]["embeddedContext"], true);
    assert_eq!(abilities["mcpCapabilities"], json!({ "http": true, "sse": true }));
    assert_eq!(told["authMethods"][0]["type"], "terminal");
    assert_eq!(room.call("authenticate", json!({ "methodId": "login" })).await, Ok(json!({})));
    let wrong = room.call("authenticate", json!({ "methodId": "magic" })).await.unwrap_err();
    assert_eq!(wrong["code"], -32602);
}

#[tokio::test]
async fn without_a_key_it_says_how_to_get_one() {
    let mut room = Room::of(Wood { has_no_key: true, ..Wood::default() });
    let params = json!({ "cwd": std::env::temp_dir(), "mcpServers": [] });
    let fault = room.call("session/new", params).await.unwrap_err();
    assert_eq!(fault["code"], -32000);
    assert!(fault["message"].as_str().unwrap().contains("caiman login"), "{fault}");
}

#[tokio::test]
async fn a_turn_is_told_before_it_is_answered() {
    let mut room = Room::new();
    let session = room.begin().await;
    let update = room.update("agent_message_chunk").await;
    assert!(update["content"]["text"].as_str().unwrap().contains(".mcp.json"), "{update}");
    room.update("available_commands_update").await;
    let id = room.prompt(session, "hi").await;
    room.wood.op(says).await;
    let entry = EntryId::new();
    for word in ["a ", "b ", "c"] {
        room.wood.publish(Event::Text { session, entry, delta: word.into() });
    }
    room.wood.done(session, Ending::Answered);
    assert_eq!(room.answer(id).await, Ok(json!({ "stopReason": "end_turn" })));
    let told: String = room
        .told
        .iter()
        .filter_map(|line| line["params"]["update"]["content"]["text"].as_str())
        .collect();
    assert_eq!(told, "a b c");
    let usage = room.update("usage_update").await;
    assert_eq!(usage["cost"], json!({ "amount": 0.25, "currency": "USD" }));
}

#[tokio::test]
async fn several_permissions_are_asked_at_once_and_answered_in_any_order() {
    let mut room = Room::new();
    let session = room.begin().await;
    let id = room.prompt(session, "hi").await;
    room.wood.op(says).await;
    let (one, two) = (RequestId::new(), RequestId::new());
    room.wood.publish(needs(session, one, "c1"));
    room.wood.publish(needs(session, two, "c2"));
    let asks = |line: &Value| line["method"] == "session/request_permission";
    let first = room.hear(asks).await;
    let second = room.hear(asks).await;
    assert_eq!(first["params"]["toolCall"]["toolCallId"], "c1");
    let selected =
        |option: &str| json!({ "outcome": { "outcome": "selected", "optionId": option } });
    room.send(&json!({ "jsonrpc": "2.0", "id": second["id"], "result": selected("session") }))
        .await;
    let approved = room.wood.op(|op| matches!(op, Op::Approve { .. })).await;
    let approval = Approval::Allow { scope: Scope::Session, rule: None };
    assert_eq!(approved, Op::Approve { request: two, approval });
    room.send(&json!({ "jsonrpc": "2.0", "id": first["id"], "result": selected("reject") })).await;
    let is_first = |op: &Op| matches!(op, Op::Approve { request, .. } if *request == one);
    let denied = room.wood.op(is_first).await;
    assert_eq!(denied, Op::Approve { request: one, approval: Approval::Deny { instead: None } });
    room.wood.done(session, Ending::Answered);
    assert!(room.answer(id).await.is_ok());
}

#[tokio::test]
async fn an_editor_that_cannot_ask_has_said_no() {
    let mut room = Room::new();
    let session = room.begin().await;
    room.prompt(session, "hi").await;
    room.wood.op(says).await;
    room.wood.publish(needs(session, RequestId::new(), "c1"));
    let asked = room.hear(|line| line["method"] == "session/request_permission").await;
    let error = json!({ "code": -32601, "message": "what?" });
    room.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error })).await;
    let denied = room.wood.op(|op| matches!(op, Op::Approve { .. })).await;
    assert!(matches!(denied, Op::Approve { approval: Approval::Deny { .. }, .. }), "{denied:?}");
}

#[tokio::test]
async fn a_cancel_stops_the_turn_and_takes_open_questions_back() {
    let mut room = Room::new();
    let session = room.begin().await;
    let id = room.prompt(session, "hi").await;
    room.wood.op(says).await;
    let request = RequestId::new();
    room.wood.publish(needs(session, request, "c1"));
    let asked = room.hear(|line| line["method"] == "session/request_permission").await;
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } });
    room.send(&cancel).await;
    assert_eq!(room.wood.op(|op| matches!(op, Op::Stop { .. })).await, Op::Stop { session });
    room.wood.publish(Event::Settled { session, request });
    room.wood.done(session, Ending::Cancelled);
    assert_eq!(room.answer(id).await, Ok(json!({ "stopReason": "cancelled" })));
    let back = room.hear(|line| line["method"] == "$/cancel_request").await;
    assert_eq!(back["params"]["requestId"], asked["id"]);
}

#[tokio::test]
async fn a_question_with_choices_is_put_as_one_and_words_are_not() {
    let mut room = Room::new();
    let session = room.begin().await;
    room.prompt(session, "hi").await;
    room.wood.op(says).await;
    let question = |choices: &[&str]| Question {
        text: "Which?".into(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        several: false,
    };
    let request = RequestId::new();
    let questions = vec![question(&["red", "blue"]), question(&[])];
    room.wood.publish(Event::QuestionAsked { session, request, agent: None, questions });
    let asked = room.hear(|line| line["method"] == "session/request_permission").await;
    assert_eq!(asked["params"]["options"][1]["name"], "blue");
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "1" } });
    room.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome })).await;
    let answered = room.wood.op(|op| matches!(op, Op::Answer { .. })).await;
    let answers = vec!["blue".to_owned(), ask::CANNOT_ASK.to_owned()];
    assert_eq!(answered, Op::Answer { request, answers });
}

#[tokio::test]
async fn an_editor_that_shows_forms_is_asked_with_one() {
    let mut room = Room::new();
    let params =
        json!({ "protocolVersion": 1, "clientCapabilities": { "elicitation": { "form": {} } } });
    room.call("initialize", params).await.unwrap();
    let session = room.begin().await;
    let request = RequestId::new();
    let question = Question { text: "What else?".into(), choices: Vec::new(), several: false };
    let questions = vec![question];
    room.wood.publish(Event::QuestionAsked { session, request, agent: None, questions });
    let asked = room.hear(|line| line["method"] == "elicitation/create").await;
    assert_eq!(asked["params"]["message"], "The model asks: What else?");
    let answer = json!({ "action": "accept", "content": { "answer_1": "Nothing." } });
    room.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer })).await;
    let answered = room.wood.op(|op| matches!(op, Op::Answer { .. })).await;
    assert_eq!(answered, Op::Answer { request, answers: vec!["Nothing.".to_owned()] });
}

#[tokio::test]
async fn two_sessions_do_not_hear_of_each_other() {
    let mut room = Room::new();
    let (one, two) = (room.begin().await, room.begin().await);
    let first = room.prompt(one, "one").await;
    let second = room.prompt(two, "two").await;
    room.wood.op(|op| matches!(op, Op::Say { session, .. } if *session == one)).await;
    room.wood.op(|op| matches!(op, Op::Say { session, .. } if *session == two)).await;
    room.wood.done(two, Ending::OverBudget("too much".into()));
    assert_eq!(room.answer(second).await, Ok(json!({ "stopReason": "max_turn_requests" })));
    room.wood.publish(Event::TurnFailed {
        session: one,
        turn: TurnId::new(),
        reason: "the provider is down".into(),
        class: FailureClass::Server,
    });
    let fault = room.answer(first).await.unwrap_err();
    assert_eq!(fault["message"], "the provider is down");
}

#[tokio::test]
async fn an_open_session_tells_its_past_before_it_answers() {
    let mut room = Room::new();
    let session = SessionId::new();
    let entry = |kind| Entry { id: EntryId::new(), parent: None, at: Timestamp::default(), kind };
    *room.wood.entries.lock().unwrap() = vec![
        entry(EntryKind::User { parts: vec![Part::user_text("before")] }),
        entry(EntryKind::Assistant {
            parts: vec![Part::assistant_text("then")],
            model: ModelRef::new("lab", "m"),
            stop: StopReason::Done,
            usage: Usage::default(),
        }),
    ];
    let stdio = json!({ "name": "git", "command": "/bin/x", "args": [], "env": [] });
    let params =
        json!({ "sessionId": session, "cwd": std::env::temp_dir(), "mcpServers": [stdio] });
    let loaded = room.call("session/load", params).await.unwrap();
    assert_eq!(loaded["modes"]["currentModeId"], "default");
    let kinds: Vec<_> =
        room.told.iter().map(|line| &line["params"]["update"]["sessionUpdate"]).collect();
    assert_eq!(kinds[..2], [&json!("user_message_chunk"), &json!("agent_message_chunk")]);
    assert_eq!(*room.lent.lock().unwrap(), ["git"]);
    let listed = room.call("session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"][0]["updatedAt"], "2026-11-16T17:59:59Z");
    let params = json!({ "sessionId": session, "modeId": "plan" });
    assert_eq!(room.call("session/set_mode", params).await, Ok(json!({})));
    room.wood.op(|op| *op == Op::SetMode { session, mode: Mode::Plan }).await;
    let params = json!({ "sessionId": session, "configId": "effort", "value": "high" });
    let set = room.call("session/set_config_option", params).await.unwrap();
    assert_eq!(set["configOptions"].as_array().unwrap().len(), 3);
    assert_eq!(room.call("session/close", json!({ "sessionId": session })).await, Ok(json!({})));
    let prompt = json!([{ "type": "text", "text": "hi" }]);
    let params = json!({ "sessionId": session, "prompt": prompt });
    let fault = room.call("session/prompt", params).await.unwrap_err();
    assert!(fault["message"].as_str().unwrap().contains("session/load"), "{fault}");
}

#[tokio::test]
async fn a_command_is_answered_with_its_reply() {
    let mut room = Room::new();
    let session = room.begin().await;
    let id = room.prompt(session, "/cost").await;
    room.wood.op(|op| matches!(op, Op::Command { .. })).await;
    room.wood.publish(Event::Notice { session: Some(session), text: "Nothing yet.".into() });
    room.wood.publish(Event::CommandDone { session });
    assert_eq!(room.answer(id).await, Ok(json!({ "stopReason": "end_turn" })));
    let id = room.prompt(session, "/nothing here").await;
    assert_eq!(room.answer(id).await, Ok(json!({ "stopReason": "end_turn" })));
    let said =
        |line: &Value| line["params"]["update"]["content"]["text"].as_str().map(str::to_owned);
    let told: Vec<String> = room.told.iter().filter_map(said).collect();
    assert!(
        told.ends_with(&["Nothing yet.\n\n".into(), "There is no /nothing.\n\n".into()]),
        "{told:?}"
    );
    let id = room.prompt(session, "/clear").await;
    assert!(room.answer(id).await.is_ok());
}

#[tokio::test]
async fn files_are_the_editors_as_far_as_it_tells() {
    let mut room = Room::new();
    let session = room.begin().await;
    let agent = room.agent.clone();
    let asking = tokio::task::spawn_blocking(move || {
        let path = Path::new("/work/a.rs");
        let read = agent.read(session, path);
        (read, agent.write(session, path, "new"), agent.read(SessionId::new(), path))
    });
    let read = room.hear(|line| line["method"] == "fs/read_text_file").await;
    assert_eq!(read["params"], json!({ "sessionId": session, "path": "/work/a.rs" }));
    room.send(&json!({ "jsonrpc": "2.0", "id": read["id"], "result": { "content": "typed" } }))
        .await;
    let write = room.hear(|line| line["method"] == "fs/write_text_file").await;
    assert_eq!(write["params"]["content"], "new");
    let error = json!({ "code": -32603, "message": "read-only" });
    room.send(&json!({ "jsonrpc": "2.0", "id": write["id"], "error": error })).await;
    let told = asking.await.unwrap();
    assert_eq!(told, (Some("typed".to_owned()), Written::No, None));
}

#[tokio::test]
async fn an_editor_that_goes_ends_the_service() {
    let room = Room::new();
    let Room { input, output, agent, scope, .. } = room;
    drop((input, output));
    let peer = agent.0.peer.wait().await.clone();
    tokio::time::timeout(PATIENCE, peer.closed()).await.unwrap();
    tokio::time::timeout(PATIENCE, scope.close()).await.unwrap();
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z/_$]{0,12}".prop_map(Value::from),
        prop_oneof![Just("session/prompt"), Just("session/new"), Just("initialize")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let names = prop_oneof![
            Just("id"),
            Just("method"),
            Just("params"),
            Just("result"),
            Just("error"),
            Just("sessionId"),
            Just("prompt"),
            Just("cwd"),
            Just("jsonrpc"),
            Just("type"),
            Just("text"),
        ];
        let names = names.prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(names, inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

/// Whether a line must be answered: everything but what is itself an answer, or news.
fn wants_answer(line: &Value) -> bool {
    let Some(message) = line.as_object() else { return true };
    let has_id = message.get("id").is_some_and(|id| !id.is_null());
    match message.get("method") {
        Some(Value::String(_)) => has_id,
        Some(Value::Null) | None => false,
        Some(_) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_is_answered_or_news(lines in prop::collection::vec(any_json(), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut room = Room::new();
            let mut due = 0;
            for line in &lines {
                // Prompts of sessions that are there last as long as their turns; there are none here.
                due += usize::from(wants_answer(line));
                room.send(line).await;
            }
            room.send(&json!({ "jsonrpc": "2.0", "id": "last", "method": "nothing" })).await;
            let (mut answers, mut has_last) = (0, false);
            while answers < due || !has_last {
                let line = room.next_line().await;
                if line.get("method").is_some() {
                    continue;
                }
                if line["id"] == "last" { has_last = true } else { answers += 1 }
            }
            room.scope.close().await;
        });
    }
}

fn errand() -> Errand {
    Errand {
        program: "sh".into(),
        args: vec!["-c".into(), "make".into()],
        folder: std::env::temp_dir(),
        output_bytes: 1000,
        timeout: PATIENCE,
    }
}

/// Has a command run for a call; closing the scope stops waiting for it.
fn runs(room: &Room, session: SessionId) -> (TaskScope, oneshot::Receiver<Option<Ran>>) {
    let (agent, scope) = (room.agent.clone(), room.scope.child());
    let (ran, running) = oneshot::channel();
    scope.spawn(async move {
        ran.send(agent.run(session, &CallId::new("c1"), errand()).await).unwrap();
    });
    (scope, running)
}

/// What the editor is asked next by this method.
async fn asked(room: &mut Room, method: &str) -> Value {
    room.hear(|line| line["method"] == method).await
}

#[tokio::test]
async fn a_command_runs_in_a_terminal_of_the_editor_and_is_shown_there() {
    let mut room = Room::new();
    let session = room.begin().await;
    let call = CallId::new("c1");
    let title = "make".to_owned();
    room.wood.publish(Event::ToolStarted { session, call: call.clone(), title });
    let (_scope, running) = runs(&room, session);
    let create = asked(&mut room, "terminal/create").await;
    let params = &create["params"];
    assert_eq!((&params["command"], &params["args"]), (&json!("sh"), &json!(["-c", "make"])));
    assert_eq!(params["outputByteLimit"], 1000);
    room.send(&json!({ "id": create["id"], "result": { "terminalId": "t1" } })).await;
    let wait = asked(&mut room, "terminal/wait_for_exit").await;
    room.send(&json!({ "id": wait["id"], "result": { "exitCode": 2 } })).await;
    let output = asked(&mut room, "terminal/output").await;
    let printed = json!({ "output": "no rule", "truncated": false });
    room.send(&json!({ "id": output["id"], "result": printed })).await;
    let ran = running.await.unwrap().unwrap();
    assert_eq!(ran, Ran { output: "no rule".into(), is_cut: false, end: End::Exit(2) });
    let release = asked(&mut room, "terminal/release").await;
    room.send(&json!({ "id": release["id"], "result": {} })).await;
    room.wood.publish(Event::ToolDone {
        session,
        call,
        outcome: base::transcript::Outcome::Done,
        title: "make".into(),
        body: Some(base::Block::Text { text: "no rule".into() }),
    });
    let done = room.hear(|line| line["params"]["update"]["status"] == "completed").await;
    let shown = json!([{ "type": "terminal", "terminalId": "t1" }]);
    assert_eq!(done["params"]["update"]["content"], shown);
    room.scope.close().await;
}

#[tokio::test]
async fn a_command_nobody_waits_for_any_more_is_killed_in_its_terminal() {
    let mut room = Room::new();
    let session = room.begin().await;
    let (scope, running) = runs(&room, session);
    let create = asked(&mut room, "terminal/create").await;
    room.send(&json!({ "id": create["id"], "result": { "terminalId": "t1" } })).await;
    asked(&mut room, "terminal/wait_for_exit").await;
    scope.close().await;
    assert!(running.await.is_err());
    let kill = asked(&mut room, "terminal/kill").await;
    assert_eq!(kill["params"]["terminalId"], "t1");
    room.send(&json!({ "id": kill["id"], "result": {} })).await;
    asked(&mut room, "terminal/release").await;
    room.scope.close().await;
}

#[tokio::test]
async fn an_editor_that_lends_no_terminal_leaves_commands_to_us() {
    let mut room = Room::new();
    let session = room.begin().await;
    let (_scope, running) = runs(&room, session);
    let create = asked(&mut room, "terminal/create").await;
    let error = json!({ "code": -32603, "message": "not now" });
    room.send(&json!({ "id": create["id"], "error": error })).await;
    assert_eq!(running.await.unwrap(), None);
    room.scope.close().await;
}
