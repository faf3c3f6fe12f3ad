//! `/context`: what fills the model's window, item by item.

use base::transcript::{PartBody, Seen};

use super::{Command, Ctx, Reply};
use crate::{prompt, tokens};

pub(super) const COMMAND: Command = Command {
    name: "context",
    aliases: &[],
    arguments: "",
    about: "shows what fills the model's window",
    run,
};

fn run(_: &str, ctx: &Ctx<'_>) -> Reply {
    let mut lines = Vec::new();
    let mut add = |tokens: u64, what: &str| lines.push(format!("{tokens:>9}  {what}"));
    let (mut prompt_tokens, mut files) = (0, Vec::new());
    for segment in ctx.system {
        let size = tokens::of_text(segment);
        match prompt::file_of(segment) {
            Some(name) => files.push((size, name)),
            None => prompt_tokens += size,
        }
    }
    add(prompt_tokens, "system prompt");
    for (size, name) in files {
        add(size, name);
    }
    add(tokens::of_tools(ctx.tools), &format!("{} tools", ctx.tools.len()));
    for (size, what) in messages(ctx) {
        if size > 0 {
            add(size, what);
        }
    }
    lines.push(total(ctx));
    let notes = ctx.instructions.left_out.iter().chain(&ctx.instructions.warnings);
    lines.extend(notes.map(|note| format!("not read or cut: {note}")));
    Reply::Text(lines.join("\n"))
}

/// Tokens of the conversation by who said it.
fn messages(ctx: &Ctx<'_>) -> [(u64, &'static str); 5] {
    let seen = Seen::of(ctx.branch);
    let summary = seen.summary.map_or(0, tokens::of_text);
    let (mut user, mut answers, mut calls, mut results) = (0, 0, 0, 0);
    for turn in seen.turns() {
        for part in &turn.parts {
            let size = tokens::of_parts(std::slice::from_ref(part));
            match &part.body {
                PartBody::Call(_) => calls += size,
                PartBody::Result(_) => results += size,
                PartBody::Text { .. }
                | PartBody::Reasoning { .. }
                | PartBody::File(_)
                | PartBody::Opaque { .. } => match turn.role {
                    base::Role::User => user += size,
                    base::Role::Assistant => answers += size,
                },
            }
        }
    }
    [
        (summary, "summary of the older part"),
        (user - summary.min(user), "your messages"),
        (answers, "answers and thoughts"),
        (calls, "tool calls"),
        (results, "results of tools"),
    ]
}

fn total(ctx: &Ctx<'_>) -> String {
    let used = tokens::used(ctx.branch, || tokens::of_prefix(ctx.system, ctx.tools));
    let counted = ctx.branch.iter().any(|entry| tokens::count(entry) > 0);
    let how = if counted { "as the provider counts" } else { "estimated" };
    match (used * 100).checked_div(ctx.window) {
        None => format!("{used:>9}  in all, {how}; the window of {} is unknown", ctx.model),
        Some(percent) => format!(
            "{used:>9}  in all, {how}: {percent} % of the {} tokens of {}",
            ctx.window, ctx.model
        ),
    }
}
