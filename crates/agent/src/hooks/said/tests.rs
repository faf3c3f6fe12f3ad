use proptest::prelude::*;
use serde_json::json;

use super::*;

fn exit(code: i32, stdout: &str, stderr: &str) -> Ended {
    Ended::Exited { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

fn pre(ended: &Ended) -> Said {
    Said::read(Occasion::PreToolUse, ended)
}

fn specific(fields: &Value) -> String {
    json!({ "hookSpecificOutput": fields }).to_string()
}

#[test]
fn exit_code_two_says_no_and_beats_an_allow() {
    let allow = specific(&json!({ "permissionDecision": "allow" }));
    let said = pre(&exit(2, &allow, " not here \n"));
    assert_eq!((said.decision, said.reason.as_deref()), (Some(Decision::Deny), Some("not here")));
    let told = Said::read(Occasion::SessionStart, &exit(2, "", "oops"));
    assert_eq!((told.decision, told.message.as_deref()), (None, Some("oops")));
}

#[test]
fn other_codes_decide_nothing_unless_they_say_so_in_json() {
    assert!(pre(&exit(1, "no", "broken\nmore")).failure.unwrap().contains("code 1: broken"));
    let deny = specific(&json!({ "permissionDecision": "deny", "permissionDecisionReason": "r" }));
    assert_eq!(pre(&exit(1, &deny, "")).decision, Some(Decision::Deny));
    assert_eq!(pre(&exit(0, "all is well", "")), Said::default());
}

#[test]
fn both_dialects_and_the_older_words_are_understood() {
    let said = pre(&exit(0, r#"{"decision": "approve", "reason": "fine"}"#, ""));
    assert_eq!((said.decision, said.reason.as_deref()), (Some(Decision::Allow), Some("fine")));
    let crush = r#"{"decision": "deny", "halt": true, "reason": "r", "context": ["a", "b"],
        "updated_input": {"command": "x"}}"#;
    let said = pre(&exit(0, crush, ""));
    assert_eq!((said.decision, said.halt.as_deref()), (Some(Decision::Deny), Some("r")));
    assert_eq!(said.context, ["a", "b"]);
    assert!(matches!(said.input, Some(Change::Fields(_))));
    assert_eq!(pre(&exit(49, "", "enough")).halt.as_deref(), Some("enough"));
    let claude = specific(&json!({
        "hookEventName": "PreToolUse", "permissionDecision": "ask",
        "updatedInput": { "command": "ls" }, "additionalContext": "careful",
    }));
    let said = pre(&exit(0, &claude, ""));
    assert_eq!((said.decision, said.context.len()), (Some(Decision::Ask), 1));
    assert!(matches!(said.input, Some(Change::Whole(_))));
}

#[test]
fn a_permission_request_is_answered_in_its_own_words() {
    let body = specific(&json!({ "hookEventName": "PermissionRequest",
        "decision": { "behavior": "deny", "message": "never", "interrupt": true } }));
    let ended = Ended::Answered { status: 200, body };
    let said = Said::read(Occasion::PermissionRequest, &ended);
    assert_eq!((said.decision, said.reason.as_deref()), (Some(Decision::Deny), Some("never")));
    assert_eq!(said.halt.as_deref(), Some("never"));
}

#[test]
fn plain_words_are_context_only_where_the_model_listens() {
    let said = Said::read(Occasion::UserPromptSubmit, &exit(0, "\nbranch: main\n", ""));
    assert_eq!(said.context, ["branch: main"]);
    assert_eq!(Said::read(Occasion::PostToolUse, &exit(0, "words", "")), Said::default());
}

#[test]
fn what_makes_no_sense_is_a_failure() {
    for ended in [
        exit(0, "{not json", ""),
        exit(0, r#"{"hookSpecificOutput": {"hookEventName": "Stop"}}"#, ""),
        exit(127, "", "sh: nope: not found"),
        Ended::Exited { code: None, stdout: String::new(), stderr: String::new() },
        Ended::Answered { status: 500, body: specific(&json!({ "permissionDecision": "deny" })) },
        Ended::Answered { status: 302, body: String::new() },
        Ended::TooSlow(std::time::Duration::from_secs(1)),
        Ended::Broken("no such program".to_owned()),
    ] {
        let said = pre(&ended);
        assert!(said.failure.is_some() && said.decision.is_none(), "{ended:?} {said:?}");
    }
    assert_eq!(pre(&Ended::Cancelled), Said::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_output_breaks_us_and_none_but_its_own_words_allow(code in 0..256, text in ".{0,80}") {
        for occasion in Occasion::ALL {
            let said = Said::read(occasion, &exit(code, &text, &text));
            if said.decision == Some(Decision::Allow) {
                prop_assert!(text.contains("allow") || text.contains("approve"));
            }
        }
    }
}
