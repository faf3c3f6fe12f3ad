//! The HTTP client under rmcp's streamable transport. It posts messages; streams that it opens by itself are rmcp's,
//! and go where the server has led the first message.
//!
//! rmcp's own reads a JSON answer whole, however long, and takes an answer for somebody else's when a server that has
//! forgotten the session does not say whose it was.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures::stream::{BoxStream, Stream, StreamExt, unfold};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use reqwest::{Client, RequestBuilder, Response};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::follow::{Astray, follow};
use super::parser::{Event, Parser};
use super::{Gather, Gathered, Heard, LONGEST, hear, put_right};
use crate::mcp::menu::cut;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
/// Bytes of an error's page that are read.
const PAGE: usize = 64 << 10;
/// Bytes of an error's page that are passed on.
const WORDS: usize = 1 << 10;

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type EventStream = BoxStream<'static, Result<Sse, SseError>>;

/// A client that never takes more than it can hold.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct Http {
    client: Client,
    /// Where the server has led a message to: the others need not take the same detour.
    led: Arc<OnceLock<Arc<str>>>,
}

impl From<Astray> for Failure {
    fn from(astray: Astray) -> Self {
        match astray {
            Astray::Failed(error) => Self::Client(error),
            Astray::Elsewhere(_) | Astray::Endless => {
                Self::UnexpectedServerResponse(Cow::Owned(astray.to_string()))
            }
        }
    }
}

impl Http {
    pub(in crate::mcp) fn new(client: Client) -> Self {
        Self { client, led: Arc::default() }
    }

    /// Sends a request that is none of the streamable transport, and gives what the server has let through.
    pub(in crate::mcp) async fn exchange(
        &self,
        request: impl Fn(&Client) -> RequestBuilder,
        token: Option<String>,
    ) -> Result<Response, Failure> {
        let mut request = request(&self.client).build()?;
        bear(request.headers_mut(), token);
        let response = follow(&self.client, request).await?;
        if let Some(wanted) = challenge(&response) {
            return Err(wanted);
        }
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let said = said(status, &page(response).await);
        Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(said)))
    }

    /// Where messages go.
    fn at(&self, uri: Arc<str>) -> Arc<str> {
        self.led.get().cloned().unwrap_or(uri)
    }

    async fn post(
        &self,
        uri: Arc<str>,
        message: &ClientJsonRpcMessage,
        headers: HeaderMap,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let has_session = headers.contains_key(SESSION);
        let at = self.at(uri);
        let request = self.client.post(&*at).headers(headers).body(serde_json::to_vec(message)?);
        let response = follow(&self.client, request.build()?).await?;
        if response.url().as_str() != &*at {
            self.led.set(response.url().as_str().into()).ok();
        }
        let status = response.status();
        if let Some(wanted) = challenge(&response) {
            return Err(wanted);
        }
        if status.is_success() {
            return answer(response, asked(message)).await;
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let limits = limited(&response);
        let page = page(response).await;
        if status == StatusCode::BAD_REQUEST && has_session && forgot(&page) {
            return Err(StreamableHttpError::SessionExpired);
        }
        if let Some(told) = told(message, has_session, status, &page) {
            return Ok(StreamableHttpPostResponse::Json(told, None));
        }
        Err(limits.map_or_else(
            || StreamableHttpError::UnexpectedServerResponse(Cow::Owned(said(status, &page))),
            StreamableHttpError::HttpStatus,
        ))
    }
}

/// The id of what is asked, if something is.
fn asked(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        JsonRpcMessage::Response(_)
        | JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Error(_) => None,
    }
}

/// Reads an answer; where nobody waits for one, whatever came is fine.
async fn answer(
    response: Response,
    asked: Option<RequestId>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok());
    let session = session.map(str::to_owned);
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
    let is = |wanted: &str| kind.as_deref().is_some_and(|kind| kind.starts_with(wanted));
    let is_empty = matches!(response.status(), StatusCode::ACCEPTED | StatusCode::NO_CONTENT);
    if !is_empty && is(EVENTS) {
        return Ok(StreamableHttpPostResponse::Sse(events(response.bytes_stream()), session));
    }
    let Some(id) = asked.filter(|_| !is_empty) else {
        return Ok(StreamableHttpPostResponse::Accepted);
    };
    if !is(JSON) {
        return Err(StreamableHttpError::UnexpectedContentType(kind));
    }
    let body = gathered(response, LONGEST).await?;
    let why = match &body {
        Gathered::Whole(_) => "its answer is no message".to_owned(),
        Gathered::Overlong { .. } => format!("its answer is longer than {} MB", LONGEST >> 20),
    };
    let message = match hear(body) {
        Heard::Messages(messages) => messages.into_iter().next(),
        Heard::Noise => None,
    };
    Ok(StreamableHttpPostResponse::Json(to(id, message, why), session))
}

/// What came instead of an answer to a question, as one: nothing else will come. `why` is said where it is none.
fn to(
    id: RequestId,
    message: Option<ServerJsonRpcMessage>,
    mut why: String,
) -> ServerJsonRpcMessage {
    match message {
        // Some write a number as a text.
        Some(JsonRpcMessage::Response(response)) if response.id.to_string() != id.to_string() => {
            "its answer is to something else".clone_into(&mut why);
        }
        Some(JsonRpcMessage::Error(error)) => {
            return ServerJsonRpcMessage::error(error.error, Some(id));
        }
        Some(message @ JsonRpcMessage::Response(_)) => return message,
        Some(JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_)) | None => {}
    }
    ServerJsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id))
}

