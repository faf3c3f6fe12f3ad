//! What an agent's definition makes of a session: its tools, its model, its limits. Nothing here widens:
//! what the parent has is where it begins.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::config::Config;
use base::definition::{Agent, Definitions, Source};
use base::protocol::Mode;
use base::{Event, ModelRef, Money};
use guard::policy::Bound;
use guard::room::SHOWN;
use guard::rule::names;
use guard::{Fence, Rule, Rules};
use llm::{Reasoning, Target};
use tools::{ToolError, Who};

use super::{Kin, builtin, memory};
use crate::budget::{Budget, Limits};
use crate::coordinator::Hub;
use crate::mind::{Mind, Options, Tools};
use crate::toolset;

/// How long an errand on the web may take where nobody says otherwise.
const ERRAND: Duration = Duration::from_mins(5);

/// How many sub-agents may run at once.
pub(crate) fn most_running(config: &Config) -> usize {
    usize::try_from(config.agents.max_running.max(1)).unwrap_or(usize::MAX)
}

/// What a sub-agent is cast from.
pub(super) struct Parent<'a> {
    pub(super) mind: &'a Mind,
    /// What sessions at the top are run with.
    pub(super) top: &'a Options,
    /// What the parent was opened with.
    pub(super) options: &'a Options,
    /// The model the parent asks now.
    pub(super) target: Target,
    /// The rules that hold for the parent.
    pub(super) rules: &'a Rules,
    /// The folder the agent works in.
    pub(super) folder: &'a Path,
}

/// The agent a task is for.
pub(super) fn find(who: &Who, definitions: &Definitions) -> Result<Arc<Agent>, String> {
    let name = match who {
        Who::Explorer => return Ok(Arc::new(builtin::explorer())),
        Who::Researcher { .. } => return Ok(Arc::new(builtin::researcher())),
        Who::Named(name) => name,
    };
    if let Some(agent) = definitions.agent(name) {
        return Ok(Arc::new(agent.clone()));
    }
    if let Some(agent) = builtin::find(name) {
        return Ok(Arc::new(agent));
    }
    let mut known: Vec<&str> = definitions.agents.iter().map(|it| it.name.as_str()).collect();
    known.extend([builtin::EXPLORER, builtin::GENERAL]);
    Err(format!("There is no agent `{name}`. The agents are: {}.", known.join(", ")))
}

/// The room of the web agent, as it sees it.
pub(super) fn confined(room: &Path) -> Result<Fence, ToolError> {
    Fence::confined(room, Path::new(SHOWN)).map_err(|source| ToolError::Io {
        what: "use",
        path: SHOWN.into(),
        source,
    })
}

/// What a session that a face opens is run with: as the agent it was begun as, if any.
pub(crate) fn on_its_own(hub: &Hub, row: &store::Session) -> Result<(Kin, Options), String> {
    let Some(name) = &row.agent else { return Ok((Kin::default(), hub.options.clone())) };
    let definitions = hub.mind.shelf.look(Path::new(&row.summary.folder));
    let agent = match find(&Who::Named(name.clone()), &definitions) {
        Ok(agent) => agent,
        Err(why) if row.summary.entries == 0 => return Err(why),
        // A session outlives the file of the agent it was begun as.
        Err(_) => {
            let text = format!("The agent `{name}` is gone; this session goes on without it.");
            hub.events.publish(Event::Notice { session: Some(row.summary.id), text });
            return Ok((Kin::default(), hub.options.clone()));
        }
    };
    let parent = Parent {
        mind: &hub.mind,
        top: &hub.options,
        options: &hub.options,
        target: hub.options.target.clone(),
        rules: &hub.options.rules,
        folder: Path::new(&row.summary.folder),
    };
    let options = parent.as_main(&agent)?;
    Ok((Kin { agent: Some(agent), ..Kin::default() }, options))
}

