//! Where guests come: the folders that are served, the mind behind each, and calls that wait for an answer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::TaskScope;
use base::protocol::Client;
use futures::StreamExt;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Open;
use super::book::Book;
use super::errand::Errand;

/// Most folders that are worked in by one server: each has settings, servers and a connection to the store.
const MOST_FOLDERS: usize = 32;
/// How long a turn waits for a guest to bring the answer to a question.
const PATIENCE: Duration = Duration::from_mins(15);
/// How long calls that are being stopped may take to tell what came of them.
pub(super) const FAREWELL: Duration = Duration::from_secs(3);

/// Where guests come.
pub(super) struct Desk {
    open: Open,
    roots: Vec<PathBuf>,
    rooms: tokio::sync::Mutex<HashMap<PathBuf, Arc<Room>>>,
    parked: Mutex<HashMap<String, Errand>>,
    pub(super) scope: TaskScope,
    /// Cancelled when every turn must end.
    pub(super) ending: CancellationToken,
    /// Cancelled when every connection must end.
    pub(super) hang_up: CancellationToken,
}

/// The mind that works in a folder.
pub(super) struct Room {
    /// The way to it.
    pub(super) client: Arc<dyn Client>,
    /// What it tells of sessions that guests wait for.
    pub(super) book: Arc<Book>,
}

impl Desk {
    /// No guest yet.
    pub(super) fn new(open: Open, roots: Vec<PathBuf>, scope: TaskScope) -> Self {
        Self {
            open,
            roots,
            rooms: tokio::sync::Mutex::default(),
            parked: Mutex::default(),
            scope,
            ending: CancellationToken::new(),
            hang_up: CancellationToken::new(),
        }
    }

    /// The real path of a folder a guest names, if it may be worked in; the text of a failure is for the guest.
    pub(super) fn folder(&self, named: Option<&str>) -> Result<PathBuf, String> {
        let Some(root) = self.roots.first() else { return Err("no folder is served".to_owned()) };
        let Some(named) = named else { return Ok(root.clone()) };
        let folder = root.join(named);
        let real = std::fs::canonicalize(&folder)
            .map_err(|error| format!("cannot work in {}: {error}", folder.display()))?;
        if !real.is_dir() {
            return Err(format!("{} is no folder", folder.display()));
        }
        if self.serves(&real) {
            return Ok(real);
        }
        let served = self.roots.iter().map(|root| root.display().to_string());
        Err(format!(
            "{} is not served here; folders that are, with all below them: {}",
            folder.display(),
            served.collect::<Vec<_>>().join(", ")
        ))
    }

    /// Whether a folder, by its real path, may be worked in and told of.
    pub(super) fn serves(&self, folder: &Path) -> bool {
        self.roots.iter().any(|root| folder.starts_with(root))
    }

    /// The mind that works in a folder; the text of a failure is for the guest.
    pub(super) async fn room(&self, folder: &Path) -> Result<Arc<Room>, String> {
        let mut rooms = self.rooms.lock().await;
        if let Some(room) = rooms.get(folder) {
            return Ok(room.clone());
        }
        if rooms.len() >= MOST_FOLDERS {
            return Err(format!(
                "this server works in {MOST_FOLDERS} folders already; use one of those, or start another server"
            ));
        }
        let client = (self.open)(folder).await?;
        let room = Arc::new(Room { client, book: Arc::default() });
        self.scope.spawn(listen(room.client.clone(), room.book.clone()));
        rooms.insert(folder.to_owned(), room.clone());
        Ok(room)
    }

    /// Keeps an errand whose guest must answer something first; gives the name it is fetched by.
    pub(super) fn park(self: &Arc<Self>, errand: Errand) -> String {
        let name = Uuid::new_v4().to_string();
        self.parked().insert(name.clone(), errand);
        let (desk, parked) = (self.clone(), name.clone());
        self.scope.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(PATIENCE) => {}
                () = desk.ending.cancelled() => {}
            }
            // Nobody came: dropping it stops its turn.
            drop(desk.fetch(&parked));
        });
        name
    }

    /// Takes an errand up again.
    pub(super) fn fetch(&self, name: &str) -> Option<Errand> {
        self.parked().remove(name)
    }

    fn parked(&self) -> MutexGuard<'_, HashMap<String, Errand>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Enters what the mind tells into the book, until the mind ends.
async fn listen(client: Arc<dyn Client>, book: Arc<Book>) {
    let mut seen = 0;
    loop {
        let began_at = seen;
        let mut events = client.subscribe(base::protocol::EventFilter::All, seen);
        while let Some(numbered) = events.next().await {
            seen = numbered.number;
            book.enter(&numbered);
        }
        if seen == began_at {
            return book.lose_all();
        }
    }
}
