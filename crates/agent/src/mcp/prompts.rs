//! Prompts of servers as slash commands: `/mcp__server__prompt words`. Words that are missing are asked for.
//! What comes of one begins a turn like any other prompt, but they are the server's words and not the user's.

use base::protocol::{Delivery, Offer, OfferKind};
use base::{EntryId, Origin, Part, PartBody, TurnId};
use guard::rule::names;
use links::mcp::{Elicited, Field, Kind, Menu, Message, Prompt};
use serde_json::{Map, Value};
use store::{Queued, StoreError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tools::mcp::{Reader, form};

use crate::commands;
use crate::expand::words;
use crate::lane::Answered;
use crate::mind::Mind;
use crate::session::Session;
use crate::turn::{Close, TurnStart, run_turn};

/// Characters of a prompt that are said.
const LONGEST: usize = 100_000;
/// Letters of a description in a list.
const ABOUT: usize = 200;

/// A prompt of a server that the user calls.
#[derive(Debug)]
pub(crate) struct Called {
    server: String,
    /// The prompt's name as a command.
    name: String,
    /// What follows the name.
    said: String,
}

/// The prompt of a server that a command means.
fn prompt_of(menu: &Menu, server: &str, name: &str) -> Option<Prompt> {
    menu.prompts.iter().find(|it| names::mcp(server, &it.name) == name).cloned()
}

/// The prompts of servers, as a face offers them.
pub(crate) fn offers(mind: &Mind, servers: &[String]) -> Vec<Offer> {
    let mut all = Vec::new();
    for server in servers {
        let Some(menu) = mind.mcp.menu(server) else { continue };
        all.extend(menu.prompts.iter().map(|prompt| Offer {
            kind: OfferKind::Command,
            name: names::mcp(server, &prompt.name),
            arguments: arguments(prompt),
            about: line(&prompt.description),
            source: format!("MCP server {server}"),
            color: None,
        }));
    }
    all
}

/// What servers let be read, as a face offers it: patterns are for those who know what to put in.
pub(crate) fn readable(mind: &Mind, servers: &[String]) -> Vec<Offer> {
    let mut all = Vec::new();
    for server in servers {
        let Some(menu) = mind.mcp.menu(server) else { continue };
        let plain = menu.resources.iter().filter(|resource| !resource.is_pattern);
        all.extend(plain.map(|resource| Offer {
            kind: OfferKind::Resource,
            name: format!("{server}:{}", resource.uri),
            arguments: String::new(),
            about: line(&format!("{} {}", resource.name, resource.description)),
            source: format!("MCP server {server}"),
            color: None,
        }));
    }
    all
}

fn arguments(prompt: &Prompt) -> String {
    let argument = |it: &links::mcp::Argument| {
        if it.required { format!("<{}>", it.name) } else { format!("[{}]", it.name) }
    };
    prompt.arguments.iter().map(argument).collect::<Vec<_>>().join(" ")
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(ABOUT).collect()
}

impl Session {
    /// The prompt of a server that a line calls: one it is known to have, or may have as long as it has not told.
    pub(crate) fn called_prompt(&self, line: &str) -> Option<Called> {
        let (name, said) = commands::split(line)?;
        let lending = &self.workspace.mcp;
        let menu = |server: &String| lending.menu(server);
        let has = |server: &&String| {
            menu(server).is_some_and(|menu| prompt_of(&menu, server, name).is_some())
        };
        let may_have = |it: &&String| menu(it).is_none() && name.starts_with(&names::mcp(it, ""));
        let servers = lending.servers();
        let server = servers.iter().find(has).or_else(|| servers.iter().find(may_have))?;
        Some(Called { server: server.clone(), name: name.to_owned(), said: said.to_owned() })
    }

    /// Fetches a prompt and runs the turn it begins. The one who called hears once it is durable, or why there
    /// is none.
    pub(crate) async fn say_prompt(
        &mut self,
        called: Called,
        turn: TurnId,
        answer: oneshot::Sender<Answered>,
        cancel: &CancellationToken,
    ) -> Result<Option<Close>, StoreError> {
        let entry = EntryId::new();
        let said = match self.fetched(&called, cancel).await {
            Ok(parts) => {
                let at = self.mind.clock.now();
                let said = Queued { entry, at, delivery: Delivery::Queue, parts };
                self.hand_over(said).await.map_err(|error| error.to_string())
            }
            Err(why) => Err(why),
        };
        if let Err(why) = said {
            // A face that is gone needs no answer.
            drop(answer.send(Answered::Refused(format!("/{}: {why}", called.name))));
            return Ok(None);
        }
        drop(answer.send(Answered::Begun));
        let start = TurnStart { id: turn, entries: vec![entry] };
        Box::pin(run_turn(self, start, cancel)).await.map(Some)
    }

    async fn fetched(
        &self,
        called: &Called,
        cancel: &CancellationToken,
    ) -> Result<Vec<Part>, String> {
        let Called { server, name, said } = called;
        let stopped = || "stopped".to_owned();
        let lending = &self.workspace.mcp;
        lending.await_menu(server, cancel).await.map_err(|error| error.to_string())?;
        let prompt = lending.menu(server).and_then(|menu| prompt_of(&menu, server, name));
        let prompt = &prompt.ok_or_else(|| format!("{server} has no such prompt"))?;
        let mut given = given(prompt, said);
        let missing = missing(prompt, &given);
        if !missing.is_empty() {
            let head = format!("The prompt {} of {server} needs more", prompt.name);
            let asking = form::fill(&*self.workspace.desk, &head, &missing);
            match cancel.run_until_cancelled(asking).await.ok_or_else(stopped)? {
                Elicited::Filled(more) => given.extend(more),
                Elicited::Declined | Elicited::Cancelled => {
                    return Err(format!("it needs {}", arguments(prompt)));
                }
            }
        }
        let borrower = self.fetching(server, cancel);
        let fetching = self.mind.mcp.prompt(server, &prompt.name, given, borrower);
        let messages = cancel.run_until_cancelled(fetching).await.ok_or_else(stopped)?;
        let messages = messages.map_err(|error| error.to_string())?;
        let reader = Reader::of(&self.workspace, name);
        let parts = parts(messages, server, &reader);
        if parts.is_empty() { Err("it says nothing".to_owned()) } else { Ok(parts) }
    }
}

/// The arguments in what was said: `name=value`, or one after the other; the last takes what is left.
fn given(prompt: &Prompt, said: &str) -> Map<String, Value> {
    let mut given = Map::new();
    let mut plain = Vec::new();
    for word in words(said) {
        let named = word
            .split_once('=')
            .filter(|(name, _)| prompt.arguments.iter().any(|argument| argument.name == *name));
        match named {
            Some((name, value)) => drop(given.insert(name.to_owned(), value.into())),
            None => plain.push(word),
        }
    }
    let mut open = prompt.arguments.iter().filter(|it| !given.contains_key(&it.name)).peekable();
    let mut plain = plain.into_iter();
    let mut more = Vec::new();
    while let Some(argument) = open.next() {
        let value = if open.peek().is_some() {
            plain.next()
        } else {
            let rest: Vec<String> = plain.by_ref().collect();
            (!rest.is_empty()).then(|| rest.join(" "))
        };
        let Some(value) = value else { break };
        more.push((argument.name.clone(), Value::from(value)));
    }
    given.extend(more);
    given
}

/// What to ask for. Where something must be said, the rest may be.
fn missing(prompt: &Prompt, given: &Map<String, Value>) -> Vec<Field> {
    let open = prompt.arguments.iter().filter(|it| !given.contains_key(&it.name));
    if !open.clone().any(|it| it.required) {
        return Vec::new();
    }
    let field = |argument: &links::mcp::Argument| Field {
        name: argument.name.clone(),
        title: String::new(),
        description: argument.description.clone(),
        required: argument.required,
        default: None,
        kind: Kind::Text { least: None, most: None, format: None },
    };
    open.map(field).collect()
}

/// What a server says, as parts of a prompt.
fn parts(messages: Vec<Message>, server: &str, reader: &Reader) -> Vec<Part> {
    let origin = Origin::Mcp(server.to_owned());
    let mut left = LONGEST;
    let mut parts = Vec::new();
    for Message { by_model, content } in messages {
        let (mut text, files) = reader.words_of(vec![content]);
        let file = |file| Part::new(PartBody::File(file), origin.clone());
        parts.extend(files.into_iter().map(file));
        if by_model && !text.is_empty() {
            text = format!("(You have said:)\n{text}");
        }
        let text: String = text.chars().take(left).collect();
        left -= text.chars().count();
        if !text.trim().is_empty() {
            parts.push(Part::new(PartBody::Text { text }, origin.clone()));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use links::mcp::{Argument, Content};
    use serde_json::json;

    use super::*;

    fn prompt(arguments: &[(&str, bool)]) -> Prompt {
        let argument = |(name, required): &(&str, bool)| Argument {
            name: (*name).to_owned(),
            description: String::new(),
            required: *required,
        };
        Prompt {
            name: "p".to_owned(),
            description: String::new(),
            arguments: arguments.iter().map(argument).collect(),
        }
    }

    #[test]
    fn words_become_arguments_by_name_or_place() {
        let prompt = prompt(&[("city", true), ("day", false), ("note", false)]);
        for (said, expected) in [
            ("", json!({})),
            ("Bern", json!({ "city": "Bern" })),
            ("\"St. Gallen\" today", json!({ "city": "St. Gallen", "day": "today" })),
            (
                "day=now Bern bring a coat",
                json!({ "city": "Bern", "day": "now", "note": "bring a coat" }),
            ),
            ("x=1 now", json!({ "city": "x=1", "day": "now" })),
        ] {
            assert_eq!(Value::Object(given(&prompt, said)), expected, "{said}");
        }
        let open = |said: &str| missing(&prompt, &given(&prompt, said)).len();
        assert_eq!((open(""), open("day=now"), open("Bern")), (3, 2, 0));
        assert_eq!(arguments(&prompt), "<city> [day] [note]");
    }

    #[test]
    fn what_a_server_says_is_not_the_users_word() {
        let message =
            |by_model, text: &str| Message { by_model, content: Content::Text(text.to_owned()) };
        let long = "x".repeat(LONGEST);
        let parts = parts(
            vec![message(false, "a"), message(true, "b"), message(false, &long)],
            "s",
            &Reader::default(),
        );
        assert!(parts.iter().all(|part| part.origin == Origin::Mcp("s".to_owned())));
        let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
        assert_eq!(texts[..2], ["a", "(You have said:)\nb"]);
        assert!(texts.concat().chars().count() <= LONGEST);
    }
}
