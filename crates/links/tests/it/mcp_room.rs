//! Rooms with MCP servers: scripted ones, and real ones as `scripts/servers-mcp` installs them.

use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::{Clock, Env, Secret, TaskScope};
use futures::future::BoxFuture;
use links::Mcp;
use links::child::{Limits, Pipes, Program};
use links::mcp::{
    Answer, Borrower, Content, Elicitation, Elicited, Errand, Kind, McpError, Menu, Outside,
    Progress, Sampled, Sampling, Vault,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use testkit::parts::installed;
use tokio_util::sync::CancellationToken;

/// How long anything may take that works, on a machine with much else to do.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// A place for MCP servers. Dropping it ends them.
pub(crate) struct Room {
    pub(crate) mcp: Mcp,
    pub(crate) folder: TempDir,
    pub(crate) scope: TaskScope,
}

impl Room {
    /// A room with servers of these settings.
    pub(crate) fn new(servers: &Value) -> Self {
        Self::resting_after(Duration::from_hours(1), servers)
    }

    /// The same with servers that sleep when nobody has used them for so long.
    pub(crate) fn resting_after(idle: Duration, servers: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scope = TaskScope::new();
        let mcp = Mcp::resting_after(idle, outside(folder.path()), &scope);
        let room = Self { mcp, folder, scope };
        room.add(servers);
        room
    }

    /// The same folder in another process, so to speak.
    pub(crate) fn again(self, servers: &Value) -> Self {
        let mcp = Mcp::new(outside(self.folder.path()), &self.scope);
        let room = Self { mcp, ..self };
        room.add(servers);
        room
    }

    pub(crate) fn add(&self, servers: &Value) {
        for (name, server) in servers.as_object().unwrap() {
            self.mcp.add(name, &serde_json::from_value(server.clone()).unwrap());
        }
    }

    /// Calls a tool of the server `it`.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Answer, McpError> {
        self.borrow(tool, arguments, Arc::new(Asked::default())).await
    }

    /// The same for somebody who can be asked back.
    pub(crate) async fn borrow(
        &self,
        tool: &str,
        arguments: Value,
        borrower: Arc<Asked>,
    ) -> Result<Answer, McpError> {
        let errand = Errand {
            server: "it",
            tool,
            arguments: arguments.as_object().unwrap().clone(),
            borrower,
            cancel: CancellationToken::new(),
        };
        tokio::time::timeout(LONG, self.mcp.call(errand)).await.unwrap()
    }

    /// The words a tool answers with.
    pub(crate) async fn says(&self, tool: &str, arguments: Value) -> String {
        words(&self.call(tool, arguments).await.unwrap())
    }

    /// What `it` lends, as soon as it has told and `is_it`.
    pub(crate) async fn menu(&self, is_it: impl Fn(&Menu) -> bool) -> Arc<Menu> {
        let mut news = self.mcp.news();
        self.mcp.wake(&["it".to_owned()]);
        let looking = async {
            loop {
                if let Some(menu) = self.mcp.menu("it").filter(|menu| is_it(menu)) {
                    return menu;
                }
                news.changed().await.unwrap();
            }
        };
        let menu = tokio::time::timeout(LONG, looking).await;
        menu.unwrap_or_else(|_| panic!("{:?}", self.mcp.states()))
    }

    /// Waits until the state of `it` begins so.
    pub(crate) async fn state(&self, beginning: &str) -> base::protocol::ServerState {
        for _ in 0..6_000 {
            let state = self.mcp.states().into_iter().find(|state| state.name == "it").unwrap();
            if state.state.starts_with(beginning) {
                return state;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("not {beginning}: {:?}", self.mcp.states());
    }
}

/// A scripted server: see `mcp_server.py`.
pub(crate) fn script(mode: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_server.py");
    json!({ "command": "python3", "args": [file, mode], "timeout": 60 })
}

/// The same in a room, as `it`.
pub(crate) fn scripted(mode: &str) -> Room {
    Room::new(&json!({ "it": script(mode) }))
}

/// The words of an answer.
pub(crate) fn words(answer: &Answer) -> String {
    let word = |content: &Content| match content {
        Content::Text(text) => Some(text.clone()),
        Content::Picture(_)
        | Content::Sound(_)
        | Content::Link { .. }
        | Content::Resource { .. }
        | Content::Blob { .. } => None,
    };
    answer.content.iter().filter_map(word).collect::<Vec<_>>().join("\n")
}

/// Somebody who borrows: notes what is asked back, and answers forms with sensible values.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) progress: Mutex<Vec<Progress>>,
    pub(crate) forms: Mutex<Vec<Elicitation>>,
    pub(crate) samples: Mutex<Vec<Sampling>>,
    /// What is said instead of filling forms in.
    pub(crate) refuses: Option<Elicited>,
    /// How long it thinks.
    pub(crate) thinks: Duration,
    /// The forms that are open.
    pub(crate) open: AtomicUsize,
    /// The most forms that were open at once.
    pub(crate) most: AtomicUsize,
}

impl Asked {
    /// What the server said of how far it is.
    pub(crate) fn said(&self) -> Vec<String> {
        let progress = self.progress.lock().unwrap();
        progress.iter().filter_map(|progress| progress.message.clone()).collect()
    }
}

impl Borrower for Asked {
    fn progress(&self, progress: Progress) {
        self.progress.lock().unwrap().push(progress);
    }

    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited> {
        Box::pin(async move {
            let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(open, Ordering::SeqCst);
            tokio::time::sleep(self.thinks).await;
            self.open.fetch_sub(1, Ordering::SeqCst);
            self.forms.lock().unwrap().push(asked.clone());
            if let Some(refused) = &self.refuses {
                return refused.clone();
            }
            Elicited::Filled(match asked {
                Elicitation::Form { fields, .. } => {
                    fields.into_iter().map(|field| (field.name, filled(&field.kind))).collect()
                }
                Elicitation::Page { .. } => Map::new(),
            })
        })
    }

    fn sample(&self, asked: Sampling) -> BoxFuture<'_, Result<Sampled, String>> {
        Box::pin(async move {
            self.samples.lock().unwrap().push(asked);
            let text = "a model's words".to_owned();
            Ok(Sampled { text, model: "scripted".to_owned(), cut_off: false })
        })
    }
}

