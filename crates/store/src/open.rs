//! Opening the database: its place, the lock, the inspection, and moving a damaged file aside.
//!
//! The database file itself is never opened with `std::fs` once it exists: closing such a handle would
//! drop the POSIX locks of every SQLite connection this process has on it.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Clock;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

use crate::check::{self, Depth, Finding};
use crate::connection;
use crate::error::StoreError;
use crate::presence::{self, Presence, beside, private_file};
use crate::schema;
use crate::store::{MEMORY, Store};

/// SQLite before 3.51.3 can damage a WAL database when a checkpoint meets a reset.
const OLDEST_SAFE_SQLITE: i32 = 3_051_003;

/// An open store, and what became of a damaged file that stood in its place.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// Where the damaged database was moved; the caller tells the user.
    pub moved_aside: Option<PathBuf>,
}

impl Store {
    /// Opens the database at `path`, making it and its folder where they are missing.
    ///
    /// A damaged file is moved aside with its `-wal` and `-shm`, and an empty database begins in its
    /// place. A file of another program, or of a newer caiman, is refused and left as it is.
    pub fn open(path: &Path) -> Result<Opened, StoreError> {
        if rusqlite::version_number() < OLDEST_SAFE_SQLITE {
            return Err(StoreError::OldSqlite { found: rusqlite::version() });
        }
        prepare_place(path)?;
        let mut presence = Presence::take(path)?;
        let (mut writer, moved_aside) = match inspect(path, &presence) {
            Err(StoreError::Corrupt { .. }) if presence.is_alone() => {
                let moved = move_aside(path)?;
                prepare_place(path)?;
                (inspect(path, &presence)?, Some(moved))
            }
            opened => (opened?, None),
        };
        if presence.is_alone() {
            presence::sweep(path);
        }
        schema::migrate(&mut writer, path)?;
        connection::prepare_writer(&writer).map_err(|error| StoreError::from_sql(error, path))?;
        presence.share().map_err(|source| StoreError::place(path, source))?;
        let store = Store::start(writer, path, presence)?;
        Ok(Opened { store, moved_aside })
    }
}

/// Leaves a note that makes the next opening look at every page.
pub(crate) fn mark_suspect(path: &Path) {
    // What is in memory has no next opening, and its name is none of a file.
    if path == Path::new(MEMORY) {
        return;
    }
    // Without the note the next opening looks less hard; the error itself is told either way.
    drop(private_file().create(true).truncate(false).open(beside(path, "-suspect")));
}

/// Makes folder and file, for their owner only.
fn prepare_place(path: &Path) -> Result<(), StoreError> {
    let failed = |place: &Path| {
        let place = place.to_owned();
        move |source| StoreError::place(&place, source)
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(failed(folder))?;
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(StoreError::Folder { path: path.to_owned() }),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match private_file().create_new(true).open(path) {
                // Another process was quicker.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                made => made.map(drop).map_err(failed(path)),
            }
        }
        Err(error) => Err(failed(path)(error)),
    }
}

/// Opens the file and decides whether it is ours and sound, without changing it.
fn inspect(path: &Path, presence: &Presence) -> Result<Connection, StoreError> {
    let sql = |error| StoreError::from_sql(error, path);
    check_size(path)?;
    let depth = depth(path, presence);
    let connection = connection::open_writer(path).map_err(sql)?;
    // A file found damaged is moved as it is: closing it must not fold its WAL into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(sql)?;
    if connection.is_readonly("main").map_err(sql)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    recognise(&connection, path)?;
    // Not before it has read the header does SQLite know that the header forbids writing.
    if connection.is_readonly("main").map_err(sql)? {
        return Err(corrupt(path, "its header forbids writing".to_owned()));
    }
    match check::look(&connection, depth).map_err(sql)? {
        Finding::Sound => {}
        Finding::Damage(detail) => return Err(corrupt(path, detail)),
    }
    if depth == Depth::Whole {
        drop(fs::remove_file(beside(path, "-suspect")));
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(sql)?;
    Ok(connection)
}

/// Refuses a database of another program or of the future.
fn recognise(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let sql = |error| StoreError::from_sql(error, path);
    // Reading the schema also makes SQLite parse it: a broken one ends here.
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
    let tables: i64 = connection.query_row(tables, [], |row| row.get(0)).map_err(|error| {
        match error.sqlite_error_code() {
            // An impossible file format is a plain error to SQLite; this statement has no other.
            Some(ErrorCode::Unknown) => corrupt(path, error.to_string()),
            Some(_) | None => sql(error),
        }
    })?;
    let id: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(sql)?;
    if id != schema::APPLICATION_ID && (id != 0 || tables > 0) {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    let (found, known) = (schema::version(connection).map_err(sql)?, schema::newest());
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    if found < 0 || (found > 0 && tables == 0) {
        return Err(corrupt(path, format!("schema version {found} with {tables} tables")));
    }
    Ok(())
}

/// A database is whole pages of at least 512 bytes. SQLite forgives a rest, and takes a few bytes for no
/// file at all and writes over them. A checkpoint that ran out of disk may leave half a page, but then
/// the WAL still has the whole one.
fn check_size(path: &Path) -> Result<(), StoreError> {
    let found = size(path);
    let broken_off = !found.is_multiple_of(512) && size(&beside(path, "-wal")) == 0;
    if broken_off || (1..512).contains(&found) {
        return Err(corrupt(path, format!("{found} bytes are not whole pages")));
    }
    Ok(())
}

fn corrupt(path: &Path, detail: String) -> StoreError {
    StoreError::Corrupt { path: path.to_owned(), detail }
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

fn depth(path: &Path, presence: &Presence) -> Depth {
    if beside(path, "-suspect").exists() {
        return Depth::Whole;
    }
    // The last process to close cleanly empties and removes the WAL. Nobody here, yet a WAL: it did not.
    let unclean = presence.is_alone() && size(&beside(path, "-wal")) > 0;
    if unclean || size(path) <= check::SMALL_BYTES { Depth::Budgeted } else { Depth::Surface }
}

/// Renames the file and its companions to `<name>.corrupt-<time>`; nothing is overwritten.
fn move_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let stuck = |source| StoreError::Stuck { path: path.to_owned(), source: Arc::new(source) };
    let target = free_name(path);
    // The database goes last: if a companion cannot move, the whole stays where it was found.
    for suffix in ["-wal", "-shm", "-journal", ""] {
        let from = beside(path, suffix);
        match fs::rename(&from, beside(&target, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(stuck(error)),
            Ok(()) | Err(_) => {}
        }
    }
    drop(fs::remove_file(beside(path, "-suspect")));
    Ok(target)
}

fn free_name(path: &Path) -> PathBuf {
    let now = Clock::system().now().as_millis();
    let time = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let base = beside(path, &format!(".corrupt-{}", time.strftime("%Y%m%dT%H%M%SZ")));
    let numbered = (2..).map(|number| beside(&base, &format!("-{number}")));
    let taken = |name: &PathBuf| fs::symlink_metadata(name).is_ok();
    std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base)
}
