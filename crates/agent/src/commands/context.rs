//! `/context`: what fills the model's window, item by item.

use super::{Command, Ctx, Needs, Reply};
use crate::lookup::bill;
use crate::tokens;

pub(super) const COMMAND: Command = Command {
    name: "context",
    aliases: &[],
    arguments: "",
    about: "shows what fills the model's window",
    needs: Needs::Nothing,
    run,
};

fn run(_: &str, ctx: &Ctx<'_>) -> Reply {
    let bill = bill::of(ctx.branch, (ctx.system, ctx.tools), ctx.window);
    let line = |line: &base::protocol::BillLine| format!("{:>9}  {}", line.tokens, line.what);
    let mut lines: Vec<String> = bill.lines.iter().map(line).collect();
    lines.push(total(ctx));
    let notes = ctx.instructions.left_out.iter().chain(&ctx.instructions.warnings);
    lines.extend(notes.map(|note| format!("not read or cut: {note}")));
    Reply::Text(lines.join("\n"))
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
