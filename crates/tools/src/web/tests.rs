//! Names that resolve to where they should not: a resolver that lies, and a server that counts.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base::TaskScope;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// A server that says the same to all, and remembers what it was asked.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    _scope: TaskScope,
}

impl Server {
    async fn start(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let scope = TaskScope::new();
        let log = asked.clone();
        scope.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut buffer = [0; 4_096];
                let length = stream.read(&mut buffer).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
                log.lock().unwrap().push(request.lines().next().unwrap_or_default().to_owned());
                drop(stream.write_all(answer.as_bytes()).await);
            }
        });
        Self { port, asked, _scope: scope }
    }

    async fn plain() -> Self {
        Self::start("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok".into())
            .await
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers with each list in turn, the last one for ever.
fn lying(lists: &'static [&'static [&'static str]]) -> (Lookup, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let lookup: Lookup = Arc::new(move |_| {
        let turn = counter.fetch_add(1, Ordering::SeqCst).min(lists.len() - 1);
        Box::pin(async move {
            let addresses = lists[turn].iter().map(|address| {
                address.parse().map(|ip| SocketAddr::new(ip, 0)).map_err(io::Error::other)
            });
            addresses.collect()
        })
    });
    (lookup, count)
}

fn web(openings: &[&str], lookup: Lookup, env: &[(&str, &str)]) -> Web {
    let gate = Gate::with(openings.iter().map(|text| text.parse().unwrap()));
    let env: Env = env.iter().copied().collect();
    Web::with_lookup(gate, &Network::default(), &env, lookup)
}

async fn get(web: &Web, url: &str) -> Result<u16, WebError> {
    let answer = web.get(&Url::parse(url).unwrap(), HeaderMap::new()).await?;
    Ok(answer.status().as_u16())
}

const INNER: [&[&[&str]]; 6] = [
    &[&["127.0.0.1"]],
    &[&["93.184.216.34", "127.0.0.1"]],
    &[&["::ffff:127.0.0.1"]],
    &[&["64:ff9b::7f00:1"]],
    &[&["169.254.169.254"]],
    &[&["fd00:ec2::254"]],
];

