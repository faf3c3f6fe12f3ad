//! `caiman login`: takes a key and keeps it where only its owner can read it.

mod hidden;

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::Secret;
use llm::catalog::{Access, Catalog, KeySource, ProviderEntry};
use llm::discover::Finder;
use llm::{Class, Http};
use serde::Serialize;
use settings::provider::ProviderKind;

use crate::app::App;
use crate::failure::{Failure, Kind};
use crate::{catalog, render, wiring};

/// No key is longer; a whole file piped by mistake is.
const KEY_LIMIT: u64 = 16 * 1024;
/// How long a provider may take to tell whether a key is good.
pub(crate) const CHECK_LIMIT: Duration = Duration::from_secs(5);

/// Store a provider's key, or list where each key comes from.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The provider, such as anthropic or openai; without it, all are listed.
    provider: Option<String>,

    /// Read the key from this file instead of the terminal or standard input.
    #[arg(long, value_name = "FILE", requires = "provider")]
    key_file: Option<PathBuf>,

    /// Ask the provider whether it takes the key before storing it.
    #[arg(long, requires = "provider")]
    check: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    provider: String,
    name: Option<String>,
    /// `key`, `cloud`, `open` or `missing`.
    access: &'static str,
    source: Option<String>,
    masked: Option<String>,
    variables: Vec<String>,
}

#[derive(Serialize)]
struct Kept {
    provider: String,
    stored_in: String,
    masked: String,
    checked: bool,
}

pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let catalog = catalog::open(app, &app.load_config().config);
    if catalog.credentials().tighten()? {
        let path = catalog.credentials().path().display();
        render::note(&format!("warning: others could read {path}; now only you can"));
    }
    match &args.provider {
        None => list(&catalog, args),
        Some(provider) => store(&catalog, provider, args),
    }
}

fn store(catalog: &Catalog, provider: &str, args: &Args) -> Result<(), Failure> {
    let entry = catalog.provider(provider)?;
    refuse_keyless(&entry)?;
    let key = match &args.key_file {
        Some(path) => from_file(path)?,
        None if io::stdin().is_terminal() => {
            let name = entry.provider.name.as_deref().unwrap_or(provider);
            hidden::read(&format!("{name} API key (not shown): "))?
        }
        None => from_stdin()?,
    };
    let key = sound(&key)?;
    if args.check {
        check(catalog, provider, &key)?;
    }
    let stored = catalog.credentials().put(provider, &key)?;
    if let Some(note) = stored.note {
        render::note(&format!("note: the keyring did not take the key ({note})"));
    }
    if let Some(note) = hidden_by(&entry) {
        render::note(&note);
    }
    if args.json {
        let stored_in = stored.place.to_string();
        let provider = provider.to_owned();
        return render::json(&Kept {
            provider,
            stored_in,
            masked: key.masked(),
            checked: args.check,
        });
    }
    render::out(&format!("Stored the key of {provider} ({}) in {}.\n", key.masked(), stored.place))
}

/// Some providers take no key at all; a stored one would be a promise nobody keeps.
pub(crate) fn refuse_keyless(entry: &ProviderEntry) -> Result<(), Failure> {
    let kind = entry.provider.kind.unwrap_or_default();
    if kind == ProviderKind::Demo {
        return Err(
            Failure::user("the demo needs no key").hint("caiman run --model demo/tour \"hello\"")
        );
    }
    if kind == ProviderKind::GoogleVertex {
        return Err(Failure::user(format!(
            "{} uses Google's own credentials, not a key",
            entry.id
        ))
        .hint("gcloud auth application-default login"));
    }
    Ok(())
}

fn from_file(path: &Path) -> Result<Secret, Failure> {
    let cannot =
        |error: io::Error| Failure::user(format!("cannot read {}: {error}", path.display()));
    bounded(std::fs::File::open(path).map_err(cannot)?).map_err(cannot)
}

fn from_stdin() -> Result<Secret, Failure> {
    let cannot = |error| Failure::user(format!("cannot read the key from standard input: {error}"));
    bounded(io::stdin().lock()).map_err(cannot)
}

fn bounded(source: impl Read) -> io::Result<Secret> {
    let mut text = String::new();
    source.take(KEY_LIMIT + 1).read_to_string(&mut text)?;
    Ok(Secret::new(text))
}

