use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

const MARK: &str = "\u{10F000}";

fn buffer(text: &str) -> Buffer {
    let mut buffer = Buffer::default();
    buffer.insert(text, Run::Alone);
    buffer
}

fn typed(buffer: &mut Buffer, text: &str) {
    for grapheme in text.graphemes(true) {
        buffer.insert(grapheme, Run::Typing);
    }
}

#[test]
fn a_typed_word_is_one_step_back() {
    let mut buffer = Buffer::default();
    typed(&mut buffer, "one two");
    assert!(buffer.undo());
    assert_eq!(buffer.text(), "one ");
    assert!(buffer.undo());
    assert_eq!(buffer.text(), "");
    assert!(!buffer.undo());
    assert!(buffer.redo() && buffer.redo() && !buffer.redo());
    assert_eq!((buffer.text(), buffer.caret()), ("one two", 7));
}

#[test]
fn moving_the_caret_ends_a_run() {
    let mut buffer = Buffer::default();
    typed(&mut buffer, "ab");
    buffer.move_to(1, Select::Drop);
    typed(&mut buffer, "cd");
    buffer.undo();
    assert_eq!((buffer.text(), buffer.caret()), ("ab", 1));
}

#[test]
fn typing_forgets_what_was_taken_back() {
    let mut buffer = buffer("one");
    buffer.undo();
    typed(&mut buffer, "two");
    assert!(!buffer.redo());
    assert_eq!(buffer.text(), "two");
}

#[test]
fn what_is_typed_takes_the_place_of_what_is_selected() {
    let mut buffer = buffer("one two");
    buffer.move_to(0, Select::Drop);
    buffer.move_to(3, Select::Extend);
    assert_eq!(buffer.selection(), Some(0..3));
    typed(&mut buffer, "x");
    assert_eq!((buffer.text(), buffer.caret(), buffer.selection()), ("x two", 1, None));
}

#[test]
fn a_mark_is_one_step_even_where_a_grapheme_would_join_it() {
    let text = format!("a{MARK}\u{301}{MARK}b");
    let stops: Vec<usize> =
        std::iter::successors(Some(0), |at| Some(next(&text, *at)).filter(|end| end != at))
            .collect();
    assert_eq!(stops, [0, 1, 5, 7, 11, 12]);
    let back: Vec<usize> =
        std::iter::successors(Some(12), |at| Some(previous(&text, *at)).filter(|end| end != at))
            .collect();
    assert_eq!(back, [12, 11, 7, 5, 1, 0]);
}

#[test]
fn a_caret_in_the_middle_of_a_family_goes_to_its_end() {
    let text = "a👩‍👩‍👧b";
    for at in 2..text.len() - 1 {
        assert_eq!(snap(text, at), text.len() - 1, "{at}");
    }
}

#[test]
fn undo_keeps_no_more_than_it_should() {
    let mut buffer = Buffer::default();
    for _ in 0..10 {
        let all = 0..buffer.text().len();
        buffer.replace(all, &"x".repeat(1 << 20), Run::Alone);
    }
    assert!(buffer.kept_bytes <= MOST_BYTES);
    while buffer.undo() {}
    while buffer.redo() {}
    assert_eq!(buffer.text().len(), 1 << 20);
}

#[derive(Debug, Clone)]
enum Act {
    Insert(String, Run),
    Replace(usize, usize, String),
    DeleteBack,
    DeleteForward,
    Move(usize),
    Extend(usize),
    Undo,
    Redo,
    Hold,
    Release,
}

fn act() -> impl Strategy<Value = Act> {
    let text = "[ab é\u{301}\u{200d}👩👧🇩🇪日\n\u{10F000}\u{10F001}\u{600}ש]{0,4}";
    prop_oneof![
        4 => (text, prop_oneof![Just(Run::Alone), Just(Run::Typing)])
            .prop_map(|(text, run)| Act::Insert(text, run)),
        2 => (0usize..40, 0usize..40, text).prop_map(|(a, b, text)| Act::Replace(a, b, text)),
        1 => Just(Act::DeleteBack),
        1 => Just(Act::DeleteForward),
        2 => (0usize..40).prop_map(Act::Move),
        1 => (0usize..40).prop_map(Act::Extend),
        1 => Just(Act::Undo),
        1 => Just(Act::Redo),
        1 => Just(Act::Hold),
        1 => Just(Act::Release),
    ]
}

fn apply(buffer: &mut Buffer, act: Act) {
    let stop = |buffer: &Buffer, at: usize| snap(buffer.text(), at.min(buffer.text().len()));
    match act {
        Act::Insert(text, run) => buffer.insert(&text, run),
        Act::Replace(a, b, text) => {
            let (a, b) = (stop(buffer, a), stop(buffer, b));
            buffer.replace(a.min(b)..a.max(b), &text, Run::Alone);
        }
        Act::DeleteBack => {
            let caret = buffer.caret();
            buffer.delete(previous(buffer.text(), caret)..caret, Run::Deleting);
        }
        Act::DeleteForward => {
            let caret = buffer.caret();
            buffer.delete(caret..next(buffer.text(), caret), Run::Deleting);
        }
        Act::Move(at) => buffer.move_to(at.min(buffer.text().len()), Select::Drop),
        Act::Extend(at) => buffer.move_to(at.min(buffer.text().len()), Select::Extend),
        Act::Undo => {
            buffer.undo();
        }
        Act::Redo => {
            buffer.redo();
        }
        Act::Hold => buffer.hold(),
        Act::Release => buffer.release(),
    }
}

/// Every place between graphemes, from the beginning on.
fn stops(text: &str) -> Vec<usize> {
    let mut stops = vec![0];
    while let Some(at) = stops.last().copied().filter(|at| *at < text.len()) {
        stops.push(next(text, at));
    }
    stops
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_caret_stays_between_graphemes_and_undo_is_exact(
        acts in prop::collection::vec(act(), 0..40),
    ) {
        let mut buffer = Buffer::default();
        for act in acts {
            apply(&mut buffer, act);
            let stops = stops(buffer.text());
            prop_assert!(stops.contains(&buffer.caret()));
            if let Some(selected) = buffer.selection() {
                prop_assert!(selected.end <= buffer.text().len());
                prop_assert!(stops.contains(&selected.start) && stops.contains(&selected.end));
            }
        }
        while buffer.redo() {}
        let text = buffer.text().to_owned();
        while buffer.undo() {}
        prop_assert_eq!(buffer.text(), "");
        while buffer.redo() {}
        prop_assert_eq!(buffer.text(), text);
    }

    #[test]
    fn forward_and_backward_steps_agree(
        text in "[ab é\u{301}\u{200d}👩👧🇩🇪日\n\u{10F000}\u{600}ש]{0,24}",
    ) {
        let stops = stops(&text);
        for pair in stops.windows(2) {
            prop_assert_eq!(previous(&text, pair[1]), pair[0]);
        }
        for at in 0..=text.len() {
            let nearest = stops.iter().copied().find(|stop| *stop >= at);
            prop_assert_eq!(Some(snap(&text, at)), nearest);
        }
    }
}
