//! Recorded answers over real HTTP: the same bytes, cut and delayed as a test likes.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use base::TaskScope;
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};

use crate::cassette::Exchange;
use crate::http::{self, Connection, Framing, Incoming, Outgoing, Step};

/// How a body is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunks {
    /// Bytes a chunk; 0 sends the body in one.
    pub bytes: usize,
    /// How long to wait between chunks.
    pub pause: Duration,
}

impl Chunks {
    /// The whole body at once.
    pub const WHOLE: Self = Self { bytes: 0, pause: Duration::ZERO };

    /// Chunks of so many bytes, without a pause; they cut lines and characters where they fall.
    pub fn of(bytes: usize) -> Self {
        Self { bytes, pause: Duration::ZERO }
    }
}

/// A server that answers with recordings. Dropping it ends it.
#[derive(Debug)]
pub struct Replay {
    address: SocketAddr,
    scope: TaskScope,
}

/// Answers every request with one recorded answer.
pub async fn serve(exchange: Exchange, chunks: Chunks) -> io::Result<Replay> {
    Replay::start(vec![exchange], chunks).await
}

impl Replay {
    /// Answers from many recordings; [`Replay::url`] tells where each is.
    pub async fn start(exchanges: Vec<Exchange>, chunks: Chunks) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let scope = TaskScope::new();
        scope.spawn(accept(listener, Arc::new(exchanges), chunks, scope.child()));
        Ok(Self { address, scope })
    }

    /// The base URL under which the recording of this number answers, whatever path follows.
    pub fn url(&self, number: usize) -> String {
        format!("http://{}/{number}", self.address)
    }

    /// Ends it and waits until its last task is gone.
    pub async fn close(self) {
        self.scope.close().await;
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.scope.cancel();
    }
}

async fn accept(
    listener: TcpListener,
    exchanges: Arc<Vec<Exchange>>,
    chunks: Chunks,
    scope: TaskScope,
) {
    while let Ok((stream, _)) = listener.accept().await {
        scope.spawn(talk(stream, Arc::clone(&exchanges), chunks));
    }
}

async fn talk(stream: TcpStream, exchanges: Arc<Vec<Exchange>>, chunks: Chunks) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let mut stream = BufReader::new(stream);
    while let Ok(Some(request)) = http::read(&mut stream).await {
        let answer = match recorded(&request, &exchanges) {
            Some(exchange) => outgoing(exchange, chunks),
            None => not_found(),
        };
        match http::write(&mut stream, &answer).await {
            Ok(Connection::Open) => {}
            Ok(Connection::Closed) | Err(_) => return,
        }
    }
}

fn recorded<'e>(request: &Incoming, exchanges: &'e [Exchange]) -> Option<&'e Exchange> {
    let number = request.target.split('/').nth(1)?;
    exchanges.get(number.parse::<usize>().ok()?)
}

fn not_found() -> Outgoing {
    Outgoing {
        before: Vec::new(),
        status: 404,
        headers: Vec::new(),
        framing: Framing::Length,
        body: vec![Step::Bytes(b"no such recording".to_vec())],
    }
}

fn outgoing(exchange: &Exchange, chunks: Chunks) -> Outgoing {
    // The connection's own headers are ours to write.
    let ours = ["content-length", "transfer-encoding", "content-encoding", "connection"];
    let headers = exchange
        .response
        .headers
        .iter()
        .filter(|(name, _)| !ours.contains(&name.to_ascii_lowercase().as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let bytes = exchange.response.bytes();
    let size = if chunks.bytes == 0 { bytes.len().max(1) } else { chunks.bytes };
    let mut body = Vec::new();
    for chunk in bytes.chunks(size) {
        body.push(Step::Bytes(chunk.to_vec()));
        if !chunks.pause.is_zero() {
            body.push(Step::Wait(chunks.pause));
        }
    }
    let framing = if exchange.is_stream() { Framing::Chunked } else { Framing::Length };
    Outgoing { before: Vec::new(), status: exchange.response.status, headers, framing, body }
}
