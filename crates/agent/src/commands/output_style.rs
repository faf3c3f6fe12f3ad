//! `/output-style [name]`: how answers are given in new sessions.

use super::{Command, Ctx, Needs, Reply};

pub(super) const COMMAND: Command = Command {
    name: "output-style",
    aliases: &["style"],
    arguments: "[name]",
    about: "shows or sets how answers are given",
    needs: Needs::Session,
    run,
};

/// Our own way.
const DEFAULT: (&str, &str) = ("default", "short, to the point");

fn run(arguments: &str, ctx: &Ctx<'_>) -> Reply {
    let styles = styles(ctx);
    if arguments.is_empty() {
        return Reply::Text(list(&styles, ctx.style));
    }
    match styles.iter().find(|(name, _)| name.eq_ignore_ascii_case(arguments)) {
        Some((name, _)) => Reply::Style {
            name: (*name).to_owned(),
            text: format!("Sessions that begin from now on answer in the style {name}."),
        },
        None => Reply::Text(format!(
            "There is no output style {arguments}.\n{}",
            list(&styles, ctx.style)
        )),
    }
}

fn styles<'a>(ctx: &Ctx<'a>) -> Vec<(&'a str, &'a str)> {
    let theirs = ctx.definitions.styles.iter();
    let theirs = theirs.map(|style| (style.name.as_str(), style.description.as_str()));
    let is_new = |(name, _): &(&str, &str)| !name.eq_ignore_ascii_case(DEFAULT.0);
    std::iter::once(DEFAULT).chain(theirs.filter(is_new)).collect()
}

fn list(styles: &[(&str, &str)], now: &str) -> String {
    let line = |(name, about): &(&str, &str)| {
        let mark = if name.eq_ignore_ascii_case(now) { '*' } else { ' ' };
        format!("{mark} {name:<20}{about}")
    };
    styles.iter().map(line).collect::<Vec<_>>().join("\n")
}
