use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::clock::Timestamp;
use proptest::prelude::*;
use rmcp::transport::auth::StoredCredentials;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::kept::{Kept, Registration};
use super::*;

const PATIENCE: Duration = Duration::from_mins(1);

fn url(text: &str) -> Url {
    text.parse().unwrap()
}

fn kept(at: &str) -> Kept {
    let token = json!({
        "access_token": "tok", "token_type": "bearer", "refresh_token": "more", "expires_in": 3600});
    let credentials = StoredCredentials::new(
        "me".to_owned(),
        serde_json::from_value(token).unwrap(),
        vec!["read".to_owned()],
        Some(1_000),
    );
    let registration = Registration { client_id: "me".to_owned(), client_secret: None };
    Kept::new(&url(at), registration, "http://localhost:1/callback", credentials)
}

#[test]
fn a_token_goes_to_the_address_it_was_given_for() {
    let text = kept("https://a.example/mcp").text().unwrap();
    let read = Kept::read(&text, &url("https://a.example/mcp")).unwrap();
    assert_eq!(read.token().as_deref(), Some("tok"));
    for other in ["https://b.example/mcp", "https://a.example/other", "http://a.example/mcp"] {
        assert!(Kept::read(&text, &url(other)).is_none(), "{other}");
    }
    assert!(Kept::read("{", &url("https://a.example/mcp")).is_none());
}

#[test]
fn a_token_is_renewed_shortly_before_its_end() {
    let kept = kept("https://a.example/mcp");
    let at = |second: i64| Timestamp::from_millis(second * 1000);
    assert!(!kept.ends_soon(at(1_000)) && !kept.ends_soon(at(1_000 + 3_500)));
    assert!(kept.ends_soon(at(1_000 + 3_580)) && kept.ends_soon(at(9_999_999)));
    assert!(kept.is_renewable() && !kept.clone().spent().is_renewable());
    assert_eq!(kept.spent().token(), None);
}

#[test]
fn what_the_server_wanted_is_asked_for_with_what_there_is() {
    let mut kept = kept("https://a.example/mcp");
    kept.wanted = vec!["write".to_owned(), "read".to_owned()];
    assert_eq!(kept.all_scopes(), ["read", "write"]);
}

/// Asks the callback for an address, as a browser would.
async fn visit(callback: &Callback, target: &str) -> String {
    let port = url(callback.redirect()).port().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_page_leads_back_with_its_own_state_only() {
    let callback = Callback::open(None).await.unwrap();
    let port = url(callback.redirect()).port().unwrap();
    // Browsers open connections they never use.
    let _silent = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let wait = callback.wait("right", PATIENCE);
    let visits = async {
        for strange in
            ["/", "/favicon.ico", "/callback", "/callback?state=wrong&code=a", "/callback?code=a"]
        {
            let answer = visit(&callback, strange).await;
            assert!(answer.starts_with("HTTP/1.1 404"), "{strange}: {answer}");
        }
        visit(&callback, "/callback?state=right&code=abc&iss=https%3A%2F%2Fa.example").await
    };
    let (back, answer) = tokio::join!(wait, visits);
    let back = back.unwrap();
    assert!(back.query_pairs().any(|(name, value)| name == "code" && value == "abc"), "{back}");
    assert!(answer.contains("You are signed in") && !answer.contains("abc"), "{answer}");
}

#[tokio::test]
async fn a_refusal_is_told_and_nobody_is_waited_for_forever() {
    let callback = Callback::open(None).await.unwrap();
    let wait = callback.wait("s", PATIENCE);
    let target = "/callback?state=s&error=access_denied&error_description=not%1b%5B2Jyou";
    let (back, answer) = tokio::join!(wait, visit(&callback, target));
    assert_eq!(back, Err(SignInError::Refused("not[2Jyou".to_owned())));
    assert!(answer.contains("refused"), "{answer}");
    let late = callback.wait("s", Duration::from_millis(20)).await;
    assert_eq!(late, Err(SignInError::TimedOut(0)));
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let first = Callback::open(None).await.unwrap();
    let port = url(first.redirect()).port().unwrap();
    let second = Callback::open(Some(port)).await;
    assert!(matches!(second, Err(SignInError::Port { port: named, .. }) if named == port));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_request_leads_back_without_state_and_code(head in "(GET|POST) /(callback)?[?]?[ -~]{0,60}( HTTP/1.1)?") {
        let callback = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(Callback::open(None))
            .unwrap();
        // Nobody can guess a state of this length.
        prop_assert!(callback.read(&head, "0123456789abcdef0123456789abcdef").is_none());
    }
}

/// Nobody is reached, and nothing is kept.
struct Nothing;

impl Vault for Nothing {
    fn get(&self, _: &str) -> Option<Secret> {
        None
    }
    fn put(&self, _: &str, _: &Secret) -> Result<(), String> {
        Ok(())
    }
    fn remove(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

fn outside() -> Outside {
    Outside {
        bans: settings::Bans::default(),
        env: base::Env::from_iter([("ID", "from-env")]),
        child_env: base::Env::default(),
        folder: "/".into(),
        paths: base::Paths::of(&base::Env::from_iter([("HOME", "/nowhere")])).unwrap(),
        cache: "/nowhere".into(),
        dial: Arc::new(|_| Err("nobody is there".to_owned())),
        vault: Arc::new(Nothing),
        clock: Clock::fixed(Timestamp::from_millis(0)),
    }
}

#[tokio::test]
async fn settings_can_rule_a_sign_in_out() {
    let at = url("https://a.example/mcp");
    let of = |server: &McpServer| Account::of("x", &at, server, &outside()).unwrap();
    let template = settings::Template::new;
    let headers = BTreeMap::from([("authorization".to_owned(), template("Bearer x"))]);
    assert!(of(&McpServer::default()).is_some());
    assert!(of(&McpServer { oauth: Some(false), ..McpServer::default() }).is_none());
    assert!(of(&McpServer { headers: headers.clone(), ..McpServer::default() }).is_none());
    assert!(of(&McpServer { headers, oauth: Some(true), ..McpServer::default() }).is_some());
    let named = McpServer { oauth_client_id: Some(template("$ID")), ..McpServer::default() };
    assert_eq!(of(&named).unwrap().ours.unwrap().client_id, "from-env");
}

#[tokio::test]
async fn nobody_is_asked_where_nobody_can_answer() {
    let at = url("https://a.example/mcp");
    let account = Account::of("x", &at, &McpServer::default(), &outside()).unwrap().unwrap();
    assert_eq!(account.token().await, Ok(None));
    let challenge = Challenge { header: "Bearer", kind: Wanting::Token };
    assert_eq!(account.answer(None, challenge).await, Ok(None));
}
