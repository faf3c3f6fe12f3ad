//! `/cost`: what the session has cost so far.

use super::{Command, Ctx, Needs, Reply};

pub(super) const COMMAND: Command = Command {
    name: "cost",
    aliases: &["usage"],
    arguments: "",
    about: "shows what this session has cost",
    needs: Needs::Nothing,
    run,
};

fn run(_: &str, ctx: &Ctx<'_>) -> Reply {
    let (spent, usage) = (&ctx.spent, &ctx.spent.usage);
    let mut lines = vec![
        format!("{} in {} model calls, {} of them failed", spent.cost, spent.calls, spent.failed),
        format!(
            "{} tokens in ({} from the cache, {} written to it), {} out ({} of them thoughts)",
            usage.prompt(),
            usage.cache_read,
            usage.cache_write,
            usage.output,
            usage.reasoning
        ),
    ];
    if spent.unpriced > 0 {
        lines.push(format!("{} calls have no known price and are not in the sum", spent.unpriced));
    }
    Reply::Text(lines.join("\n"))
}
