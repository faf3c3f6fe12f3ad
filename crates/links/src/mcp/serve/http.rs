//! The server over HTTP: who may come in, and by which name we may be called.
//!
//! Web pages of a browser on this machine can reach it: a name that points to us tomorrow must not let them in (DNS
//! rebinding), so the `Host` must be one of ours, and an `Origin` one we were told of. Behind both stands the token.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderMap, Request, Response, StatusCode, header};
use base::Secret;
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::Server;

/// Where the protocol is spoken.
pub const PATH: &str = "/mcp";
/// Most connections at a time; a guest has two or three.
const MOST_CONNECTIONS: usize = 256;
/// How long a guest may be silent before its session ends. The library's own 5 minutes are shorter than a turn.
const SILENCE: Duration = Duration::from_hours(6);

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Protocol = StreamableHttpService<Server, LocalSessionManager>;

/// Who may come in over HTTP.
pub struct Door {
    /// What every request must show.
    pub token: Secret,
    /// Names we are called by, beside those of this machine for itself: `name` or `name:port`.
    pub hosts: Vec<String>,
    /// Pages that may call us: `https://name:port`.
    pub origins: Vec<String>,
}

/// A token nobody can guess.
pub fn new_token() -> Secret {
    Secret::new(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
}

/// Serves whoever may come in until the server ends.
pub(super) async fn serve(
    server: Server,
    listener: TcpListener,
    door: Door,
) -> std::io::Result<()> {
    let at = listener.local_addr()?;
    let ending = server.desk.hang_up.clone();
    let scope = server.desk.scope.child();
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SILENCE);
    let config = config(&door, at).with_cancellation_token(ending.clone());
    let handler = server.clone();
    let protocol = Protocol::new(move || Ok(handler.clone()), Arc::new(sessions), config);
    let (token, places) = (Arc::new(door.token), Arc::new(Semaphore::new(MOST_CONNECTIONS)));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return Ok(()) };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ending.cancelled() => break,
        };
        // Whoever hung up before we answered is no reason to end.
        let Ok((stream, _)) = accepted else { continue };
        let (protocol, token) = (protocol.clone(), token.clone());
        scope.spawn(async move {
            connection(stream, protocol, token).await;
            drop(place);
        });
    }
    // Calls that are being stopped still tell what came of them.
    tokio::time::timeout(super::desk::FAREWELL, scope.join()).await.unwrap_or_default();
    scope.close().await;
    Ok(())
}

fn config(door: &Door, at: SocketAddr) -> StreamableHttpServerConfig {
    let port = at.port();
    let own = ["localhost", "127.0.0.1", "[::1]"];
    let mut hosts: Vec<String> = own.iter().map(|name| format!("{name}:{port}")).collect();
    if !at.ip().is_unspecified() {
        hosts.push(at.to_string());
    }
    let own = hosts.iter().map(|host| format!("http://{host}"));
    let origins: Vec<String> = own.chain(door.origins.iter().cloned()).collect();
    hosts.extend(door.hosts.iter().cloned());
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
}

async fn connection(stream: TcpStream, protocol: Protocol, token: Arc<Secret>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let (protocol, token) = (protocol.clone(), token.clone());
        async move { Ok::<_, Infallible>(answer(request, &protocol, &token).await) }
    });
    let mut connections = http1::Builder::new();
    connections.timer(TokioTimer::new());
    // A connection that breaks concerns nobody else.
    drop(connections.serve_connection(TokioIo::new(stream), answer).await);
}

async fn answer(request: Request<Incoming>, protocol: &Protocol, token: &Secret) -> Answer {
    if !shows(request.headers(), token) {
        let mut refused = plain(
            StatusCode::UNAUTHORIZED,
            "Send the token that caiman mcp serve printed: Authorization: Bearer TOKEN\n",
        );
        let wanted = header::HeaderValue::from_static("Bearer realm=\"caiman\"");
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, wanted);
        return refused;
    }
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "The Model Context Protocol is spoken at /mcp\n");
    }
    protocol.handle(request).await
}

/// Whether a request shows the token. Digests are compared, so that the time it takes tells nothing of it.
fn shows(headers: &HeaderMap, token: &Secret) -> bool {
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| {
        let (scheme, rest) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| rest.trim())
    });
    shown.is_some_and(|shown| Sha256::digest(shown) == Sha256::digest(token.expose()))
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let token = Secret::new("abc");
        let shown = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, header::HeaderValue::from_static(value));
            shows(&headers, &token)
        };
        assert!(shown("Bearer abc") && shown("bearer abc"));
        for wrong in ["Bearer ab", "Bearer abcd", "Bearer", "Bearer ", "abc", "Basic abc", ""] {
            assert!(!shown(wrong), "{wrong}");
        }
        assert!(!shows(&HeaderMap::new(), &token));
        assert_ne!(new_token().expose(), new_token().expose());
        assert_eq!(new_token().expose().len(), 64);
    }
}
