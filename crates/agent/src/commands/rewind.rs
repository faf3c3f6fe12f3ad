//! `/rewind [n] [files | talk]`, `/rewind undo`: go back to the moment before a prompt, or take that back.

use base::Op;
use base::protocol::{Checkpoint, Rewound};

use super::{Command, Ctx, Needs, Reply};
use crate::past::checkpoints;

pub(super) const COMMAND: Command = Command {
    name: "rewind",
    aliases: &["checkpoints"],
    arguments: "[n | undo]",
    about: "lists the prompts, or goes back to before the nth newest; `files` or `talk` for one only",
    needs: Needs::Nothing,
    run,
};

/// Prompts that are listed.
const LISTED: usize = 20;

fn run(arguments: &str, ctx: &Ctx<'_>) -> Reply {
    let (which, what) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let what = match what.trim().to_ascii_lowercase().as_str() {
        "" | "both" => Rewound::Both,
        "files" => Rewound::Files,
        "talk" | "chat" => Rewound::Talk,
        other => {
            return Reply::Text(format!("`{other}` cannot go back; say files, talk or nothing."));
        }
    };
    let (mut prompts, mut undo) = (checkpoints(ctx.past, ctx.folder.as_ref()), None);
    if ctx.past.rewound.is_some() {
        undo = Some(prompts.remove(0));
    }
    let chosen = match which {
        "" => return Reply::Text(list(&prompts, undo.is_some())),
        "undo" => match &undo {
            Some(undo) => undo,
            None => return Reply::Text("There is no rewind to take back.".to_owned()),
        },
        number => {
            let wanted = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let Some(prompt) = wanted.and_then(|wanted| prompts.get(wanted)) else {
                let list = list(&prompts, undo.is_some());
                return Reply::Text(format!("There is no prompt {number}.\n{list}"));
            };
            prompt
        }
    };
    let entry = chosen.before.unwrap_or(chosen.entry);
    Reply::Op(Op::Rewind { session: ctx.session, entry, what })
}

fn list(prompts: &[Checkpoint], can_undo: bool) -> String {
    if prompts.is_empty() {
        return "Nothing was said yet that one could go back before.".to_owned();
    }
    let line = |(at, prompt): (usize, &Checkpoint)| {
        let files = match prompt.files.len() {
            0 => String::new(),
            1 => format!(" ({})", prompt.files[0]),
            several => format!(" ({several} files)"),
        };
        format!("{:>3}  {}{files}", at + 1, prompt.label)
    };
    let mut lines: Vec<String> = prompts.iter().take(LISTED).enumerate().map(line).collect();
    if can_undo {
        lines.push("/rewind undo takes the last rewind back.".to_owned());
    }
    lines.join("\n")
}
