//! The hands: one file per tool, a registry, processes, the edit engine.
//!
//! Nothing lives here yet. A tool will be one file in `builtin/` and one line in `builtin.rs`.
