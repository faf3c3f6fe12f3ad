//! Development tasks: `cargo xtask house` checks the architecture, `cargo xtask docs` writes what is
//! generated.

mod docs;
mod house;
mod unread;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask house | docs [--check]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let outcome = match words.as_slice() {
        ["house"] => house::check(&root),
        ["docs"] => docs::write(&root),
        ["docs", "--check"] => Ok(docs::check(&root)),
        _ => Ok(vec![USAGE.to_owned()]),
    };
    let mut stderr = std::io::stderr().lock();
    match outcome {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in findings {
                drop(writeln!(stderr, "{finding}"));
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            drop(writeln!(stderr, "xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
