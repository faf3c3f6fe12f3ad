//! Which providers and models there are, and what it takes to call one.
//!
//! Three sources lie over each other, the later ones winning field by field: the embedded catalogue
//! ([`embedded`]), what a provider listed of itself on this machine ([`seen`]), and the user's
//! settings. [`Catalog::resolve`] turns `provider/model` into a [`Target`](crate::Target);
//! [`crate::discover`] asks servers for their models; the commands list what is here.

mod address;
mod embedded;
mod endpoint;
mod error;
mod key;
mod merge;
mod near;
mod resolve;
mod seen;

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::sync::{Arc, OnceLock};

use base::{Env, ModelRef};
use settings::provider::{Model, Network, Provider, ProviderKind};

use self::embedded::File;
use crate::credentials::{Credentials, Listed};

pub use self::endpoint::Endpoint;
pub use self::error::{Looked, ResolveError};
pub use self::key::{Access, KeySource};
pub use self::seen::{Seen, SeenError, SeenModels};

/// Expands `$VAR` and `$(command)` in a text of the settings. The error must not tell secrets.
pub type Expand = dyn Fn(&str) -> Result<String, Box<dyn StdError + Send + Sync>> + Send + Sync;

/// What a catalogue is made from.
pub struct Setup {
    /// `providers` of the settings.
    pub providers: BTreeMap<String, Provider>,
    /// Only the providers of the settings count.
    pub disable_default_providers: bool,
    /// `models.large` of the settings.
    pub large: Option<ModelRef>,
    /// `models.small` of the settings.
    pub small: Option<ModelRef>,
    /// `network` of the settings; a provider's own lies over it.
    pub network: Network,
    /// How texts of the settings are expanded; without it they are taken as written.
    pub expand: Option<Box<Expand>>,
    /// Where keys and endpoints may be set.
    pub env: Env,
    /// Keys of `caiman login`.
    pub credentials: Credentials,
    /// What providers listed of themselves.
    pub seen: Seen,
}

impl Setup {
    /// A setup without any settings.
    pub fn new(env: Env, credentials: Credentials, seen: Seen) -> Self {
        Self {
            providers: BTreeMap::new(),
            disable_default_providers: false,
            large: None,
            small: None,
            network: Network::default(),
            expand: None,
            env,
            credentials,
            seen,
        }
    }
}

/// All providers and models, by the user's settings. Cheap to clone; nothing is parsed in advance.
#[derive(Clone)]
pub struct Catalog {
    setup: Arc<Setup>,
    stored: Arc<OnceLock<Vec<Listed>>>,
}

/// The kind of work a model is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Size {
    /// The main work.
    Large,
    /// Titles and summaries.
    Small,
}

/// A provider as the user has it.
#[derive(Debug, Clone)]
pub struct ProviderEntry {
    /// Its id.
    pub id: String,
    /// Catalogue and settings, one over the other; of its models only those of the settings.
    pub provider: Provider,
    /// How requests prove who sends them, or what is missing.
    pub access: Access,
}

/// A model as the user has it.
#[derive(Debug, Clone)]
pub struct ModelEntry {
    /// Its provider's id.
    pub provider: String,
    /// Its facts.
    pub model: Model,
    /// Tokens cost nothing.
    pub flat_rate: bool,
}

impl ModelEntry {
    /// The model's reference.
    pub fn model_ref(&self) -> ModelRef {
        ModelRef::new(&self.provider, &self.model.id)
    }
}

/// A provider with its sources still apart.
pub(crate) struct Known<'a> {
    id: &'a str,
    /// All sources, one over the other.
    provider: Provider,
    settings: Option<&'a Provider>,
    file: Option<&'static File>,
}

impl Known<'_> {
    fn kind(&self) -> ProviderKind {
        self.provider.kind.unwrap_or_default()
    }
}

impl Catalog {
    /// Makes a catalogue; reads nothing yet.
    pub fn new(setup: Setup) -> Self {
        Self { setup: Arc::new(setup), stored: Arc::default() }
    }

    /// Every provider that is not disabled: those of the settings first, then by fame.
    pub fn providers(&self) -> Vec<ProviderEntry> {
        let entry = |id| {
            let known = self.known(id).ok()?;
            let access = self.access(&known);
            Some(ProviderEntry { id: id.to_owned(), provider: known.provider, access })
        };
        self.ids().into_iter().filter_map(entry).collect()
    }

    /// What providers listed of themselves.
    pub fn seen(&self) -> &Seen {
        &self.setup.seen
    }

    /// Keys of `caiman login`.
    pub fn credentials(&self) -> &Credentials {
        &self.setup.credentials
    }

    /// One provider.
    pub fn provider(&self, id: &str) -> Result<ProviderEntry, ResolveError> {
        let known = self.known(id)?;
        let access = self.access(&known);
        Ok(ProviderEntry { id: id.to_owned(), provider: known.provider, access })
    }

    /// The models of one provider: the user's own first, then the catalogue's, then newly seen ones.
    pub fn models(&self, provider: &str) -> Result<Vec<ModelEntry>, ResolveError> {
        let known = self.known(provider)?;
        let seen = self.seen_models(&known);
        let mut models = match known.file {
            Some(file) => merge::models(file.models(), seen),
            None => seen,
        };
        models = merge::models_first(&known.provider.models, models);
        let flat_rate = known.provider.flat_rate;
        let entry = |model| ModelEntry { provider: provider.to_owned(), model, flat_rate };
        Ok(models.into_iter().map(entry).collect())
    }

