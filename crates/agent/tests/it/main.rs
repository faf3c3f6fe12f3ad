//! The mind from outside: a script for the model in, events, requests and records out.
#![allow(clippy::unwrap_used, reason = "tests fail by it")]

mod room;
mod turn;
