//! Questions of the model as a form, for editors that show forms.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1::{
    CreateElicitationRequest, ElicitationAction, ElicitationContentValue, ElicitationFormMode,
    ElicitationSchema, ElicitationSessionScope, MultiSelectPropertySchema, SessionId,
    StringPropertySchema,
};
use base::protocol::Question;

use super::ask::DECLINED;

/// The form that asks all questions at once. No field must be filled in: the user may not want to answer.
pub(super) fn form(
    session: SessionId,
    questions: &[Question],
    agent: Option<&str>,
) -> CreateElicitationRequest {
    let mut schema = ElicitationSchema::new();
    for (number, question) in questions.iter().enumerate() {
        let (name, title) = (name(number), question.text.clone());
        let choices = question.choices.clone();
        schema = match (choices.is_empty(), question.several) {
            (true, _) => schema.property(name, StringPropertySchema::new().title(title), false),
            (false, true) => {
                schema.property(name, MultiSelectPropertySchema::new(choices).title(title), false)
            }
            (false, false) => {
                let field = StringPropertySchema::new().title(title).enum_values(choices);
                schema.property(name, field, false)
            }
        };
    }
    let mode = ElicitationFormMode::new(ElicitationSessionScope::new(session), schema);
    let asks = format!("{} asks", agent.unwrap_or("The model"));
    let message = match questions {
        [only] => format!("{asks}: {}", only.text),
        _ => format!("{asks} {} questions", questions.len()),
    };
    CreateElicitationRequest::new(mode, message)
}

/// What a filled-in form says: one text a question.
pub(super) fn answers(action: &ElicitationAction, questions: &[Question]) -> Vec<String> {
    let accepted =
        if let ElicitationAction::Accept(it) = action { it.content.clone() } else { None };
    let filled: BTreeMap<_, _> = accepted.unwrap_or_default();
    let answer = |number| match filled.get(&name(number)) {
        Some(ElicitationContentValue::String(text)) if !text.trim().is_empty() => text.clone(),
        Some(ElicitationContentValue::StringArray(texts)) if !texts.is_empty() => texts.join(", "),
        Some(ElicitationContentValue::Integer(number)) => number.to_string(),
        Some(ElicitationContentValue::Number(number)) => number.to_string(),
        Some(ElicitationContentValue::Boolean(is_so)) => is_so.to_string(),
        Some(_) | None => DECLINED.to_owned(),
    };
    (0..questions.len()).map(answer).collect()
}

fn name(number: usize) -> String {
    format!("answer_{}", number + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn questions() -> Vec<Question> {
        let question = |text: &str, choices: &[&str], several| Question {
            text: text.to_owned(),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            several,
        };
        vec![
            question("Which?", &["red", "blue"], false),
            question("What else?", &[], false),
            question("Where?", &["here", "there"], true),
        ]
    }

    #[test]
    fn each_question_is_a_field_that_may_stay_empty() {
        let form = form(SessionId::new("s"), &questions(), Some("scout"));
        let told = serde_json::to_value(form).unwrap();
        assert_eq!((&told["mode"], &told["sessionId"]), (&json!("form"), &json!("s")));
        assert_eq!(told["message"], "scout asks 3 questions");
        let fields = &told["requestedSchema"]["properties"];
        assert_eq!(fields["answer_1"]["enum"], json!(["red", "blue"]));
        assert_eq!(fields["answer_2"]["type"], "string");
        assert_eq!(fields["answer_3"]["type"], "array");
        assert!(told["requestedSchema"]["required"].as_array().is_none_or(Vec::is_empty));
    }

    #[test]
    fn what_is_left_empty_was_not_answered() {
        let read = |action| {
            let action: ElicitationAction = serde_json::from_value(action).unwrap();
            answers(&action, &questions())
        };
        let content = json!({ "answer_1": "blue", "answer_2": " ", "answer_3": ["here", "there"] });
        let filled = read(json!({ "action": "accept", "content": content }));
        assert_eq!(filled, ["blue", DECLINED, "here, there"]);
        assert_eq!(read(json!({ "action": "decline" })), [DECLINED; 3]);
        assert_eq!(read(json!({ "action": "cancel" })), [DECLINED; 3]);
    }
}
