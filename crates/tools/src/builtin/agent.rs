//! `agent`: a task for a sub-agent.

use base::definition::agent::Isolation;
use base::{Block, Origin};
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::lenient;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{Order, Terms, ToolCtx, Who, Workspace};

/// The agent that looks around, by the name rules and prompts give it.
const EXPLORER: &str = "explorer";

/// Give a task to a sub-agent; its last message comes back. Without `agent` it only reads: good for broad
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
    /// `worktree`, as in the files of agents.
    #[serde(default)]
    #[schemars(skip)]
    isolation: Option<String>,
    /// Go on meanwhile; you are told when it ends.
    #[serde(default, deserialize_with = "lenient::maybe_switch")]
    run_in_background: Option<bool>,
    /// Session id of a finished sub-agent, to follow up.
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

    fn actions(&self, input: &Input, _workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        if input.prompt.trim().is_empty() {
            return Err(ToolError::Arguments("the prompt is empty".to_owned()));
        }
        Ok(vec![Action::Named(input.who().to_owned())])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let title = self.title(&input);
        let who = match input.named() {
            Some(name) => Who::Named(name.to_owned()),
            None => Who::Explorer,
        };
        let order = Order {
            who,
            title: input.label().unwrap_or_default().to_owned(),
            model: input.model.clone(),
            background: input.run_in_background,
            isolation: match input.isolation.as_deref().map(str::trim) {
                Some("worktree") => Isolation::Worktree,
                Some(_) | None => Isolation::None,
            },
            resume: input.resume.clone().filter(|id| !id.trim().is_empty()),
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

    fn who(&self) -> &str {
        self.named().unwrap_or(EXPLORER)
    }
}
