//! `caiman`: the terminal interface.

use std::io::IsTerminal;
use std::sync::Arc;
use std::thread;

use base::interface::ScreenMode;
use base::{Env, SessionId, TaskScope};
use tui::app::{App as Interface, Beginning};
use tui::face::{self, FaceError, Farewell, Start};
use tui::linear::Linear;
use tui::message::Screen;
use tui::terminal::Outside;

use super::run::{self, Limits, Lock, Place, Voice};
use crate::app::App;
use crate::door::{Door, Flags, Guest};
use crate::failure::{Failure, Kind};
use crate::{database, render, wiring};

/// Open the interface, as `caiman` alone does: `--continue`, `--session ID`, `--inline`, `--linear`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// What to say first.
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,

    /// Draw at the end of the terminal's own scrollback instead of the whole screen.
    #[arg(long, conflicts_with_all = ["full", "linear"])]
    inline: bool,

    /// Draw on the whole screen, whatever the settings say.
    #[arg(long, conflicts_with = "linear")]
    full: bool,

    /// Only ever add lines, for screen readers and plain terminals.
    #[arg(long)]
    linear: bool,

    #[command(flatten)]
    voice: Voice,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    lock: Lock,

    #[command(flatten)]
    limits: Limits,
}

/// Runs the interface until its end, and says how to come back.
pub(crate) fn run(app: App, args: Args) -> Result<(), Failure> {
    let settings = settings::load(&app.sources()).config;
    let screen = args.screen(settings.options.tui.screen, &app.env);
    if screen != ScreenMode::Linear {
        needs_terminal()?;
    }
    let named = session(&app, &args.place)?;
    let session = named.as_ref().map(|(session, _)| *session);
    let start = Start {
        folder: named.map_or_else(|| app.cwd.clone(), |(_, folder)| folder.into()),
        session,
        screen: if screen == ScreenMode::Inline { Screen::Inline } else { Screen::Full },
        settings: settings.options.tui,
        notifications: settings.options.notifications,
        progress: settings.options.progress,
        env: app.env.clone(),
        log: app.paths.data().join("caiman.log"),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let prompt = (!args.prompt.is_empty()).then(|| args.prompt.join(" "));
    let beginning = Beginning { prompt, now: app.clock.now() };
    let outside = Arc::new(Desktop(app.env.clone()));
    let Args { voice, place, lock, limits, .. } = args;
    let door = Door::new(app, Flags { voice, place, lock, limits, guest: Guest::Person });
    let farewell = with_mind(&door, |scope| {
        let client = Arc::new(door.clone());
        if screen == ScreenMode::Linear {
            let folder = start.folder.display().to_string();
            let mut linear = Linear::new(folder, session, beginning.prompt);
            return face::run_lines(&mut linear, client, scope);
        }
        let mut interface = Interface::new(&start, beginning);
        face::run(&mut interface, client, scope, start, outside)
    })?;
    if let Some(session) = farewell.map_err(failed)?.session {
        render::note(&format!("go on with it: caiman --session {session}"));
    }
    Ok(())
}

/// Runs the face on this thread while the mind works on another: whatever the mind does, keys are heard.
fn with_mind(
    door: &Door,
    face: impl FnOnce(&TaskScope) -> Result<Farewell, FaceError>,
) -> Result<Result<Farewell, FaceError>, Failure> {
    let runtime = wiring::runtime()?;
    let handle = runtime.handle().clone();
    let scope = TaskScope::new();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let closing = door.clone();
    let mind = thread::spawn(move || {
        runtime.block_on(async move {
            // An error is an end as well.
            drop(ended.await);
            closing.close().await;
        });
        // The store has answered for everything it was given; nothing left is worth waiting for.
        runtime.shutdown_background();
    });
    let farewell = {
        let _context = handle.enter();
        face(&scope)
    };
    scope.cancel();
    drop(end);
    mind.join().map_err(|_| Failure::new(Kind::Internal, "the agent broke off"))?;
    Ok(farewell)
}

impl Args {
    fn screen(&self, of_settings: ScreenMode, env: &Env) -> ScreenMode {
        let is_dumb = env.get("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        match (self.linear, self.inline, self.full) {
            (true, ..) => ScreenMode::Linear,
            (_, true, _) => ScreenMode::Inline,
            (.., true) => ScreenMode::Full,
            (false, false, false) if is_dumb => ScreenMode::Linear,
            (false, false, false) => of_settings,
        }
    }
}

/// The session that goes on and its folder, if the flags name one.
fn session(app: &App, place: &Place) -> Result<Option<(SessionId, String)>, Failure> {
    if !place.go_on && place.session.is_none() {
        return Ok(None);
    }
    let store = database::open(app)?;
    run::named(app, place, &store)
}

fn needs_terminal() -> Result<(), Failure> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::user("the interface needs a terminal")
        .hint("work without one: caiman run \"<prompt>\"")
        .hint("or line by line: caiman --linear"))
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn failed(error: FaceError) -> Failure {
    Failure::new(Kind::Internal, error.to_string())
}

/// Programs of the user's desktop.
struct Desktop(Env);

impl Outside for Desktop {
    fn run(&self, program: &str, args: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
        guard::process::beside(program, args, input, &self.0.with_absolute_path())
            .map_err(|error| error.to_string())
    }

    fn run_in_terminal(&self, program: &str, args: &[&str]) -> Result<(), String> {
        guard::process::in_terminal(program, args, &self.0.with_absolute_path())
            .map_err(|error| error.to_string())
    }
}
