//! Asking servers for their models.
//!
//! Every server that speaks an `OpenAI` wire lists its models under `/models`; most local ones tell more
//! (the size of the context window, whether a model sees or thinks) under an address of their own,
//! which is asked first. [`parse`] reads the answers.

mod parse;

use std::time::Duration;

use base::{Clock, ModelRef, Timestamp};
use futures::future::join_all;
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use settings::provider::{Model, Network, ProviderKind};
use url::Url;

use crate::catalog::{Catalog, Endpoint, ResolveError, SeenError, SeenModels, Size};
use crate::error::{Class, Error};
use crate::http::{Http, failure};
use crate::target::{Auth, Transport};

/// Seconds to wait for a connection to a server of one's own: it is near, or it is not there.
const NEAR_CONNECT_S: u64 = 1;
/// How long one list may take, whoever is asked.
const LIST_LIMIT: Duration = Duration::from_secs(3);
/// How long a list counts as what the server has: a local model is soon pulled or reloaded.
const FRESH: Duration = Duration::from_hours(1);
/// Gateways list hundreds of models at about 2 kB each.
const BODY_LIMIT: usize = 16 * 1024 * 1024;
/// Models of one Ollama that are asked for details at once, and at all: each costs a request.
const DETAILS_AT_ONCE: usize = 8;
const MOST_DETAILS: usize = 64;
/// Asks servers for their models.
#[derive(Debug, Clone)]
pub struct Finder {
    http: Http,
    limit: Duration,
}

impl Finder {
    /// Asks through `http`, under the network settings of whoever is asked.
    pub fn new(http: Http) -> Self {
        Self { http, limit: LIST_LIMIT }
    }

    /// The same with another limit for one list.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The models a server lists.
    pub async fn models(&self, endpoint: &Endpoint) -> Result<Vec<Model>, Error> {
        match tokio::time::timeout(self.limit, self.list(endpoint)).await {
            Ok(listed) => listed,
            Err(_) => Err(Error::new(
                Class::Timeout,
                format!("no list of models within {} s", self.limit.as_secs_f32()),
            )),
        }
    }

    async fn list(&self, endpoint: &Endpoint) -> Result<Vec<Model>, Error> {
        match endpoint.transport {
            Transport::Direct => {}
            Transport::Demo => return Ok(Vec::new()),
            Transport::Azure { .. } | Transport::Bedrock { .. } | Transport::Vertex { .. } => {
                return Err(unlisted("this cloud lists no models by key"));
            }
        }
        let root = endpoint.base_url.trim_end_matches("/v1");
        let own = match endpoint.kind {
            ProviderKind::Ollama => self.ollama(endpoint, root).await,
            ProviderKind::Llamacpp => self.llama_cpp(endpoint, root).await,
            ProviderKind::Lmstudio => self
                .get(endpoint, &format!("{root}/api/v0/models"))
                .await
                .map(|v| parse::lm_studio(&v)),
            ProviderKind::Litellm => {
                self.get(endpoint, &format!("{root}/model/info")).await.map(|v| parse::litellm(&v))
            }
            ProviderKind::Demo => return Err(unlisted("the demo is not a server")),
            ProviderKind::Openai
            | ProviderKind::OpenaiCompat
            | ProviderKind::Anthropic
            | ProviderKind::Google
            | ProviderKind::GoogleVertex
            | ProviderKind::Azure
            | ProviderKind::Bedrock
            | ProviderKind::Openrouter
            | ProviderKind::Vercel
            | ProviderKind::Omlx => Ok(Vec::new()),
        };
        match own {
            Ok(models) if !models.is_empty() => Ok(models),
            // Nobody is there: the general address would not answer either.
            Err(error) if error.class == Class::Network => Err(error),
            Ok(_) | Err(_) => self.general(endpoint).await,
        }
    }

    /// The list most servers have.
    async fn general(&self, endpoint: &Endpoint) -> Result<Vec<Model>, Error> {
        // Both give twenty or fifty at a time unless told otherwise.
        let page = if endpoint.kind == ProviderKind::Anthropic {
            "?limit=1000"
        } else if endpoint.kind == ProviderKind::Google {
            "?pageSize=1000"
        } else {
            ""
        };
        let answer = self.get(endpoint, &format!("{}/models{page}", endpoint.base_url)).await?;
        parse::general(&answer).ok_or_else(|| Error::protocol("its list of models is none"))
    }

    async fn ollama(&self, endpoint: &Endpoint, root: &str) -> Result<Vec<Model>, Error> {
        let tags = self.get(endpoint, &format!("{root}/api/tags")).await?;
        let names: Vec<String> = parse::ollama_names(&tags);
        let detail = |at: usize, name: String| async move {
            if at >= MOST_DETAILS {
                return Some(Model { id: name, ..Model::default() });
            }
            let address = format!("{root}/api/show");
            match self.send(endpoint, &address, Some(json!({ "model": name }))).await {
                Ok(shown) => parse::ollama_model(name, &shown),
                Err(_) => Some(Model { id: name, ..Model::default() }),
            }
        };
        let details = stream::iter(names.into_iter().enumerate());
        let details = details.map(|(at, name)| detail(at, name)).buffered(DETAILS_AT_ONCE);
        Ok(details.filter_map(|model| async { model }).collect().await)
    }

    async fn llama_cpp(&self, endpoint: &Endpoint, root: &str) -> Result<Vec<Model>, Error> {
        let mut models = self.general(endpoint).await?;
        if let Ok(props) = self.get(endpoint, &format!("{root}/props")).await {
            for model in &mut models {
                parse::llama_cpp_props(model, &props);
            }
        }
        Ok(models)
    }

