//! `caiman session list`.

use base::protocol::SessionSummary;
use jiff::tz::TimeZone;
use store::{Place, SessionFilter, Store};

use super::{find, text};
use crate::app::App;
use crate::database::explain;
use crate::failure::Failure;
use crate::render;

/// Widest title shown.
const TITLE_CHARS: usize = 60;

/// `caiman session list`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Sessions of every project.
    #[arg(long, short, conflicts_with = "folder")]
    all: bool,
    /// Only sessions of exactly this folder.
    #[arg(long)]
    folder: bool,
    /// At most this many.
    #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
    limit: usize,
    /// Only sessions whose title, folder or messages hold this text.
    #[arg(long, short, value_name = "TEXT")]
    search: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `caiman session list`.
pub(super) fn run(
    app: &App,
    store: Option<&Store>,
    args: &Args,
    zone: &TimeZone,
) -> Result<(), Failure> {
    let place = match (args.all, args.folder) {
        (true, _) => Place::Anywhere,
        (false, true) => Place::Folder(app.cwd.to_string_lossy().into_owned()),
        (false, false) => Place::Project(find::project(&app.cwd)),
    };
    let filter = SessionFilter { place, search: args.search.clone(), limit: Some(args.limit) };
    let sessions = match store {
        Some(store) => store.sessions(filter).wait().map_err(explain)?,
        None => Vec::new(),
    };
    if args.json {
        return render::json(&sessions);
    }
    match store {
        Some(store) if !sessions.is_empty() => {
            render::out(&rendered(store, &sessions, args.all, zone)?)
        }
        Some(_) | None => {
            render::note(nothing(store.is_some(), args));
            Ok(())
        }
    }
}

fn nothing(has_database: bool, args: &Args) -> &'static str {
    if !has_database {
        "There are no sessions yet."
    } else if args.search.is_some() {
        "No session matches."
    } else if args.all {
        "There are no sessions yet."
    } else {
        "There are no sessions here yet; --all lists those of every project."
    }
}

fn rendered(
    store: &Store,
    sessions: &[SessionSummary],
    with_folder: bool,
    zone: &TimeZone,
) -> Result<String, Failure> {
    let ids = sessions.iter().map(|session| session.id).collect();
    let digits = store.distinct_digits(ids).wait().map_err(explain)?;
    let row = |(session, digits): (&SessionSummary, usize)| {
        let mut row = vec![
            text::short_id(session.id, digits),
            text::moment(session.updated, zone),
            text::title(session, TITLE_CHARS),
        ];
        if with_folder {
            row.push(text::line(&session.folder));
        }
        row.push(session.entries.to_string());
        row.push(session.cost.to_string());
        row
    };
    let rows: Vec<Vec<String>> = sessions.iter().zip(digits).map(row).collect();
    let (head, left): (&[&str], usize) = if with_folder {
        (&["ID", "UPDATED", "TITLE", "FOLDER", "ENTRIES", "COST"], 4)
    } else {
        (&["ID", "UPDATED", "TITLE", "ENTRIES", "COST"], 3)
    };
    Ok(text::table(head, &rows, left))
}
