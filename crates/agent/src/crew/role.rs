//! What an agent's definition makes of a session: its tools, its model, its limits. Nothing here widens:
//! what the parent has is where it begins.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::Money;
use base::protocol::Mode;
use guard::policy::Bound;
use guard::room::SHOWN;
use guard::{Fence, Rule, Rules, Taint};
use llm::{Reasoning, Target, Transport};
use settings::definition::{Agent, Definitions, Source};
use settings::{Agents, Config};
use tools::{ToolError, Who};

use super::model::Choice;
use super::word::{Part, Word, is_all};
use super::{Kin, builtin, memory};
use crate::budget::{Budget, Limits, Span};
use crate::coordinator::Hub;
use crate::mind::{Meant, Mind, Options, Tools};
use crate::{mcp, toolset};

/// How long an errand on the web may take where nobody says otherwise.
const ERRAND: Duration = Duration::from_mins(5);

/// Names the model of all sub-agents, here as at Claude Code.
const MODEL_VARIABLE: &str = "CLAUDE_CODE_SUBAGENT_MODEL";

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
    /// How the parent's questions are answered where no rule decides.
    pub(super) mode: Mode,
    /// Whether untrusted content is in the parent's context.
    pub(super) taint: Taint,
    /// The folder the agent works in.
    pub(super) folder: &'a Path,
}

