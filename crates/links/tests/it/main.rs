//! The links from outside: real servers over real pipes and sockets.
#![allow(clippy::unwrap_used, reason = "tests fail by it")]

mod mcp_everything;
mod mcp_http;
mod mcp_life;
mod mcp_others;
mod mcp_room;
mod mcp_tasks;
mod mcp_trouble;
