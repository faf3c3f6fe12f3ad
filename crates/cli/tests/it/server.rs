//! A server on loopback that answers each path with one fixed answer and remembers who asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The server; its thread ends with the process.
pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers `METHOD /path` with a status and a body; everything else with 404.
    pub(crate) fn start(answers: &[(&str, u16, &str)]) -> Self {
        let answers: Arc<BTreeMap<String, (u16, String)>> = Arc::new(
            answers
                .iter()
                .map(|(at, code, body)| ((*at).into(), (*code, (*body).into())))
                .collect(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, log) = (answers.clone(), log.clone());
                thread::spawn(move || serve(&stream, &answers, &log));
            }
        });
        Self { url, requests }
    }

    /// Heads and bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    answers: &BTreeMap<String, (u16, String)>,
    log: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while reader.read_line(&mut head).ok()? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let target: Vec<&str> = head.split(' ').take(2).collect();
    let at = target.join(" ");
    log.lock().unwrap().push(format!("{head}{}", String::from_utf8_lossy(&body)));
    let missing = (404, r#"{"error":"not here"}"#.to_owned());
    let (code, text) = answers.get(&at).unwrap_or(&missing);
    write!(
        stream.try_clone().ok()?,
        "HTTP/1.1 {code} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )
    .ok()
}
