//! `caiman session changes` and `rewind`: what tools have changed, and going back.

use agent::past::{PastError, checkpoints, rewind};
use base::EntryId;
use base::protocol::{Change, Checkpoint, Rewound};
use guard::Fence;
use settings::printable;
use store::{Session, Store};
use tools::past::Past;

use super::text;
use crate::app::App;
use crate::database::explain;
use crate::failure::Failure;
use crate::{render, wiring};

/// Prints what tools have changed in a session, as it is now against as it was before.
pub(super) fn changes(
    app: &App,
    store: &Store,
    session: &Session,
    json: bool,
) -> Result<(), Failure> {
    let changes = past(app, store, session)?.changes().map_err(explain)?;
    if json {
        return render::json(&changes);
    }
    if changes.is_empty() {
        render::note("Tools have changed no file in this session.");
    }
    render::out(&changes.iter().map(shown).collect::<String>())
}

/// Goes back to before a prompt; without one, lists the prompts.
pub(super) fn run(
    app: &App,
    store: &Store,
    session: &Session,
    (to, what): (Option<&str>, Rewound),
) -> Result<(), Failure> {
    let past = past(app, store, session)?;
    let moments = store.moments(session.summary.id).wait().map_err(explain)?;
    let known = checkpoints(&moments, past.fence.folder());
    let Some(to) = to else {
        let lines = known
            .iter()
            .enumerate()
            .map(|(at, it)| format!("{:>3}  {}  {}\n", at + 1, it.entry, text::line(&it.label)));
        return render::out(&lines.collect::<String>());
    };
    let entry = meant(to, &known)?;
    let went = wiring::runtime()?.block_on(rewind(&past, entry, what));
    let went = went.map_err(|error| match error {
        PastError::Store(error) => explain(error),
        error @ (PastError::SubAgent(_) | PastError::AtWork) => Failure::user(error.to_string()),
    })?;
    render::out(&format!("{}\n", text::line(&went.text)))
}

/// The entry to go back to: the one before the nth prompt of the list, or one named by its id.
fn meant(to: &str, known: &[Checkpoint]) -> Result<EntryId, Failure> {
    let nth = to.parse::<usize>().ok().and_then(|nth| nth.checked_sub(1));
    if let Some(chosen) = nth.and_then(|nth| known.get(nth)) {
        return Ok(chosen.before.unwrap_or(chosen.entry));
    }
    to.parse().map_err(|_| {
        Failure::user(format!("`{}` is neither a number of the list nor an entry", text::line(to)))
            .hint("leave it out to see the list")
    })
}

fn past(app: &App, store: &Store, session: &Session) -> Result<Past, Failure> {
    let folder = &session.summary.folder;
    let fence = Fence::new(folder.as_ref(), &[], app.paths.home())
        .map_err(|error| Failure::user(format!("cannot look at {folder}: {error}")))?;
    let (store, clock) = (store.clone(), app.clock.clone());
    Ok(Past { store, fence, session: session.summary.id, clock })
}

fn shown(change: &Change) -> String {
    let Change { path, unified, added, removed } = change;
    let plain = |line: &str| format!("{}\n", printable(&line.replace('\t', "    ")));
    let lines = unified.lines().map(plain);
    format!("{}  +{added} −{removed}\n{}", text::line(path), lines.collect::<String>())
}
