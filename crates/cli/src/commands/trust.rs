//! `caiman trust`: lets a project run what its files say, as they are now.

use std::fs;
use std::path::{Path, PathBuf};

use base::protocol::Trust;
use base::protocol::TrustState;
use serde::Serialize;
use settings::trust::{Fingerprint, TrustError, TrustedFolder, TrustedFolders};
use settings::{Sources, TrustSource, Withheld};

use crate::app::App;
use crate::failure::{Failure, Kind};
use crate::{disk, render};

/// What trust means where no file asks for it.
const PLAIN: &str = "No settings or definitions here need trust. It lets language servers start that run code of \
the project, such as rust-analyzer its build scripts.\n";

/// Let a project run what its files say: hooks, servers, commands.
#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// The folder; the current one if left out. Folders above it in the same project are included.
    folder: Option<PathBuf>,
    /// Only show what trust would enable.
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    show: bool,
    /// Take trust back, from folders below it too.
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List the trusted folders.
    #[arg(long, conflicts_with = "folder")]
    list: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let file = app.paths.trust();
    let known = TrustedFolders::read(&file).map_err(|error| {
        failure(&error)
            .hint(format!("mend or remove {}; it only lists trusted folders", file.display()))
    })?;
    if args.list {
        return list(&known, args.json);
    }
    let folder = app.cwd.join(args.folder.as_deref().unwrap_or(Path::new(".")));
    let folder = fs::canonicalize(&folder).map_err(|error| {
        Failure::user(format!("cannot look into {}: {error}", folder.display()))
    })?;
    if args.revoke {
        return revoke(&file, known, &folder, args.json);
    }
    let mut review = Review::of(app, &known, &folder)?;
    if args.show {
        return review.print(args.json);
    }
    if review.folders.is_empty() {
        review.folders.extend(plain(&known, &folder));
    }
    give(app, &file, known, review, args.json)
}

/// Gives trust to a folder, or refuses it, as its files are now.
pub(crate) fn answer(app: &App, folder: &Path, trust: Trust) -> Result<(), Failure> {
    let file = app.paths.trust();
    let mut known = TrustedFolders::read(&file).map_err(|error| failure(&error))?;
    for ReviewedFolder { folder, fingerprint, .. } in Review::of(app, &known, folder)?.folders {
        let answered = TrustedFolder { hash: fingerprint.hash, since: app.clock.now() };
        match trust {
            Trust::Given => {
                known.refused.remove(&folder);
                known.folders.insert(folder, answered);
            }
            Trust::Refused => {
                known.folders.remove(&folder);
                known.refused.insert(folder, answered);
            }
        }
    }
    write(&file, &known)
}

/// How a folder's project stands, and the files that trust must still be asked for.
pub(crate) fn standing(app: &App, folder: &Path) -> Result<(TrustState, Vec<PathBuf>), Failure> {
    let known = TrustedFolders::read(&app.paths.trust()).map_err(|error| failure(&error))?;
    let mut overall = TrustState::Empty;
    let mut files = Vec::new();
    for folder in settings::project_folders(folder) {
        let found = Fingerprint::of(&folder).map_err(|error| failure(&error))?;
        let Some(fingerprint) = found else { continue };
        let state = state_of(&known, &folder, &fingerprint);
        overall = match (overall, state) {
            (TrustState::Empty, state) => state,
            (_, TrustState::Changed) | (TrustState::Changed, _) => TrustState::Changed,
            (_, TrustState::Unknown) | (TrustState::Unknown, _) => TrustState::Unknown,
            (TrustState::Trusted, TrustState::Trusted | TrustState::Empty) => TrustState::Trusted,
        };
        let is_refused =
            known.refused.get(&folder).is_some_and(|refused| refused.hash == fingerprint.hash);
        if state != TrustState::Trusted && !is_refused {
            files.extend(fingerprint.files.iter().map(|file| folder.join(file)));
        }
    }
    Ok((overall, files))
}

/// A project without any such file, at its root: trust lets its own code run.
fn plain(known: &TrustedFolders, folder: &Path) -> Option<ReviewedFolder> {
    let folder = settings::project_folders(folder).into_iter().next()?;
    let fingerprint = Fingerprint::nothing();
    Some(ReviewedFolder { state: state_of(known, &folder, &fingerprint), folder, fingerprint })
}

fn state_of(known: &TrustedFolders, folder: &Path, fingerprint: &Fingerprint) -> TrustState {
    match known.folders.get(folder) {
        None => TrustState::Unknown,
        Some(trusted) if trusted.hash == fingerprint.hash => TrustState::Trusted,
        Some(_) => TrustState::Changed,
    }
}

/// What trust in a folder means.
#[derive(Debug, Serialize)]
struct Review {
    /// The folders it covers, from the project's root down.
    folders: Vec<ReviewedFolder>,
    /// Settings it would let count.
    enables: Vec<Withheld>,
}

#[derive(Debug, Serialize)]
struct ReviewedFolder {
    folder: PathBuf,
    state: TrustState,
    #[serde(flatten)]
    fingerprint: Fingerprint,
}

