//! One handler, ready to be run, and the list of all a session has.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::protocol::Mode;
use guard::policy::CageState;
use guard::{Action, Decision, Fence, Policy, Rule, Rules, Taint};
use settings::definition::{self, Plugin, Standing};
use settings::{Config, Hook, HookFailure};

use super::matcher::{Matcher, Subject};
use super::occasion::Occasion;

/// Longest part of a command that stands for a handler without a name.
const LABEL_CHARS: usize = 60;

/// Whose a handler is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The settings'.
    Settings,
    /// A plugin's, by its name.
    Plugin(String),
    /// An agent's, by its name.
    Agent(String),
    /// A skill's, by its name.
    Skill(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings => f.write_str("settings"),
            Self::Plugin(name) => write!(f, "plugin {name}"),
            Self::Agent(name) => write!(f, "agent {name}"),
            Self::Skill(name) => write!(f, "skill {name}"),
        }
    }
}

/// A hook that can be run.
#[derive(Debug)]
pub struct Handler {
    /// When it runs.
    pub occasion: Occasion,
    /// Whose it is.
    pub source: Source,
    /// The hook, as it was written.
    pub hook: Hook,
    matcher: Matcher,
    condition: Option<Rule>,
    /// Which of its source's handlers for the event it is, counted from zero.
    pub position: usize,
    /// The folder of the plugin or skill it belongs to.
    pub(super) root: Option<PathBuf>,
    /// Whether it has run: some run only once.
    spent: AtomicBool,
}

/// The call an event is about, for handlers with a condition.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The tool, by our name.
    pub tool: &'a str,
    /// What the call would do.
    pub actions: &'a [Action],
    /// The folders of the session.
    pub fence: &'a Fence,
}

impl Handler {
    /// Its name, or else the beginning of what it runs.
    pub fn label(&self) -> String {
        let what = self.hook.url.as_deref().unwrap_or(&self.hook.command);
        let text = self.hook.name.as_deref().unwrap_or(what);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LABEL_CHARS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    /// How long it may take.
    pub fn patience(&self) -> Duration {
        let own = self.hook.timeout_s.and_then(|wanted| Duration::try_from_secs_f64(wanted).ok());
        own.unwrap_or(self.occasion.patience())
    }

    /// Whether its yes counts. One that runs for more than was meant can forbid, and no more.
    pub(super) fn may_allow(&self) -> bool {
        !matches!(self.matcher, Matcher::Unreadable)
    }

    /// Whether the event is for it. A condition is about tool calls; of a call whose doings nobody knows it holds.
    fn is_meant(&self, subject: Subject<'_>, call: Option<&Judged<'_>>) -> bool {
        let is_about = || match (subject, &self.condition, call) {
            (Subject::Word(_) | Subject::Nothing, _, _) => false,
            (Subject::Tool(_), Some(rule), Some(call)) => call.is(rule),
            (Subject::Tool(_), None, _) | (Subject::Tool(_), _, None) => true,
        };
        self.matcher.matches(subject) && (self.hook.condition.is_none() || is_about())
    }

    /// Whether it may run now; one that runs once has then had its turn.
    fn takes_its_turn(&self) -> bool {
        !self.hook.once || !self.spent.swap(true, Ordering::Relaxed)
    }

    /// Whether both do the same.
    fn is_like(&self, other: &Self) -> bool {
        let what = |it: &Self| {
            let hook = &it.hook;
            (hook.command.clone(), hook.args.clone(), hook.url.clone(), hook.headers.clone())
        };
        self.root == other.root && self.condition == other.condition && what(self) == what(other)
    }
}

impl Judged<'_> {
    /// Whether a rule is about the call: the lock is asked what it would say if the rule forbade it.
    fn is(&self, rule: &Rule) -> bool {
        let rules = Rules { deny: vec![rule.clone()], ..Rules::default() };
        let (fence, cage) = (self.fence.clone(), CageState::Missing);
        let policy = Policy { rules, mode: Mode::Bypass, fence, cage, bounds: Vec::new() };
        policy.decide(self.tool, self.actions, &Taint::Clean).decision == Decision::Deny
    }
}

/// All handlers of a session.
#[derive(Debug, Clone, Default)]
pub struct Handlers {
    by_occasion: [Vec<Arc<Handler>>; Occasion::ALL.len()],
}

/// Whether handlers of an agent's or skill's file wait for the end of a session or of a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    /// `Stop` is what it says.
    Main,
    /// The session is a sub-agent's: its `Stop` is `SubagentStop`.
    Sub,
}

