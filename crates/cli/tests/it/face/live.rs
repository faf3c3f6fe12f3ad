//! A model whose answer comes piece by piece, each when the test says so.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};

/// A model on loopback. Every request gets what is said from then on, up to the end of an answer.
pub(super) struct Live {
    pub(super) url: String,
    pieces: Sender<Piece>,
}

enum Piece {
    Said(Value),
    End,
}

impl Live {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (pieces, said) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A stopped turn closes its stream; the next request is served all the same.
                serve(stream, &said).ok();
            }
        });
        Self { url, pieces }
    }

    /// Says a piece of the answer.
    pub(super) fn says(&self, text: &str) {
        self.sends(json!({ "content": text }));
    }

    /// Thinks a piece of a thought.
    pub(super) fn thinks(&self, text: &str) {
        self.sends(json!({ "reasoning_content": text }));
    }

    /// Ends the answer.
    pub(super) fn ends(&self) {
        self.pieces.send(Piece::End).unwrap();
    }

    fn sends(&self, delta: Value) {
        self.pieces.send(Piece::Said(delta)).unwrap();
    }
}

fn serve(mut stream: TcpStream, said: &Receiver<Piece>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    reader.read_exact(&mut vec![0; length.unwrap_or(0)])?;
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    )?;
    while let Ok(Piece::Said(delta)) = said.recv() {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
        write!(stream, "data: {}\n\n", json!({ "id": "live", "model": "m", "choices": choices }))?;
    }
    let choices = json!([{ "index": 0, "delta": {}, "finish_reason": "stop" }]);
    let usage = json!({ "prompt_tokens": 1200, "completion_tokens": 300, "total_tokens": 1500 });
    let last = json!({ "id": "live", "model": "m", "choices": choices, "usage": usage });
    write!(stream, "data: {last}\n\ndata: [DONE]\n\n")
}
