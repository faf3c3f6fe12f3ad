//! Whatever is typed, pasted, clicked, resized, heard or answered: no panic, and a screen that is whole.

use std::sync::LazyLock;

use base::block::{Block, Node, Todo, TodoState};
use base::model::Usage;
use base::protocol::{
    ChildProgress, ChildState, ClientError, Delivery, Ending, HookState, Question, Reply,
    WaitingPrompt,
};
use base::transcript::{Call, CallInput, Outcome};
use base::{FailureClass, HookRunId, Money, Origin, PartBody, RequestId, StopReason, TurnId};
use proptest::prelude::*;

use super::*;
use crate::canvas::Point;
use crate::key::{Answer, Button, Focus, Mods, Mouse, MouseKind};
use crate::message::Purpose;
use crate::text;

/// Text that terminals and parsers trip over.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z /@!\n\t\\\\]{0,30}",
        "\\PC{0,20}",
        Just("\u{1b}[2J\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}31m".to_owned()),
        Just("日本語 👩‍👩‍👧 e\u{301}\u{301}\u{202e}abc ﷽ שלום".to_owned()),
        Just("```rust\nfn main() {\n".to_owned()),
        Just("| a | b |\n|---|---|\n| 1 | 日 |\n".to_owned()),
        Just("# x\n\n- a\n  - b\n\n> q\n\n1. z [l](http://x) **b** `c`".to_owned()),
        Just("x".repeat(3000)),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        nasty().prop_map(|text| Block::Text { text }),
        (nasty(), nasty()).prop_map(|(path, unified)| Block::Diff { path, unified }),
        nasty().prop_map(|text| Block::Diff {
            path: "a.rs".to_owned(),
            unified: format!("@@ -1,2 +1,2 @@\n-{text}\n+{text}x\n same\n"),
        }),
        (nasty(), nasty()).prop_map(|(a, b)| Block::Table {
            head: vec![a.clone()],
            rows: vec![vec![b], vec![a]]
        }),
        nasty().prop_map(|text| Block::Todos {
            items: vec![Todo { text, state: TodoState::InProgress }]
        }),
        nasty().prop_map(|label| Block::Tree { roots: vec![Node { label, children: Vec::new() }] }),
    ]
}

fn key() -> impl Strategy<Value = Key> {
    let codes = prop_oneof![
        any::<char>().prop_map(Code::Char),
        prop::sample::select(vec![
            Code::Char('a'),
            Code::Char('/'),
            Code::Char('@'),
            Code::Char('!'),
            Code::Enter,
            Code::Esc,
            Code::Tab,
            Code::Backspace,
            Code::Delete,
            Code::Up,
            Code::Down,
            Code::Left,
            Code::Right,
            Code::Home,
            Code::End,
            Code::PageUp,
            Code::PageDown,
            Code::F(1),
            Code::F(2),
            Code::F(6),
        ]),
        "[a-z]".prop_map(|text| Code::Char(text.chars().next().unwrap_or('a'))),
    ];
    (codes, prop::sample::select(vec![0_u8, 0, 0, 1, 2, 4]))
        .prop_map(|(code, mods)| Key { code, mods: Mods::from_bits(mods) })
}

#[derive(Debug, Clone)]
enum Step {
    Key(Key),
    Paste(String),
    Mouse(Mouse),
    Resize(u16, u16),
    Focus(Focus),
    Event(u8, String, Block),
    Reply(u8, String),
    Refuse(Purpose),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = prop::sample::select(vec![
        MouseKind::Down(Button::Left),
        MouseKind::Up(Button::Left),
        MouseKind::Drag(Button::Left),
        MouseKind::WheelUp,
        MouseKind::WheelDown,
        MouseKind::Down(Button::Right),
    ]);
    let purposes = vec![
        Purpose::Say,
        Purpose::Answer(RequestId::new()),
        Purpose::Login,
        Purpose::Fork(SessionId::new()),
        Purpose::Other,
    ];
    prop_oneof![
        6 => key().prop_map(Step::Key),
        1 => nasty().prop_map(Step::Paste),
        2 => (0_u16..90, 0_u16..40, kinds).prop_map(|(x, y, kind)| {
            Step::Mouse(Mouse { at: Point { x, y }, kind, mods: Mods::NONE })
        }),
        1 => (0_u16..140, 0_u16..45).prop_map(|(width, height)| Step::Resize(width, height)),
        1 => prop::sample::select(vec![Focus::Here, Focus::Away]).prop_map(Step::Focus),
        6 => (any::<u8>(), nasty(), block()).prop_map(|(kind, text, block)| Step::Event(kind, text, block)),
        2 => (any::<u8>(), nasty()).prop_map(|(kind, text)| Step::Reply(kind, text)),
        1 => prop::sample::select(purposes).prop_map(Step::Refuse),
        1 => (0_u64..3_000).prop_map(Step::Wait),
    ]
}

