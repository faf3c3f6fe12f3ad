//! The voice, from the outside: recorded traffic in, deltas out; transcripts in, requests out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on should say so loudly"
)]

mod anthropic;
mod calls;
mod catalog;
mod chat;
mod converse;
mod credentials;
mod discover;
mod errors;
mod gemini;
mod import;
mod loopback;
mod pairs;
mod parsers;
mod real_model;
mod recordings;
mod replay;
mod responses;
mod short_cut;
mod smoke;
mod speaking;
mod sse;
mod targets;
mod transcripts;
mod transport;
