//! What guests are answered with: words for models, the same as fields for programs.

use base::protocol::{Ending, Hit, SessionSummary};
use base::{SessionId, Timestamp};
use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::account::{Account, End};

/// What came of a prompt.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answered {
    /// The session, which `continue_session` goes on with.
    session: String,
    /// The folder it works in.
    folder: String,
    /// The model that answered.
    model: Option<String>,
    /// The answer.
    text: String,
    /// How it ended.
    ending: Word,
    /// Why it ended so, where it did not answer.
    reason: Option<String>,
    /// What it cost in US dollars, where the price is known.
    cost_usd: Option<f64>,
    /// Tokens of all prompts.
    input_tokens: u64,
    /// Tokens of all answers.
    output_tokens: u64,
    /// Calls of tools that were not allowed to run, and why.
    denied: Vec<String>,
}

/// How a prompt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    Answered,
    Stopped,
    OverBudget,
    GoingInCircles,
    Halted,
    Failed,
}

/// Sessions, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Sessions {
    /// The sessions.
    sessions: Vec<Told>,
}

/// Sessions in which something was said, best first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hits {
    /// The sessions.
    hits: Vec<Found>,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
struct Told {
    /// Its id, which `continue_session` wants.
    session: String,
    /// Its title.
    title: Option<String>,
    /// The folder it works in.
    folder: String,
    /// When something was last said in it.
    updated: String,
    /// The model that answered last.
    model: Option<String>,
    /// What it has cost in US dollars, as far as prices are known.
    cost_usd: f64,
}

/// A session in which something was said.
#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    #[serde(flatten)]
    told: Told,
    /// The words around.
    snippet: String,
}

impl Answered {
    /// What came of a prompt.
    pub(super) fn of(session: SessionId, folder: String, account: Account) -> Self {
        let (ending, reason) = match account.end {
            Some(End::Done(Ending::Answered)) => (Word::Answered, None),
            Some(End::Done(Ending::Cancelled)) | None => {
                (Word::Stopped, Some("it was stopped; continue_session takes it up".to_owned()))
            }
            Some(End::Done(Ending::OverBudget(why))) => (Word::OverBudget, Some(why)),
            Some(End::Done(Ending::GoingInCircles(why))) => (Word::GoingInCircles, Some(why)),
            Some(End::Done(Ending::Halted(why))) => (Word::Halted, Some(why)),
            Some(End::Failed(why)) => (Word::Failed, Some(why)),
        };
        Self {
            session: session.to_string(),
            folder,
            model: account.model.map(|model| model.to_string()),
            text: account.text,
            ending,
            reason,
            cost_usd: account.cost.map(base::Money::as_dollars),
            input_tokens: account.usage.prompt(),
            output_tokens: account.usage.output,
            denied: account.denied,
        }
    }

    /// The answer first, then what is needed to go on.
    pub(super) fn result(&self) -> CallToolResult {
        let mut after = format!("session: {}", self.session);
        if let Some(cost) = self.cost_usd {
            after = format!("{after}\ncost: ${cost:.4}");
        }
        if let Some(reason) = &self.reason {
            after = format!("ended early: {reason}\n{after}");
        }
        for denied in &self.denied {
            after = format!("not allowed: {denied}\n{after}");
        }
        let answer = Some(&self.text).filter(|text| !text.is_empty());
        let texts = answer.into_iter().chain([&after]).map(ContentBlock::text);
        let mut result = structured(texts.collect(), self);
        result.is_error = Some(matches!(
            self.ending,
            Word::Stopped | Word::OverBudget | Word::GoingInCircles | Word::Failed
        ));
        result
    }
}

impl Sessions {
    /// Sessions, as guests are told of them.
    pub(super) fn of(sessions: Vec<SessionSummary>) -> Self {
        Self { sessions: sessions.into_iter().map(Told::of).collect() }
    }

    /// A line a session.
    pub(super) fn result(&self) -> CallToolResult {
        let lines: Vec<String> = self.sessions.iter().map(Told::line).collect();
        structured(vec![ContentBlock::text(or_none(&lines))], self)
    }
}

impl Hits {
    /// What was found, as guests are told of it.
    pub(super) fn of(hits: Vec<Hit>) -> Self {
        let found = |hit: Hit| Found { told: Told::of(hit.session), snippet: hit.snippet };
        Self { hits: hits.into_iter().map(found).collect() }
    }

    /// Two lines a session.
    pub(super) fn result(&self) -> CallToolResult {
        let lines = self.hits.iter().map(|hit| format!("{}\n  {}", hit.told.line(), hit.snippet));
        structured(vec![ContentBlock::text(or_none(&lines.collect::<Vec<_>>()))], self)
    }
}

impl Told {
    fn of(session: SessionSummary) -> Self {
        Self {
            session: session.id.to_string(),
            title: session.title,
            folder: session.folder,
            updated: time(session.updated),
            model: session.model.map(|model| model.to_string()),
            cost_usd: session.cost.as_dollars(),
        }
    }

    fn line(&self) -> String {
        let title = self.title.as_deref().unwrap_or("(no title)");
        format!("{}  {}  {title}  {}", self.session, self.updated, self.folder)
    }
}

/// A time as programs and people read it.
fn time(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default().to_string()
}

/// Why nothing was done, for the guest to mend.
pub(super) fn failed(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

fn structured(content: Vec<ContentBlock>, fields: &impl Serialize) -> CallToolResult {
    let mut result = CallToolResult::success(content);
    // Fields of words and numbers always are JSON.
    result.structured_content = serde_json::to_value(fields).ok();
    result
}

fn or_none(lines: &[String]) -> String {
    if lines.is_empty() { "There are none.".to_owned() } else { lines.join("\n") }
}
