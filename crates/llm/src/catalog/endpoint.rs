//! Where a provider is: base URL, transport, headers.

use std::collections::BTreeMap;

use base::{Env, Secret};
use settings::provider::{Network, ProviderKind, Wire};

use super::address::tidy;
use super::embedded;
use super::key::KeySource;
use super::{Catalog, Known, ResolveError};
use crate::credentials::Place;
use crate::target::{Auth, Transport};

/// The region used when nothing names one.
const USUAL_AWS_REGION: &str = "us-east-1";
/// The location used when nothing names one: it has every model.
const USUAL_GOOGLE_LOCATION: &str = "global";
const AWS_REGION_VARIABLES: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
const GOOGLE_PROJECT_VARIABLES: [&str; 5] = [
    "VERTEXAI_PROJECT",
    "GOOGLE_VERTEX_PROJECT",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "GOOGLE_CLOUD_PROJECT",
    "GCLOUD_PROJECT",
];
const GOOGLE_LOCATION_VARIABLES: [&str; 4] =
    ["VERTEXAI_LOCATION", "GOOGLE_VERTEX_LOCATION", "GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"];

/// A provider, ready to be asked.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The provider's id.
    pub provider: String,
    /// What kind of server it is.
    pub kind: ProviderKind,
    /// Base URL without a slash at its end; empty where the transport knows it by the region.
    pub base_url: String,
    /// How it is reached.
    pub transport: Transport,
    /// The key.
    pub auth: Auth,
    /// More headers.
    pub headers: BTreeMap<String, String>,
    /// Timeouts, proxy, certificates.
    pub network: Network,
}

/// Whether a kind of server runs on the user's own machine and asks for no key.
pub(super) fn is_local(kind: ProviderKind) -> bool {
    match kind {
        ProviderKind::Llamacpp
        | ProviderKind::Omlx
        | ProviderKind::Lmstudio
        | ProviderKind::Litellm
        | ProviderKind::Ollama => true,
        ProviderKind::Openai
        | ProviderKind::OpenaiCompat
        | ProviderKind::Anthropic
        | ProviderKind::Google
        | ProviderKind::GoogleVertex
        | ProviderKind::Azure
        | ProviderKind::Bedrock
        | ProviderKind::Openrouter
        | ProviderKind::Vercel
        | ProviderKind::Demo => false,
    }
}

pub(super) fn project_variables() -> Vec<String> {
    GOOGLE_PROJECT_VARIABLES.map(str::to_owned).to_vec()
}

pub(super) fn project(known: &Known<'_>, env: &Env) -> Option<String> {
    let from_env = || first_set(env, &GOOGLE_PROJECT_VARIABLES).map(str::to_owned);
    known.provider.project.clone().or_else(from_env)
}

impl Catalog {
    /// Where a provider is and what it takes to ask it.
    pub fn endpoint(&self, provider: &str) -> Result<Endpoint, ResolveError> {
        let known = self.known(provider)?;
        let wire = known.provider.wire.unwrap_or_else(|| wire_of(known.kind()));
        self.endpoint_on(&known, wire)
    }

    /// The same with `key` instead of the one that would be found, to try it out.
    pub fn endpoint_with_key(
        &self,
        provider: &str,
        key: &Secret,
    ) -> Result<Endpoint, ResolveError> {
        let known = self.known(provider)?;
        let wire = known.provider.wire.unwrap_or_else(|| wire_of(known.kind()));
        let place = Place::File(self.setup.credentials.path().to_owned());
        self.endpoint_for(&known, wire, Some((key.clone(), KeySource::Stored(place))))
    }

    /// Every server whose models only it knows: local ones, and others that can be used but have none
    /// listed. The settings may ask for more, or for silence.
    pub fn servers(&self) -> Vec<Endpoint> {
        let asked =
            self.ids().into_iter().filter(|id| self.known(id).is_ok_and(|it| self.is_asked(&it)));
        asked.filter_map(|id| self.endpoint(id).ok()).collect()
    }

    /// A local server, unless the settings want it left alone.
    pub(crate) fn local_server(&self, provider: &str) -> Option<Endpoint> {
        let known = self.known(provider).ok()?;
        let is_it = is_local(known.kind()) && self.is_asked(&known);
        self.endpoint(provider).ok().filter(|_| is_it)
    }

