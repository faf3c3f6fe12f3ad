//! Bytes to events, however they are split.
