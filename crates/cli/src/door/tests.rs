//! A user with a home of their own, and what a face is told.

use std::path::PathBuf;
use std::time::Instant;

use base::protocol::TrustState;
use base::protocol::{
    Client, Delivery, KeyState, Mode, ModelChoice, Place, ProviderState, ServerKind, Trust,
};
use base::{Clock, Env, Event, ModelRef, Part, Paths, Secret, SessionId};
use futures::StreamExt;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const KEY: &str = "sk-test-1234567890abcdef";

struct Home {
    dir: TempDir,
    vars: Vec<(String, String)>,
}

impl Home {
    fn new() -> Self {
        let home = Self { dir: tempfile::tempdir().unwrap(), vars: Vec::new() };
        std::fs::create_dir_all(home.path("work")).unwrap();
        home
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    fn path(&self, rest: &str) -> PathBuf {
        std::fs::canonicalize(self.dir.path()).unwrap().join(rest)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn folder(&self) -> String {
        self.path("work").display().to_string()
    }

    fn door(&self) -> Door {
        let home = ("HOME".to_owned(), self.path("").display().to_string());
        let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        let env: Env = self.vars.iter().cloned().chain([home, path]).collect();
        let paths = Paths::of(&env).unwrap();
        let app = App { env, paths, cwd: self.path("work"), clock: Clock::system() };
        Door::new(app, Flags::default())
    }
}

async fn place(door: &Door, home: &Home) -> Place {
    let reply = door.ask(Query::Place { folder: home.folder() }).await.unwrap();
    let Reply::Place(place) = reply else { panic!("{reply:?}") };
    *place
}

async fn providers(door: &Door) -> Vec<ProviderState> {
    let reply = door.ask(Query::Providers).await.unwrap();
    let Reply::Providers { providers } = reply else { panic!("{reply:?}") };
    providers
}

async fn model(door: &Door, name: &str) -> ModelChoice {
    let reply = door.ask(Query::Models { search: Some(name.to_owned()) }).await.unwrap();
    let Reply::Models { models } = reply else { panic!("{reply:?}") };
    models.into_iter().find(|choice| choice.model.to_string() == name).unwrap()
}

async fn begin(door: &Door, home: &Home) -> SessionId {
    let session = SessionId::new();
    door.submit(Op::NewSession { session, folder: home.folder() }).await.unwrap();
    session
}

/// A server that gives every request the same answer; its address.
async fn server(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    base::TaskScope::new().spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 4096];
            drop(stream.read(&mut buffer).await);
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{body}"
            );
            drop(stream.write_all(answer.as_bytes()).await);
        }
    });
    format!("http://{address}/v1")
}

