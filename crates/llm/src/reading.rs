//! What the decoders of several wires share: numbering of parts, lenient fields, and the short cut
//! around the JSON parser.

pub(crate) mod lenient;
pub(crate) mod parts;
pub(crate) mod short_cut;
