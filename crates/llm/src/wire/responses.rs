//! `OpenAI` Responses: a flat list of items in, a stream of items out.
//!
//! `encode` writes a request, `project` the conversation in it; `decode` reads a stream or a whole
//! answer, `items` knows which item an event speaks of, `settle` takes items that are whole, `frame`
//! holds the shapes of what comes in. Answers are never stored with the provider, so
//! encrypted thoughts and item ids travel in sidecars and return to the model that made them.

mod decode;
mod encode;
mod frame;
mod items;
mod project;
mod settle;
#[cfg(test)]
mod tests;

pub(super) use decode::Decoder;
pub(super) use encode::encode;
