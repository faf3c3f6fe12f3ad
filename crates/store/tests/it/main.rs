//! The store from outside: files, processes, kills, damage.

#![expect(clippy::unwrap_used, reason = "a step of a test that fails is a failed test")]

mod allowed_and_seen;
mod child;
mod damage;
mod drafts;
mod kills;
mod ledger;
mod migrations;
mod opening;
mod past;
mod processes;
mod searching;
mod sessions;
mod support;
mod trees;
