//! `/help`: what commands there are, skills and custom ones included.

use super::{Command, Ctx, Needs, Reply, all, custom};

pub(super) const COMMAND: Command = Command {
    name: "help",
    aliases: &["?"],
    arguments: "",
    about: "lists the commands",
    needs: Needs::Nothing,
    run,
};

/// Longest description of a custom command, in characters.
const ABOUT_CHARS: usize = 80;

fn run(_: &str, ctx: &Ctx<'_>) -> Reply {
    let line = |name: &str, arguments: &str, about: &str| {
        let usage = format!("/{name} {arguments}");
        format!("{:<26}{about}", usage.trim_end())
    };
    let ours = all().iter().map(|command| line(command.name, command.arguments, command.about));
    let mut lines: Vec<String> = ours.collect();
    let theirs = custom(ctx.definitions);
    if !theirs.is_empty() {
        lines.push(String::new());
    }
    lines.extend(theirs.into_iter().map(|(name, hint, about)| line(name, hint, &short(about))));
    Reply::Text(lines.join("\n"))
}

/// A description in one short line.
pub(super) fn short(about: &str) -> String {
    let line = about.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(ABOUT_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