impl Review {
    fn of(app: &App, known: &TrustedFolders, folder: &Path) -> Result<Self, Failure> {
        let mut folders = Vec::new();
        for folder in settings::project_folders(folder) {
            if let Some(fingerprint) = Fingerprint::of(&folder).map_err(|error| failure(&error))? {
                let state = state_of(known, &folder, &fingerprint);
                folders.push(ReviewedFolder { folder, state, fingerprint });
            }
        }
        let sources =
            Sources { cwd: folder.to_owned(), trust: TrustSource::Nobody, ..app.sources() };
        Ok(Self { folders, enables: settings::load(&sources).withheld })
    }

    fn print(&self, as_json: bool) -> Result<(), Failure> {
        if as_json { render::json(self) } else { render::out(&self.text()) }
    }

    fn text(&self) -> String {
        if self.folders.iter().all(|folder| folder.fingerprint.files.is_empty()) {
            return PLAIN.to_owned();
        }
        let mut rows = Vec::new();
        for ReviewedFolder { folder, state, fingerprint } in &self.folders {
            rows.push(format!("{} ({})", folder.display(), state_text(*state)));
            rows.extend(fingerprint.files.iter().map(|file| format!("  {}", file.display())));
        }
        rows.push(if self.enables.is_empty() {
            "No setting in them needs trust; what the other files define may run.".to_owned()
        } else {
            "Settings that count only with trust:".to_owned()
        });
        rows.extend(self.enables.iter().map(|Withheld { path, value, file, line }| {
            format!("  {path} = {value}  # {}:{line}", file.display())
        }));
        render::lines(rows)
    }
}

fn give(
    app: &App,
    file: &Path,
    mut known: TrustedFolders,
    mut review: Review,
    as_json: bool,
) -> Result<(), Failure> {
    if !as_json {
        review.print(as_json)?;
    }
    for ReviewedFolder { folder, fingerprint, .. } in &review.folders {
        // What was shown must be what is trusted.
        let now = Fingerprint::of(folder).map_err(|error| failure(&error))?;
        if now.unwrap_or_else(Fingerprint::nothing) != *fingerprint {
            return Err(Failure::user(format!("{} has just changed", folder.display()))
                .hint("look at it again: caiman trust --show"));
        }
        let trusted = TrustedFolder { hash: fingerprint.hash.clone(), since: app.clock.now() };
        known.refused.remove(folder);
        known.folders.insert(folder.clone(), trusted);
    }
    write(file, &known)?;
    if as_json {
        review.folders.iter_mut().for_each(|it| it.state = TrustState::Trusted);
        return render::json(&review);
    }
    render::out("Trusted, until one of these files changes.\n")
}

fn revoke(
    file: &Path,
    mut known: TrustedFolders,
    folder: &Path,
    as_json: bool,
) -> Result<(), Failure> {
    let above = settings::project_folders(folder);
    let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut known.folders)
        .into_iter()
        .partition(|(trusted, _)| trusted.starts_with(folder) || above.contains(trusted));
    known.folders = kept.into_iter().collect();
    let gone: Vec<PathBuf> = gone.into_iter().map(|(folder, _)| folder).collect();
    if !gone.is_empty() {
        write(file, &known)?;
    }
    if as_json {
        return render::json(&serde_json::json!({ "revoked": gone }));
    }
    let text =
        render::lines(gone.iter().map(|folder| format!("no longer trusted: {}", folder.display())));
    render::out(if text.is_empty() { "It was not trusted.\n" } else { &text })
}

fn list(known: &TrustedFolders, as_json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (folder, trusted) in &known.folders {
        // A folder that has gone or cannot be read is not trusted as it is.
        let state = known.state(folder).unwrap_or(TrustState::Changed);
        rows.push((folder, trusted, state));
    }
    if as_json {
        let rows = rows.iter().map(|(folder, trusted, state)| {
            serde_json::json!({"folder": folder, "state": state, "hash": trusted.hash, "since": trusted.since})
        });
        return render::json(&rows.collect::<Vec<_>>());
    }
    let text = render::lines(
        rows.iter()
            .map(|(folder, _, state)| format!("{}  ({})", folder.display(), state_text(*state))),
    );
    render::out(if text.is_empty() { "No folder is trusted.\n" } else { &text })
}

fn state_text(state: TrustState) -> &'static str {
    match state {
        TrustState::Empty => "nothing to trust",
        TrustState::Unknown => "not trusted",
        TrustState::Changed => "changed since it was trusted",
        TrustState::Trusted => "trusted",
    }
}

fn write(file: &Path, known: &TrustedFolders) -> Result<(), Failure> {
    let json = serde_json::to_vec_pretty(known)
        .map_err(|error| Failure::new(Kind::Internal, format!("cannot write JSON: {error}")))?;
    disk::replace(file, &json)
        .map_err(|error| Failure::config(format!("cannot write {}: {error}", file.display())))
}

fn failure(error: &TrustError) -> Failure {
    Failure::config(error.to_string())
}

#[cfg(test)]
mod tests;
