//! `/help`: what commands there are.

use super::{Command, Ctx, Reply, all};

pub(super) const COMMAND: Command =
    Command { name: "help", aliases: &["?"], arguments: "", about: "lists the commands", run };

fn run(_: &str, _: &Ctx<'_>) -> Reply {
    let line = |command: &&Command| {
        let usage = format!("/{} {}", command.name, command.arguments);
        format!("{:<26}{}", usage.trim_end(), command.about)
    };
    Reply::Text(all().iter().map(line).collect::<Vec<_>>().join("\n"))
}
