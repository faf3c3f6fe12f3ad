//! A key that a user has pasted: tried with one request, then kept as `caiman login` keeps it.

use std::sync::Arc;

use base::protocol::ClientError;
use base::{ModelRef, Part, Role, Secret, Turn};
use llm::catalog::{Catalog, ProviderEntry};
use llm::discover::Finder;
use llm::request::Cache;
use llm::{Class, Error, Http, Reasoning, Request, Retry};
use settings::Provider;
use settings::provider::ProviderKind;

use super::{Shared, aside, refused};
use crate::catalog;
use crate::commands::login::{self, CHECK_LIMIT};
use crate::failure::{Failure, Kind};
use crate::wiring;

/// What a model is asked to say where a provider can only be tried that way.
const FEW_TOKENS: u64 = 16;

impl Shared {
    /// Tries a key, keeps it, and lets it be found from now on.
    pub(super) async fn log_in(
        self: &Arc<Self>,
        provider: String,
        key: Secret,
    ) -> Result<(), ClientError> {
        let catalog = self.catalog.get();
        let entry = catalog.provider(&provider).map_err(|error| refused(error.into()))?;
        login::refuse_keyless(&entry).map_err(refused)?;
        let key = login::sound(&key).map_err(refused)?;
        self.check(&catalog, &entry, &key).await.map_err(refused)?;
        let stored = aside(move || catalog.credentials().put(&provider, &key)).await?;
        let stored = stored.map_err(|error| refused(error.into()))?;
        if let Some(open) = self.settings_changed().await {
            let note = stored.note.map(|why| format!("The keyring did not take the key: {why}"));
            for text in note.into_iter().chain(login::hidden_by(&entry)) {
                open.tell(text);
            }
        }
        Ok(())
    }

    /// Asks the provider for its models; where that proves nothing, for a few words.
    async fn check(
        &self,
        catalog: &Catalog,
        entry: &ProviderEntry,
        key: &Secret,
    ) -> Result<(), Failure> {
        let name = entry.provider.name.as_deref().unwrap_or(&entry.id);
        let endpoint = catalog.endpoint_with_key(&entry.id, key)?;
        if !lists_for_everybody(entry) {
            let finder = Finder::new(Http::new()).with_limit(CHECK_LIMIT);
            match finder.models(&endpoint).await.map_err(|error| judged(name, &error)) {
                Ok(_) | Err(Judged::Taken) => return Ok(()),
                Err(Judged::Refused(failure)) => return Err(failure),
                Err(Judged::Unclear(_)) => {}
            }
        }
        match self.say_a_word(entry, key).await.map_err(|error| judged(name, &error)) {
            Ok(()) | Err(Judged::Taken) => Ok(()),
            Err(Judged::Refused(failure) | Judged::Unclear(failure)) => Err(failure),
        }
    }

    /// Has the provider's smallest model say something.
    async fn say_a_word(&self, entry: &ProviderEntry, key: &Secret) -> Result<(), Error> {
        let provider = &entry.provider;
        let model =
            provider.default_small_model_id.as_ref().or(provider.default_large_model_id.as_ref());
        let Some(model) = model else {
            return Err(Error::new(Class::BadRequest, "it names no model to try the key with"));
        };
        let mut settings = settings::load(&self.app.sources()).config;
        let own: &mut Provider = settings.providers.entry(entry.id.clone()).or_default();
        own.api_key = Some(key.clone());
        let (with_key, _) = catalog::made(&self.app, &settings);
        let target = with_key.resolve(&ModelRef::new(&entry.id, model));
        let target = target.map_err(|error| Error::new(Class::BadRequest, error.to_string()))?;
        let request = Request {
            turns: vec![Turn { role: Role::User, parts: vec![Part::user_text("Say hi.")] }],
            max_tokens: Some(FEW_TOKENS),
            reasoning: Reasoning::ModelDefault,
            cache: Cache::Never,
            ..Request::default()
        };
        let caller = wiring::caller(&self.app).with_retry(Retry { tries: 1, ..Retry::default() });
        let opened = tokio::time::timeout(CHECK_LIMIT * 2, async {
            caller.open(&target, &request, &mut |_| {}).await.map(|_| ())
        });
        opened.await.unwrap_or_else(|_| Err(Error::new(Class::Timeout, "it did not answer")))
    }
}

/// Whether a provider's list of models needs no key, so that it proves nothing.
fn lists_for_everybody(entry: &ProviderEntry) -> bool {
    matches!(entry.provider.kind, Some(ProviderKind::Openrouter | ProviderKind::Vercel))
}

/// What an error says of the key.
enum Judged {
    /// The provider knew who asked.
    Taken,
    /// The key, or the way to the provider, is no good.
    Refused(Failure),
    /// Nothing.
    Unclear(Failure),
}

fn judged(name: &str, error: &Error) -> Judged {
    let failure = |text: String, hint: &str| Failure::new(Kind::Provider, text).hint(hint);
    match error.class {
        Class::RateLimit | Class::Billing => Judged::Taken,
        Class::Auth => Judged::Refused(failure(
            format!("{name} does not take this key: {}", error.message),
            "Nothing was kept. Copy the key once more, whole.",
        )),
        Class::Network | Class::Timeout => Judged::Refused(failure(
            format!("{name} cannot be reached: {}", error.message),
            "Nothing was kept. Check the network, then try again.",
        )),
        Class::Overloaded
        | Class::Server
        | Class::ModelNotFound
        | Class::ContextOverflow
        | Class::BadRequest
        | Class::Cancelled => Judged::Unclear(failure(
            format!("{name} does not tell whether the key is good: {}", error.message),
            "Nothing was kept. `caiman login` keeps a key without trying it.",
        )),
    }
}
