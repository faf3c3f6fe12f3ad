//! A server that has begun: what it can do, the files it has open, its complaints.

mod settle;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::TaskScope;
use guard::start::ProgramStart;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::LspError;
use super::board::Posted;
use super::catalog::Spec;
use super::desk::{Desk, name_of};
use super::documents::{Documents, Note, Synced};
use super::protocol::{Capabilities, ServerCommand};
use super::text::{self, Units};
use super::watched::{self, Files};
use crate::child::{Program, Supervised};
use crate::rpc::{Dialect, Framing, Peer, RpcError, Slot};
use settle::{LEAST, Tempo};

pub(crate) use settle::Fresh;

/// How language servers use JSON-RPC.
const DIALECT: Dialect = Dialect {
    framing: Framing::Headers,
    cancel: |id| ("$/cancelRequest", json!({ "id": id })),
    at_work: 32,
};
/// How long a server may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// Longest file a server is told of.
const LONGEST: u64 = 4 << 20;
/// How long a server may read a text before it knows what is in it.
const READING: Duration = Duration::from_millis(1_500);
/// How long a server may read nothing of what it is told before nobody waits for it.
const READS: Duration = Duration::from_secs(5);
/// The notification of files that have changed.
const WATCHED: &str = "workspace/didChangeWatchedFiles";

/// A server that has begun.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) spec: Arc<Spec>,
    pub(crate) can: Capabilities,
    pub(crate) units: Units,
    pub(crate) desk: Arc<Desk>,
    pub(crate) child: Supervised,
    peer: Peer,
    scope: TaskScope,
    documents: Mutex<Documents>,
    tempo: Mutex<Tempo>,
    /// What it said of each file when somebody was last told, and of which version.
    told: Mutex<HashMap<PathBuf, (Option<i64>, Posted)>>,
    /// The files of its project, as it was last told of them.
    files: Mutex<Files>,
    /// Only one has it work out an edit at a time.
    errand: tokio::sync::Mutex<()>,
    /// How many commands had run by then.
    heard_of: AtomicU64,
}

impl Client {
    /// Starts a server and waits until it has begun. Closing `scope` ends it.
    pub(crate) async fn start(
        spec: Arc<Spec>,
        root: PathBuf,
        start: ProgramStart,
        scope: TaskScope,
    ) -> Result<Self, LspError> {
        let name = spec.name.clone();
        let program = Program {
            program: spec.command.clone(),
            args: spec.args.clone(),
            folder: start.folder,
            env: start.env,
            cage: start.cage,
            limits: spec.limits,
        };
        let failed = |why: String| LspError::Start { server: name.clone(), why };
        let (child, pipes) = program.start(&scope).map_err(|error| failed(error.to_string()))?;
        let desk = Arc::new(Desk::new(root.clone(), spec.settings.clone()));
        let project = root.clone();
        // While it begins: what changes from here on is news to it.
        let looking = tokio::task::spawn_blocking(move || watched::look(&project));
        let peer = Peer::start(DIALECT, (pipes.input, pipes.output), desk.clone(), &scope);
        let asked = peer.request("initialize", greeting(&spec, &root), spec.start).await;
        let answer = match asked {
            Ok(answer) => answer,
            Err(error) => {
                let complaint = child.log().last_said();
                let complaint = complaint.map(|line| format!("; it said: {line}"));
                return Err(failed(format!("{error}{}", complaint.unwrap_or_default())));
            }
        };
        let can = Capabilities(answer.get("capabilities").cloned().unwrap_or_default());
        let units = Units::named(can.0.get("positionEncoding").and_then(Value::as_str));
        let client = Self {
            spec,
            can,
            units,
            desk,
            child,
            peer,
            scope,
            documents: Mutex::default(),
            tempo: Mutex::default(),
            told: Mutex::default(),
            files: Mutex::new(looking.await.unwrap_or_default()),
            errand: tokio::sync::Mutex::default(),
            heard_of: AtomicU64::new(u64::MAX),
        };
        client.tell("initialized", json!({})).await?;
        if client.spec.settings.as_object().is_some_and(|settings| !settings.is_empty()) {
            let settings = json!({ "settings": client.spec.settings });
            client.tell("workspace/didChangeConfiguration", settings).await?;
        }
        Ok(client)
    }

    /// Says goodbye, then ends it.
    pub(crate) async fn stop(&self) {
        if self.peer.request("shutdown", Value::Null, GOODBYE).await.is_ok() {
            // It may be gone already.
            self.peer.notify("exit", Value::Null).await.ok();
            drop(tokio::time::timeout(GOODBYE, self.child.ended()).await);
        }
        self.scope.close().await;
    }

    /// Waits until the connection is closed; says why.
    pub(crate) async fn lost(&self) -> String {
        self.peer.closed().await;
        self.peer.why()
    }

    /// Whether it can still be talked to.
    pub(crate) fn is_lost(&self) -> bool {
        self.peer.is_closed()
    }

    /// Ends it at once.
    pub(crate) async fn kill(&self) {
        self.scope.close().await;
    }

