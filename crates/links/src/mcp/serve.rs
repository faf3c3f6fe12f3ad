//! Caiman as a server: other programs have prompts run here, go on with sessions and look through them.
//!
//! | module | does |
//! |---|---|
//! | [`tools`] | what a guest may call: names, arguments, answers |
//! | [`desk`] | folders that are served, and the mind behind each |
//! | [`book`], [`account`] | events of the mind, entered for the call they belong to |
//! | [`errand`] | one prompt, from its beginning to its answer |
//! | [`form`] | questions for permission, as forms a guest's user fills in |
//! | [`http`] | the same over HTTP: who may come in |
//!
//! It speaks to the mind through [`base::protocol::Client`] alone, and says things rather than run slash commands: a
//! guest cannot change its own mode.

mod account;
mod book;
mod desk;
mod errand;
mod form;
mod http;
mod tools;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use base::TaskScope;
use base::protocol::Client;
use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ErrorData, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use desk::Desk;
pub use http::{Door, PATH, new_token};

/// How a client of the mind is had for a folder; the text of a failure goes to the guest.
pub type Open =
    Arc<dyn Fn(&Path) -> BoxFuture<'static, Result<Arc<dyn Client>, String>> + Send + Sync>;

const INSTRUCTIONS: &str = "Caiman is a coding agent that works in folders of this machine: it reads and changes files \
and runs commands there. run_prompt gives it a task and returns its answer with a session; continue_session says more \
in a session. A task may take minutes; ask for progress.";

/// What is served.
pub struct House {
    /// How a client of the mind is had.
    pub open: Open,
    /// The folders that may be worked in, with all below them; the first is where nothing else is said. Real paths.
    pub roots: Vec<PathBuf>,
    /// Our version.
    pub version: String,
}

/// Why serving ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The other end did not begin as the protocol wants it.
    #[error("the client does not speak the Model Context Protocol: {0}")]
    Greeting(String),
    /// No connection can be taken.
    #[error("cannot take connections: {0}")]
    Listen(#[from] std::io::Error),
}

/// A server for any number of guests. Clones are the same.
#[derive(Clone)]
pub struct Server {
    desk: Arc<Desk>,
    version: Arc<str>,
}

impl Server {
    /// Serves nobody yet; whoever closes `scope` ends every call.
    pub fn new(house: House, scope: &TaskScope) -> Self {
        let House { open, roots, version } = house;
        Self { desk: Arc::new(Desk::new(open, roots, scope.child())), version: version.into() }
    }

    /// Serves one guest at the other end of two pipes, until it closes its own or [`Server::end`] is called.
    pub async fn over_pipes(
        &self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let ending = self.desk.ending.clone();
        let read = Watched { read, ended: ending.clone() };
        let serving = self.clone().serve_with_ct((read, write), self.desk.hang_up.clone());
        match serving.await {
            Ok(running) => {
                // A task of the library's that panics has nothing to tell us.
                drop(running.waiting().await);
                Ok(())
            }
            // It has gone before it said anything, or we have.
            Err(_) if ending.is_cancelled() => Ok(()),
            Err(error) => Err(ServeError::Greeting(error.to_string())),
        }
    }

    /// Serves whoever has the token, until [`Server::end`] is called.
    pub async fn over_http(&self, listener: TcpListener, door: Door) -> Result<(), ServeError> {
        http::serve(self.clone(), listener, door).await.map_err(ServeError::Listen)
    }

    /// Stops every turn and takes no more calls.
    pub fn end(&self) {
        self.desk.ending.cancel();
        self.desk.hang_up.cancel();
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut about = Implementation::new("caiman", &*self.version);
        about.title = Some("Caiman".to_owned());
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Box::pin(tools::call(&self.desk, call, &context)).await
    }

    // The library answers for these as if we had them; what is not declared must not be there.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}

/// A pipe that tells when it has ended: the library goes on with running calls for seconds, and we do not.
struct Watched<R> {
    read: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.read).poll_read(cx, buffer);
        let is_end = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_end {
            self.ended.cancel();
        }
        polled
    }
}
