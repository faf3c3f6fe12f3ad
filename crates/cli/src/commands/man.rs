//! `caiman man`: the manual page, in roff.

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args;
use crate::failure::{Failure, Kind};
use crate::render;

/// Prints the page; `caiman man | man -l -` shows it.
pub(crate) fn run() -> Result<(), Failure> {
    let mut page = Vec::new();
    let broken =
        |error| Failure::new(Kind::Internal, format!("cannot make the manual page: {error}"));
    let command = args::Args::command();
    Man::new(command.clone()).render(&mut page).map_err(broken)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = format!("caiman {}", sub.get_name());
        let sub = sub.clone().display_name(&name).bin_name(&name);
        Man::new(sub).render_synopsis_section(&mut page).map_err(broken)?;
    }
    render::out(&String::from_utf8_lossy(&page))
}
