//! What a session is run with: flags before settings.

use std::path::{Path, PathBuf};

use agent::budget::{self, Budget};
use agent::{Meant, Options, Tools};
use base::Money;
use base::protocol::Mode;
use guard::rule::{Collected, Extra, names};
use guard::{Rule, Rules, Runner};
use llm::{Reasoning, Target};
use settings::definition::Weight;
use settings::definition::agent::read_json;
use settings::{Config, Expander, Loaded, SelectedModel};

use super::flags::{Asked, Limits, Lock, Turns, Voice};
use super::servers;
use crate::app::App;
use crate::failure::Failure;
use crate::wiring;

/// What the session is run with, and what is wrong with the settings.
pub(crate) fn options(
    app: &App,
    args: Asked<'_>,
    loaded: &Loaded,
    (target, small): (Target, Option<Target>),
) -> Result<(Options, Vec<String>), Failure> {
    let settings = &loaded.config;
    let mut warnings = agents(args.place.agents.as_deref())?;
    warnings.extend(servers::forbidden(settings));
    let chosen = wiring::chosen(settings, &target);
    let (system_prompt, append_prompt) = prompts(app, args.voice)?;
    let options = Options {
        reasoning: reasoning(args.voice, chosen.and_then(SelectedModel::effort)),
        max_tokens: args.voice.max_tokens.or(chosen.and_then(|chosen| chosen.max_tokens)),
        sampling: chosen.map(wiring::sampling).unwrap_or_default(),
        target,
        meant: if args.voice.model.is_some() { Meant::All } else { Meant::New },
        small,
        mode: mode(args.lock, settings),
        rules: rules(app, args.lock, loaded, &mut warnings)?,
        budget: budget(args.limits, settings, args.turns),
        more_folders: more_folders(app, args.lock, settings, &mut warnings)?,
        tools: tools(args.lock.tools.as_deref())?,
        servers: None,
        agent: args.place.agent.clone(),
        bounds: Vec::new(),
        system_prompt,
        append_prompt,
        output_style: None,
    };
    Ok((options, warnings))
}

