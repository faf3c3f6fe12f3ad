use std::collections::HashSet;

use base::CallId;
use base::transcript::{CallInput, CallResult, FileSource, Native, Origin, Part, Piece};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn maker(model: &str) -> Maker {
    Maker { provider: "p".into(), model: model.into(), wire: "w".into() }
}

fn said(text: &str) -> Part {
    Part::user_text(text)
}

fn call(id: &str) -> Part {
    let call = Call { id: CallId::new(id), name: "look".into(), input: CallInput::default() };
    Part::new(PartBody::Call(call), Origin::Assistant)
}

fn result(id: &str, text: &str) -> Part {
    let pieces = vec![Piece::Text { text: text.into() }];
    let (call, name, outcome) = (CallId::new(id), "look".into(), Outcome::Done);
    Part::new(
        PartBody::Result(CallResult { call, name, outcome, pieces, shown: None }),
        Origin::Shell,
    )
}

fn thought(model: &str) -> Part {
    let native = Native { maker: maker(model), data: json!({ "signature": "s" }) };
    let body = PartBody::Reasoning { text: "hm".into() };
    Part::new(body, Origin::Assistant).with_native(native)
}

fn image() -> File {
    let source = FileSource::Base64("AAAA".into());
    File { media_type: "image/png".into(), name: None, source }
}

fn turn(role: Role, parts: Vec<Part>) -> Turn {
    Turn { role, parts }
}

/// The strictest rules; thoughts and steps go back.
fn rules() -> Rules {
    Rules {
        maker: maker("own"),
        sees_files: true,
        file_types: &["image/"],
        result_files: FilePlace::Inside,
        model_files: FilePlace::Beside,
        id_form: CallIdForm::Plain,
        longest_id: LONGEST,
        name: plain_name,
        returns: |body, _| !matches!(body, PartBody::Text { .. }),
        calls_last: true,
        closing_thoughts: false,
        edges: Edges::UserOrPaused,
    }
}

/// A conversation in shorthand: `U` and `A` for the speaker, a word for each block.
fn shown(turns: &[Turn], rules: &Rules) -> Vec<String> {
    let content = |content: &Content<'_>| match content {
        Content::Text(text) => text.to_string(),
        Content::File(file) => file.media_type.clone(),
    };
    let block = |block: &Block<'_>| match &block.body {
        Body::Content(said) => content(said),
        Body::Thought(_) => "<thought>".to_owned(),
        Body::Call(call) => format!("{}?", call.id),
        Body::Result(answer) => {
            let said: Vec<String> = answer.content.iter().map(content).collect();
            format!("{}={}", answer.id, said.join("+"))
        }
        Body::Opaque => "<step>".to_owned(),
    };
    let message = |message: &Message<'_>| {
        let who = if message.role == Role::User { "U" } else { "A" };
        format!("{who}: {}", message.blocks.iter().map(block).collect::<Vec<_>>().join(", "))
    };
    project(turns, rules).iter().map(message).collect()
}

#[test]
fn results_stand_first_in_the_message_after_their_calls_and_in_their_order() {
    let turns = [
        turn(Role::User, vec![said("go")]),
        turn(Role::Assistant, vec![call("a"), call("b")]),
        turn(Role::User, vec![said("by the way"), result("b", "2"), result("a", "1")]),
    ];
    assert_eq!(shown(&turns, &rules()), ["U: go", "A: a?, b?", "U: a=1, b=2, by the way"]);
}

#[test]
fn a_call_without_a_result_gets_one_and_a_result_without_a_call_becomes_text() {
    let turns = [
        turn(Role::User, vec![result("z", "lost"), said("go")]),
        turn(Role::Assistant, vec![call("a")]),
        turn(Role::Assistant, vec![said("never mind")]),
    ];
    let expected = [
        "U: Result of an earlier call of `look`:\nlost, go".to_owned(),
        "A: a?".to_owned(),
        format!("U: a={INTERRUPTED}"),
        "A: never mind".to_owned(),
        format!("U: {FILLER}"),
    ];
    assert_eq!(shown(&turns, &rules()), expected);
}

#[test]
fn ids_that_repeat_are_told_apart_and_odd_ones_made_plain() {
    let turns = [
        turn(Role::User, vec![said("go")]),
        turn(Role::Assistant, vec![call("call:0"), call("call:0")]),
        turn(Role::User, vec![result("call:0", "1"), result("call:0", "2"), result("call:0", "3")]),
        turn(Role::Assistant, vec![call("call:0")]),
        turn(Role::User, vec![result("call:0", "4")]),
    ];
    let expected = [
        "U: go",
        "A: call_0?, call_0_2?",
        "U: call_0=1, call_0_2=2, Result of an earlier call of `look`:\n3",
        "A: call_0_3?",
        "U: call_0_3=4",
    ];
    assert_eq!(shown(&turns, &rules()), expected);
}