    /// The ids settings and catalogue give a provider's models.
    pub(crate) fn listed_ids(&self, provider: &str) -> Result<Vec<String>, ResolveError> {
        let known = self.known(provider)?;
        let own = known.provider.models.iter().map(|model| model.id.clone());
        let of_file = known.file.into_iter().flat_map(File::model_ids).map(str::to_owned);
        Ok(own.chain(of_file).collect())
    }

    /// The model to use when the user names none. Asks no server: see
    /// [`Catalog::find_default`](crate::discover) for one that does.
    pub fn default_model(&self, size: Size) -> Result<ModelRef, ResolveError> {
        let chosen = match size {
            Size::Large => self.setup.large.clone(),
            Size::Small => self.setup.small.clone(),
        };
        if let Some(chosen) = chosen {
            return Ok(chosen);
        }
        if let (Size::Small, Some(large)) = (size, &self.setup.large) {
            // Small work stays with the provider the user chose: its key works, and its terms apply.
            let small = self.known(&large.provider)?.provider.default_small_model_id;
            return Ok(small.map_or(large.clone(), |id| ModelRef::new(&large.provider, id)));
        }
        let usable = self.ids().into_iter().find_map(|id| self.default_of(id, size));
        usable.ok_or_else(|| ResolveError::NoModel(self.looked()))
    }

    /// The default model of one provider, if it can be used as it is.
    fn default_of(&self, id: &str, size: Size) -> Option<ModelRef> {
        let known = self.known(id).ok()?;
        let kind = known.kind();
        // Whether a local server runs is not known without asking it; the settings say that it does.
        let is_guess = endpoint::is_local(kind) && known.settings.is_none();
        if kind == ProviderKind::Demo || is_guess {
            return None;
        }
        if !self.access(&known).is_given() {
            return None;
        }
        let preset = match size {
            Size::Large => known.provider.default_large_model_id.clone(),
            Size::Small => known.provider.default_small_model_id.clone(),
        };
        let first_of_settings = || known.provider.models.first().map(|model| model.id.clone());
        // What a server had last time is no promise: it is asked again where a default is wanted.
        let first_listed = || known.file?.model_ids().next().map(str::to_owned);
        let model = first_of_settings().filter(|_| preset_is_foreign(&known));
        let model = model.or(preset).or_else(first_of_settings).or_else(first_listed)?;
        Some(ModelRef::new(id, model))
    }

    /// The ids of all providers, disabled ones included: those of the settings first, then by fame.
    fn ids(&self) -> Vec<&str> {
        let settings = &self.setup.providers;
        let mut ids: Vec<&str> = settings.keys().map(String::as_str).collect();
        if !self.setup.disable_default_providers {
            let files = embedded::files().iter().map(|file| file.id);
            ids.extend(files.filter(|id| !settings.contains_key(*id)));
        }
        ids
    }

    /// Finds a provider by its id.
    pub(crate) fn known<'a>(&'a self, id: &'a str) -> Result<Known<'a>, ResolveError> {
        let settings = self.setup.providers.get(id);
        let file = embedded::file(id)
            .filter(|_| !self.setup.disable_default_providers || settings.is_some());
        let provider = match (file, settings) {
            (None, None) => return Err(self.unknown_provider(id)),
            (None, Some(settings)) => settings.clone(),
            (Some(file), None) => file.head(),
            (Some(file), Some(settings)) => merge::provider(file.head(), settings),
        };
        if provider.disable {
            return Err(ResolveError::Disabled { provider: id.to_owned() });
        }
        Ok(Known { id, provider, settings, file })
    }

    fn unknown_provider(&self, id: &str) -> ResolveError {
        let near = near::nearest(id, self.ids());
        ResolveError::UnknownProvider { provider: id.to_owned(), near }
    }

    fn seen_models(&self, known: &Known<'_>) -> Vec<Model> {
        self.setup.seen.load(known.id).map(|seen| seen.models).unwrap_or_default()
    }

    /// What was looked for to find any usable model.
    fn looked(&self) -> Looked {
        let mut looked = Looked::default();
        for known in self.ids().into_iter().filter_map(|id| self.known(id).ok()) {
            if endpoint::is_local(known.kind()) {
                if let Ok(endpoint) = self.endpoint(known.id) {
                    let name = known.provider.name.unwrap_or_else(|| known.id.to_owned());
                    looked.servers.push((name, endpoint.base_url));
                }
            } else if let Some(variable) = known.provider.key_variables.first()
                && !looked.variables.contains(variable)
            {
                looked.variables.push(variable.clone());
            }
        }
        looked
    }

    /// Expands a text of the settings. The only place that does.
    fn expanded(
        &self,
        provider: &str,
        field: &'static str,
        text: &str,
    ) -> Result<String, ResolveError> {
        let Some(expand) = &self.setup.expand else { return Ok(text.to_owned()) };
        expand(text).map_err(|source| ResolveError::Expand {
            provider: provider.to_owned(),
            field,
            source,
        })
    }
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalog")
            .field("settings", &self.setup.providers.keys())
            .finish_non_exhaustive()
    }
}

/// Whether the default model belongs to the catalogue's endpoint, while the settings name another
/// endpoint and models of their own.
fn preset_is_foreign(known: &Known<'_>) -> bool {
    known.settings.is_some_and(|settings| {
        settings.base_url.is_some()
            && settings.default_large_model_id.is_none()
            && !settings.models.is_empty()
    })
}
