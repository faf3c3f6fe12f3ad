//! The terminal as a device.
//!
//! | module | does |
//! |---|---|
//! | [`abilities`] | what it can do: guessed from the environment, corrected by its answers |
//! | [`tty`] | raw mode, alternate screen, mouse; given back whatever happens |
//! | [`reader`] | the thread that reads it |
//! | [`parse`] | its bytes, understood |
//! | [`clipboard`], [`notify`], [`picture`] | text, words and pictures as bytes for it, or by programs beside it |

pub mod abilities;
pub mod clipboard;
pub mod notify;
pub mod parse;
pub mod picture;
#[cfg(unix)]
pub mod reader;
#[cfg(unix)]
pub mod tty;

/// Programs beside the terminal. Only the caller may start processes, so it hands this in.
pub trait Outside: Send + Sync {
    /// Runs a program without the terminal, gives it input, and returns what it wrote once it has ended; one it
    /// leaves behind, as `xclip` does, is not waited for. An error says what went wrong.
    fn run(&self, program: &str, args: &[&str], input: &[u8]) -> Result<Vec<u8>, String>;

    /// Runs a program that uses the terminal, to its end.
    fn run_in_terminal(&self, program: &str, args: &[&str]) -> Result<(), String>;
}

/// A text as it may stand in a sequence for the terminal: one row, no character that would be obeyed, not
/// longer than `most` characters.
fn harmless(text: &str, most: usize) -> String {
    let row = text.replace(['\n', '\r', '\t'], " ");
    crate::text::clean(&row).chars().take(most).collect()
}
