//! The narrowest rules that a yes beyond one call may store.
//!
//! A rule with `*` is only offered where further words cannot make the command do something of another kind. Everything
//! that is not in the tables below is stored as the exact command.

use crate::rule::Rule;
use crate::shell::{Simple, Word};

/// Programs and the words after them that keep doing one kind of thing, whatever follows. Words that run other
/// programs (`git submodule`, `docker exec`), change settings (`git config`), install or fetch code, or act on a
/// remote system (`terraform apply`, `gh api`) must not be listed.
const NARROW: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "add",
            "blame",
            "branch",
            "checkout",
            "cherry-pick",
            "commit",
            "diff",
            "log",
            "merge",
            "mv",
            "push",
            "reset",
            "restore",
            "revert",
            "rm",
            "show",
            "stash",
            "status",
            "switch",
            "tag",
        ],
    ),
    ("jj", &["abandon", "commit", "describe", "diff", "log", "new", "show", "squash", "status"]),
    (
        "cargo",
        &[
            "bench", "build", "check", "clean", "clippy", "doc", "fmt", "nextest", "run", "test",
            "tree",
        ],
    ),
    ("rustup", &["show"]),
    ("npm", &["ci", "ls", "outdated", "test"]),
    ("pnpm", &["ls", "outdated", "test"]),
    ("yarn", &["build", "lint", "test"]),
    ("bun", &["test"]),
    ("deno", &["check", "fmt", "lint", "test"]),
    ("go", &["build", "fmt", "list", "test", "vet"]),
    ("pip", &["check", "freeze", "list", "show"]),
    ("pip3", &["check", "freeze", "list", "show"]),
    ("uv", &["lock", "sync", "tree"]),
    ("poetry", &["check", "lock", "show"]),
    ("dotnet", &["build", "clean", "format", "restore", "test"]),
    ("swift", &["build", "test"]),
    ("mix", &["compile", "format", "test"]),
    ("rails", &["routes", "test"]),
    ("composer", &["show", "validate"]),
    ("bundle", &["check", "list"]),
    ("docker", &["images", "inspect", "logs", "ps"]),
    ("podman", &["images", "inspect", "logs", "ps"]),
    ("kubectl", &["describe", "get", "logs", "top"]),
    ("terraform", &["fmt", "validate"]),
    ("brew", &["info", "list", "search"]),
    ("apt", &["list", "search", "show"]),
    ("systemctl", &["is-active", "list-units", "status"]),
    ("gh issue", &["list", "status", "view"]),
    ("gh pr", &["checks", "diff", "list", "status", "view"]),
    ("gh release", &["list", "view"]),
    ("gh repo", &["list", "view"]),
    ("gh run", &["list", "view", "watch"]),
    ("glab issue", &["list", "view"]),
    ("glab mr", &["diff", "list", "view"]),
];

/// Runs a script that the project names.
const RUNS_SCRIPT: &[&str] =
    &["npm run", "npm run-script", "pnpm run", "yarn run", "bun run", "deno task", "composer run"];

/// Names that scripts for building and testing usually have, also with a part behind `:` or `-`. A script of another
/// name may take any program as its arguments.
const USUAL_SCRIPTS: &[&str] = &[
    "build",
    "check",
    "compile",
    "coverage",
    "e2e",
    "fmt",
    "format",
    "lint",
    "test",
    "tests",
    "tsc",
    "typecheck",
    "types",
    "unit",
];

/// Runs a program of the project's environment: only programs of [`SINGLE_PURPOSE`] keep a prefix narrow.
const RUNS_PROGRAM: &[&str] = &["uv run", "poetry run", "bundle exec", "pnpm exec", "yarn exec"];

/// Runs one source file or package of the project, which belongs to the rule.
const RUNS_FILE: &[&str] = &["go run", "deno run"];

/// Programs that do one thing, whatever their operands.
const SINGLE_PURPOSE: &[&str] = &[
    "mkdir",
    "touch",
    "pytest",
    "jest",
    "vitest",
    "tsc",
    "eslint",
    "prettier",
    "black",
    "ruff",
    "mypy",
    "rustfmt",
    "gofmt",
    "shellcheck",
    "ctest",
    "phpunit",
    "rspec",
    "flake8",
    "pyright",
    "biome",
    "stylua",
];

/// The rule for one command of a line.
pub(super) fn for_command(command: &Simple) -> Option<Rule> {
    let prefix = command.program().filter(|_| command.wraps.is_none());
    let prefix = prefix.and_then(|program| narrow_prefix(program, command.arguments()));
    match prefix {
        Some(prefix) => Rule::command_prefix(&prefix),
        None => Rule::exact_command(&command.text()),
    }
}

/// The first words of a command if they decide what it does; `None` where a rule must name the whole command.
fn narrow_prefix(program: &str, arguments: &[Word]) -> Option<String> {
    if SINGLE_PURPOSE.contains(&program) {
        return Some(program.to_owned());
    }
    let mut words = arguments.iter().map_while(operand);
    let verb = words.next()?;
    if is_listed(program, verb) {
        return Some(format!("{program} {verb}"));
    }
    let group = format!("{program} {verb}");
    let named = words.next()?;
    let is_narrow = is_listed(&group, named)
        || RUNS_SCRIPT.contains(&group.as_str()) && is_usual_script(named)
        || RUNS_PROGRAM.contains(&group.as_str()) && SINGLE_PURPOSE.contains(&named)
        || RUNS_FILE.contains(&group.as_str());
    is_narrow.then(|| format!("{group} {named}"))
}

fn is_listed(words: &str, verb: &str) -> bool {
    NARROW.iter().any(|(known, verbs)| *known == words && verbs.contains(&verb))
}

fn is_usual_script(name: &str) -> bool {
    let first = name.split([':', '-']).next().unwrap_or(name);
    USUAL_SCRIPTS.contains(&first)
}

/// A plain word that is no option and needs no quotes.
fn operand(word: &Word) -> Option<&str> {
    word.plain().filter(|text| {
        !text.starts_with('-')
            && !text.is_empty()
            && text.chars().all(|it| it.is_alphanumeric() || "-_./:@".contains(it))
    })
}