    /// Asks something.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Value, LspError> {
        self.peer.request(method, params, patience).await.map_err(|error| self.failed(error))
    }

    async fn tell(&self, method: &str, params: Value) -> Result<(), LspError> {
        self.slot().await?.notify(method, &params);
        Ok(())
    }

    /// A place in the queue to it; none soon for one that does not read.
    async fn slot(&self) -> Result<Slot<'_>, LspError> {
        match tokio::time::timeout(READS, self.peer.slot()).await {
            Ok(slot) => slot.map_err(|error| self.failed(error)),
            Err(_) => Err(LspError::Slow { server: self.spec.name.clone() }),
        }
    }

    /// The edit a command of its own wants made. It is told that the edit is not made: whoever asks makes it, once that
    /// is allowed.
    pub(crate) async fn work_out(
        &self,
        command: &ServerCommand,
        patience: Duration,
    ) -> Result<Value, LspError> {
        let _alone = self.errand.lock().await;
        let catching = self.desk.catch();
        let asked = self.ask("workspace/executeCommand", json!(command), patience).await;
        let mut wanted = catching.take();
        match (wanted.pop(), wanted.is_empty()) {
            (Some(edit), true) => Ok(edit),
            (Some(_), false) => {
                let (server, what) = (self.spec.name.clone(), "change files in several steps");
                Err(LspError::Beyond { server, what })
            }
            // One that fails because nothing was made has said what it wants.
            (None, _) => asked.map(|_| Value::Null),
        }
    }

    pub(crate) fn failed(&self, source: RpcError) -> LspError {
        LspError::Rpc { server: self.spec.name.clone(), source }
    }

    /// Tells it a file's text, unless it knows.
    pub(crate) async fn sync(&self, path: &Path, new: &str) -> Result<Synced, LspError> {
        self.sync_unless(path, new, |_| false).await
    }

    /// The same, unless `is_old` says so of the version it has by then.
    async fn sync_unless(
        &self,
        path: &Path,
        new: &str,
        is_old: impl Fn(Option<i64>) -> bool,
    ) -> Result<Synced, LspError> {
        let language = self.spec.language(path).unwrap_or("plaintext");
        let how = (self.can.sync(), self.units);
        // The place in the queue comes first: two who bring one file up to date do not change places.
        let slot = self.slot().await?;
        let (synced, note) = {
            let mut documents = self.documents();
            let version = documents.version(path);
            if is_old(version) {
                return Ok(Synced { version: version.unwrap_or_default(), is_news: false });
            }
            documents.update(path, new, language, how)
        };
        if let Some(Note { method, params }) = note {
            slot.notify(method, &params);
            self.tempo().told = Some(Instant::now());
        } else {
            drop(slot);
        }
        let surplus = self.documents().surplus();
        if let Some(surplus) = surplus {
            self.close(&surplus).await?;
        }
        Ok(synced)
    }

    /// Tells it the text a file has on disk. False for one that is gone, too long or no text. Whoever tells another
    /// text meanwhile knows better: what was read here may be from before an edit.
    pub(crate) async fn sync_from_disk(&self, path: &Path) -> Result<Option<Synced>, LspError> {
        let version = self.documents().version(path);
        let Some(text) = read(path).await else {
            self.close(path).await?;
            return Ok(None);
        };
        self.sync_unless(path, &text, |now| now != version).await.map(Some)
    }

    /// Brings it up to date with the disk: commands may have changed files, whether it has them open or not.
    pub(crate) async fn refresh(&self) -> Result<(), LspError> {
        self.hear_of_files().await?;
        let paths = self.documents().paths();
        for path in paths {
            let stamp = tokio::fs::metadata(&path).await.ok();
            let stamp = stamp.and_then(|found| Some((found.modified().ok()?, found.len())));
            let is_as_read = stamp.is_some_and(|stamp| self.documents().is_as_read(&path, stamp));
            if !is_as_read {
                self.sync_from_disk(&path).await?;
            }
        }
        Ok(())
    }

    /// Tells it which files have changed since it was last told, if `commands` have run since then.
    pub(crate) async fn hear_of_commands(&self, commands: u64) -> Result<(), LspError> {
        if self.heard_of.swap(commands, Ordering::Relaxed) == commands {
            return Ok(());
        }
        self.hear_of_files().await
    }

    async fn hear_of_files(&self) -> Result<(), LspError> {
        if !self.desk.is_registered(WATCHED) {
            return Ok(());
        }
        let root = self.desk.root().to_owned();
        let looking = tokio::task::spawn_blocking(move || watched::look(&root));
        let Ok(now) = looking.await else { return Ok(()) };
        // The place in the queue comes first: what is known to be told must be told.
        let slot = self.slot().await?;
        let changes = {
            let mut known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            let changes = watched::changes(&known, &now);
            *known = now;
            changes
        };
        if changes.is_empty() {
            return Ok(());
        }
        let change =
            |(path, kind): &(PathBuf, u8)| json!({ "uri": text::address(path), "type": kind });
        let changes: Vec<Value> = changes.iter().map(change).collect();
        let mut news = self.desk.board.watch();
        slot.notify(WATCHED, &json!({ "changes": changes }));
        if !self.pulls() {
            // What it says of open files may be other now; it may as well stay as it is.
            drop(tokio::time::timeout(LEAST, news.changed()).await);
        }
        Ok(())
    }

    /// Closes a file.
    pub(crate) async fn close(&self, path: &Path) -> Result<(), LspError> {
        let slot = self.slot().await?;
        let note = self.documents().close(path);
        if let Some(Note { method, params }) = note {
            slot.notify(method, &params);
        }
        Ok(())
    }

    /// Whether it has a file open.
    pub(crate) fn has_open(&self, path: &Path) -> bool {
        self.documents().is_open(path)
    }

    /// A file's text, as it knows it.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        self.documents().text(path).map(str::to_owned)
    }

    /// Tells it that files were saved, made or deleted: 1 made, 2 changed, 3 deleted.
    pub(crate) async fn saved(&self, path: &Path, kind: u8) -> Result<(), LspError> {
        let uri = text::address(path);
        if self.desk.is_registered(WATCHED) {
            let changes = json!({ "changes": [{ "uri": uri, "type": kind }] });
            self.tell(WATCHED, changes).await?;
        }
        let wanted = self
            .can
            .save()
            .or_else(|| self.desk.is_registered("textDocument/didSave").then_some(false));
        if let (Some(with_text), true) = (wanted, self.has_open(path)) {
            let mut params = json!({ "textDocument": { "uri": uri } });
            if with_text {
                params["text"] = json!(self.text(path));
            }
            self.tell("textDocument/didSave", params).await?;
        }
        Ok(())
    }

    /// Whether it may still be reading: the project, or a text it was told a moment ago.
    pub(crate) fn is_reading(&self) -> bool {
        let told = self.tempo().told;
        self.desk.work().is_some() || told.is_some_and(|told| told.elapsed() < READING)
    }

    /// What it says of a file now.
    pub(crate) fn posted(&self, path: &Path) -> Posted {
        self.desk.board.of(path)
    }

    /// What it had said of every file when somebody was last told, as far as the file is still the same.
    pub(crate) fn told(&self) -> HashMap<PathBuf, Posted> {
        let documents = self.documents();
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |path: &Path, version: &Option<i64>| documents.version(path) == *version;
        let same = told.iter().filter(|(path, (version, _))| is_same(path, version));
        same.map(|(path, (_, posted))| (path.clone(), posted.clone())).collect()
    }

    /// Somebody was told this of what it says.
    pub(crate) fn has_told(&self, posted: HashMap<PathBuf, Posted>) {
        let documents = self.documents();
        let told = posted.into_iter().map(|(path, posted)| {
            let version = documents.version(&path);
            (path, (version, posted))
        });
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = told.collect();
    }

    /// Files it has open.
    pub(crate) fn open_files(&self) -> Vec<PathBuf> {
        self.documents().paths()
    }

    fn documents(&self) -> MutexGuard<'_, Documents> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tempo(&self) -> MutexGuard<'_, Tempo> {
        self.tempo.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file's text; none for what is too long or no text.
pub(crate) async fn read(path: &Path) -> Option<String> {
    let found = tokio::fs::metadata(path).await.ok()?;
    if !found.is_file() || found.len() > LONGEST {
        return None;
    }
    tokio::fs::read_to_string(path).await.ok()
}

/// What `initialize` says: who we are, and what we understand.
fn greeting(spec: &Spec, root: &Path) -> Value {
    let uri = text::address(root);
    json!({
        // A server that loses us ends itself; so do those it has started and that we cannot see.
        "processId": std::process::id(),
        "clientInfo": { "name": "caiman", "version": env!("CARGO_PKG_VERSION") },
        "rootUri": uri,
        "rootPath": root,
        "workspaceFolders": [{ "uri": uri, "name": name_of(root) }],
        "initializationOptions": spec.init_options,
        "trace": "off",
        "capabilities": {
            "general": { "positionEncodings": ["utf-8", "utf-16"] },
            "window": { "workDoneProgress": true },
            "workspace": {
                "applyEdit": true,
                "configuration": true,
                "workspaceFolders": true,
                "didChangeConfiguration": { "dynamicRegistration": true },
                "didChangeWatchedFiles": { "dynamicRegistration": true },
                "symbol": {},
                "workspaceEdit": { "documentChanges": true },
                "diagnostics": { "refreshSupport": true },
            },
            "textDocument": {
                "synchronization": { "dynamicRegistration": true, "didSave": true },
                "publishDiagnostics": { "versionSupport": true, "dataSupport": true },
                "diagnostic": { "dynamicRegistration": true, "relatedDocumentSupport": false },
                "definition": { "linkSupport": true },
                "references": {},
                "hover": { "contentFormat": ["plaintext", "markdown"] },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                "callHierarchy": {},
                "rename": { "prepareSupport": true },
                "codeAction": {
                    "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [
                        "", "quickfix", "refactor", "refactor.extract", "refactor.inline",
                        "refactor.rewrite", "source", "source.organizeImports", "source.fixAll",
                    ] } },
                    "dataSupport": true,
                    "disabledSupport": true,
                    "resolveSupport": { "properties": ["edit"] },
                },
            },
        },
    })
}
