//! A server on loopback that answers what a test tells it to, over real HTTP.

use std::sync::{Arc, Mutex};

use base::TaskScope;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request as it came: `METHOD path` and headers in lower case, then the body.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

struct Answer {
    line: String,
    status: u16,
    body: String,
}

/// Answers by the request line; 404 for what it does not know.
pub(crate) struct Loopback {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    scope: TaskScope,
}

impl Loopback {
    /// Starts with answers to `METHOD path` lines; a path may be given without its query.
    pub(crate) async fn start(answers: &[(&str, &str)]) -> Self {
        let good: Vec<_> = answers.iter().map(|(line, body)| (*line, 200, *body)).collect();
        Self::start_with(&good).await
    }

    /// Starts with answers that have a status.
    pub(crate) async fn start_with(answers: &[(&str, u16, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = |(line, status, body): &(&str, u16, &str)| Answer {
            line: (*line).into(),
            status: *status,
            body: (*body).into(),
        };
        let answers: Vec<Answer> = answers.iter().map(answer).collect();
        let (seen, scope) = (Arc::new(Mutex::new(Vec::new())), TaskScope::new());
        let record = seen.clone();
        scope.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, &answers, &record).await;
            }
        });
        Self { url, seen, scope }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.scope.cancel();
    }
}

async fn serve(mut stream: TcpStream, answers: &[Answer], record: &Mutex<Vec<Seen>>) -> Option<()> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).ok()?;
    let (line, head) = head.split_once("\r\n")?;
    let line = line.rsplit_once(' ')?.0.to_owned();
    // Names in lower case, values as they came.
    let header = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        format!("{}:{value}", name.to_ascii_lowercase())
    };
    let head = head.lines().map(header).collect::<Vec<_>>().join("\n");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
    while bytes.len() < head_end + 4 + length {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let body = String::from_utf8(bytes[head_end + 4..].to_vec()).ok()?;
    // Before the answer: whoever reads it may look at the record at once.
    record.lock().unwrap().push(Seen { line: line.clone(), head, body });
    let path = line.split('?').next().unwrap_or_default();
    let known = answers.iter().find(|one| one.line == line || one.line == path);
    let (status, said) = known.map_or((404, ""), |one| (one.status, &one.body));
    let length = said.len();
    let answer = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{said}"
    );
    stream.write_all(answer.as_bytes()).await.ok()
}
