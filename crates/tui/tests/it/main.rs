//! The face from outside: a real terminal device, an emulator behind it, and a mind that is a script.
#![allow(clippy::unwrap_used, reason = "tests fail by it")]
#![cfg(unix)]

mod long;
mod looping;
mod process;
mod stage;
mod toy;
