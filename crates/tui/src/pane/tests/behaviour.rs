//! What the keys of panes do.

use base::protocol::{ClientError, Query, Reply, Rewound, ServerKind, ServerState};
use base::{ModelRef, Op, Part};
use proptest::prelude::*;

use super::fixture::{KINDS, entry, opened, rest, session, settle, shared};
use crate::canvas::{Canvas, Rect};
use crate::key::{Code, Key, Mods};
use crate::keymap::Action;
use crate::message::{Effect, Purpose};
use crate::pane::{FAVOURITE, PaneKind, Pressed, THEME, open};
use crate::picker::testing::{click, look, press, screen, write};

fn submit(op: Op) -> Effect {
    Effect::Submit { op, purpose: Purpose::Other }
}

fn remember(key: &str, value: &str) -> Effect {
    submit(Op::Remember { key: key.to_owned(), value: Some(value.to_owned()) })
}

#[test]
fn the_palette_performs_actions_and_runs_commands() {
    let mut pane = opened(PaneKind::Palette);
    write(pane.as_mut(), "model");
    assert_eq!(
        press(pane.as_mut(), "enter"),
        Pressed::Done(vec![Effect::Perform(Action::OpenModels)])
    );
    let mut pane = opened(PaneKind::Palette);
    write(pane.as_mut(), "/compact");
    assert_eq!(
        press(pane.as_mut(), "enter"),
        Pressed::Done(vec![Effect::Write("/compact ".to_owned())])
    );
    let mut pane = opened(PaneKind::Palette);
    pane.paste("/init\n");
    let run = Effect::Run("/init".to_owned());
    assert_eq!(press(pane.as_mut(), "enter"), Pressed::Done(vec![run]));
    assert_eq!(press(pane.as_mut(), "esc"), Pressed::Done(Vec::new()));
}

#[test]
fn a_session_is_opened_renamed_and_forked() {
    let mut pane = opened(PaneKind::Sessions);
    write(pane.as_mut(), "deploy");
    assert_eq!(press(pane.as_mut(), "enter"), Pressed::Done(vec![Effect::Enter(session(3))]));

    let mut pane = opened(PaneKind::Sessions);
    write(pane.as_mut(), "deploy");
    press(pane.as_mut(), "ctrl+r ctrl+u");
    write(pane.as_mut(), "ship it");
    assert!(screen(pane.as_mut(), 40, 10).contains("ship it"));
    let op = Op::Rename { session: session(3), title: "ship it".to_owned() };
    assert_eq!(press(pane.as_mut(), "enter"), Pressed::Taken(vec![submit(op)]));

    let mut pane = opened(PaneKind::Sessions);
    press(pane.as_mut(), "end");
    rest(pane.as_mut());
    let Pressed::Done(effects) = press(pane.as_mut(), "ctrl+f") else { panic!() };
    let [Effect::Submit { op: Op::Fork { session: from, entry: at, into }, purpose }] =
        effects.as_slice()
    else {
        panic!("{effects:?}")
    };
    assert_eq!((*from, *at, Purpose::Fork(*into)), (session(3), entry(12), *purpose));
}

#[test]
fn deleting_a_session_takes_two_presses_in_a_row() {
    let mut pane = opened(PaneKind::Sessions);
    press(pane.as_mut(), "end");
    assert_eq!(press(pane.as_mut(), "ctrl+x"), Pressed::Taken(Vec::new()));
    assert!(screen(pane.as_mut(), 80, 24).contains("ctrl+x again deletes it"));
    press(pane.as_mut(), "up down");
    assert!(!screen(pane.as_mut(), 80, 24).contains("again"));
    press(pane.as_mut(), "ctrl+x");
    let op = Op::Delete { session: session(3) };
    assert_eq!(press(pane.as_mut(), "ctrl+x"), Pressed::Taken(vec![submit(op)]));
    assert!(!screen(pane.as_mut(), 80, 24).contains("deploy"));
    press(pane.as_mut(), "home");
    let Pressed::Taken(effects) = press(pane.as_mut(), "ctrl+x ctrl+x") else { panic!() };
    assert!(matches!(effects.as_slice(), [Effect::Say(_)]), "the open one stays: {effects:?}");
}

