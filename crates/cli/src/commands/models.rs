//! `caiman models`: what can be used, what it costs, and what is new.

mod refresh;
mod table;

use std::collections::BTreeMap;

use futures::future::join_all;
use llm::Http;
use llm::catalog::{Access, Catalog, Endpoint, ModelEntry, ProviderEntry};
use llm::discover::Finder;
use serde::Serialize;
use settings::provider::Model;

use crate::app::App;
use crate::failure::Failure;
use crate::{catalog, render, wiring};

/// List models: by default those of providers you have a key for.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Do something other than listing.
    #[command(subcommand)]
    action: Option<Action>,

    /// Words that must all occur in provider, id or name.
    #[arg(value_name = "SEARCH")]
    search: Vec<String>,

    /// Only models of this provider, with or without a key.
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,

    /// Also models of providers you have no key for.
    #[arg(long)]
    all: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Ask each provider you have a key for which models it has now.
    Refresh(refresh::Args),
}

/// A model in JSON.
#[derive(Serialize)]
struct Row<'a> {
    /// What `--model` takes.
    #[serde(rename = "ref")]
    reference: String,
    provider: &'a str,
    #[serde(flatten)]
    model: &'a Model,
    flat_rate: bool,
    usable: bool,
    /// Where the key comes from.
    key_source: Option<String>,
}

/// A provider and those of its models that were asked for.
struct Group {
    provider: ProviderEntry,
    models: Vec<ModelEntry>,
    is_usable: bool,
}

/// What servers listed just now, by provider.
type Live = BTreeMap<String, Vec<Model>>;

/// Lists models, or asks providers for theirs.
pub(crate) fn run(app: &App, args: Args) -> Result<(), Failure> {
    let catalog = catalog::open(app, &app.load_config().config);
    if let Some(Action::Refresh(args)) = args.action {
        return refresh::run(app, &catalog, &args);
    }
    let providers = match &args.provider {
        Some(id) => vec![catalog.provider(id)?],
        None => catalog.providers(),
    };
    let is_wanted = |server: &Endpoint| providers.iter().any(|entry| entry.id == server.provider);
    let servers: Vec<Endpoint> = catalog.servers().into_iter().filter(is_wanted).collect();
    let live = wiring::runtime()?.block_on(ask(&servers));
    let groups = providers.into_iter().map(|entry| group(&catalog, entry, &live, &args.search));
    let is_shown = |group: &Group| args.all || args.provider.is_some() || group.is_usable;
    let (shown, hidden): (Vec<Group>, Vec<Group>) = groups.partition(is_shown);
    if args.json {
        return render::json(&rows(&shown));
    }
    if shown.iter().all(|group| group.models.is_empty()) {
        return Err(nothing(&args, &hidden));
    }
    render::out(&table::text(&shown))?;
    let (models, providers) = count(&hidden);
    if models > 0 {
        render::note(&format!(
            "{models} more at {providers} providers without a key: caiman models --all"
        ));
    }
    Ok(())
}

/// What servers that list their own models have to offer right now. One that does not answer offers
/// nothing.
async fn ask(servers: &[Endpoint]) -> Live {
    let finder = Finder::new(Http::new());
    let lists = join_all(servers.iter().map(|server| finder.models(server))).await;
    let answered = servers.iter().zip(lists);
    answered.filter_map(|(server, list)| Some((server.provider.clone(), list.ok()?))).collect()
}

fn group(catalog: &Catalog, provider: ProviderEntry, live: &Live, search: &[String]) -> Group {
    let listed = live.get(&provider.id);
    let mut models = catalog.models(&provider.id).unwrap_or_default();
    for model in listed.into_iter().flatten() {
        if !models.iter().any(|entry| entry.model.id == model.id) {
            models.push(ModelEntry {
                provider: provider.id.clone(),
                model: model.clone(),
                flat_rate: provider.provider.flat_rate,
            });
        }
    }
    models.retain(|entry| matches(entry, search));
    // A server nobody pays and that lists nothing may well not run.
    let is_silent = provider.access == Access::Open
        && provider.provider.models.is_empty()
        && provider.provider.default_large_model_id.is_none()
        && listed.is_none();
    let is_usable = provider.access.is_given() && !is_silent;
    Group { provider, models, is_usable }
}

fn matches(entry: &ModelEntry, search: &[String]) -> bool {
    let name = entry.model.name.as_deref().unwrap_or_default();
    let text = format!("{}/{} {name}", entry.provider, entry.model.id).to_lowercase();
    search.iter().all(|word| text.contains(&word.to_lowercase()))
}

fn rows(groups: &[Group]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for group in groups {
        rows.extend(group.models.iter().map(|entry| Row {
            reference: entry.model_ref().to_string(),
            provider: &entry.provider,
            model: &entry.model,
            flat_rate: entry.flat_rate,
            usable: group.is_usable,
            key_source: source(group),
        }));
    }
    rows
}

fn source(group: &Group) -> Option<String> {
    match &group.provider.access {
        Access::Key(source) => Some(source.to_string()),
        Access::Cloud | Access::Open | Access::Missing { .. } => None,
    }
}

/// How many models at how many providers.
fn count(groups: &[Group]) -> (usize, usize) {
    let with_some = groups.iter().filter(|group| !group.models.is_empty());
    with_some.fold((0, 0), |(models, groups), group| (models + group.models.len(), groups + 1))
}

fn nothing(args: &Args, hidden: &[Group]) -> Failure {
    let words = args.search.join(" ");
    let failure = match (&args.provider, args.search.is_empty()) {
        (Some(provider), true) => Failure::user(format!("{provider} lists no models"))
            .hint(format!("ask it: caiman models refresh --provider {provider}")),
        (None, true) => Failure::user("no provider is set up")
            .hint("`caiman login` lists providers and where each key is looked for"),
        (_, false) => Failure::user(format!("no model matches `{words}`")),
    };
    match count(hidden) {
        (0, _) => failure,
        (models, _) => failure.hint(format!(
            "{models} at providers without a key: {}",
            format!("caiman models --all {words}").trim_end()
        )),
    }
}
