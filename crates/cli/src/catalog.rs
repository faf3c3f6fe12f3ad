//! The catalogue as the commands use it: made from environment, settings and stored keys.

use std::sync::{Arc, Mutex, PoisonError};

use base::protocol::{KeyState, ModelChoice};
use base::{ModelRef, Money};
use guard::Runner;
use llm::catalog::{
    Access, Catalog, KeySource, ModelEntry, ProviderEntry, ResolveError, Seen, Setup,
};
use llm::credentials::{Credentials, CredentialsError, Place};
use settings::{Config, Expander, SelectedModel};

use crate::app::App;
use crate::failure::Failure;
use crate::render;

/// A catalogue that can be replaced while others use it: after a login its keys are new.
#[derive(Debug, Clone)]
pub(crate) struct Current(Arc<Mutex<Catalog>>);

impl Current {
    /// This one, for now.
    pub(crate) fn new(catalog: Catalog) -> Self {
        Self(Arc::new(Mutex::new(catalog)))
    }

    /// The one that counts now.
    pub(crate) fn get(&self) -> Catalog {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on, this one counts.
    pub(crate) fn replace(&self, catalog: Catalog) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = catalog;
    }
}

/// Makes the catalogue of the settings, and tells the user what is wrong with them.
pub(crate) fn open(app: &App, settings: &Config) -> Catalog {
    let (catalog, warnings) = made(app, settings);
    for warning in warnings {
        render::note(&warning);
    }
    catalog
}

/// Makes the catalogue of the settings; with what is wrong with them. Of the catalogue's own files nothing is
/// read yet.
pub(crate) fn made(app: &App, settings: &Config) -> (Catalog, Vec<String>) {
    let chosen = |model: &Option<SelectedModel>| {
        model.as_ref().map(|model| ModelRef::new(&model.provider, &model.model))
    };
    let (env, failures) = settings.environment(Expander { env: &app.env, runner: Some(&Runner) });
    let warning = |(name, error)| format!("warning: env.{name} in the settings: {error}");
    let warnings = failures.into_iter().map(warning).collect();
    let of_settings = env.clone();
    let expand = move |text: &str| {
        let expander = Expander { env: &of_settings, runner: Some(&Runner) };
        expander.text(text).map_err(Into::into)
    };
    let credentials = Credentials::new(app.paths.credentials(), &env, Arc::new(Runner));
    let seen = Seen::in_cache(app.paths.cache());
    let catalog = Catalog::new(Setup {
        providers: settings.providers.clone(),
        disable_default_providers: settings.options.disable_default_providers,
        large: chosen(&settings.models.large),
        small: chosen(&settings.models.small),
        network: settings.network.clone(),
        expand: Some(Box::new(expand)),
        ..Setup::new(env, credentials, seen)
    });
    (catalog, warnings)
}

/// The models of all providers whose id or name holds all of the words, as faces show them.
pub(crate) fn choices(catalog: &Catalog, search: Option<&str>) -> Vec<ModelChoice> {
    let words: Vec<String> =
        search.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let is_named = |choice: &ModelChoice| {
        let text = format!("{} {}", choice.model, choice.name).to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let all = catalog.providers().into_iter().flat_map(|provider| {
        let models = catalog.models(&provider.id).unwrap_or_default();
        models.into_iter().map(move |entry| choice(&provider, &entry))
    });
    all.filter(is_named).collect()
}

/// A model as faces show it.
pub(crate) fn choice(provider: &ProviderEntry, entry: &ModelEntry) -> ModelChoice {
    let model = &entry.model;
    let is_free = entry.flat_rate || llm::price::is_free(&model.id);
    let is_priced = model.cost_per_1m_in > 0.0 || model.cost_per_1m_out > 0.0;
    let price = |dollars: f64| match (is_free, is_priced) {
        (true, _) => Some(Money::ZERO),
        (false, true) => Some(Money::from_dollars(dollars)),
        (false, false) => None,
    };
    ModelChoice {
        model: entry.model_ref(),
        name: model.name.clone().unwrap_or_else(|| model.id.clone()),
        provider: provider.provider.name.clone().unwrap_or_else(|| provider.id.clone()),
        window: model.context_window,
        input_price: price(model.cost_per_1m_in),
        output_price: price(model.cost_per_1m_out),
        reasons: model.can_reason,
        sees: model.supports_attachments,
        key: key_state(&provider.access),
    }
}

/// Whether a provider's key is there, as faces show it.
pub(crate) fn key_state(access: &Access) -> KeyState {
    match access {
        Access::Key(KeySource::Variable(name)) => KeyState::Found(name.clone()),
        Access::Key(KeySource::Settings) => KeyState::Found("settings".to_owned()),
        Access::Key(KeySource::Stored(Place::Keyring(_))) => KeyState::Found("keyring".to_owned()),
        Access::Key(KeySource::Stored(Place::File(_))) => {
            KeyState::Found("credentials file".to_owned())
        }
        Access::Cloud => KeyState::Found("cloud credentials".to_owned()),
        Access::Open => KeyState::NotNeeded,
        Access::Missing { .. } => KeyState::Missing,
    }
}

impl From<ResolveError> for Failure {
    fn from(error: ResolveError) -> Self {
        let failure = Self::config(error.to_string());
        error.hints().into_iter().fold(failure, Self::hint)
    }
}

impl From<CredentialsError> for Failure {
    fn from(error: CredentialsError) -> Self {
        let is_damaged = matches!(error, CredentialsError::Damaged { .. });
        let failure = Self::config(error.to_string());
        if is_damaged {
            failure.hint("mend or remove the file, then log in again")
        } else {
            failure
        }
    }
}
