//! Search engines: what each is asked, and how its answer is read. One file each; nothing in them reaches
//! the network.
//!
//! [`Finder`] chooses the engine by the settings and the keys there are, keeps a polite pace, and asks.

mod brave;
mod duckduckgo;
mod exa;
mod pace;
mod searxng;
mod tavily;

use base::{Env, Secret};
use guard::Runner;
use guard::net::{Gate, Opening, OpeningError};
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, USER_AGENT};
use serde_json::Value;
use settings::{ExpandError, Expander, Network, Search, SearchEngine};
use tokio::sync::OnceCell;
use url::Url;

use super::load::read;
use super::{Web, WebError, header, host};
use crate::tool::ToolError;

/// Most results of one search.
pub(crate) const RESULT_LIMIT: usize = 20;
/// Bytes read of an engine's answer.
const ANSWER_LIMIT: usize = 2 << 20;
/// How we call ourselves to engines and sites: what we are, in the form that sites expect of programs.
pub(crate) const OUR_NAME: &str =
    concat!("Mozilla/5.0 (compatible; caiman/", env!("CARGO_PKG_VERSION"), ")");

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: Url,
    /// What it says about the words searched for.
    pub(crate) snippet: String,
}

impl Hit {
    /// A hit, unless its address is none that could be fetched.
    fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let url = Url::parse(url.trim()).ok()?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        let title = if title.trim().is_empty() { url.as_str() } else { title.trim() };
        is_web.then(|| Self {
            title: title.to_owned(),
            snippet: snippet.trim().to_owned(),
            url: url.clone(),
        })
    }
}

/// A request to an engine.
#[derive(Debug, Clone)]
struct Ask {
    url: Url,
    headers: HeaderMap,
    /// What is posted; none asks with the address alone.
    body: Option<Value>,
}

/// An engine's answer.
struct Reply<'a> {
    status: u16,
    body: &'a str,
}

/// A search engine.
trait Engine: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &'static str;
    /// What to ask it.
    fn ask(&self, query: &str, count: usize) -> Ask;
    /// What it found. Only answers that are not errors by their status come here, and those of 202.
    fn read(&self, reply: &Reply<'_>) -> Result<Vec<Hit>, SearchError>;
}

