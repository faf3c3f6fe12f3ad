//! `caiman config`: the settings as they are, where they come from, and what is wrong with them.

use base::protocol::TrustState;
use clap::Subcommand;
use serde_json::{Value, json};
use settings::{FileState, Leaf, Loaded, ReadFile, Severity};

use crate::app::App;
use crate::failure::Failure;
use crate::render;

/// Show, check and explain settings.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the merged settings and the file and line each value came from, secrets masked.
    Show {
        /// Only this setting and those below it, such as `options.tui`.
        key: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// With --json, print a list of values with their files instead of the merged object.
        #[arg(long)]
        origin: bool,
    },
    /// Look for mistakes in all settings files; fails when there is an error.
    Check {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the files settings are read from, lowest priority first.
    Path {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the settings.
    Schema,
    /// Print the manual of all settings.
    Docs,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: Args) -> Result<(), Failure> {
    match args.what {
        What::Show { key, json, origin } => {
            let loaded = app.load_config();
            let form = match (json, origin) {
                (false, _) => Form::Lines,
                (true, false) => Form::Merged,
                (true, true) => Form::Leaves,
            };
            show(&loaded, key.as_deref(), form)
        }
        What::Check { json } => check(&settings::load(&app.sources()), json),
        What::Path { json } => {
            let files = settings::load(&app.sources()).files;
            if json { render::json(&files) } else { render::out(&paths_text(&files)) }
        }
        What::Schema => render::json(settings::schema()),
        What::Docs => render::out(&settings::reference()),
    }
}

/// How settings are printed.
#[derive(Clone, Copy)]
enum Form {
    Lines,
    Merged,
    Leaves,
}

fn show(loaded: &Loaded, key: Option<&str>, form: Form) -> Result<(), Failure> {
    let mut leaves = loaded.origins.leaves();
    leaves.retain(|leaf| key.is_none_or(|key| lies_at(&leaf.path, key)));
    if let (Some(key), true) = (key, leaves.is_empty()) {
        return Err(Failure::user(format!("no file sets `{key}`"))
            .hint("`caiman config docs` lists all settings and their defaults"));
    }
    match form {
        Form::Leaves => render::json(&leaves),
        Form::Merged => {
            let merged = loaded.origins.shown();
            render::json(key.map_or(Some(&merged), |key| value_at(&merged, key)).unwrap_or(&merged))
        }
        Form::Lines if leaves.is_empty() => render::out("No file sets anything.\n"),
        Form::Lines => render::out(&render::lines(leaves.iter().map(leaf_line))),
    }
}

fn leaf_line(leaf: &Leaf) -> String {
    let Leaf { path, value, origin } = leaf;
    format!("{path} = {value}  # {}:{}", origin.file.display(), origin.line)
}

/// Whether a path is the key's or below it.
fn lies_at(path: &str, key: &str) -> bool {
    path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The value at a path such as `providers.x.models[0].id`. A free key may hold dots itself, so the
/// longest key that fits is tried first.
fn value_at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    if path.is_empty() {
        return Some(value);
    }
    match value {
        Value::Object(entries) => {
            let mut fitting: Vec<_> =
                entries.iter().filter(|(key, _)| lies_at(path, key)).collect();
            fitting.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
            fitting.into_iter().find_map(|(key, inner)| {
                let rest = &path[key.len()..];
                value_at(inner, rest.strip_prefix('.').unwrap_or(rest))
            })
        }
        Value::Array(items) => {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            value_at(item, rest.strip_prefix('.').unwrap_or(rest))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn check(loaded: &Loaded, as_json: bool) -> Result<(), Failure> {
    let count = |severity| loaded.problems.iter().filter(|it| it.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if as_json {
        let report = json!({"errors": errors, "warnings": warnings, "problems": loaded.problems});
        render::json(&report)?;
    } else {
        let files = loaded.files.iter().filter(|file| file.state != FileState::Absent).count();
        let summary = format!("files: {files}, errors: {errors}, warnings: {warnings}");
        render::out(&render::lines(
            loaded.problems.iter().map(ToString::to_string).chain([summary]),
        ))?;
    }
    if errors > 0 {
        return Err(Failure::config(format!("errors in settings: {errors}")));
    }
    Ok(())
}

fn paths_text(files: &[ReadFile]) -> String {
    let line = |file: &ReadFile| {
        let state = match file.state {
            FileState::Absent => "-     ",
            FileState::Read => "read  ",
            FileState::Broken => "broken",
        };
        let trust = match file.trust {
            Some(TrustState::Unknown | TrustState::Empty) => "  (not trusted)",
            Some(TrustState::Changed) => "  (changed since it was trusted)",
            Some(TrustState::Trusted) | None => "",
        };
        format!("{state}  {}{trust}", file.path.display())
    };
    render::lines(files.iter().map(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_finds_its_value_even_where_names_hold_dots() {
        let value = json!({"mcp": {"a.b": {"args": ["x", "y"]}, "a": {"c": 1}}});
        assert_eq!(value_at(&value, "mcp.a.b.args[1]"), Some(&json!("y")));
        assert_eq!(value_at(&value, "mcp.a.c"), Some(&json!(1)));
        assert_eq!(value_at(&value, "mcp.a.d"), None);
        assert_eq!(value_at(&value, "mcp.a.b.args[9]"), None);
    }

    #[test]
    fn a_key_covers_what_is_below_it_and_not_its_namesakes() {
        assert!(lies_at("options.tui.theme", "options.tui"));
        assert!(lies_at("options.disabled_tools[0]", "options.disabled_tools"));
        assert!(!lies_at("options.debug_lsp", "options.debug"));
    }
}
