//! Who a client acts for, and what that allows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Op, Query};
use crate::id::SessionId;
use crate::transcript::{Origin, Part};

/// Who a client acts for. The engine decides by it which sessions the client sees, what it may do, and
/// which origin its words get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// Who it is.
    pub identity: Identity,
    /// What it may do in the sessions it sees.
    pub rights: Rights,
    /// Which sessions it sees, besides those it starts.
    pub sessions: SessionScope,
}

/// Who a principal is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Identity {
    /// The user of this machine, at the terminal or through a program they started.
    Owner,
    /// A program with a token.
    Token {
        /// The token's name.
        name: String,
    },
    /// Somebody who writes through a chat channel.
    Sender {
        /// The channel and the sender's id there, such as `telegram:4711`.
        address: String,
    },
    /// A scheduled job.
    Job {
        /// The job's name.
        name: String,
    },
}

/// What a principal may do in the sessions it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights {
    /// Start sessions, send prompts, stop turns and answer the model's questions.
    pub prompt: bool,
    /// Answer permission prompts, change the permission mode, and run commands of its own.
    pub approve: bool,
    /// Change and look up what belongs to the whole installation: settings, credentials, folders, other
    /// sessions' history.
    pub manage: bool,
}

/// The sessions a principal sees. Sub-agents belong to the session that started them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "see", content = "sessions", rename_all = "snake_case")]
pub enum SessionScope {
    /// All of them.
    All,
    /// These, and those it starts.
    Only(BTreeSet<SessionId>),
}

/// One of the [`Rights`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// See [`Rights::prompt`].
    Prompt,
    /// See [`Rights::approve`].
    Approve,
    /// See [`Rights::manage`].
    Manage,
}

impl Principal {
    /// The user of this machine: sees and may do everything.
    pub fn owner() -> Self {
        let rights = Rights { prompt: true, approve: true, manage: true };
        Self { identity: Identity::Owner, rights, sessions: SessionScope::All }
    }

    /// Whether it has a right.
    pub fn has(&self, right: Right) -> bool {
        match right {
            Right::Prompt => self.rights.prompt,
            Right::Approve => self.rights.approve,
            Right::Manage => self.rights.manage,
        }
    }

    /// The origin that a part of a prompt gets. A client may say that a part comes from less trusted
    /// content than its principal; it cannot make it more trusted.
    pub fn stamp(&self, claimed: &Origin) -> Origin {
        match (&self.identity, claimed) {
            (Identity::Sender { address }, _) => Origin::Channel(address.clone()),
            // The program around the engine adds notes of its own to the owner's prompts.
            (Identity::Owner, Origin::System) => Origin::System,
            (
                Identity::Owner | Identity::Token { .. } | Identity::Job { .. },
                Origin::Workspace | Origin::Web,
            ) => claimed.clone(),
            (
                Identity::Owner | Identity::Token { .. } | Identity::Job { .. },
                Origin::User
                | Origin::Assistant
                | Origin::System
                | Origin::Shell
                | Origin::Mcp(_)
                | Origin::Skill(_)
                | Origin::Memory
                | Origin::Channel(_),
            ) => Origin::User,
        }
    }

    /// A prompt's parts as the engine takes them: with stamped origins, and without what only an engine
    /// writes.
    pub fn stamp_parts(&self, parts: Vec<Part>) -> Vec<Part> {
        let stamped = |part: Part| Part::new(part.body, self.stamp(&part.origin));
        parts.into_iter().map(stamped).collect()
    }
}

impl Op {
    /// The right it takes.
    pub fn right(&self) -> Right {
        match self {
            Self::NewSession { .. }
            | Self::Say { .. }
            | Self::Unsay { .. }
            | Self::GoOn { .. }
            | Self::Stop { .. }
            | Self::Answer { .. }
            | Self::SetModel { .. }
            | Self::SetEffort { .. }
            | Self::Fork { .. }
            | Self::Compact { .. }
            | Self::Rename { .. } => Right::Prompt,
            // A slash command may change the permission mode; a rewind changes files.
            Self::Approve { .. }
            | Self::SetMode { .. }
            | Self::Rewind { .. }
            | Self::Command { .. }
            | Self::Shell { .. } => Right::Approve,
            Self::Delete { .. }
            | Self::Remember { .. }
            | Self::Restart { .. }
            | Self::Trust { .. }
            | Self::Login { .. } => Right::Manage,
        }
    }

