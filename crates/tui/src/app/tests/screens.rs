//! What the interface shows, and what keys ask of the mind.

use base::protocol::{Delivery, Mode};
use base::{Op, TurnId};

use super::*;
use crate::key::Answer;
use crate::message::Clip;

fn submitted(effects: &[Effect]) -> Vec<&Op> {
    fn op(effect: &Effect) -> Option<&Op> {
        if let Effect::Submit { op, .. } = effect { Some(op) } else { None }
    }
    effects.iter().filter_map(op).collect()
}

#[test]
fn the_first_words_begin_a_session_and_enter_joins_a_running_turn() {
    let mut desk = Desk::settled(80, 24);
    desk.write("hello");
    let effects = desk.press("enter");
    let ops = submitted(&effects);
    assert!(matches!(ops[0], Op::NewSession { .. }), "{ops:?}");
    assert!(
        ops.iter().any(|op| matches!(op, Op::Say { delivery: Delivery::Steer, .. })),
        "{ops:?}"
    );
    let session = desk.session();
    desk.hear(Event::TurnStarted {
        session,
        turn: TurnId::new(),
        entries: Vec::new(),
        model: model(),
    });
    desk.write("and this");
    let effects = desk.press("alt+enter");
    assert!(
        matches!(submitted(&effects)[..], [Op::Say { delivery: Delivery::Queue, .. }]),
        "{effects:?}"
    );
    let effects = desk.press("esc");
    assert!(matches!(submitted(&effects)[..], [Op::Stop { .. }]), "{effects:?}");
}

#[test]
fn what_was_refused_comes_back_into_the_composer() {
    let mut desk = Desk::settled(80, 24);
    desk.write("precious words");
    desk.press("enter");
    assert!(desk.app.composer.is_empty());
    let outcome = Err(base::ClientError::Refused("the disk is full".to_owned()));
    desk.say(Message::Submitted { purpose: crate::message::Purpose::Say, outcome });
    assert_eq!(desk.app.composer.text(), "precious words");
    assert!(desk.screen().contains("the disk is full"), "{}", desk.screen());
}

#[test]
fn modes_and_models_chosen_before_the_first_prompt_are_told_with_it() {
    let mut desk = Desk::settled(80, 24);
    desk.press("shift+tab");
    assert!(desk.screen().contains("accept edits"), "{}", desk.screen());
    desk.write("x");
    let effects = desk.press("enter");
    let has_mode = |op: &&Op| matches!(op, Op::SetMode { mode: Mode::AcceptEdits, .. });
    assert!(submitted(&effects).iter().any(has_mode), "{effects:?}");
}

#[test]
fn a_draft_is_kept_after_a_pause_and_given_up_when_it_is_sent() {
    let mut desk = Desk::settled(80, 24);
    desk.write("half a thou");
    assert!(desk.app.next_tick().is_some());
    let effects = desk.wait(1_000);
    assert!(
        matches!(submitted(&effects)[..], [Op::Remember { value: Some(text), .. }] if text == "half a thou"),
        "{effects:?}"
    );
    let effects = desk.press("enter");
    let forgotten = |op: &&Op| matches!(op, Op::Remember { value: None, .. });
    assert!(submitted(&effects).iter().any(forgotten), "{effects:?}");
}

#[test]
fn nothing_moves_while_nothing_goes_on() {
    let mut desk = Desk::settled(80, 24);
    desk.screen();
    assert_eq!(desk.app.next_tick(), None);
    desk.prompt("hello");
    assert!(desk.app.next_tick().is_some());
}

#[test]
fn an_empty_conversation_offers_instructions_and_takes_keys_all_the_same() {
    let mut desk = Desk::new(80, 24);
    let place = Place { init: Some("AGENTS.md".to_owned()), ..place() };
    desk.answer(Asker::Place, Reply::Place(Box::new(place)));
    assert!(desk.screen().contains("write AGENTS.md"), "{}", desk.screen());
    desk.write("hello");
    assert_eq!(desk.app.composer.text(), "hello");
}

#[test]
fn a_theme_that_was_chosen_is_there_the_next_time() {
    let mut desk = Desk::settled(80, 24);
    let before = desk.app.look.theme.clone();
    desk.answer(Asker::Theme, Reply::Recalled { value: Some("light".to_owned()) });
    assert_ne!(desk.app.look.theme, before);
}

#[test]
fn control_c_clears_then_quits() {
    let mut desk = Desk::settled(80, 24);
    desk.write("something");
    assert!(!desk.press("ctrl+c").contains(&Effect::Quit));
    assert!(desk.app.composer.is_empty());
    assert!(desk.press("ctrl+c").contains(&Effect::Quit));
}

#[test]
fn a_small_screen_shows_where_we_are_and_the_most_needed_keys() {
    for (width, height) in [(40, 10), (30, 7), (20, 5), (9, 3), (1, 1), (300, 100)] {
        let mut desk = Desk::new(width, height);
        let place = Place { init: Some("AGENTS.md".to_owned()), ..place() };
        desk.answer(Asker::Place, Reply::Place(Box::new(place)));
        let screen = desk.screen();
        if height >= 10 {
            for words in ["caiman", "claude-sonnet", "ctrl+p", "f1", "/init", "ask anything"] {
                assert!(screen.contains(words), "{words} at {width}x{height}:\n{screen}");
            }
        }
        desk.write("ab");
        let screen = desk.screen();
        assert!(width < 5 || screen.contains("ab"), "{screen}");
    }
}

#[test]
fn a_clipboard_no_program_can_read_is_asked_of_the_terminal_and_only_then() {
    let mut desk = Desk::settled(80, 24);
    let told = |bytes: &[u8]| Message::Input(Input::Answer(Answer::Clipboard(bytes.to_vec())));
    desk.say(told(b"unasked"));
    assert!(desk.app.composer.is_empty());
    assert_eq!(desk.press("ctrl+v"), [Effect::GetClip]);
    desk.say(Message::Clipped(Ok(Clip::Text("from xclip".to_owned()))));
    assert_eq!(desk.app.composer.text(), "from xclip");
    desk.press("ctrl+c");
    desk.press("ctrl+v");
    let asked = desk.say(Message::Clipped(Err("nothing was found".to_owned())));
    assert_eq!(asked, [Effect::AskClip]);
    desk.say(told("over\u{1b}[31m SSH".as_bytes()));
    assert_eq!(desk.app.composer.text(), "over[31m SSH");
    desk.say(told(b"late"));
    assert_eq!(desk.app.composer.text(), "over[31m SSH", "once");
}

#[test]
fn a_terminal_that_does_not_tell_its_clipboard_is_not_waited_for_long() {
    let mut desk = Desk::settled(80, 24);
    desk.press("ctrl+v");
    desk.say(Message::Clipped(Err("nothing was found".to_owned())));
    desk.screen();
    assert!(desk.app.next_tick().is_some());
    desk.wait(3_000);
    assert!(desk.screen().contains("nothing was found"), "{}", desk.screen());
    let late = Answer::Clipboard(b"late".to_vec());
    desk.say(Message::Input(Input::Answer(late)));
    assert!(desk.app.composer.is_empty());
}

#[test]
fn what_calls_without_a_known_price_cost_is_not_called_nothing() {
    let mut desk = Desk::settled(140, 40);
    desk.prompt("go");
    let (session, model) = (desk.session(), model());
    let usage = base::Usage { input: 500, ..base::Usage::default() };
    desk.hear(Event::Spent { session, model, usage, cost: None });
    let screen = desk.screen();
    assert!(screen.contains("500 tokens") && !screen.contains('$'), "{screen}");
}