impl Parent<'_> {
    /// What a sub-agent is run with, and what the user should know of it.
    pub(super) fn cast(
        &self,
        agent: &Agent,
        who: &Who,
        model: Option<&str>,
    ) -> Result<(Options, Vec<String>), String> {
        let mut notes = Vec::new();
        let mut options = self.narrowed(agent)?;
        let wanted = match who {
            Who::Researcher { .. } => Some("small"),
            Who::Explorer | Who::Named(_) => model.or(self.chosen(agent)),
        };
        match self.model(wanted) {
            Ok(target) => options.target = target,
            Err(why) => {
                notes.push(format!("{}: {why}; it works with its caller's model", agent.name));
            }
        }
        options.budget = self.budget(agent, who);
        options.agent = None;
        options.append_prompt = None;
        // Only what narrows is its own; the rest it is told by its parent, at every call.
        options.mode = agent.mode.unwrap_or(Mode::Bypass);
        options.rules = Rules { deny: denied(agent), ..Rules::default() };
        if let Who::Researcher { .. } = who {
            options.mode = Mode::DontAsk;
            // Asked about once, for the whole errand; what would be asked inside is not done.
            let allow = ["WebFetch", "web_search", "web_fetch"].iter();
            options.rules.allow = allow.filter_map(|rule| Rule::parse(rule).ok()).collect();
            options.rules.deny.extend(self.rules.deny.iter().cloned());
            options.rules.deny.extend(self.rules.ask.iter().cloned());
            options.more_folders = Vec::new();
        }
        Ok((options, notes))
    }

    /// What the main agent is run with.
    fn as_main(&self, agent: &Agent) -> Result<Options, String> {
        let mut options = self.narrowed(agent)?;
        if let Some(target) = self.chosen(agent).and_then(|word| self.model(Some(word)).ok()) {
            options.target = target;
        }
        if let Some(mode) = agent.mode {
            options.mode = match agent.home.source {
                // What the user wrote for themselves may widen what the settings say.
                Source::User | Source::Flag | Source::BuiltIn => mode,
                Source::Project | Source::Plugin(_) => mode.and(self.options.mode),
            };
        }
        options.budget.turn.steps = options.budget.turn.steps.or(agent.max_turns);
        options.rules.deny.extend(denied(agent));
        Ok(options)
    }

    /// The parent's options with the agent's tools.
    fn narrowed(&self, agent: &Agent) -> Result<Options, String> {
        let mut options = self.options.clone();
        options.tools = self.tools(agent)?;
        options.system_prompt = None;
        let settings = self.mind.config.agents.of(&agent.name);
        let effort = settings.and_then(|settings| settings.reasoning_effort).or(agent.effort);
        if let Some(effort) = effort {
            options.reasoning = Reasoning::Effort(effort);
        }
        if let Some(folder) = memory::folder(agent, self.mind, self.folder)
            && std::fs::create_dir_all(&folder).is_ok()
        {
            options.more_folders.push(folder);
        }
        let rules: Vec<Rule> =
            agent.tools.iter().flatten().filter_map(|word| narrowing(word)).collect();
        if !rules.is_empty() {
            options.bounds.push(Bound { agent: agent.name.clone(), rules });
        }
        Ok(options)
    }

    /// The tools an agent gets of those its parent has.
    fn tools(&self, agent: &Agent) -> Result<Tools, String> {
        let taken: Vec<String> = agent
            .disallowed_tools
            .iter()
            .filter(|it| !it.contains('('))
            .flat_map(|word| ours(word))
            .collect();
        let wanted = agent.tools.as_ref().filter(|tools| !tools.iter().any(|it| is_all(it)));
        let Some(wanted) = wanted else {
            return Ok(match &self.options.tools {
                Tools::All => Tools::But(taken),
                Tools::But(names) => Tools::But(names.iter().cloned().chain(taken).collect()),
                Tools::Only(names) => {
                    let left = names.iter().filter(|name| !taken.contains(name));
                    Tools::Only(left.cloned().collect())
                }
                Tools::None => Tools::None,
            });
        };
        let mut named: Vec<String> = wanted.iter().flat_map(|word| ours(word)).collect();
        if agent.memory.is_some() {
            named.extend(memory::TOOLS.map(str::to_owned));
        }
        named.retain(|name| toolset::includes(&self.options.tools, name) && !taken.contains(name));
        let known = |name: &String| {
            name.starts_with("mcp_") || self.mind.registry.iter().any(|tool| tool.name() == name)
        };
        named.retain(known);
        if named.is_empty() {
            let list = wanted.join(", ");
            return Err(format!(
                "The agent {} cannot be started: none of its tools is here ({list}).",
                agent.name
            ));
        }
        Ok(Tools::Only(named))
    }

    /// The word for an agent's model: the settings' before its own.
    fn chosen<'a>(&'a self, agent: &'a Agent) -> Option<&'a str> {
        let settings = self.mind.config.agents.of(&agent.name);
        settings.and_then(|settings| settings.model.as_deref()).or(agent.model.as_deref())
    }

    /// The model a word stands for.
    fn model(&self, word: Option<&str>) -> Result<Target, String> {
        let word = word.map(str::trim).unwrap_or_default();
        let mapped = self.mind.config.agents.models.get(word);
        let word = mapped.map_or(word, String::as_str);
        let small = || self.top.small.clone().unwrap_or_else(|| self.target.clone());
        match word.to_ascii_lowercase().as_str() {
            "" | "inherit" => Ok(self.target.clone()),
            "small" | "haiku" => Ok(small()),
            "large" | "sonnet" | "opus" | "fable" => Ok(self.top.target.clone()),
            _ => {
                let model = word.split_once('/').map_or_else(
                    || ModelRef::new(&self.target.provider, word),
                    |(provider, model)| ModelRef::new(provider, model),
                );
                (self.mind.resolve)(&model)
            }
        }
    }

    fn budget(&self, agent: &Agent, who: &Who) -> Budget {
        let settings = &self.mind.config.agents;
        let usual = match who {
            Who::Researcher { .. } => Some(ERRAND),
            Who::Explorer | Who::Named(_) => None,
        };
        let turn = Limits {
            steps: Some(agent.max_turns.unwrap_or(u64::from(settings.max_steps))),
            cost: settings.max_usd.map(Money::from_dollars),
            time: settings.max_seconds.map(Duration::from_secs).or(usual),
            ..Limits::default()
        };
        Budget { turn, ..Budget::default() }
    }
}

/// Our tools behind a word of an agent's list, patterns taken off.
fn ours(word: &str) -> Vec<String> {
    let name = word.split_once('(').map_or(word, |(name, _)| name).trim();
    match name.strip_prefix("mcp__") {
        Some(server) if !server.contains("__") => vec![format!("mcp_{server}_*")],
        Some(_) | None => names::ours(name),
    }
}

fn is_all(word: &str) -> bool {
    matches!(word.trim().to_ascii_lowercase().as_str(), "*" | "all" | "all tools")
}

/// The rule behind a word such as `Bash(git log:*)`; none for a bare name.
fn narrowing(word: &str) -> Option<Rule> {
    word.contains('(').then(|| Rule::parse(word).ok()).flatten()
}

/// What an agent may not do, by rules such as `Bash(rm:*)`.
fn denied(agent: &Agent) -> Vec<Rule> {
    agent.disallowed_tools.iter().filter_map(|word| Rule::parse(word).ok()).collect()
}
