//! One call over real HTTP: trying again, waiting, giving up, and never taking half for whole.

use std::time::{Duration, Instant};

use base::Part;
use llm::{Class, Request, Target};
use serde_json::{Value, json};
use settings::provider::{Network, Wire};
use testkit::cassette::Exchange;
use testkit::replay::{self, Chunks};
use testkit::{Action, Script, Server};

use crate::speaking::{ask, ask_by, caller, model_at, text_of};
use crate::transcripts::user;

fn hello() -> Request {
    Request { turns: vec![user(vec![Part::user_text("Hi")])], ..Request::default() }
}

async fn serve(script: Script) -> Server {
    Server::start(script).await.unwrap()
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_told_before_each_wait() {
    for wire in Wire::ALL {
        let script = Script::new().fail(503, "busy").then().fail(500, "oops").then().text("Hello");
        let server = serve(script).await;
        let (answer, waits) = ask_by(&caller(3), &model_at(&server, wire), &hello()).await;
        assert_eq!(text_of(&answer.unwrap()), "Hello", "{wire:?}");
        assert_eq!(server.requests().len(), 3);
        let told: Vec<_> = waits.iter().map(|wait| (wait.attempt, wait.error.class)).collect();
        assert_eq!(told, [(2, Class::Overloaded), (3, Class::Server)], "{wire:?}");
    }
}

#[tokio::test]
async fn tries_end_and_settings_say_when() {
    let server = serve(Script::new().fail(500, "oops")).await;
    let target = model_at(&server, Wire::OpenaiChat);
    let (answer, waits) = ask_by(&caller(3), &target, &hello()).await;
    assert_eq!(answer.unwrap_err().class, Class::Server);
    assert_eq!((server.requests().len(), waits.len()), (3, 2));
    let network = Network { tries: Some(1), ..Network::default() };
    let (answer, waits) = ask_by(&caller(3), &Target { network, ..target }, &hello()).await;
    assert_eq!((answer.is_err(), waits.len(), server.requests().len()), (true, 0, 4));
}

#[tokio::test]
async fn what_cannot_pass_is_asked_once() {
    for (status, class) in [(401, Class::Auth), (400, Class::BadRequest), (402, Class::Billing)] {
        let server = serve(Script::new().fail(status, "no")).await;
        let (answer, _) =
            ask_by(&caller(3), &model_at(&server, Wire::AnthropicMessages), &hello()).await;
        assert_eq!(answer.unwrap_err().class, class);
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_wish_to_wait_is_honoured_and_one_of_over_a_minute_is_not_waited_for() {
    let script =
        Script::new().header("retry-after-ms", "60").fail(429, "slow").then().text("Hello");
    let server = serve(script).await;
    let (answer, waits) =
        ask_by(&caller(3), &model_at(&server, Wire::OpenaiResponses), &hello()).await;
    assert!(answer.is_ok());
    assert!(waits[0].wait >= Duration::from_millis(60), "{waits:?}");
    let asked = server.requests();
    assert!(asked[1].at - asked[0].at >= Duration::from_millis(60));

    let server = serve(Script::new().header("retry-after", "61").fail(429, "slow")).await;
    let started = Instant::now();
    let (answer, waits) =
        ask_by(&caller(3), &model_at(&server, Wire::OpenaiResponses), &hello()).await;
    let error = answer.unwrap_err();
    assert_eq!((error.class, waits.len()), (Class::RateLimit, 0));
    assert_eq!(error.retry_after, Some(Duration::from_secs(61)));
    assert_eq!(server.requests().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn nothing_is_tried_again_once_content_was_handed_out() {
    for wire in Wire::ALL {
        for script in [
            Script::new().text("Half an ans").drop_connection(),
            Script::new().text("Half an ans").fail_inside("overloaded_error", "busy"),
        ] {
            let server = serve(script).await;
            let (answer, waits) = ask_by(&caller(3), &model_at(&server, wire), &hello()).await;
            let error = answer.unwrap_err();
            assert!(error.class.is_transient(), "{wire:?}: {error:?}");
            assert_eq!((server.requests().len(), waits.len()), (1, 0), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn an_error_inside_a_good_status_is_tried_again_before_content() {
    for wire in Wire::ALL {
        let code =
            if wire == Wire::BedrockConverse { "throttlingException" } else { "overloaded_error" };
        let script = Script::new().fail_inside(code, "busy").then().text("Hello");
        let server = serve(script).await;
        let (answer, waits) = ask_by(&caller(3), &model_at(&server, wire), &hello()).await;
        assert_eq!(text_of(&answer.unwrap()), "Hello", "{wire:?}");
        assert_eq!((server.requests().len(), waits.len()), (2, 1), "{wire:?}");
    }
}

#[tokio::test]
async fn a_stream_without_its_last_event_is_an_error() {
    for wire in Wire::ALL {
        let server = serve(Script::new().text("All of it?").end_early()).await;
        let error = ask(&model_at(&server, wire), &hello()).await.unwrap_err();
        assert_eq!(error.class, Class::Network, "{wire:?}: {error}");
    }
}

#[tokio::test]
async fn silence_is_a_timeout_before_and_inside_an_answer() {
    let network =
        Network { response_timeout_s: Some(1), idle_timeout_s: Some(1), ..Network::default() };
    for script in [Script::new().stall(), Script::new().text("Well").stall()] {
        let server = serve(script).await;
        let target = model_at(&server, Wire::OpenaiChat);
        let error =
            ask(&Target { network: network.clone(), ..target }, &hello()).await.unwrap_err();
        assert_eq!(error.class, Class::Timeout, "{error}");
        assert!(error.message.contains("silent for 1 s"), "{error}");
    }
}

#[tokio::test]
async fn a_body_cut_at_any_byte_is_an_error_or_the_whole_answer() {
    const CUTS: usize = 60;
    for wire in Wire::ALL {
        let said = |script: Script| {
            script.reasoning("Hm.").text_in("Hello, wörld.", 3).call("view", json!({"path": "a"}))
        };
        let whole = serve(said(Script::new())).await;
        let target = model_at(&whole, wire);
        let expected = ask(&target, &hello()).await.unwrap();
        let mut script = Script::new();
        for cut in 0..CUTS {
            // Small steps first and then larger ones, so that the whole body is covered.
            script = said(script).drop_at(cut * (cut + 1) / 2).then();
        }
        let server = serve(script).await;
        let target = model_at(&server, wire);
        for cut in 0..CUTS {
            // The scripted ids count requests, so only kinds and words can be compared.
            if let Ok(answer) = ask(&target, &hello()).await {
                assert_eq!(text_of(&answer), text_of(&expected), "{wire:?}, cut {cut}");
                assert_eq!(answer.parts.len(), expected.parts.len(), "{wire:?}, cut {cut}");
                assert_eq!(answer.stop, expected.stop, "{wire:?}, cut {cut}");
            }
        }
    }
}

/// A recorded-looking answer with headers of our choice.
fn canned(status: u16, headers: &Value, body: &str) -> Exchange {
    serde_json::from_value(json!({
        "provider": "test", "protocol": "openai-chat", "request": {},
        "response": { "status": status, "headers": headers, "body": body },
    }))
    .unwrap()
}

#[tokio::test]
async fn a_redirect_is_refused_and_a_web_page_is_no_answer() {
    let moved = canned(308, &json!({"location": "https://new.example/v1"}), "");
    let page = canned(200, &json!({"content-type": "text/html; charset=utf-8"}), "<html></html>");
    for (exchange, words) in [(moved, "https://new.example/v1"), (page, "web page")] {
        let server = replay::serve(exchange, Chunks::WHOLE).await.unwrap();
        let chat = crate::targets::target(Wire::OpenaiChat);
        let (answer, waits) =
            ask_by(&caller(3), &Target { base_url: server.url(0), ..chat }, &hello()).await;
        let error = answer.unwrap_err();
        assert_eq!((error.class, waits.len()), (Class::BadRequest, 0));
        assert!(error.message.contains(words) && error.message.contains("base_url"), "{error}");
    }
}

#[tokio::test]
async fn a_proxy_of_the_settings_is_used_for_both_schemes() {
    let proxy = serve(Script::new().text("Hello")).await;
    let network = Network { proxy: Some(proxy.url()), ..Network::default() };
    let chat = crate::targets::target(Wire::OpenaiChat);
    let plain =
        Target { base_url: "http://models.invalid/v1".into(), network: network.clone(), ..chat };
    assert_eq!(text_of(&ask(&plain, &hello()).await.unwrap()), "Hello");
    assert_eq!(proxy.requests()[0].path, "http://models.invalid/v1/chat/completions");
    let secure = Target { base_url: "https://models.invalid/v1".into(), ..plain };
    let error = ask(&secure, &hello()).await.unwrap_err();
    assert_eq!(error.class, Class::Network, "{error}");
    let asked = &proxy.requests()[1];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("CONNECT", "models.invalid:443"));
}

#[tokio::test]
async fn headers_and_fields_of_the_settings_arrive() {
    let server = serve(Script::new().compatible().text("Hello")).await;
    let mut target = model_at(&server, Wire::OpenaiChat);
    target.headers.insert("X-Team".into(), "reptiles".into());
    target.headers.insert("accept".into(), String::new());
    target.extra_body.insert("seed".into(), json!(7));
    target.extra_body.insert("stream_options".into(), json!({"extra": true}));
    ask(&target, &hello()).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.header("x-team"), Some("reptiles"));
    assert_ne!(request.header("accept"), Some("text/event-stream"));
    assert_eq!(request.body["seed"], 7);
    assert_eq!(request.body["stream_options"], json!({"include_usage": true, "extra": true}));
}

#[tokio::test]
async fn a_compressed_stream_is_read() {
    // `data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}` and `[DONE]`.
    const GZIP: &str = "H4sIAAAAAAACA0tJLEm0UqhWSs7Iz0xOLVayiq5WSknNKUlUsgIK5ueVpOaVKFkpeaTm5OQr1eoopWXmZRZnxBelJhbn5wElikvyC5RqY2u5uFLAJkW7+Pu5xnJxAQAJT4MbWAAAAA==";
    let script = Script::new()
        .header("content-encoding", "gzip")
        .act(Action::RawBytes { base64: GZIP.to_owned() });
    let server = serve(script).await;
    let answer = ask(&model_at(&server, Wire::OpenaiChat), &hello()).await.unwrap();
    assert_eq!(text_of(&answer), "Hello");
    let accepted = server.requests()[0].header("accept-encoding").unwrap_or_default().to_owned();
    assert!(accepted.contains("gzip"), "{accepted}");
}
