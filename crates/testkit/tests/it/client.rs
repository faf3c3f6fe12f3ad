//! A plain HTTP client over TCP, so that the server's bytes are seen as they are.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// An answer as it came over the wire.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) end: End,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With its last chunk or byte.
    Whole,
    /// Before it.
    Cut,
    /// Not at all, while we waited.
    Silent,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// One connection; several requests may go over it.
pub(crate) struct Client {
    stream: TcpStream,
    /// How long a silence makes an answer [`End::Silent`]; long, for slow machines.
    pub(crate) patience: Duration,
}

impl Client {
    pub(crate) async fn connect(url: &str) -> Self {
        let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        Self { stream, patience: Duration::from_secs(20) }
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Anthropic-Version: 2023-06-01\r\nContent-Length: {length}\r\n\r\n"
        );
        self.ask(&(head + &body)).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await
    }

    pub(crate) async fn ask(&mut self, request: &str) -> Answer {
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 65536];
        loop {
            let read = timeout(self.patience, self.stream.read(&mut buffer)).await;
            let end = match read {
                Err(_) => End::Silent,
                Ok(Ok(0) | Err(_)) => End::Cut,
                Ok(Ok(count)) => {
                    bytes.extend_from_slice(&buffer[..count]);
                    End::Whole
                }
            };
            let answer = parse(&bytes, end);
            if end != End::Whole || answer.end == End::Whole {
                return answer;
            }
        }
    }
}

/// Reads what has come so far; `end` says why there is no more.
fn parse(bytes: &[u8], end: End) -> Answer {
    let gap = bytes.windows(4).position(|part| part == b"\r\n\r\n");
    let Some(gap) = gap else {
        let end = if end == End::Whole { End::Cut } else { end };
        return Answer { status: 0, head: String::new(), body: Vec::new(), end };
    };
    let head = String::from_utf8_lossy(&bytes[..gap]).into_owned();
    let rest = &bytes[gap + 4..];
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let (body, whole) = match length(&head) {
        Some(length) => (rest.to_vec(), rest.len() >= length),
        None => unchunk(rest),
    };
    let end = match (whole, end) {
        (true, _) => End::Whole,
        (false, End::Whole) => End::Cut,
        (false, end) => end,
    };
    Answer { status, head, body, end }
}

fn length(head: &str) -> Option<usize> {
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    line.map(|length| length.parse().unwrap())
}

fn unchunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(line) = rest.windows(2).position(|part| part == b"\r\n") else {
            return (body, false);
        };
        let size = std::str::from_utf8(&rest[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        rest = &rest[line + 2..];
        if size == 0 {
            return (body, true);
        }
        body.extend_from_slice(&rest[..size.min(rest.len())]);
        match rest.get(size + 2..) {
            Some(after) => rest = after,
            None => return (body, false),
        }
    }
}
