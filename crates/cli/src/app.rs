//! What a command is given: environment, folders, clock.

use std::path::{Path, PathBuf};

use base::{Clock, Env, Paths};
use settings::definition::Places;
use settings::trust::FolderTrust;
use settings::{Config, Loaded, Severity, Sources, TrustSource};

use crate::failure::Failure;
use crate::render;

/// What a command is given. Settings and store are opened by the commands that need them.
#[derive(Debug, Clone)]
pub(crate) struct App {
    /// The environment, taken once.
    pub(crate) env: Env,
    /// The user's folders.
    pub(crate) paths: Paths,
    /// The folder we work in, absolute.
    pub(crate) cwd: PathBuf,
    /// The clock.
    pub(crate) clock: Clock,
}

impl App {
    /// Takes environment and folders; touches no disk beyond the working folder.
    pub(crate) fn new(cwd: Option<&Path>) -> Result<Self, Failure> {
        let env = Env::of_process();
        let paths = Paths::of(&env).map_err(|error| Failure::config(error.to_string()))?;
        let here = cwd.unwrap_or(Path::new("."));
        let cwd = std::fs::canonicalize(here).map_err(|error| {
            Failure::user(format!("cannot work in {}: {error}", here.display()))
                .hint("name an existing folder with --cwd")
        })?;
        let folder = cwd.clone();
        Ok(Self { env, paths, cwd, clock: Clock::system() }.working_in(&folder))
    }

    /// The same for another folder. Until that is trusted, none of its programs is found for ourselves.
    pub(crate) fn working_in(&self, folder: &Path) -> Self {
        let env = match FolderTrust::of(&self.paths.trust(), folder) {
            FolderTrust::Trusted => self.env.avoiding_nothing(),
            FolderTrust::Untrusted => self.env.avoiding(folder),
        };
        Self { env, cwd: folder.to_owned(), ..self.clone() }
    }

    /// Where the settings of the working folder come from.
    pub(crate) fn sources(&self) -> Sources {
        Sources {
            paths: self.paths.clone(),
            env: self.env.clone(),
            cwd: self.cwd.clone(),
            trust: TrustSource::Listed,
        }
    }

    /// Loads the settings and prints what is wrong with them to standard error.
    pub(crate) fn load_config(&self) -> Loaded {
        let loaded = settings::load(&self.sources());
        for problem in loaded.problems.iter().filter(|it| it.severity > Severity::Note) {
            render::note(&problem.to_string());
        }
        loaded
    }

    /// Where agents, skills, commands, styles and plugins are looked for.
    pub(crate) fn places(&self, settings: &Config) -> Places {
        let home = self.paths.home();
        let options = &settings.options;
        let skill_folders = options.skills_paths.iter().map(|folder| {
            let rest = folder.strip_prefix("~/");
            rest.map_or_else(|| self.cwd.join(folder), |rest| home.join(rest))
        });
        Places {
            skill_folders: skill_folders.collect(),
            disabled_agents: settings.agents.disabled(),
            disabled_skills: options.disabled_skills.clone(),
            ..Places::new(self.paths.clone(), self.env.clone())
        }
    }
}
