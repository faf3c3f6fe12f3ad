//! A server's form as questions for the person at a face, and answers as what the form wants. The server is
//! named in every question: whoever answers must know who asks.

use links::mcp::{Choice, Elicitation, Elicited, Field, Kind};
use serde_json::{Map, Value, json};
use url::Url;

use crate::workspace::{Desk, Question};

/// Fields of one form that are asked.
const FIELDS: usize = 32;
/// Letters of a server's words that are shown.
const WORDS: usize = 600;
/// The answers to a page.
const VISITED: &str = "I have been there";
/// The other one.
const NO: &str = "No";

/// Asks what a server wants to know. An answer that does not fit is asked for once more.
pub async fn ask(desk: &dyn Desk, server: &str, asked: &Elicitation) -> Elicited {
    match asked {
        Elicitation::Page { message, url } => page(desk, server, message, url).await,
        Elicitation::Form { message, fields } if fields.is_empty() => {
            let text = format!("The MCP server {server} asks: {}", short(message));
            let question =
                Question { text, choices: vec!["Yes".to_owned(), NO.to_owned()], several: false };
            match desk.ask(vec![question]).await {
                Ok(answers) if is_yes(answers.first()) => Elicited::Filled(Map::new()),
                Ok(_) | Err(_) => Elicited::Declined,
            }
        }
        Elicitation::Form { message, fields } => {
            let head = format!("The MCP server {server} asks: {}", short(message));
            fill(desk, &head, fields).await
        }
    }
}

/// Has fields filled in below a heading.
pub async fn fill(desk: &dyn Desk, head: &str, fields: &[Field]) -> Elicited {
    let mut filled = Map::new();
    let mut open: Vec<(&Field, Option<String>)> =
        fields.iter().take(FIELDS).map(|field| (field, None)).collect();
    for _ in 0..2 {
        let questions = open.iter().map(|(field, wrong)| question(head, field, wrong.as_deref()));
        let Ok(answers) = desk.ask(questions.collect()).await else { return Elicited::Declined };
        let mut answers = answers.into_iter();
        let mut again = Vec::new();
        for (field, _) in open {
            match read(field, &answers.next().unwrap_or_default()) {
                Ok(Some(value)) => drop(filled.insert(field.name.clone(), value)),
                Ok(None) => {}
                Err(wrong) => again.push((field, Some(wrong))),
            }
        }
        if again.is_empty() {
            return Elicited::Filled(filled);
        }
        open = again;
    }
    Elicited::Cancelled
}

async fn page(desk: &dyn Desk, server: &str, message: &str, url: &Url) -> Elicited {
    let host = url.host_str().unwrap_or("an address without a host");
    let text = format!(
        "The MCP server {server} wants you to visit a page of {host}: {}\n{url}",
        short(message)
    );
    let choices = vec![VISITED.to_owned(), NO.to_owned()];
    let asked = desk.ask(vec![Question { text, choices, several: false }]).await;
    match asked {
        Ok(answers) if answers.first().is_some_and(|answer| answer.trim() == VISITED) => {
            Elicited::Filled(Map::new())
        }
        Ok(_) | Err(_) => Elicited::Declined,
    }
}

fn question(head: &str, field: &Field, wrong: Option<&str>) -> Question {
    let name = if field.title.is_empty() { &field.name } else { &field.title };
    let mut text = format!("{head}\n{}", short(name));
    if !field.description.is_empty() && field.description != *name {
        text = format!("{text}: {}", short(&field.description));
    }
    match (&field.default, field.required) {
        (Some(default), _) => text = format!("{text} (left empty: {})", shown(default)),
        (None, false) => text.push_str(" (may be left empty)"),
        (None, true) => {}
    }
    if let Some(wrong) = wrong {
        text = format!("{text}\nThat did not fit: {wrong}.");
    }
    let titles = |choices: &[Choice]| choices.iter().map(title).map(str::to_owned).collect();
    let (choices, several) = match &field.kind {
        Kind::Text { .. } | Kind::Number { .. } => (Vec::new(), false),
        Kind::Switch => (vec!["Yes".to_owned(), NO.to_owned()], false),
        Kind::OneOf(choices) => (titles(choices), false),
        Kind::SomeOf(choices) => (titles(choices), true),
    };
    Question { text, choices, several }
}

