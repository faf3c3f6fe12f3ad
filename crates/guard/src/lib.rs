//! The lock: what may be done, and the only door to child processes.
//!
//! Rules, shell analysis, taint and the OS sandbox arrive with the tools they judge. What other rooms
//! need of this room already is here:
//!
//! | item | does |
//! |---|---|
//! | [`Runner`] | runs a command to its end for its output, in its own process group, with a time limit |

mod runner;

pub use runner::Runner;
