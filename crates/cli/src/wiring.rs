//! Rooms put together for a command: settings to a model, the caller, signals.

use std::path::Path;
use std::sync::Arc;

use agent::{Mind, Presence};
use base::{Env, ModelRef, Paths, TaskScope};
use guard::start::Project;
use guard::{Redactor, Runner};
use links::lsp::{Keeping, ProjectRoot, StartProgram};
use links::{Lsp, Mcp};
use llm::catalog::{Catalog, Size};
use llm::discover::Finder;
use llm::{Auth, Caller, Class, Http, Signer, Target};
use settings::definition::{Places, Shelf};
use settings::provider::Sampling;
use settings::trust;
use settings::trust::FolderTrust;
use settings::{Config, Expander, SelectedModel};
use store::Store;
use tools::Registry;

use crate::app::App;
use crate::catalog::{self, Current};
use crate::commands::run;
use crate::failure::{Failure, Kind};
use crate::{log, outside};

/// A runtime for one command. One thread: it mostly waits.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Kind::Internal, format!("cannot start: {error}")))
}

/// Runs `work` as a task of its own and waits for it. The future a runtime blocks on is woken through
/// the system each time; a task is woken through a queue, which a long stream feels.
pub(crate) async fn in_task<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (done, outcome) = tokio::sync::oneshot::channel();
    TaskScope::new().spawn(async move {
        // Nobody waits any more only when the process ends.
        drop(done.send(work.await));
    });
    outcome.await.unwrap_or_else(|_| Err(Failure::new(Kind::Internal, "the run broke off")))
}

/// The model the user named, or the default one; local servers are asked only if nothing else is there.
pub(crate) async fn target(catalog: &Catalog, named: Option<&str>) -> Result<Target, Failure> {
    let finder = Finder::new(Http::new());
    let model = match named {
        Some(text) => catalog.find(text)?,
        None => catalog.find_default(Size::Large, &finder).await?,
    };
    catalog.learn(&model, &finder).await;
    Ok(catalog.resolve(&model)?)
}

/// The model for titles: the settings' own, else the small one of the provider that will answer. A provider
/// without another model is not asked twice.
pub(crate) fn small(catalog: &Catalog, settings: &Config, target: &Target) -> Option<Target> {
    let model = if let Some(chosen) = &settings.models.small {
        ModelRef::new(&chosen.provider, &chosen.model)
    } else {
        let provider = catalog.provider(&target.provider).ok()?.provider;
        let model = ModelRef::new(&target.provider, provider.default_small_model_id?);
        Some(model).filter(|model| *model != target.model_ref())?
    };
    // A title is not worth a failed run.
    catalog.resolve(&model).ok()
}

/// What the settings say of the model that will answer, if they chose it.
pub(crate) fn chosen<'a>(settings: &'a Config, target: &Target) -> Option<&'a SelectedModel> {
    let is_it = |chosen: &&SelectedModel| {
        chosen.provider == target.provider && chosen.model == target.model.id
    };
    settings.models.large.iter().chain(&settings.models.small).find(is_it)
}

/// Sampling settings of a chosen model.
pub(crate) fn sampling(chosen: &SelectedModel) -> Sampling {
    Sampling {
        temperature: chosen.temperature,
        top_p: chosen.top_p,
        top_k: chosen.top_k,
        frequency_penalty: chosen.frequency_penalty,
        presence_penalty: chosen.presence_penalty,
        provider_options: chosen.provider_options.clone(),
    }
}

/// The one that calls models.
pub(crate) fn caller(app: &App) -> Caller {
    let signer =
        Signer::new(app.env.clone(), app.paths.clone(), app.clock.clone(), Arc::new(Runner));
    Caller::new(Http::new(), signer)
}

/// Masks the secrets of the environment and the keys of these models.
pub(crate) fn redactor<'a>(env: &Env, targets: impl Iterator<Item = &'a Target>) -> Redactor {
    let key = |target: &Target| match &target.auth {
        Auth::Bearer(key) | Auth::Header { value: key, .. } => Some(key.clone()),
        Auth::Anonymous | Auth::Cloud => None,
    };
    Redactor::new(env, targets.filter_map(key))
}

