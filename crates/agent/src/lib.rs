//! The mind: from a prompt to a recorded answer, tools between.
//!
//! Map of the room, in the order a prompt walks through it:
//!
//! | module | does |
//! |---|---|
//! | [`coordinator`] | the door: [`base::Op`] in, events out, look-ups; opens lanes |
//! | [`lane`], [`queue`] | one session: one running turn, prompts that join it or wait, stop |
//! | [`lookup`] | what faces look up: state, offers, files, models, the context's bill |
//! | [`session`], [`live`] | what a turn works on: branch, prefix, hands; what may change meanwhile |
//! | [`turn`] | the walk of a turn: ask the model, run its calls, ask again |
//! | [`answer`], [`side`] | one model call, streamed into fold, journal and faces; one beside the conversation |
//! | [`dispatch`] | calls to results: judged, asked about, run, masked |
//! | [`shell`] | commands of the user's own |
//! | [`crew`] | sub-agents: who they are, what they may do, what comes of them |
//! | [`hooks`], [`hooked`] | the user's own programs, told and asked; what they do to a session |
//! | [`room`], [`compaction`] | making room in the context: old results shortened, older parts summarised |
//! | [`past`] | going back: files, conversation or both; what was changed, what was said before |
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
//! | [`budget`], [`purse`], [`loop_guard`] | when to stop: limits, what counts against them, a model that goes round in circles |
//! | [`title`], [`naming`], [`init`] | a session's title, and asking for it; the prompt that writes an instruction file |
//! | [`commands`] | slash commands, one file each |
//! | [`mcp`] | MCP servers: what they lend a session, what they may ask of it |
//! | [`skills`], [`expand`] | skills and custom commands: listed, called; their texts with arguments put in |

mod answer;
mod approvals;
pub mod budget;
pub mod commands;
pub mod compaction;
mod connect;
mod coordinator;
mod crew;
mod dispatch;
mod events;
pub mod expand;
mod hooked;
pub mod hooks;
pub mod init;
pub mod instructions;
mod lane;
mod live;
pub mod lookup;
pub mod loop_guard;
mod mcp;
mod mind;
mod naming;
pub mod past;
pub mod prompt;
mod purse;
mod queue;
mod room;
mod session;
mod shell;
mod side;
pub mod skills;
pub mod surroundings;
pub mod title;
pub mod tokens;
mod toolset;
mod turn;

pub use connect::Connection;
pub use coordinator::Coordinator;
pub use crew::{Around, built_in as built_in_agents, review as review_agent};
pub use mind::{Meant, Mind, Models, Options, Presence, Resolve, Tools};
pub use session::SessionError;
