//! What was said before: going back to it, what waits, where we are.

use base::protocol::{Checkpoint, ClientError, Delivery, Query, WaitingPrompt};
use base::{FailureClass, Op, Origin, PartBody, TurnId};

use super::*;
use crate::keymap::Action;
use crate::message::Purpose;

fn checkpoint(entry: EntryId, before: Option<EntryId>) -> Checkpoint {
    let at = Timestamp::from_millis(1_790_000_000_000);
    Checkpoint { entry, before, at, label: "fix".to_owned(), files: Vec::new() }
}

/// Opens the list of moments with one in it, and goes back to it by a letter.
fn goes_back(desk: &mut Desk, moment: Checkpoint, letter: &str) -> Vec<Effect> {
    desk.say(Message::Input(Input::Key("f6".parse().unwrap())));
    let pane = desk.app.panes.last().unwrap().0;
    let reply = Reply::Checkpoints { checkpoints: vec![moment] };
    desk.answer(Asker::Pane { pane, what: 0 }, reply);
    desk.press("enter");
    desk.press(letter)
}

fn done(desk: &mut Desk, text: &str) -> EntryId {
    desk.write(text);
    desk.press("alt+enter");
    let entry = entry(EntryKind::User { parts: vec![Part::user_text(text)] });
    let (session, id) = (desk.session(), entry.id);
    desk.hear(Event::Appended { session, entry });
    id
}

#[test]
fn going_back_brings_the_prompt_back_to_be_said_better() {
    let mut desk = Desk::settled(80, 24);
    let before = done(&mut desk, "look around");
    let entry = done(&mut desk, "fix the parser, all of it");
    let effects = goes_back(&mut desk, checkpoint(entry, Some(before)), "t");
    let back = |effect: &Effect| matches!(effect, Effect::Submit { op: Op::Rewind { .. }, .. });
    assert!(effects.iter().any(back), "{effects:?}");
    assert_eq!(desk.app.composer.text(), "fix the parser, all of it");
}

#[test]
fn going_back_with_files_alone_leaves_the_composer_as_it_is() {
    let mut desk = Desk::settled(80, 24);
    let before = done(&mut desk, "look around");
    let entry = done(&mut desk, "fix it");
    goes_back(&mut desk, checkpoint(entry, Some(before)), "f");
    assert_eq!(desk.app.composer.text(), "");
}

#[test]
fn before_the_first_prompt_is_a_new_session_with_that_prompt_at_hand() {
    let mut desk = Desk::settled(80, 24);
    let entry = done(&mut desk, "fix it");
    let first = desk.session();
    goes_back(&mut desk, checkpoint(entry, None), "b");
    assert_ne!(desk.session(), first);
    assert_eq!(desk.app.composer.text(), "fix it");
}

#[test]
fn a_report_that_waits_is_no_prompt_of_the_user() {
    let mut desk = Desk::settled(80, 24);
    desk.prompt("go");
    let waiting = |text: &str, origin| WaitingPrompt {
        entry: EntryId::new(),
        parts: vec![Part::new(PartBody::Text { text: text.to_owned() }, origin)],
        delivery: Delivery::Steer,
    };
    let session = desk.session();
    let report = waiting("The agent scout has finished", Origin::Assistant);
    let prompts = vec![report, waiting("and then this", Origin::User)];
    desk.hear(Event::Waiting { session, prompts });
    let screen = desk.screen();
    assert!(screen.contains("and then this") && !screen.contains("scout"), "{screen}");
}

#[test]
fn the_folder_is_shown_below_home_and_the_key_that_unfolds_is_the_key_maps() {
    let mut start = start();
    start.env = [("HOME", "/work"), ("TERM", "xterm-256color")].into_iter().collect();
    start.settings.keys.insert("toggle_fold".to_owned(), vec!["f9".to_owned()]);
    let mut desk = Desk::of(&start, 80, 24);
    desk.answer(Asker::Place, Reply::Place(Box::new(place())));
    let long: Vec<String> = (0..40).map(|line| format!("line {line}")).collect();
    done(&mut desk, "hello");
    let entry = entry(EntryKind::User { parts: vec![Part::user_text(long.join("\n"))] });
    let session = desk.session();
    desk.hear(Event::Appended { session, entry });
    let screen = desk.screen();
    assert!(screen.contains("~/shop (main)"), "{screen}");
    assert!(screen.contains("28 more lines, f9"), "{screen}");
    assert_eq!(desk.app.keys.hint(Action::ToggleFold), "f9");
}