    async fn get(&self, endpoint: &Endpoint, url: &str) -> Result<Value, Error> {
        self.send(endpoint, url, None).await
    }

    async fn send(
        &self,
        endpoint: &Endpoint,
        url: &str,
        body: Option<Value>,
    ) -> Result<Value, Error> {
        let address = Url::parse(url).map_err(|_| unlisted("its base URL is none"))?;
        let client = self.http.client(&address, &patience(endpoint))?;
        let host = address.host_str().unwrap_or_default().to_owned();
        let mut request = match body {
            Some(body) => client
                .post(address)
                .header("content-type", "application/json")
                .body(body.to_string()),
            None => client.get(address),
        };
        request = match &endpoint.auth {
            Auth::Bearer(key) => request.bearer_auth(key.expose()),
            Auth::Header { name, value } => request.header(name, value.expose()),
            Auth::Anonymous | Auth::Cloud => request,
        };
        if endpoint.kind == ProviderKind::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        for (name, value) in endpoint.headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| failure(&error, &host))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = bounded(response, &host).await?;
        if !status.is_success() {
            return Err(Error::from_response(status.as_u16(), &headers, &text));
        }
        serde_json::from_slice(&text).map_err(Error::protocol)
    }
}

impl Catalog {
    /// The model to use when the user names none: [`Catalog::default_model`], else the first model of
    /// a server that answers.
    pub async fn find_default(
        &self,
        size: Size,
        finder: &Finder,
    ) -> Result<ModelRef, ResolveError> {
        let nothing_set_up = match self.default_model(size) {
            Err(error @ ResolveError::NoModel(_)) => error,
            other => return other,
        };
        let servers = self.servers();
        let lists = join_all(servers.iter().map(|server| finder.models(server))).await;
        for (server, listed) in servers.iter().zip(lists) {
            let models = listed.unwrap_or_default();
            if let Some(first) = models.first().map(|model| model.id.clone()) {
                self.keep(&server.provider, models);
                return Ok(ModelRef::new(&server.provider, first));
            }
        }
        Err(nothing_set_up)
    }

    /// Learns what only a local server knows of a model (its window above all), unless that was done
    /// within the last hour. A server that does not answer teaches nothing, which is no failure.
    pub async fn learn(&self, model: &ModelRef, finder: &Finder) {
        let Some(server) = self.local_server(&model.provider) else { return };
        let seen = self.seen().load(&model.provider);
        let is_fresh = seen.is_some_and(|seen| {
            let knows = seen.models.iter().any(|known| known.id == model.model);
            knows && seen.age(Clock::system().now()) < FRESH
        });
        if !is_fresh && let Ok(models) = finder.models(&server).await {
            self.keep(&model.provider, models);
        }
    }

    /// Keeps a list for later. Without it the next run asks again, so a full disk is no failure.
    fn keep(&self, provider: &str, models: Vec<Model>) {
        let at = Clock::system().now();
        if let Err(error) = self.seen().store(provider, &SeenModels { at, models }) {
            tracing::warn!(provider, %error, "the list of models is not kept");
        }
    }

    /// Asks one provider for its models, keeps the list, and tells what is new.
    pub async fn refresh(
        &self,
        provider: &str,
        finder: &Finder,
        now: Timestamp,
    ) -> Result<Changes, RefreshError> {
        let models = finder.models(&self.endpoint(provider)?).await?;
        let before = self.seen().load(provider);
        let known: Vec<String> = self.listed_ids(provider)?;
        let changes = changes(&known, before.as_ref(), &models);
        self.seen().store(provider, &SeenModels { at: now, models })?;
        Ok(changes)
    }
}

/// Why a provider's list could not be renewed.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// It is not set up.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// It gives no list.
    #[error(transparent)]
    Ask(#[from] Error),
    /// The list cannot be kept.
    #[error(transparent)]
    Keep(#[from] SeenError),
}

/// How a provider's list differs from what was known.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// How many models it lists.
    pub listed: usize,
    /// Ids not known before.
    pub added: Vec<String>,
    /// Ids seen before and listed no longer.
    pub removed: Vec<String>,
}

/// Compares a new list with what was seen last time and with the ids the catalogue has.
pub fn changes(known: &[String], before: Option<&SeenModels>, now: &[Model]) -> Changes {
    let seen: Vec<&str> =
        before.iter().flat_map(|seen| &seen.models).map(|model| model.id.as_str()).collect();
    let is_known = |id: &str| seen.contains(&id) || known.iter().any(|known| known == id);
    let ids = now.iter().map(|model| model.id.as_str());
    let added = ids.filter(|id| !is_known(id)).map(str::to_owned).collect();
    let is_listed = |id: &&str| now.iter().any(|model| model.id == **id);
    let removed = seen.iter().filter(|id| !is_listed(id)).map(|&id| id.to_owned()).collect();
    Changes { listed: now.len(), added, removed }
}

/// The provider's network settings, with less patience for a server of the user's own.
fn patience(endpoint: &Endpoint) -> Network {
    let mut network = endpoint.network.clone();
    if endpoint.auth == Auth::Anonymous && network.connect_timeout_s.is_none() {
        network.connect_timeout_s = Some(NEAR_CONNECT_S);
    }
    network
}

async fn bounded(mut response: reqwest::Response, host: &str) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error, host))? {
        if text.len() + chunk.len() > BODY_LIMIT {
            return Err(Error::protocol("its list of models is too long"));
        }
        text.extend_from_slice(&chunk);
    }
    Ok(text)
}

fn unlisted(why: &str) -> Error {
    Error::new(Class::BadRequest, why)
}