/// Few, so that what is settled was often asked, and what a sub-agent does is often one's that was started.
static REQUESTS: LazyLock<[RequestId; 3]> = LazyLock::new(|| [(); 3].map(|()| RequestId::new()));
static CHILDREN: LazyLock<[SessionId; 2]> = LazyLock::new(|| [(); 2].map(|()| SessionId::new()));

fn event(desk: &Desk, kind: u8, text: String, body: Block) -> Event {
    let number = usize::from(kind);
    let session = match kind {
        0..=147 => desk.session(),
        148.. => CHILDREN[number % 2],
    };
    let call = call(["a", "b", "c"][number % 3]);
    let request = REQUESTS[number / 7 % 3];
    match kind % 21 {
        0 => {
            Event::TurnStarted { session, turn: TurnId::new(), entries: Vec::new(), model: model() }
        }
        1 => Event::Appended {
            session,
            entry: entry(EntryKind::User { parts: vec![Part::user_text(text)] }),
        },
        2 => Event::Text { session, entry: EntryId::new(), delta: text },
        3 => Event::Reasoning { session, entry: EntryId::new(), delta: text },
        4 => Event::Retrying { session, attempt: 2, wait_ms: 3_000, reason: text },
        5 => Event::ToolStarted { session, call, title: text },
        6 => Event::ToolProgress { session, call, body },
        7 => {
            Event::ToolDone { session, call, outcome: Outcome::Done, title: text, body: Some(body) }
        }
        8 => Event::ToolDone { session, call, outcome: Outcome::Failed, title: text, body: None },
        9 => Event::ApprovalNeeded {
            session,
            request,
            agent: Some(text.clone()),
            call,
            title: text.clone(),
            reason: text.clone(),
            rules: vec![text.clone()],
            risky: vec![text],
            body: Some(body),
        },
        10 => Event::QuestionAsked {
            session,
            request,
            agent: None,
            questions: vec![Question {
                text: text.clone(),
                choices: vec![text, "b".to_owned()],
                several: kind > 99,
            }],
        },
        11 => Event::Notice { session: None, text },
        12 => Event::ChildStarted {
            session,
            call,
            child: CHILDREN[number / 3 % 2],
            agent: text,
            color: Some("red".to_owned()),
        },
        13 => Event::SessionChanged {
            session,
            title: Some(text),
            model: None,
            effort: None,
            mode: None,
        },
        14 => Event::TurnFailed {
            session,
            turn: TurnId::new(),
            reason: text,
            class: FailureClass::Network,
        },
        15 => Event::Spent {
            session,
            model: model(),
            usage: Usage { input: 9, ..Usage::default() },
            cost: None,
        },
        16 => Event::Settled { session, request },
        17 => {
            let parts = vec![Part::user_text(text)];
            let waits = WaitingPrompt { entry: EntryId::new(), parts, delivery: Delivery::Queue };
            Event::Waiting { session, prompts: vec![waits; number % 5] }
        }
        18 => Event::Denied { session, call, tool: text.clone(), reason: text },
        19 => Event::Hook {
            session,
            run: HookRunId::new(),
            name: text.clone(),
            occasion: "PreToolUse".to_owned(),
            state: HookState::Ended { code: Some(2), stdout: text.clone(), stderr: text },
        },
        _ => Event::TurnDone {
            session,
            turn: TurnId::new(),
            stop: StopReason::Done,
            ending: Ending::Answered,
            usage: Usage::default(),
            cost: Some(Money::default()),
        },
    }
}

/// A sub-agent that was looked up: of the session, or of another one.
fn child(desk: &Desk, kind: u8, text: String) -> ChildState {
    let number = usize::from(kind);
    let progress = [ChildProgress::AtWork, ChildProgress::Done, ChildProgress::Failed];
    ChildState {
        above: [desk.session(), CHILDREN[0], CHILDREN[1]][number % 3],
        call: call(["a", "b", "c"][number / 3 % 3]),
        session: CHILDREN[number / 9 % 2],
        agent: text.clone(),
        color: Some(text.clone()),
        progress: progress[number % 3],
        took_ms: u64::from(kind),
        usage: Usage::default(),
        calls: vec![Part::new(
            PartBody::Call(Call { id: call("x"), name: text, input: CallInput::default() }),
            Origin::Assistant,
        )],
        earlier: Some(u64::from(kind)).filter(|count| count % 2 == 0),
    }
}

