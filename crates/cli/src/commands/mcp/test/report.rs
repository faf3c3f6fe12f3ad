//! What was seen of a server, for people and for programs.

use std::time::Duration;

use links::mcp::connection::{About, Lifecycle};
use links::mcp::{Answer, Content, Menu};
use serde_json::{Value, json};

use super::Arguments;
use crate::commands::mcp::connect::Connected;
use crate::commands::session::text;
use crate::render;

/// Most characters shown of what a server says.
const WORDS: usize = 100;
/// Most characters shown of what came of a call.
const SEEN: usize = 2_000;
/// Names shown of a long list.
const NAMES: usize = 40;

/// What was seen of a server.
#[derive(Debug)]
pub(super) struct Report {
    name: String,
    about: About,
    menu: Menu,
    took: Duration,
    pub(super) calls: Vec<Call>,
    /// Whether it also speaks as older servers do; none where that was not tried.
    pub(super) older: Option<Result<(), String>>,
    pub(super) log: Vec<String>,
}

/// A call and what came of it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Arguments,
    pub(super) ending: Ending,
    /// What the server asked back.
    pub(super) asked: Vec<String>,
    pub(super) took: Duration,
    /// Whether the user named the tool.
    pub(super) is_given: bool,
}

/// What came of a call.
#[derive(Debug)]
pub(super) enum Ending {
    Answered(Answer),
    /// The server says that it failed.
    Failed(Answer),
    /// The server would not have it.
    Refused(String),
    /// There was no answer.
    Broken(String),
}

impl Call {
    /// The call in a line.
    fn line(&self) -> String {
        let arguments = text::short(&Value::Object(self.arguments.clone()).to_string(), WORDS);
        let came = match &self.ending {
            Ending::Answered(answer) => format!("ok: {}", said(answer)),
            Ending::Failed(answer) => format!("failed: {}", said(answer)),
            Ending::Refused(why) => format!("refused: {}", text::short(why, SEEN)),
            Ending::Broken(why) => format!("broken: {}", text::short(why, SEEN)),
        };
        format!("{} {arguments} {:.1} s, {came}", text::line(&self.tool), self.took.as_secs_f64())
    }

    fn json(&self) -> Value {
        let (ending, says) = match &self.ending {
            Ending::Answered(answer) => ("ok", content(answer)),
            Ending::Failed(answer) => ("failed", content(answer)),
            Ending::Refused(why) => ("refused", json!(why)),
            Ending::Broken(why) => ("broken", json!(why)),
        };
        json!({
            "tool": self.tool,
            "arguments": self.arguments,
            "outcome": ending,
            "answer": says,
            "asked": self.asked,
            "milliseconds": self.took.as_millis(),
        })
    }
}

impl Report {
    pub(super) fn new(name: &str, connected: &Connected) -> Self {
        Self {
            name: name.to_owned(),
            about: connected.about.clone(),
            menu: connected.menu.clone(),
            took: connected.took,
            calls: Vec::new(),
            older: None,
            log: Vec::new(),
        }
    }

    /// The report for people.
    pub(super) fn text(&self) -> String {
        let About { name, protocol, instructions, .. } = &self.about;
        let who = name.as_deref().unwrap_or("no name of its own");
        let mut rows = vec![format!(
            "{}: {}, protocol {protocol}, {:.1} s",
            self.name,
            text::short(who, WORDS),
            self.took.as_secs_f64()
        )];
        rows.extend(self.older.iter().map(|older| match older {
            Ok(()) => "also begins with initialize, as older clients do".to_owned(),
            Err(why) => format!("does not begin with initialize: {}", text::short(why, WORDS)),
        }));
        rows.extend(instructions.iter().map(|it| format!("says: {}", text::short(it, WORDS))));
        let menu = &self.menu;
        rows.extend(names("tools", menu.tools.iter().map(|it| it.name.as_str())));
        rows.extend(names("prompts", menu.prompts.iter().map(|it| it.name.as_str())));
        rows.extend(names("resources", menu.resources.iter().map(|it| it.uri.as_str())));
        for call in &self.calls {
            rows.push(call.line());
            let asked = call.asked.iter().map(|it| text::short(it, WORDS));
            rows.extend(asked.map(|it| format!("{} asked for {it}", call.tool)));
        }
        if !self.calls.is_empty() {
            let count =
                |is: fn(&Ending) -> bool| self.calls.iter().filter(|call| is(&call.ending)).count();
            rows.push(format!(
                "calls: {} ok, {} failed, {} refused, {} broken",
                count(|it| matches!(it, Ending::Answered(_))),
                count(|it| matches!(it, Ending::Failed(_))),
                count(|it| matches!(it, Ending::Refused(_))),
                count(|it| matches!(it, Ending::Broken(_))),
            ));
        }
        render::lines(rows)
    }

    /// The report for programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "server": self.about.name,
            "protocol": self.about.protocol,
            "initialize": self.about.lifecycle == Lifecycle::Older || matches!(self.older, Some(Ok(()))),
            "instructions": self.about.instructions,
            "milliseconds": self.took.as_millis(),
            "tools": self.menu.tools,
            "prompts": self.menu.prompts,
            "resources": self.menu.resources,
            "calls": self.calls.iter().map(Call::json).collect::<Vec<_>>(),
            "log": self.log,
        })
    }
}

fn names<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = names.map(text::line).collect();
    let more = names.len().checked_sub(NAMES + 1).map(|rest| format!(" and {} more", rest + 1));
    let shown = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    let count = names.len();
    (count > 0).then(|| format!("{count} {what}: {shown}{}", more.unwrap_or_default()))
}

/// An answer in a line.
fn said(answer: &Answer) -> String {
    let pieces: Vec<String> = answer.content.iter().map(piece).collect();
    let structured = answer.structured.as_ref().filter(|_| pieces.is_empty());
    let structured = structured.map(ToString::to_string);
    let all = pieces.into_iter().chain(structured).collect::<Vec<_>>().join("; ");
    if all.is_empty() { "nothing".to_owned() } else { text::short(&all, SEEN) }
}

fn piece(content: &Content) -> String {
    match content {
        Content::Text(words) => words.clone(),
        Content::Picture(_) => "a picture".to_owned(),
        Content::Sound(file) => format!("sound ({})", file.media_type),
        Content::Link { uri, .. } => format!("a link to {uri}"),
        Content::Resource { uri, text } => format!("{uri} ({} bytes)", text.len()),
        Content::Blob { uri, file } => format!("{uri} ({})", file.media_type),
    }
}

fn content(answer: &Answer) -> Value {
    let pieces = answer.content.iter().map(|content| match content {
        Content::Text(words) => json!({"type": "text", "text": words}),
        Content::Picture(_) => json!({"type": "picture"}),
        Content::Sound(file) => json!({"type": "sound", "media_type": file.media_type}),
        Content::Link { uri, name, .. } => json!({"type": "link", "uri": uri, "name": name}),
        Content::Resource { uri, text } => json!({"type": "resource", "uri": uri, "text": text}),
        Content::Blob { uri, file } => {
            json!({"type": "resource", "uri": uri, "media_type": file.media_type})
        }
    });
    json!({"content": pieces.collect::<Vec<_>>(), "structured": answer.structured})
}
