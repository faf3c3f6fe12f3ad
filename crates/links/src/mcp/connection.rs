//! One connection to one server: opened, asked, ended.
//!
//! `caiman mcp test` uses it as it is; sessions go through [`super::Mcp`], which keeps one for each server.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::TaskScope;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest,
    GetPromptRequestParams, ReadResourceRequest, ReadResourceRequestParams, RequestMetaObject,
    ServerResult,
};
use rmcp::service::{Peer, RoleClient};
use serde_json::{Map, Value};
use settings::{McpServer, McpTransport};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::ask::More;
use super::auth::Visitor;
use super::desk::{Call, Desk};
use super::menu::Menu;
use super::open::{Attempt, last_words};
use super::reach::Patience;
use super::talk::{Answer, Borrower, Content, Message};
use super::task::{self, Task};
use super::wire::Ending;
use super::{Outside, content, lists};
use crate::child::{Log, Supervised};

/// Why a server gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// It wants somebody to sign in.
    #[error("it wants a sign-in")]
    SignIn {
        /// The `WWW-Authenticate` header, if there was one.
        challenge: Option<String>,
    },
    /// It took too long.
    #[error("it gave no answer within {} s", .after.as_secs())]
    TimedOut {
        /// How long was waited.
        after: Duration,
    },
    /// It cannot be reached, has ended, or speaks nonsense.
    #[error("{0}")]
    Broken(String),
    /// It answered with an error.
    #[error("{message} ({code})")]
    Refused {
        /// What kind of error, as JSON-RPC counts them.
        code: i32,
        /// What it said.
        message: String,
        /// Pages it wants to be visited first.
        pages: Vec<Value>,
    },
    /// Whoever asked wants it no longer.
    #[error("cancelled")]
    Cancelled,
}

/// Which lifecycle is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lifecycle {
    /// The newer one, and the older one where the server does not know it.
    #[default]
    Newest,
    /// The older one, with `initialize`.
    Older,
}

/// A connection to open.
#[derive(Clone)]
pub struct Opening {
    /// The server's name.
    pub name: String,
    /// Its settings.
    pub server: McpServer,
    /// What the rooms above lend.
    pub outside: Outside,
    /// Which lifecycle is tried.
    pub lifecycle: Lifecycle,
    /// Who can have the user sign in while the connection is used; none where nobody is there to be asked.
    pub visitor: Option<Arc<dyn Visitor>>,
    /// Where the server's complaints go.
    pub log: Log,
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Its name and version, if it says.
    pub name: Option<String>,
    /// The version of the protocol that is spoken.
    pub protocol: String,
    /// Which lifecycle it began with.
    pub lifecycle: Lifecycle,
    /// How it wants to be used.
    pub instructions: Option<String>,
    /// Whether it lends tools.
    pub has_tools: bool,
    /// Whether it lends prompts.
    pub has_prompts: bool,
    /// Whether it lends resources.
    pub has_resources: bool,
}

/// A tool to call.
pub struct Job<'a> {
    /// Its own name.
    pub tool: &'a str,
    /// Whether the server runs it only as a task.
    pub is_task: bool,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Whom the server may ask meanwhile.
    pub borrower: Arc<dyn Borrower>,
}

/// A connection to a server.
pub struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) desk: Arc<Desk>,
    pub(super) about: About,
    pub(super) child: Option<Supervised>,
    pub(super) patience: Patience,
    /// What goes with each question.
    pub(super) meta: Option<RequestMetaObject>,
    pub(super) scope: TaskScope,
    /// Cancelled when the other side is gone.
    pub(super) closed: CancellationToken,
    pub(super) ending: Ending,
    pub(super) log: Log,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("about", &self.about).finish_non_exhaustive()
    }
}

impl Connection {
    /// Opens a connection; whoever closes `scope` ends it.
    pub async fn open(opening: Opening, scope: &TaskScope) -> Result<Self, Failure> {
        let start = Patience::of(&opening.server).start;
        let opened = timeout(start, Box::pin(Self::opened(&opening, scope))).await;
        opened.unwrap_or(Err(Failure::TimedOut { after: start }))
    }

