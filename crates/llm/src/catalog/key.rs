//! Finding the key: settings, then environment, then what `caiman login` stored.

use base::secret::mask;
use base::{Env, Secret};
use settings::provider::{ProviderKind, Wire};
use url::Url;

use super::endpoint::{self, is_local};
use super::{Catalog, Known, ResolveError};
use crate::credentials::{Listed, Place};
use crate::http::is_loopback;
use crate::target::{Auth, Transport};

/// Variables that tell of AWS credentials; the transport finds the credentials themselves.
const AWS_SIGNS: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// Whether a provider can be used, and by what right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// With a key.
    Key(KeySource),
    /// With the cloud's own credentials.
    Cloud,
    /// It asks for no key.
    Open,
    /// It wants a key and there is none.
    Missing {
        /// Variables that may hold one.
        variables: Vec<String>,
    },
}

impl Access {
    /// Whether nothing is missing.
    pub fn is_given(&self) -> bool {
        match self {
            Self::Key(_) | Self::Cloud | Self::Open => true,
            Self::Missing { .. } => false,
        }
    }
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// `api_key` of the settings.
    Settings,
    /// This environment variable.
    Variable(String),
    /// `caiman login`.
    Stored(Place),
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Settings => f.write_str("settings"),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Stored(place) => write!(f, "{place}"),
        }
    }
}

impl Catalog {
    /// Whether a provider can be used. Runs no command and opens no keyring.
    pub(super) fn access(&self, known: &Known<'_>) -> Access {
        if let Some(source) = self.key_source(known) {
            return Access::Key(source);
        }
        let missing = |variables: &[String]| Access::Missing { variables: variables.to_vec() };
        let variables = &known.provider.key_variables;
        let kind = known.kind();
        if kind == ProviderKind::Bedrock {
            let signs = AWS_SIGNS.iter().take(2).map(|&sign| sign.to_owned());
            let variables: Vec<String> = variables.iter().cloned().chain(signs).collect();
            return if self.has_aws(known) { Access::Cloud } else { missing(&variables) };
        }
        if kind == ProviderKind::GoogleVertex {
            let variables = endpoint::project_variables();
            return if self.has_google(known) { Access::Cloud } else { missing(&variables) };
        }
        if self.is_open(known) { Access::Open } else { missing(variables) }
    }

    /// The end of a provider's key, behind dots. Runs no command and opens no keyring.
    pub fn masked_key(&self, provider: &str) -> Option<String> {
        let known = self.known(provider).ok()?;
        match self.key_source(&known)? {
            KeySource::Settings => {
                let template = known.provider.api_key.as_ref()?.expose();
                if template.contains("$(") {
                    return Some("(a command)".to_owned());
                }
                self.expanded(provider, "api_key", template).ok().map(|key| mask(key.trim()))
            }
            KeySource::Variable(name) => self.setup.env.get(&name).map(|key| mask(key.trim())),
            KeySource::Stored(_) => self.stored(provider).map(|listed| listed.masked.clone()),
        }
    }

    /// The key and where it comes from.
    pub(super) fn key(
        &self,
        known: &Known<'_>,
    ) -> Result<Option<(Secret, KeySource)>, ResolveError> {
        if let Some(template) = &known.provider.api_key {
            let key = self.expanded(known.id, "api_key", template.expose())?;
            if !key.trim().is_empty() {
                return Ok(Some((Secret::new(key.trim()), KeySource::Settings)));
            }
        }
        if let Some((name, value)) = variable(known, &self.setup.env) {
            return Ok(Some((Secret::new(value.trim()), KeySource::Variable(name.to_owned()))));
        }
        let Some(key) = self.setup.credentials.get(known.id)? else { return Ok(None) };
        let place = self.stored(known.id).map(|listed| listed.place.clone());
        let place = place.unwrap_or_else(|| Place::File(self.setup.credentials.path().to_owned()));
        Ok(Some((key, KeySource::Stored(place))))
    }

