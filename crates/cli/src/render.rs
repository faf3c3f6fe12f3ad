//! The only writer to the terminal.

use std::io::{self, Write};
use std::process::ExitCode;

use base::visible::{visible, visible_json, visible_line};
use clap::error::ErrorKind;
use serde::Serialize;
use settings::printable;

use crate::failure::{Failure, Kind};

/// Most characters of a line of progress.
const PROGRESS_CHARS: usize = 200;

/// Prints text to standard output, hidden characters by their numbers. A reader that has gone (`| head`) ends us quietly.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(visible(text).as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Kind::Internal, format!("cannot write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a value as indented JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(Kind::Internal, format!("cannot write JSON: {error}")))?;
    out(&(visible_json(&text).into_owned() + "\n"))
}

/// Prints a line to standard error: warnings and progress. A terminal would break it inside words, so
/// we break it between them; a file gets it whole.
pub(crate) fn note(line: &str) {
    let text = match terminal_columns() {
        Some(columns) => folded(line, columns),
        None => line.to_owned(),
    };
    drop(writeln!(io::stderr().lock(), "{}", visible(&text)));
}

/// Prints a line of progress to standard error: one row, whatever the terminal's width.
pub(crate) fn progress(line: &str) {
    let line = &*visible_line(line);
    let columns = terminal_columns().unwrap_or(PROGRESS_CHARS).min(PROGRESS_CHARS);
    let text = if line.chars().count() < columns {
        line.to_owned()
    } else {
        line.chars().take(columns.saturating_sub(2)).chain(['…']).collect()
    };
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// How wide the terminal behind standard error is; none if there is none.
#[cfg(unix)]
fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// How wide the terminal behind standard error is; not known here.
#[cfg(not(unix))]
fn terminal_columns() -> Option<usize> {
    None
}

/// The line in rows of at most `columns`, all but the first indented. A longer word stays whole, so that
/// it can be copied.
fn folded(line: &str, columns: usize) -> String {
    const INDENT: &str = "  ";
    let mut text = String::new();
    let mut used = 0;
    for word in line.split(' ') {
        let width = word.chars().count();
        if used > 0 && used + 1 + width > columns {
            text.push('\n');
            text.push_str(INDENT);
            used = INDENT.len();
        } else if !text.is_empty() {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += width;
    }
    text
}

/// Asks on standard error; the answer is typed on the same line.
pub(crate) fn prompt(question: &str) {
    let mut stderr = io::stderr().lock();
    drop(stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush()));
}

/// Widest that one long cell makes a column; a longer one moves only the rest of its own row.
const COLUMN_CHARS: usize = 36;

/// Rows as text: columns two spaces apart, as wide as their widest cell.
pub(crate) fn columns(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count().min(COLUMN_CHARS));
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Prints a failure and gives its exit code.
pub(crate) fn failure(failure: &Failure) -> ExitCode {
    if failure.kind != Kind::Unread {
        failure.text().lines().for_each(note);
    }
    ExitCode::from(failure.kind.exit_code())
}

/// Prints help and version to standard output, a usage error to standard error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    drop(error.print());
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_answer { ExitCode::SUCCESS } else { ExitCode::from(Kind::User.exit_code()) }
}

/// The rows as text. Names and values of a stranger's project cannot write elsewhere in the terminal.
pub(crate) fn lines(rows: impl IntoIterator<Item = String>) -> String {
    rows.into_iter().fold(String::new(), |text, row| text + &printable(&row) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_words() {
        assert_eq!(folded("error: a few words", 12), "error: a few\n  words");
        assert_eq!(folded("error: fits", 11), "error: fits");
        assert_eq!(
            folded("hint: http://long.example/x y", 10),
            "hint:\n  http://long.example/x\n  y"
        );
    }

    #[test]
    fn one_long_cell_does_not_widen_the_table() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let long = "x".repeat(50);
        let text = columns(&[row(["a", "1"]), row([&long, "2"])]);
        assert_eq!(text, format!("{:<36}  1\n{long}  2\n", "a"));
    }
}