/// The key without the white space around it, if that can be a key.
pub(crate) fn sound(key: &Secret) -> Result<Secret, Failure> {
    let text = key.expose().trim();
    let inner = text.strip_prefix("Bearer ").unwrap_or(text);
    if text.is_empty() {
        return Err(Failure::user("the key is empty")
            .hint("paste it, or pipe it: caiman login openai < key.txt"));
    }
    if text.len() as u64 > KEY_LIMIT {
        return Err(Failure::user(format!("the key is longer than {KEY_LIMIT} bytes")));
    }
    if inner.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(Failure::user("the key holds white space or control characters")
            .hint("give the key alone, on one line"));
    }
    Ok(Secret::new(text))
}

/// Asks the provider for its models with the new key.
fn check(catalog: &Catalog, provider: &str, key: &Secret) -> Result<(), Failure> {
    let endpoint = catalog.endpoint_with_key(provider, key)?;
    let finder = Finder::new(Http::new());
    let asked = wiring::runtime()?.block_on(finder.with_limit(CHECK_LIMIT).models(&endpoint));
    match asked {
        Ok(_) => Ok(()),
        Err(error) if error.class == Class::Auth => {
            Err(Failure::new(Kind::Provider, format!("{provider} refuses the key: {error}"))
                .hint("nothing was stored"))
        }
        Err(error) => Err(Failure::new(
            Kind::Provider,
            format!("cannot check the key of {provider}: {error}"),
        )
        .hint("nothing was stored; without --check it will be")),
    }
}

/// A key that is looked for earlier hides the stored one.
pub(crate) fn hidden_by(entry: &ProviderEntry) -> Option<String> {
    match &entry.access {
        Access::Key(source @ (KeySource::Settings | KeySource::Variable(_))) => {
            Some(format!("note: the key of {source} is used before the stored one"))
        }
        Access::Key(KeySource::Stored(_))
        | Access::Cloud
        | Access::Open
        | Access::Missing { .. } => None,
    }
}

fn list(catalog: &Catalog, args: &Args) -> Result<(), Failure> {
    let rows: Vec<Row> = catalog.providers().iter().map(|entry| row(catalog, entry)).collect();
    if args.json {
        return render::json(&rows);
    }
    let head = ["PROVIDER", "KEY FROM", "KEY", "LOOKED FOR IN"].map(str::to_owned).to_vec();
    let line = |row: &Row| {
        let source = row.source.clone().unwrap_or_else(|| match row.access {
            "missing" => "-".to_owned(),
            other => format!("({other})"),
        });
        let masked = row.masked.clone().unwrap_or_else(|| "-".to_owned());
        vec![row.provider.clone(), source, masked, row.variables.join(", ")]
    };
    // Those that work come first, in the order they are tried.
    let (given, missing): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.access != "missing");
    let lines = given.into_iter().chain(missing).map(line);
    render::out(&render::columns(&std::iter::once(head).chain(lines).collect::<Vec<_>>()))?;
    render::note("store one with: caiman login PROVIDER");
    Ok(())
}

fn row(catalog: &Catalog, entry: &ProviderEntry) -> Row {
    let (access, source) = match &entry.access {
        Access::Key(source) => ("key", Some(source.to_string())),
        Access::Cloud => ("cloud", None),
        Access::Open => ("open", None),
        Access::Missing { .. } => ("missing", None),
    };
    let variables = match &entry.access {
        Access::Missing { variables } => variables.clone(),
        Access::Key(_) | Access::Cloud | Access::Open => entry.provider.key_variables.clone(),
    };
    Row {
        provider: entry.id.clone(),
        name: entry.provider.name.clone(),
        access,
        source,
        masked: catalog.masked_key(&entry.id),
        variables,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_without_the_space_around_it() {
        assert_eq!(sound(&Secret::new(" sk-abc\r\n")).unwrap().expose(), "sk-abc");
        assert_eq!(sound(&Secret::new("Bearer tok\n")).unwrap().expose(), "Bearer tok");
    }

    #[test]
    fn what_cannot_be_a_key_is_refused_without_being_repeated() {
        for bad in ["", " \n", "two words", "two\nlines", "bell\u{7}", &"x".repeat(20_000)] {
            let failure = sound(&Secret::new(bad)).unwrap_err();
            assert!(bad.trim().is_empty() || !failure.text().contains(bad.trim()));
        }
    }
}
