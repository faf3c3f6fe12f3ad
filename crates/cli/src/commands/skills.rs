//! `caiman skills`: skills, as they are found from this folder.

use clap::Subcommand;
use serde_json::{Value, json};
use settings::definition::skill::{Callers, Context};
use settings::definition::{Problem, Shelf, Skill, Standing, Weight};
use settings::printable;

use super::session::text;
use crate::app::App;
use crate::failure::Failure;
use crate::render;

/// Most characters shown of a description in a list.
const DESCRIPTION_CHARS: usize = 80;

/// List and show skills.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the skills that can be used here.
    #[command(visible_alias = "ls")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show everything about one skill.
    Show {
        /// The skill.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub(crate) fn run(app: &App, args: Args) -> Result<(), Failure> {
    let found = Shelf::new(app.places(&app.load_config().config)).look(&app.cwd);
    if let What::List { .. } = args.what {
        tell_broken(&found.problems);
    }
    match args.what {
        What::List { json: true } => {
            render::json(&found.skills.iter().map(row).collect::<Vec<_>>())
        }
        What::List { json: false } if found.skills.is_empty() => {
            render::out("No skills here. A skill is a folder with a SKILL.md in .caiman/skills.\n")
        }
        What::List { json: false } => render::out(&table(&found.skills)),
        What::Show { name, json } => {
            let skill = found.skill(&name).ok_or_else(|| {
                Failure::user(format!("there is no skill `{name}`"))
                    .hint("caiman skills list shows those there are")
            })?;
            show(skill, json)
        }
    }
}

/// Tells which skills cannot be used, and why.
fn tell_broken(problems: &[Problem]) {
    let is_skill = |problem: &&Problem| problem.file.ends_with("SKILL.md");
    let broken = problems.iter().filter(|problem| problem.weight == Weight::Broken);
    for problem in broken.filter(is_skill) {
        render::note(&format!("not used: {}: {}", problem.file.display(), problem.text));
    }
}

fn show(skill: &Skill, json: bool) -> Result<(), Failure> {
    if json {
        let mut row = row(skill);
        row["body"] = Value::from(skill.body.clone());
        row["more"] = Value::from(skill.more.clone());
        return render::json(&row);
    }
    let rows = [
        ("name", Some(skill.name.clone())),
        ("source", Some(skill.home.to_string())),
        ("folder", Some(skill.folder.display().to_string())),
        ("description", Some(skill.description.clone())),
        ("when", skill.when_to_use.clone()),
        ("arguments", skill.argument_hint.clone()),
        ("called by", Some(callers(skill).join(" and "))),
        ("tools", Some(skill.allowed_tools.join(", ")).filter(|tools| !tools.is_empty())),
        ("runs as", (skill.context == Context::Fork).then(|| "a sub-agent".to_owned())),
    ];
    let rows = rows.into_iter().filter_map(|(label, value)| {
        value.map(|value| format!("{label:<12} {}", text::line(&value)))
    });
    render::out(&format!("{}\n{}\n", render::lines(rows), text::plain(&skill.body)))
}

fn table(skills: &[Skill]) -> String {
    let rows = skills.iter().map(|skill| {
        let description = text::short(&skill.description, DESCRIPTION_CHARS);
        let cells = [&text::line(&skill.name), &skill.home.to_string(), &description];
        cells.map(|cell| printable(cell).into_owned()).to_vec()
    });
    render::columns(&rows.collect::<Vec<_>>())
}

fn row(skill: &Skill) -> Value {
    json!({
        "name": skill.name,
        "description": skill.description,
        "when_to_use": skill.when_to_use,
        "source": skill.home.source.as_str(),
        "folder": skill.folder,
        "trusted": skill.home.standing == Standing::Trusted,
        "callers": callers(skill),
        "argument_hint": skill.argument_hint,
        "allowed_tools": skill.allowed_tools,
        "fork": skill.context == Context::Fork,
        "paths": skill.paths,
    })
}

fn callers(skill: &Skill) -> Vec<&'static str> {
    match skill.callers {
        Callers::Both => vec!["model", "user"],
        Callers::User => vec!["user"],
        Callers::Model => vec!["model"],
    }
}
