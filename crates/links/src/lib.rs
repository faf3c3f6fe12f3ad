//! Reaching out: child-process supervisor, JSON-RPC, language servers, the Model Context Protocol, editors.
//!
//! Map of the room:
//!
//! | module | holds |
//! |---|---|
//! | [`acp`] | editors that let us work in them |
//! | [`child`] | a program that serves us: own session, limits, a short log, dies with us |
//! | [`rpc`] | JSON-RPC 2.0 over any pair of byte streams, both ways |
//! | [`mcp`] | servers that lend us tools, prompts and resources |
//! | [`lsp`] | language servers: which fits a file, their lives, what they know |
//!
//! Nothing here starts before it is needed, and nobody who asks waits longer than they said.

pub mod acp;
mod breaks;
pub mod child;
pub mod lsp;
pub mod mcp;
pub mod rpc;

pub use lsp::Lsp;
pub use mcp::Mcp;
