//! The older way over HTTP: one stream of events from the server, a request for each message to it.

use std::collections::VecDeque;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use http::{HeaderMap, header};
use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use url::Url;

use super::parser::{Event, Parser};
use super::{Ending, Gathered, Heard, hear, innermost};
use crate::mcp::auth::Signed;

type Failure = StreamableHttpError<reqwest::Error>;

/// The wire to an older HTTP server.
pub(in crate::mcp) struct Events {
    client: Signed,
    headers: HeaderMap,
    /// Where messages go.
    endpoint: Url,
    stream: Stream,
    heard: VecDeque<ServerJsonRpcMessage>,
    ending: Ending,
}

/// Why there is no stream of events.
#[derive(Debug, thiserror::Error)]
pub(in crate::mcp) enum EventsError {
    /// It did not let us in.
    #[error(transparent)]
    Refused(#[from] Failure),
    /// The stream broke.
    #[error("{0}")]
    Broken(String),
    /// Messages would go to somebody else.
    #[error("it wants messages to be sent to {0}, which is another server")]
    Elsewhere(Url),
    /// The stream ended, or was never one.
    #[error("it gave no address for messages")]
    NoEndpoint,
}

impl Events {
    /// Begins a stream, and waits until the server has said where messages go.
    pub(in crate::mcp) async fn open(
        client: Signed,
        url: Url,
        headers: HeaderMap,
        ending: Ending,
    ) -> Result<Self, EventsError> {
        let opening = client.exchange(|client| {
            let request = client.get(url.clone()).headers(headers.clone());
            request.header(header::ACCEPT, "text/event-stream")
        });
        let response = opening.await?;
        let from = response.url().clone();
        let bytes = response.bytes_stream().map(|chunk| chunk.map_err(|error| innermost(&error)));
        let mut stream =
            Stream { bytes: bytes.boxed(), parser: Parser::default(), events: VecDeque::new() };
        let endpoint = loop {
            let event = stream.next().await.map_err(EventsError::Broken)?;
            let Some(Event { name, data, .. }) = event else {
                return Err(EventsError::NoEndpoint);
            };
            if let (Some("endpoint"), Some(Gathered::Whole(path))) = (name.as_deref(), data) {
                let path = String::from_utf8_lossy(&path);
                break from.join(path.trim()).map_err(|_| EventsError::NoEndpoint)?;
            }
        };
        // Headers hold secrets that are meant for the address in the settings.
        if endpoint.origin() != url.origin() {
            return Err(EventsError::Elsewhere(endpoint));
        }
        Ok(Self { client, headers, endpoint, stream, heard: VecDeque::new(), ending })
    }

    fn take(&mut self, data: Gathered) {
        if let Heard::Messages(messages) = hear(data) {
            self.heard.extend(messages);
        }
    }
}

impl Transport<RoleClient> for Events {
    type Error = Failure;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Failure>> + Send + 'static {
        let (client, endpoint, headers) =
            (self.client.clone(), self.endpoint.clone(), self.headers.clone());
        async move {
            let body = Bytes::from(serde_json::to_vec(&item)?);
            let sending = client.exchange(|client| {
                let request = client.post(endpoint.clone()).headers(headers.clone());
                request.header(header::CONTENT_TYPE, "application/json").body(body.clone())
            });
            sending.await.map(drop)
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.heard.pop_front() {
                return Some(message);
            }
            match self.stream.next().await {
                Ok(Some(Event { name: None, data: Some(data), .. })) => self.take(data),
                Ok(Some(Event { name: Some(name), data: Some(data), .. })) if name == "message" => {
                    self.take(data);
                }
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.ending.because("it ended the stream of events");
                    return None;
                }
                Err(why) => {
                    self.ending.because(format!("the stream of events broke: {why}"));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Failure> {
        self.stream.bytes = futures::stream::empty().boxed();
        Ok(())
    }
}

struct Stream {
    bytes: BoxStream<'static, Result<Bytes, String>>,
    parser: Parser,
    events: VecDeque<Event>,
}

impl Stream {
    async fn next(&mut self) -> Result<Option<Event>, String> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            match self.bytes.next().await {
                Some(Ok(chunk)) => self.parser.push(&chunk, &mut self.events),
                Some(Err(why)) => return Err(why),
                None => return Ok(None),
            }
        }
    }
}
