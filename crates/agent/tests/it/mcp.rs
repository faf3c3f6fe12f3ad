//! MCP servers in the mind: real processes that a file scripts lend tools to a scripted model.

mod asking;
mod calling;
mod cost;
mod lender;
mod members;
mod rules;
mod saying;
mod start;
mod staying;
