//! The mind.
//!
//! Placeholder, replaced at once.
