//! The catalogue as the commands use it: made from environment, settings and stored keys.

use std::sync::Arc;

use base::ModelRef;
use base::config::{Config, Expander, SelectedModel};
use guard::Runner;
use llm::catalog::{Catalog, ResolveError, Seen, Setup};
use llm::credentials::{Credentials, CredentialsError};

use crate::app::App;
use crate::failure::Failure;
use crate::render;

/// Makes the catalogue of the settings. Of the catalogue's own files nothing is read yet.
pub(crate) fn open(app: &App, settings: &Config) -> Catalog {
    let chosen = |model: &Option<SelectedModel>| {
        model.as_ref().map(|model| ModelRef::new(&model.provider, &model.model))
    };
    let (env, failures) = settings.environment(Expander { env: &app.env, runner: Some(&Runner) });
    for (name, error) in failures {
        render::note(&format!("warning: env.{name} in the settings: {error}"));
    }
    let of_settings = env.clone();
    let expand = move |text: &str| {
        let expander = Expander { env: &of_settings, runner: Some(&Runner) };
        expander.text(text).map_err(Into::into)
    };
    let credentials = Credentials::new(app.paths.credentials(), &env, Arc::new(Runner));
    let seen = Seen::in_cache(app.paths.cache());
    Catalog::new(Setup {
        providers: settings.providers.clone(),
        disable_default_providers: settings.options.disable_default_providers,
        large: chosen(&settings.models.large),
        small: chosen(&settings.models.small),
        network: settings.network.clone(),
        expand: Some(Box::new(expand)),
        ..Setup::new(env, credentials, seen)
    })
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
