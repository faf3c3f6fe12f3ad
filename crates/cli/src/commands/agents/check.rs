//! `caiman agents check`: what is wrong with definition files, by file and line.

use std::path::PathBuf;

use base::definition::shelf::agents_below;
use base::definition::{Problem, Weight};
use serde_json::json;

use super::found;
use crate::app::App;
use crate::failure::Failure;
use crate::render;

/// Checks the given files and folders, or what can be found from here.
pub(super) fn run(app: &App, paths: &[PathBuf], json: bool) -> Result<(), Failure> {
    let (agents, problems) = if paths.is_empty() {
        let found = found(app);
        (found.agents.len() + found.disabled_agents.len(), found.problems.clone())
    } else {
        below(app, paths)?
    };
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

fn below(app: &App, paths: &[PathBuf]) -> Result<(usize, Vec<Problem>), Failure> {
    let (mut agents, mut problems) = (0, Vec::new());
    for path in paths {
        let place = app.cwd.join(path);
        if !place.exists() {
            return Err(Failure::user(format!("there is no {}", path.display())));
        }
        let (read, told) = agents_below(&place);
        agents += read.len();
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
