//! `caiman run`: one prompt, one answer, no terminal needed.

mod input;
mod output;
mod stream_json;

use std::time::{Duration, Instant};

use agent::{Mind, Say, TurnError, TurnReport};
use base::config::Config;
use base::model::{Effort, StopReason};
use base::{Event, Part, SessionId};
use clap::ValueEnum;
use llm::{Class, Reasoning, Target};
use store::{NewSession, Place, Store};
use tokio_util::sync::CancellationToken;

use self::output::{Outcome, Printer, Setting};
use super::session::find;
use crate::app::App;
use crate::database::{self, explain};
use crate::failure::{Failure, Kind};
use crate::wiring;

const EXIT_CODES: &str = "Exit codes: 0 done, 1 wrong usage or settings, 2 permission denied, \
3 budget used up, 4 the provider failed, 5 it took too long, 130 cancelled";

/// Ask a model once and print its answer. Standard input, if piped, is appended to the prompt.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// What to say.
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,

    /// The model, as provider/model; `caiman models` lists them.
    #[arg(long, short)]
    model: Option<String>,

    /// How hard the model should think: none, minimal, low, medium, high, xhigh, max.
    #[arg(long)]
    effort: Option<Effort>,

    /// Most tokens of the answer.
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u64>,

    /// What to print: the text, one JSON object at the end, or a JSON line for each step.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, value_name = "FORMAT")]
    output_format: OutputFormat,

    /// With stream-json: print pieces of the answer as they arrive.
    #[arg(long)]
    include_partial_messages: bool,

    /// Go on with this folder's newest session.
    #[arg(long = "continue", short = 'c', conflicts_with = "session")]
    go_on: bool,

    /// Go on with this session (an id or the beginning of one).
    #[arg(long, short = 's', value_name = "ID")]
    session: Option<String>,

    /// Keep nothing: the session is gone when the run ends.
    #[arg(long, conflicts_with_all = ["go_on", "session"])]
    ephemeral: bool,

    /// Give up after this many seconds (exit code 5).
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<u64>,

    /// Show the model's thoughts on standard error (text format).
    #[arg(long, short)]
    verbose: bool,

    /// Ask nothing. Without tools there is nothing to ask.
    #[arg(long, hide = true)]
    yolo: bool,
}

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer's text, as it arrives.
    Text,
    /// One JSON object when done.
    Json,
    /// A JSON line for each step.
    StreamJson,
}

/// Runs the prompt and prints the answer.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let prompt = input::prompt(&args.prompt)?;
    let settings = app.load_config().config;
    let runtime = wiring::runtime()?;
    let target = runtime.block_on(wiring::target(app, &settings, args.model.as_deref()))?;
    // Only now: a run that has nobody to ask leaves no database behind.
    let store =
        if args.ephemeral { Store::in_memory().map_err(explain)? } else { database::open(app)? };
    let session = session(app, args, &store)?;
    let said = say(args, &settings, session, target, prompt);
    let outcome = runtime.block_on(wiring::in_task(converse(app, args, store, said)));
    // The store has answered for everything it was given; nothing left is worth waiting for.
    runtime.shutdown_background();
    outcome
}

/// What is said: options of the command line before those of the settings.
fn say(args: &Args, settings: &Config, session: SessionId, target: Target, prompt: String) -> Say {
    let chosen = wiring::chosen(settings, &target);
    let effort = args.effort.or(chosen.and_then(|chosen| chosen.reasoning_effort));
    Say {
        session,
        parts: vec![Part::user_text(prompt)],
        reasoning: effort.map_or(Reasoning::ModelDefault, Reasoning::Effort),
        max_tokens: args.max_tokens.or(chosen.and_then(|chosen| chosen.max_tokens)),
        sampling: chosen.map(wiring::sampling).unwrap_or_default(),
        target,
    }
}

/// The turn, owning all it needs.
fn converse(
    app: &App,
    args: &Args,
    store: Store,
    say: Say,
) -> impl Future<Output = Result<(), Failure>> + Send + 'static {
    let setting = Setting {
        session: say.session,
        model: say.target.model_ref(),
        limits: (say.target.model.context_window, say.target.model.default_max_tokens),
        folder: app.cwd.display().to_string(),
        began: Instant::now(),
    };
    let mind = Mind { store, caller: wiring::caller(app), clock: app.clock.clone() };
    let mut printer =
        Printer::new(args.output_format, args.verbose, args.include_partial_messages, setting);
    let max_time_s = args.max_time;
    async move { turn(&mind, say, max_time_s, &mut printer).await }
}

