//! The terminal: what it is, how large, and whether it can show what we print.

use std::io::{self, IsTerminal};

use super::{Check, Section};
use crate::app::App;

/// Fewest columns and rows that are of use.
const COLUMNS: u16 = 40;
const ROWS: u16 = 10;

/// Looks at the terminal.
pub(super) fn section(app: &App) -> Section {
    if !io::stdout().is_terminal() {
        let text = "output is no terminal; `caiman run` works, a full screen does not";
        return Section { name: "terminal", checks: vec![Check::good(text)] };
    }
    Section { name: "terminal", checks: vec![kind(app), size(), letters(app)] }
}

fn kind(app: &App) -> Check {
    match app.env.get("TERM") {
        None | Some("dumb") => {
            Check::warning("TERM is not set or dumb", "set TERM, for example to xterm-256color")
        }
        Some(term) => {
            let colours = match app.env.get("COLORTERM") {
                Some("truecolor" | "24bit") => "true colour",
                Some(_) | None if term.contains("256") => "256 colours",
                Some(_) | None => "16 colours",
            };
            Check::good(format!("{term}, {colours}"))
        }
    }
}

fn size() -> Check {
    match rustix::termios::tcgetwinsize(rustix::stdio::stdout()) {
        Ok(size) if size.ws_col >= COLUMNS && size.ws_row >= ROWS => {
            Check::good(format!("{} columns, {} rows", size.ws_col, size.ws_row))
        }
        Ok(size) => Check::warning(
            format!("only {} columns and {} rows", size.ws_col, size.ws_row),
            format!("make it at least {COLUMNS} by {ROWS}"),
        ),
        Err(error) => Check::warning(format!("its size is not known: {error}"), "set it with stty"),
    }
}

fn letters(app: &App) -> Check {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| app.env.get(name));
    match locale {
        Some(locale) if locale.to_lowercase().replace('-', "").contains("utf8") => {
            Check::good(format!("locale {locale}"))
        }
        Some(locale) => Check::warning(
            format!("locale {locale} is not UTF-8: some letters will look wrong"),
            "export LANG=C.UTF-8",
        ),
        None => Check::warning("no locale is set", "export LANG=C.UTF-8"),
    }
}