fn filled(kind: &Kind) -> Value {
    match kind {
        Kind::Text { format, .. } => match format.as_deref() {
            Some("email") => json!("a@example.com"),
            Some("uri") => json!("https://example.com/"),
            Some("date") => json!("2026-11-16"),
            Some("date-time") => json!("2026-11-16T12:00:00Z"),
            Some(_) | None => json!("words"),
        },
        Kind::Number { whole: true, least, .. } => json!(least.unwrap_or(1.0).ceil()),
        Kind::Number { whole: false, least, .. } => json!(least.unwrap_or(1.5)),
        Kind::Switch => json!(true),
        Kind::OneOf(choices) => json!(choices[0].value),
        Kind::SomeOf(choices) => json!([choices[0].value]),
    }
}

struct NoVault;

impl Vault for NoVault {
    fn get(&self, _name: &str) -> Option<Secret> {
        None
    }

    fn put(&self, _name: &str, _secret: &Secret) -> Result<(), String> {
        Ok(())
    }

    fn remove(&self, _name: &str) -> Result<(), String> {
        Ok(())
    }
}

pub(crate) fn outside(folder: &Path) -> Outside {
    let process = Env::of_process();
    Outside {
        bans: settings::Bans::default(),
        env: process.with([("SECRET_OF_TEST".to_owned(), "whisper".to_owned())]),
        child_env: process,
        folder: folder.to_owned(),
        cache: folder.join("cache"),
        dial: Arc::new(|_| {
            // As ours are: they follow nobody.
            let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
            client.build().map_err(|error| error.to_string())
        }),
        vault: Arc::new(NoVault),
        clock: Clock::system(),
        paths: paths(folder),
    }
}

/// A home below a folder.
pub(crate) fn paths(folder: &Path) -> base::Paths {
    let home = folder.join("home").display().to_string();
    base::Paths::of(&Env::from_iter([("HOME", home)])).unwrap()
}

/// A real server that listens on a port of its own.
pub(crate) struct Listening {
    pub(crate) port: u16,
    pub(crate) scope: TaskScope,
    /// It would not survive that nobody listens to it.
    _pipes: Pipes,
}

impl Listening {
    /// Starts server-everything for a transport, and waits until it listens.
    pub(crate) async fn everything(transport: &str) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self::everything_on(transport, port).await
    }

    /// The same on a port.
    pub(crate) async fn everything_on(transport: &str, port: u16) -> Option<Self> {
        let program = installed("node_modules/.bin/mcp-server-everything")?;
        let scope = TaskScope::new();
        let program = Program {
            cage: None,
            program: program.to_str().unwrap().to_owned(),
            args: vec![transport.to_owned()],
            folder: std::env::temp_dir(),
            env: Env::of_process().with([("PORT".to_owned(), port.to_string())]),
            limits: Limits::default(),
        };
        let (child, pipes) = program.start(&scope).unwrap();
        for _ in 0..6_000 {
            if child.log().lines().iter().any(|line| line.contains("on port")) {
                return Some(Self { port, scope, _pipes: pipes });
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{:?}", child.log().lines());
    }
}
