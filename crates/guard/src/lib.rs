//! The lock: what may be done, and the only door to child processes.
//!
//! Map of the room, in the order a call walks through it:
//!
//! | module | does |
//! |---|---|
//! | [`action`] | what a call would do to the world, in the words the lock judges |
//! | [`fence`] | one place for all containment: a path becomes a [`Spot`], links followed, before anything is compared |
//! | [`room`] | a private folder for a session that is locked into it |
//! | [`rule`] | rules in Claude Code's grammar, and the names tools have elsewhere |
//! | [`protect`] | places that are never touched by the way: what runs later, what is secret |
//! | [`shell`] | a command line as a syntax tree: what each simple command, redirect and substitution does |
//! | [`policy`] | the one decision: [`Policy::decide`] |
//! | [`cage`] | the operating system's sandbox, made from the same rules |
//! | [`process`] | children: own session, optional cage, optional terminal |
//! | [`net`] | which addresses may be reached |
//! | [`redact`] | secrets out of what is shown, logged or sent |
//! | [`git`] | every git command we run for ourselves |
//! | [`start`] | how the user's own programs start for a project |
//! | [`Runner`] | a command run to its end for its output |

pub mod action;
pub mod cage;
#[cfg(test)]
mod counted;
pub mod fence;
pub mod git;
pub mod net;
pub mod policy;
pub mod process;
pub mod protect;
pub mod redact;
pub mod room;
pub mod rule;
mod runner;
pub mod shell;
pub mod start;

pub use action::{Action, JobText, Taint};
pub use cage::{Cage, Reach};
pub use fence::{Entry, EntryKind, Fence, FenceError, Spot};
pub use policy::{Decision, Policy, Reason, Verdict};
pub use redact::Redactor;
pub use room::Room;
pub use rule::{Rule, RuleError, Rules};
pub use runner::Runner;
