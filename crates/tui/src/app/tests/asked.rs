//! Questions that must not get lost, commands of one's own, and what is picked for the prompt.

use base::protocol::{
    Approval, ClientError, Delivery, Mode, Query, SessionState, SessionSummary, Spent,
    WaitingPrompt,
};
use base::transcript::{File, FileSource, Outcome};
use base::{Money, Op, Origin, PartBody, RequestId, Usage};

use super::*;
use crate::message::Purpose;

fn needed(session: SessionId, request: RequestId) -> Event {
    Event::ApprovalNeeded {
        session,
        request,
        agent: None,
        call: call("one"),
        title: "touch one".to_owned(),
        reason: "no rule covers it".to_owned(),
        rules: vec!["Bash(touch:*)".to_owned()],
        risky: Vec::new(),
        body: None,
    }
}

fn state(session: SessionId) -> SessionState {
    SessionState {
        summary: SessionSummary {
            id: session,
            title: Some("fix the parser".to_owned()),
            folder: "/work/shop".to_owned(),
            created: Timestamp::default(),
            updated: Timestamp::default(),
            entries: 2,
            model: Some(model()),
            usage: Usage::default(),
            cost: Money::default(),
        },
        model: model(),
        window: 200_000,
        used: 0,
        effort: None,
        mode: Mode::Default,
        running_since: None,
        is_unfinished: false,
        waiting: Vec::new(),
        todos: Vec::new(),
        going_on: Vec::new(),
        spent: Vec::new(),
    }
}

fn submitted(effects: &[Effect]) -> Vec<&Op> {
    let mut ops = Vec::new();
    for effect in effects {
        if let Effect::Submit { op, .. } = effect {
            ops.push(op);
        }
    }
    ops
}

/// Lets a question be seen long enough to be answered.
fn read(desk: &mut Desk) {
    desk.screen();
    desk.wait(1_000);
}

#[test]
fn a_refused_answer_brings_its_question_back() {
    let mut desk = Desk::settled(80, 24);
    desk.prompt("go");
    let (session, request) = (desk.session(), RequestId::new());
    desk.hear(needed(session, request));
    read(&mut desk);
    for key in ["tab", "e", "ctrl+u"] {
        desk.press(key);
    }
    desk.write("Write(x)");
    let effects = desk.press("enter");
    assert!(matches!(submitted(&effects)[..], [Op::Approve { .. }]), "{effects:?}");
    assert!(!desk.screen().contains("may this run?"));
    let refused = ClientError::Refused("`Write(x)` would allow nothing".to_owned());
    desk.say(Message::Submitted { purpose: Purpose::Answer(request), outcome: Err(refused) });
    let screen = desk.screen();
    assert!(screen.contains("may this run?") && screen.contains("› Write(x)"), "{screen}");
    desk.press("esc");
    desk.wait(1_000);
    let effects = desk.press("y");
    assert!(matches!(submitted(&effects)[..], [Op::Approve { .. }]), "{effects:?}");
}

#[test]
fn a_question_of_a_session_that_was_left_is_told_of_and_found_again() {
    let mut desk = Desk::settled(100, 24);
    desk.wait(100_000);
    desk.prompt("fix the parser");
    let (session, request) = (desk.session(), RequestId::new());
    desk.press("ctrl+n");
    desk.hear(needed(session, request));
    let screen = desk.screen();
    assert!(screen.contains("fix the parser waits for your answer · ctrl+s"), "{screen}");
    desk.app.enter(session);
    assert!(!desk.screen().contains("waits for your answer"));
    let since = Timestamp::from_millis(desk.app.time_of_day().as_millis() - 65_000);
    let going_on = vec![needed(session, request)];
    let state = SessionState { running_since: Some(since), going_on, ..state(session) };
    desk.answer(Asker::State(session), Reply::State(Box::new(state.clone())));
    desk.answer(Asker::Entries(session), Reply::Entries { entries: Vec::new(), paid: Vec::new() });
    let screen = desk.screen();
    assert!(screen.contains("touch one") && screen.contains("waiting for your answer"), "{screen}");
    assert!(screen.contains("answer · 1 min 05 s"), "the turn began before we came: {screen}");
    desk.wait(1_000);
    let effects = desk.press("alt+y");
    let allowed = |op: &&Op| matches!(op, Op::Approve { approval: Approval::Allow { .. }, .. });
    assert!(submitted(&effects).iter().any(allowed), "{effects:?}");
    // It was settled while nobody listened.
    let settled = SessionState { going_on: Vec::new(), ..state };
    desk.answer(Asker::State(session), Reply::State(Box::new(settled)));
    assert!(desk.app.panels.is_empty());
}

#[test]
fn a_question_under_a_pane_is_told_of_and_must_be_read_before_it_is_answered() {
    for (width, height) in [(40, 10), (100, 30)] {
        let mut desk = Desk::settled(width, height);
        desk.prompt("go");
        desk.press("f1");
        let session = desk.session();
        desk.hear(needed(session, RequestId::new()));
        assert!(desk.screen().contains("a question waits"));
        desk.wait(5_000);
        desk.press("esc");
        desk.screen();
        assert_eq!(desk.press("enter"), [], "it was covered until now");
        desk.wait(1_000);
        assert!(!submitted(&desk.press("enter")).is_empty());
    }
}

#[test]
fn a_command_of_ones_own_is_stopped_by_escape() {
    let mut desk = Desk::settled(80, 24);
    desk.write("!tail -f log");
    desk.press("enter");
    let (session, title) = (desk.session(), "! tail -f log".to_owned());
    desk.hear(Event::ToolStarted { session, call: call("own"), title: title.clone() });
    let screen = desk.screen();
    assert!(screen.contains("your command runs") && screen.contains("esc stops"), "{screen}");
    assert_eq!(submitted(&desk.press("esc")), [&Op::Stop { session }]);
    let outcome = Outcome::Failed;
    desk.hear(Event::ToolDone { session, call: call("own"), outcome, title, body: None });
    assert!(!desk.screen().contains("your command runs"));
    assert!(submitted(&desk.press("esc")).is_empty());
}

