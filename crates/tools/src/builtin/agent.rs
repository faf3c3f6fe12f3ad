//! `agent`: a task for a sub-agent.

use base::{Block, Origin};
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;
use settings::definition::agent::Isolation;

use crate::lenient;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{Order, Terms, ToolCtx, Who, Workspace};

/// The agent that looks around, by the name rules and prompts give it.
const EXPLORER: &str = "explorer";

/// Give a task to a sub-agent; its last message comes back. Without `agent` it only reads, for broad
/// searches. It knows nothing of this session. Calls of one step run at once.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    prompt: String,
    #[serde(default)]
    description: Option<String>,
    /// A listed agent, or `general` with your own tools.
    #[serde(default, alias = "subagent_type", alias = "agent_type")]
    agent: Option<String>,
    /// What others call the agent or, beside `subagent_type`, the task.
    #[serde(default)]
    #[schemars(skip)]
    name: Option<String>,
    #[serde(default)]
    #[schemars(skip)]
    model: Option<String>,
    /// `worktree`: a git worktree.
    #[serde(default)]
    isolation: Option<String>,
    /// You are told when it ends.
    #[serde(default, deserialize_with = "lenient::maybe_switch")]
    run_in_background: Option<bool>,
    /// Id of a finished one, to follow up.
    #[serde(default)]
    resume: Option<String>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Agent;

impl Tool for Agent {
    const NAME: &'static str = "agent";
    const EFFECT: Effect = Effect::Apart;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let words = input.label().unwrap_or(&input.prompt);
        let line = words.trim().lines().next().unwrap_or_default();
        let short: String = line.chars().take(80).collect();
        format!("{}: {short}", input.who())
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        if input.prompt.trim().is_empty() {
            return Err(ToolError::Arguments("the prompt is empty".to_owned()));
        }
        let mut actions = vec![Action::Named(input.who().to_owned())];
        match input.isolation(workspace)? {
            Isolation::None => {}
            Isolation::Worktree => {
                let change = guard::git::worktree_change(&workspace.fence);
                actions.push(change.map_err(|error| ToolError::Refused(error.to_string()))?);
            }
        }
        Ok(actions)
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let title = self.title(&input);
        let order = Order {
            who: input.agent(),
            title: input.label().unwrap_or_default().to_owned(),
            model: input.model.clone(),
            background: input.run_in_background,
            isolation: input.isolation(&ctx.workspace)?,
            resume: input.resumed().map(str::to_owned),
            prompt: input.prompt,
            terms: Terms::default(),
        };
        let report = ctx.workspace.spawner.spawn(order, ctx).await?;
        let text = match report.origin {
            Origin::System => report.text.clone(),
            Origin::User
            | Origin::Assistant
            | Origin::Workspace
            | Origin::Shell
            | Origin::Web
            | Origin::Mcp(_)
            | Origin::Skill(_)
            | Origin::Memory
            | Origin::Channel(_) => {
                format!("{}\n\n(agent {}, session {})", report.text, report.agent, report.session)
            }
        };
        let body = Block::Text { text: report.text };
        Ok(Output::text(text).from(report.origin).with_title(title).with_body(body))
    }
}

impl Input {
    fn named(&self) -> Option<&str> {
        let named = self.agent.as_deref().or(self.name.as_deref());
        named.map(str::trim).filter(|name| !name.is_empty())
    }

    /// The task in a few words.
    fn label(&self) -> Option<&str> {
        let beside = self.name.as_deref().filter(|_| self.agent.is_some());
        self.description.as_deref().or(beside)
    }

    fn agent(&self) -> Who {
        match self.named() {
            Some(name) => Who::Named(name.to_owned()),
            None => Who::Explorer,
        }
    }

    /// Where the agent works: by these arguments, or else by its definition. A session that is resumed stays where it
    /// is.
    fn isolation(&self, workspace: &Workspace) -> Result<Isolation, ToolError> {
        match self.isolation.as_deref().map(str::trim).unwrap_or_default() {
            "worktree" => Ok(Isolation::Worktree),
            "" | "none" if self.resumed().is_some() => Ok(Isolation::None),
            "" | "none" => Ok(workspace.spawner.isolation(&self.agent())),
            other => {
                let text = format!("unknown isolation `{other}`; use `worktree` or leave it out");
                Err(ToolError::Arguments(text))
            }
        }
    }

    fn resumed(&self) -> Option<&str> {
        self.resume.as_deref().filter(|id| !id.trim().is_empty())
    }

    fn who(&self) -> &str {
        self.named().unwrap_or(EXPLORER)
    }
}