#[test]
fn servers_are_shown_anew_when_one_has_changed_and_can_be_started_anew() {
    let mut pane = open(PaneKind::Servers, &shared());
    let effects = pane.open();
    let awaits = |effects: &[Effect]| {
        let is_it =
            |it: &Effect| matches!(it, Effect::Ask { query: Query::ServersChanged { .. }, .. });
        effects.iter().filter(|it| is_it(it)).count()
    };
    assert_eq!(awaits(&effects), 1);
    settle(pane.as_mut(), effects);
    let ready = ServerState {
        name: "tickets".to_owned(),
        kind: ServerKind::Mcp,
        state: "ready".to_owned(),
        log: Vec::new(),
    };
    let more = pane.hear(1, Ok(Reply::Servers { servers: vec![ready] }));
    assert_eq!(awaits(&more), 1, "it waits for the next change");
    assert!(screen(pane.as_mut(), 80, 24).contains("tickets  ready"));
    let Pressed::Taken(effects) = press(pane.as_mut(), "ctrl+s") else { panic!() };
    let op = Op::Restart { server: "tickets".to_owned(), kind: ServerKind::Mcp };
    assert_eq!(effects.first(), Some(&submit(op)));
    assert!(!pane.wants_tick(), "nothing is looked up while nothing changes");
}

#[test]
fn sessions_are_searched_by_what_was_said_once_typing_rests() {
    let mut pane = opened(PaneKind::Sessions);
    write(pane.as_mut(), "lexer");
    assert!(screen(pane.as_mut(), 80, 24).contains("nothing fits"));
    assert_eq!(pane.tick(0), [], "the rest begins");
    assert_eq!(pane.tick(100), []);
    write(pane.as_mut(), "s");
    assert_eq!(pane.tick(200), [], "and begins again");
    let effects = pane.tick(400);
    let words = effects.iter().find_map(|effect| {
        let Effect::Ask { query: Query::Find { words, .. }, .. } = effect else { return None };
        Some(words.clone())
    });
    assert_eq!(words.as_deref(), Some("lexers"));
    settle(pane.as_mut(), effects);
    assert!(screen(pane.as_mut(), 80, 24).contains("the lexer of the template engine"));
    assert_eq!(press(pane.as_mut(), "enter"), Pressed::Done(vec![Effect::Enter(session(3))]));
}

#[test]
fn previews_of_rows_that_were_left_are_dropped() {
    let mut pane = open(PaneKind::Sessions, &shared());
    let effects = pane.open();
    settle(pane.as_mut(), effects);
    pane.tick(0);
    let first = pane.tick(500);
    press(pane.as_mut(), "down");
    pane.tick(600);
    let second = pane.tick(1_000);
    assert_eq!((first.len(), second.len()), (1, 1));
    settle(pane.as_mut(), first);
    assert!(!screen(pane.as_mut(), 120, 30).contains("lexer drops"));
    settle(pane.as_mut(), second);
    assert!(screen(pane.as_mut(), 120, 30).contains("lexer drops"));
}

#[test]
fn a_model_is_used_and_kept_as_favourite() {
    let mut pane = opened(PaneKind::Models);
    write(pane.as_mut(), "haiku");
    let both = "ollama/qwen3\nanthropic/claude-haiku-4-5";
    assert_eq!(press(pane.as_mut(), "ctrl+f"), Pressed::Taken(vec![remember(FAVOURITE, both)]));
    assert_eq!(
        press(pane.as_mut(), "ctrl+f"),
        Pressed::Taken(vec![remember(FAVOURITE, "ollama/qwen3")])
    );
    let haiku = ModelRef::new("anthropic", "claude-haiku-4-5");
    assert_eq!(press(pane.as_mut(), "enter"), Pressed::Done(vec![Effect::Use(haiku)]));
}