#[tokio::test]
async fn a_place_is_known_without_network_or_store() {
    let home = Home::new().with("ANTHROPIC_API_KEY", KEY);
    home.write("work/.git/HEAD", "ref: refs/heads/feature/x\n");
    home.write("work/src/main.rs", "fn main() {}\n");
    home.write(".config/caiman/caiman.json", r#"{"permissions": {"defaultMode": "plan"}}"#);
    let door = home.door();
    let began = Instant::now();
    let place = place(&door, &home).await;
    let took = began.elapsed();
    assert!(took.as_millis() < 250, "{took:?}");
    assert_eq!(place.branch.as_deref(), Some("feature/x"));
    assert_eq!((place.trust, place.untrusted.len()), (TrustState::Empty, 0));
    assert_eq!((place.mode, place.init.as_deref()), (Mode::Plan, Some("AGENTS.md")));
    let model = place.model.unwrap();
    assert_eq!(model.model.provider, "anthropic");
    assert_eq!(model.key, KeyState::Found("ANTHROPIC_API_KEY".to_owned()));
    assert!(model.window > 0 && model.input_price.is_some());
    assert!(!home.path(".local/share/caiman/caiman.db").exists(), "nothing was opened");
}

#[tokio::test]
async fn trust_is_asked_for_until_it_is_given_or_refused() {
    let home = Home::new();
    home.write("work/.git/HEAD", "0123456789abcdef\n");
    home.write("work/caiman.json", r#"{"mcp": {"files": {"command": "x"}}}"#);
    let door = home.door();
    let first = place(&door, &home).await;
    assert_eq!((first.trust, first.branch.as_deref()), (TrustState::Unknown, Some("01234567")));
    assert_eq!(first.untrusted, ["caiman.json"]);
    assert_eq!(first.init, None, "there is no code");
    let answer = |trust| Op::Trust { folder: home.folder(), trust };
    door.submit(answer(Trust::Refused)).await.unwrap();
    let refused = place(&door, &home).await;
    assert_eq!((refused.trust, refused.untrusted.len()), (TrustState::Unknown, 0));
    home.write("work/caiman.json", r#"{"mcp": {"files": {"command": "y"}}}"#);
    assert_eq!(place(&door, &home).await.untrusted, ["caiman.json"], "it has changed");
    door.submit(answer(Trust::Given)).await.unwrap();
    assert_eq!(place(&door, &home).await.trust, TrustState::Trusted);
    let reply = door.ask(Query::Servers { folder: home.folder() }).await.unwrap();
    let Reply::Servers { servers } = reply else { panic!("{reply:?}") };
    assert_eq!((servers[0].name.as_str(), servers[0].kind), ("files", ServerKind::Mcp));
    assert_eq!(servers[0].state, "not started");
}

#[tokio::test]
async fn events_are_waited_for_before_there_is_a_mind() {
    let home = Home::new();
    let door = home.door();
    let mut events = door.subscribe(base::protocol::EventFilter::All, 0);
    let session = begin(&door, &home).await;
    let title = "A title".to_owned();
    door.submit(Op::Rename { session, title }).await.unwrap();
    let first = events.next().await.unwrap();
    assert!(matches!(first.event, Event::Notice { .. }), "where the demo works: {first:?}");
    assert_eq!(first.number, 1);
    let event = events.next().await.unwrap();
    assert!(matches!(event.event, Event::SessionChanged { .. }), "{event:?}");
    assert_eq!(event.number, 2);
    door.close().await;
}

#[tokio::test]
async fn without_a_key_the_demo_stands_in() {
    let home = Home::new();
    let door = home.door();
    assert!(place(&door, &home).await.model.is_none());
    let mut events = door.subscribe(base::protocol::EventFilter::All, 0);
    let session = begin(&door, &home).await;
    let parts = vec![Part::user_text("hello")];
    door.submit(Op::say(session, parts, Delivery::Queue)).await.unwrap();
    let end = loop {
        let event = events.next().await.unwrap().event;
        if let Event::TurnDone { .. } | Event::TurnFailed { .. } = event {
            break event;
        }
    };
    assert!(matches!(end, Event::TurnDone { .. }), "{end:?}");
    let reply = door.ask(Query::State { session }).await.unwrap();
    let Reply::State(state) = reply else { panic!("{reply:?}") };
    assert_eq!(state.model.to_string(), STAND_IN);
    door.close().await;
}

#[tokio::test]
async fn a_mind_nobody_has_worked_with_is_opened_anew_with_trust() {
    let home = Home::new();
    home.write("work/caiman.json", r#"{"options": {"initialize_as": "NOTES.md"}, "nonsense": 1}"#);
    let door = home.door();
    let mut events = door.subscribe(base::protocol::EventFilter::All, 0);
    let look = Query::Sessions { folder: None, limit: 1 };
    door.ask(look.clone()).await.unwrap();
    let first = events.next().await.unwrap();
    assert!(matches!(&first.event, Event::Notice { text, .. } if text.contains("nonsense")));
    door.submit(Op::Trust { folder: home.folder(), trust: Trust::Given }).await.unwrap();
    door.ask(look).await.unwrap();
    let second = events.next().await.unwrap();
    assert!(second.number > first.number, "numbers go on: {second:?}");
    door.close().await;
}

#[tokio::test]
async fn a_key_is_kept_only_if_its_provider_takes_it() {
    let denied = r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#;
    let bad = server("401 Unauthorized", denied).await;
    let home = Home::new().with("OPENAI_API_ENDPOINT", &bad);
    let door = home.door();
    let log_in = |provider: &str, key: &str| Op::Login {
        provider: provider.to_owned(),
        key: Secret::new(key),
    };
    for (provider, key, why) in [
        ("openai", KEY, "does not take this key"),
        ("openai", "two words", "white space"),
        ("demo", KEY, "needs no key"),
        ("opnai", KEY, "openai"),
    ] {
        let refused = door.submit(log_in(provider, key)).await.unwrap_err().to_string();
        assert!(refused.contains(why) && !refused.contains(KEY), "{refused}");
    }
    assert!(!home.path(".local/share/caiman/credentials.json").exists());
    let gone = Home::new().with("OPENAI_API_ENDPOINT", "http://127.0.0.1:9/v1");
    let refused = gone.door().submit(log_in("openai", KEY)).await.unwrap_err().to_string();
    assert!(refused.contains("cannot be reached"), "{refused}");
}

#[tokio::test]
async fn a_provider_can_be_used_right_after_the_login() {
    let good = server("200 OK", r#"{"data":[{"id":"gpt-x"}]}"#).await;
    let home = Home::new().with("OPENAI_API_ENDPOINT", &good);
    let door = home.door();
    let session = begin(&door, &home).await;
    let chosen = providers(&door).await.into_iter().find(|it| it.id == "openai").unwrap();
    assert_eq!(chosen.key, KeyState::Missing);
    assert!(chosen.url.unwrap().starts_with("https://"));
    let wanted: ModelRef = chosen.model.unwrap();
    let set = Op::SetModel { session, model: wanted.clone() };
    assert!(door.submit(set.clone()).await.is_err(), "there is no key yet");
    assert_eq!(model(&door, &wanted.to_string()).await.key, KeyState::Missing);
    let log_in = Op::Login { provider: "openai".to_owned(), key: Secret::new(KEY) };
    door.submit(log_in).await.unwrap();
    assert!(matches!(model(&door, &wanted.to_string()).await.key, KeyState::Found(_)));
    door.submit(set).await.unwrap();
    let first = providers(&door).await.remove(0);
    assert_eq!(first.id, "openai", "those with a key come first");
    door.close().await;
}

#[tokio::test]
async fn a_server_on_this_machine_is_found() {
    let listed = r#"{"data":[{"id":"tiny"}],"models":[]}"#;
    let near = server("200 OK", listed).await;
    let home = Home::new();
    let settings = format!(r#"{{"providers": {{"lmstudio": {{"base_url": "{near}"}}}}}}"#);
    home.write(".config/caiman/caiman.json", &settings);
    let found = providers(&home.door()).await;
    let near = found.iter().find(|it| it.id == "lmstudio").unwrap();
    assert_eq!(near.key, KeyState::NotNeeded);
    assert_eq!(near.model, Some(ModelRef::new("lmstudio", "tiny")));
    assert_eq!(found.last().unwrap().id, "demo");
    assert!(!found.iter().any(|it| it.id == "llamacpp"), "nobody answers there");
}