#[test]
fn the_palette_runs_what_the_interface_knows() {
    let mut desk = Desk::settled(80, 24);
    desk.prompt("go");
    let first = desk.session();
    desk.press("ctrl+p");
    desk.write("/yolo");
    let effects = desk.press("enter");
    assert!(matches!(submitted(&effects)[..], [Op::SetMode { mode: Mode::Bypass, .. }]));
    desk.app.settle(vec![Effect::Run("/clear".to_owned())]);
    assert_ne!(desk.session(), first, "a new session, not one that nobody sees");
}

#[test]
fn keys_that_edit_are_the_composers_while_something_is_written() {
    let mut desk = Desk::settled(80, 24);
    desk.write("one two");
    for key in ["ctrl+w", "ctrl+a", "ctrl+k", "ctrl+y", "alt+y"] {
        desk.press(key);
    }
    assert_eq!(desk.app.composer.text(), "two", "an older cut takes the place of the newest");
    desk.press("ctrl+t");
    assert_eq!(desk.app.composer.text(), "tow");
    desk.press("ctrl+home");
    desk.write("x");
    assert_eq!(desk.app.composer.text(), "xtow");
    desk.press("ctrl+c");
    desk.press("ctrl+t");
    assert_eq!(desk.app.panes.len(), 1, "with nothing written it opens the list");
}

#[test]
fn what_is_picked_joins_what_is_written() {
    let mut desk = Desk::settled(80, 24);
    desk.write("please ask");
    desk.app.settle(vec![Effect::Write("@agent-explorer ".to_owned())]);
    assert_eq!(desk.app.composer.text(), "please ask @agent-explorer ");
    desk.app.settle(vec![Effect::Write("/review ".to_owned())]);
    assert_eq!(desk.app.composer.text(), "/review please ask @agent-explorer ");
    desk.app.settle(vec![Effect::Write("/compact ".to_owned())]);
    assert_eq!(desk.app.composer.text(), "/compact please ask @agent-explorer ");
}

#[test]
fn a_waiting_prompt_that_is_edited_keeps_its_files() {
    let mut desk = Desk::settled(80, 24);
    desk.prompt("go");
    let source = FileSource::Base64("aGk=".to_owned());
    let file = File { media_type: "image/png".into(), name: Some("a.png".into()), source };
    let notes = "<file path=\"n.txt\">\nnotes\n</file>".to_owned();
    let parts = vec![
        Part::user_text("look at"),
        Part::new(PartBody::File(file), Origin::User),
        Part::user_text("and"),
        Part::new(PartBody::Text { text: notes }, Origin::Workspace),
    ];
    let waiting =
        WaitingPrompt { entry: EntryId::new(), parts: parts.clone(), delivery: Delivery::Queue };
    let session = desk.session();
    desk.hear(Event::Waiting { session, prompts: vec![waiting] });
    desk.press("alt+q");
    desk.press("enter");
    let effects = desk.press("alt+enter");
    let parts_of =
        |op: &Op| if let Op::Say { parts, .. } = op { Some(parts.clone()) } else { None };
    let said = submitted(&effects).into_iter().find_map(parts_of);
    assert_eq!(said, Some(parts), "{effects:?}");
}

#[test]
fn what_may_be_named_is_looked_up_when_a_name_begins() {
    let mut desk = Desk::settled(80, 24);
    let asks = |effects: &[Effect]| {
        let is_it = |it: &&Effect| matches!(it, Effect::Ask { query: Query::Offers { .. }, .. });
        effects.iter().filter(is_it).count()
    };
    desk.write("see ");
    assert_eq!(asks(&desk.press("@")), 1);
    assert_eq!(asks(&desk.press("a")), 0, "once a name");
}

#[test]
fn a_reopened_session_tells_what_it_has_cost() {
    let mut desk = Desk::settled(80, 24);
    let session = SessionId::new();
    desk.app.enter(session);
    let usage = Usage { input: 1_000, ..Usage::default() };
    let cost = Some(Money::from_dollars(0.25));
    let spent = vec![Spent { model: model(), calls: 3, usage, cost }];
    let state = SessionState { spent, ..state(session) };
    desk.answer(Asker::State(session), Reply::State(Box::new(state)));
    desk.press("f9");
    let screen = desk.screen();
    assert!(screen.contains("$0.25") && screen.contains("3 calls"), "{screen}");
}

#[test]
fn the_model_that_was_picked_last_answers_next_time() {
    let picked = ModelRef::new("openai", "gpt-5");
    let recent = |desk: &mut Desk| {
        let value = Some(format!("{picked}\nanthropic/x"));
        desk.answer(Asker::Recent, Reply::Recalled { value });
        desk.write("hello");
        desk.press("enter")
    };
    let wanted = |effects: &[Effect]| {
        let model =
            |op: &&Op| if let Op::SetModel { model, .. } = op { Some(model.clone()) } else { None };
        submitted(effects).iter().find_map(model)
    };
    let mut desk = Desk::settled(80, 24);
    assert_eq!(wanted(&recent(&mut desk)), Some(picked.clone()));
    let mut desk = Desk::new(80, 24);
    let named = Place { is_model_named: true, ..place() };
    desk.answer(Asker::Place, Reply::Place(Box::new(named)));
    assert_eq!(wanted(&recent(&mut desk)), None, "the user has named another");
}