#[test]
fn a_model_without_a_key_asks_for_it_and_says_what_was_wrong() {
    let mut pane = opened(PaneKind::Models);
    write(pane.as_mut(), "gpt");
    press(pane.as_mut(), "enter");
    pane.paste("  sk-secret-and-long\n");
    let shown = screen(pane.as_mut(), 80, 24);
    assert!(shown.contains("key for OpenAI") && !shown.contains("secret"), "{shown}");
    let Pressed::Taken(effects) = press(pane.as_mut(), "enter") else { panic!() };
    let [Effect::Submit { op: Op::Login { provider, key }, purpose: Purpose::Login }] =
        effects.as_slice()
    else {
        panic!("{effects:?}")
    };
    assert_eq!((provider.as_str(), key.expose()), ("openai", "sk-secret-and-long"));
    assert!(screen(pane.as_mut(), 80, 24).contains("trying it"));
    pane.submitted(
        Purpose::Login,
        Err(ClientError::Refused("OpenAI does not know this key".to_owned())),
    );
    assert!(screen(pane.as_mut(), 80, 24).contains("OpenAI does not know this key"));
    press(pane.as_mut(), "enter");
    let effects = pane.submitted(Purpose::Login, Ok(()));
    assert_eq!(effects.first(), Some(&Effect::Use(ModelRef::new("openai", "gpt-5"))));
    assert!(pane.is_done());
}

#[test]
fn going_back_asks_what_goes_back() {
    let rewind = |at, what| submit(Op::Rewind { session: session(1), entry: entry(at), what });
    for (keys, what) in [
        ("enter b", Rewound::Both),
        ("enter t", Rewound::Talk),
        ("enter down down enter", Rewound::Files),
    ] {
        let mut done = vec![rewind(41, what)];
        done.extend((what != Rewound::Files).then_some(Effect::WriteAgain(entry(42))));
        let pressed = press(opened(PaneKind::Checkpoints).as_mut(), keys);
        assert_eq!(pressed, Pressed::Done(done), "{keys}");
    }
    let begin = [Effect::WriteAgain(entry(40)), Effect::Perform(Action::NewSession)];
    let first = |keys| press(opened(PaneKind::Checkpoints).as_mut(), keys);
    assert_eq!(first("end enter t"), Pressed::Done(begin.to_vec()), "nothing is before the first");
    let files = rewind(40, Rewound::Files);
    assert_eq!(first("end enter f"), Pressed::Done(vec![files.clone()]));
    let [write, new] = begin;
    assert_eq!(first("end enter b"), Pressed::Done(vec![files, write, new]));
    assert_eq!(
        press(opened(PaneKind::Checkpoints).as_mut(), "enter esc esc"),
        Pressed::Done(Vec::new())
    );
}

#[test]
fn a_theme_is_shown_at_once_and_left_as_it_was() {
    let set = |name: &str| Effect::SetTheme(name.to_owned());
    let mut pane = opened(PaneKind::Themes);
    assert_eq!(press(pane.as_mut(), "down"), Pressed::Taken(vec![set("dark")]));
    assert_eq!(press(pane.as_mut(), "esc"), Pressed::Done(vec![set("auto")]));
    assert_eq!(
        press(pane.as_mut(), "enter"),
        Pressed::Done(vec![set("dark"), remember(THEME, "dark")])
    );
}

#[test]
fn waiting_prompts_are_taken_back_or_deleted() {
    let unsay = |number| submit(Op::Unsay { session: session(1), entry: entry(number) });
    let mut pane = opened(PaneKind::Queue);
    assert_eq!(press(pane.as_mut(), "ctrl+x"), Pressed::Taken(vec![unsay(21)]));
    let text = Effect::WriteParts(vec![Part::user_text("then write\na changelog")]);
    assert_eq!(press(pane.as_mut(), "enter"), Pressed::Done(vec![unsay(22), text]));
    let mut shared = shared();
    shared.waiting.clear();
    pane.share(&shared);
    assert!(screen(pane.as_mut(), 40, 10).contains("nothing waits"));
}

#[test]
fn names_and_prompts_are_written_into_the_composer() {
    let table = [
        (PaneKind::Agents, "enter", "@agent-explorer "),
        (PaneKind::Skills, "enter", "/release "),
        (PaneKind::History, "down enter", "why does\nit fail\nhere?"),
        (PaneKind::Changes, "enter", "@src/lexer.rs "),
    ];
    for (kind, keys, text) in table {
        let pressed = press(opened(kind).as_mut(), keys);
        assert_eq!(pressed, Pressed::Done(vec![Effect::Write(text.to_owned())]), "{kind:?}");
    }
}