#[tokio::test]
async fn a_name_that_resolves_inside_is_refused() {
    let server = Server::plain().await;
    for lists in INNER {
        let (lookup, _) = lying(lists);
        let url = format!("http://rebind.example:{}/", server.port);
        let error = get(&web(&[], lookup, &[]), &url).await.unwrap_err();
        assert!(matches!(error, WebError::Refused(NetError::Inner { .. })), "{lists:?}: {error}");
    }
    let (lookup, _) = lying(&[&[]]);
    let error = get(&web(&[], lookup, &[]), "http://gone.example/").await.unwrap_err();
    assert!(matches!(error, WebError::Refused(NetError::Unknown(_))), "{error}");
    assert_eq!(server.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn the_address_that_was_judged_is_the_one_that_is_used() {
    // What is allowed comes first, then what is not: a second look-up would lead there.
    let server = Server::plain().await;
    let (lookup, count) = lying(&[&["127.0.0.1"], &["127.0.0.9"]]);
    let opening = format!("127.0.0.1:{}", server.port);
    let web = web(&[&opening], lookup, &[]);
    let url = format!("http://rebind.example:{}/", server.port);
    assert_eq!(get(&web, &url).await.unwrap(), 200);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    // The connection was closed, so the next request looks again, and is judged again.
    let error = get(&web, &url).await.unwrap_err();
    assert!(matches!(error, WebError::Refused(NetError::Inner { .. })), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn an_opening_at_one_port_is_none_at_another() {
    let server = Server::plain().await;
    let (lookup, _) = lying(&[&["127.0.0.1"]]);
    let web = web(&["127.0.0.1:1", "named.example:1"], lookup, &[]);
    for host in ["rebind.example", "named.example"] {
        let error = get(&web, &format!("http://{host}:{}/", server.port)).await.unwrap_err();
        assert!(matches!(error, WebError::Refused(NetError::Inner { .. })), "{host}: {error}");
    }
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn a_redirect_to_another_host_is_told_and_not_followed() {
    let target = Server::plain().await;
    let answer = format!(
        "HTTP/1.1 302 Found\r\nlocation: http://inner.example:{}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        target.port
    );
    let server = Server::start(answer).await;
    let (lookup, _) = lying(&[&["127.0.0.1"]]);
    let opening = format!("127.0.0.1:{}", server.port);
    let web = web(&[&opening], lookup, &[]);
    let error = get(&web, &format!("http://outer.example:{}/", server.port)).await.unwrap_err();
    assert!(matches!(error, WebError::Elsewhere { .. }), "{error}");
    assert_eq!((server.asked().len(), target.asked().len()), (1, 0));
}

#[tokio::test]
async fn a_proxy_is_used_and_does_not_reach_what_we_may_not() {
    let proxy = Server::plain().await;
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let (lookup, _) = lying(&[&["93.184.216.34"], &["10.0.0.7"]]);
    let web = web(&[], lookup, &[("http_proxy", &address), ("NO_PROXY", "direct.example")]);
    assert_eq!(get(&web, "http://public.example:8080/x").await.unwrap(), 200);
    assert_eq!(proxy.asked(), ["GET http://public.example:8080/x HTTP/1.1"]);
    let error = get(&web, "http://intranet.example:8080/").await.unwrap_err();
    assert!(matches!(error, WebError::Refused(NetError::Inner { .. })), "{error}");
    let error = get(&web, "http://direct.example:8080/").await.unwrap_err();
    assert!(matches!(error, WebError::Refused(NetError::Inner { .. })), "{error}");
    assert_eq!(proxy.asked().len(), 1);
}

#[test]
fn settings_that_cannot_be_read_open_nothing() {
    let allow = ["10.0.0.0/8".to_owned(), "http://x".to_owned()];
    let tools =
        Tools { fetch: settings::Fetch { allow_private: allow.to_vec() }, ..Tools::default() };
    let (web, warnings) = Web::from_settings(&tools, &Network::default(), &Env::default());
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("`http://x` is no host"), "{}", warnings[0]);
    assert!(web.address("http://10.1.1.1/").is_ok());
    assert!(web.address("http://192.168.1.1/").is_err());
    assert_eq!(web.address("example.com/x").unwrap().as_str(), "https://example.com/x");
}

#[tokio::test]
async fn an_open_address_is_tried_with_https_first() {
    // The proxy answers a tunnel with words that are no TLS, so that https cannot be reached.
    let proxy = Server::plain().await;
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let (lookup, _) = lying(&[&["93.184.216.34"]]);
    let env = [("http_proxy", address.as_str()), ("https_proxy", address.as_str())];
    let through = web(&["named.example"], lookup, &env);
    let asked = async |url: &str| {
        let before = proxy.asked().len();
        assert_eq!(get(&through, url).await.unwrap(), 200, "{url}");
        proxy.asked().split_off(before)
    };
    let tunnel = "CONNECT public.example:443 HTTP/1.1";
    let open = "GET http://public.example/x HTTP/1.1";
    assert_eq!(asked("http://public.example/x").await, [tunnel, open]);
    assert_eq!(asked("http://public.example:80/x").await, [tunnel, open]);
    let other = "GET http://public.example:8080/x HTTP/1.1";
    assert_eq!(asked("http://public.example:8080/x").await, [other]);
    assert_eq!(asked("http://named.example/x").await, ["GET http://named.example/x HTTP/1.1"]);
    assert!(get(&through, "https://public.example/x").await.is_err(), "https stays https");
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_before_and_after_https() {
    let server = Server::plain().await;
    for lists in INNER {
        let (lookup, count) = lying(lists);
        let error = get(&web(&[], lookup, &[]), "http://rebind.example/").await.unwrap_err();
        assert!(matches!(error, WebError::Refused(NetError::Inner { .. })), "{lists:?}: {error}");
        assert_eq!(count.load(Ordering::SeqCst), 1, "a refusal is no reason to try http");
    }
    assert_eq!(server.asked(), Vec::<String>::new());
}