    async fn opened(opening: &Opening, scope: &TaskScope) -> Result<Self, Failure> {
        let mut opened = Box::pin(Self::attempt(opening, opening.lifecycle, scope)).await;
        if let Err(Failure::Broken(_) | Failure::Refused { .. }) = &opened
            && opening.lifecycle == Lifecycle::Newest
        {
            // Some older servers end when the first question is none they know.
            opened = Box::pin(Self::attempt(opening, Lifecycle::Older, scope)).await;
        }
        let Err(Failure::Broken(why)) = &opened else { return opened };
        let is_untyped = opening.server.transport.is_none() && opening.server.url.is_some();
        if !is_untyped || !why.contains("HTTP 4") {
            return opened;
        }
        // The address of a server that speaks the older way, which is what the settings do not say.
        let server = McpServer { transport: Some(McpTransport::Sse), ..opening.server.clone() };
        let older = Opening { server, ..opening.clone() };
        let listened = Box::pin(Self::attempt(&older, Lifecycle::Older, scope)).await;
        if matches!(listened, Err(Failure::Broken(_))) { opened } else { listened }
    }

    async fn attempt(
        opening: &Opening,
        lifecycle: Lifecycle,
        scope: &TaskScope,
    ) -> Result<Self, Failure> {
        let scope = scope.child();
        let attempt = Attempt { opening, lifecycle, scope: scope.clone() };
        let attempted = Box::pin(attempt.run()).await;
        if attempted.is_err() {
            scope.close().await;
        }
        attempted
    }

    /// What the server says of itself.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The id of its process, where it is a program.
    pub fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Supervised::id)
    }

    /// What the server lends.
    pub async fn menu(&self) -> Result<Menu, Failure> {
        Box::pin(lists::menu(self)).await
    }

    /// Waits until the server has changed what it lends.
    pub async fn changed(&self) {
        self.desk.changed.notified().await;
    }

    /// Has a tool called.
    pub async fn call(&self, job: Job<'_>, cancel: &CancellationToken) -> Result<Answer, Failure> {
        let call = Call::new(job.borrower.clone());
        let _seat = self.desk.seat(&call);
        let calling = cancel.run_until_cancelled(Box::pin(self.called(&job, &call)));
        calling.await.unwrap_or(Err(Failure::Cancelled))
    }

    async fn called(&self, job: &Job<'_>, call: &Call) -> Result<Answer, Failure> {
        let Job { tool, is_task, arguments, .. } = job;
        let request = |more: More| {
            if *is_task && self.about.lifecycle == Lifecycle::Older {
                return task::begin(tool, arguments);
            }
            let mut params = CallToolRequestParams::new(Cow::Owned((*tool).to_owned()));
            params.arguments = Some(arguments.clone());
            params.input_responses = more.responses;
            params.request_state = more.state;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        let answered = self.answer(request, call).await?;
        match Task::of(&answered) {
            Some(task) => self.finished(task, call).await,
            None => Ok(content::answer_of(answered)),
        }
    }

    /// Fetches a prompt, its arguments put in.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        borrower: Arc<dyn Borrower>,
    ) -> Result<Vec<Message>, Failure> {
        let call = Call::new(borrower);
        let _seat = self.desk.seat(&call);
        let request = |more: More| {
            let mut params = GetPromptRequestParams::new(name);
            params.arguments = Some(arguments.clone());
            params.input_responses = more.responses;
            params.request_state = more.state;
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        let answered = self.answer(request, &call).await?;
        let ServerResult::GetPromptResult(result) = answered else {
            return Err(Failure::Broken("its prompt cannot be read".to_owned()));
        };
        let messages = result.messages.into_iter();
        Ok(messages.map(|it| content::message(&it.role, it.content)).collect())
    }

    /// Reads a resource.
    pub async fn read(
        &self,
        uri: &str,
        borrower: Arc<dyn Borrower>,
    ) -> Result<Vec<Content>, Failure> {
        let call = Call::new(borrower);
        let _seat = self.desk.seat(&call);
        let request = |more: More| {
            let mut params = ReadResourceRequestParams::new(uri);
            params.input_responses = more.responses;
            params.request_state = more.state;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        let answered = self.answer(request, &call).await?;
        let ServerResult::ReadResourceResult(result) = answered else {
            return Err(Failure::Broken("its resource cannot be read".to_owned()));
        };
        Ok(result.contents.into_iter().map(content::resource).collect())
    }

    /// Waits until the connection is lost; says why.
    pub async fn lost(&self) -> String {
        self.closed.cancelled().await;
        last_words(&self.ending, self.child.as_ref()).await
    }

    /// Whether the connection is lost.
    pub fn is_lost(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Whether the connection is lost, or about to be.
    pub(super) fn is_ending(&self) -> bool {
        self.is_lost() || self.ending.why().is_some()
    }

    /// Whether anybody waits for an answer.
    pub fn is_busy(&self) -> bool {
        self.desk.is_busy()
    }

    /// Ends it.
    pub async fn close(&self) {
        self.scope.close().await;
    }

    /// Adds a line to the server's log.
    pub(super) fn note(&self, line: &str) {
        self.log.note(line);
    }
}
