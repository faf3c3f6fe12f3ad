//! Forms filled in by a desk that answers what it was told to.

use std::sync::Mutex;

use futures::future::BoxFuture;
use proptest::prelude::*;

use super::*;
use crate::workspace::DeskError;

/// Answers, one list a time it is asked; declines when it has no more.
struct Script {
    answers: Mutex<Vec<Vec<&'static str>>>,
    asked: Mutex<Vec<Question>>,
}

impl Script {
    fn new(answers: &[&[&'static str]]) -> Self {
        let answers = answers.iter().rev().map(|list| list.to_vec()).collect();
        Self { answers: Mutex::new(answers), asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|question| question.text.clone()).collect()
    }
}

impl Desk for Script {
    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>> {
        self.asked.lock().unwrap().extend(questions);
        let answers = self.answers.lock().unwrap().pop();
        let answers = answers.map(|list| list.into_iter().map(str::to_owned).collect());
        Box::pin(async move { answers.ok_or(DeskError::Declined) })
    }
}

fn field(name: &str, kind: Kind) -> Field {
    Field {
        name: name.to_owned(),
        title: String::new(),
        description: String::new(),
        required: true,
        default: None,
        kind,
    }
}

fn text() -> Kind {
    Kind::Text { least: None, most: None, format: None }
}

fn choices(names: &[(&str, &str)]) -> Vec<Choice> {
    let choice = |(value, title): &(&str, &str)| Choice {
        value: (*value).to_owned(),
        title: (*title).to_owned(),
    };
    names.iter().map(choice).collect()
}

fn form(fields: Vec<Field>) -> Elicitation {
    Elicitation::Form { message: "Who are you?".to_owned(), fields }
}

#[tokio::test]
async fn a_form_is_filled_in_by_type() {
    let fields = vec![
        field("name", text()),
        field("age", Kind::Number { whole: true, least: Some(0.0), most: None }),
        field("is_here", Kind::Switch),
        field("colour", Kind::OneOf(choices(&[("r", "Red"), ("b", "Blue")]))),
        field("likes", Kind::SomeOf(choices(&[("a", "Tea, hot"), ("b", "Tea"), ("c", "Cake")]))),
    ];
    let desk = Script::new(&[&["Ada", "36", "Yes", "Blue", "Tea, hot, Cake"]]);
    let filled = ask(&desk, "forms", &form(fields)).await;
    let Elicited::Filled(filled) = filled else { panic!("{filled:?}") };
    let expected =
        json!({ "name": "Ada", "age": 36, "is_here": true, "colour": "b", "likes": ["a", "c"] });
    assert_eq!(Value::Object(filled), expected);
    assert!(desk.asked()[0].starts_with("The MCP server forms asks: Who are you?"));
}

#[tokio::test]
async fn what_does_not_fit_is_asked_once_more() {
    let mail = Kind::Text { least: None, most: None, format: Some("email".to_owned()) };
    let fields = vec![field("mail", mail), field("name", text())];
    let desk = Script::new(&[&["nobody", "Ada"], &["ada@example.com"]]);
    let filled = ask(&desk, "forms", &form(fields.clone())).await;
    let expected = json!({ "mail": "ada@example.com", "name": "Ada" });
    assert_eq!(filled, Elicited::Filled(expected.as_object().unwrap().clone()));
    let asked = desk.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[2].contains("That did not fit: it must be an e-mail address."), "{}", asked[2]);

    let desk = Script::new(&[&["nobody", "Ada"], &["still nobody"]]);
    assert_eq!(ask(&desk, "forms", &form(fields)).await, Elicited::Cancelled);
}

#[tokio::test]
async fn what_is_left_empty_is_the_default_or_left_out() {
    let with_default = Field { default: Some(json!("UTC")), ..field("zone", text()) };
    let optional = Field { required: false, ..field("more", text()) };
    let desk = Script::new(&[&["", ""]]);
    let filled = ask(&desk, "forms", &form(vec![with_default, optional])).await;
    assert_eq!(filled, Elicited::Filled(json!({ "zone": "UTC" }).as_object().unwrap().clone()));
    assert!(desk.asked()[0].ends_with("(left empty: UTC)"));
    assert!(desk.asked()[1].ends_with("(may be left empty)"));
}

#[tokio::test]
async fn who_does_not_answer_declines() {
    let desk = Script::new(&[]);
    assert_eq!(ask(&desk, "forms", &form(vec![field("a", text())])).await, Elicited::Declined);
    let page = Elicitation::Page {
        message: "Sign in".to_owned(),
        url: "https://login.example/x?y=1".parse().unwrap(),
    };
    assert_eq!(ask(&desk, "forms", &page).await, Elicited::Declined);
    let asked = desk.asked();
    assert!(asked[1].contains("of login.example"), "{}", asked[1]);
    let desk = Script::new(&[&[VISITED]]);
    assert_eq!(ask(&desk, "forms", &page).await, Elicited::Filled(Map::new()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn no_answer_breaks_a_field(answer in ".{0,20}", least in 0_u64..5, whole in any::<bool>()) {
        for kind in [
            Kind::Text { least: Some(least), most: Some(9), format: Some("date-time".to_owned()) },
            Kind::Number { whole, least: Some(0.0), most: Some(9.0) },
            Kind::Switch,
            Kind::OneOf(choices(&[("a", ""), ("", "é")])),
            Kind::SomeOf(choices(&[("a", ","), ("", "é"), ("", "")])),
        ] {
            let _read = read(&field("x", kind), &answer);
        }
    }

    #[test]
    fn choices_come_back_as_they_were_picked(picked in prop::collection::btree_set(0_usize..4, 1..4)) {
        let all = choices(&[("1", "one"), ("2", "one, two"), ("3", "two"), ("4", "one two")]);
        let titles: Vec<&str> = picked.iter().map(|at| title(&all[*at])).collect();
        let expected: Vec<String> = picked.iter().map(|at| all[*at].value.clone()).collect();
        let read = some_of(&all, &titles.join(", ")).unwrap();
        // "one" and "two" together read as "one, two": the same words.
        if !(picked.contains(&0) && picked.contains(&2) && !picked.contains(&1)) {
            prop_assert_eq!(read, expected);
        }
    }
}
