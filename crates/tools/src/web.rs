//! The web, for tools: requests that cannot be led astray, and pages as text.
//!
//! | module | does |
//! |---|---|
//! | [`client`] | the HTTP client: certificates, proxies, and a resolver that asks the gate |
//! | [`cache`] | answers kept on disk, as long as their servers say |
//! | [`decode`] | what a body is, and its text in whatever encoding |
//! | [`load`] | an answer: kept, asked for again, or new |
//! | [`page`] | HTML as Markdown or plain text |
//! | [`readable`] | an answer of any kind as text |
//! | [`excerpt`] | the beginning of a long text, and all of it in a file |
//! | [`visit`] | the pages of one run: fetched once, saved if long, remembered as sources |
//! | [`engine`] | search engines |
//! | [`frame`] | words from the web set apart from ours |
//!
//! Every address goes through [`guard::net::Gate`]: as written, at each redirect, and as it resolves.

pub(crate) mod cache;
mod client;
pub(crate) mod decode;
pub(crate) mod engine;
pub(crate) mod excerpt;
pub mod frame;
mod load;
pub(crate) mod page;
pub(crate) mod readable;
#[cfg(test)]
mod tests;
pub mod visit;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::{Env, HttpExchange};
use bytes::Bytes;
use guard::net::{Gate, NetError, Opening};
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, USER_AGENT,
};
use reqwest::{RequestBuilder, Response, StatusCode};
use settings::{Network, Search, Tools};
use url::{Position, Url};

use crate::tool::ToolError;
use crate::workspace::ToolCtx;

use client::{Clients, Lookup};
use engine::{Finder, Found, SearchError};
use visit::{Source, Visits};

/// Time an answer may take unless a call says otherwise.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// How tools reach the web. Clones share connections; nothing is built before the first request.
#[derive(Clone)]
pub struct Web {
    gate: Arc<Gate>,
    clients: Arc<Clients>,
    finder: Arc<Finder>,
    visits: Visits,
}

