//! Whose keys are there, which model servers run on this machine, and where a key can be had.

use std::time::Duration;

use base::protocol::{KeyState, ProviderState};
use base::{ModelRef, Timestamp};
use futures::future::join_all;
use llm::Http;
use llm::catalog::{Access, Catalog, ProviderEntry};
use llm::discover::Finder;

use crate::catalog::key_state;

/// How long a server on this machine may take to answer.
const NEAR: Duration = Duration::from_secs(1);

/// Where a key can be had, by provider.
const KEY_PAGES: [(&str, &str); 20] = [
    ("anthropic", "https://console.anthropic.com/settings/keys"),
    ("openai", "https://platform.openai.com/api-keys"),
    ("gemini", "https://aistudio.google.com/apikey"),
    ("openrouter", "https://openrouter.ai/settings/keys"),
    ("groq", "https://console.groq.com/keys"),
    ("xai", "https://console.x.ai"),
    ("mistral", "https://console.mistral.ai/api-keys"),
    ("deepseek", "https://platform.deepseek.com/api_keys"),
    ("cerebras", "https://cloud.cerebras.ai"),
    ("together", "https://api.together.ai/settings/api-keys"),
    ("fireworks", "https://app.fireworks.ai/settings/users/api-keys"),
    ("huggingface", "https://huggingface.co/settings/tokens"),
    ("moonshot", "https://platform.moonshot.ai/console/api-keys"),
    ("zai", "https://z.ai/manage-apikey/apikey-list"),
    ("cohere", "https://dashboard.cohere.com/api-keys"),
    ("perplexity", "https://www.perplexity.ai/settings/api"),
    ("vercel", "https://vercel.com/dashboard/ai-gateway/api-keys"),
    ("venice", "https://venice.ai/settings/api"),
    ("nebius", "https://studio.nebius.com/settings/api-keys"),
    ("minimax", "https://platform.minimax.io/user-center/basic-information/interface-key"),
];

/// Every provider: those that can be used first. A server on this machine counts only if it answers.
pub(super) async fn of(catalog: Catalog, now: Timestamp) -> Vec<ProviderState> {
    let local = found(&catalog, now).await;
    let entries = tokio::task::spawn_blocking(move || {
        let entries = catalog.providers();
        let is_local = |entry: &ProviderEntry| {
            catalog.local_servers().iter().any(|server| server.provider == entry.id)
        };
        let others = entries.iter().filter(|entry| !is_local(entry)).map(state);
        let near = entries.iter().filter_map(|entry| {
            let (_, model) = local.iter().find(|(id, _)| *id == entry.id)?;
            Some(ProviderState { model: model.clone(), ..state(entry) })
        });
        near.chain(others).collect::<Vec<_>>()
    });
    let mut all = entries.await.unwrap_or_default();
    all.sort_by_key(rank);
    all
}

/// The servers on this machine that answer, each with its first model.
async fn found(catalog: &Catalog, now: Timestamp) -> Vec<(String, Option<ModelRef>)> {
    let finder = Finder::new(Http::new()).with_limit(NEAR);
    let servers = catalog.local_servers();
    let asked = servers.iter().map(|server| catalog.refresh(&server.provider, &finder, now));
    let answers = join_all(asked).await;
    let answering = servers.into_iter().zip(answers).filter(|(_, answer)| answer.is_ok());
    let first =
        |id: &str| catalog.models(id).ok()?.first().map(llm::catalog::ModelEntry::model_ref);
    answering.map(|(server, _)| (server.provider.clone(), first(&server.provider))).collect()
}

fn state(entry: &ProviderEntry) -> ProviderState {
    let provider = &entry.provider;
    let is_keyless = matches!(entry.access, Access::Open | Access::Cloud);
    let page = KEY_PAGES.iter().find(|(id, _)| *id == entry.id).map(|(_, page)| *page);
    let model = provider.default_large_model_id.as_ref().map(|id| ModelRef::new(&entry.id, id));
    let of_settings = || provider.models.first().map(|it| ModelRef::new(&entry.id, &it.id));
    ProviderState {
        id: entry.id.clone(),
        name: provider.name.clone().unwrap_or_else(|| entry.id.clone()),
        key: key_state(&entry.access),
        url: page.filter(|_| !is_keyless).map(str::to_owned),
        model: model.or_else(of_settings),
    }
}

/// Keys first, then servers on this machine, then the rest in the catalogue's order.
fn rank(state: &ProviderState) -> u8 {
    match &state.key {
        KeyState::Found(_) => 0,
        KeyState::NotNeeded if state.id != "demo" => 1,
        KeyState::Missing => 2,
        KeyState::NotNeeded => 3,
    }
}
