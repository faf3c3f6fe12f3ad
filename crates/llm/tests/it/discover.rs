//! Lists of models, over real loopback HTTP.

use std::time::Duration;

use base::{Env, Timestamp};
use llm::catalog::{Catalog, Endpoint, ResolveError, Seen, SeenModels, Setup, Size};
use llm::credentials::Credentials;
use llm::discover::{Changes, Finder, changes};
use llm::{Class, Http};
use settings::provider::{Model, Provider};

use crate::loopback::Loopback;

fn catalog(folder: &tempfile::TempDir, id: &str, provider: serde_json::Value) -> Catalog {
    let credentials = Credentials::in_file(folder.path().join("credentials.json"));
    let mut setup = Setup::new(Env::default(), credentials, Seen::in_cache(folder.path()));
    let provider: Provider = serde_json::from_value(provider).unwrap();
    setup.providers.insert(id.to_owned(), provider);
    setup.disable_default_providers = true;
    Catalog::new(setup)
}

fn endpoint(kind: &str, url: &str) -> Endpoint {
    let folder = tempfile::tempdir().unwrap();
    let provider = serde_json::json!({ "type": kind, "base_url": url, "api_key": "the-key" });
    catalog(&folder, "it", provider).endpoint("it").unwrap()
}

async fn list(kind: &str, url: &str) -> Result<Vec<Model>, llm::Error> {
    Finder::new(Http::new()).models(&endpoint(kind, url)).await
}

#[tokio::test]
async fn a_plain_list_is_read_and_what_does_not_chat_left_out() {
    let server = Loopback::start_with(&[(
        "GET /v1/models",
        200,
        r#"{"object":"list","data":[
            {"id":"big","context_length":131072,"architecture":{"input_modalities":["text","image"]},
             "pricing":{"prompt":"0.00003","completion":"0.00018","input_cache_read":"0.000003"},
             "supported_parameters":["tools","reasoning"],"top_provider":{"max_completion_tokens":8192}},
            {"id":"text-embedding-3","context_length":8192},
            {"id":"served","max_model_len":4096}]}"#,
    )]).await;
    let models = list("openai-compat", &format!("{}/v1", server.url)).await.unwrap();
    assert_eq!(models.len(), 2);
    let big = &models[0];
    assert_eq!((big.context_window, big.default_max_tokens), (131_072, 8192));
    let prices = (big.cost_per_1m_in, big.cost_per_1m_out, big.cost_per_1m_out_cached);
    assert_eq!(prices, (30.0, 180.0, 3.0));
    assert!(big.can_reason && big.supports_attachments);
    assert_eq!(models[1].context_window, 4096);
    assert!(server.seen()[0].head.contains("authorization: Bearer the-key"));
}

#[tokio::test]
async fn a_bare_array_and_geminis_own_list_are_read_too() {
    let server = Loopback::start_with(&[
        (
            "GET /v1/models",
            200,
            r#"[{"id":"a/b","context_length":10,"pricing":{"input":0.2,"output":0.6}}]"#,
        ),
        (
            "GET /v1beta/models?pageSize=1000",
            200,
            r#"{"models":[{"name":"models/gemini-x","displayName":"Gemini X","inputTokenLimit":1000,"outputTokenLimit":10,
                "thinking":true,"supportedGenerationMethods":["generateContent"]},
               {"name":"models/aqa","supportedGenerationMethods":["generateAnswer"]}]}"#,
        ),
    ]).await;
    let models = list("openai-compat", &format!("{}/v1", server.url)).await.unwrap();
    assert_eq!((models[0].cost_per_1m_in, models[0].cost_per_1m_out), (0.2, 0.6));
    let models = list("google", &server.url).await.unwrap();
    assert_eq!(models.len(), 1);
    assert_eq!(models[0].id, "gemini-x");
    assert!(models[0].can_reason);
    assert!(server.seen()[1].head.contains("x-goog-api-key: the-key"));
}

