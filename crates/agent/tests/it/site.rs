//! A web site on loopback.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A page: its path, or `*` for all others; its media type; its text.
pub(crate) type Page = (&'static str, &'static str, &'static str);

/// Serves pages for the rest of the test; tells the address.
pub(crate) fn site(pages: &[Page]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let pages = pages.to_vec();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &pages);
        }
    });
    address
}

fn answer(mut stream: TcpStream, pages: &[Page]) {
    let mut line = String::new();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    reader.read_line(&mut line).unwrap();
    let mut header = String::from("-");
    while !header.trim().is_empty() {
        header.clear();
        reader.read_line(&mut header).unwrap();
    }
    let path = line.split(' ').nth(1).unwrap_or_default();
    let page = pages.iter().find(|(known, ..)| *known == path || *known == "*");
    let (status, kind, body) = match page {
        Some((_, kind, body)) => ("200 OK", *kind, *body),
        None => ("404 Not Found", "text/plain", "no such page"),
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n");
    // A client that has hung up needs no page.
    drop(write!(stream, "{head}connection: close\r\n\r\n{body}"));
}

/// A web site on loopback that writes down the first line of every request.
pub(crate) struct Recorder {
    pub(crate) port: u16,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut line = String::new();
                BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
                kept.lock().unwrap().push(line.trim().to_owned());
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2";
                // A client that has hung up needs no page.
                drop(write!(&stream, "{head}\r\nconnection: close\r\n\r\nok"));
            }
        });
        Self { port, lines }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}