fn take(desk: &mut Desk, step: Step) {
    match step {
        Step::Key(key) => drop(desk.say(Message::Input(Input::Key(key)))),
        Step::Paste(text) => drop(desk.say(Message::Input(Input::Paste(text)))),
        Step::Mouse(mouse) => drop(desk.say(Message::Input(Input::Mouse(mouse)))),
        Step::Focus(focus) => drop(desk.say(Message::Input(Input::Focus(focus)))),
        Step::Resize(width, height) => {
            desk.size = (width, height);
            desk.say(Message::Input(Input::Resize { width, height }));
        }
        Step::Event(kind, text, block) => {
            let event = event(desk, kind, text, block);
            desk.hear(event);
        }
        Step::Reply(kind, text) => {
            let (asker, reply) = match kind % 7 {
                0 => (Asker::Files { turn: u64::from(kind) }, Reply::Files { paths: vec![text] }),
                1 => (Asker::History, Reply::History { prompts: vec![text] }),
                2 => (Asker::Draft, Reply::Recalled { value: Some(text) }),
                3 => (Asker::Place, Reply::Place(Box::new(place()))),
                4 => {
                    let children = vec![child(desk, kind, text)];
                    (Asker::Children(desk.session()), Reply::Children { children })
                }
                5 => {
                    desk.say(Message::Clipped(Err(text.clone())));
                    let told = Answer::Clipboard(text.into_bytes());
                    return drop(desk.say(Message::Input(Input::Answer(told))));
                }
                _ => {
                    let made = PartBody::Call(Call {
                        id: call(["a", "b", "c"][usize::from(kind) % 3]),
                        name: "agent".to_owned(),
                        input: CallInput::default(),
                    });
                    let made = Part::new(made, Origin::Assistant);
                    let parts = vec![Part::assistant_text(text), made];
                    let kind = EntryKind::Assistant {
                        parts,
                        model: model(),
                        stop: StopReason::Done,
                        usage: Usage::default(),
                    };
                    (
                        Asker::Entries(desk.session()),
                        Reply::Entries { entries: vec![entry(kind)], paid: Vec::new() },
                    )
                }
            };
            desk.answer(asker, reply);
        }
        Step::Refuse(purpose) => {
            let outcome = Err(ClientError::Refused("no".to_owned()));
            desk.say(Message::Submitted { purpose, outcome });
        }
        Step::Wait(ms) => drop(desk.wait(ms)),
    }
}

fn assert_whole(canvas: &Canvas) -> Result<(), TestCaseError> {
    let area = canvas.area();
    for y in 0..area.height {
        let row = canvas.row(y);
        let cells: usize = row.iter().map(|cell| text::grapheme_width(&cell.glyph)).sum();
        prop_assert_eq!(cells, usize::from(area.width));
        prop_assert!(row.iter().all(|cell| !cell.glyph.chars().any(text::is_unsafe)));
    }
    Ok(())
}

/// Draws a frame as the loop would, and holds it against what every frame must be.
fn assert_drawn(desk: &mut Desk, canvas: &mut Canvas) -> Result<(), TestCaseError> {
    let (width, height) = desk.size;
    let rows = match desk.app.screen {
        Screen::Full => height,
        Screen::Inline => {
            desk.app.take_settled(width);
            desk.app.height(width, height)
        }
    };
    prop_assert!(rows <= height);
    canvas.reset(width, rows);
    let caret = desk.app.draw(canvas, desk.now_ms);
    assert_whole(canvas)?;
    if let Some(caret) = caret {
        prop_assert!(canvas.area().contains(caret), "{:?} in {:?}", caret, canvas.area());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_breaks_it(steps in prop::collection::vec(step(), 1..60), is_inline in any::<bool>()) {
        let mut desk = Desk::settled(80, 24);
        desk.app.screen = if is_inline { Screen::Inline } else { Screen::Full };
        let mut canvas = Canvas::new(80, 24);
        for step in steps {
            take(&mut desk, step);
            assert_drawn(&mut desk, &mut canvas)?;
        }
        desk.app.screen = if is_inline { Screen::Full } else { Screen::Inline };
        assert_drawn(&mut desk, &mut canvas)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_question_never_takes_what_is_typed(text in "[a-z0-9 ]{1,20}", before in 0_usize..20, pause in 0_u64..600) {
        let mut desk = Desk::settled(80, 24);
        desk.prompt("go");
        let typed: Vec<char> = text.chars().collect();
        let mut taken = Vec::new();
        for (at, c) in typed.iter().enumerate() {
            if at == before.min(typed.len() - 1) {
                let asked = event(&desk, 9, "rm -rf /".to_owned(), Block::Text { text: "rm".to_owned() });
                desk.hear(asked);
                desk.screen();
                desk.wait(pause);
            }
            taken.extend(desk.say(Message::Input(Input::Key(Key::plain(Code::Char(*c))))));
        }
        let answers = |effect: &Effect| matches!(effect, Effect::Submit { op: base::Op::Approve { .. }, .. });
        prop_assert!(!taken.iter().any(answers), "{:?}", taken);
        prop_assert_eq!(desk.app.composer.text(), text);
    }
}
