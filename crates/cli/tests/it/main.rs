//! The binary from outside: arguments and environment in, output and exit code out.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests fail by one, and tell what they skip by the other"
)]

#[cfg(unix)]
mod acp;
#[cfg(unix)]
mod again;
mod agents;
#[cfg(unix)]
mod code;
mod crew;
mod doctor;
mod entrance;
#[cfg(unix)]
mod face;
mod home;
mod hooks;
#[cfg(unix)]
mod hostile;
mod kills;
mod lent;
mod limits;
mod log;
mod login;
mod mcp;
mod model;
mod models;
mod pipes;
mod policy;
mod run;
#[cfg(unix)]
mod screen;
mod serve;
mod server;
mod sessions;
mod settings;
mod slash;
#[cfg(unix)]
mod stop;
mod tour;
mod trouble;
