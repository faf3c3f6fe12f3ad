//! `/clear`, `/new`: begin anew with nothing in the context. The session so far stays as it is.

use base::{Op, SessionId};

use super::{Command, Ctx, Needs, Reply};

pub(super) const COMMAND: Command = Command {
    name: "clear",
    aliases: &["new"],
    arguments: "",
    about: "begins a new session in this folder; this one is kept",
    needs: Needs::Nothing,
    run,
};

fn run(_: &str, ctx: &Ctx<'_>) -> Reply {
    Reply::Op(Op::NewSession { session: SessionId::new(), folder: ctx.folder.to_owned() })
}