    fn is_asked(&self, known: &Known<'_>) -> bool {
        let lists_none = known.provider.models.is_empty()
            && known.file.is_none_or(|file| file.model_ids().next().is_none());
        let by_settings = known.settings.and_then(|settings| settings.discover_models);
        let is_asked = by_settings.unwrap_or(lists_none || is_local(known.kind()));
        is_asked && self.access(known).is_given()
    }

    /// Every local server of the catalogue and the settings.
    pub fn local_servers(&self) -> Vec<Endpoint> {
        let local = |id: &&str| self.known(id).is_ok_and(|known| is_local(known.kind()));
        self.ids().into_iter().filter(local).filter_map(|id| self.endpoint(id).ok()).collect()
    }

    /// Where a provider is when spoken to on `wire`.
    pub(super) fn endpoint_on(
        &self,
        known: &Known<'_>,
        wire: Wire,
    ) -> Result<Endpoint, ResolveError> {
        let key = self.key(known)?;
        self.endpoint_for(known, wire, key)
    }

    fn endpoint_for(
        &self,
        known: &Known<'_>,
        wire: Wire,
        key: Option<(Secret, KeySource)>,
    ) -> Result<Endpoint, ResolveError> {
        let transport = self.transport(known)?;
        let base_url = self.base_url(known, wire)?;
        let auth = self.auth(known, wire, &transport, key)?;
        let mut headers = BTreeMap::new();
        for (name, value) in &known.provider.extra_headers {
            let text = self.expanded(known.id, "extra_headers", value)?;
            // Written empty, a header removes a default; a variable that is not set sets nothing.
            if value.is_empty() || !text.is_empty() {
                headers.insert(name.clone(), text);
            }
        }
        let mut network = self.setup.network.overlaid(&known.provider.network);
        if let Some(proxy) = &network.proxy {
            network.proxy = Some(self.expanded(known.id, "network.proxy", proxy)?);
        }
        Ok(Endpoint {
            provider: known.id.to_owned(),
            kind: known.kind(),
            base_url,
            transport,
            auth,
            headers,
            network,
        })
    }

    fn transport(&self, known: &Known<'_>) -> Result<Transport, ResolveError> {
        let (provider, env) = (&known.provider, &self.setup.env);
        match known.kind() {
            ProviderKind::Azure => {
                Ok(Transport::Azure { api_version: provider.api_version.clone() })
            }
            ProviderKind::Bedrock => Ok(Transport::Bedrock {
                region: aws_region(known, env),
                profile: provider.profile.clone(),
                refresh: match &provider.aws_auth_refresh {
                    Some(line) => Some(self.expanded(known.id, "aws_auth_refresh", line)?),
                    None => None,
                },
            }),
            ProviderKind::GoogleVertex => {
                let project = project(known, env).ok_or_else(|| ResolveError::MissingProject {
                    provider: known.id.to_owned(),
                    variables: project_variables(),
                })?;
                let from_env = || first_set(env, &GOOGLE_LOCATION_VARIABLES);
                let location = provider.region.as_deref().or_else(from_env);
                let location = location.unwrap_or(USUAL_GOOGLE_LOCATION).to_owned();
                Ok(Transport::Vertex { project, location })
            }
            ProviderKind::Openai
            | ProviderKind::OpenaiCompat
            | ProviderKind::Anthropic
            | ProviderKind::Google
            | ProviderKind::Openrouter
            | ProviderKind::Vercel
            | ProviderKind::Llamacpp
            | ProviderKind::Omlx
            | ProviderKind::Lmstudio
            | ProviderKind::Litellm
            | ProviderKind::Ollama => Ok(Transport::Direct),
            ProviderKind::Demo => Ok(Transport::Demo),
        }
    }