/// The session to speak in: a new one, the folder's newest, or a named one.
fn session(app: &App, args: &Args, store: &Store) -> Result<SessionId, Failure> {
    if let Some(id) = &args.session {
        return Ok(find::session(store, id, &app.cwd)?.summary.id);
    }
    let folder = app.cwd.display().to_string();
    if args.go_on {
        let last = store.last_session(Place::Folder(folder.clone())).wait().map_err(explain)?;
        return last.map(|session| session.id).ok_or_else(|| {
            Failure::user(format!("there is no session in {folder} to go on with"))
                .hint("leave out --continue to begin one; caiman session list --all shows all")
        });
    }
    let id = SessionId::new();
    let project = store::project_of(&app.cwd).display().to_string();
    let at = app.clock.now();
    let new = NewSession { id, folder, project, parent: None, at };
    store.create_session(new).wait().map_err(explain)?;
    Ok(id)
}

/// Why a turn was stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    Interrupt,
    Terminate,
    TimeUp,
    Unread,
}

/// Runs the turn until it ends, the user stops it, time is up, or nobody reads any more.
async fn turn(
    mind: &Mind,
    say: Say,
    max_time_s: Option<u64>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let (cancel, unread) = (CancellationToken::new(), CancellationToken::new());
    let mut shown = Outcome::default();
    let mut publish = |event: Event| {
        shown.take(&event);
        printer.event(&event);
        if printer.is_closed() {
            unread.cancel();
        }
    };
    let mut stopped = None;
    let outcome = {
        let running = mind.say(say, &cancel, &mut publish);
        tokio::pin!(running);
        let interrupted = interruption(max_time_s, &unread);
        tokio::pin!(interrupted);
        loop {
            tokio::select! {
                biased;
                outcome = &mut running => break outcome,
                why = &mut interrupted, if stopped.is_none() => {
                    stopped = Some(why);
                    cancel.cancel();
                }
                // Whoever asks twice wants out, whatever is still being saved.
                () = wiring::interrupt(), if stopped.is_some() => std::process::exit(130),
            }
        }
    };
    let failure = ending(&outcome, stopped, max_time_s, &mut shown);
    printer.end(&shown);
    failure.map_or(Ok(()), Err)
}

/// Waits for whatever may stop a turn from outside.
async fn interruption(max_time_s: Option<u64>, unread: &CancellationToken) -> Stopped {
    let time_up = async {
        match max_time_s {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = wiring::interrupt() => Stopped::Interrupt,
        () = wiring::terminate() => Stopped::Terminate,
        () = time_up => Stopped::TimeUp,
        () = unread.cancelled() => Stopped::Unread,
    }
}

/// How to exit; adds to `shown` what only the end tells.
fn ending(
    outcome: &Result<TurnReport, TurnError>,
    stopped: Option<Stopped>,
    max_time_s: Option<u64>,
    shown: &mut Outcome,
) -> Option<Failure> {
    let report = match outcome {
        Err(error) => {
            let failure = turn_failure(error);
            let class = match error {
                TurnError::Provider { error, .. } => error.class.as_str(),
                TurnError::Store(_) => "store",
            };
            shown.error = Some((class, failure.message.clone()));
            return Some(failure);
        }
        Ok(report) => report,
    };
    (shown.stop, shown.waited) = (Some(report.stop), report.waited);
    let (class, failure) = (report.stop == StopReason::Cancelled).then(|| match stopped {
        Some(Stopped::TimeUp) => {
            let limit = max_time_s.unwrap_or_default();
            let failure = Failure::new(Kind::Timeout, format!("time is up after {limit} s"));
            ("timeout", failure.hint("what had arrived is kept: caiman session last"))
        }
        Some(Stopped::Terminate) => ("cancelled", Failure::new(Kind::Terminated, "terminated")),
        Some(Stopped::Unread) => {
            ("cancelled", Failure::new(Kind::Unread, "standard output was closed"))
        }
        Some(Stopped::Interrupt) | None => {
            ("cancelled", Failure::new(Kind::Cancelled, "cancelled"))
        }
    })?;
    shown.error = Some((class, failure.message.clone()));
    Some(failure)
}

fn turn_failure(error: &TurnError) -> Failure {
    match error {
        TurnError::Store(error) => Failure::config(error.to_string()),
        TurnError::Provider { model, error } => {
            let kind = if error.class == Class::Timeout { Kind::Timeout } else { Kind::Provider };
            let failure =
                Failure::new(kind, format!("{model}: {} ({})", error.message, error.class));
            wiring::provider_hints(model, error).into_iter().fold(failure, Failure::hint)
        }
    }
}
