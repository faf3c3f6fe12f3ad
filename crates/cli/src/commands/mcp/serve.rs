//! `caiman mcp serve`: Caiman as a server of the Model Context Protocol.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base::protocol::Client;
use base::{Secret, TaskScope};
use futures::FutureExt;
use futures::future::join_all;
use links::mcp::serve::{self, House, Open, PATH, ServeError, Server};
use tokio::net::TcpListener;

use crate::app::App;
use crate::commands::run::{Limits, Lock, Place, Voice};
use crate::door::{Door, Flags, Guest};
use crate::failure::{Failure, Kind};
use crate::{catalog, render, wiring};

/// The variable a token is taken from where no flag gives one.
const TOKEN: &str = "CAIMAN_MCP_TOKEN";

/// Let other programs have prompts run here, over the Model Context Protocol.
///
/// Over standard input and output, or over HTTP with --http. Questions for permission go to the program's user
/// where it can ask one, and are denied otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Serve over HTTP at this address instead of standard input and output; without one, at a free port of
    /// this machine.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<SocketAddr>,

    /// The token every request over HTTP must show. The variable `CAIMAN_MCP_TOKEN` does the same, unseen by
    /// other users; without either, one is made and printed.
    #[arg(long, requires = "http")]
    token: Option<String>,

    /// A name this server is reached by over HTTP, beside localhost; may be repeated.
    #[arg(long, value_name = "NAME", requires = "http")]
    host: Vec<String>,

    /// A web page that may call over HTTP, such as `https://app.example:443`; may be repeated.
    #[arg(long, value_name = "URL", requires = "http")]
    origin: Vec<String>,

    /// Let prompts be run in this folder, too, and all below it; may be repeated.
    #[arg(long, value_name = "FOLDER")]
    folder: Vec<PathBuf>,

    #[command(flatten)]
    voice: Voice,

    #[command(flatten)]
    lock: Lock,

    #[command(flatten)]
    limits: Limits,
}

/// Serves until the other end goes, or somebody stops us.
pub(crate) fn run(app: App, args: Args) -> Result<(), Failure> {
    let roots = roots(&app, &args.folder)?;
    let token = token(&app, args.token)?;
    let at = args.http.map(|at| (at, token, args.host, args.origin));
    let minds = Arc::new(Minds {
        app,
        flags: (args.voice, args.lock, args.limits),
        doors: Mutex::default(),
    });
    let runtime = wiring::runtime()?;
    let outcome = runtime.block_on(wiring::in_task(async move {
        let scope = TaskScope::new();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let server = Server::new(House { open: minds.clone().open(), roots, version }, &scope);
        let outcome = until_stopped(&server, at).await;
        scope.close().await;
        minds.close().await;
        outcome
    }));
    // A read of standard input cannot be called off.
    runtime.shutdown_background();
    outcome
}

type Address = (SocketAddr, Secret, Vec<String>, Vec<String>);

async fn until_stopped(server: &Server, at: Option<Address>) -> Result<(), Failure> {
    let serving = async {
        match at {
            None => {
                server.over_pipes(tokio::io::stdin(), tokio::io::stdout()).await.map_err(failed)
            }
            Some(at) => over_http(server, at).await,
        }
    };
    tokio::pin!(serving);
    tokio::select! {
        outcome = &mut serving => return outcome,
        () = wiring::interrupt() => {}
        () = wiring::terminate() => {}
    }
    server.end();
    tokio::select! {
        outcome = serving => outcome,
        // Whoever asks twice wants out, whatever is still being saved.
        () = wiring::interrupt() => Err(Failure::new(Kind::Cancelled, "cancelled")),
    }
}

async fn over_http(server: &Server, (at, token, hosts, origins): Address) -> Result<(), Failure> {
    let listening = TcpListener::bind(at).await.and_then(|it| Ok((it.local_addr()?, it)));
    let (at, listener) = listening.map_err(|error| {
        Failure::user(format!("cannot serve at {at}: {error}"))
            .hint("--http without an address takes a free port")
    })?;
    if !at.ip().is_loopback() {
        render::note(
            "warning: other machines can reach this server; what they send and get is not encrypted",
        );
    }
    render::out(&format!("url: http://{at}{PATH}\ntoken: {}\n", token.expose()))?;
    server.over_http(listener, serve::Door { token, hosts, origins }).await.map_err(failed)
}

/// The folders that may be worked in: where we are, and those the flags add.
fn roots(app: &App, more: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut roots = vec![app.cwd.clone()];
    for folder in more {
        let real = std::fs::canonicalize(app.cwd.join(folder)).ok().filter(|real| real.is_dir());
        roots.push(real.ok_or_else(|| {
            Failure::user(format!("--folder {}: there is no such folder", folder.display()))
        })?);
    }
    Ok(roots)
}

fn token(app: &App, flag: Option<String>) -> Result<Secret, Failure> {
    let given = flag.or_else(|| app.env.get(TOKEN).map(str::to_owned));
    match given.map(|text| text.trim().to_owned()) {
        None => Ok(serve::new_token()),
        Some(text) if text.is_empty() => {
            Err(Failure::user("the token is empty")
                .hint("leave it out, and one is made and printed"))
        }
        Some(text) => Ok(Secret::new(text)),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn failed(error: ServeError) -> Failure {
    match error {
        ServeError::Greeting(_) => Failure::user(error.to_string())
            .hint("this command is started by an MCP client; see docs/mcp.md"),
        ServeError::Listen(_) => Failure::new(Kind::Internal, error.to_string()),
    }
}

/// A mind a folder, each with the settings that hold there.
struct Minds {
    app: App,
    flags: (Voice, Lock, Limits),
    doors: Mutex<Vec<Door>>,
}

impl Minds {
    fn open(self: Arc<Self>) -> Open {
        Arc::new(move |folder| {
            let (minds, folder) = (self.clone(), folder.to_owned());
            async move { minds.door(&folder).await }.boxed()
        })
    }

    /// The door to a mind that works in `folder`; none where no model can answer there.
    async fn door(&self, folder: &Path) -> Result<Arc<dyn Client>, String> {
        let app = self.app.working_in(folder);
        let (catalog, _) = catalog::made(&app, &settings::load(&app.sources()).config);
        let (voice, lock, limits) = self.flags.clone();
        let target = wiring::target(&catalog, voice.model.as_deref()).await;
        target.map_err(|failure| failure.text())?;
        let (place, guest) = (Place::default(), Guest::Program(None));
        let door = Door::new(app, Flags { voice, place, lock, limits, guest });
        self.doors.lock().unwrap_or_else(PoisonError::into_inner).push(door.clone());
        Ok(Arc::new(door))
    }

    async fn close(&self) {
        let doors = std::mem::take(&mut *self.doors.lock().unwrap_or_else(PoisonError::into_inner));
        join_all(doors.iter().map(Door::close)).await;
    }
}
