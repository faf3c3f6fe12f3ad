//! Names to targets, with settings, environment and stored keys in every mix.

use std::path::{Path, PathBuf};

use base::{Env, ModelRef, Secret};
use llm::catalog::{Access, Catalog, KeySource, ResolveError, Seen, SeenModels, Setup, Size};
use llm::credentials::Credentials;
use llm::{Auth, Target, Transport};
use serde_json::Value;
use settings::provider::{Model, Provider, ProviderKind, ReasoningRequest, Wire};
use tempfile::TempDir;

/// A user's machine: an environment, a folder, settings.
struct Machine {
    folder: TempDir,
    env: Vec<(&'static str, &'static str)>,
    settings: Value,
    alone: bool,
    large: Option<ModelRef>,
}

impl Machine {
    fn with(env: &[(&'static str, &'static str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, env: env.to_vec(), settings: Value::Null, alone: false, large: None }
    }

    fn settings(mut self, settings: Value) -> Self {
        self.settings = settings;
        self
    }

    fn credentials(&self) -> Credentials {
        Credentials::in_file(self.folder.path().join("credentials.json"))
    }

    fn seen(&self) -> Seen {
        Seen::in_cache(self.folder.path())
    }

    fn catalog(&self) -> Catalog {
        let env = self.env.iter().copied().collect::<Env>();
        let mut setup = Setup::new(env, self.credentials(), self.seen());
        setup.disable_default_providers = self.alone;
        setup.large.clone_from(&self.large);
        if let Value::Object(providers) = &self.settings {
            for (id, provider) in providers {
                let provider: Provider = serde_json::from_value(provider.clone()).unwrap();
                setup.providers.insert(id.clone(), provider);
            }
        }
        Catalog::new(setup)
    }

    fn resolve(&self, model: &str) -> Result<Target, ResolveError> {
        self.catalog().resolve(&model.parse().unwrap())
    }

    fn target(&self, model: &str) -> Target {
        self.resolve(model).unwrap_or_else(|error| panic!("{model}: {error}"))
    }
}

fn header(name: &str, value: &str) -> Auth {
    Auth::Header { name: name.to_owned(), value: Secret::new(value) }
}

fn bearer(token: &str) -> Auth {
    Auth::Bearer(Secret::new(token))
}

#[test]
fn facts_are_those_of_the_shared_catalogue() {
    let folder = shared().join("catalog");
    let Ok(files) = std::fs::read_dir(&folder) else {
        testkit::parts::skipped(&format!("no shared catalogue at {}", folder.display()));
        return;
    };
    let catalog = Machine::with(&[]).catalog();
    let mut compared = 0;
    for path in files.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let facts: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let id = facts["id"].as_str().unwrap();
        let models = catalog.models(id).unwrap_or_else(|error| panic!("{id}: {error}"));
        for fact in facts["models"].as_array().unwrap() {
            let name = fact["id"].as_str().unwrap();
            let ours = models.iter().find(|entry| entry.model.id == name);
            same_facts(&ours.unwrap_or_else(|| panic!("{id}/{name} is missing")).model, fact);
            compared += 1;
        }
    }
    assert!(compared >= 1500, "only {compared} models compared");
}

