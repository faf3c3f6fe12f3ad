//! Programs of the user's desktop that a face needs: clipboards, browsers, editors.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use base::Env;

/// Most that is taken of a program's output: a picture on the clipboard.
const OUTPUT_LIMIT: u64 = 16 * 1024 * 1024;
/// How long output is waited for once the program has ended: one it left behind may hold the pipe open.
const PATIENCE: Duration = Duration::from_millis(300);

/// Runs a program without the terminal, gives it input, and returns what it wrote once it has ended.
pub fn beside(program: &str, args: &[&str], input: &[u8], env: &Env) -> io::Result<Vec<u8>> {
    let mut command = command(program, args, env);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let (sender, output) = mpsc::sync_channel(1);
    if let Some(pipe) = child.stdout.take() {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if pipe.take(OUTPUT_LIMIT).read_to_end(&mut bytes).is_ok() {
                drop(sender.send(bytes));
            }
        });
    }
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read its input is no failure of ours.
        drop(pipe.write_all(input));
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("`{program}` failed ({status})")));
    }
    Ok(output.recv_timeout(PATIENCE).unwrap_or_default())
}

/// Runs a program that uses the terminal, to its end.
pub fn in_terminal(program: &str, args: &[&str], env: &Env) -> io::Result<()> {
    let status = command(program, args, env).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("`{program}` failed ({status})")))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the sanctioned door to processes")]
fn command(program: &str, args: &[&str], env: &Env) -> Command {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env.iter());
    command
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_given_input_and_its_output_is_taken() {
        let env = Env::of_process();
        assert_eq!(beside("cat", &[], b"on the clipboard", &env).unwrap(), b"on the clipboard");
        assert!(beside("false", &[], b"", &env).is_err());
        assert!(beside("no-such-program", &[], b"", &env).is_err());
    }

    #[test]
    fn one_that_leaves_another_behind_is_not_waited_for() {
        let env = Env::of_process();
        let began = std::time::Instant::now();
        beside("sh", &["-c", "sleep 30 & exit 0"], b"", &env).unwrap();
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
