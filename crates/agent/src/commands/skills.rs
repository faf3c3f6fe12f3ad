//! `/skills`: what skills there are, and who may call them.

use settings::definition::skill::Callers;
use settings::definition::{Skill, Source};

use super::help::short;
use super::{Command, Ctx, Needs, Reply};
use crate::tokens;

pub(super) const COMMAND: Command = Command {
    name: "skills",
    aliases: &[],
    arguments: "",
    about: "lists the skills",
    needs: Needs::Nothing,
    run,
};

fn run(_: &str, ctx: &Ctx<'_>) -> Reply {
    let mut skills: Vec<&Skill> = ctx.definitions.skills.iter().collect();
    if skills.is_empty() {
        let text = "There are no skills. A folder with a SKILL.md in .caiman/skills is one.";
        return Reply::Text(text.to_owned());
    }
    skills.sort_by(|one, other| one.name.cmp(&other.name));
    Reply::Text(skills.into_iter().map(line).collect::<Vec<_>>().join("\n"))
}

fn line(skill: &Skill) -> String {
    let callers = match skill.callers {
        Callers::Both => "model and you",
        Callers::User => "only you",
        Callers::Model => "only the model",
    };
    let from = match &skill.home.source {
        Source::Flag => "command line",
        Source::Project => "project",
        Source::User => "user",
        Source::Plugin(_) => "plugin",
        Source::BuiltIn => "built in",
    };
    let (name, about) = (&skill.name, short(&skill.description));
    let size = tokens::of_text(&skill.body);
    format!("{name:<26}{about}\n{:<26}{from}; {callers}; {size} tokens when loaded", "")
}
