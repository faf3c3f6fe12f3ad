//! `/agents`: the agents tasks can be given to.

use settings::definition::Agent;

use super::{Command, Ctx, Needs, Reply};
use crate::crew;

pub(super) const COMMAND: Command = Command {
    name: "agents",
    aliases: &[],
    arguments: "[name]",
    about: "lists the agents, or shows one; @agent-name in a prompt gives it the task",
    needs: Needs::Nothing,
    run,
};

/// How agents are made and changed; a file counts from the next turn on.
const CHANGING: &str = "In a shell, caiman agents new, edit, enable, disable NAME changes them.";

fn run(arguments: &str, ctx: &Ctx<'_>) -> Reply {
    let built_in = crew::built_in();
    if !arguments.is_empty() {
        let known = ctx.definitions.agent(arguments);
        let known = known.or_else(|| built_in.iter().find(|agent| agent.name == arguments));
        return Reply::Text(match known {
            Some(agent) => shown(agent),
            None => format!("There is no agent `{arguments}`. /agents lists all."),
        });
    }
    let all = ctx.definitions.agents.iter().chain(&built_in);
    let lines = all.map(|agent| {
        let about = agent.description.lines().next().unwrap_or_default();
        format!("{} ({}): {about}", agent.name, agent.home.source.as_str())
    });
    let mut lines: Vec<String> = lines.collect();
    lines.push(CHANGING.to_owned());
    Reply::Text(lines.join("\n"))
}

fn shown(agent: &Agent) -> String {
    let tools = agent.tools.as_ref().map_or("all of its caller's".to_owned(), |it| it.join(", "));
    let mut lines = vec![
        format!("{}: {}", agent.name, agent.description),
        format!("from: {}", agent.home),
        format!("model: {}", agent.model.as_deref().unwrap_or("its caller's")),
        format!("tools: {tools}"),
    ];
    if !agent.disallowed_tools.is_empty() {
        lines.push(format!("not: {}", agent.disallowed_tools.join(", ")));
    }
    lines.push(String::new());
    lines.push(agent.prompt.trim().to_owned());
    lines.join("\n")
}