#[test]
fn what_waits_after_a_stop_is_sent_by_enter() {
    let mut desk = Desk::settled(80, 24);
    desk.prompt("go");
    let session = desk.session();
    let parts = vec![Part::user_text("and then this")];
    let id = EntryId::new();
    let waits = WaitingPrompt { entry: id, parts: parts.clone(), delivery: Delivery::Queue };
    desk.hear(Event::Waiting { session, prompts: vec![waits] });
    assert!(desk.press("enter").is_empty(), "a turn runs");
    let (reason, class) = ("no network".to_owned(), FailureClass::Network);
    desk.hear(Event::TurnFailed { session, turn: TurnId::new(), reason, class });
    assert!(desk.screen().contains("enter sends what waits"), "{}", desk.screen());
    let effects = desk.press("enter");
    let ops: Vec<&Op> = effects
        .iter()
        .filter_map(|effect| if let Effect::Submit { op, .. } = effect { Some(op) } else { None })
        .collect();
    let [Op::Unsay { entry: unsaid, .. }, Op::Say { entry, parts: again, delivery, .. }] = ops[..]
    else {
        panic!("{ops:?}")
    };
    assert_eq!((*unsaid, again, *delivery), (id, &parts, Delivery::Queue));
    assert_ne!(*entry, id, "the engine ignores a prompt it has taken before");
}

#[test]
fn commands_of_the_interface_are_offered_among_the_minds() {
    let mut desk = Desk::settled(80, 24);
    desk.write("/the");
    assert!(desk.screen().contains("/theme"), "{}", desk.screen());
    let mut desk = Desk::settled(80, 40);
    desk.write("/co");
    let screen = desk.screen();
    assert!(screen.contains("/compact") && screen.contains("/continue"), "{screen}");
}

#[test]
fn every_command_the_popup_offers_is_known() {
    for (name, _) in super::super::says::OWN {
        let mut desk = Desk::settled(80, 24);
        let effects = desk.app.command(&format!("/{name}"));
        let asks_mind =
            |effect: &Effect| matches!(effect, Effect::Submit { op: Op::Command { .. }, .. });
        assert!(!effects.iter().any(asks_mind), "{name}");
    }
}

#[test]
fn the_hint_of_a_second_press_goes_with_another_key() {
    let mut desk = Desk::settled(80, 24);
    desk.press("ctrl+c");
    assert!(desk.screen().contains("again quits"), "{}", desk.screen());
    desk.write("x");
    assert!(!desk.screen().contains("again quits"), "{}", desk.screen());
}

#[test]
fn who_reads_what_is_older_is_told_how_to_come_back() {
    let mut desk = Desk::settled(80, 24);
    for number in 0..40 {
        done(&mut desk, &format!("prompt {number}"));
    }
    assert!(!desk.screen().contains("to the newest"), "{}", desk.screen());
    desk.press("pageup");
    assert!(desk.screen().contains("to the newest"), "{}", desk.screen());
}

#[test]
fn a_session_is_named_by_its_first_words_until_a_title_is_found() {
    let mut desk = Desk::settled(160, 40);
    desk.prompt("mend the parser of dates");
    assert!(desk.screen().lines().next().unwrap().ends_with("│ mend the parser of dates"));
    let session = desk.session();
    desk.hear(Event::renamed(session, "Dates".to_owned()));
    assert!(desk.screen().lines().next().unwrap().ends_with("│ Dates"), "{}", desk.screen());
}

#[test]
fn a_copy_of_a_session_is_entered_once_it_is_there() {
    let mut desk = Desk::settled(80, 24);
    let (into, before) = (SessionId::new(), desk.session());
    let refused = Err(ClientError::Refused("no".to_owned()));
    desk.say(Message::Submitted { purpose: Purpose::Fork(into), outcome: refused });
    assert_eq!(desk.session(), before);
    let effects = desk.say(Message::Submitted { purpose: Purpose::Fork(into), outcome: Ok(()) });
    assert_eq!(desk.session(), into);
    let looks_up = |effect: &Effect| matches!(effect, Effect::Ask { asker: Asker::State(_), .. });
    assert!(effects.iter().any(looks_up), "{effects:?}");
}

#[test]
fn a_session_of_another_folder_is_shown_where_it_works() {
    let mut desk = Desk::settled(80, 24);
    assert!(desk.screen().contains("/work/shop (main)"));
    desk.app.session.folder = Some("/tmp/elsewhere".to_owned());
    let screen = desk.screen();
    assert!(screen.contains("/tmp/elsewhere") && !screen.contains("(main)"), "{screen}");
    desk.write("@");
    let wanted = Query::Files { folder: "/tmp/elsewhere".into(), search: "l".into(), limit: 50 };
    let effects = desk.press("l");
    let asks = |effect: &Effect| matches!(effect, Effect::Ask { query, .. } if *query == wanted);
    assert!(effects.iter().any(asks), "{effects:?}");
}
