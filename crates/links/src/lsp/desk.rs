//! What a server asks of us and tells us.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::board::Board;
use super::text;
use crate::child::Log;
use crate::rpc::{Fault, Handler};

/// Registrations a server may have at once.
const REGISTERED: usize = 500;
/// Edits of one command that are heard: more than one is too many already.
const WANTED: usize = 2;
/// Pieces of work a server may report at once.
const AT_WORK: usize = 100;

/// The desk at which one server's questions are answered.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) board: Board,
    pub(crate) log: Log,
    root: PathBuf,
    settings: Value,
    /// What it wants to be told or asked, by the number of the registration.
    registered: watch::Sender<BTreeMap<String, Registered>>,
    work: watch::Sender<Work>,
    /// Edits it wants made, while somebody has it work some out.
    wanted: Mutex<Option<Vec<Value>>>,
}

/// Edits that a server wants made are heard for as long as this is kept.
#[derive(Debug)]
pub(crate) struct Catching<'a>(&'a Desk);

impl Catching<'_> {
    /// Those it has wanted so far.
    pub(crate) fn take(&self) -> Vec<Value> {
        self.0.wanted().as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for Catching<'_> {
    fn drop(&mut self) {
        *self.0.wanted() = None;
    }
}

/// What a server has registered for.
#[derive(Debug)]
struct Registered {
    method: String,
    /// Whether what it says of one file depends on others.
    looks_across_files: bool,
}

/// What a server works on.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// In its own words, by token.
    titles: HashMap<String, String>,
    /// How often it has begun something.
    pub(crate) begun: u64,
}

impl Work {
    /// Whether there is none.
    pub(crate) fn is_done(&self) -> bool {
        self.titles.is_empty()
    }
}

impl Desk {
    pub(crate) fn new(root: PathBuf, settings: Value) -> Self {
        Self {
            board: Board::new(),
            log: Log::default(),
            root,
            settings,
            registered: watch::channel(BTreeMap::new()).0,
            work: watch::channel(Work::default()).0,
            wanted: Mutex::default(),
        }
    }

    /// Hears from here on which edits it wants made. They are made by none but a tool, once the lock was asked.
    pub(crate) fn catch(&self) -> Catching<'_> {
        *self.wanted() = Some(Vec::new());
        Catching(self)
    }

    fn wanted(&self) -> MutexGuard<'_, Option<Vec<Value>>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has registered for a method since it began.
    pub(crate) fn is_registered(&self, method: &str) -> bool {
        self.registered.borrow().values().any(|known| known.method == method)
    }

    /// Waits until it has registered for a method.
    pub(crate) async fn has_registered(&self, method: &str) {
        let mut registered = self.registered.subscribe();
        // Its sender is our own.
        registered.wait_for(|all| all.values().any(|known| known.method == method)).await.ok();
    }

    /// Whether it has registered to be asked about files whose errors depend on others.
    pub(crate) fn looks_across_files(&self) -> bool {
        self.registered.borrow().values().any(|known| known.looks_across_files)
    }

    /// What it works on, in its own words.
    pub(crate) fn work(&self) -> Option<String> {
        self.work.borrow().titles.values().min().cloned()
    }

    /// Tells when it begins or ends something.
    pub(crate) fn watch_work(&self) -> watch::Receiver<Work> {
        self.work.subscribe()
    }

    /// The folder it works in.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn register(&self, params: &Value, list: &str) {
        let items = params.get(list).and_then(Value::as_array);
        self.registered.send_modify(|registered| {
            for item in items.into_iter().flatten() {
                let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
                let (Some(id), Some(method)) = (text("id"), text("method")) else { continue };
                if list == "registrations" && registered.len() < REGISTERED {
                    let depends = item.pointer("/registerOptions/interFileDependencies");
                    let looks_across_files = depends == Some(&Value::Bool(true));
                    registered.insert(id, Registered { method, looks_across_files });
                } else {
                    registered.remove(&id);
                }
            }
        });
    }

    fn configuration(&self, params: &Value) -> Value {
        let items = params.get("items").and_then(Value::as_array);
        let section = |item: &Value| {
            let name = item.get("section").and_then(Value::as_str).unwrap_or_default();
            self.section(name)
        };
        items.into_iter().flatten().map(section).collect()
    }

    /// A part of the settings by its dotted name; all of them for none.
    fn section(&self, name: &str) -> Value {
        let mut parts = name.split('.').filter(|part| !part.is_empty());
        let found = parts.try_fold(&self.settings, |value, part| value.get(part));
        found.cloned().unwrap_or(Value::Null)
    }

    fn folders(&self) -> Value {
        json!([{ "uri": text::address(&self.root), "name": name_of(&self.root) }])
    }

    fn progress(&self, params: &Value) {
        let token = params.get("token").map(Value::to_string).unwrap_or_default();
        let value = |key: &str| params.pointer(&format!("/value/{key}")).and_then(Value::as_str);
        self.work.send_if_modified(|work| match value("kind") {
            Some("begin") if work.titles.len() < AT_WORK => {
                let title: String = value("title").unwrap_or_default().chars().take(60).collect();
                work.titles.insert(token, title);
                work.begun += 1;
                true
            }
            Some("end") => work.titles.remove(&token).is_some(),
            Some(_) | None => false,
        });
    }

    fn message(&self, params: &Value) {
        let Some(text) = params.get("message").and_then(Value::as_str) else { return };
        let root = self.root.display();
        tracing::debug!(target: "caiman::lsp", %root, text, "a language server says");
        let is_trouble = params.get("type").and_then(Value::as_u64).is_some_and(|kind| kind <= 2);
        if is_trouble {
            self.log.push(text.as_bytes());
            self.log.push(b"\n");
        }
    }

    fn answer(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        match method {
            "workspace/configuration" => Ok(self.configuration(params)),
            "workspace/workspaceFolders" => Ok(self.folders()),
            "client/registerCapability" => {
                self.register(params, "registrations");
                Ok(Value::Null)
            }
            "client/unregisterCapability" => {
                // The protocol itself misspells it.
                self.register(params, "unregisterations");
                Ok(Value::Null)
            }
            // A file changes only through a tool, after the lock was asked.
            "workspace/applyEdit" => {
                if let Some(wanted) = self.wanted().as_mut().filter(|it| it.len() < WANTED) {
                    wanted.push(params.get("edit").cloned().unwrap_or_default());
                }
                let why = "edits are made by the client's own tools only";
                Ok(json!({ "applied": false, "failureReason": why }))
            }
            "window/showDocument" => Ok(json!({ "success": false })),
            "window/workDoneProgress/create"
            | "window/showMessageRequest"
            | "workspace/diagnostic/refresh"
            | "workspace/semanticTokens/refresh"
            | "workspace/inlayHint/refresh"
            | "workspace/inlineValue/refresh"
            | "workspace/codeLens/refresh"
            | "workspace/foldingRange/refresh" => Ok(Value::Null),
            other => Err(Fault::unknown(other)),
        }
    }
}