    /// The session it acts on, which must exist; `None` if it names a request or no session at all.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Say { session, .. }
            | Self::Unsay { session, .. }
            | Self::GoOn { session }
            | Self::Stop { session }
            | Self::SetModel { session, .. }
            | Self::SetEffort { session, .. }
            | Self::SetMode { session, .. }
            | Self::Rewind { session, .. }
            | Self::Fork { session, .. }
            | Self::Compact { session, .. }
            | Self::Rename { session, .. }
            | Self::Delete { session }
            | Self::Command { session, .. }
            | Self::Shell { session, .. } => Some(*session),
            Self::NewSession { .. }
            | Self::Approve { .. }
            | Self::Answer { .. }
            | Self::Remember { .. }
            | Self::Restart { .. }
            | Self::Trust { .. }
            | Self::Login { .. } => None,
        }
    }
}

/// What a look-up is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuerySubject {
    /// One session.
    Session(SessionId),
    /// The list of sessions: each client gets those it sees.
    SessionList,
    /// Nothing private: the models that can be chosen.
    Models,
    /// Folders, settings, or what was said in any session.
    Installation,
}

impl Query {
    /// What it is about.
    pub fn subject(&self) -> QuerySubject {
        match self {
            Self::Session { session }
            | Self::Entries { session, .. }
            | Self::Children { session, .. }
            | Self::State { session }
            | Self::Context { session }
            | Self::Changes { session }
            | Self::Checkpoints { session } => QuerySubject::Session(*session),
            Self::Sessions { .. } => QuerySubject::SessionList,
            Self::Models { .. } => QuerySubject::Models,
            Self::Find { .. }
            | Self::Offers { .. }
            | Self::Files { .. }
            | Self::History { .. }
            | Self::Recall { .. }
            | Self::Place { .. }
            | Self::Providers
            | Self::Servers { .. }
            | Self::ServersChanged { .. } => QuerySubject::Installation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender() -> Principal {
        let identity = Identity::Sender { address: "telegram:4711".to_owned() };
        let rights = Rights { prompt: true, approve: false, manage: false };
        Principal { identity, rights, sessions: SessionScope::Only(BTreeSet::new()) }
    }

    fn origins() -> Vec<Origin> {
        let name = || "name".to_owned();
        vec![
            Origin::User,
            Origin::Assistant,
            Origin::System,
            Origin::Workspace,
            Origin::Shell,
            Origin::Web,
            Origin::Mcp(name()),
            Origin::Skill(name()),
            Origin::Memory,
            Origin::Channel(name()),
        ]
    }

    #[test]
    fn a_sender_is_named_whatever_it_claims() {
        for claimed in origins() {
            assert_eq!(sender().stamp(&claimed), Origin::Channel("telegram:4711".to_owned()));
        }
    }

    #[test]
    fn only_the_owner_speaks_as_the_system() {
        let token = Identity::Token { name: "ci".to_owned() };
        let token = Principal { identity: token, ..Principal::owner() };
        assert_eq!(Principal::owner().stamp(&Origin::System), Origin::System);
        assert_eq!(token.stamp(&Origin::System), Origin::User);
        for claimed in [Origin::Workspace, Origin::Web] {
            assert_eq!(token.stamp(&claimed), claimed, "less trusted content stays so");
        }
        for claimed in [Origin::Assistant, Origin::Memory, Origin::Skill("x".to_owned())] {
            assert_eq!(Principal::owner().stamp(&claimed), Origin::User);
        }
    }

    #[test]
    fn a_prompt_cannot_carry_a_sidecar() {
        let maker = crate::transcript::Maker {
            provider: "p".to_owned(),
            model: "m".to_owned(),
            wire: "w".to_owned(),
        };
        let native = crate::Native { maker, data: serde_json::Value::Null };
        let stamped = sender().stamp_parts(vec![Part::user_text("x").with_native(native)]);
        assert_eq!(stamped[0].native, None);
    }
}