    fn base_url(&self, known: &Known<'_>, wire: Wire) -> Result<String, ResolveError> {
        let of_settings = known.settings.and_then(|settings| settings.base_url.as_deref());
        let of_settings = match of_settings {
            Some(url) => Some(self.expanded(known.id, "base_url", url)?),
            None => None,
        };
        let variables = url_variables(known);
        let of_env = || first_set(&self.setup.env, &variables).map(str::to_owned);
        let url = of_settings
            .filter(|url| !url.trim().is_empty())
            .or_else(of_env)
            .or_else(|| known.provider.base_url.clone().filter(|_| known.file.is_some()))
            .or_else(|| usual_url(known.kind()))
            .ok_or_else(|| ResolveError::MissingBaseUrl {
                provider: known.id.to_owned(),
                variables: variables.iter().map(|&name| name.to_owned()).collect(),
            })?;
        if url.is_empty() {
            return Ok(url);
        }
        tidy(&url, known.kind(), wire)
            .ok_or_else(|| ResolveError::BadBaseUrl { provider: known.id.to_owned(), url })
    }
}

/// The wire a kind of provider usually speaks.
pub(super) fn wire_of(kind: ProviderKind) -> Wire {
    match kind {
        ProviderKind::Openai | ProviderKind::Azure => Wire::OpenaiResponses,
        ProviderKind::Anthropic => Wire::AnthropicMessages,
        ProviderKind::Google | ProviderKind::GoogleVertex => Wire::Gemini,
        ProviderKind::Bedrock => Wire::BedrockConverse,
        ProviderKind::OpenaiCompat
        | ProviderKind::Openrouter
        | ProviderKind::Vercel
        | ProviderKind::Llamacpp
        | ProviderKind::Omlx
        | ProviderKind::Lmstudio
        | ProviderKind::Litellm
        | ProviderKind::Ollama
        | ProviderKind::Demo => Wire::OpenaiChat,
    }
}

/// Variables that may hold the base URL: the catalogue's, and the one the maker's own tools read.
/// A provider the user defined has only what they named, so that no key goes astray.
fn url_variables<'a>(known: &'a Known<'_>) -> Vec<&'a str> {
    let mut variables: Vec<&str> =
        known.provider.base_url_variable.as_deref().into_iter().collect();
    match known.id {
        _ if known.file.is_none() => {}
        "anthropic" => variables.push("ANTHROPIC_BASE_URL"),
        "openai" => variables.push("OPENAI_BASE_URL"),
        "gemini" => variables.push("GOOGLE_GEMINI_BASE_URL"),
        "azure" => variables.push("AZURE_OPENAI_ENDPOINT"),
        _ => {}
    }
    variables
}

/// The base URL of a kind of provider, where the kind alone tells it.
fn usual_url(kind: ProviderKind) -> Option<String> {
    let namesake = match kind {
        ProviderKind::Openai => "openai",
        ProviderKind::Anthropic => "anthropic",
        ProviderKind::Google => "gemini",
        ProviderKind::Openrouter => "openrouter",
        ProviderKind::Vercel => "vercel",
        ProviderKind::Llamacpp => "llamacpp",
        ProviderKind::Omlx => "omlx",
        ProviderKind::Lmstudio => "lmstudio",
        ProviderKind::Litellm => "litellm",
        ProviderKind::Ollama => "ollama",
        ProviderKind::Demo => "demo",
        // The transport knows the host of each region.
        ProviderKind::Bedrock | ProviderKind::GoogleVertex => return Some(String::new()),
        ProviderKind::OpenaiCompat | ProviderKind::Azure => return None,
    };
    embedded::file(namesake)?.head().base_url
}

/// The region: settings, then environment, then catalogue. The environment's is passed over where the
/// catalogue's models live on another continent.
fn aws_region(known: &Known<'_>, env: &Env) -> String {
    let of_settings = known.settings.and_then(|settings| settings.region.clone());
    let of_catalogue = known.file.and_then(|file| file.head().region);
    let of_env = first_set(env, &AWS_REGION_VARIABLES).map(str::to_owned);
    let continent = |region: &str| region.split('-').next().map(str::to_owned);
    let fits = |region: &String| match &of_catalogue {
        Some(usual) => continent(region) == continent(usual),
        None => true,
    };
    of_settings
        .or(of_env.filter(fits))
        .or(of_catalogue)
        .unwrap_or_else(|| USUAL_AWS_REGION.to_owned())
}

fn first_set<'a>(env: &'a Env, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| env.get(name))
}
