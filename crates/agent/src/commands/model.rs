//! `/model [name]`: which model answers.

use base::{ModelRef, Op};

use super::{Command, Ctx, Needs, Reply};

pub(super) const COMMAND: Command = Command {
    name: "model",
    aliases: &[],
    arguments: "[provider/model]",
    about: "shows or changes the model",
    needs: Needs::Nothing,
    run,
};

/// Most models listed at once.
const LISTED: usize = 20;

fn run(arguments: &str, ctx: &Ctx<'_>) -> Reply {
    if arguments.is_empty() {
        let all: Vec<&ModelRef> = ctx.models.iter().collect();
        return Reply::Text(format!("{} answers. Others:\n{}", ctx.model, list(&all)));
    }
    match found(arguments, ctx.models).as_slice() {
        [] => Reply::Text(format!("No model is called {arguments}. /model lists them.")),
        [only] => Reply::Op(Op::SetModel { session: ctx.session, model: (*only).clone() }),
        several => Reply::Text(format!("Which one?\n{}", list(several))),
    }
}

/// The models a name may mean: exactly that one, else those whose id is it, else those that hold it.
fn found<'a>(name: &str, models: &'a [ModelRef]) -> Vec<&'a ModelRef> {
    let name = name.to_ascii_lowercase();
    let whole = |model: &ModelRef| model.to_string().to_ascii_lowercase();
    let ways: [&dyn Fn(&ModelRef) -> bool; 3] = [
        &|model| whole(model) == name,
        &|model| model.model.to_ascii_lowercase() == name,
        &|model| whole(model).contains(&name),
    ];
    let mut fits = ways.iter().map(|fits| models.iter().filter(|model| fits(model)).collect());
    fits.find(|found: &Vec<_>| !found.is_empty()).unwrap_or_default()
}

fn list(models: &[&ModelRef]) -> String {
    let mut lines: Vec<String> = models.iter().take(LISTED).map(ToString::to_string).collect();
    if models.len() > LISTED {
        lines.push(format!("and {} more", models.len() - LISTED));
    }
    lines.join("\n")
}
