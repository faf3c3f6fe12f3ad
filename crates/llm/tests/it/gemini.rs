//! Gemini `generateContent`.

mod decode;
mod encode;
mod short_cut;
