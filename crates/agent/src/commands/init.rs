//! `/init`: have the model write the project's instruction file.

use base::Part;

use super::{Command, Ctx, Needs, Reply};
use crate::init;

pub(super) const COMMAND: Command = Command {
    name: "init",
    aliases: &[],
    arguments: "[more to tell]",
    about: "looks at the project and writes its instruction file",
    needs: Needs::Session,
    run,
};

fn run(arguments: &str, ctx: &Ctx<'_>) -> Reply {
    let mut text = init::prompt(ctx.initialize_as);
    if !arguments.is_empty() {
        text.push_str("\n\n");
        text.push_str(arguments);
    }
    Reply::Say(vec![Part::user_text(text)])
}
