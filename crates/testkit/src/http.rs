//! Just enough HTTP/1.1 over raw TCP to have every byte of an answer in hand: keep-alive, chunked
//! bodies, and the ways in which a connection goes wrong.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A request as it came in. Header names are in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    /// What happens before the status line.
    pub(crate) before: Vec<Step>,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) framing: Framing,
    pub(crate) body: Vec<Step>,
}

/// How the body's end is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `Content-Length`.
    Length,
    /// `Transfer-Encoding: chunked`; each [`Step::Bytes`] is a chunk.
    Chunked,
}

/// One thing the server does while it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Bytes(Vec<u8>),
    Wait(Duration),
    /// Says nothing more and keeps the connection open.
    Stall,
    /// Closes the connection at once.
    Cut,
}

/// Whether the connection can carry another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    Open,
    Closed,
}

/// Reads one request; none when the client has closed the connection.
pub(crate) async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Incoming>> {
    let first = line(stream).await?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no request line"));
    };
    let (method, target) = (method.to_owned(), target.to_owned());
    let mut headers = Vec::new();
    loop {
        let text = line(stream).await?;
        if text.is_empty() {
            break;
        }
        if let Some((name, value)) = text.split_once(':') {
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let body = read_body(stream, &headers).await?;
    Ok(Some(Incoming { method, target, headers, body }))
}

async fn read_body(
    stream: &mut BufReader<TcpStream>,
    headers: &[(String, String)],
) -> io::Result<Vec<u8>> {
    let header =
        |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let mut body = Vec::new();
    if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        loop {
            let size = line(stream).await?;
            let digits = size.split(';').next().unwrap_or_default().trim();
            let length = usize::from_str_radix(digits, 16)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            let start = body.len();
            body.resize(start + length, 0);
            stream.read_exact(&mut body[start..]).await?;
            line(stream).await?;
            if length == 0 {
                return Ok(body);
            }
        }
    }
    let length = header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    body.resize(length, 0);
    stream.read_exact(&mut body).await?;
    Ok(body)
}

async fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut text = String::new();
    stream.read_line(&mut text).await?;
    text.truncate(text.trim_end().len());
    Ok(text)
}

/// Sends one answer, step by step.
pub(crate) async fn write(
    stream: &mut BufReader<TcpStream>,
    answer: &Outgoing,
) -> io::Result<Connection> {
    for step in &answer.before {
        if act(stream, step, Framing::Length).await? == Connection::Closed {
            return Ok(Connection::Closed);
        }
    }
    stream.write_all(head(answer).as_bytes()).await?;
    stream.flush().await?;
    for step in &answer.body {
        if act(stream, step, answer.framing).await? == Connection::Closed {
            return Ok(Connection::Closed);
        }
    }
    if answer.framing == Framing::Chunked {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    stream.flush().await?;
    Ok(Connection::Open)
}

fn head(answer: &Outgoing) -> String {
    let mut head = format!("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status));
    for (name, value) in &answer.headers {
        head.extend([name.as_str(), ": ", value, "\r\n"]);
    }
    match answer.framing {
        Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n\r\n"),
        Framing::Length => {
            let sent: usize = answer.body.iter().map(Step::length).sum();
            // One byte more than will come, or the client could not tell that it was cut.
            let length = sent + usize::from(answer.body.contains(&Step::Cut));
            head.extend(["content-length: ", &length.to_string(), "\r\n\r\n"]);
        }
    }
    head
}

async fn act(
    stream: &mut BufReader<TcpStream>,
    step: &Step,
    framing: Framing,
) -> io::Result<Connection> {
    match step {
        Step::Bytes(bytes) if bytes.is_empty() => {}
        Step::Bytes(bytes) => match framing {
            Framing::Length => stream.write_all(bytes).await?,
            Framing::Chunked => {
                let size = format!("{:x}\r\n", bytes.len());
                stream.write_all(&[size.as_bytes(), bytes, b"\r\n"].concat()).await?;
            }
        },
        Step::Wait(time) => {
            stream.flush().await?;
            tokio::time::sleep(*time).await;
        }
        Step::Stall => {
            stream.flush().await?;
            // A client that gives up closes the connection: then there is nobody left to stall.
            let mut sink = [0; 64];
            while stream.read(&mut sink).await? > 0 {}
            return Ok(Connection::Closed);
        }
        Step::Cut => {
            stream.flush().await?;
            return Ok(Connection::Closed);
        }
    }
    Ok(Connection::Open)
}

impl Step {
    fn length(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Wait(_) | Self::Stall | Self::Cut => 0,
        }
    }
}

/// Cuts a body after `limit` bytes: what was to come is replaced by a closed connection.
pub(crate) fn cut_at(body: Vec<Step>, limit: usize) -> Vec<Step> {
    let mut left = limit;
    let mut kept = Vec::new();
    for step in body {
        let length = step.length();
        match step {
            Step::Bytes(mut bytes) if length >= left => {
                bytes.truncate(left);
                kept.extend([Step::Bytes(bytes), Step::Cut]);
                return kept;
            }
            Step::Bytes(_) | Step::Wait(_) | Step::Stall | Step::Cut => kept.push(step),
        }
        left -= length;
    }
    kept.push(Step::Cut);
    kept
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        529 => "Overloaded",
        _ => "Status",
    }
}