/// What is odd about the agents of the command line; one that cannot be used is an error there.
fn agents(json: Option<&str>) -> Result<Vec<String>, Failure> {
    let (_, problems) = json.map(read_json).unwrap_or_default();
    let broken = problems.iter().find(|problem| problem.weight == Weight::Broken);
    match broken {
        Some(problem) => Err(Failure::user(format!("--agents: {}", problem.text))
            .hint(r#"write {"name": {"description": "…", "prompt": "…"}}"#)),
        None => Ok(problems.iter().map(ToString::to_string).collect()),
    }
}

fn reasoning(voice: &Voice, of_settings: Option<base::Effort>) -> Reasoning {
    match (voice.effort.or(of_settings), voice.max_thinking_tokens) {
        (_, Some(tokens)) if tokens > 0 => Reasoning::Budget(tokens),
        (Some(effort), _) => Reasoning::Effort(effort),
        (None, _) => Reasoning::ModelDefault,
    }
}

/// What may be done without asking.
pub(crate) fn mode(lock: &Lock, settings: &Config) -> Mode {
    if lock.yolo {
        return Mode::Bypass;
    }
    lock.mode.unwrap_or(settings.permissions.default_mode)
}

/// How much may be spent. A turn's time is the run's, whose clock has an exit code of its own, unless a
/// program at the other end has more turns in store.
fn budget(limits: &Limits, settings: &Config, turns: Turns) -> Budget {
    let flags = budget::Limits {
        steps: limits.max_steps,
        cost: limits.max_cost.map(Money::from_dollars),
        ..budget::Limits::default()
    };
    let mut budget = Budget::new(&settings.budgets, flags);
    if turns == Turns::One {
        budget.turn.time = None;
    }
    budget
}

/// The rules of flags and settings. A broken one is an error on the command line and a warning in a file.
fn rules(
    app: &App,
    lock: &Lock,
    loaded: &Loaded,
    warnings: &mut Vec<String>,
) -> Result<Rules, Failure> {
    let list = |texts: &[String]| texts.iter().flat_map(|text| split(text)).collect::<Vec<_>>();
    let (allow, deny) = (list(&lock.allow), list(&lock.deny));
    for text in allow.iter().chain(&deny) {
        Rule::parse(text).map_err(|error| {
            Failure::user(error.to_string())
                .hint("rules look like 'Bash(git log:*)', 'Edit(src/**)' or 'WebFetch'")
        })?;
    }
    let extra = Extra { allow: &allow, deny: &deny, ..Extra::default() };
    let permissions = &loaded.config.permissions;
    let collected = Collected::from_settings(permissions, &loaded.origins, &app.paths, &extra);
    warnings.extend(collected.warnings.iter().map(|warning| format!("warning: {warning}")));
    Ok(collected.rules)
}

/// Tools that a rule denies whatever they are used for: the model is not even offered them.
pub(crate) fn denied_tools(lock: &Lock, settings: &Config) -> Vec<String> {
    let of_flags = lock.deny.iter().flat_map(|text| split(text));
    let all = of_flags.chain(settings.permissions.deny.iter().cloned());
    all.flat_map(|rule| names::ours(&rule)).collect()
}

/// The items of a list: separated by commas or spaces outside brackets.
fn split(list: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_usize;
    for character in list.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match items.last_mut() {
            Some(item) if depth > 0 || !(character == ',' || character.is_whitespace()) => {
                item.push(character);
            }
            Some(_) | None => items.push(String::new()),
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// Tools of `--tools`, by any name they have.
fn tools(list: Option<&str>) -> Result<Tools, Failure> {
    let Some(list) = list else { return Ok(Tools::All) };
    let mut ours = Vec::new();
    for name in split(list) {
        let known = names::ours(&name);
        if name == "default" {
            return Ok(Tools::All);
        }
        if known.is_empty() {
            return Err(Failure::user(format!("--tools: there is no tool `{name}`"))
                .hint(format!("the tools are {}", names::OURS.join(", "))));
        }
        ours.extend(known);
    }
    Ok(if ours.is_empty() { Tools::None } else { Tools::Only(ours) })
}

/// Folders outside the workspace that count as inside. A flag must name a folder; a setting that does not
/// is passed over aloud.
fn more_folders(
    app: &App,
    lock: &Lock,
    settings: &Config,
    warnings: &mut Vec<String>,
) -> Result<Vec<PathBuf>, Failure> {
    let mut folders = Vec::new();
    for named in &lock.add_dir {
        let folder = placed(app, &app.cwd, &named.to_string_lossy());
        if !folder.is_dir() {
            let text = format!("--add-dir {}: there is no such folder", named.display());
            return Err(Failure::user(text));
        }
        folders.push(folder);
    }
    let expander = Expander { env: &app.env, runner: Some(&Runner) };
    for named in &settings.permissions.additional_directories {
        match expander.text(named) {
            Ok(text) if placed(app, &app.cwd, &text).is_dir() => {
                folders.push(placed(app, &app.cwd, &text));
            }
            Ok(_) => warnings.push(format!(
                "warning: permissions.additional_directories: there is no folder {named}"
            )),
            Err(error) => warnings
                .push(format!("warning: permissions.additional_directories: {named}: {error}")),
        }
    }
    Ok(folders)
}

fn placed(app: &App, cwd: &Path, path: &str) -> PathBuf {
    match Path::new(path).strip_prefix("~") {
        Ok(rest) => app.paths.home().join(rest),
        Err(_) => cwd.join(path),
    }
}

/// What replaces the system prompt, and what is added to it.
fn prompts(app: &App, voice: &Voice) -> Result<(Option<String>, Option<String>), Failure> {
    let read = |text: &Option<String>, file: &Option<PathBuf>| match (text, file) {
        (Some(text), _) => Ok(Some(text.clone())),
        (None, Some(file)) => {
            let path = app.cwd.join(file);
            let text = std::fs::read_to_string(&path);
            text.map(Some).map_err(|error| {
                Failure::user(format!("cannot read the prompt {}: {error}", path.display()))
            })
        }
        (None, None) => Ok(None),
    };
    let whole = read(&voice.system_prompt, &voice.system_prompt_file)?;
    let more = read(&voice.append_system_prompt, &voice.append_system_prompt_file)?;
    Ok((whole, more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_outside_brackets_only() {
        assert_eq!(
            split("Bash(git log:*, x),Edit Read(a b)"),
            ["Bash(git log:*, x)", "Edit", "Read(a b)"]
        );
        assert_eq!(split(" , "), Vec::<String>::new());
        assert_eq!(split("Bash(open, Edit"), ["Bash(open, Edit"]);
    }

    #[test]
    fn broken_agents_on_the_command_line_are_an_error_that_says_why() {
        let told = |json| agents(Some(json)).map_err(|failure| failure.message);
        assert!(told("{oops").unwrap_err().contains("not JSON"));
        assert!(told(r#"{"a": {"prompt": "x"}}"#).unwrap_err().contains("`description`"));
        assert_eq!(told(r#"{"a": {"description": "d", "prompt": "x"}}"#), Ok(Vec::new()));
        let odd = r#"{"a": {"description": "d", "prompt": "x", "color": "no such"}}"#;
        assert_eq!(told(odd).map(|told| told.len()), Ok(1));
    }

    #[test]
    fn an_empty_list_of_tools_offers_none() {
        let offered = |list| tools(list).map_err(|failure| failure.message);
        assert_eq!(offered(None), Ok(Tools::All));
        assert_eq!(offered(Some("")), Ok(Tools::None));
        assert_eq!(offered(Some("default")), Ok(Tools::All));
        let two = Tools::Only(vec!["view".into(), "bash".into()]);
        assert_eq!(offered(Some("Read,bash")), Ok(two));
        assert!(offered(Some("Raed")).is_err());
    }
}
