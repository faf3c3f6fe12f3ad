//! A workspace in a temporary folder, and a model that calls its tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::protocol::Mode;
use base::{CallId, Clock, Env, SessionId};
use futures::future::BoxFuture;
use guard::net::Gate;
use guard::policy::CageState;
use guard::{Fence, Policy, Redactor, Rule, Rules};
use serde_json::Value;
use store::{NewSession, Store};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tools::{
    Desk, DeskError, Output, Progress, Question, Registry, ToolCtx, ToolError, Web, Workspace,
};

/// A workspace with a session, and the registry of built-in tools.
pub(crate) struct Room {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) registry: Registry,
    pub(crate) cancel: CancellationToken,
    folder: PathBuf,
    /// Kept for as long as the room is used.
    locked_in: Option<guard::Room>,
    dir: TempDir,
}

struct Nobody;

impl Desk for Nobody {
    fn ask(&self, _: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>> {
        Box::pin(async { Err(DeskError::Nobody) })
    }
}

impl Room {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = std::fs::canonicalize(dir.path()).unwrap().join("project");
        let home = folder.with_file_name("home");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        let store = Store::in_memory().unwrap();
        let session = SessionId::new();
        let name = folder.display().to_string();
        let clock = Clock::system();
        let new = NewSession {
            id: session,
            folder: name.clone(),
            project: name,
            agent: None,
            child_of: None,
            at: clock.now(),
        };
        store.create_session(new).await.unwrap();
        let env = Env::of_process().with([("HOME".to_owned(), home.display().to_string())]);
        let workspace = Workspace {
            session,
            fence: Fence::new(&folder, &[], &home).unwrap(),
            env,
            exported: tools::Exported::default(),
            store,
            clock,
            jobs: tools::jobs::Jobs::default(),
            limits: settings::Tools::default(),
            spill: folder.with_file_name("spill"),
            cache: folder.with_file_name("cache"),
            // Loopback only: the servers of tests are there, and nothing else is reached.
            web: Web::new(
                Gate::with(["127.0.0.1".parse().unwrap()]),
                &settings::Network::default(),
                &Env::default(),
            ),
            sees_images: true,
            hears_sound: false,
            desk: Arc::new(Nobody),
            spawner: Arc::new(tools::Nothing),
            skills: Arc::new(tools::Nothing),
            code: tools::Code::default(),
            editor: None,
            mcp: tools::mcp::Lending::none(),
            redactor: Redactor::default(),
        };
        let policy = Policy {
            rules: Rules::default(),
            mode: Mode::default(),
            fence: workspace.fence.clone(),
            cage: CageState::Missing,
            bounds: Vec::new(),
        };
        Self {
            workspace: Arc::new(workspace),
            policy: Arc::new(policy),
            registry: Registry::builtin(),
            cancel: CancellationToken::new(),
            folder,
            locked_in: None,
            dir,
        }
    }

    /// The workspace of a researcher: locked into a folder it knows as `/home/agent`.
    pub(crate) async fn confined(web: Web) -> Self {
        let mut room = Self::new().await;
        let locked_in = guard::Room::new(room.dir.path()).unwrap();
        locked_in.folder().clone_into(&mut room.folder);
        let workspace = Arc::get_mut(&mut room.workspace).unwrap();
        workspace.fence = locked_in.fence().unwrap();
        workspace.spill = room.folder.join("output");
        workspace.web = web;
        room.locked_in = Some(locked_in);
        room
    }

    /// A part of the real folder's path that nobody else's has.
    pub(crate) fn secret_name(&self) -> String {
        self.dir.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// The workspace's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a file, folders included.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Forbids something from now on.
    pub(crate) fn deny(&mut self, rule: &str) {
        Arc::make_mut(&mut self.policy).rules.deny.push(Rule::parse(rule).unwrap());
    }

    /// What a call is given.
    pub(crate) fn ctx(&self) -> ToolCtx {
        ToolCtx {
            workspace: self.workspace.clone(),
            call: CallId::new("call"),
            policy: self.policy.clone(),
            cage: None,
            cancel: self.cancel.clone(),
            progress: Progress::none(),
        }
    }

    /// Calls a tool as a model would, without a lock before it.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Result<Output, ToolError> {
        let Value::Object(input) = input else { panic!("arguments are an object") };
        let tool = self.registry.get(tool).unwrap_or_else(|| panic!("no tool {tool}")).clone();
        let call = tool.prepare(input)?;
        call.foresee(&self.workspace).await?;
        call.actions(&self.workspace)?;
        call.run(&self.ctx()).await
    }
}