/// What a server wants before it answers.
fn challenge(response: &Response) -> Option<Failure> {
    let wanted = response.headers().get(header::WWW_AUTHENTICATE)?;
    let wanted = String::from_utf8_lossy(wanted.as_bytes()).into_owned();
    match response.status() {
        StatusCode::UNAUTHORIZED => {
            Some(StreamableHttpError::AuthRequired(AuthRequiredError::new(wanted)))
        }
        StatusCode::FORBIDDEN => {
            let scope = scope(&wanted);
            let error = InsufficientScopeError::new(wanted, scope);
            Some(StreamableHttpError::InsufficientScope(error))
        }
        _ => None,
    }
}

/// The scope that a challenge names.
fn scope(challenge: &str) -> Option<String> {
    let (_, rest) = challenge.split_once("scope=")?;
    let scope = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([',', ' ']).next(),
    };
    scope.filter(|scope| !scope.is_empty()).map(str::to_owned)
}

/// What a server says of when to come back.
fn limited(response: &Response) -> Option<HttpStatusError> {
    let status = response.status();
    let is_limit = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let after = response.headers().get(header::RETRY_AFTER);
    let after = after.and_then(|value| value.to_str().ok()).map(str::to_owned);
    is_limit.then(|| HttpStatusError::new(status.as_u16(), after))
}

/// Whether a server says that it knows nothing of a session, as many do without the status for it.
fn forgot(page: &str) -> bool {
    page.to_ascii_lowercase().contains("session")
}

/// The JSON-RPC error on a page, for whoever asked. A server that does not know the first question of the newer
/// lifecycle may refuse it in any words.
fn told(
    message: &ClientJsonRpcMessage,
    has_session: bool,
    status: StatusCode,
    page: &str,
) -> Option<ServerJsonRpcMessage> {
    let JsonRpcMessage::Request(request) = message else { return None };
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return None;
    }
    let is_first = matches!(request.request, ClientRequest::DiscoverRequest(_)) && !has_session;
    let error = if let Ok(ServerJsonRpcMessage::Error(error)) = serde_json::from_str(page) {
        error.error
    } else if is_first && status.is_client_error() {
        ErrorData::invalid_request(said(status, page), None)
    } else {
        return None;
    };
    Some(ServerJsonRpcMessage::error(error, Some(request.id.clone())))
}

fn said(status: StatusCode, page: &str) -> String {
    format!("HTTP {status}: {}", cut(page.trim(), WORDS)).trim_end_matches(": ").to_owned()
}

/// The beginning of an error's page.
async fn page(response: Response) -> String {
    match gathered(response, PAGE).await {
        Ok(Gathered::Whole(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        Ok(Gathered::Overlong { .. }) | Err(_) => String::new(),
    }
}

/// A body, as far as it is not too long; the rest of it is not even fetched.
async fn gathered(response: Response, most: usize) -> Result<Gathered, Failure> {
    let (mut gather, mut length) = (Gather::default(), 0);
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        length += chunk.len();
        gather.push(&chunk);
        if length > most {
            break;
        }
    }
    Ok(gather.take())
}

/// The events of an answer.
fn events(bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static) -> EventStream {
    let begin = (bytes.boxed(), Parser::default(), VecDeque::new());
    unfold(begin, async |(mut bytes, mut parser, mut events)| {
        loop {
            if let Some(event) = events.pop_front() {
                return Some((Ok(sse(event)), (bytes, parser, events)));
            }
            match bytes.next().await? {
                Ok(chunk) => parser.push(&chunk, &mut events),
                Err(error) => {
                    let error = SseError::Body(Box::new(error));
                    return Some((Err(error), (bytes, parser, events)));
                }
            }
        }
    })
    .boxed()
}

fn sse(event: Event) -> Sse {
    let text = |data: Gathered| match data {
        Gathered::Whole(bytes) => String::from_utf8_lossy(&put_right(&bytes)).into_owned(),
        overlong @ Gathered::Overlong { .. } => match hear(overlong) {
            Heard::Messages(messages) => {
                messages.first().and_then(|it| serde_json::to_string(it).ok()).unwrap_or_default()
            }
            Heard::Noise => String::new(),
        },
    };
    let Event { name, data, id, retry } = event;
    Sse { event: name, data: data.map(text), id, retry }
}

/// The same events, with messages as rmcp keeps them whole.
fn righted(events: EventStream) -> EventStream {
    let text = |data: String| String::from_utf8_lossy(&put_right(data.as_bytes())).into_owned();
    let righted = move |event: Sse| Sse { data: event.data.map(text), ..event };
    events.map(move |event| event.map(righted)).boxed()
}

fn header_map(session: Option<Arc<str>>, token: Option<String>, custom: Headers) -> HeaderMap {
    let mut headers: HeaderMap = custom.into_iter().collect();
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    if let Some(Ok(session)) = session.map(|session| HeaderValue::from_str(&session)) {
        headers.insert(SESSION, session);
    }
    bear(&mut headers, token);
    headers
}

/// Puts a token among headers.
fn bear(headers: &mut HeaderMap, token: Option<String>) {
    let bearer = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}")));
    if let Some(Ok(mut bearer)) = bearer {
        bearer.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, bearer);
    }
}

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post(uri, &message, header_map(session_id, token, headers)).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.client.delete_session(self.at(uri), session_id, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<EventStream, Failure> {
        let uri = self.at(uri);
        let events = self.client.get_stream(uri, session_id, last_event_id, token, headers);
        events.await.map(righted)
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        token: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<EventStream, Failure> {
        self.client
            .get_stream_with_max_sse_event_size(
                self.at(uri),
                session_id,
                last_event_id,
                token,
                headers,
                limit,
            )
            .await
            .map(righted)
    }
}
