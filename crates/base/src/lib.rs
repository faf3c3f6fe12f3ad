//! The language everybody speaks. No network, no disk writes, no terminal.
//!
//! Map of the room:
//!
//! | module | holds |
//! |---|---|
//! | [`id`] | newtype ids; time-ordered where order matters |
//! | [`transcript`] | the append-only tree of entries, ordered parts, origins, native sidecars |
//! | [`model`] | model references, usage, money, stop reasons, reasoning effort |
//! | [`protocol`] | [`Op`] in, [`Event`] out, [`Query`] to look things up, [`Client`] as the one door |
//! | [`block`] | what a tool shows a face: text, diff, table, image, todo list, tree |
//! | [`fuzzy`] | letters typed in order find a text; files, commands, models by the same rule |
//! | [`star`] | names with `*` in them |
//! | [`interface`] | settings of the terminal interface |
//! | [`task`] | [`TaskScope`], the only way work is started |
//! | [`env`], [`paths`], [`clock`] | the only readers of environment, home folder and clock |
//! | [`command`] | running a command, as a capability that `guard` provides |
//! | [`visible`] | hidden characters shown as such, for everything that a person reads |
//! | [`secret`] | values that must not reach logs, events, exports or a model |
//!
//! Everything here is plain data or pure code; the rooms above give it life.

pub mod block;
pub mod clock;
pub mod command;
pub mod env;
mod exchange;
pub mod fuzzy;
pub mod id;
pub mod interface;
pub mod model;
pub mod paths;
pub mod protocol;
pub mod secret;
pub mod star;
pub mod task;
pub mod transcript;
pub mod visible;

pub use block::Block;
pub use clock::{Clock, Timestamp};
pub use command::{CommandLine, RunCommand, RunError};
pub use env::Env;
pub use exchange::HttpExchange;
pub use id::{CallId, EntryId, HookRunId, RequestId, SessionId, TurnId};
pub use model::{Effort, FailureClass, ModelRef, Money, StopReason, Usage};
pub use paths::Paths;
pub use protocol::{Client, ClientError, Event, Op, Query, Reply};
pub use secret::Secret;
pub use task::TaskScope;
pub use transcript::{Entry, EntryKind, Native, Origin, Part, PartBody, Role, Turn};
