//! Why a model cannot be called, and what to do about it. Users read these texts.

use std::error::Error as StdError;

use base::ModelRef;

use crate::credentials::CredentialsError;

/// Why a model cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// Nothing is set up at all.
    #[error("no model is set up: {0}")]
    NoModel(Looked),
    /// There is no such provider.
    #[error("there is no provider `{provider}`{}", did_you_mean(near))]
    UnknownProvider {
        /// What was asked for.
        provider: String,
        /// Ids like it.
        near: Vec<String>,
    },
    /// The settings leave the provider out.
    #[error("the provider `{provider}` is disabled in the settings")]
    Disabled {
        /// Its id.
        provider: String,
    },
    /// No provider with a key has a model of that id.
    #[error("no provider that is set up has a model `{model}`{}", did_you_mean(near))]
    UnknownModel {
        /// What was asked for.
        model: String,
        /// References like it.
        near: Vec<String>,
    },
    /// Several providers have it.
    #[error("`{model}` is ambiguous: {}", list(found))]
    Ambiguous {
        /// What was asked for.
        model: String,
        /// What it may mean.
        found: Vec<ModelRef>,
    },
    /// The provider wants a key and there is none.
    #[error("no key for {provider}: {}", no_key(variables))]
    MissingKey {
        /// Its id.
        provider: String,
        /// Variables that may hold one.
        variables: Vec<String>,
    },
    /// It is not known where the provider is.
    #[error("no base URL for {provider}{}", unset(variables))]
    MissingBaseUrl {
        /// Its id.
        provider: String,
        /// Variables that may hold one.
        variables: Vec<String>,
    },
    /// The base URL is none.
    #[error("the base URL of {provider} is not a URL: `{url}`")]
    BadBaseUrl {
        /// Its id.
        provider: String,
        /// What it is.
        url: String,
    },
    /// Vertex needs a project.
    #[error("no Google Cloud project for {provider}{}", unset(variables))]
    MissingProject {
        /// Its id.
        provider: String,
        /// Variables that may hold one.
        variables: Vec<String>,
    },
    /// A text of the settings cannot be expanded.
    #[error("cannot expand providers.{provider}.{field}: {source}")]
    Expand {
        /// Its id.
        provider: String,
        /// Which setting.
        field: &'static str,
        /// Why.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The stored key cannot be read.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
}

impl ResolveError {
    /// What to do about it, one line each.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::NoModel(_) => vec![
                "set a key: export ANTHROPIC_API_KEY=... (`caiman login` lists all variables)".into(),
                "or store one: caiman login anthropic".into(),
                "or start a local server, such as: ollama serve".into(),
                "or try it without any: caiman run --model demo/tour \"hello\"".into(),
            ],
            Self::UnknownProvider { .. } => vec![
                "`caiman models --all` lists every provider; settings can add more under `providers`"
                    .into(),
            ],
            Self::Disabled { provider } => {
                vec![format!("remove `disable` from providers.{provider}")]
            }
            Self::UnknownModel { .. } => vec![
                "write provider/model to use any model of a provider".into(),
                "`caiman models --all` also lists models you have no key for".into(),
            ],
            Self::Ambiguous { .. } => vec!["write one of them in full".into()],
            Self::MissingKey { provider, variables } => missing_key_hints(provider, variables),
            Self::MissingBaseUrl { provider, .. } => {
                vec![format!("set providers.{provider}.base_url in caiman.json")]
            }
            Self::BadBaseUrl { provider, .. } => {
                vec![format!("providers.{provider}.base_url looks like https://host/v1")]
            }
            Self::MissingProject { provider, .. } => {
                vec![format!("set providers.{provider}.project in caiman.json")]
            }
            Self::Expand { .. } => Vec::new(),
            Self::Credentials(_) => vec!["store the key again: caiman login PROVIDER".into()],
        }
    }
}

fn missing_key_hints(provider: &str, variables: &[String]) -> Vec<String> {
    let mut hints = Vec::new();
    if let Some(variable) = variables.first() {
        hints.push(format!("set it: export {variable}=..."));
    }
    hints.push(format!("or store it: caiman login {provider}"));
    hints
}

/// Where a usable model was looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// Variables that may hold a key, best known first.
    pub variables: Vec<String>,
    /// Local servers: name and base URL.
    pub servers: Vec<(String, String)>,
}

impl std::fmt::Display for Looked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// The rest is one `caiman login` away.
        const SHOWN: usize = 6;
        let shown = self.variables.len().min(SHOWN);
        write!(f, "looked for a key in {}", self.variables[..shown].join(", "))?;
        if self.variables.len() > shown {
            write!(f, " and {} more variables", self.variables.len() - shown)?;
        }
        f.write_str(" and among stored keys")?;
        if !self.servers.is_empty() {
            let servers: Vec<String> =
                self.servers.iter().map(|(name, url)| format!("{name} at {url}")).collect();
            write!(f, ", and for a local server: {}", servers.join(", "))?;
        }
        Ok(())
    }
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

fn list(found: &[ModelRef]) -> String {
    found.iter().map(ModelRef::to_string).collect::<Vec<_>>().join(", ")
}

fn no_key(variables: &[String]) -> String {
    match variables {
        [] => "none is stored or in the settings".to_owned(),
        [one] => format!("{one} is not set and none is stored"),
        many => format!("none of {} is set and none is stored", many.join(", ")),
    }
}

fn unset(variables: &[String]) -> String {
    match variables {
        [] => String::new(),
        [one] => format!(": {one} is not set"),
        many => format!(": none of {} is set", many.join(", ")),
    }
}
