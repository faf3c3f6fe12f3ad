//! The mind: from a prompt to a recorded answer, tools between.
//!
//! Map of the room, in the order a prompt walks through it:
//!
//! | module | does |
//! |---|---|
//! | [`coordinator`] | the door: [`base::Op`] in, events out, look-ups; opens lanes |
//! | [`lane`] | one session: one running turn, prompts that join it or wait, stop |
//! | [`session`] | what a turn works on: branch, prefix, hands, policy |
//! | [`turn`] | the walk of a turn: ask the model, run its calls, ask again |
//! | [`answer`], [`side`] | one model call, streamed into fold, journal and faces; one beside the conversation |
//! | [`dispatch`] | calls to results: judged, asked about, run, masked |
//! | [`room`], [`compaction`] | making room in the context: old results shortened, older parts summarised |
//! | [`approvals`], [`events`] | questions that wait for a person; what faces see |
//! | [`mind`] | what all sessions share, and what a session is run with |
//!
//! What a request begins with, and what is known of it:
//!
//! | module | does |
//! |---|---|
//! | [`prompt`] | the system prompt, in our own words |
//! | [`surroundings`] | folder, platform, date and repository, as the model is told |
//! | [`instructions`] | instruction files: found, imported, deduplicated, bounded |
//! | [`toolset`] | which tools a model is offered |
//! | [`tokens`] | how many tokens something is, about |
//! | [`budget`], [`loop_guard`] | when to stop: limits, and a model that goes round in circles |
//! | [`title`], [`naming`], [`init`] | a session's title, and asking for it; the prompt that writes an instruction file |
//! | [`commands`] | slash commands, one file each |

mod answer;
mod approvals;
pub mod budget;
pub mod commands;
pub mod compaction;
mod coordinator;
mod dispatch;
mod events;
pub mod init;
pub mod instructions;
mod lane;
pub mod loop_guard;
mod mind;
mod naming;
pub mod prompt;
mod room;
mod session;
mod side;
pub mod surroundings;
pub mod title;
pub mod tokens;
mod toolset;
mod turn;

pub use coordinator::Coordinator;
pub use mind::{Mind, Models, Options, Presence, Resolve, Tools};
pub use session::SessionError;
