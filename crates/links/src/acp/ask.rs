//! Questions to the person at the editor: whether a call may run, and what the model wants to know.

use agent_client_protocol_schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SessionId, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use base::RequestId;
use base::protocol::{Approval, Question, Scope};

/// Longest rule that stands in a button.
const RULE: usize = 120;
const ONCE: &str = "once";
const SESSION: &str = "session";
const PROJECT: &str = "project";
const REJECT: &str = "reject";

/// What the model is told where a question cannot be put to the user.
pub(super) const CANNOT_ASK: &str =
    "(the user's editor cannot show this question; decide yourself and say what you assumed)";
/// What the model is told of a question the user did not want to answer.
pub(super) const DECLINED: &str = "(the user did not want to answer)";

/// The request whether a call may run. A lasting yes names the rules it keeps.
pub(super) fn permission(
    session: SessionId,
    call: ToolCallUpdate,
    rules: &[String],
) -> RequestPermissionRequest {
    let mut options =
        vec![PermissionOption::new(ONCE, "Allow once", PermissionOptionKind::AllowOnce)];
    if !rules.is_empty() {
        let rules = short(&rules.join(", "));
        let (kept, always) = (
            format!("Allow {rules} in this session"),
            format!("Always allow {rules} in this project"),
        );
        options.push(PermissionOption::new(SESSION, kept, PermissionOptionKind::AllowAlways));
        options.push(PermissionOption::new(PROJECT, always, PermissionOptionKind::AllowAlways));
    }
    options.push(PermissionOption::new(REJECT, "Reject", PermissionOptionKind::RejectOnce));
    RequestPermissionRequest::new(session, call, options)
}

/// What an answer means. Whatever is not a clear yes is a no.
pub(super) fn approval(outcome: &RequestPermissionOutcome) -> Approval {
    let scope = match selected(outcome) {
        Some(ONCE) => Some(Scope::Once),
        Some(SESSION) => Some(Scope::Session),
        Some(PROJECT) => Some(Scope::Project),
        Some(_) | None => None,
    };
    match scope {
        Some(scope) => Approval::Allow { scope, rule: None },
        None => Approval::Deny { instead: None },
    }
}

/// A question with choices, put as one about permission: most editors can ask nothing else. None for one that
/// wants words.
pub(super) fn choice(
    session: SessionId,
    (request, number): (RequestId, usize),
    question: &Question,
    agent: Option<&str>,
) -> Option<RequestPermissionRequest> {
    if question.choices.is_empty() {
        return None;
    }
    let title = match agent {
        Some(agent) => format!("{agent} asks: {}", question.text),
        None => question.text.clone(),
    };
    let fields = ToolCallUpdateFields::new().title(title).kind(ToolKind::Think);
    let fields = fields.status(ToolCallStatus::Pending);
    let call = ToolCallUpdate::new(ToolCallId::new(format!("{request}/{number}")), fields);
    let choices = question.choices.iter().enumerate().map(|(at, choice)| {
        PermissionOption::new(at.to_string(), choice.clone(), PermissionOptionKind::AllowOnce)
    });
    let decline = PermissionOption::new(REJECT, "No answer", PermissionOptionKind::RejectOnce);
    let options = choices.chain([decline]).collect();
    Some(RequestPermissionRequest::new(session, call, options))
}

/// The choice an answer means; none for no answer.
pub(super) fn chosen(outcome: &RequestPermissionOutcome, question: &Question) -> Option<String> {
    let at: usize = selected(outcome)?.parse().ok()?;
    question.choices.get(at).cloned()
}

fn selected(outcome: &RequestPermissionOutcome) -> Option<&str> {
    let RequestPermissionOutcome::Selected(selected) = outcome else { return None };
    Some(&selected.option_id.0)
}

fn short(text: &str) -> String {
    match text.char_indices().nth(RULE) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::SelectedPermissionOutcome;
    use serde_json::json;

    use super::*;

    fn select(id: &'static str) -> RequestPermissionOutcome {
        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id))
    }

    #[test]
    fn a_lasting_yes_names_the_rules_it_keeps() {
        let call = ToolCallUpdate::new("c1", ToolCallUpdateFields::new());
        let asked = permission(SessionId::new("s"), call.clone(), &["Bash(git log:*)".to_owned()]);
        let told = serde_json::to_value(asked).unwrap();
        let names: Vec<_> =
            told["options"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(
            names,
            [
                &json!("Allow once"),
                &json!("Allow Bash(git log:*) in this session"),
                &json!("Always allow Bash(git log:*) in this project"),
                &json!("Reject"),
            ]
        );
        let asked = permission(SessionId::new("s"), call, &[]);
        assert_eq!(asked.options.len(), 2);
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        assert_eq!(approval(&select("once")), Approval::Allow { scope: Scope::Once, rule: None });
        assert_eq!(
            approval(&select("project")),
            Approval::Allow { scope: Scope::Project, rule: None }
        );
        for no in [select("reject"), select("ALLOW"), RequestPermissionOutcome::Cancelled] {
            assert_eq!(approval(&no), Approval::Deny { instead: None });
        }
    }

    #[test]
    fn a_choice_is_found_by_its_place() {
        let question = Question {
            text: "Which?".into(),
            choices: vec!["red".into(), "blue".into()],
            several: false,
        };
        let asked = choice(SessionId::new("s"), (RequestId::new(), 0), &question, Some("scout"));
        let asked = asked.unwrap();
        assert_eq!(asked.options.len(), 3);
        assert_eq!(asked.tool_call.fields.title.as_deref(), Some("scout asks: Which?"));
        assert_eq!(chosen(&select("1"), &question), Some("blue".to_owned()));
        assert_eq!(chosen(&select("7"), &question), None);
        assert_eq!(chosen(&RequestPermissionOutcome::Cancelled, &question), None);
        let free = Question { choices: Vec::new(), ..question };
        assert!(choice(SessionId::new("s"), (RequestId::new(), 0), &free, None).is_none());
    }
}
