//! Test parts.
//!
//! Placeholder, replaced at once.
