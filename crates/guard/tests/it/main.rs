//! The lock from outside.
#![allow(clippy::unwrap_used, reason = "tests fail by it")]

#[cfg(unix)]
mod bash;
mod blame;
mod cage_den;
mod cage_escapes;
mod cage_guarantees;
mod cage_intruder;
mod cage_kernel;
mod cage_processes;
mod cage_work;
mod commands;
mod confined;
#[cfg(target_os = "linux")]
mod differential;
mod fence;
mod git;
mod grants;
mod net;
mod parsers;
mod place;
mod policy;
mod process;
mod room;
mod rooms;
mod rules;
mod typed;
mod web;