#[test]
fn text_after_a_call_moves_before_it() {
    let turns = [
        turn(Role::User, vec![said("go")]),
        turn(Role::Assistant, vec![thought("own"), call("a"), said("I will look.")]),
        turn(Role::User, vec![result("a", "1")]),
    ];
    assert_eq!(shown(&turns, &rules())[1], "A: <thought>, I will look., a?");
    let loose = Rules { calls_last: false, ..rules() };
    assert_eq!(shown(&turns, &loose)[1], "A: <thought>, a?, I will look.");
}

#[test]
fn thoughts_go_back_to_their_maker_only_and_never_stand_last() {
    let turns = [
        turn(Role::User, vec![said("go")]),
        turn(Role::Assistant, vec![thought("other"), thought("own"), said("yes")]),
        turn(Role::User, vec![said("more")]),
        turn(Role::Assistant, vec![thought("own")]),
        turn(Role::User, vec![said("well?")]),
    ];
    assert_eq!(shown(&turns, &rules()), ["U: go", "A: <thought>, yes", "U: more, well?"]);
    let marked: Vec<bool> =
        project(&turns, &rules()).iter().map(|message| message.lost_thoughts).collect();
    assert_eq!(marked, [false, true, false]);
    let late = [turn(Role::Assistant, vec![said("yes"), thought("own")])];
    let loose = Rules { closing_thoughts: true, edges: Edges::Free, ..rules() };
    assert_eq!(shown(&late, &loose), ["A: yes, <thought>"]);
}

#[test]
fn a_picture_the_model_made_is_shown_by_the_user() {
    let picture = Part::new(PartBody::File(image()), Origin::Assistant);
    let turns = [
        turn(Role::User, vec![said("draw")]),
        turn(Role::Assistant, vec![said("here"), picture]),
        turn(Role::User, vec![said("nice")]),
    ];
    assert_eq!(shown(&turns, &rules()), ["U: draw", "A: here", "U: image/png, nice"]);
    let loose = Rules { model_files: FilePlace::Inside, ..rules() };
    assert_eq!(shown(&turns, &loose), ["U: draw", "A: here, image/png", "U: nice"]);
}

#[test]
fn a_result_that_comes_after_the_model_went_on_does_not_change_what_was_sent() {
    let turns = [
        turn(Role::User, vec![said("go")]),
        turn(Role::Assistant, vec![call("a")]),
        turn(Role::User, vec![said("stop")]),
        turn(Role::Assistant, vec![said("well")]),
        turn(Role::User, vec![result("a", "1")]),
    ];
    let expected = [
        "U: go",
        "A: a?",
        &format!("U: a={INTERRUPTED}, stop"),
        "A: well",
        "U: Result of an earlier call of `look`:\n1",
    ];
    assert_eq!(shown(&turns, &rules()), expected);
}

#[test]
fn results_find_their_calls_across_turns_of_one_speaker() {
    let turns = [
        turn(Role::Assistant, vec![call("a")]),
        turn(Role::Assistant, vec![call("b"), call("b")]),
        turn(Role::User, vec![result("b", "2"), said("go on")]),
        turn(Role::User, vec![result("b", "3"), result("a", "1")]),
    ];
    let free = Rules { edges: Edges::Free, ..rules() };
    let expected = ["A: a?", "U: a=1", "A: b?, b_2?", "U: b=2, b_2=3, go on"];
    assert_eq!(shown(&turns, &free), expected);
}

#[test]
fn files_of_results_stand_inside_or_beside_or_are_put_in_words() {
    let seen = |outcome| {
        let call = CallId::new("a");
        let pieces = vec![Piece::File(image())];
        let result = CallResult { call, name: "look".into(), outcome, pieces, shown: None };
        Part::new(PartBody::Result(result), Origin::Shell)
    };
    let turns = |outcome| {
        let asks = turn(Role::Assistant, vec![call("a")]);
        [turn(Role::User, vec![said("go")]), asks, turn(Role::User, vec![seen(outcome)])]
    };
    let beside = "U: a=(see the attached file), Files in the result of `look`:, image/png";
    let outside = Rules { result_files: FilePlace::Beside, ..rules() };
    assert_eq!(shown(&turns(Outcome::Done), &rules())[2], "U: a=image/png");
    assert_eq!(shown(&turns(Outcome::Done), &outside)[2], beside);
    assert_eq!(shown(&turns(Outcome::Failed), &rules())[2], beside, "failures hold text only");
    let blind = Rules { sees_files: false, ..outside };
    let words = &shown(&turns(Outcome::Done), &blind)[2];
    assert!(words.starts_with("U: a=[A file of type image/png was left out"), "{words}");
}