#[tokio::test]
async fn an_ollama_tells_windows_and_abilities() {
    let server = Loopback::start_with(&[
        ("GET /api/tags", 200, r#"{"models":[{"name":"qwen3:8b"}]}"#),
        (
            "POST /api/show",
            200,
            r#"{"capabilities":["completion","tools","thinking"],"model_info":{"qwen3.context_length":40960}}"#,
        ),
    ]).await;
    let models = list("ollama", &server.url).await.unwrap();
    assert_eq!((models[0].id.as_str(), models[0].context_window), ("qwen3:8b", 40_960));
    assert!(models[0].can_reason && !models[0].supports_attachments);
    assert!(server.seen()[1].body.ends_with(r#"{"model":"qwen3:8b"}"#));
}

#[tokio::test]
async fn llama_cpp_counts_the_window_it_was_started_with() {
    let server = Loopback::start_with(&[
        ("GET /v1/models", 200, r#"{"data":[{"id":"smol","meta":{"n_ctx_train":8192}}]}"#),
        (
            "GET /props",
            200,
            r#"{"default_generation_settings":{"n_ctx":2048},"modalities":{"vision":true}}"#,
        ),
    ])
    .await;
    let models = list("llamacpp", &server.url).await.unwrap();
    assert_eq!((models[0].context_window, models[0].supports_attachments), (2048, true));
}

#[tokio::test]
async fn lm_studio_lists_loaded_models_first_and_falls_back_to_the_plain_list() {
    let own = r#"{"data":[{"id":"cold","type":"llm","state":"not-loaded","max_context_length":100},
        {"id":"warm","type":"vlm","state":"loaded","loaded_context_length":50,"max_context_length":100},
        {"id":"vec","type":"embeddings"}]}"#;
    let server = Loopback::start_with(&[("GET /api/v0/models", 200, own)]).await;
    let models = list("lmstudio", &server.url).await.unwrap();
    let found: Vec<_> = models.iter().map(|m| (m.id.as_str(), m.context_window)).collect();
    assert_eq!(found, [("warm", 50), ("cold", 100)]);
    let old =
        Loopback::start_with(&[("GET /v1/models", 200, r#"{"data":[{"id":"plain"}]}"#)]).await;
    assert_eq!(list("lmstudio", &old.url).await.unwrap()[0].id, "plain");
}

#[tokio::test]
async fn litellm_tells_prices() {
    let own = r#"{"data":[{"model_name":"gpt","model_info":{"mode":"chat","max_input_tokens":1000,
        "input_cost_per_token":3e-06,"output_cost_per_token":1.8e-4,"supports_vision":true}},
        {"model_name":"gpt","model_info":{}},
        {"model_name":"vec","model_info":{"mode":"embedding"}}]}"#;
    let server = Loopback::start_with(&[("GET /model/info", 200, own)]).await;
    let models = list("litellm", &server.url).await.unwrap();
    assert_eq!(models.len(), 1);
    assert_eq!((models[0].cost_per_1m_in, models[0].cost_per_1m_out), (3.0, 180.0));
}

#[tokio::test]
async fn refusals_and_silence_have_their_class() {
    let denied = r#"{"error":{"message":"Incorrect API key"}}"#;
    let server =
        Loopback::start_with(&[("GET /v1/models", 401, denied), ("GET /v2/models", 200, "<html>")])
            .await;
    let error = list("openai-compat", &format!("{}/v1", server.url)).await.unwrap_err();
    assert_eq!((error.class, error.status), (Class::Auth, Some(401)));
    assert!(error.message.contains("Incorrect API key"), "{error}");
    let error = list("openai-compat", &format!("{}/v2", server.url)).await.unwrap_err();
    assert_eq!(error.class, Class::Server);
    // A port nothing listens on: bound for a moment, then let go.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = list("ollama", &format!("http://{free}")).await.unwrap_err();
    assert_eq!(error.class, Class::Network);
}

#[tokio::test]
async fn a_server_that_accepts_and_stays_silent_is_given_up_on() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let finder = Finder::new(Http::new()).with_limit(Duration::from_millis(100));
    let error = finder.models(&endpoint("openai-compat", &url)).await.unwrap_err();
    assert_eq!(error.class, Class::Timeout);
}

#[tokio::test]
async fn without_any_key_a_local_server_that_answers_is_used() {
    let server = Loopback::start_with(&[
        ("GET /api/tags", 200, r#"{"models":[{"name":"llama3"}]}"#),
        ("POST /api/show", 200, r#"{"capabilities":["completion"]}"#),
    ])
    .await;
    let folder = tempfile::tempdir().unwrap();
    let here = serde_json::json!({ "type": "ollama", "base_url": server.url });
    let (here, finder) = (catalog(&folder, "mine", here), Finder::new(Http::new()));
    let found = here.find_default(Size::Large, &finder).await;
    assert_eq!(found.unwrap().to_string(), "mine/llama3");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = serde_json::json!({ "type": "ollama", "base_url": format!("http://{free}") });
    let found = catalog(&folder, "mine", gone).find_default(Size::Large, &finder).await;
    assert!(matches!(found, Err(ResolveError::NoModel(_))));
}

#[tokio::test]
async fn a_provider_of_the_settings_without_models_is_asked_for_them() {
    let server = Loopback::start_with(&[(
        "GET /v1/models",
        200,
        r#"{"data":[{"id":"only","max_model_len":77}]}"#,
    )])
    .await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}/v1", server.url);
    let lab = serde_json::json!({ "base_url": url, "api_key": "k" });
    let lab = catalog(&folder, "lab", lab);
    let found = lab.find_default(Size::Large, &Finder::new(Http::new())).await.unwrap();
    assert_eq!(found.to_string(), "lab/only");
    assert_eq!(lab.resolve(&found).unwrap().model.context_window, 77, "what was learnt is kept");
    let silent = serde_json::json!({ "base_url": url, "api_key": "k", "discover_models": false });
    assert!(catalog(&folder, "silent", silent).servers().is_empty());
}

#[tokio::test]
async fn what_only_a_server_knows_of_a_model_is_learnt_once() {
    let server = Loopback::start_with(&[
        ("GET /v1/models", 200, r#"{"data":[{"id":"smol"}]}"#),
        ("GET /props", 200, r#"{"default_generation_settings":{"n_ctx":2048}}"#),
    ])
    .await;
    let folder = tempfile::tempdir().unwrap();
    let here = serde_json::json!({ "type": "llamacpp", "base_url": server.url });
    let (here, finder) = (catalog(&folder, "here", here), Finder::new(Http::new()));
    let model = base::ModelRef::new("here", "smol");
    assert_eq!(here.resolve(&model).unwrap().model.context_window, 0);
    here.learn(&model, &finder).await;
    assert_eq!(here.resolve(&model).unwrap().model.context_window, 2048);
    let asked = server.seen().len();
    here.learn(&model, &finder).await;
    assert_eq!(server.seen().len(), asked);
}

#[test]
fn changes_tell_what_is_new_and_what_is_gone() {
    let model = |id: &str| Model { id: id.into(), ..Model::default() };
    let before = SeenModels { at: Timestamp::default(), models: vec![model("old"), model("kept")] };
    let now = [model("kept"), model("new"), model("listed")];
    let found = changes(&["listed".to_owned()], Some(&before), &now);
    assert_eq!(
        found,
        Changes { listed: 3, added: vec!["new".into()], removed: vec!["old".into()] }
    );
}
