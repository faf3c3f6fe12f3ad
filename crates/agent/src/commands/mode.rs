//! `/mode [name]`: what may be done without asking.

use base::Op;
use base::protocol::Mode;

use super::{Command, Ctx, Needs, Reply};

pub(super) const COMMAND: Command = Command {
    name: "mode",
    aliases: &["permissions"],
    arguments: "[name]",
    about: "shows or sets what is done without asking",
    needs: Needs::Nothing,
    run,
};

/// Each mode, its name and what it means.
const MODES: [(Mode, &str, &str); 5] = [
    (Mode::Default, "default", "rules decide; what no rule covers is asked"),
    (Mode::AcceptEdits, "acceptEdits", "edits in the workspace are not asked"),
    (Mode::Plan, "plan", "nothing may change"),
    (Mode::DontAsk, "dontAsk", "what would be asked is denied"),
    (Mode::Bypass, "bypass", "nothing is asked"),
];

fn run(arguments: &str, ctx: &Ctx<'_>) -> Reply {
    if arguments.is_empty() {
        return Reply::Text(list(ctx.mode));
    }
    let plain = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    let wanted = MODES.iter().find(|(_, name, _)| plain(name) == plain(arguments));
    match wanted {
        Some((mode, ..)) => Reply::Op(Op::SetMode { session: ctx.session, mode: *mode }),
        None => Reply::Text(format!("There is no mode {arguments}.\n{}", list(ctx.mode))),
    }
}

fn list(now: Mode) -> String {
    let line = |(mode, name, meaning): &(Mode, &str, &str)| {
        let mark = if *mode == now { '*' } else { ' ' };
        format!("{mark} {name:<12}{meaning}")
    };
    MODES.iter().map(line).collect::<Vec<_>>().join("\n")
}
