//! `OpenAI` Chat Completions, and everything that speaks it with an accent.

mod calls;
mod chunk;
mod content;
mod decode;
mod encode;
mod finish;
mod messages;
mod reasoning;
mod replay;
mod thoughts;
mod usage;

pub(super) use decode::Decoder;
pub(super) use encode::encode;
