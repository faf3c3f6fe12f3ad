//! `/compact [focus]`, `/compact undo`: replace the older part of the context by a summary, or take that back.

use base::Op;

use super::{Command, Ctx, Needs, Reply};
use crate::compaction;

pub(super) const COMMAND: Command = Command {
    name: "compact",
    aliases: &["summarize"],
    arguments: "[focus | undo]",
    about: "replaces the older part of the context by a summary",
    needs: Needs::Session,
    run,
};

fn run(arguments: &str, ctx: &Ctx<'_>) -> Reply {
    if arguments.eq_ignore_ascii_case("undo") {
        return undo(ctx);
    }
    if compaction::plan(ctx.branch, ctx.window, None).is_none() {
        return Reply::Text("There is too little in the context to compact.".to_owned());
    }
    let focus = Some(arguments.to_owned()).filter(|focus| !focus.is_empty());
    Reply::Op(Op::Compact { session: ctx.session, focus })
}

fn undo(ctx: &Ctx<'_>) -> Reply {
    match compaction::undo(ctx.branch) {
        None => Reply::Text("Nothing was compacted that could be undone.".to_owned()),
        Some(kind) => {
            let text = "The last compaction is undone: the model sees all of it again.".to_owned();
            Reply::Record { kind, text }
        }
    }
}
