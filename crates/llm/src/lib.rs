//! The voice: one request, one stream of deltas, one error, whatever model answers.
//!
//! Map of the room, in the order a call walks through it:
//!
//! | module | does |
//! |---|---|
//! | [`catalog`] | knows providers and models; turns `provider/model` and settings into a [`Target`] |
//! | [`credentials`] | finds the key: settings, environment, keyring, file |
//! | [`request`] | what a caller asks: system prompt, turns, tools, limits |
//! | `thinking` | how hard the model shall think |
//! | `projection` | any transcript to a strict conversation, which wires translate |
//! | `wire/*` | one file a format: encodes a request, decodes events to deltas |
//! | `transport/*` | where requests go and how they are signed: direct, Azure, Bedrock, Vertex |
//! | [`framing`], [`sse`], [`eventstream`] | bytes to events |
//! | `reading` | what the decoders of several wires share |
//! | [`error`] | what went wrong, classed for retry and failover |
//! | [`discover`] | asks a server for its models |
//! | [`price`] | what a call cost |
//! | [`call`], [`http`], [`retry`] | one call: send, time out, try again, stream |
//! | [`fold`] | deltas to the parts of a message |
//! | [`repair`] | almost-JSON arguments to JSON |
//! | [`text_calls`] | tool calls written as text, for models that have no others |
//! | [`demo`] | the scripted model inside the binary |
//!
//! A wire's file never asks which provider it talks to: it reads [`settings::provider::Quirks`].

pub mod call;
pub mod catalog;
pub mod credentials;
pub mod delta;
pub mod demo;
pub mod discover;
pub mod error;
pub mod eventstream;
pub mod fold;
pub mod framing;
pub mod http;
pub mod price;
mod projection;
mod reading;
pub mod repair;
pub mod request;
pub mod retry;
pub mod sse;
pub mod target;
pub mod text_calls;
mod thinking;
pub mod transport;
pub mod wire;

pub use call::{Caller, Reply, Retrying};
pub use delta::{Delta, Opening};
pub use error::{Class, Error};
pub use fold::{Answer, Fold};
pub use http::Http;
pub use request::{Reasoning, Request, ToolChoice, ToolSpec};
pub use retry::Retry;
pub use target::{Auth, Target, Transport};
pub use transport::Signer;