/// Why there is no answer. A model reads it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebError {
    /// The text is no address.
    #[error("`{text}` is not a web address ({why}); write it like https://example.com/page")]
    Address {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: url::ParseError,
    },
    /// The gate refuses.
    #[error(transparent)]
    Refused(#[from] NetError),
    /// The client could not be made.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
    /// No connection.
    #[error("{host}: {why}")]
    Unreachable {
        /// Who was asked.
        host: String,
        /// What went wrong, innermost.
        why: String,
    },
    /// No answer, or half of one.
    #[error("{host}: {why}")]
    Failed {
        /// Who was asked.
        host: String,
        /// What went wrong, innermost.
        why: String,
    },
    /// It took too long.
    #[error("{host} did not answer within {seconds} s; try again, or with a longer `timeout`")]
    Late {
        /// Who was asked.
        host: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// It took too long, and nobody can ask for more time.
    #[error("{host} did not answer within {seconds} s; go on with another page")]
    Slow {
        /// Who was asked.
        host: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A redirect that says nothing of use.
    #[error("{0} redirects to nowhere")]
    Nowhere(String),
    /// A redirect to a host that nobody has judged.
    #[error("{host} redirects to another host; if you want that page, ask for {to}")]
    Elsewhere {
        /// Who was asked.
        host: String,
        /// Where it points.
        to: Url,
    },
    /// The server says no.
    #[error("{host} answered {status}{hint}")]
    Status {
        /// Who was asked.
        host: String,
        /// Its answer.
        status: StatusCode,
        /// What to do about it.
        hint: &'static str,
    },
}

impl Web {
    /// Reaches what `gate` lets through, by the proxy and with the certificates of `network` or else of the
    /// environment.
    pub fn new(gate: Gate, network: &Network, env: &Env) -> Self {
        Self::with_lookup(gate, network, env, client::system_lookup())
    }

    /// As the settings say. Entries of `tools.fetch.allow_private` that cannot be read are returned as
    /// warnings and let nothing through.
    pub fn from_settings(tools: &Tools, network: &Network, env: &Env) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut openings = Vec::new();
        for text in &tools.fetch.allow_private {
            match text.parse::<Opening>() {
                Ok(opening) => openings.push(opening),
                Err(error) => warnings.push(format!("tools.fetch.allow_private: {error}")),
            }
        }
        let web = Self::new(Gate::with(openings), network, env);
        (web.searching(&tools.search, network, env), warnings)
    }

    /// The same way to the web, searched as `settings` say.
    #[must_use]
    pub fn searching(mut self, settings: &Search, network: &Network, env: &Env) -> Self {
        self.finder = Arc::new(Finder::new(settings, network, env));
        self
    }

    /// The same way to the web for another run, which has visited nothing yet.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { visits: Visits::default(), ..self.clone() }
    }

    /// The pages `web_fetch` has fetched in this run, in order.
    pub fn sources(&self) -> Vec<Source> {
        self.visits.sources()
    }

    /// Searches the web.
    pub(crate) async fn search(&self, query: &str, count: usize) -> Result<Found, SearchError> {
        self.finder.find(self, query, count).await
    }

    /// The address that a search would ask.
    pub(crate) fn search_address(&self, query: &str) -> Result<Url, SearchError> {
        self.finder.address(query)
    }

    fn with_lookup(gate: Gate, network: &Network, env: &Env, lookup: Lookup) -> Self {
        let gate = Arc::new(gate);
        let clients = Clients::new(gate.clone(), network, env, lookup);
        let finder = Arc::new(Finder::new(&Search::default(), network, env));
        Self { gate, clients: Arc::new(clients), finder, visits: Visits::default() }
    }

    /// Reads an address and judges it as it is written.
    pub(crate) fn address(&self, text: &str) -> Result<Url, WebError> {
        let url = parse(text)?;
        self.gate.check(&url)?;
        Ok(url)
    }

    /// Asks for `url` and follows redirects on the same host. Another host is another question to the lock,
    /// so that a redirect passes no rule. The answer's body is not read yet.
    ///
    /// An `http` address is tried as `https` first, and as it is written only if that cannot be reached.
    pub(crate) async fn get(&self, url: &Url, headers: HeaderMap) -> Result<Response, WebError> {
        self.gate.check(url)?;
        if let Some(secure) = self.secure(url) {
            match self.follow(&secure, headers.clone()).await {
                // A server that leads back to `http` does not serve the page otherwise.
                Err(WebError::Unreachable { .. } | WebError::Refused(NetError::Downgrade(_))) => {}
                asked => return asked,
            }
        }
        self.follow(url, headers).await
    }

    /// The same address with `https`; `None` where it is used as written: another port than 80, which serves one
    /// protocol only, or a host that `tools.fetch.allow_private` names.
    fn secure(&self, url: &Url) -> Option<Url> {
        if url.scheme() != "http" || url.port().is_some() || self.gate.names(url) {
            return None;
        }
        let mut secure = url.clone();
        secure.set_scheme("https").ok()?;
        self.gate.check(&secure).ok()?;
        Some(secure)
    }

    async fn follow(&self, url: &Url, headers: HeaderMap) -> Result<Response, WebError> {
        let mut url = url.clone();
        // What is meant for one host stays with it: conditions, tokens.
        let mut headers = headers;
        for hops in 1.. {
            let client = self.clients.client(&url).await?;
            let request = client.get(url.clone()).headers(headers.clone());
            let answer = send(request, "GET", &url).await?;
            if !is_redirect(answer.status()) {
                return Ok(answer);
            }
            let next = location(&answer).ok_or_else(|| WebError::Nowhere(url.to_string()))?;
            self.gate.check_redirect(&url, &next, hops)?;
            if !is_same_site(&url, &next) {
                let host = url.host_str().unwrap_or_default().to_owned();
                return Err(WebError::Elsewhere { host, to: next });
            }
            if (next.scheme(), next.host(), next.port()) != (url.scheme(), url.host(), url.port()) {
                headers = general(headers);
            }
            url = next;
        }
        unreachable!("the gate ends every chain of redirects")
    }

    /// Posts JSON to `url`. No redirect is followed: what is posted is meant for one host.
    pub(crate) async fn post(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: String,
    ) -> Result<Response, WebError> {
        self.gate.check(url)?;
        let client = self.clients.client(url).await?;
        let request = client.post(url.clone()).headers(headers);
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let answer = send(request, "POST", url).await?;
        if is_redirect(answer.status()) {
            return Err(WebError::Nowhere(host(url)));
        }
        Ok(answer)
    }
}

