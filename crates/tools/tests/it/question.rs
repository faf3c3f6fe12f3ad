//! `question`.

use std::sync::{Arc, Mutex};

use base::Origin;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tools::{Desk, DeskError, Question, ToolError};

use crate::room::Room;

/// A person who answers every question with the same words.
#[derive(Default)]
struct Person {
    asked: Mutex<Vec<Question>>,
}

impl Desk for Person {
    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>> {
        let answers = questions.iter().map(|question| format!("re: {}", question.text)).collect();
        *self.asked.lock().unwrap() = questions;
        Box::pin(async { Ok(answers) })
    }
}

async fn room_with_person() -> (Room, Arc<Person>) {
    let mut room = Room::new().await;
    let person = Arc::new(Person::default());
    Arc::get_mut(&mut room.workspace).unwrap().desk = person.clone();
    (room, person)
}

#[tokio::test]
async fn each_question_is_shown_with_its_answer() {
    let (room, person) = room_with_person().await;
    let questions = json!([
        { "question": "Which?", "choices": ["a", { "label": "b" }], "several": true },
        "Why?",
    ]);
    let output = room.call("question", json!({ "questions": questions })).await.unwrap();
    assert_eq!(output.text, "Q: Which?\nA: re: Which?\n\nQ: Why?\nA: re: Why?");
    assert_eq!(output.origin, Origin::User);
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(asked[0].choices, ["a", "b"]);
    assert!(asked[0].several && !asked[1].several && asked[1].choices.is_empty());
}

#[tokio::test]
async fn other_ways_to_write_it_are_understood() {
    let (room, _person) = room_with_person().await;
    let text = json!([{ "question": "Which?", "options": ["a"] }]).to_string();
    for questions in [json!("Which?"), json!({ "question": "Which?" }), Value::String(text)] {
        let output = room.call("question", json!({ "questions": questions })).await.unwrap();
        assert_eq!(output.text, "Q: Which?\nA: re: Which?");
    }
    for questions in [json!([]), json!(["a", "b", "c", "d", "e"]), json!([" "])] {
        let error = room.call("question", json!({ "questions": questions })).await.unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)), "{error}");
    }
}

#[tokio::test]
async fn where_nobody_is_the_model_decides() {
    let room = Room::new().await;
    let error = room.call("question", json!({ "questions": ["Which?"] })).await.unwrap_err();
    assert!(error.to_string().contains("decide yourself"), "{error}");
}
