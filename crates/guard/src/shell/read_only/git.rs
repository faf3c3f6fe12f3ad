//! `git`, subcommand by subcommand.

use super::options::{Banned, only, unsure};
use super::{NotReadOnly, Proof, Word};

/// Subcommands that read unless one of [`BANNED`] is there.
const READERS: &[&str] = &[
    "status",
    "diff",
    "log",
    "show",
    "shortlog",
    "describe",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "cat-file",
    "blame",
    "annotate",
    "name-rev",
    "merge-base",
    "for-each-ref",
    "show-ref",
    "count-objects",
    "check-ignore",
    "check-attr",
    "whatchanged",
    "diff-tree",
    "diff-files",
    "diff-index",
    "range-diff",
    "cherry",
    "grep",
    "version",
];

/// Options that write a file or run a program.
const BANNED: Banned = Banned {
    short: "O",
    long: &[
        "output",
        "ext-diff",
        "textconv",
        "filters",
        "open-files-in-pager",
        "show-signature",
        "paginate",
        "exec-path",
    ],
};

/// Proves that a git command reads the repository and no more.
pub(super) fn proof(arguments: &[Word]) -> Proof {
    let mut words = arguments;
    while let Some((first, rest)) = words.split_first() {
        let Some(text) = first.plain() else { return Err(unsure("git", first)) };
        match text {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => words = rest,
            "--version" => return Ok(()),
            _ if text.starts_with('-') => return Err(refused(text)),
            _ => return subcommand(text, rest),
        }
    }
    Ok(())
}

fn subcommand(name: &str, rest: &[Word]) -> Proof {
    // `%G` has git run the program that checks signatures.
    if let Some(format) = rest.iter().find(|it| it.raw.contains("%G")) {
        return Err(refused(&format.raw));
    }
    if READERS.contains(&name) {
        return BANNED.check("git", rest);
    }
    let first = rest.first().and_then(Word::plain);
    match name {
        "branch" => listing(
            "branch",
            rest,
            &[
                "-a",
                "-r",
                "-v",
                "-vv",
                "-av",
                "-avv",
                "--all",
                "--remotes",
                "--show-current",
                "--no-color",
            ],
        ),
        "tag" => listing("tag", rest, &["-n", "-n1"]),
        "remote" if first == Some("get-url") => BANNED.check("git", rest),
        "remote" => only("git remote", rest, &["-v", "--verbose"]),
        "stash" => match first {
            Some("list" | "show") => BANNED.check("git", rest),
            Some(_) | None => Err(refused("stash")),
        },
        "reflog" => match first {
            None | Some("show") => BANNED.check("git", rest),
            Some(option) if option.starts_with('-') => BANNED.check("git", rest),
            Some(_) => Err(refused("reflog")),
        },
        "worktree" => match first {
            Some("list") => BANNED.check("git", rest),
            Some(_) | None => Err(refused("worktree")),
        },
        "config" => config(rest),
        "symbolic-ref" => {
            only("git symbolic-ref", rest, &["HEAD", "--short", "-q", "refs/remotes/origin/HEAD"])
        }
        _ => Err(refused(name)),
    }
}

/// `branch` and `tag` list without operands or with `--list`, and make or delete otherwise.
fn listing(name: &str, rest: &[Word], flags: &[&str]) -> Proof {
    let lists = rest.iter().any(|it| matches!(it.plain(), Some("--list" | "-l")));
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if !word.may_be_option() && lists {
            continue;
        }
        let Some(text) = word.plain() else { return Err(unsure("git", word)) };
        match text {
            "--list" | "-l" => {}
            "--contains" | "--no-contains" | "--merged" | "--no-merged" | "--points-at" => {
                if words.next().is_some_and(Word::may_be_option) {
                    return Err(refused(name));
                }
            }
            _ if flags.contains(&text)
                || text.starts_with("--sort=")
                || text.starts_with("--format=") => {}
            _ => return Err(refused(&format!("{name} {text}"))),
        }
    }
    Ok(())
}

fn config(rest: &[Word]) -> Proof {
    let reads = ["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"];
    let scopes = [
        "--global",
        "--local",
        "--system",
        "--show-origin",
        "--show-scope",
        "--name-only",
        "-z",
        "--null",
    ];
    let mut asked = false;
    for word in rest {
        let Some(text) = word.plain() else { return Err(unsure("git", word)) };
        match text {
            _ if reads.contains(&text) => asked = true,
            _ if scopes.contains(&text) => {}
            _ if asked && !text.starts_with('-') => {}
            _ => return Err(refused(&format!("config {text}"))),
        }
    }
    if asked { Ok(()) } else { Err(refused("config")) }
}

fn refused(what: &str) -> NotReadOnly {
    NotReadOnly::new(format!("`git {what}` may do more than read"))
}