impl Handlers {
    /// Those of the settings and of trusted plugins; what cannot be used is told.
    pub fn new(config: &Config, plugins: &[Plugin]) -> (Self, Vec<String>) {
        let mut handlers = Self::default();
        let mut warnings = Vec::new();
        if config.options.disable_hooks {
            return (handlers, warnings);
        }
        warnings.extend(handlers.add(&Source::Settings, &config.hooks, None, Stops::Main));
        for plugin in plugins.iter().filter(|plugin| plugin.standing == Standing::Trusted) {
            let source = Source::Plugin(plugin.name.clone());
            let root = Some(plugin.folder.as_path());
            warnings.extend(handlers.add(&source, &plugin.hooks, root, Stops::Main));
        }
        (handlers, warnings)
    }

    /// Adds the handlers of one source; what cannot be used is told.
    pub(super) fn add(
        &mut self,
        source: &Source,
        hooks: &definition::Hooks,
        root: Option<&Path>,
        stops: Stops,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        for (event, list) in hooks {
            let occasion = match (Occasion::of_name(event), stops) {
                (Some(Occasion::Stop), Stops::Sub) => Occasion::SubagentStop,
                (Some(occasion), _) => occasion,
                (None, _) => continue,
            };
            for (position, hook) in list.iter().enumerate() {
                let (handler, trouble) = made(occasion, source, hook, root);
                let handler = handler.map(|handler| Arc::new(Handler { position, ..handler }));
                self.by_occasion[occasion.index()].extend(handler);
                warnings.extend(trouble.map(|why| format!("hook {occasion} of {source}: {why}")));
            }
        }
        warnings
    }

    /// Those of one occasion.
    pub fn of(&self, occasion: Occasion) -> &[Arc<Handler>] {
        &self.by_occasion[occasion.index()]
    }

    /// Those of one occasion that are meant, each once, in the order they were written.
    pub fn meant(
        &self,
        occasion: Occasion,
        subject: Subject<'_>,
        call: Option<&Judged<'_>>,
    ) -> Vec<Arc<Handler>> {
        let mut meant: Vec<Arc<Handler>> = Vec::new();
        for handler in self.of(occasion) {
            let is_new = !meant.iter().any(|known| known.is_like(handler));
            if is_new && handler.is_meant(subject, call) && handler.takes_its_turn() {
                meant.push(handler.clone());
            }
        }
        meant
    }
}

