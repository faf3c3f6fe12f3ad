//! `git`, beyond its options: formats that run a program, and subcommands whose operands decide what they do.

use super::NotReadOnly;
use crate::shell::Word;

/// Checks the words after a subcommand; its options have been held against the table.
pub(super) fn check(subcommand: &str, rest: &[Word]) -> Result<(), NotReadOnly> {
    if let Some(format) = rest.iter().find(|it| verifies_signatures(it.plain().unwrap_or(&it.raw)))
    {
        return Err(refused(&format.raw));
    }
    let first = rest.first().and_then(Word::plain);
    match subcommand {
        "branch" | "tag" => listing(subcommand, rest),
        "stash" if !matches!(first, Some("list" | "show")) => Err(refused("stash")),
        "reflog" => match first {
            Some("expire" | "delete" | "drop" | "write") => Err(refused("reflog")),
            Some(_) => Ok(()),
            None if rest.is_empty() => Ok(()),
            None => Err(refused("reflog")),
        },
        "config" => config(rest),
        _ => Ok(()),
    }
}

/// Whether a format has git run the program that checks signatures: `%G?` with any padding or modifier between, or
/// `%(signature)`. Bytes can be spelled (`%x47`), but those are printed, not expanded again.
fn verifies_signatures(text: &str) -> bool {
    let expanded = text.replace("%%", "");
    expanded.split('%').skip(1).any(|rest| {
        let rest = rest.trim_start_matches(['+', '-', ' ', '\'', '<', '>', '|', '*']);
        rest.starts_with('G') || rest.starts_with("(signature") || rest.starts_with("(*signature")
    })
}

/// `branch` and `tag` list without operands or with an option that says so, and make or delete otherwise.
fn listing(name: &str, rest: &[Word]) -> Result<(), NotReadOnly> {
    const LISTS: &[&str] =
        &["--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];
    let option =
        |it: &Word| it.plain().map(|text| text.split('=').next().unwrap_or(text).to_owned());
    let options = rest.iter().take_while(|it| it.plain() != Some("--"));
    let lists = options.filter_map(option).any(|it| LISTS.contains(&it.as_str()));
    // `tag -n` lists as well, with a number attached.
    let lists = lists || (name == "tag" && rest.iter().any(|it| it.raw.starts_with("-n")));
    let operand = rest.iter().find(|it| it.plain().is_none_or(|text| !text.starts_with('-')));
    // `--sort key` and `--format text` may have their value apart.
    let takes_value = rest.iter().any(|it| matches!(it.plain(), Some("--sort" | "--format")));
    match operand {
        Some(operand) if !lists || takes_value => Err(refused(&format!("{name} {}", operand.raw))),
        Some(_) | None => Ok(()),
    }
}

/// `config` reads with an option that says so, or with one name.
fn config(rest: &[Word]) -> Result<(), NotReadOnly> {
    const READS: &[&str] = &["--get", "--get-all", "--get-regexp", "--list", "-l"];
    let mut words = Vec::new();
    for word in rest {
        let text = word.plain().ok_or_else(|| refused(&format!("config {}", word.raw)))?;
        words.push(text);
    }
    // Behind the first operand git takes every word for a value, dashes or not.
    let first =
        words.iter().position(|it| !it.starts_with('-') || *it == "--").unwrap_or(words.len());
    let (options, operands) = words.split_at(first);
    if operands.first() == Some(&"--") {
        return Err(refused("config --"));
    }
    let is_subcommand = matches!(operands.first(), Some(&("get" | "list")));
    if !is_subcommand && operands.iter().any(|it| it.starts_with('-')) {
        return Err(refused("config"));
    }
    let asks = options.iter().any(|it| READS.contains(it));
    let reads = match operands {
        [] => asks,
        // A bare word without a dot is a subcommand, not the name of a setting.
        [one] => asks || *one == "list" || one.contains('.'),
        ["list", rest @ ..] => rest.iter().all(|it| it.starts_with('-')),
        [first, ..] => asks && first.contains('.') || *first == "get",
    };
    if reads { Ok(()) } else { Err(refused("config")) }
}

fn refused(what: &str) -> NotReadOnly {
    NotReadOnly::new(format!("`git {what}` may do more than read"))
}
