//! Chat Completions.

mod decode;
mod encode;
mod short_cut;
mod text_calls;
