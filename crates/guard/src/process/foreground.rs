//! Programs the user works with at the same terminal, such as an editor.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

use base::Env;

/// Runs a line of the user's own, such as `$EDITOR`, with one file as its last argument, and waits for it.
/// It has the terminal and everything the user may do: only the user's own words may come here.
#[expect(clippy::disallowed_methods, reason = "this is the sanctioned door to processes")]
pub fn foreground(line: &str, file: &Path, env: &Env) -> io::Result<ExitStatus> {
    let mut command = if cfg!(windows) {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    } else {
        // As git does: the line may have arguments and quotes.
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{line} \"$@\""), line]);
        command
    };
    command.arg(file).env_clear().envs(env.iter()).status()
}
