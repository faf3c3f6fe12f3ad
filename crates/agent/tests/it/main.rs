//! The mind from outside: a script for the model in, events, requests and records out.
#![allow(clippy::unwrap_used, reason = "tests fail by it")]

mod agent_words;
mod agents;
mod asking;
mod cancel;
mod code;
mod commands;
mod compacting;
mod compaction;
mod crew;
mod crew_ends;
mod definitions;
mod errands;
mod first_request;
mod hooks;
mod hooks_http;
mod hooks_sources;
mod injections;
mod instructions;
mod lab;
mod lanes;
mod limits;
mod lookup;
mod mcp;
mod memory;
mod own_commands;
mod past;
mod past_look;
mod prefix;
mod room;
mod site;
mod skills;
mod suite;
mod surroundings;
mod turn;
mod worktrees;