fn same_facts(ours: &Model, fact: &Value) {
    let number = |key: &str| fact[key].as_f64().unwrap_or(0.0);
    let flag = |key: &str| fact[key].as_bool().unwrap_or(false);
    let prices = [
        (ours.cost_per_1m_in, number("cost_per_1m_in")),
        (ours.cost_per_1m_out, number("cost_per_1m_out")),
        (ours.cost_per_1m_in_cached, number("cost_per_1m_in_cached")),
        (ours.cost_per_1m_out_cached, number("cost_per_1m_out_cached")),
    ];
    for (ours, theirs) in prices {
        assert!((ours - theirs).abs() < 1e-9, "{fact}: {ours} is not {theirs}");
    }
    assert_eq!(ours.context_window, fact["context_window"].as_u64().unwrap(), "{fact}");
    assert_eq!(ours.default_max_tokens, fact["default_max_tokens"].as_u64().unwrap(), "{fact}");
    assert_eq!(ours.can_reason, flag("can_reason"), "{fact}");
    assert_eq!(ours.supports_attachments, flag("supports_attachments"), "{fact}");
    let levels: Vec<&str> = ours.reasoning_levels.iter().map(|level| level.as_str()).collect();
    if let Some(theirs) = fact["reasoning_levels"].as_array() {
        assert_eq!(
            levels,
            theirs.iter().map(|l| l.as_str().unwrap()).collect::<Vec<_>>(),
            "{fact}"
        );
    }
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

#[test]
fn nobody_elses_name_is_sent() {
    for entry in Machine::with(&[]).catalog().providers() {
        for (name, value) in &entry.provider.extra_headers {
            let both = format!("{name}: {value}").to_lowercase();
            assert!(!both.contains("crush") && !both.contains("charm"), "{}: {both}", entry.id);
        }
    }
}

#[test]
fn each_kind_of_provider_is_reached_its_own_way() {
    let machine = Machine::with(&[
        ("ANTHROPIC_API_KEY", "sk-ant"),
        ("OPENAI_API_KEY", "sk-oai\n"),
        ("GEMINI_API_KEY", "g"),
        ("AZURE_OPENAI_API_KEY", "az"),
        ("AZURE_OPENAI_API_ENDPOINT", "https://me.openai.azure.com/"),
        ("OPENROUTER_API_KEY", "or"),
    ]);
    let cases = [
        (
            "anthropic/claude-sonnet-4-6",
            Wire::AnthropicMessages,
            "https://api.anthropic.com/v1",
            header("x-api-key", "sk-ant"),
        ),
        ("openai/gpt-5.5", Wire::OpenaiResponses, "https://api.openai.com/v1", bearer("sk-oai")),
        (
            "gemini/gemini-2.5-pro",
            Wire::Gemini,
            "https://generativelanguage.googleapis.com/v1beta",
            header("x-goog-api-key", "g"),
        ),
        (
            "azure/gpt-5",
            Wire::OpenaiResponses,
            "https://me.openai.azure.com",
            header("api-key", "az"),
        ),
        (
            "openrouter/anthropic/claude-sonnet-4.6",
            Wire::OpenaiChat,
            "https://openrouter.ai/api/v1",
            bearer("or"),
        ),
        ("ollama/llama3.2", Wire::OpenaiChat, "http://localhost:11434/v1", Auth::Anonymous),
        ("demo/tour", Wire::OpenaiChat, "demo://built-in", Auth::Anonymous),
    ];
    for (model, wire, url, auth) in cases {
        let target = machine.target(model);
        assert_eq!(target.wire, wire, "{model}");
        assert_eq!(target.base_url, url, "{model}");
        assert_eq!(target.auth, auth, "{model}");
        assert_eq!(target.model_ref().to_string(), model);
    }
    assert_eq!(machine.target("azure/gpt-5").transport, Transport::Azure { api_version: None });
}

#[test]
fn tokens_for_the_authorization_header_are_recognised() {
    let bearer_key = Machine::with(&[("ANTHROPIC_API_KEY", "Bearer tok")]);
    assert_eq!(bearer_key.target("anthropic/claude-opus-5").auth, bearer("tok"));
    let token = Machine::with(&[("ANTHROPIC_AUTH_TOKEN", "tok")]);
    assert_eq!(token.target("anthropic/claude-opus-5").auth, bearer("tok"));
}

#[test]
fn bedrock_takes_a_bearer_key_or_the_clouds_credentials() {
    let with_key = Machine::with(&[("AWS_BEARER_TOKEN_BEDROCK", "b"), ("AWS_REGION", "us-west-2")]);
    let target = with_key.target("bedrock/us.anthropic.claude-opus-5");
    assert_eq!((target.auth, target.wire), (bearer("b"), Wire::AnthropicMessages));
    let Transport::Bedrock { region, .. } = target.transport else { panic!("not Bedrock") };
    assert_eq!((region.as_str(), target.base_url.as_str()), ("us-west-2", ""));
    let with_profile = Machine::with(&[("AWS_PROFILE", "work"), ("AWS_REGION", "us-west-2")]);
    let target = with_profile.target("bedrock/us.amazon.nova-pro-v1:0");
    assert_eq!((target.auth, target.wire), (Auth::Cloud, Wire::BedrockConverse));
    let global = with_profile.target("bedrock/global.anthropic.claude-opus-5");
    assert_eq!(global.quirks.reasoning_request, Some(ReasoningRequest::Adaptive));
    let europe = with_profile.target("bedrock-europe/eu.anthropic.claude-opus-5");
    let Transport::Bedrock { region, .. } = europe.transport else { panic!("not Bedrock") };
    assert_eq!(region, "eu-central-1", "an American region has no European models");
}

#[test]
fn vertex_needs_a_project_and_speaks_two_wires() {
    let machine = Machine::with(&[("VERTEXAI_PROJECT", "p"), ("VERTEXAI_LOCATION", "us-east5")]);
    let target = machine.target("vertexai/claude-sonnet-4-6");
    assert_eq!((target.wire, &target.auth), (Wire::AnthropicMessages, &Auth::Cloud));
    let place = Transport::Vertex { project: "p".into(), location: "us-east5".into() };
    assert_eq!((target.transport, target.base_url.as_str()), (place, ""));
    assert_eq!(machine.target("vertexai/gemini-2.5-pro").wire, Wire::Gemini);
    let error = Machine::with(&[]).resolve("vertexai/gemini-2.5-pro").unwrap_err();
    assert!(error.to_string().contains("VERTEXAI_PROJECT"), "{error}");
}

#[test]
fn a_gateway_serves_each_family_on_its_makers_wire() {
    let machine = Machine::with(&[("OPENCODE_API_KEY", "k")]);
    let cases = [
        ("opencode-zen/claude-opus-5", Wire::AnthropicMessages, header("x-api-key", "k")),
        ("opencode-zen/gpt-5.5", Wire::OpenaiResponses, bearer("k")),
        ("opencode-zen/gemini-3-flash", Wire::Gemini, header("x-goog-api-key", "k")),
        ("opencode-zen/kimi-k3", Wire::OpenaiChat, bearer("k")),
        ("opencode-go/minimax-m2.7", Wire::AnthropicMessages, header("x-api-key", "k")),
    ];
    for (model, wire, auth) in cases {
        let target = machine.target(model);
        assert_eq!((target.wire, target.auth), (wire, auth), "{model}");
    }
}

#[test]
fn a_new_model_behaves_like_its_nearest_relative() {
    let machine = Machine::with(&[("ANTHROPIC_API_KEY", "k"), ("OPENCODE_API_KEY", "k")]);
    let target = machine.target("anthropic/claude-opus-9");
    assert_eq!(target.quirks.reasoning_request, Some(ReasoningRequest::Adaptive));
    assert!(target.model.can_reason);
    assert!(target.model.cost_per_1m_in == 0.0, "its price is not known");
    assert_eq!(machine.target("opencode-zen/claude-opus-9").wire, Wire::AnthropicMessages);
}

#[test]
fn settings_lie_over_the_catalogue_field_by_field() {
    let machine = Machine::with(&[("OPENAI_API_KEY", "env")]).settings(serde_json::json!({
        "openai": {
            "api_key": "mine",
            "extra_headers": { "X-Team": "a" },
            "models": [{ "id": "gpt-5.5", "context_window": 99 }, { "id": "my-tune", "cost_per_1m_in": 7 }]
        }
    }));
    let target = machine.target("openai/gpt-5.5");
    assert_eq!(target.auth, bearer("mine"));
    assert_eq!(target.model.context_window, 99);
    assert!((target.model.cost_per_1m_out - 30.0).abs() < 1e-9, "the rest is the catalogue's");
    assert_eq!(target.headers["X-Team"], "a");
    let models = machine.catalog().models("openai").unwrap();
    let ids: Vec<&str> = models.iter().map(|entry| entry.model.id.as_str()).take(3).collect();
    assert_eq!(ids, ["gpt-5.5", "my-tune", "gpt-5.6-sol"], "the user's models come first");
}

#[test]
fn a_provider_of_the_users_own_needs_nothing_but_a_url() {
    let machine = Machine::with(&[]).settings(serde_json::json!({
        "lab": { "base_url": "http://10.0.0.7:8000/v1/", "models": [{ "id": "big" }] }
    }));
    let target = machine.target("lab/big");
    assert_eq!(target.base_url, "http://10.0.0.7:8000/v1");
    assert_eq!((target.wire, target.auth), (Wire::OpenaiChat, Auth::Anonymous));
    assert_eq!(machine.catalog().default_model(Size::Large).unwrap(), ModelRef::new("lab", "big"));
    let nowhere = Machine::with(&[]).settings(serde_json::json!({ "lab": {} }));
    assert!(matches!(nowhere.resolve("lab/x"), Err(ResolveError::MissingBaseUrl { .. })));
}

#[test]
fn a_key_of_the_environment_never_goes_to_a_provider_of_the_users_own() {
    let machine = Machine::with(&[("ANTHROPIC_API_KEY", "secret")]).settings(
        serde_json::json!({ "lab": { "type": "anthropic", "base_url": "https://lab.test" } }),
    );
    assert_eq!(machine.target("lab/claude-x").auth, Auth::Anonymous);
}

#[test]
fn an_empty_key_in_the_settings_means_not_set_up() {
    let machine = Machine::with(&[]).settings(
        serde_json::json!({ "lab": { "base_url": "https://lab.test/v1", "api_key": "" } }),
    );
    assert!(matches!(machine.resolve("lab/x"), Err(ResolveError::MissingKey { .. })));
    assert!(!machine.catalog().provider("lab").unwrap().access.is_given());
}

#[test]
fn keys_are_looked_for_in_settings_then_environment_then_store() {
    let stored = Machine::with(&[]);
    stored.credentials().put("groq", &Secret::new("from-store")).unwrap();
    assert_eq!(stored.target("groq/qwen/qwen3-32b").auth, bearer("from-store"));
    let mut both = stored;
    both.env.push(("GROQ_API_KEY", "from-env"));
    assert_eq!(both.target("groq/qwen/qwen3-32b").auth, bearer("from-env"));
    let source = KeySource::Variable("GROQ_API_KEY".to_owned());
    assert_eq!(both.catalog().provider("groq").unwrap().access, Access::Key(source));
}

#[test]
fn providers_can_be_switched_off() {
    let mut machine = Machine::with(&[("OPENAI_API_KEY", "k"), ("GROQ_API_KEY", "k")])
        .settings(serde_json::json!({ "openai": { "disable": true } }));
    assert!(matches!(machine.resolve("openai/gpt-5.5"), Err(ResolveError::Disabled { .. })));
    assert!(machine.catalog().providers().iter().all(|entry| entry.id != "openai"));
    machine.alone = true;
    assert!(matches!(machine.resolve("groq/x"), Err(ResolveError::UnknownProvider { .. })));
}

#[test]
fn the_default_model_follows_the_users_choices_then_the_best_known_key() {
    let machine = Machine::with(&[("GROQ_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
    let catalog = machine.catalog();
    assert_eq!(catalog.default_model(Size::Large).unwrap().to_string(), "openai/gpt-5.6-sol");
    assert_eq!(catalog.default_model(Size::Small).unwrap().to_string(), "openai/gpt-5.6-luna");
    let mut chosen = machine;
    chosen.large = Some(ModelRef::new("groq", "anything"));
    assert_eq!(chosen.catalog().default_model(Size::Large).unwrap().model, "anything");
    assert_eq!(
        chosen.catalog().default_model(Size::Small).unwrap().to_string(),
        "groq/qwen/qwen3-32b"
    );
}

#[test]
fn with_nothing_set_up_the_error_says_what_was_looked_for_and_what_to_do() {
    let error = Machine::with(&[]).catalog().default_model(Size::Large).unwrap_err();
    let text = error.to_string();
    for part in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "Ollama at http://localhost:11434/v1"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    assert!(error.hints().iter().any(|hint| hint.contains("caiman login")), "{:?}", error.hints());
}

#[test]
fn a_missing_key_is_named() {
    let error = Machine::with(&[]).resolve("anthropic/claude-opus-5").unwrap_err();
    assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
    assert!(error.hints().contains(&"or store it: caiman login anthropic".to_owned()));
}

#[test]
fn mistyped_names_bring_the_nearest_ones() {
    let machine = Machine::with(&[("ANTHROPIC_API_KEY", "k")]);
    let error = machine.catalog().find("antropic/claude-opus-5").unwrap_err().to_string();
    assert!(error.contains("did you mean anthropic?"), "{error}");
    let error = machine.catalog().find("claude-opsu-5").unwrap_err().to_string();
    assert!(error.contains("anthropic/claude-opus-5"), "{error}");
    let similar = machine.catalog().similar(&ModelRef::new("anthropic", "claude-sonet-4-6"));
    assert_eq!(similar[0].model, "claude-sonnet-4-6");
}

#[test]
fn a_model_alone_is_found_where_exactly_one_provider_has_it() {
    let machine = Machine::with(&[("OPENAI_API_KEY", "k"), ("OPENROUTER_API_KEY", "k")]);
    let find = |text: &str| machine.catalog().find(text);
    assert_eq!(find("GPT-5.5").unwrap(), ModelRef::new("openai", "gpt-5.5"));
    assert_eq!(find("anthropic/claude-opus-5").unwrap().provider, "anthropic");
    assert_eq!(
        find("deepseek/deepseek-v4-pro").unwrap().provider,
        "deepseek",
        "a provider's name comes before a model's"
    );
    assert_eq!(find("moonshotai/kimi-k3").unwrap().provider, "openrouter");
    let both = Machine::with(&[("OPENAI_API_KEY", "k"), ("OPENCODE_API_KEY", "k")]);
    let error = both.catalog().find("gpt-5.5").unwrap_err();
    assert!(matches!(&error, ResolveError::Ambiguous { found, .. } if found.len() == 2), "{error}");
}

#[test]
fn texts_of_the_settings_are_expanded_when_used() {
    let machine = Machine::with(&[]);
    let mut setup = Setup::new(Env::default(), machine.credentials(), machine.seen());
    let lab = serde_json::json!({
        "base_url": "https://$HOST/v1", "api_key": "$KEY", "extra_headers": { "X-A": "$A" }
    });
    setup.providers.insert("lab".into(), serde_json::from_value(lab).unwrap());
    setup.expand = Some(Box::new(|text| match text {
        "$A" => Err("A is not set".into()),
        _ => Ok(text.replace("$HOST", "h.test").replace("$KEY", "k")),
    }));
    let error = Catalog::new(setup).resolve(&ModelRef::new("lab", "m")).unwrap_err();
    assert_eq!(error.to_string(), "cannot expand providers.lab.extra_headers: A is not set");
}

#[test]
fn models_seen_at_a_provider_are_known_but_never_replace_the_catalogue() {
    let machine = Machine::with(&[("OPENAI_API_KEY", "k")]);
    let seen = |id: &str| Model { id: id.into(), context_window: 7, ..Model::default() };
    let models = vec![seen("gpt-5.5"), seen("gpt-9")];
    let at = base::Timestamp::from_millis(5);
    machine.seen().store("openai", &SeenModels { at, models }).unwrap();
    assert_eq!(machine.target("openai/gpt-5.5").model.context_window, 1_050_000);
    let new = machine.target("openai/gpt-9");
    assert_eq!(new.model.context_window, 7);
    assert_eq!(new.quirks.fixed_sampling, Some(true), "it behaves like its relatives");
    assert_eq!(machine.catalog().find("gpt-9").unwrap().provider, "openai");
}

#[test]
fn local_servers_are_where_their_variables_say() {
    let machine = Machine::with(&[("OLLAMA_HOST", "0.0.0.0:9999")]);
    let servers = machine.catalog().local_servers();
    let kinds: Vec<ProviderKind> = servers.iter().map(|server| server.kind).collect();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    let ollama = servers.iter().find(|server| server.kind == ProviderKind::Ollama).unwrap();
    assert_eq!(ollama.base_url, "http://127.0.0.1:9999/v1");
}
