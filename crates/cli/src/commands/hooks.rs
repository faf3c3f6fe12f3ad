//! `caiman hooks`: which programs run at events, and what they say.

mod trial;

use agent::hooks::{Handler, Handlers, Occasion, Source};
use clap::Subcommand;
use serde_json::{Value, json};
use settings::definition::Shelf;
use settings::{HookFailure, Loaded};

use crate::app::App;
use crate::failure::Failure;
use crate::render;
use trial::Trial;

/// List and try out the programs that run at events.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the hooks that run here, by event.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run the hooks of an event as if it happened, and print what each says and what comes of it.
    Test(Trial),
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let loaded = app.load_config();
    let handlers = handlers(app, &loaded);
    match &args.what {
        What::List { json } => list(&loaded, &handlers, *json),
        What::Test(trial) => trial::run(app, &loaded, &handlers, trial),
    }
}

/// The handlers a session here would have.
fn handlers(app: &App, loaded: &Loaded) -> Handlers {
    let found = Shelf::new(app.places(&loaded.config)).look(&app.cwd);
    let (handlers, warnings) = Handlers::new(&loaded.config, &found.plugins);
    for warning in warnings {
        render::note(&format!("warning: {warning}"));
    }
    if loaded.config.options.disable_hooks {
        render::note("note: options.disable_hooks is on, so no hook runs");
    }
    handlers
}

fn list(loaded: &Loaded, handlers: &Handlers, as_json: bool) -> Result<(), Failure> {
    let all: Vec<&Handler> = Occasion::ALL
        .into_iter()
        .flat_map(|occasion| handlers.of(occasion))
        .map(AsRef::as_ref)
        .collect();
    if as_json {
        let entries: Vec<Value> = all.iter().map(|handler| entry(handler, loaded)).collect();
        return render::json(&entries);
    }
    if all.is_empty() {
        render::note("No hooks run here. docs/hooks.md says how to write one.");
        return Ok(());
    }
    let row = |handler: &&Handler| {
        let matcher = handler.hook.matcher.as_deref().filter(|matcher| !matcher.is_empty());
        vec![
            handler.occasion.to_string(),
            matcher.unwrap_or("*").to_owned(),
            handler.label(),
            origin(handler, loaded).unwrap_or_else(|| handler.source.to_string()),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    render::out(&render::columns(&rows))
}

fn entry(handler: &Handler, loaded: &Loaded) -> Value {
    let hook = &handler.hook;
    json!({
        "event": handler.occasion.name(),
        "matcher": hook.matcher,
        "if": hook.condition,
        "name": hook.name,
        "command": (!hook.command.is_empty()).then_some(&hook.command),
        "args": hook.args,
        "url": hook.url,
        "timeout_s": handler.patience().as_secs_f64(),
        "async": hook.is_background(),
        "fail": match hook.fail {
            HookFailure::Open => "open",
            HookFailure::Closed => "closed",
        },
        "source": handler.source.to_string(),
        "file": origin(handler, loaded),
    })
}

/// File and line of a handler of the settings.
fn origin(handler: &Handler, loaded: &Loaded) -> Option<String> {
    if handler.source != Source::Settings {
        return None;
    }
    let place = format!("hooks.{}[{}]", handler.occasion, handler.position);
    let mut keys = ["command", "url"].into_iter();
    let origin = keys.find_map(|key| loaded.origins.of(&format!("{place}.{key}")))?;
    Some(format!("{}:{}", origin.file.display(), origin.line))
}
