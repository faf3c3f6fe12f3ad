//! The narrowest rules that a yes beyond one call may store.

use crate::rule::Rule;
use crate::shell::{Simple, Word};

/// Programs whose first operand says what they do.
const WITH_SUBCOMMANDS: &[&str] = &[
    "git",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "go",
    "docker",
    "podman",
    "kubectl",
    "gh",
    "glab",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "dotnet",
    "mvn",
    "gradle",
    "terraform",
    "helm",
    "brew",
    "apt",
    "apt-get",
    "rustup",
    "deno",
    "composer",
    "bundle",
    "mix",
    "nix",
    "systemctl",
    "aws",
    "gcloud",
    "az",
    "jj",
    "rails",
    "swift",
];

/// Subcommands that run what their operand names: the operand belongs to the rule.
const RUNS_NAMED: &[(&str, &[&str])] = &[
    ("npm", &["run", "run-script", "exec"]),
    ("pnpm", &["run", "exec", "dlx"]),
    ("yarn", &["run", "exec", "dlx"]),
    ("bun", &["run", "x"]),
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("docker", &["exec", "run", "compose"]),
    ("podman", &["exec", "run"]),
    ("bundle", &["exec"]),
    ("deno", &["run", "task"]),
    ("go", &["run"]),
    ("nix", &["run", "shell"]),
];

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
    let exact = || Rule::exact_command(&command.text());
    let Some(program) = command.program().filter(|_| command.wraps.is_none()) else {
        return exact();
    };
    let arguments = command.arguments();
    if SINGLE_PURPOSE.contains(&program) {
        return Rule::command_prefix(program);
    }
    let Some(verb) =
        arguments.first().and_then(operand).filter(|_| WITH_SUBCOMMANDS.contains(&program))
    else {
        return exact();
    };
    let runs = RUNS_NAMED.iter().find(|(name, _)| *name == program);
    if runs.is_some_and(|(_, verbs)| verbs.contains(&verb)) {
        return match arguments.get(1).and_then(operand) {
            Some(named) => Rule::command_prefix(&format!("{program} {verb} {named}")),
            None => exact(),
        };
    }
    Rule::command_prefix(&format!("{program} {verb}"))
}

/// A plain word that is no option and needs no quotes.
fn operand(word: &Word) -> Option<&str> {
    word.plain().filter(|text| {
        !text.starts_with('-')
            && !text.is_empty()
            && text.chars().all(|it| it.is_alphanumeric() || "-_./:@".contains(it))
    })
}
