//! What look-ups are answered with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Event, Mode, WaitingPrompt};
use crate::block::Todo;
use crate::clock::Timestamp;
use crate::id::{CallId, EntryId, SessionId};
use crate::model::{Effort, ModelRef, Money, Usage};
use crate::transcript::{Entry, Part};

/// The answer to a [`super::Query`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// To `Sessions` and `Session`.
    Sessions {
        /// Newest first.
        sessions: Vec<SessionSummary>,
    },
    /// To `Entries`.
    Entries {
        /// Oldest first.
        entries: Vec<Entry>,
        /// Model calls of the session and its sub-agents in the time of these entries, oldest first; those for
        /// titles are left out.
        paid: Vec<Paid>,
    },
    /// To `Children`.
    Children {
        /// Each after the one it works for.
        children: Vec<ChildState>,
    },
    /// To `State`.
    State(Box<SessionState>),
    /// To `Find`.
    Found {
        /// Best first.
        hits: Vec<Hit>,
    },
    /// To `Models`.
    Models {
        /// In catalogue order.
        models: Vec<ModelChoice>,
    },
    /// To `Offers`.
    Offers {
        /// Commands first, then skills, then agents; each kind by name.
        offers: Vec<Offer>,
    },
    /// To `Files`.
    Files {
        /// Paths below the folder, best first; a folder ends in a slash.
        paths: Vec<String>,
    },
    /// To `History`.
    History {
        /// Newest first, each once.
        prompts: Vec<String>,
    },
    /// To `Changes`.
    Changes {
        /// By path.
        changes: Vec<Change>,
    },
    /// To `Checkpoints`.
    Checkpoints {
        /// Newest first.
        checkpoints: Vec<Checkpoint>,
    },
    /// To `Context`.
    Context(Bill),
    /// To `Recall`.
    Recalled {
        /// What was kept.
        value: Option<String>,
    },
    /// To `Place`.
    Place(Box<Place>),
    /// To `Providers`.
    Providers {
        /// Those with a key or found on this machine first.
        providers: Vec<ProviderState>,
    },
    /// To `Servers`.
    Servers {
        /// By name.
        servers: Vec<ServerState>,
    },
}

/// A session as a list shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// Its title; none before the first prompt.
    pub title: Option<String>,
    /// The folder it works in.
    pub folder: String,
    /// When it began.
    pub created: Timestamp,
    /// When its newest entry was made.
    pub updated: Timestamp,
    /// How many entries it has, over all branches.
    pub entries: u64,
    /// The model that answered last.
    pub model: Option<ModelRef>,
    /// Tokens of all its calls.
    pub usage: Usage,
    /// Money of all its calls with a known price.
    pub cost: Money,
}

/// What a face that opens a session must know of it beside its entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionState {
    /// The session as a list shows it.
    pub summary: SessionSummary,
    /// The model that will answer.
    pub model: ModelRef,
    /// Its window in tokens; 0 when unknown.
    pub window: u64,
    /// Tokens in its context, about.
    pub used: u64,
    /// How hard it thinks; none for the model's own choice.
    pub effort: Option<Effort>,
    /// What may be done without asking.
    pub mode: Mode,
    /// Since when a turn runs; none while none does.
    pub running_since: Option<Timestamp>,
    /// Whether the last turn broke off and could go on.
    pub is_unfinished: bool,
    /// Prompts that wait.
    pub waiting: Vec<WaitingPrompt>,
    /// What is to be done, as the model has written it down.
    pub todos: Vec<Todo>,
    /// What goes on, as events have told it: sub-agents and own commands at work, then questions that wait,
    /// sub-agents' too. A face takes them as if they came now.
    pub going_on: Vec<Event>,
    /// What it and its sub-agents have cost, by model.
    pub spent: Vec<Spent>,
}

/// A sub-agent, as it is told of afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChildState {
    /// The session it works for.
    pub above: SessionId,
    /// The call of that session that it works for.
    pub call: CallId,
    /// Its own session.
    pub session: SessionId,
    /// The agent's name.
    pub agent: String,
    /// The agent's colour: a name, or `#rrggbb`.
    pub color: Option<String>,
    /// How far it is.
    pub progress: ChildProgress,
    /// How long it has worked, about.
    pub took_ms: u64,
    /// Tokens of its own calls.
    pub usage: Usage,
    /// Its newest calls and their results, oldest first and without all they hold.
    pub calls: Vec<Part>,
    /// How many calls came before these; none where nobody has counted so far back.
    pub earlier: Option<u64>,
}

/// How far a sub-agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChildProgress {
    /// It works.
    AtWork,
    /// It has answered.
    Done,
    /// It could not go on.
    Failed,
    /// It was stopped, or ended with its process.
    Stopped,
}

/// What one model call cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Paid {
    /// When it ended.
    pub at: Timestamp,
    /// Tokens.
    pub usage: Usage,
    /// Money; none where the price is unknown.
    pub cost: Option<Money>,
}