/// The agent a task is for.
pub(super) fn find(
    who: &Who,
    definitions: &Definitions,
    settings: &Agents,
) -> Result<Arc<Agent>, String> {
    let name = match who {
        Who::Explorer => builtin::EXPLORER,
        Who::Researcher { .. } => return Ok(Arc::new(builtin::researcher())),
        Who::Named(name) => name.as_str(),
    };
    let is_off = |agent: &Agent| settings.of(&agent.name).is_some_and(|it| it.disabled);
    // Where none is named it only reads, whatever a project calls its agents.
    let own = definitions.agent(name).filter(|_| matches!(who, Who::Named(_)));
    if let Some(agent) = own {
        return Ok(Arc::new(agent.clone()));
    }
    let ours = builtin::all().into_iter().filter(|agent| !is_off(agent));
    let ours: Vec<String> = ours.map(|agent| agent.name).collect();
    if let Some(agent) = builtin::find(name).filter(|agent| ours.contains(&agent.name)) {
        return Ok(Arc::new(agent));
    }
    let mut known: Vec<&str> = definitions.agents.iter().map(|it| it.name.as_str()).collect();
    known.extend(ours.iter().map(String::as_str));
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

/// A session that a face opens.
pub(crate) struct Own {
    /// What it is in its family.
    pub(crate) kin: Kin,
    /// What it is run with.
    pub(crate) options: Options,
    /// What the user should know of it.
    pub(crate) notes: Vec<String>,
}

/// What a session that a face opens is run with: as the agent it was begun as, if any, and with the model that
/// answered last.
pub(crate) fn on_its_own(hub: &Hub, row: &store::Session) -> Result<Own, String> {
    let mut own = as_begun(hub, row)?;
    let last = row.summary.model.as_ref().filter(|_| hub.options.meant == Meant::New);
    if let Some(last) = last.filter(|last| **last != own.options.target.model_ref()) {
        match (hub.mind.resolve)(last) {
            // Who tried the demo and has a key now wants a real answer.
            Ok(target) if target.transport == Transport::Demo => {}
            Ok(target) => own.options.target = target,
            Err(why) => {
                let now = own.options.target.model_ref();
                own.notes
                    .push(format!("{last} cannot go on with this session: {why}. {now} does."));
            }
        }
    }
    Ok(own)
}

fn as_begun(hub: &Hub, row: &store::Session) -> Result<Own, String> {
    let as_ours = |notes| Own { kin: Kin::default(), options: hub.options.clone(), notes };
    let Some(name) = &row.agent else { return Ok(as_ours(Vec::new())) };
    let definitions = hub.mind.shelf.look(Path::new(&row.summary.folder));
    let agent = match find(&Who::Named(name.clone()), &definitions, &hub.mind.config.agents) {
        Ok(agent) => agent,
        Err(why) if row.summary.entries == 0 => return Err(why),
        // A session outlives the file of the agent it was begun as.
        Err(_) => {
            let text = format!("The agent `{name}` is gone; this session goes on without it.");
            return Ok(as_ours(vec![text]));
        }
    };
    let parent = Parent {
        mind: &hub.mind,
        top: &hub.options,
        options: &hub.options,
        target: hub.options.target.clone(),
        rules: &hub.options.rules,
        mode: hub.options.mode,
        taint: Taint::Clean,
        folder: Path::new(&row.summary.folder),
    };
    let (options, notes) = parent.as_main(&agent)?;
    let kin = Kin { agent: Some(agent), ..Kin::default() };
    Ok(Own { kin, options, notes })
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
            Who::Explorer | Who::Named(_) => {
                let of_all = self.mind.env.get(MODEL_VARIABLE);
                of_all.or(model).or(self.chosen(agent))
            }
        };
        match self.models().of(wanted.unwrap_or_default()) {
            Ok(target) => options.target = target,
            Err(why) => {
                options.target = self.target.clone();
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
            self.confine(&mut options);
        }
        Ok((options, notes))
    }

    /// What the web researcher may open. Its caller's deny and ask rules hold. With a clean context the yes to the
    /// call, which names "any host", covers the rest. With untrusted content in the caller's context its prompt may
    /// carry data out, so every host that no rule names is asked about.
    fn confine(&self, options: &mut Options) {
        let Rules { allow, ask, deny } = self.rules;
        options.rules.deny.extend(deny.iter().cloned());
        options.more_folders = Vec::new();
        if self.taint == Taint::Clean || self.mode == Mode::Bypass {
            options.mode = if self.mode == Mode::Bypass { Mode::Bypass } else { Mode::DontAsk };
            let any = ["WebFetch", "web_search", "web_fetch"].iter();
            options.rules.allow = any.filter_map(|rule| Rule::parse(rule).ok()).collect();
            // What would be asked inside is not done.
            options.rules.deny.extend(ask.iter().cloned());
        } else {
            options.mode = Mode::Default;
            options.rules.allow =
                allow.iter().filter(|rule| rule.is_about_hosts()).cloned().collect();
            options.rules.ask.clone_from(ask);
        }
    }

    /// What the main agent is run with, and what the user should know of it.
    fn as_main(&self, agent: &Agent) -> Result<(Options, Vec<String>), String> {
        let mut notes = Vec::new();
        let mut options = self.narrowed(agent)?;
        let wanted = self.chosen(agent).filter(|_| self.options.meant == Meant::New);
        match wanted.map(|word| self.models().of(word)) {
            Some(Ok(target)) => options.target = target,
            Some(Err(why)) => {
                let own = self.target.model_ref();
                notes.push(format!("{}: {why}; {own} answers", agent.name));
            }
            None => {}
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
        Ok((options, notes))
    }

    /// The parent's options with the agent's tools.
    fn narrowed(&self, agent: &Agent) -> Result<Options, String> {
        let mut options = self.options.clone();
        options.tools = self.tools(agent)?;
        options.servers = mcp::of_agent(self.mind, agent).or(options.servers);
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
        let words = agent.tools.iter().flatten().map(|word| Word::read(word));
        let rules: Vec<Rule> = words.filter_map(Word::into_rule).collect();
        if !rules.is_empty() {
            options.bounds.push(Bound { agent: agent.name.clone(), rules });
        }
        Ok(options)
    }

    /// The tools an agent gets of those its parent has.
    fn tools(&self, agent: &Agent) -> Result<Tools, String> {
        let refused = |why: String| format!("The agent {} cannot be started: {why}.", agent.name);
        if agent.disallowed_tools.iter().any(|word| is_all(word)) {
            return Err(refused("its disallowedTools take every tool away".to_owned()));
        }
        let taken = agent.disallowed_tools.iter().map(|word| Word::read(word));
        let taken = taken.filter(|word| !matches!(word.part, Part::Some(_)));
        let taken: Vec<String> = taken.flat_map(|word| word.tools).collect();
        let wanted = agent.tools.as_ref().filter(|tools| !tools.iter().any(|it| is_all(it)));
        let Some(wanted) = wanted else { return Ok(without(self.options.tools.clone(), taken)) };
        let given = wanted.iter().map(|word| Word::read(word));
        let given = given.filter(|word| !matches!(word.part, Part::Unclear(_)));
        let mut named: Vec<String> = given.flat_map(|word| word.tools).collect();
        if agent.memory.is_some() {
            named.extend(memory::TOOLS.map(str::to_owned));
        }
        let known = |name: &str| {
            name.starts_with("mcp_") || self.mind.registry.iter().any(|tool| tool.name() == name)
        };
        named.retain(|name| toolset::includes(&self.options.tools, name) && known(name));
        let tools = without(Tools::Only(named.clone()), taken);
        if !named.iter().any(|name| toolset::includes(&tools, name)) {
            let list = wanted.join(", ");
            return Err(refused(format!("none of its tools is here ({list})")));
        }
        // A name with a star may stand for tools its parent does not have.
        Ok(without(tools, taken_from(&self.options.tools)))
    }

    /// The word for an agent's model: the settings' before its own.
    fn chosen<'a>(&'a self, agent: &'a Agent) -> Option<&'a str> {
        let settings = self.mind.config.agents.of(&agent.name);
        settings.and_then(|settings| settings.model.as_deref()).or(agent.model.as_deref())
    }

    /// The models its words can stand for.
    fn models(&self) -> Choice<'_> {
        Choice { mind: self.mind, top: self.top, caller: &self.target }
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
        Budget { turn, span: Span::Task, ..Budget::default() }
    }
}

/// The tools a choice leaves out.
fn taken_from(tools: &Tools) -> Vec<String> {
    match tools {
        Tools::But(of, names) => taken_from(of).into_iter().chain(names.iter().cloned()).collect(),
        Tools::All | Tools::Only(_) | Tools::None => Vec::new(),
    }
}

/// A choice of tools without some.
fn without(tools: Tools, taken: Vec<String>) -> Tools {
    if taken.is_empty() { tools } else { Tools::But(Box::new(tools), taken) }
}

/// What an agent may not do with tools it has, by rules such as `Bash(rm:*)`.
fn denied(agent: &Agent) -> Vec<Rule> {
    let words = agent.disallowed_tools.iter().map(|word| Word::read(word));
    words.filter_map(Word::into_rule).collect()
}