/// What an answer says for a field; none where it says nothing and need not.
fn read(field: &Field, answer: &str) -> Result<Option<Value>, String> {
    let answer = answer.trim();
    if answer.is_empty() {
        return match (&field.default, field.required) {
            (Some(default), _) => Ok(Some(default.clone())),
            (None, true) => Err("it must be filled in".to_owned()),
            (None, false) => Ok(None),
        };
    }
    let value = match &field.kind {
        Kind::Text { least, most, format } => {
            let letters = answer.chars().count() as u64;
            if least.is_some_and(|least| letters < least) || most.is_some_and(|most| letters > most)
            {
                return Err(format!("it needs {} letters", between(*least, *most)));
            }
            well_formed(answer, format.as_deref())?;
            json!(answer)
        }
        Kind::Number { whole, least, most } => number(answer, *whole, *least, *most)?,
        Kind::Switch => match answer.to_lowercase().as_str() {
            "yes" | "y" | "true" | "on" | "1" => json!(true),
            "no" | "n" | "false" | "off" | "0" => json!(false),
            _ => return Err("say yes or no".to_owned()),
        },
        Kind::OneOf(choices) => {
            let chosen = choices.iter().find(|choice| means(choice, answer));
            json!(chosen.ok_or_else(|| format!("`{}` is not to choose", short(answer)))?.value)
        }
        Kind::SomeOf(choices) => json!(some_of(choices, answer)?),
    };
    Ok(Some(value))
}

fn number(
    answer: &str,
    whole: bool,
    least: Option<f64>,
    most: Option<f64>,
) -> Result<Value, String> {
    let number: f64 = answer.parse().map_err(|_| "it must be a number".to_owned())?;
    if !number.is_finite() {
        return Err("it must be a number".to_owned());
    }
    if least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most) {
        return Err(format!("it must be {}", between(least, most)));
    }
    if !whole {
        return Ok(json!(number));
    }
    let number = answer.parse::<i64>().map_err(|_| "it must be a whole number".to_owned())?;
    Ok(json!(number))
}

/// The choices of an answer, with commas between; a title may hold commas itself.
fn some_of(choices: &[Choice], answer: &str) -> Result<Vec<String>, String> {
    let mut chosen = Vec::new();
    let mut rest = answer;
    while !rest.is_empty() {
        let begins = |choice: &Choice| {
            let names = [title(choice), choice.value.as_str()];
            let longest = names.into_iter().filter(|name| {
                let after = rest.strip_prefix(name);
                after.is_some_and(|after| {
                    after.trim_start().is_empty() || after.trim_start().starts_with(',')
                })
            });
            longest.map(str::len).max().filter(|length| *length > 0)
        };
        let fits = choices.iter().filter_map(|choice| Some((choice, begins(choice)?)));
        let Some((choice, length)) = fits.max_by_key(|(_, length)| *length) else {
            return Err(format!("`{}` is not to choose", short(rest)));
        };
        chosen.push(choice.value.clone());
        rest = rest[length..].trim_start().trim_start_matches(',').trim_start();
    }
    Ok(chosen)
}

fn well_formed(answer: &str, format: Option<&str>) -> Result<(), String> {
    let digits = |text: &str, shape: &[usize]| {
        let parts: Vec<&str> = text.split('-').collect();
        parts.len() == shape.len()
            && parts.iter().zip(shape).all(|(part, length)| {
                part.len() == *length && part.bytes().all(|byte| byte.is_ascii_digit())
            })
    };
    let (fits, what) = match format {
        Some("email") => {
            let parts = answer.split_once('@');
            let is_one = parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
            (is_one && !answer.contains(char::is_whitespace), "an e-mail address")
        }
        Some("uri") => (Url::parse(answer).is_ok(), "an address such as https://example.com"),
        Some("date") => (digits(answer, &[4, 2, 2]), "a date such as 2026-01-31"),
        Some("date-time") => {
            let day = answer.split_once(['T', ' ']);
            let fits = day.is_some_and(|(day, time)| digits(day, &[4, 2, 2]) && time.contains(':'));
            (fits, "a time such as 2026-01-31T12:00:00Z")
        }
        Some(_) | None => (true, ""),
    };
    if fits { Ok(()) } else { Err(format!("it must be {what}")) }
}

fn between<T: std::fmt::Display>(least: Option<T>, most: Option<T>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "any".to_owned(),
    }
}

fn title(choice: &Choice) -> &str {
    if choice.title.is_empty() { &choice.value } else { &choice.title }
}

fn means(choice: &Choice, answer: &str) -> bool {
    choice.value == answer || title(choice).eq_ignore_ascii_case(answer)
}

fn is_yes(answer: Option<&String>) -> bool {
    answer.is_some_and(|answer| answer.trim().eq_ignore_ascii_case("yes"))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => short(text),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null | Value::Number(_) | Value::Object(_) => short(&value.to_string()),
    }
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
