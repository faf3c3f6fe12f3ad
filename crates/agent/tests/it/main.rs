//! The mind from outside: a script for the model in, events, requests and records out.
#![allow(clippy::unwrap_used, reason = "tests fail by it")]

mod asking;
mod cancel;
mod commands;
mod compacting;
mod compaction;
mod first_request;
mod instructions;
mod lab;
mod lanes;
mod limits;
mod prefix;
mod room;
mod suite;
mod surroundings;
mod turn;