    /// What proves who sends a request to `known`.
    pub(super) fn auth(
        &self,
        known: &Known<'_>,
        wire: Wire,
        transport: &Transport,
        key: Option<(Secret, KeySource)>,
    ) -> Result<Auth, ResolveError> {
        match (transport, key) {
            (Transport::Demo, _) => Ok(Auth::Anonymous),
            (Transport::Bedrock { .. } | Transport::Vertex { .. }, Some((key, _))) => {
                Ok(Auth::Bearer(key))
            }
            (Transport::Bedrock { .. } | Transport::Vertex { .. }, None) => Ok(Auth::Cloud),
            (Transport::Azure { .. }, Some((value, _))) => {
                Ok(Auth::Header { name: "api-key".to_owned(), value })
            }
            (Transport::Direct, Some((key, source))) => Ok(direct(wire, key, &source)),
            (Transport::Direct | Transport::Azure { .. }, None) if self.is_open(known) => {
                Ok(Auth::Anonymous)
            }
            (Transport::Direct | Transport::Azure { .. }, None) => Err(ResolveError::MissingKey {
                provider: known.id.to_owned(),
                variables: known.provider.key_variables.clone(),
            }),
        }
    }

    fn key_source(&self, known: &Known<'_>) -> Option<KeySource> {
        if let Some(template) = &known.provider.api_key {
            // A command may be slow or ask the user something: it runs when the key is used.
            let runs_command = template.expose().contains("$(");
            let expanded = || self.expanded(known.id, "api_key", template.expose()).ok();
            if runs_command || expanded().is_some_and(|key| !key.trim().is_empty()) {
                return Some(KeySource::Settings);
            }
        }
        if let Some((name, _)) = variable(known, &self.setup.env) {
            return Some(KeySource::Variable(name.to_owned()));
        }
        self.stored(known.id).map(|listed| KeySource::Stored(listed.place.clone()))
    }

    fn stored(&self, provider: &str) -> Option<&Listed> {
        // A damaged file shows itself when its key is used; until then other providers still work.
        let list = || self.setup.credentials.list().unwrap_or_default();
        self.stored.get_or_init(list).iter().find(|listed| listed.provider == provider)
    }

    /// Whether requests may go out without a key.
    fn is_open(&self, known: &Known<'_>) -> bool {
        if is_local(known.kind()) || known.kind() == ProviderKind::Demo {
            return true;
        }
        let Some(settings) = known.settings else { return false };
        let is_near = || {
            let url = settings.base_url.as_deref().unwrap_or_default();
            let url = self.expanded(known.id, "base_url", url).ok();
            url.and_then(|url| Url::parse(&url).ok()).is_some_and(|url| is_loopback(&url))
        };
        let wants_key = settings.api_key.is_some() || !known.provider.key_variables.is_empty();
        !wants_key || (settings.api_key.is_none() && is_near())
    }

    fn has_aws(&self, known: &Known<'_>) -> bool {
        known.settings.is_some() || AWS_SIGNS.iter().any(|sign| self.setup.env.get(sign).is_some())
    }

    /// A project alone is no sign: many machines name one for other tools.
    fn has_google(&self, known: &Known<'_>) -> bool {
        let env = &self.setup.env;
        let meant = known.provider.project.is_some()
            || env.get("VERTEXAI_PROJECT").is_some()
            || env.get("GOOGLE_APPLICATION_CREDENTIALS").is_some();
        meant && endpoint::project(known, env).is_some()
    }
}

fn variable<'a>(known: &'a Known<'_>, env: &'a Env) -> Option<(&'a str, &'a str)> {
    let value = |name: &'a String| {
        let value = env.get(name).filter(|value| !value.trim().is_empty())?;
        Some((name.as_str(), value))
    };
    known.provider.key_variables.iter().find_map(value)
}

/// Each wire has its own place for a key, whoever speaks it.
fn direct(wire: Wire, key: Secret, source: &KeySource) -> Auth {
    let header = |name: &str| Auth::Header { name: name.to_owned(), value: key.clone() };
    match wire {
        Wire::AnthropicMessages => {
            if let Some(token) = key.expose().strip_prefix("Bearer ") {
                return Auth::Bearer(Secret::new(token.trim()));
            }
            // `ANTHROPIC_AUTH_TOKEN` and its like are meant for the other header.
            let is_token =
                matches!(source, KeySource::Variable(name) if name.ends_with("_AUTH_TOKEN"));
            if is_token { Auth::Bearer(key) } else { header("x-api-key") }
        }
        Wire::Gemini => header("x-goog-api-key"),
        Wire::OpenaiChat | Wire::OpenaiResponses | Wire::BedrockConverse => Auth::Bearer(key),
    }
}
