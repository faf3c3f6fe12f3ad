//! `caiman session`: list, show, last, rename, delete, export, changes, rewind.

mod export;
pub(crate) mod find;
mod list;
mod past;
mod show;
pub(crate) mod text;

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use base::protocol::Rewound;
use base::{Entry, SessionId};
use clap::{Subcommand, ValueEnum};
use guard::Redactor;
use jiff::tz::TimeZone;
use store::{Session, Store};

use crate::app::App;
use crate::database::{self, explain};
use crate::failure::{Failure, Kind};
use crate::render;

/// `caiman session`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with sessions. An ID may be shortened to its first digits; `last` is the newest session of
/// this project.
#[derive(Debug, Subcommand)]
enum Action {
    /// List the sessions of this project, newest first.
    #[command(visible_alias = "ls")]
    List(list::Args),
    /// Print a session's transcript.
    Show {
        /// The session; the newest of this project if left out.
        id: Option<String>,
        /// Print the session and its entries as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the transcript of the newest session of this project.
    Last {
        /// Print the session and its entries as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Give a session another title.
    Rename {
        /// The session.
        id: String,
        /// The new title.
        #[arg(required = true, num_args = 1..)]
        title: Vec<String>,
        /// Print the renamed session as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete sessions for good. What they cost stays in `caiman stats`.
    #[command(visible_alias = "rm")]
    Delete {
        /// The sessions.
        #[arg(required = true, num_args = 1.., value_name = "ID")]
        ids: Vec<String>,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
        /// Print the deleted sessions as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print what tools have changed in a session, as a diff.
    Changes {
        /// The session; the newest of this project if left out.
        id: Option<String>,
        /// Print the changes as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Go back to before a prompt: conversation and files. Without a prompt, list them.
    ///
    /// What shell commands changed is not brought back. Not while a turn of the session runs.
    Rewind {
        /// The session.
        id: String,
        /// The number of a prompt in the list, or the id of an entry.
        entry: Option<String>,
        /// Only the files.
        #[arg(long, conflicts_with = "talk")]
        files: bool,
        /// Only the conversation.
        #[arg(long)]
        talk: bool,
    },
    /// Write a session as JSON lines or Markdown.
    Export {
        /// The session.
        id: String,
        /// The form.
        #[arg(long, value_enum, default_value_t = Format::Jsonl)]
        format: Format,
        /// The file to write; standard output if left out.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A header line, then one entry a line, all branches.
    Jsonl,
    /// The current branch, to be read.
    #[value(alias = "markdown")]
    Md,
}

/// Runs `caiman session`.
pub(crate) fn run(app: &App, args: Args) -> Result<(), Failure> {
    let store = database::open_existing(app)?;
    let zone = TimeZone::system();
    let need = || store.as_ref().ok_or_else(database::no_sessions);
    let find = |id: &str| find::session(need()?, id, &app.cwd);
    match args.action {
        Action::List(args) => list::run(app, store.as_ref(), &args, &zone),
        Action::Show { id, json } => {
            show(need()?, &find(id.as_deref().unwrap_or(find::LAST))?, json, &zone)
        }
        Action::Last { json } => show(need()?, &find(find::LAST)?, json, &zone),
        Action::Rename { id, title, json } => rename(need()?, &find(&id)?, &title.join(" "), json),
        Action::Delete { ids, yes, json } => {
            let sessions = ids.iter().map(|id| find(id)).collect::<Result<Vec<_>, _>>()?;
            delete(need()?, sessions, yes, json)
        }
        Action::Changes { id, json } => {
            past::changes(app, need()?, &find(id.as_deref().unwrap_or(find::LAST))?, json)
        }
        Action::Rewind { id, entry, files, talk } => {
            let what = match (files, talk) {
                (true, _) => Rewound::Files,
                (false, true) => Rewound::Talk,
                (false, false) => Rewound::Both,
            };
            past::run(app, need()?, &find(&id)?, (entry.as_deref(), what))
        }
        Action::Export { id, format, output } => {
            let redactor = Redactor::new(&app.env, []);
            let redact = |text: String| redactor.text(&text).into_owned();
            let text = export(need()?, &find(&id)?, format, &zone, &redact)?;
            match output.filter(|path| path != Path::new("-")) {
                Some(path) => export::write(&path, &text),
                None => render::out(&text),
            }
        }
    }
}

fn show(store: &Store, session: &Session, json: bool, zone: &TimeZone) -> Result<(), Failure> {
    let branch = store.branch(session.summary.id).wait().map_err(explain)?;
    if json {
        let branch: Vec<Entry> = branch.into_iter().map(Entry::bare).collect();
        return render::json(&show::Shown { session: &session.summary, entries: &branch });
    }
    render::out(&show::transcript(&session.summary, &branch, zone))
}

fn rename(store: &Store, session: &Session, title: &str, json: bool) -> Result<(), Failure> {
    let title = title.trim();
    if title.is_empty() {
        return Err(Failure::user("the new title is empty"));
    }
    let id = session.summary.id;
    store.rename(id, title.to_owned()).wait().map_err(explain)?;
    if json {
        return render::json(&store.session(id).wait().map_err(explain)?.summary);
    }
    render::out(&format!("{id} is now \"{}\"\n", text::line(title)))
}

fn delete(store: &Store, mut sessions: Vec<Session>, yes: bool, json: bool) -> Result<(), Failure> {
    sessions.sort_by_key(|session| session.summary.id);
    sessions.dedup_by_key(|session| session.summary.id);
    if !yes {
        confirm(&sessions)?;
    }
    for session in &sessions {
        store.delete(session.summary.id).wait().map_err(explain)?;
    }
    if json {
        let deleted: Vec<SessionId> = sessions.iter().map(|session| session.summary.id).collect();
        return render::json(&serde_json::json!({ "deleted": deleted }));
    }
    let lines =
        sessions.iter().map(|session| format!("deleted {}\n", text::named(&session.summary)));
    render::out(&lines.collect::<String>())
}

/// Asks at the terminal; where there is none, somebody must have said `--yes`.
fn confirm(sessions: &[Session]) -> Result<(), Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::user("deleting sessions needs a yes, and nobody can be asked here")
            .hint("add --yes"));
    }
    for session in sessions {
        render::note(&text::named(&session.summary));
    }
    render::note("Delete for good? [y/N]");
    let mut answer = String::new();
    let read = stdin.lock().read_line(&mut answer);
    match answer.trim() {
        "y" | "Y" | "yes" if read.is_ok() => Ok(()),
        _ => Err(Failure::new(Kind::Cancelled, "nothing was deleted")),
    }
}

fn export(
    store: &Store,
    session: &Session,
    format: Format,
    zone: &TimeZone,
    redact: export::Redact<'_>,
) -> Result<String, Failure> {
    let id = session.summary.id;
    match format {
        Format::Jsonl => {
            let tree = store.tree(id).wait().map_err(explain)?;
            export::jsonl(session, tree.entries(), redact)
        }
        Format::Md => {
            let branch = store.branch(id).wait().map_err(explain)?;
            Ok(export::markdown(&session.summary, &branch, zone, redact))
        }
    }
}

#[cfg(test)]
mod tests;
