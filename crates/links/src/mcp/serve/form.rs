//! What somebody must answer, as a form a guest's user fills in; and back.

use base::Block;
use base::protocol::{Approval, Op, Question, Scope};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};

use super::account::{Asked, What};

/// Most characters of what a call would change.
const BODY_CHARS: usize = 4000;
/// What the model hears where nobody answers its questions.
const NO_ANSWER: &str = "Nobody answered; decide yourself.";
/// What the model hears where nobody can be asked.
const NOBODY: &str =
    "nobody can be asked for permission here; do it another way, or say what you would need";
const DECISION: &str = "decision";
const INSTEAD: &str = "instead";
const ALLOW: &str = "allow once";
const DENY: &str = "deny";

/// The form for a question; none where it cannot be put into one.
pub(super) fn form(asked: &Asked) -> Option<ElicitRequestParams> {
    let (message, properties, required) = match &asked.what {
        What::Approval { title, reason, body } => {
            let who = asked.agent.as_deref().map_or_else(
                || "Caiman wants to".to_owned(),
                |agent| format!("Caiman's agent {agent} wants to"),
            );
            let body = body.as_ref().map(shown).unwrap_or_default();
            let message = format!("{who}: {title}\n{reason}{body}");
            let properties = json!({
                DECISION: {
                    "type": "string", "title": "Decision", "enum": [ALLOW, DENY], "default": DENY,
                },
                INSTEAD: {
                    "type": "string", "title": "Instead",
                    "description": "What it should do instead, where you deny it.",
                },
            });
            (message, properties, vec![DECISION.to_owned()])
        }
        What::Words(questions) => {
            let fields = questions.iter().enumerate();
            let fields = fields.map(|(at, question)| (name(at), field(question)));
            let properties = Value::Object(fields.collect::<Map<_, _>>());
            let message = "Caiman has a question.".to_owned();
            (message, properties, (0..questions.len()).map(name).collect())
        }
    };
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let Value::Object(schema) = schema else { return None };
    let requested_schema = ElicitationSchema::from_json_schema(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// What the mind is told when a form comes back. Whatever is not a plain yes is a no.
pub(super) fn answer(asked: &Asked, filled: &ElicitResult) -> Op {
    let content = filled.content.as_ref().filter(|_| filled.action == ElicitationAction::Accept);
    let request = asked.request;
    match &asked.what {
        What::Approval { .. } => {
            let said = |name: &str| content.and_then(|content| content[name].as_str());
            let approval = if said(DECISION) == Some(ALLOW) {
                Approval::Allow { scope: Scope::Once, rule: None }
            } else {
                let instead = said(INSTEAD).filter(|instead| !instead.trim().is_empty());
                Approval::Deny { instead: instead.map(str::to_owned) }
            };
            Op::Approve { request, approval }
        }
        What::Words(questions) => {
            let words = |at: usize| content.and_then(|content| words(&content[&name(at)]));
            let answers = (0..questions.len())
                .map(|at| words(at).unwrap_or_else(|| NO_ANSWER.to_owned()))
                .collect();
            Op::Answer { request, answers }
        }
    }
}

/// What the mind is told where nobody can be asked.
pub(super) fn nobody(asked: &Asked) -> Op {
    let request = asked.request;
    match &asked.what {
        What::Approval { .. } => {
            let approval = Approval::Deny { instead: Some(NOBODY.to_owned()) };
            Op::Approve { request, approval }
        }
        What::Words(questions) => {
            Op::Answer { request, answers: vec![NO_ANSWER.to_owned(); questions.len()] }
        }
    }
}

/// The name of a question's field.
fn name(at: usize) -> String {
    format!("question{}", at + 1)
}

fn field(question: &Question) -> Value {
    let Question { text, choices, several } = question;
    match (choices.is_empty(), several) {
        (true, _) => json!({ "type": "string", "title": text }),
        (false, false) => json!({ "type": "string", "title": text, "enum": choices }),
        (false, true) => json!({
            "type": "array", "title": text, "items": { "type": "string", "enum": choices },
        }),
    }
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let chosen: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Some(chosen.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// What a call would change, as far as words can show it.
fn shown(body: &Block) -> String {
    let text = match body {
        Block::Text { text } => text.clone(),
        Block::Diff { path, unified } => format!("{path}\n{unified}"),
        Block::Table { .. } | Block::Image { .. } | Block::Todos { .. } | Block::Tree { .. } => {
            return String::new();
        }
    };
    let is_long = text.chars().count() > BODY_CHARS;
    let text: String = text.chars().take(BODY_CHARS).collect();
    format!("\n\n{text}{}", if is_long { "\n…" } else { "" })
}

#[cfg(test)]
mod tests {
    use base::RequestId;

    use super::*;

    fn approval() -> Asked {
        let (title, reason) = ("Run rm -r x".to_owned(), "no rule allows it".to_owned());
        let unified = "@@ -1 +1 @@\n-a\n+b\n".to_owned();
        let body = Some(Block::Diff { path: "a.txt".to_owned(), unified });
        let what = What::Approval { title, reason, body };
        Asked { request: RequestId::new(), agent: None, what }
    }

    fn questions() -> Asked {
        let question = |text: &str, choices: &[&str], several| Question {
            text: text.to_owned(),
            choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
            several,
        };
        let what = What::Words(vec![
            question("Which?", &["a", "b"], false),
            question("Which ones?", &["a", "b"], true),
            question("Why?", &[], false),
        ]);
        Asked { request: RequestId::new(), agent: Some("scout".to_owned()), what }
    }

    #[test]
    fn only_a_plain_yes_allows_and_only_this_once() {
        let asked = approval();
        let accepted = |content: Value| {
            answer(&asked, &ElicitResult::new(ElicitationAction::Accept).with_content(content))
        };
        let yes = Approval::Allow { scope: Scope::Once, rule: None };
        let request = asked.request;
        let allowed = accepted(json!({ DECISION: ALLOW }));
        assert_eq!(allowed, Op::Approve { request, approval: yes });
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let lying =
            ElicitResult::new(ElicitationAction::Cancel).with_content(json!({ DECISION: ALLOW }));
        for op in [
            accepted(json!({})),
            accepted(json!({ DECISION: "allow" })),
            accepted(json!({ DECISION: [ALLOW] })),
            accepted(json!("allow once")),
            answer(&asked, &declined),
            answer(&asked, &lying),
            nobody(&asked),
        ] {
            let denied = matches!(&op, Op::Approve { approval: Approval::Deny { .. }, .. });
            assert!(denied, "{op:?}");
        }
    }

    #[test]
    fn a_form_says_what_would_be_done_and_why_it_is_asked() {
        let form = serde_json::to_value(form(&approval()).unwrap()).unwrap();
        let message = form["message"].as_str().unwrap();
        for word in ["Run rm -r x", "no rule allows it", "a.txt", "+b"] {
            assert!(message.contains(word), "{message}");
        }
        assert_eq!(form["requestedSchema"]["properties"][DECISION]["enum"], json!([ALLOW, DENY]));
        assert_eq!(form["requestedSchema"]["required"], json!([DECISION]));
    }

    #[test]
    fn each_question_is_a_field_and_each_answer_words() {
        let asked = questions();
        let form = serde_json::to_value(form(&asked).unwrap()).unwrap();
        assert_eq!(form["requestedSchema"]["properties"].as_object().unwrap().len(), 3);
        let filled = json!({ "question1": "b", "question2": ["a", "b"] });
        let filled = ElicitResult::new(ElicitationAction::Accept).with_content(filled);
        let answers = vec!["b".to_owned(), "a, b".to_owned(), NO_ANSWER.to_owned()];
        assert_eq!(answer(&asked, &filled), Op::Answer { request: asked.request, answers });
    }
}
