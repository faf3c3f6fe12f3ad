//! Test parts: a model that does as it is told, and judges that do not.
//!
//! Map of the room:
//!
//! | module | holds |
//! |---|---|
//! | [`script`] | what a scripted model does: text, thoughts, calls, errors, delays, broken bytes |
//! | [`server`] | the scripted model over real HTTP, on every wire; records and checks requests |
//! | [`validate`] | each wire's documented rules for a request |
//! | [`cassette`] | recorded provider traffic |
//! | [`replay`] | recorded answers over real HTTP, cut as a test likes |
//! | [`oracle`] | what a decoder must make of a recorded answer, read independently |
//! | [`arbitrary`] | transcripts of every shape, for property tests |
//! | [`terminal`] | a program in a pseudo-terminal: keys in, screen out |
//! | [`parts`] | real programs that are installed, or not |
//! | [`processes`] | whether a process runs, and until when |
//! | [`fuzz`] | deterministic mutations of a seed corpus |
//! | [`event_stream`] | AWS's binary frames |
//!
//! A development dependency only; it knows `base` and nothing above it.

pub mod arbitrary;
pub mod cassette;
pub mod event_stream;
pub mod fuzz;
mod http;
pub mod oracle;
pub mod parts;
pub mod processes;
pub mod replay;
pub mod script;
pub mod server;
mod speak;
pub mod terminal;
pub mod validate;

pub use script::{Action, Script};
pub use server::{Recorded, Server};
pub use validate::{Rules, Violation};
