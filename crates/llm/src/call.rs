//! One call: send, time out, try again, stream.
//!
//! Trying again happens only in [`Caller::open`], before anything of the answer has been handed out:
//! a half-received answer is never replayed as if whole.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base::HttpExchange;
use tokio::time::{timeout, timeout_at};

use crate::delta::Delta;
use crate::demo::{self, Beat};
use crate::error::{Class, Error};
use crate::framing::Framing;
use crate::http::{self, Http};
use crate::request::Request;
use crate::retry::Retry;
use crate::target::{Target, Transport};
use crate::transport::{self, Prepared, Signer};
use crate::wire::{self, Decode};

const RESPONSE_TIMEOUT_S: u64 = 300;
const IDLE_TIMEOUT_S: u64 = 120;
/// How long words that follow at once are gathered: nobody sees two milliseconds, but a write and a
/// wake-up for each of 20,000 words is felt.
const GATHER: Duration = Duration::from_millis(2);
/// Most chunks gathered.
const CHUNKS_AT_ONCE: usize = 256;
/// How long to wait for counts once the model has stopped.
const LINGER: Duration = Duration::from_secs(2);
/// Most that is read of an error's body.
const ERROR_BODY_LIMIT: usize = 256 * 1024;

/// Calls models. Cheap to clone; clones share connections and cloud tokens.
#[derive(Debug, Clone)]
pub struct Caller {
    http: Http,
    signer: Arc<Signer>,
    retry: Retry,
}

/// A call that failed in a way that may pass.
#[derive(Debug, Clone)]
pub struct Retrying {
    /// Which try comes next, counted from one.
    pub attempt: u32,
    /// How long we wait first.
    pub wait: Duration,
    /// What went wrong.
    pub error: Error,
}

impl Caller {
    /// Makes a caller; `signer` finds the credentials of AWS and Google Cloud.
    pub fn new(http: Http, signer: Signer) -> Self {
        Self { http, signer: Arc::new(signer), retry: Retry::default() }
    }

    /// The same caller with another patience.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sends a request and waits until the answer begins. Errors that may pass are tried again, each
    /// announced to `retrying` first.
    pub async fn open(
        &self,
        target: &Target,
        request: &Request,
        retrying: &mut (dyn FnMut(Retrying) + Send),
    ) -> Result<Reply, Error> {
        if target.transport == Transport::Demo {
            return Ok(Reply::scripted(demo::script(request)));
        }
        let streaming = target.quirks.stream.unwrap_or(true);
        let prepared = transport::prepare(wire::encode(request, target), target, streaming)?;
        let retry = Retry { tries: target.network.tries.unwrap_or(self.retry.tries), ..self.retry };
        let mut attempt = 1;
        let mut renewed = false;
        loop {
            let error = match self.attempt(target, prepared.clone()).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            // A cloud's token may expire between two calls; a fresh one is worth one more try.
            if error.class == Class::Auth && !renewed && self.signer.renew(target).await? {
                renewed = true;
                continue;
            }
            let Some(wait) = retry.wait(attempt, &error, fastrand::f64()) else {
                return Err(error);
            };
            attempt += 1;
            retrying(Retrying { attempt, wait, error });
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, target: &Target, mut prepared: Prepared) -> Result<Reply, Error> {
        let client = self.http.client(&prepared.url, &target.network)?;
        self.signer.authorize(&client, &mut prepared, target).await?;
        let (method, url) = (prepared.method.as_str(), &prepared.url);
        let exchange = HttpExchange::start(method, &http::address(url), url.path());
        let response = send(&client, target, prepared, exchange.as_deref()).await?;
        let mut reply = Reply::received(target, response, exchange)?;
        reply.await_content().await?;
        Ok(reply)
    }
}

async fn send(
    client: &reqwest::Client,
    target: &Target,
    prepared: Prepared,
    exchange: Option<&HttpExchange>,
) -> Result<reqwest::Response, Error> {
    let host = http::address(&prepared.url);
    let request = client
        .request(prepared.method, prepared.url)
        .headers(prepared.headers)
        .body(prepared.body)
        .build()
        .map_err(|error| http::failure(&error, &host))?;
    let limit = seconds(target.network.response_timeout_s, RESPONSE_TIMEOUT_S);
    let response = timeout(limit, client.execute(request))
        .await
        .map_err(|_| silent(&host, limit))?
        .map_err(|error| http::failure(&error, &host))?;
    if let Some(exchange) = exchange {
        exchange.answered(response.status().as_u16());
    }
    if response.status().is_success() {
        Ok(response)
    } else {
        Err(refusal(response, limit, exchange).await)
    }
}

fn seconds(set: Option<u64>, usual: u64) -> Duration {
    Duration::from_secs(set.unwrap_or(usual))
}

fn silent(host: &str, limit: Duration) -> Error {
    Error::new(Class::Timeout, format!("{host} was silent for {} s", limit.as_secs()))
}

/// What a status other than success means.
async fn refusal(
    mut response: reqwest::Response,
    limit: Duration,
    exchange: Option<&HttpExchange>,
) -> Error {
    let status = response.status();
    let headers = response.headers().clone();
    if status.is_redirection() {
        let to =
            headers.get("location").and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
        let message = format!("the address redirects to {to}: set the provider's base_url to it");
        return Error { status: Some(status.as_u16()), ..Error::new(Class::BadRequest, message) };
    }
    let mut body = Vec::new();
    while body.len() < ERROR_BODY_LIMIT
        && let Ok(Ok(Some(bytes))) = timeout(limit, response.chunk()).await
    {
        body.extend_from_slice(&bytes);
    }
    if let Some(exchange) = exchange {
        exchange.received(body.len());
    }
    Error::from_response(status.as_u16(), &headers, &body)
}

/// An answer while it arrives.
pub struct Reply {
    source: Source,
    ready: Vec<Delta>,
}

enum Source {
    Network(Box<Network>),
    Script(VecDeque<Beat>),
    Failed(Error),
    Ended,
}

struct Network {
    response: reqwest::Response,
    framing: Framing,
    decoder: Box<dyn Decode>,
    host: String,
    idle: Duration,
    /// The model has stopped; at most counts may follow.
    stopped: bool,
    /// What the log is told when the answer has ended.
    exchange: Option<Arc<HttpExchange>>,
}

impl Reply {
    fn scripted(beats: Vec<Beat>) -> Self {
        Self { source: Source::Script(beats.into()), ready: Vec::new() }
    }

