//! The HTTP client that brings the token along, and answers a server that wants another.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::{Account, Challenge, Wanting};
use crate::mcp::wire::Http;

/// How often a request is sent at most: as it is, with a token, with a token that allows more.
const TRIES: usize = 3;

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// An HTTP client that signs its requests, where there is an account to sign them with.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    http: Http,
    account: Option<Arc<Account>>,
}

impl Signed {
    pub(crate) fn new(http: Http, account: Option<Arc<Account>>) -> Self {
        Self { http, account }
    }

    /// Sends a request that is none of the streamable transport, and gives what the server has let through.
    pub(crate) async fn exchange(
        &self,
        request: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, Failure> {
        self.send(|token| self.http.exchange(&request, token)).await
    }

    async fn send<T, Sent>(&self, send: impl Fn(Option<String>) -> Sent) -> Result<T, Failure>
    where
        Sent: Future<Output = Result<T, Failure>>,
    {
        let Some(account) = &self.account else { return send(None).await };
        let mut token = account.token().await.map_err(refused)?;
        let mut tries = 1;
        loop {
            let failure = match send(token.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let Some(challenge) = challenge(&failure) else { return Err(failure) };
            if tries == TRIES {
                return Err(failure);
            }
            tries += 1;
            match account.answer(token.as_deref(), challenge).await.map_err(refused)? {
                Some(other) => token = Some(other),
                None => return Err(failure),
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn refused(error: super::SignInError) -> Failure {
    StreamableHttpError::Auth(AuthError::AuthorizationFailed(error.to_string()))
}

/// What the server wants, if the failure is that it wants something.
#[expect(clippy::wildcard_enum_match_arm, reason = "rmcp may learn more failures")]
fn challenge(failure: &Failure) -> Option<Challenge<'_>> {
    let header = failure.auth_challenge();
    let (kind, header) = match failure {
        StreamableHttpError::AuthRequired(_) => (Wanting::Token, header?),
        StreamableHttpError::InsufficientScope(_) => (Wanting::Scope, header?),
        // Servers of the protocol's first years say no more than this; the library keeps it as text.
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => {
            (Wanting::Token, "")
        }
        _ => return None,
    };
    Some(Challenge { header, kind })
}

impl StreamableHttpClient for Signed {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.send(|token| {
            let (uri, message) = (uri.clone(), message.clone());
            self.http.post_message(uri, message, session_id.clone(), token, headers.clone())
        })
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.send(|token| {
            let (uri, message, session) = (uri.clone(), message.clone(), session_id.clone());
            let headers = headers.clone();
            self.http
                .post_message_with_max_sse_event_size(uri, message, session, token, headers, limit)
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.send(|token| {
            self.http.delete_session(uri.clone(), session_id.clone(), token, headers.clone())
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        self.send(|token| {
            let (uri, last) = (uri.clone(), last_event_id.clone());
            self.http.get_stream(uri, session_id.clone(), last, token, headers.clone())
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        self.send(|token| {
            let (uri, last, session) = (uri.clone(), last_event_id.clone(), session_id.clone());
            let headers = headers.clone();
            self.http.get_stream_with_max_sse_event_size(uri, session, last, token, headers, limit)
        })
        .await
    }
}
