//! The memory: one SQLite database a user, shared by every process of that user.
//!
//! | module | holds |
//! |---|---|
//! | [`store`] | [`Store`]: the doors to the writer thread and to the pool of readers |
//! | [`pending`] | [`Pending`]: a question to the store, `.await`ed or `.wait()`ed for |
//! | [`open`] | opening: place, lock, inspection, moving a damaged file aside |
//! | [`check`] | looking for damage: within a time budget, or all of it |
//! | [`presence`] | lock files: who has the database open, whose journals are alive |
//! | [`connection`], [`schema`] | pragmas; migrations, embedded from `migrations/` |
//! | [`writer`] | the one thread that writes, with group commit |
//! | [`sessions`], [`entries`], [`journal`] | sessions, their trees, the answers being streamed |
//! | [`queue`] | prompts that wait for the running turn |
//! | [`usage`] | the ledger of model calls and its exact sums |
//! | [`grants`], [`reads`] | what was allowed, what was seen of a file |
//! | [`states`] | what files were before tools changed them |
//! | [`prompts`], [`search`] | what the user has said, by place and by branch; words in all that was said |
//! | [`kept`] | what faces keep |
//! | [`project`] | which project a folder belongs to |
//! | [`error`] | [`StoreError`] |
//!
//! Two promises shape the room. *What is acknowledged stays*: a write is answered after its COMMIT, and
//! with `synchronous=FULL` a COMMIT has reached the disk, so neither `kill -9` nor a power cut takes a
//! prompt back. *What is broken is kept*: a file that cannot be read is moved aside, never overwritten.

mod batch;
mod check;
mod connection;
mod entries;
mod error;
mod grants;
mod journal;
mod kept;
mod open;
mod pending;
mod presence;
mod project;
mod prompts;
mod queue;
mod reads;
mod schema;
mod search;
mod sessions;
mod states;
mod store;
mod usage;
mod writer;

pub use batch::Batch;
pub use entries::ENTRY_LIMIT_BYTES;
pub use error::StoreError;
pub use grants::{Grant, GrantId, Reach};
pub use journal::{Draft, Recovered};
pub use open::Opened;
pub use pending::Pending;
pub use project::project_of;
pub use prompts::{Moments, Prompt, typed};
pub use queue::Queued;
pub use reads::ReadMark;
pub use search::{Found, Index};
pub use sessions::{ChildOf, NewSession, Place, Report, Session, SessionFilter};
pub use states::{Changing, ContentHash, FILE_LIMIT_BYTES, FileState, Kept, Moment, Need, Was};
pub use store::Store;
pub use usage::{By, CallKind, CallStatus, UsageKey, UsageQuery, UsageRow, UsageSum};