    fn received(
        target: &Target,
        response: reqwest::Response,
        exchange: Option<Arc<HttpExchange>>,
    ) -> Result<Self, Error> {
        let kind = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let framing = Framing::of(kind.unwrap_or_default())?;
        let network = Network {
            framing,
            decoder: wire::decoder(target),
            host: http::address(response.url()),
            idle: seconds(target.network.idle_timeout_s, IDLE_TIMEOUT_S),
            stopped: false,
            exchange,
            response,
        };
        Ok(Self { source: Source::Network(Box::new(network)), ready: Vec::new() })
    }

    /// Reads until the model has begun to speak, so that an early failure can still be tried again. A
    /// failure that comes with the first words waits until they have been handed out.
    async fn await_content(&mut self) -> Result<(), Error> {
        let mut ready = Vec::new();
        loop {
            let more = self.next(&mut ready).await;
            let begun =
                ready.iter().any(|delta| matches!(delta, Delta::Open { .. } | Delta::Stop(_)));
            match more {
                Err(error) if begun => self.source = Source::Failed(error),
                Ok(true) if !begun => continue,
                Ok(_) => {}
                Err(error) => return Err(error),
            }
            self.ready = ready;
            return Ok(());
        }
    }

    /// Waits for the next deltas and adds them to `out`; false once the answer is whole. What came
    /// before an error is in `out` all the same.
    pub async fn next(&mut self, out: &mut Vec<Delta>) -> Result<bool, Error> {
        if !self.ready.is_empty() {
            out.append(&mut self.ready);
            return Ok(true);
        }
        let had = out.len();
        while out.len() == had {
            let goes_on = match &mut self.source {
                Source::Ended => return Ok(false),
                Source::Failed(error) => return Err(error.clone()),
                Source::Network(network) => network.read(out).await?,
                Source::Script(beats) => play(beats, out).await,
            };
            if !goes_on {
                self.source = Source::Ended;
            }
        }
        Ok(true)
    }
}

async fn play(beats: &mut VecDeque<Beat>, out: &mut Vec<Delta>) -> bool {
    let Some(beat) = beats.pop_front() else { return false };
    tokio::time::sleep(beat.wait).await;
    out.extend(beat.deltas);
    true
}

impl Network {
    /// Reads one chunk; false at the end of a whole answer.
    async fn read(&mut self, out: &mut Vec<Delta>) -> Result<bool, Error> {
        let patience = if self.stopped { LINGER.min(self.idle) } else { self.idle };
        let Ok(received) = timeout(patience, self.response.chunk()).await else {
            // A server that holds the line open after its last event has still said everything.
            let whole = self.framing.finish(&mut *self.decoder, out);
            return whole.map(|()| false).map_err(|_| silent(&self.host, self.idle));
        };
        let had = out.len();
        let mut received = received;
        // Servers send each word in a chunk of its own; those that follow at once come along.
        let until = tokio::time::Instant::now() + GATHER;
        let mut room = CHUNKS_AT_ONCE;
        loop {
            match received.map_err(|error| http::failure(&error, &self.host))? {
                Some(bytes) => {
                    if let Some(exchange) = &self.exchange {
                        exchange.received(bytes.len());
                    }
                    self.framing.push(&bytes, &mut *self.decoder, out)?;
                }
                None => return self.framing.finish(&mut *self.decoder, out).map(|()| false),
            }
            room -= 1;
            if room == 0 {
                break;
            }
            let Ok(next) = timeout_at(until, self.response.chunk()).await else { break };
            received = next;
        }
        self.stopped |= out[had..].iter().any(|delta| matches!(delta, Delta::Stop(_)));
        Ok(true)
    }
}
