//! The hands: one file per tool, a registry, processes, the edit engine.
//!
//! Map of the room:
//!
//! | module | holds |
//! |---|---|
//! | [`tool`] | [`Tool`] as its author writes it, [`Output`], [`ToolError`] |
//! | [`workspace`] | what all tools of a session share, and [`ToolCtx`], what one call is given |
//! | [`target`] | a path in a tool's arguments: judged and used as one and the same |
//! | [`registry`] | the boxed twin [`AnyTool`], its schema and the list of tools |
//! | [`builtin`] | one file a tool |
//! | [`jobs`] | processes a session has started |
//! | [`code`] | what language servers know: errors an edit has brought, symbols, renaming |
//! | [`mcp`] | tools that MCP servers lend |
//! | `format` | formatters that run over what tools write |
//! | `search` | walking, matching and listing for `glob`, `grep` and `ls` |
//! | [`web`] | requests that cannot be led astray, pages as text |
//! | [`claude`] | calls as Claude Code's wrappers and hooks know them |
//! | [`bound`] | output bounded for the model, the rest in a spill file |
//! | `edit` | the edit engine: pure functions over a file's bytes |
//! | `patch` | codex's patches, read and placed |
//! | `draft`, `seen`, `diff` | a file about to change, what the session knows of it, what changed |
//! | `editor` | files as the user's editor has them, where we work in one |
//! | `changing`, [`past`] | the one way files are changed, which keeps what they were; bringing that back |
//! | `reading` | a file as a model reads it: lines, pictures, documents, notebooks |
//! | `text` | encodings, and what a file is that is not text |
//!
//! A tool says what it would do ([`Tool::actions`]); it never asks for permission itself. It reports
//! blocks, not events; every failure is a text the model can act on.

pub mod bound;
pub mod builtin;
mod changing;
pub mod claude;
pub mod code;
mod diff;
mod draft;
mod edit;
mod editor;
mod format;
pub mod jobs;
mod lenient;
pub mod mcp;
pub mod past;
mod patch;
mod reading;
pub mod registry;
mod search;
mod seen;
pub mod target;
mod text;
pub mod tool;
pub mod web;
pub mod workspace;

pub use code::Code;
pub use registry::{AnyTool, Registry};
pub use search::below::paths_below;
pub use target::Target;
pub use tool::{Effect, Output, Tool, ToolError};
pub use web::Web;
pub use workspace::{
    Desk, DeskError, Exported, Nothing, Order, Progress, Question, Report, Skills, Spawner, Terms,
    ToolCtx, Who, Workspace,
};
