//! One question to a server: sent, waited for, taken back when nobody waits any more.

use std::sync::Arc;
use std::time::Duration;

use base::TaskScope;
use futures::future::{BoxFuture, try_join_all};
use rmcp::model::{
    ClientRequest, ErrorData, InputRequiredResult, InputResponses, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use tokio::time::{sleep, sleep_until};

use super::connection::{Connection, Failure};
use super::desk::Call;
use super::menu::shown;
use super::open::{broken, last_words, told};
use super::talk::{Borrower, Elicitation, Elicited, Progress, Sampled, Sampling};
use super::task;

/// How often a server may want to know more before it answers.
const ROUNDS: usize = 10;
/// How long a server is left alone that only wants to be asked again.
const AGAIN: Duration = Duration::from_millis(100);
/// The error of a server that wants pages to be visited first.
const VISIT_FIRST: i32 = -32042;
/// Pages that are visited for one question.
const PAGES: usize = 3;
/// Bytes of a server's error that are passed on.
const WORDS: usize = 4 << 10;

/// What a server wanted to know before it answers, for the next time it is asked.
#[derive(Debug, Default)]
pub(super) struct More {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

impl Connection {
    /// Asks for a page of a list.
    pub(super) async fn list(&self, request: ClientRequest) -> Result<ServerResult, Failure> {
        let call = Call::new(Arc::new(Nobody));
        self.ask(request, &call, self.patience.start).await
    }

    /// Asks until there is an answer: a server may want to know more first, and be asked again.
    pub(super) async fn answer(
        &self,
        request: impl Fn(More) -> ClientRequest,
        call: &Call,
    ) -> Result<ServerResult, Failure> {
        let mut more = More::default();
        for _ in 0..ROUNDS {
            let asked = request(std::mem::take(&mut more));
            match self.ask(asked, call, self.patience.answer).await {
                Ok(ServerResult::InputRequiredResult(wanted)) => {
                    more = self.more(wanted, call).await?;
                }
                Err(Failure::Refused { code, message, pages }) if !pages.is_empty() => {
                    if !self.desk.visited(call, &pages).await {
                        return Err(Failure::Refused { code, message, pages: Vec::new() });
                    }
                }
                answer => return answer,
            }
        }
        Err(Failure::Broken("it asks again and again instead of answering".to_owned()))
    }

    async fn more(&self, wanted: InputRequiredResult, call: &Call) -> Result<More, Failure> {
        let asked = wanted.input_requests.unwrap_or_default();
        if asked.is_empty() {
            sleep(AGAIN).await;
        }
        let answering = asked.into_iter().map(async |(key, request)| {
            let answer = self.desk.input(call, request).await.map_err(|error| refused(&error))?;
            Ok((key, answer))
        });
        let responses: InputResponses = try_join_all(answering).await?.into_iter().collect();
        let responses = Some(responses).filter(|responses| !responses.is_empty());
        Ok(More { responses, state: wanted.request_state })
    }

    /// Asks, and waits as long as the server shows that it works on it. Dropping the future takes the question
    /// back.
    pub(super) async fn ask(
        &self,
        request: ClientRequest,
        call: &Call,
        patience: Duration,
    ) -> Result<ServerResult, Failure> {
        let mut options = PeerRequestOptions::no_options();
        options.meta.clone_from(&self.meta);
        let begins_task = task::begins(&request);
        let sending = self.peer.send_request_with_option(request, options);
        let handle = match sending.await {
            Ok(handle) => handle,
            Err(error) => return Err(self.told(error).await),
        };
        call.sent(handle.id.clone(), handle.progress_token.clone());
        let id = handle.id.clone();
        let mut asked = Asked { handle: Some(handle), id, call, scope: &self.scope, begins_task };
        loop {
            let Some(handle) = &mut asked.handle else { return Err(Failure::Cancelled) };
            let until = call.beat() + patience;
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    asked.handle = None;
                    return match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
                        Err(ServiceError::TransportClosed) => Err(self.gone().await),
                        // A question that could not be sent is told so here.
                        Err(error) => Err(self.told(error).await),
                        Ok(answer) => Ok(answer),
                    };
                }
                () = self.closed.cancelled() => {
                    asked.handle = None;
                    return Err(self.gone().await);
                }
                () = sleep_until(until) => {
                    if call.beat() + patience <= until {
                        return Err(Failure::TimedOut { after: patience });
                    }
                }
            }
        }
    }

    async fn told(&self, error: ServiceError) -> Failure {
        told(self.failure(error), &self.ending, self.child.as_ref()).await
    }

    async fn gone(&self) -> Failure {
        // One request may fail where each is a connection of its own.
        if self.child.is_none() && !self.is_ending() {
            return Failure::Broken("its answer broke off".to_owned());
        }
        Failure::Broken(last_words(&self.ending, self.child.as_ref()).await)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "rmcp may learn more reasons")]
    fn failure(&self, error: ServiceError) -> Failure {
        match error {
            ServiceError::McpError(error) => refused(&error),
            ServiceError::TransportSend(error) => broken(error.error.as_ref()),
            ServiceError::TransportClosed => {
                Failure::Broken(self.ending.why().unwrap_or("the connection is closed").to_owned())
            }
            ServiceError::Cancelled { .. } => Failure::Cancelled,
            ServiceError::Timeout { timeout } => Failure::TimedOut { after: timeout },
            other => Failure::Broken(shown(&other.to_string(), WORDS)),
        }
    }
}

/// A server's error, as short as anybody wants to read.
pub(super) fn refused(error: &ErrorData) -> Failure {
    let (code, message) = (error.code.0, shown(&error.message, WORDS));
    let pages = error.data.as_ref().filter(|_| code == VISIT_FIRST);
    let pages = pages.and_then(|data| data.get("elicitations")?.as_array());
    let pages = pages.into_iter().flatten().take(PAGES).cloned().collect();
    Failure::Refused { code, message, pages }
}

/// A question somebody waits for; the server is told when nobody does any more.
struct Asked<'a> {
    handle: Option<RequestHandle<RoleClient>>,
    id: RequestId,
    call: &'a Call,
    scope: &'a TaskScope,
    begins_task: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.call.answered(&self.id);
        let Some(handle) = self.handle.take() else { return };
        // Where the runtime ends, or the connection, the server learns of it anyway.
        if self.scope.token().is_cancelled() || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        if self.begins_task {
            self.scope.spawn(task::never_mind(handle));
            return;
        }
        self.scope.spawn(async move {
            handle.cancel(Some("nobody waits for it any more".to_owned())).await.ok();
        });
    }
}

/// Whoever cannot be asked back.
#[derive(Debug)]
struct Nobody;

impl Borrower for Nobody {
    fn progress(&self, _progress: Progress) {}

    fn elicit(&self, _asked: Elicitation) -> BoxFuture<'_, Elicited> {
        Box::pin(async { Elicited::Declined })
    }

    fn sample(&self, _asked: Sampling) -> BoxFuture<'_, Result<Sampled, String>> {
        Box::pin(async { Err("nobody can be asked now".to_owned()) })
    }
}