#[test]
fn a_paused_answer_may_stand_last_where_the_rules_allow_it() {
    let native = Native { maker: maker("own"), data: json!({}) };
    let step = Part::new(PartBody::Opaque { label: "search".into() }, Origin::Assistant);
    let turns = [turn(Role::Assistant, vec![step.with_native(native), said("so \n")])];
    let filler = format!("U: {FILLER}");
    assert_eq!(shown(&turns, &rules()), [&filler, "A: <step>, so"]);
    let strict = Rules { edges: Edges::User, ..rules() };
    assert_eq!(shown(&turns, &strict), [&filler, "A: <step>, so \n", &filler]);
    let free = Rules { edges: Edges::Free, ..rules() };
    assert_eq!(shown(&turns, &free), ["A: <step>, so \n"]);
}

#[test]
fn text_that_says_nothing_goes_only_for_the_sake_of_its_own_sidecar() {
    let native = Native { maker: maker("own"), data: json!({ "signature": "s" }) };
    let silence = Part::assistant_text("").with_native(native);
    let turns =
        [turn(Role::User, vec![said("go"), said(" ")]), turn(Role::Assistant, vec![silence])];
    assert_eq!(shown(&turns, &rules()), ["U: go"]);
    let free = Rules { returns: |_, _| true, edges: Edges::Free, ..rules() };
    assert_eq!(shown(&turns, &free), ["U: go", "A: "]);
}

fn any_part() -> impl Strategy<Value = Part> {
    let id = prop::sample::select(vec!["a", "b", "", "call:0", "ü"]);
    prop_oneof![
        "[ a-z]{0,3}".prop_map(|text| said(&text)),
        id.clone().prop_map(call),
        id.prop_map(|id| result(id, "r")),
        prop::sample::select(vec!["own", "other"]).prop_map(thought),
        Just(Part::new(PartBody::File(image()), Origin::User)),
    ]
}

fn any_turns() -> impl Strategy<Value = Vec<Turn>> {
    let role = prop::sample::select(vec![Role::User, Role::Assistant]);
    let parts = prop::collection::vec(any_part(), 0..5);
    prop::collection::vec((role, parts).prop_map(|(role, parts)| turn(role, parts)), 0..8)
}

fn calls<'a>(message: &'a Message<'_>) -> Vec<&'a str> {
    let mut ids = Vec::new();
    for block in &message.blocks {
        if let Body::Call(call) = &block.body {
            ids.push(call.id.as_str());
        }
    }
    ids
}

fn leading_results<'a>(message: &'a Message<'_>) -> Vec<&'a str> {
    let mut ids = Vec::new();
    for block in &message.blocks {
        let Body::Result(answer) = &block.body else { break };
        ids.push(answer.id.as_str());
    }
    ids
}

proptest! {
    #[test]
    fn any_transcript_becomes_a_strict_conversation(turns in any_turns()) {
        let conversation = project(&turns, &rules());
        let mut seen = HashSet::new();
        for (at, message) in conversation.iter().enumerate() {
            let expected = if at % 2 == 0 { Role::User } else { Role::Assistant };
            prop_assert_eq!(message.role, expected);
            prop_assert!(!message.blocks.is_empty());
            let ends_in_thought = matches!(message.blocks.last(), Some(Block { body: Body::Thought(_), .. }));
            prop_assert!(!ends_in_thought);
            let asked = calls(message);
            if at + 1 < conversation.len() {
                prop_assert_eq!(leading_results(&conversation[at + 1]), asked.clone());
            } else {
                prop_assert!(asked.is_empty() && message.role == Role::User);
            }
            let results =
                message.blocks.iter().filter(|b| matches!(b.body, Body::Result(_))).count();
            prop_assert_eq!(results, leading_results(message).len());
            for id in asked {
                prop_assert!(seen.insert(id.to_owned()), "{} twice", id);
                prop_assert!(!id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            }
        }
    }

    #[test]
    fn a_longer_transcript_begins_as_the_shorter_one_did(turns in any_turns()) {
        let mut longer = turns.clone();
        longer.insert(0, turn(Role::User, vec![said("hello")]));
        longer.push(turn(Role::User, vec![said("and now?")]));
        longer.push(turn(Role::Assistant, vec![thought("own"), call("a")]));
        longer.push(turn(Role::User, vec![result("b", "late"), result("a", "1")]));
        let shorter = &longer[..longer.len() - 3];
        let (before, after) = (shown(shorter, &rules()), shown(&longer, &rules()));
        // The last message may have been the filler, and may grow.
        let stable = before.len() - 1;
        prop_assert_eq!(&before[..stable], &after[..stable]);
    }
}
