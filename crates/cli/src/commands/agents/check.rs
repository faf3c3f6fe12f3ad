//! `caiman agents check`: what is wrong with definition files, by file and line.

use std::path::PathBuf;

use agent::Around;
use serde_json::json;
use settings::definition::shelf::agents_below;
use settings::definition::{Agent, Problem, Weight};

use super::found;
use crate::app::App;
use crate::failure::Failure;
use crate::{catalog, render};

/// Checks the given files and folders, or what can be found from here.
pub(super) fn run(app: &App, paths: &[PathBuf], json: bool) -> Result<(), Failure> {
    let (config, found) = found(app);
    let (agents, mut problems) = if paths.is_empty() {
        let agents = found.agents.iter().chain(&found.disabled_agents).cloned().collect();
        (agents, found.problems.clone())
    } else {
        below(app, paths)?
    };
    let models = catalog::choices(&catalog::made(app, &config).0, None);
    let around = Around { config: &config, models: &models, definitions: &found };
    problems.extend(agents.iter().flat_map(|agent| missing(agent, &around)));
    let agents = agents.len();
    let broken = problems.iter().filter(|it| it.weight == Weight::Broken).count();
    if json {
        render::json(&json!({ "agents": agents, "broken": broken, "problems": problems }))?;
    } else {
        let lines = render::lines(problems.iter().map(ToString::to_string));
        render::out(&format!("{lines}{}\n", summary(agents, broken, &problems)))?;
    }
    match broken {
        0 => Ok(()),
        1 => Err(Failure::user("1 file cannot be used")),
        _ => Err(Failure::user(format!("{broken} files cannot be used"))),
    }
}

/// What an agent asks for that is not here.
fn missing(agent: &Agent, around: &Around<'_>) -> Vec<Problem> {
    let file = agent.home.file.clone().unwrap_or_default();
    let note = |text| Problem { file: file.clone(), line: None, weight: Weight::Note, text };
    agent::review_agent(agent, around).into_iter().map(note).collect()
}

fn below(app: &App, paths: &[PathBuf]) -> Result<(Vec<Agent>, Vec<Problem>), Failure> {
    let (mut agents, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let place = app.cwd.join(path);
        if !place.exists() {
            return Err(Failure::user(format!("there is no {}", path.display())));
        }
        let (read, told) = agents_below(&place);
        agents.extend(read);
        problems.extend(told);
    }
    Ok((agents, problems))
}

fn summary(agents: usize, broken: usize, problems: &[Problem]) -> String {
    let notes = problems.len() - broken;
    let agents = if agents == 1 { "1 agent".to_owned() } else { format!("{agents} agents") };
    match (broken, notes) {
        (0, 0) => format!("{agents}, nothing wrong."),
        _ => format!("{agents}; {broken} broken, {notes} noted."),
    }
}
