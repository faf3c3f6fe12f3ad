//! A web site on loopback whose every answer a test writes itself.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base::TaskScope;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A request, as far as a site looks at it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) target: String,
    headers: Vec<(String, String)>,
}

impl Asked {
    /// A header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
pub(crate) struct Page {
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
}

enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// The same bytes again and again, without an end.
    Endless(Vec<u8>),
    /// Less than was promised, then the connection ends.
    Broken(Vec<u8>),
    /// Nothing, not even headers, until the client gives up.
    Silence,
}

impl Page {
    fn new(status: u16, body: Body) -> Self {
        Self { status, headers: Vec::new(), body }
    }

    pub(crate) fn html(text: &str) -> Self {
        Self::of("text/html; charset=utf-8", text)
    }

    pub(crate) fn of(content_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self::new(200, Body::Whole(body.as_ref().to_vec())).with("content-type", content_type)
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::new(status, Body::Whole(Vec::new()))
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::status(302).with("location", to)
    }

    pub(crate) fn endless(bytes: impl AsRef<[u8]>) -> Self {
        Self::new(200, Body::Endless(bytes.as_ref().to_vec())).with("content-type", "text/plain")
    }

    pub(crate) fn broken(bytes: impl AsRef<[u8]>) -> Self {
        Self::new(200, Body::Broken(bytes.as_ref().to_vec())).with("content-type", "text/plain")
    }

    pub(crate) fn silence() -> Self {
        Self::new(200, Body::Silence)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

type Answer = dyn Fn(&Asked) -> Page + Send + Sync;

/// A running site; it ends with the test.
pub(crate) struct Site {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    _scope: TaskScope,
}

impl Site {
    pub(crate) async fn start(answer: impl Fn(&Asked) -> Page + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let scope = TaskScope::new();
        let (inner, log) = (scope.child(), asked.clone());
        let answer: Arc<Answer> = Arc::new(answer);
        scope.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log) = (answer.clone(), log.clone());
                inner.spawn(async move {
                    // A client that goes away is what some tests are about.
                    drop(serve(stream, &*answer, &log).await);
                });
            }
        });
        Self { address, asked, _scope: scope }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// What has been asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(stream: TcpStream, answer: &Answer, log: &Mutex<Vec<Asked>>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let target = lines[0].split(' ').nth(1).unwrap_or_default().to_owned();
        let headers = lines[1..].iter().filter_map(|line| line.split_once(':'));
        let headers = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let asked = Asked { target, headers };
        log.lock().unwrap().push(asked.clone());
        write(&mut stream, answer(&asked)).await?;
    }
}

async fn write(stream: &mut BufReader<TcpStream>, page: Page) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\n", page.status);
    for (name, value) in &page.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    match page.body {
        Body::Whole(body) => {
            let length = if page.status == 304 { 0 } else { body.len() };
            stream.write_all(format!("{head}content-length: {length}\r\n\r\n").as_bytes()).await?;
            stream.write_all(&body).await?;
            stream.flush().await
        }
        Body::Endless(bytes) => {
            let head = format!("{head}transfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
            loop {
                stream.write_all(&chunk).await?;
            }
        }
        Body::Broken(bytes) => {
            let length = bytes.len() + 10;
            stream.write_all(format!("{head}content-length: {length}\r\n\r\n").as_bytes()).await?;
            stream.write_all(&bytes).await?;
            stream.shutdown().await
        }
        Body::Silence => {
            let mut sink = [0; 64];
            while stream.read(&mut sink).await? > 0 {}
            Ok(())
        }
    }
}

/// A gzip stream of `megabytes` of zeros, without its checksum: whoever reads that far has lost.
pub(crate) fn gzip_bomb(megabytes: usize) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut bits = Bits { bytes: &mut bytes, free: 0 };
    // One last block in the fixed code: a zero byte, then runs of 258 copies of it.
    bits.put(0b1, 1);
    bits.put(0b01, 2);
    bits.put(0b0000_1100, 8);
    for _ in 0..(megabytes << 20) / 258 {
        bits.put(0b1010_0011, 8);
        bits.put(0, 5);
    }
    bits.put(0, 7);
    bytes
}

struct Bits<'b> {
    bytes: &'b mut Vec<u8>,
    free: u32,
}

impl Bits<'_> {
    /// Adds the lowest `count` bits of `value`, lowest first.
    fn put(&mut self, value: u8, count: u32) {
        for index in 0..count {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            let last = self.bytes.last_mut().unwrap();
            *last |= ((value >> index) & 1) << (8 - self.free);
            self.free -= 1;
        }
    }
}
