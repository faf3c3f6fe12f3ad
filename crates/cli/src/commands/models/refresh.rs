//! `caiman models refresh`: asks providers for their lists. One that fails does not stop the others.

use std::time::Duration;

use futures::future::join_all;
use llm::catalog::{Catalog, ProviderEntry};
use llm::discover::{Changes, Finder, RefreshError};
use llm::{Class, Http};
use serde::Serialize;
use settings::provider::ProviderKind;

use crate::app::App;
use crate::failure::{Failure, Kind};
use crate::{render, wiring};

/// Lists of the big gateways are slow.
const LIMIT: Duration = Duration::from_secs(10);
/// Most new ids named in a line; JSON has them all.
const NAMED: usize = 8;

/// Ask providers for their lists of models.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this provider.
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    provider: String,
    listed: usize,
    added: Vec<String>,
    removed: Vec<String>,
    error: Option<String>,
}

pub(super) fn run(app: &App, catalog: &Catalog, args: &Args) -> Result<(), Failure> {
    let providers: Vec<ProviderEntry> = match &args.provider {
        Some(id) => vec![catalog.provider(id)?],
        None => catalog.providers().into_iter().filter(is_asked).collect(),
    };
    let finder = Finder::new(Http::new()).with_limit(LIMIT);
    let servers = catalog.local_servers();
    let ask = |entry: &ProviderEntry| {
        let is_local = servers.iter().any(|server| server.provider == entry.id);
        let (id, now, finder) = (entry.id.clone(), app.clock.now(), finder.clone());
        async move { (id.clone(), is_local, catalog.refresh(&id, &finder, now).await) }
    };
    let answers = wiring::runtime()?.block_on(join_all(providers.iter().map(ask)));
    // A local server that does not run is no news, unless it was asked for by name.
    let is_absent = |is_local: bool, outcome: &Result<Changes, RefreshError>| {
        let refused =
            matches!(outcome, Err(RefreshError::Ask(error)) if error.class == Class::Network);
        is_local && refused && args.provider.is_none()
    };
    let reports: Vec<Report> = answers
        .into_iter()
        .filter(|(_, is_local, outcome)| !is_absent(*is_local, outcome))
        .map(|(id, _, outcome)| report(id, outcome))
        .collect();
    show(args, &reports)
}

fn is_asked(entry: &ProviderEntry) -> bool {
    entry.access.is_given() && entry.provider.kind != Some(ProviderKind::Demo)
}

fn report(provider: String, outcome: Result<Changes, RefreshError>) -> Report {
    match outcome {
        Ok(Changes { listed, added, removed }) => {
            Report { provider, listed, added, removed, error: None }
        }
        Err(error) => Report {
            provider,
            listed: 0,
            added: Vec::new(),
            removed: Vec::new(),
            error: Some(error.to_string()),
        },
    }
}

fn show(args: &Args, reports: &[Report]) -> Result<(), Failure> {
    if args.json {
        render::json(&reports)?;
    }
    // Asking one provider by name is all that was wanted; asking around is worth what it brings.
    if let (Some(id), [Report { error: Some(error), .. }]) = (&args.provider, reports) {
        return Err(Failure::new(Kind::Provider, format!("{id} gave no list: {error}")));
    }
    if args.json {
        return Ok(());
    }
    if reports.is_empty() {
        render::note("nobody to ask: no provider has a key and no local server runs");
    }
    render::out(&reports.iter().map(line).collect::<String>())
}

fn line(report: &Report) -> String {
    let id = &report.provider;
    if let Some(error) = &report.error {
        return format!("{id}: no list ({error})\n");
    }
    let is_quiet = report.added.is_empty() && report.removed.is_empty();
    let quiet = if is_quiet { ", nothing new" } else { "" };
    let (added, removed) = (named("new", &report.added), named("gone", &report.removed));
    format!("{id}: {} models{added}{removed}{quiet}\n", report.listed)
}

fn named(what: &str, ids: &[String]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let shown = ids.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = ids.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(", {} {what}: {shown}{more}", ids.len())
}