impl Handler for Desk {
    fn request(&self, method: &str, params: Value) -> BoxFuture<'static, Result<Value, Fault>> {
        let answer = self.answer(method, &params);
        Box::pin(async move { answer })
    }

    fn notification(&self, method: &str, params: Value) {
        match method {
            "textDocument/publishDiagnostics" => match serde_json::from_value(params) {
                Ok(published) => self.board.push(published),
                Err(error) => tracing::debug!(%error, "diagnostics cannot be read"),
            },
            "$/progress" => self.progress(&params),
            "window/logMessage" | "window/showMessage" => self.message(&params),
            _ => {}
        }
    }
}

/// The last part of a path.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> Desk {
        let settings = json!({ "python": { "analysis": { "mode": "strict" } } });
        Desk::new("/work/it".into(), settings)
    }

    #[test]
    fn settings_are_given_section_by_section() {
        let items = json!({ "items": [
            { "section": "python.analysis" }, { "section": "nothing" }, { "section": "" }, {},
        ] });
        let answer = desk().answer("workspace/configuration", &items).unwrap();
        assert_eq!(answer[0], json!({ "mode": "strict" }));
        assert_eq!(answer[1], Value::Null);
        assert_eq!(answer[2], answer[3]);
        assert_eq!(answer[3]["python"]["analysis"]["mode"], "strict");
    }

    #[test]
    fn registrations_come_and_go() {
        let desk = desk();
        let one = json!({ "id": "1", "method": "textDocument/diagnostic" });
        desk.answer("client/registerCapability", &json!({ "registrations": [one] })).unwrap();
        assert!(desk.is_registered("textDocument/diagnostic"));
        desk.answer("client/unregisterCapability", &json!({ "unregisterations": [one] })).unwrap();
        assert!(!desk.is_registered("textDocument/diagnostic"));
    }

    #[test]
    fn nobody_edits_behind_the_locks_back() {
        let answer = desk().answer("workspace/applyEdit", &json!({ "edit": {} })).unwrap();
        assert_eq!(answer["applied"], false);
        let desk = desk();
        let catching = desk.catch();
        let answer = desk.answer("workspace/applyEdit", &json!({ "edit": { "a": 1 } })).unwrap();
        assert_eq!((&answer["applied"], catching.take()), (&json!(false), vec![json!({ "a": 1 })]));
        drop(catching);
        desk.answer("workspace/applyEdit", &json!({ "edit": {} })).unwrap();
        assert!(desk.catch().take().is_empty());
        assert!(desk.answer("workspace/nonsense", &Value::Null).is_err());
    }
}