/// The mind of this process; who makes it knows which keys its redactor must mask.
pub(crate) fn mind(
    app: &App,
    settings: Arc<Config>,
    store: Store,
    catalog: Current,
    presence: Presence,
) -> Mind {
    log::start(&app.paths, &app.env, &app.clock, &settings.options);
    // A command of the model's must not read our memory; where the system refuses, the cage still holds.
    drop(guard::process::harden());
    // What a killed process left of its errands on the web.
    guard::room::sweep(&app.env.temporary(), &app.clock);
    let (env, _) = settings.environment(Expander { env: &app.env, runner: Some(&Runner) });
    let resolve = {
        let catalog = catalog.clone();
        move |model: &ModelRef| catalog.get().resolve(model).map_err(|error| error.to_string())
    };
    let models = move |search: Option<&str>| catalog::choices(&catalog.get(), search);
    let trusted = app.paths.trust();
    let vouched = Arc::new(move |folder: &Path| trust::is_vouched_for(&trusted, folder));
    let keeping = Keeping { vouched, start: start_server(&app.paths), ..Keeping::default() };
    let servers_env = guard::process::child_env(&env);
    let lsp = Lsp::kept(settings.clone(), servers_env, &TaskScope::new(), keeping);
    let mcp = Mcp::new(outside::of(app, &settings, &env), &TaskScope::new());
    for (name, server) in &settings.mcp {
        mcp.add(name, server);
    }
    Mind {
        store,
        caller: caller(app),
        clock: app.clock.clone(),
        env,
        paths: app.paths.clone(),
        registry: Registry::builtin(),
        shelf: Shelf::new(app.places(&settings)),
        lsp,
        mcp,
        editor: None,
        redactor: Redactor::default(),
        resolve: Arc::new(resolve),
        models: Arc::new(models),
        presence,
        config: settings,
    }
}

/// How language servers start: where they work in a trusted workspace, in an empty folder elsewhere.
fn start_server(paths: &Paths) -> StartProgram {
    let paths = paths.clone();
    Arc::new(move |ProjectRoot { workspace, root }, env, sandboxed| {
        let trust = FolderTrust::of(&paths.trust(), workspace);
        let project = Project { folder: workspace, paths: &paths, trust };
        let mut start = project.start(env, sandboxed)?;
        if trust == FolderTrust::Trusted {
            root.clone_into(&mut start.folder);
        }
        Ok(start)
    })
}

/// Where agents, skills and commands are found: the usual folders, those of the settings, and the flags'.
pub(crate) fn shelf(app: &App, settings: &Config, flags: &run::Place) -> Shelf {
    let expander = Expander { env: &app.env, runner: Some(&Runner) };
    let absolute = |path: &Path| match path.strip_prefix("~") {
        Ok(rest) => app.paths.home().join(rest),
        Err(_) => app.cwd.join(path),
    };
    let folders = |named: &[String]| {
        let texts = named.iter().filter_map(|text| expander.text(text).ok());
        texts.map(|text| absolute(Path::new(&text))).collect::<Vec<_>>()
    };
    let mut places = Places::new(app.paths.clone(), app.env.clone());
    places.agents_json.clone_from(&flags.agents);
    places.plugin_folders = flags.plugin_dir.iter().map(|folder| absolute(folder)).collect();
    places.plugin_folders.extend(folders(&settings.options.plugin_paths));
    places.skill_folders = folders(&settings.options.skills_paths);
    places.disabled_agents = settings.agents.disabled();
    places.disabled_skills.clone_from(&settings.options.disabled_skills);
    Shelf::new(places)
}

/// What to do about a provider's failure.
pub(crate) fn provider_hints(model: &ModelRef, class: Class) -> Vec<String> {
    let provider = &model.provider;
    match class {
        Class::Auth => vec![
            format!("check the key: caiman login {provider}, or the provider's variable"),
            "caiman login shows where each key comes from".to_owned(),
        ],
        Class::Billing => vec![format!("the account at {provider} needs credit or a plan")],
        Class::RateLimit => vec!["wait a little, or use another model".to_owned()],
        Class::Overloaded | Class::Server => {
            vec!["the trouble is at the provider: try again later, or use another model".to_owned()]
        }
        Class::ContextOverflow => {
            vec!["say less, begin a new session, or use a model with a larger window".to_owned()]
        }
        Class::ModelNotFound => {
            vec![format!("caiman models --provider {provider} lists its models")]
        }
        Class::Network | Class::Timeout => {
            vec![format!(
                "check the network, the proxy, providers.{provider}.base_url and, behind a company's \
                 own certificate authority, network.ca_file"
            )]
        }
        Class::BadRequest | Class::Cancelled => Vec::new(),
    }
}

/// Waits for Ctrl-C.
pub(crate) async fn interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits for the system's request to end.
pub(crate) async fn terminate() {
    #[cfg(unix)]
    if let Ok(mut signal) =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
    {
        signal.recv().await;
        return;
    }
    std::future::pending::<()>().await;
}

impl From<llm::Error> for Failure {
    fn from(error: llm::Error) -> Self {
        Self::new(Kind::Provider, error.message)
    }
}
