//! Gemini `generateContent`, at Google AI Studio and on Vertex.

mod chunk;
mod contents;
mod decode;
mod encode;
mod partial_args;
mod schema;

pub(super) use decode::Decoder;
pub(super) use encode::encode;

/// The sidecar's key for what proves that a part is the model's own.
const SIGNATURE: &str = "thoughtSignature";
/// The sidecar's key for the id a call had, where the provider gave it one.
const CALL_ID: &str = "id";
