//! The address on this machine that a sign-in page leads back to.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::SignInError;

/// Most bytes of a request's head; browsers send a few thousand.
const HEAD_LIMIT: usize = 64 * 1024;
/// How long one connection may take. Browsers open some that they never use.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections at a time; more are strangers'.
const AT_ONCE: usize = 32;
/// How often another port is tried where one is free for IPv4 alone.
const TRIES: usize = 8;
const PATH: &str = "/callback";

/// Waits for the user to come back from a sign-in page.
#[derive(Debug)]
pub struct Callback {
    four: TcpListener,
    six: Option<TcpListener>,
    redirect: String,
}

impl Callback {
    /// Listens on a port of this machine, any free one if none is named.
    pub async fn open(port: Option<u16>) -> Result<Self, SignInError> {
        let cannot = |error: io::Error| SignInError::Port {
            port: port.unwrap_or_default(),
            why: error.to_string(),
        };
        let mut tries = 0;
        loop {
            tries += 1;
            let four = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or_default())).await;
            let four = four.map_err(cannot)?;
            let free = four.local_addr().map_err(cannot)?.port();
            // A browser may take `localhost` for either address, so nobody else should have the other.
            let six = TcpListener::bind((Ipv6Addr::LOCALHOST, free)).await;
            let is_taken = six.as_ref().is_err_and(|it| it.kind() == io::ErrorKind::AddrInUse);
            if is_taken && port.is_none() && tries < TRIES {
                continue;
            }
            let redirect = format!("http://localhost:{free}{PATH}");
            return Ok(Self { four, six: six.ok(), redirect });
        }
    }

    /// The address itself.
    pub fn redirect(&self) -> &str {
        &self.redirect
    }

    /// Waits until a page that was given `state` leads back, and shows the user that it did. What comes with
    /// another state is not ours.
    pub async fn wait(&self, state: &str, limit: Duration) -> Result<Url, SignInError> {
        let waited = tokio::time::timeout(limit, self.next(state)).await;
        waited.unwrap_or(Err(SignInError::TimedOut(limit.as_secs())))
    }

    async fn next(&self, state: &str) -> Result<Url, SignInError> {
        let mut talks = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(back) = talks.next(), if !talks.is_empty() => {
                    if let Some(back) = back {
                        return back;
                    }
                }
                stream = self.accept(), if talks.len() < AT_ONCE => {
                    talks.push(async {
                        let talk = self.talk(stream?, state);
                        tokio::time::timeout(PATIENCE, talk).await.ok().flatten()
                    });
                }
            }
        }
    }

    async fn accept(&self) -> Option<TcpStream> {
        let six = async {
            match &self.six {
                Some(six) => six.accept().await,
                None => std::future::pending().await,
            }
        };
        let came = tokio::select! {
            came = self.four.accept() => came,
            came = six => came,
        };
        came.ok().map(|(stream, _)| stream)
    }

    /// One request and its answer; none if it is not the one that is waited for.
    async fn talk(&self, mut stream: TcpStream, state: &str) -> Option<Result<Url, SignInError>> {
        let head = head(&mut stream).await?;
        let back = self.read(&head, state);
        let (status, words) = match &back {
            Some(Ok(_)) => ("200 OK", "You are signed in. You can close this page."),
            Some(Err(_)) => ("200 OK", "The sign-in was refused. You can close this page."),
            None => ("404 Not Found", "There is nothing here."),
        };
        let page = format!(
            "<!doctype html><meta charset=utf-8><title>Caiman</title>\
             <p style=\"font:18px sans-serif;margin:4em\">{words}"
        );
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
             cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{page}",
            page.len()
        );
        // Whether the browser reads it or not, the user is back.
        stream.write_all(answer.as_bytes()).await.ok();
        stream.shutdown().await.ok();
        back
    }

    /// Where a request leads: the whole address, or what the page says against it.
    pub(super) fn read(&self, head: &str, state: &str) -> Option<Result<Url, SignInError>> {
        let mut words = head.lines().next()?.split(' ');
        let target = (words.next() == Some("GET")).then(|| words.next()).flatten()?;
        let here = Url::parse(&self.redirect).ok()?;
        let url = target.starts_with('/').then(|| here.join(target).ok()).flatten()?;
        if url.origin() != here.origin() || url.path() != PATH {
            return None;
        }
        let value = |key: &str| {
            let found = url.query_pairs().find(|(name, _)| name == key);
            found.map(|(_, value)| value.into_owned())
        };
        if value("state").as_deref() != Some(state) {
            return None;
        }
        match value("error") {
            None => value("code").is_some().then_some(Ok(url)),
            Some(error) => {
                let why = value("error_description").unwrap_or(error);
                let why = why.chars().filter(|c| !c.is_control()).take(300).collect();
                Some(Err(SignInError::Refused(why)))
            }
        }
    }
}

/// The head of a request; none if it is none, or has no end.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        if bytes.len() >= HEAD_LIMIT || stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    String::from_utf8(bytes).ok()
}
