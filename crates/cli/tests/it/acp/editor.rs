//! An editor in a few lines: it has files open, answers what it is asked, and remembers what it was told.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{Done, Home, Running};

/// Far beyond what a loaded machine needs.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Whether it keeps files.
#[derive(PartialEq, Eq)]
enum Files {
    Kept,
    Refused,
}

/// The editor.
pub(crate) struct Editor {
    running: Running,
    lines: Receiver<Value>,
    /// What has come and nobody has asked for.
    waiting: VecDeque<Value>,
    updates: Vec<Value>,
    unsaved: HashMap<PathBuf, String>,
    written: Vec<PathBuf>,
    files: Files,
    lends_terminals: bool,
    next: u64,
}

impl Editor {
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        let mut running = home.start(&[&["acp"], args].concat());
        let stdout = running.child.stdout.take().unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            running,
            lines,
            waiting: VecDeque::new(),
            updates: Vec::new(),
            unsaved: HashMap::new(),
            written: Vec::new(),
            files: Files::Kept,
            lends_terminals: false,
            next: 0,
        }
    }

    pub(crate) fn initialize(&mut self) {
        let fs = json!({ "readTextFile": true, "writeTextFile": true });
        let can = json!({ "fs": fs, "terminal": self.lends_terminals });
        let params = json!({ "protocolVersion": 1, "clientCapabilities": can });
        self.call("initialize", params).unwrap();
    }

    /// Begins a session in a folder; its id.
    pub(crate) fn begin(&mut self, folder: &Path) -> String {
        self.initialize();
        let begun = self.call("session/new", json!({ "cwd": folder, "mcpServers": [] })).unwrap();
        begun["sessionId"].as_str().unwrap().to_owned()
    }

    /// A file is open here, and what stands in it is not saved.
    pub(crate) fn has_unsaved(&mut self, path: &Path, text: &str) {
        self.unsaved.insert(path.to_owned(), text.to_owned());
    }

    pub(crate) fn refuses_files(&mut self) {
        self.files = Files::Refused;
    }

    /// It has terminals for commands; to be said before a session begins.
    pub(crate) fn lends_terminals(&mut self) {
        self.lends_terminals = true;
    }

    /// Answers the next request of a kind.
    pub(crate) fn grants(&mut self, method: &str, result: Value) -> Value {
        let asked = self.request(method);
        self.reply(&asked["id"], result);
        asked["params"].clone()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.ask("session/prompt", &json!({ "sessionId": session, "prompt": prompt }))
    }

    pub(crate) fn cancel(&mut self, session: &str) {
        let params = json!({ "sessionId": session });
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }));
    }

    #[expect(clippy::needless_pass_by_value, reason = "whoever calls writes it in place")]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, &params);
        self.answer(id)
    }

    /// Waits for an answer; files are read and written meanwhile.
    pub(crate) fn answer(&mut self, id: u64) -> Result<Value, Value> {
        let answer = self.wait(|line| line["id"] == id && line.get("method").is_none());
        answer.get("result").cloned().ok_or_else(|| answer["error"].clone())
    }

    pub(crate) fn request(&mut self, method: &str) -> Value {
        self.wait(|line| line["method"] == method && line.get("id").is_some())
    }

    pub(crate) fn notification(&mut self, method: &str) -> Value {
        self.wait(|line| line["method"] == method && line.get("id").is_none())
    }

    /// Answers a question about permission.
    pub(crate) fn choose(&mut self, asked: &Value, option: &str) {
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        self.reply(&asked["id"], outcome);
    }

    pub(crate) fn wait_until_said(&mut self, text: &str) {
        while !self.said().contains(text) {
            let line = self.next_line();
            self.waiting.extend(line);
        }
    }

    pub(crate) fn wait_for_update(&mut self, fits: impl Fn(&Value) -> bool) {
        while !self.updates.iter().any(&fits) {
            let line = self.next_line();
            self.waiting.extend(line);
        }
    }

    /// Files it was asked to write.
    pub(crate) fn written(&self) -> &[PathBuf] {
        &self.written
    }

    pub(crate) fn all_updates(&self) -> &[Value] {
        &self.updates
    }

    pub(crate) fn updates(&self, kind: &str) -> Vec<Value> {
        self.updates.iter().filter(|update| update["sessionUpdate"] == kind).cloned().collect()
    }

    /// All that the agent said.
    pub(crate) fn said(&self) -> String {
        let said = self.updates("agent_message_chunk");
        said.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// Closes its end, and waits for the agent's.
    pub(crate) fn end(self) -> Done {
        self.running.end()
    }

    fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn send(&mut self, message: &Value) {
        self.running.write(&format!("{message}\n"));
    }

    #[expect(clippy::needless_pass_by_value, reason = "whoever calls writes it in place")]
    fn reply(&mut self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(at).unwrap();
        }
        loop {
            match self.next_line() {
                Some(line) if fits(&line) => return line,
                line => self.waiting.extend(line),
            }
        }
    }

    /// The next line that is no update and not about files.
    fn next_line(&mut self) -> Option<Value> {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        match line["method"].as_str() {
            Some("session/update") => self.updates.push(line["params"]["update"].clone()),
            Some("fs/read_text_file" | "fs/write_text_file") if self.files == Files::Refused => {
                let error = json!({ "code": -32603, "message": "not here" });
                self.send(&json!({ "jsonrpc": "2.0", "id": line["id"], "error": error }));
            }
            Some("fs/read_text_file") => {
                let path = PathBuf::from(line["params"]["path"].as_str().unwrap());
                let text = self.unsaved.get(&path).cloned();
                let text = text.unwrap_or_else(|| fs::read_to_string(&path).unwrap());
                self.reply(&line["id"], json!({ "content": text }));
            }
            Some("fs/write_text_file") => {
                let path = PathBuf::from(line["params"]["path"].as_str().unwrap());
                fs::write(&path, line["params"]["content"].as_str().unwrap()).unwrap();
                self.unsaved.remove(&path);
                self.written.push(path);
                self.reply(&line["id"], json!({}));
            }
            Some(_) | None => return Some(line),
        }
        None
    }
}
