//! `/changes`: what tools have changed in this session.

use super::{Command, Ctx, Needs, Reply};

pub(super) const COMMAND: Command = Command {
    name: "changes",
    aliases: &["diff"],
    arguments: "",
    about: "lists the files that tools have changed in this session",
    needs: Needs::Nothing,
    run,
};

fn run(_: &str, _: &Ctx<'_>) -> Reply {
    Reply::Changes
}