#[test]
fn previews_are_beside_the_list_or_in_its_place() {
    let mut pane = opened(PaneKind::Changes);
    insta::assert_snapshot!(screen(pane.as_mut(), 110, 16), @r"

    ╭─ changes 2 ────────────────────────────────────────────────────────────────────────────────────────────╮
    │ › search                                      │ 1   fn lex() {                                         │
    │                                               │ 2 -     old();                                         │
    │ › src/lexer.rs                          +2 -1 │ 2 +     new();                                         │
    │   logo.png                          as it was │ 3 +     more();                                        │
    │                                               │                                                        │
    │                                               │                                                        │
    │                                               │                                                        │
    │                                               │                                                        │
    │                                               │                                                        │
    │                                               │                                                        │
    │                                                                                                        │
    │ tab diff · esc close · shift+up/down scroll · enter name it · ctrl+y copy diff                         │
    ╰────────────────────────────────────────────────────────────────────────────────────────────────────────╯
    ");
    press(pane.as_mut(), "tab");
    assert!(screen(pane.as_mut(), 40, 10).contains("new();"));
    assert_eq!(press(pane.as_mut(), "esc"), Pressed::Taken(Vec::new()), "back to the list");
    assert!(screen(pane.as_mut(), 40, 10).contains("src/lexer.rs"));
}

#[test]
fn the_help_shows_the_users_keys() {
    let mut shared = shared();
    let changes = [("open_models".to_owned(), vec!["f12".to_owned()])].into();
    shared.keys = crate::keymap::KeyMap::new(&changes).0;
    let mut pane = open(PaneKind::Help, &shared);
    write(pane.as_mut(), "choose a model");
    assert!(screen(pane.as_mut(), 80, 24).contains("f12"));
}

#[test]
fn a_look_up_that_failed_is_told() {
    for kind in KINDS {
        let mut pane = open(kind, &shared());
        for effect in pane.open() {
            let Effect::Ask { asker: crate::message::Asker::Pane { what, .. }, .. } = effect else {
                continue;
            };
            pane.hear(what, Err(ClientError::Closed));
            assert!(
                screen(pane.as_mut(), 80, 24).contains("the connection to the agent is closed"),
                "{kind:?}"
            );
        }
    }
}

fn any_key() -> impl Strategy<Value = Key> {
    let codes = prop::sample::select(vec![
        Code::Char('a'),
        Code::Char('x'),
        Code::Char('f'),
        Code::Char('r'),
        Code::Char('日'),
        Code::Char(' '),
        Code::Enter,
        Code::Esc,
        Code::Tab,
        Code::Backspace,
        Code::Up,
        Code::Down,
        Code::PageDown,
        Code::End,
        Code::Home,
    ]);
    (codes, prop::sample::select(vec![Mods::NONE, Mods::NONE, Mods::CTRL, Mods::SHIFT, Mods::ALT]))
        .prop_map(|(code, mods)| Key { code, mods })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn no_keys_on_no_screen_break_a_pane(
        kind in prop::sample::select(KINDS.to_vec()),
        keys in prop::collection::vec(any_key(), 0..14),
        sizes in prop::collection::vec((0u16..140, 0u16..40), 3),
        answers in any::<bool>(),
    ) {
        let mut pane = if answers { opened(kind) } else { open(kind, &shared()) };
        for (index, key) in keys.into_iter().enumerate() {
            if let Pressed::Taken(effects) = pane.key(key) {
                settle(pane.as_mut(), effects);
            }
            let (width, height) = sizes[index % sizes.len()];
            pane.mouse(click(width / 3, height / 2));
            pane.hear(0, Ok(Reply::Files { paths: Vec::new() }));
            let mut canvas = Canvas::new(width, height);
            let area = Rect::sized(width, height);
            let caret = pane.draw(&mut canvas, area, &look());
            prop_assert!(caret.is_none_or(|at| area.contains(at)), "{:?} {:?}", caret, area);
        }
    }
}
