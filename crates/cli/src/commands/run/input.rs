//! What is said: the words of the command line, then standard input.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::flags::{Args, InputFormat};
use crate::failure::Failure;
use crate::render;

/// Most that is taken from standard input: far beyond any model's window.
const LIMIT: u64 = 16 * 1024 * 1024;
/// How long we wait silently for standard input to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum First {
    /// A prompt.
    Say(String),
    /// A turn that broke off.
    GoOn,
    /// Whatever the program at the other end of the pipes says.
    Listen,
}

/// What the run begins with.
pub(crate) fn first(args: &Args) -> Result<First, Failure> {
    if args.pipes.input_format == InputFormat::StreamJson {
        return Ok(First::Listen);
    }
    let piped = if io::stdin().is_terminal() { String::new() } else { piped()? };
    let prompt = joined(&args.prompt.join(" "), &piped);
    if !prompt.is_empty() {
        return Ok(First::Say(prompt));
    }
    if args.goes_on() {
        return Ok(First::GoOn);
    }
    Err(Failure::user("there is nothing to say")
        .hint("caiman run \"your prompt\", or pipe it: echo \"your prompt\" | caiman run"))
}

fn joined(spoken: &str, piped: &str) -> String {
    match (spoken.trim(), piped.trim_end()) {
        (spoken, "") => spoken.to_owned(),
        ("", piped) => piped.to_owned(),
        (spoken, piped) => format!("{spoken}\n\n{piped}"),
    }
}

/// Reads standard input to its end, and says so if that takes long: a forgotten open pipe looks like
/// a hang otherwise.
fn piped() -> Result<String, Failure> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(LIMIT + 1).read_to_end(&mut bytes);
        drop(sender.send(read.map(|_| bytes)));
    });
    let in_time = receiver.recv_timeout(PATIENCE).ok();
    let taken = in_time.or_else(|| {
        render::note("waiting for standard input to end (to have none: caiman run … < /dev/null)");
        receiver.recv().ok()
    });
    let bytes = taken
        .unwrap_or_else(|| Ok(Vec::new()))
        .map_err(|error| Failure::user(format!("cannot read standard input: {error}")))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LIMIT {
        return Err(Failure::user(format!("standard input is longer than {LIMIT} bytes"))
            .hint("send the part that matters, for example with tail -c 1M"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_is_appended_to_the_prompt() {
        assert_eq!(joined("explain", "error: x\n"), "explain\n\nerror: x");
        assert_eq!(joined("", "only piped\n"), "only piped");
        assert_eq!(joined(" only words ", ""), "only words");
        assert_eq!(joined("", " \n"), "");
    }
}
