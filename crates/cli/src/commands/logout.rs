//! `caiman logout`: forgets stored keys.

use llm::catalog::{Access, Catalog, KeySource};
use serde::Serialize;

use crate::app::App;
use crate::failure::Failure;
use crate::{catalog, render};

/// Forget a stored key.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["provider", "all"]))]
pub(crate) struct Args {
    /// The provider.
    provider: Option<String>,

    /// Forget every stored key.
    #[arg(long)]
    all: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Forgotten {
    provider: String,
    was_in: String,
}

pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let catalog = catalog::open(app, &app.load_config().config);
    let asked: Vec<String> = match &args.provider {
        Some(provider) => vec![provider.clone()],
        None => catalog.credentials().list()?.into_iter().map(|listed| listed.provider).collect(),
    };
    let mut forgotten = Vec::new();
    for provider in &asked {
        if let Some(listed) = catalog.credentials().remove(provider)? {
            let was_in = listed.place.to_string();
            forgotten.push(Forgotten { provider: provider.clone(), was_in });
        }
    }
    if args.json {
        render::json(&forgotten)?;
    } else if forgotten.is_empty() {
        render::note(&nothing(&catalog, args)?);
    } else {
        let line = |gone: &Forgotten| {
            format!("Removed the key of {} from {}.\n", gone.provider, gone.was_in)
        };
        render::out(&forgotten.iter().map(line).collect::<String>())?;
    }
    for provider in &asked {
        warn_if_still_set(&catalog, provider);
    }
    Ok(())
}

/// Nothing to forget is what was wanted, unless the name is wrong.
fn nothing(catalog: &Catalog, args: &Args) -> Result<String, Failure> {
    let Some(provider) = &args.provider else { return Ok("no keys are stored".to_owned()) };
    catalog.provider(provider)?;
    Ok(format!("no key of {provider} is stored"))
}

/// A key in the environment or the settings is not ours to remove.
fn warn_if_still_set(catalog: &Catalog, provider: &str) {
    let Ok(entry) = catalog.provider(provider) else { return };
    if let Access::Key(source @ (KeySource::Settings | KeySource::Variable(_))) = entry.access {
        render::note(&format!("note: {provider} still has a key in {source}"));
    }
}