/// A handler that can be run, and what is wrong with it.
fn made(
    occasion: Occasion,
    source: &Source,
    hook: &Hook,
    root: Option<&Path>,
) -> (Option<Handler>, Option<String>) {
    if hook.command.trim().is_empty() && hook.url.is_none() {
        return (None, Some("it has neither `command` nor `url` and is not run".to_owned()));
    }
    // What guards a door guards all doors when nobody can read which one is meant.
    let guards = hook.fail == HookFailure::Closed || occasion == Occasion::PreToolUse;
    let (matcher, trouble) = match Matcher::parse(hook.matcher.as_deref()) {
        Ok(matcher) => (matcher, None),
        Err(error) => {
            let but = if guards { "it runs for everything" } else { "it is not run" };
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            let trouble = format!("its matcher is not a regular expression and {but}: {last}");
            if !guards {
                return (None, Some(trouble));
            }
            (Matcher::Unreadable, Some(trouble))
        }
    };
    let handler = Handler {
        occasion,
        source: source.clone(),
        hook: hook.clone(),
        matcher,
        // A condition nobody can read holds always.
        condition: hook.condition.as_deref().and_then(|rule| Rule::parse(rule).ok()),
        position: 0,
        root: root.map(Path::to_owned),
        spent: AtomicBool::new(false),
    };
    (Some(handler), trouble)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hooks(entries: &[(&str, Hook)]) -> Handlers {
        let mut config = Config::default();
        for (event, hook) in entries {
            config.hooks.entry((*event).to_owned()).or_default().push(hook.clone());
        }
        Handlers::new(&config, &[]).0
    }

    fn hook(command: &str) -> Hook {
        Hook { command: command.to_owned(), ..Hook::default() }
    }

    fn meant(handlers: &Handlers, tool: &str) -> Vec<String> {
        let meant = handlers.meant(Occasion::PreToolUse, Subject::Tool(tool), None);
        meant.iter().map(|handler| handler.label()).collect()
    }

    #[test]
    fn the_same_handler_runs_once_however_often_it_is_written() {
        let named = Hook { matcher: Some("Bash".to_owned()), ..hook("a") };
        let handlers =
            hooks(&[("PreToolUse", hook("a")), ("PreToolUse", named), ("PreToolUse", hook("b"))]);
        assert_eq!(meant(&handlers, "bash"), ["a", "b"]);
    }

    #[test]
    fn a_handler_for_once_has_one_turn() {
        let handlers = hooks(&[("PreToolUse", Hook { once: true, ..hook("a") })]);
        assert_eq!(meant(&handlers, "bash"), ["a"]);
        assert!(meant(&handlers, "bash").is_empty());
    }

    #[test]
    fn an_unreadable_matcher_is_told_and_guards_everything_but_allows_nothing() {
        let broken = Hook { matcher: Some("(".to_owned()), ..hook("a") };
        let closed = Hook { fail: HookFailure::Closed, ..broken.clone() };
        let mut config = Config::default();
        config.hooks.insert("PreToolUse".to_owned(), vec![broken.clone()]);
        config.hooks.insert("PostToolUse".to_owned(), vec![broken, closed]);
        let (handlers, warnings) = Handlers::new(&config, &[]);
        assert_eq!((meant(&handlers, "bash").len(), warnings.len()), (1, 3), "{warnings:?}");
        assert_eq!(handlers.of(Occasion::PostToolUse).len(), 1);
        assert!(!handlers.of(Occasion::PreToolUse)[0].may_allow());
        config.options.disable_hooks = true;
        assert!(Handlers::new(&config, &[]).0.of(Occasion::PreToolUse).is_empty());
    }

    #[test]
    fn a_condition_is_about_tool_calls_and_nothing_else() {
        let only = Hook { condition: Some("Bash(git push:*)".to_owned()), ..hook("a") };
        let handlers = hooks(&[("Stop", only.clone()), ("PreToolUse", only)]);
        assert!(handlers.meant(Occasion::Stop, Subject::Nothing, None).is_empty());
        assert_eq!(meant(&handlers, "bash").len(), 1, "who knows what this call does");
    }

    #[test]
    fn a_part_of_a_second_is_patience_enough() {
        let handlers = hooks(&[("Stop", Hook { timeout_s: Some(0.25), ..hook("a") })]);
        assert_eq!(handlers.of(Occasion::Stop)[0].patience(), Duration::from_millis(250));
    }

    #[test]
    fn only_trusted_plugins_have_their_hooks_run() {
        let mut plugin = Plugin {
            name: "p".to_owned(),
            version: None,
            description: None,
            folder: "/p".into(),
            hooks: definition::Hooks::from([("PreToolUse".to_owned(), vec![hook("a")])]),
            mcp_servers: std::collections::BTreeMap::new(),
            standing: Standing::Untrusted,
        };
        let count = |plugin: &Plugin| {
            let (handlers, _) = Handlers::new(&Config::default(), std::slice::from_ref(plugin));
            handlers.of(Occasion::PreToolUse).len()
        };
        assert_eq!(count(&plugin), 0);
        plugin.standing = Standing::Trusted;
        assert_eq!(count(&plugin), 1);
    }

    #[test]
    fn a_sub_agents_stop_is_the_end_of_the_sub_agent() {
        let list = definition::Hooks::from([("Stop".to_owned(), vec![hook("a")])]);
        let mut handlers = Handlers::default();
        handlers.add(&Source::Agent("x".to_owned()), &list, None, Stops::Sub);
        assert!(handlers.of(Occasion::Stop).is_empty());
        assert_eq!(handlers.of(Occasion::SubagentStop).len(), 1);
    }

    #[test]
    fn a_condition_is_a_rule_about_the_call() {
        let dir = tempfile::tempdir().unwrap();
        let fence = Fence::new(dir.path(), &[], dir.path()).unwrap();
        let folder = fence.locate(".").unwrap();
        let only = Hook { condition: Some("Bash(git push:*)".to_owned()), ..hook("a") };
        let handlers = hooks(&[("PreToolUse", only)]);
        for (command, expected) in [("git push origin", 1), ("cd x && git push", 1), ("git log", 0)]
        {
            let command = command.to_owned();
            let actions = [Action::Run { command, folder: folder.clone(), uncaged: false }];
            let call = Judged { tool: "bash", actions: &actions, fence: &fence };
            let meant = handlers.meant(Occasion::PreToolUse, Subject::Tool("bash"), Some(&call));
            assert_eq!(meant.len(), expected, "{actions:?}");
        }
    }
}
