//! A wire over which a server is first asked for the newer lifecycle.
//!
//! Many older servers do not answer a question they do not know. rmcp would wait ten seconds for them; here such a
//! server is taken for an older one sooner, and what it may still answer is dropped.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::time::{Instant, timeout_at};

/// A wire with some patience for the first question.
pub(in crate::mcp) struct Probe<T> {
    inner: T,
    patience: Duration,
    asked: Option<(RequestId, Instant)>,
    given_up: Option<RequestId>,
}

impl<T> Probe<T> {
    pub(in crate::mcp) fn new(inner: T, patience: Duration) -> Self {
        Self { inner, patience, asked: None, given_up: None }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Probe<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item
            && let ClientRequest::DiscoverRequest(_) = &request.request
        {
            self.asked = Some((request.id.clone(), Instant::now() + self.patience));
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = if let Some((id, until)) = &self.asked {
                let Ok(message) = timeout_at(*until, self.inner.receive()).await else {
                    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer", None);
                    let answer = ServerJsonRpcMessage::error(error, Some(id.clone()));
                    self.given_up = self.asked.take().map(|(id, _)| id);
                    return Some(answer);
                };
                message?
            } else {
                self.inner.receive().await?
            };
            let answered = match &message {
                JsonRpcMessage::Response(response) => Some(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            if answered.is_some() && answered == self.given_up.as_ref() {
                self.given_up = None;
                continue;
            }
            if answered.is_some() && answered == self.asked.as_ref().map(|(id, _)| id) {
                self.asked = None;
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}
