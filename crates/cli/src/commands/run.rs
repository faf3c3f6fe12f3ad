//! `caiman run`: a prompt, the work it takes, an answer; no terminal needed.
//!
//! | module | does |
//! |---|---|
//! | [`flags`] | the command line, Claude Code's spellings included |
//! | [`input`] | what is said first |
//! | [`options`] | flags and settings to what a session is run with |
//! | [`place`], [`scratch`] | which session; the demo's own folder |
//! | [`drive`] | exchanges and turns to their end, and whatever stops them |
//! | [`host`] | the program at the other end of the pipes, where there is one |
//! | [`schema`] | answers that must be JSON of a given shape |
//! | [`found`], [`servers`] | what definition files and MCP servers bring to a run |
//! | [`outcome`], [`ending`] | what came of it, and how to exit |
//! | [`output`], [`text`], [`stream_json`], [`pieces`] | what is printed |

mod drive;
mod ending;
mod flags;
mod found;
pub(crate) mod home;
mod host;
mod input;
mod options;
mod outcome;
mod output;
mod pieces;
mod place;
mod schema;
mod scratch;
mod servers;
mod stream_json;
mod text;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use agent::{Coordinator, Options, Presence};
use base::Part;
use base::protocol::Op;
use links::Mcp;
use llm::Auth;
use llm::catalog::Catalog;
use settings::Config;
use store::Store;

use self::drive::{Drive, FindModel, Plan};
use self::ending::Limited;
use self::flags::OutputFormat;
pub(crate) use self::flags::{Args, Asked, Foreign, Limits, Lock, Pipes, Place, Turns, Voice};
use self::found::Found;
use self::host::Host;
use self::input::First;
pub(crate) use self::options::{denied_tools, mode, options};
use self::output::{Printer, Setting};
use self::place::Opened;
pub(crate) use self::place::named;
use self::schema::Schema;
pub(crate) use self::scratch::demo_folder;
pub(crate) use self::servers::of_flags as servers_of_flags;
use crate::app::App;
use crate::catalog::Current;
use crate::database::{self, explain};
use crate::failure::Failure;
use crate::{catalog, render, wiring};

/// Runs the prompt and prints the answer.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    args.check()?;
    let first = input::first(args)?;
    let schema = Schema::of(&args.pipes, &app.cwd)?;
    let mut loaded = app.load_config();
    let servers = servers::of_flags(app, &args.place, &mut loaded.config)?;
    let runtime = wiring::runtime()?;
    let catalog = catalog::open(app, &loaded.config);
    let named = args.voice.model.as_deref();
    let target = runtime.block_on(wiring::target(&catalog, named))?;
    let small = wiring::small(&catalog, &loaded.config, &target);
    let (mut options, warnings) = options::options(app, args.asked(), &loaded, (target, small))?;
    options.servers = servers;
    for warning in warnings {
        render::note(&warning);
    }
    let scratch = scratch::folder(app, args, &first, &mut options)?;
    if scratch.is_none() {
        home::check(app, &args.place, options.mode)?;
    }
    // Only now: a run that has nobody to ask leaves no database behind.
    let store = if args.place.ephemeral {
        Store::in_memory().map_err(explain)?
    } else {
        database::open(app)?
    };
    let folder = scratch.as_deref().unwrap_or(&app.cwd);
    let opened = place::open(app, &args.place, &store, folder)?;
    tell_of(args, &first, &opened);
    let wires = Wires { settings: Arc::new(loaded.config), catalog, store };
    let (drive, op) = prepare(app, args, wires, (options, opened, schema, first));
    let outcome = runtime.block_on(wiring::in_task(drive.run(op)));
    // The store has answered for everything it was given; nothing left is worth waiting for.
    runtime.shutdown_background();
    outcome
}

/// What the mind is put together from.
struct Wires {
    settings: Arc<Config>,
    catalog: Catalog,
    store: Store,
}

/// Says what a session that goes on brings with it.
fn tell_of(args: &Args, first: &First, opened: &Opened) {
    if opened.is_interrupted && matches!(first, First::Say(_)) {
        render::note(
            "note: the last turn of this session was interrupted; without a prompt, --continue goes on \
             with it",
        );
    }
    let says_more = args.voice.append_system_prompt.is_some() || args.voice.system_prompt.is_some();
    if says_more && !opened.tools.is_empty() {
        render::note("note: a session keeps the system prompt it began with");
    }
}

/// The run, owning all it needs, and its first operation.
fn prepare(
    app: &App,
    args: &Args,
    wires: Wires,
    (options, opened, schema, first): (Options, Opened, Option<Schema>, First),
) -> (Drive, Option<Op>) {
    let presence = match args.lock.permission_prompt_tool {
        Some(_) => Presence::Reachable,
        None => Presence::Alone,
    };
    let folder = PathBuf::from(&opened.folder);
    let shelf = wiring::shelf(app, &wires.settings, &args.place);
    let style = options.output_style.as_ref().or(wires.settings.options.output_style.as_ref());
    let found = match args.pipes.output_format {
        OutputFormat::Text => Found::default(),
        OutputFormat::Json | OutputFormat::StreamJson => {
            Found::look(&shelf, &folder, style.map(String::as_str))
        }
    };
    let of_settings = wires.settings.budgets.turn_seconds.filter(|_| first != First::Listen);
    let plan = Plan {
        session: opened.id,
        model: options.target.model_ref(),
        schema,
        host: (first == First::Listen).then(Host::at_standard_input),
        replays: args.pipes.replay_user_messages,
        limited: limited(&options),
        max_time_s: args.limits.max_time.or(of_settings),
        find_model: find_model(&wires.catalog),
        found: found.clone(),
    };
    let op = match first {
        First::Say(prompt) => Some(Drive::say(&plan, vec![Part::user_text(prompt)])),
        First::GoOn => Some(Op::GoOn { session: opened.id }),
        First::Listen => None,
    };
    let denied = options::denied_tools(&args.lock, &wires.settings);
    let mut mind =
        wiring::mind(app, wires.settings, wires.store, Current::new(wires.catalog), presence);
    mind.shelf = shelf;
    mind.registry = mind.registry.without(&denied);
    let targets = std::iter::once(&options.target).chain(&options.small);
    mind.redactor = wiring::redactor(&mind.env, targets);
    let printer = Printer::new(&args.pipes, setting(&options, opened, found, mind.mcp.clone()));
    (Drive::new(plan, Coordinator::new(mind, options), printer), op)
}

fn setting(options: &Options, opened: Opened, found: Found, mcp: Mcp) -> Setting {
    let model = &options.target.model;
    Setting {
        session: opened.id,
        model: options.target.model_ref(),
        limits: (model.context_window, model.default_max_tokens),
        key_source: match options.target.auth {
            Auth::Anonymous => "none",
            Auth::Bearer(_) | Auth::Header { .. } | Auth::Cloud => "user",
        },
        mode: options.mode,
        tools: opened.tools,
        folder: opened.folder,
        found,
        mcp,
        began: Instant::now(),
    }
}

fn limited(options: &Options) -> Limited {
    let budget = &options.budget;
    Limited {
        steps: budget.turn.steps,
        money: budget.turn.cost.or(budget.session.cost).or(budget.day_cost).is_some(),
    }
}

fn find_model(catalog: &Catalog) -> FindModel {
    let catalog = catalog.clone();
    Arc::new(move |text| catalog.find(text).map_err(|error| error.to_string()))
}
