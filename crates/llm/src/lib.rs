//! The voice: one request, one stream of deltas, one error, whatever model answers.
//!
//! Map of the room, in the order a call walks through it:
//!
//! | module | does |
//! |---|---|
//! | [`catalog`] | knows providers and models; turns `provider/model` and settings into a [`Target`] |
//! | [`credentials`] | finds the key: settings, environment, keyring, file |
//! | [`request`] | what a caller asks: system prompt, turns, tools, limits |
//! | `wire/*` | one file a format: encodes a request, decodes events to deltas |
//! | `transport/*` | where requests go and how they are signed: direct, Azure, Bedrock, Vertex |
//! | [`sse`], `eventstream` | bytes to events |
//! | [`error`] | what went wrong, classed for retry and failover |
//! | [`call`] | one call: send, time out, try again, stream |
//! | [`fold`] | deltas to the parts of a message |
//! | [`repair`] | almost-JSON arguments to JSON |
//! | [`text_calls`] | tool calls written as text, for models that have no others |
//! | [`demo`] | the scripted model inside the binary |
//!
//! A wire's file never asks which provider it talks to: it reads [`base::config::provider::Quirks`].

pub mod delta;
pub mod error;
pub mod fold;
pub mod repair;
pub mod request;
pub mod sse;
pub mod target;
pub mod wire;

pub use delta::{Delta, Opening};
pub use error::{Class, Error};
pub use fold::{Answer, Fold};
pub use request::{Reasoning, Request, ToolChoice, ToolSpec};
pub use target::{Auth, Target, Transport};