/// Sends a request. The exchange is logged when the answer is dropped.
async fn send(request: RequestBuilder, method: &str, url: &Url) -> Result<Response, WebError> {
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let exchange = HttpExchange::start(method, host, url.path());
    let mut answer = request.send().await.map_err(|error| failed(url, &error))?;
    if let Some(exchange) = exchange {
        exchange.answered(answer.status().as_u16());
        answer.extensions_mut().insert(exchange);
    }
    Ok(answer)
}

/// The next piece of an answer's body; `None` at its end.
pub(crate) async fn chunk(response: &mut Response) -> Result<Option<Bytes>, WebError> {
    let chunk = response.chunk().await.map_err(|error| failed(response.url(), &error))?;
    if let (Some(bytes), Some(exchange)) =
        (&chunk, response.extensions().get::<Arc<HttpExchange>>())
    {
        exchange.received(bytes.len());
    }
    Ok(chunk)
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("gate", &self.gate).finish_non_exhaustive()
    }
}

/// A page's HTML as Markdown: its article or main part where it has one, without what nobody sees.
pub fn to_markdown(html: &str, url: &Url) -> String {
    page::render(html, url, page::Format::Markdown).text
}

/// Reads an address; a bare `example.com/page` is meant as https.
pub(crate) fn parse(text: &str) -> Result<Url, WebError> {
    let text = text.trim();
    let parsed = match Url::parse(text) {
        Err(url::ParseError::RelativeUrlWithoutBase) => Url::parse(&format!("https://{text}")),
        other => other,
    };
    parsed.map_err(|why| WebError::Address { text: text.to_owned(), why })
}

/// What a status means, unless it means that all is well.
pub(crate) fn check_status(answer: &Response) -> Result<(), WebError> {
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let hint = match status.as_u16() {
        401 | 403 => "; the page needs a login or refuses programs",
        404 | 410 => "; check the address, or search for the page",
        429 => "; too many requests: wait before you try again",
        500..=599 => "; the server has a problem: try again later",
        _ => "",
    };
    Err(WebError::Status { host: host(answer.url()), status, hint })
}

/// What went wrong with a request, in the innermost words: the outer ones only repeat the address.
pub(crate) fn failed(url: &Url, error: &reqwest::Error) -> WebError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        if let Some(refused) = inner.downcast_ref::<NetError>() {
            return WebError::Refused(refused.clone());
        }
        cause = inner;
    }
    let (host, why) = (host(url), cause.to_string());
    if error.is_connect() {
        WebError::Unreachable { host, why }
    } else {
        WebError::Failed { host, why }
    }
}

/// Host and port, for messages.
pub(crate) fn host(url: &Url) -> String {
    url[url::Position::BeforeHost..url::Position::AfterPort].to_owned()
}

/// Whether two addresses are on one host, `www.` or not.
fn is_same_site(one: &Url, other: &Url) -> bool {
    let bare = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    bare(one) == bare(other)
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn location(answer: &Response) -> Option<Url> {
    let text = answer.headers().get(LOCATION)?;
    answer.url().join(std::str::from_utf8(text.as_bytes()).ok()?.trim()).ok()
}

/// Time for a call: what it asks for, within bounds.
pub(crate) fn time(asked_s: Option<u64>, usual: Duration, limit_s: u64) -> Duration {
    asked_s.map_or(usual, |seconds| Duration::from_secs(seconds.clamp(1, limit_s)))
}

/// Waits for `work` on `url`, but not beyond `time` or the call's end.
pub(crate) async fn within<T>(
    ctx: &ToolCtx,
    url: &Url,
    time: Duration,
    work: impl Future<Output = Result<T, WebError>>,
) -> Result<T, ToolError> {
    match ctx.cancel.run_until_cancelled(tokio::time::timeout(time, work)).await {
        Some(Ok(done)) => Ok(done?),
        Some(Err(_)) => Err(WebError::Late { host: host(url), seconds: time.as_secs() }.into()),
        None => Err(ToolError::Cancelled),
    }
}

impl From<WebError> for ToolError {
    fn from(error: WebError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// What may be told to another host than the first.
fn general(mut headers: HeaderMap) -> HeaderMap {
    let told = [ACCEPT, USER_AGENT].map(|name| Some((name.clone(), headers.remove(name)?)));
    told.into_iter().flatten().collect()
}

/// A header map of one header, if its value is one.
pub(crate) fn header(name: HeaderName, value: &str) -> HeaderMap {
    HeaderValue::from_str(value)
        .map(|value| HeaderMap::from_iter([(name, value)]))
        .unwrap_or_default()
}
