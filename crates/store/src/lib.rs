//! The memory: SQLite.
//!
//! Placeholder, replaced at once.