/// Why there are no results. A model reads it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SearchError {
    /// Too many searches.
    #[error(
        "{0} limits how often it is asked and refuses for now. Do not search again at once: work with what \
         you have, or fetch a page whose address you know."
    )]
    RateLimited(&'static str),
    /// The key is wrong, or its quota is used up.
    #[error(
        "{engine} refuses the key ({status}); the user must check `tools.search.api_key` or {variable}"
    )]
    Key { engine: &'static str, status: u16, variable: &'static str },
    /// There is no key.
    #[error("{engine} needs a key: the user must set `tools.search.api_key` or {variable}")]
    NoKey { engine: &'static str, variable: &'static str },
    /// There is no address.
    #[error("SearXNG needs an address: the user must set `tools.search.url` or SEARXNG_URL")]
    NoAddress,
    /// The address in the settings is none.
    #[error("`tools.search.url` is no address: {0}")]
    BadAddress(url::ParseError),
    /// The address in the settings names a host that cannot be opened.
    #[error("`tools.search.url`: {0}")]
    BadHost(#[from] OpeningError),
    /// A value of the settings cannot be expanded.
    #[error("`tools.search`: {0}")]
    Setting(#[from] ExpandError),
    /// The engine answered with an error.
    #[error("{engine} answered {status}; try again later, or with other words")]
    Status { engine: &'static str, status: u16 },
    /// The answer is not what the engine used to answer.
    #[error("{0} gave an answer that cannot be read; its format may have changed")]
    Unreadable(&'static str),
    /// No answer.
    #[error(transparent)]
    Web(#[from] WebError),
}

impl From<SearchError> for ToolError {
    fn from(error: SearchError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// What came of a search.
#[derive(Debug)]
pub(crate) struct Found {
    /// Who found it.
    pub(crate) engine: &'static str,
    pub(crate) hits: Vec<Hit>,
}

/// Searches as the settings say.
pub(super) struct Finder {
    settings: Search,
    network: Network,
    env: Env,
    ready: OnceCell<Ready>,
}

/// The engines to ask, in turn until one answers, and the way to them.
struct Ready {
    engines: Vec<Box<dyn Engine>>,
    /// Another way than to pages: to the engine the user named, wherever it is.
    web: Option<Web>,
}

impl Finder {
    pub(super) fn new(settings: &Search, network: &Network, env: &Env) -> Self {
        let (settings, network, env) = (settings.clone(), network.clone(), env.clone());
        Self { settings, network, env, ready: OnceCell::new() }
    }

    /// Searches. Every engine is asked politely: not before its turn.
    pub(super) async fn find(
        &self,
        web: &Web,
        query: &str,
        count: usize,
    ) -> Result<Found, SearchError> {
        let ready = self.ready().await?;
        let web = ready.web.as_ref().unwrap_or(web);
        let mut failure = None;
        for engine in &ready.engines {
            let ask = engine.ask(query, count);
            pace::turn(&host(&ask.url), self.settings.pause_ms).await;
            match asked(web, engine.as_ref(), ask).await {
                Ok(mut hits) => {
                    hits.truncate(count);
                    return Ok(Found { engine: engine.name(), hits });
                }
                // That we ask too often is what helps to know, whatever the next way fails by.
                Err(error) => match failure {
                    Some(SearchError::RateLimited(_)) => {}
                    Some(_) | None => failure = Some(error),
                },
            }
        }
        Err(failure.unwrap_or(SearchError::Unreadable("the search engine")))
    }

    /// The address that would be asked first: what the lock judges.
    pub(super) fn address(&self, query: &str) -> Result<Url, SearchError> {
        // Keys are not needed for this, and a command that fetches one is not run before the lock agrees.
        let (kind, url) = (self.kind(), self.own_url()?);
        let engines = engines(kind, url, &Secret::new(""))?;
        Ok(engines[0].ask(query, 1).url)
    }

    async fn ready(&self) -> Result<&Ready, SearchError> {
        self.ready.get_or_try_init(|| async { self.prepare().await }).await
    }

    async fn prepare(&self) -> Result<Ready, SearchError> {
        let (kind, url) = (self.kind(), self.own_url()?);
        let web = url.as_ref().map(|url| self.way_to(url)).transpose()?;
        let engines = engines(kind, url, &self.key(kind).await?)?;
        Ok(Ready { engines, web })
    }

    fn kind(&self) -> SearchEngine {
        if self.settings.engine != SearchEngine::Auto {
            return self.settings.engine;
        }
        let has = |variable: &str| self.env.get(variable).is_some();
        let keyed = [SearchEngine::Brave, SearchEngine::Tavily, SearchEngine::Exa];
        keyed.into_iter().find(|kind| variable(*kind).is_some_and(has)).unwrap_or({
            // An address alone is that of somebody's own engine.
            let is_own = self.settings.url.is_some() || has("SEARXNG_URL");
            if is_own { SearchEngine::Searxng } else { SearchEngine::DuckDuckGo }
        })
    }

    /// The engine's address, where the user names one.
    fn own_url(&self) -> Result<Option<Url>, SearchError> {
        let expander = Expander { env: &self.env, runner: None };
        let text = match &self.settings.url {
            Some(url) => Some(expander.text(url)?),
            None if self.kind() == SearchEngine::Searxng => {
                self.env.get("SEARXNG_URL").map(str::to_owned)
            }
            None => None,
        };
        let text = text.filter(|text| !text.trim().is_empty());
        text.map(|text| Url::parse(text.trim()).map_err(SearchError::BadAddress)).transpose()
    }

    /// A way that leads to the user's own engine and nowhere else that pages may not.
    fn way_to(&self, url: &Url) -> Result<Web, SearchError> {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let opening: Opening = format!("{host}:{port}").parse()?;
        Ok(Web::new(Gate::with([opening]), &self.network, &self.env))
    }

    async fn key(&self, kind: SearchEngine) -> Result<Secret, SearchError> {
        let Some(variable) = variable(kind) else { return Ok(Secret::new("")) };
        let engine = label(kind);
        let told = match self.settings.api_key.clone() {
            Some(template) => {
                let env = self.env.clone();
                // A command may fetch the key, and blocks.
                let expanding = tokio::task::spawn_blocking(move || {
                    Expander { env: &env, runner: Some(&Runner) }.secret(&template)
                });
                expanding.await.unwrap_or(Ok(None))?
            }
            None => None,
        };
        told.or_else(|| self.env.get(variable).map(Secret::new))
            .ok_or(SearchError::NoKey { engine, variable })
    }
}

/// Asks an engine and reads its answer.
async fn asked(web: &Web, engine: &dyn Engine, ask: Ask) -> Result<Vec<Hit>, SearchError> {
    let mut headers = ask.headers;
    headers.extend(header(USER_AGENT, OUR_NAME));
    let response = match &ask.body {
        None => web.get(&ask.url, headers).await?,
        Some(body) => web.post(&ask.url, headers, body.to_string()).await?,
    };
    let status = response.status().as_u16();
    let name = engine.name();
    match (status, key_variable(name)) {
        (200..=299, _) => {}
        // Those without keys refuse whom they take for a robot.
        (429, _) | (403 | 418, None) => return Err(SearchError::RateLimited(name)),
        (401..=403, Some(variable)) => {
            return Err(SearchError::Key { engine: name, status, variable });
        }
        (_, _) => return Err(SearchError::Status { engine: name, status }),
    }
    let (body, _) = read(response, ANSWER_LIMIT).await?;
    let body = String::from_utf8_lossy(&body);
    engine.read(&Reply { status, body: &body })
}

fn engines(
    kind: SearchEngine,
    url: Option<Url>,
    key: &Secret,
) -> Result<Vec<Box<dyn Engine>>, SearchError> {
    Ok(match kind {
        SearchEngine::Auto | SearchEngine::DuckDuckGo => {
            let (pages, lite) = duckduckgo::both(url)?;
            vec![Box::new(pages), Box::new(lite)]
        }
        SearchEngine::Brave => vec![Box::new(brave::Brave::new(url, key)?)],
        SearchEngine::Searxng => {
            vec![Box::new(searxng::Searxng::new(url.ok_or(SearchError::NoAddress)?))]
        }
        SearchEngine::Tavily => vec![Box::new(tavily::Tavily::new(url, key)?)],
        SearchEngine::Exa => vec![Box::new(exa::Exa::new(url, key)?)],
    })
}

/// The variable that has an engine's key.
fn variable(kind: SearchEngine) -> Option<&'static str> {
    match kind {
        SearchEngine::Brave => Some("BRAVE_API_KEY"),
        SearchEngine::Tavily => Some("TAVILY_API_KEY"),
        SearchEngine::Exa => Some("EXA_API_KEY"),
        SearchEngine::Auto | SearchEngine::DuckDuckGo | SearchEngine::Searxng => None,
    }
}

fn label(kind: SearchEngine) -> &'static str {
    match kind {
        SearchEngine::Auto | SearchEngine::DuckDuckGo => duckduckgo::NAME,
        SearchEngine::Brave => brave::NAME,
        SearchEngine::Searxng => searxng::NAME,
        SearchEngine::Tavily => tavily::NAME,
        SearchEngine::Exa => exa::NAME,
    }
}

fn key_variable(name: &str) -> Option<&'static str> {
    let keyed = [SearchEngine::Brave, SearchEngine::Tavily, SearchEngine::Exa];
    keyed.into_iter().find(|kind| label(*kind) == name).and_then(variable)
}

/// The user's address with a path below it, or the usual address.
fn endpoint(own: Option<Url>, path: &str, usual: &str) -> Result<Url, SearchError> {
    let Some(mut own) = own else { return Url::parse(usual).map_err(SearchError::BadAddress) };
    let base = own.path().trim_end_matches('/').to_owned();
    // An address that was given with its path is meant as it is.
    if !base.ends_with(path.trim_end_matches('/')) {
        own.set_path(&format!("{base}{path}"));
    }
    Ok(own)
}

/// Headers of a request that wants JSON, with a key in one of them.
fn json_headers(key: Option<(HeaderName, &str)>) -> HeaderMap {
    let mut headers = header(ACCEPT, "application/json");
    if let Some((name, value)) = key {
        headers.extend(header(name, value));
    }
    headers
}

/// A list of hits in JSON, with the names its fields have.
fn hits(
    list: Option<&Value>,
    engine: &'static str,
    snippets: &[&str],
) -> Result<Vec<Hit>, SearchError> {
    let list = list.and_then(Value::as_array).ok_or(SearchError::Unreadable(engine))?;
    let text = |hit: &Value, name: &str| {
        let value = hit.get(name)?;
        let first = value.as_array().and_then(|texts| texts.first()).unwrap_or(value);
        first.as_str().filter(|text| !text.trim().is_empty()).map(plain)
    };
    let read = |hit: &Value| {
        let snippet = snippets.iter().find_map(|name| text(hit, name)).unwrap_or_default();
        Hit::new(&text(hit, "title").unwrap_or_default(), hit.get("url")?.as_str()?, &snippet)
    };
    Ok(list.iter().filter_map(read).collect())
}

/// Text without the tags that engines mark words with.
fn plain(text: &str) -> String {
    if !text.contains(['<', '&']) {
        return text.to_owned();
    }
    dom_query::Document::fragment(text).text().to_string()
}

fn parsed(reply: &Reply<'_>, engine: &'static str) -> Result<Value, SearchError> {
    serde_json::from_str(reply.body).map_err(|_| SearchError::Unreadable(engine))
}

#[cfg(test)]
mod tests;