/// What was spent on one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// The model.
    pub model: ModelRef,
    /// How many calls.
    pub calls: u64,
    /// Tokens.
    pub usage: Usage,
    /// Money of the calls with a known price; none if no call has one.
    pub cost: Option<Money>,
}

/// A place where something was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The session.
    pub session: SessionSummary,
    /// The entry; none where only the title fits.
    pub entry: Option<EntryId>,
    /// The words around, in one line.
    pub snippet: String,
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelChoice {
    /// The model.
    pub model: ModelRef,
    /// Its name.
    pub name: String,
    /// Its provider's name.
    pub provider: String,
    /// Its window in tokens; 0 when unknown.
    pub window: u64,
    /// Money for a million prompt tokens; none when unknown.
    pub input_price: Option<Money>,
    /// Money for a million tokens of answer; none when unknown.
    pub output_price: Option<Money>,
    /// Whether it can think.
    pub reasons: bool,
    /// Whether it sees pictures.
    pub sees: bool,
    /// Whether its provider's key is there.
    pub key: KeyState,
}

/// Whether a provider's key is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", content = "where", rename_all = "snake_case")]
pub enum KeyState {
    /// It is; where it comes from, such as `ANTHROPIC_API_KEY` or `keyring`.
    Found(String),
    /// It needs none: a server on this machine, or the demo.
    NotNeeded,
    /// It is missing.
    Missing,
}

/// Something that may follow a slash or an at sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// What it is.
    pub kind: OfferKind,
    /// Its name, without slash or sign.
    pub name: String,
    /// What may follow, such as `[focus]`; empty for nothing.
    pub arguments: String,
    /// What it does, in one line.
    pub about: String,
    /// Where it comes from: `built in`, or a file.
    pub source: String,
    /// An agent's colour: a name, or `#rrggbb`.
    pub color: Option<String>,
}

/// What an offer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfferKind {
    /// A command of ours, or one of the user's files.
    Command,
    /// A skill.
    Skill,
    /// An agent.
    Agent,
    /// Something that a server lets be read.
    Resource,
}

/// A file that tools have changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Path as the user knows it.
    pub path: String,
    /// Unified diff, without file headers; empty for a file that is as it was, or that is no text.
    pub unified: String,
    /// Lines added.
    pub added: u64,
    /// Lines taken away.
    pub removed: u64,
}

/// A moment one can go back to: the one before a prompt of the user's. As long as nothing was said since, the
/// one before the last rewind comes first; there `entry` and `before` are both its checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// The prompt's entry.
    pub entry: EntryId,
    /// The entry before it, to which the conversation goes back; none for the first.
    pub before: Option<EntryId>,
    /// When it was said.
    pub at: Timestamp,
    /// What was said, in one line; it ends with a word on commands that ran, which are not brought back.
    pub label: String,
    /// Files that tools have changed from there to the next.
    pub files: Vec<String>,
}

/// What fills a context window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bill {
    /// The window in tokens; 0 when unknown.
    pub window: u64,
    /// Item by item, in the order of a request.
    pub lines: Vec<BillLine>,
}

/// One item of a context's bill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BillLine {
    /// What it is.
    pub what: String,
    /// Tokens, about.
    pub tokens: u64,
}

/// How things stand in a folder before anything is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The folder, as the user knows it.
    pub folder: String,
    /// The branch of its repository, if it is in one.
    pub branch: Option<String>,
    /// Whether what its files say may run.
    pub trust: TrustState,
    /// The files that trust is asked for.
    pub untrusted: Vec<String>,
    /// The model that will answer; none where no key and no server is known.
    pub model: Option<ModelChoice>,
    /// Whether the user named it, by a flag or in the settings: then what was picked last does not count.
    pub is_model_named: bool,
    /// What may be done without asking.
    pub mode: Mode,
    /// The instruction file that could be written for it; none where there is one, or no code.
    pub init: Option<String>,
}

/// A provider, as the first run shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderState {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether its key is there.
    pub key: KeyState,
    /// Where a key can be had.
    pub url: Option<String>,
    /// The model it would be used with.
    pub model: Option<ModelRef>,
}

/// A server beside us, as a pane shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerState {
    /// Its name.
    pub name: String,
    /// What it speaks.
    pub kind: ServerKind,
    /// How it is, in a few words.
    pub state: String,
    /// What it offers, or what it complained of; newest last.
    pub log: Vec<String>,
}

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// The Model Context Protocol.
    Mcp,
    /// The Language Server Protocol.
    Lsp,
}

/// Whether the user trusts a folder's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustState {
    /// It holds nothing that needs trust.
    Empty,
    /// The user has not decided yet.
    Unknown,
    /// It was trusted, but its files have changed.
    Changed,
    /// It is trusted as it is now.
    Trusted,
}
