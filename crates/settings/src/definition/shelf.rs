//! Where definitions are found. What was read once is read again only after a file has changed, so that a
//! look costs a few file dates, and an edited definition counts from the next look on.
//!
//! A look is a survey of the folders (`survey`, by `walk`), compared with the last one; only if they differ
//! are the files read (`load`).

mod load;
mod survey;
mod walk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use load::agents_below;

use self::survey::{Survey, has_skills};
use self::walk::Stamp;
use super::{Agent, Plugin, Problem, Skill, Standing, Style, slug};
use crate::trust::TrustedFolders;
use base::env::Env;
use base::paths::Paths;
use base::protocol::TrustState;

/// Most folders whose definitions are remembered: sessions of one process rarely work in more.
const REMEMBERED_FOLDERS: usize = 32;

/// Everything that can be found from one folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Definitions {
    /// Agents, by name; one a name.
    pub agents: Vec<Agent>,
    /// Agents the settings leave out.
    pub disabled_agents: Vec<Agent>,
    /// Skills, by name; one a name.
    pub skills: Vec<Skill>,
    /// Custom commands, by name; one a name, and none that a skill the user may call has.
    pub commands: Vec<Skill>,
    /// Output styles, by name; one a name.
    pub styles: Vec<Style>,
    /// Plugins, by name.
    pub plugins: Vec<Plugin>,
    /// What cannot be used, or only in part.
    pub problems: Vec<Problem>,
}

impl Definitions {
    /// An agent, whatever the case of its name; `backend-architect` finds `Backend Architect`, and a
    /// plugin's agent is found without the plugin's name as long as there is only one.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        named(&self.agents, name, |agent| &agent.name)
    }

    /// A skill, found as agents are.
    pub fn skill(&self, name: &str) -> Option<&Skill> {
        named(&self.skills, name, |skill| &skill.name)
    }

    /// A custom command, found as agents are.
    pub fn command(&self, name: &str) -> Option<&Skill> {
        named(&self.commands, name, |command| &command.name)
    }

    /// An output style, found as agents are.
    pub fn style(&self, name: &str) -> Option<&Style> {
        named(&self.styles, name, |style| &style.name)
    }
}

fn named<'d, T>(all: &'d [T], name: &str, name_of: impl Fn(&T) -> &str) -> Option<&'d T> {
    let find = |fits: &dyn Fn(&str) -> bool| all.iter().find(|it| fits(name_of(it)));
    if let Some(found) = find(&|it| it.eq_ignore_ascii_case(name)) {
        return Some(found);
    }
    let plain = slug(name);
    let has_plugin = name.contains(':');
    if let Some(found) =
        find(&|it| !plain.is_empty() && it.contains(':') == has_plugin && slug(it) == plain)
    {
        return Some(found);
    }
    let is_plugins = |it: &&T| {
        name_of(it).split_once(':').is_some_and(|(_, bare)| bare.eq_ignore_ascii_case(name))
    };
    let mut several = all.iter().filter(is_plugins);
    several.next().filter(|_| several.next().is_none())
}

/// Where to look besides the usual folders, and what is left out.
#[derive(Debug, Clone)]
pub struct Places {
    /// The user's folders.
    pub paths: Paths,
    /// The environment: `CLAUDE_CONFIG_DIR` moves Claude Code's folder.
    pub env: Env,
    /// Agents of the command line: a JSON object of agents by name.
    pub agents_json: Option<String>,
    /// Plugin folders of the command line and the user's settings.
    pub plugin_folders: Vec<PathBuf>,
    /// Folders with skills besides the usual ones, absolute. What lies in the project is not trusted.
    pub skill_folders: Vec<PathBuf>,
    /// Agents to leave out, by name.
    pub disabled_agents: Vec<String>,
    /// Skills to leave out, by name.
    pub disabled_skills: Vec<String>,
    /// Which projects may make something run.
    pub trust: Trust,
}

impl Places {
    /// The usual folders of a user; the list of trusted folders decides on projects.
    pub fn new(paths: Paths, env: Env) -> Self {
        Self {
            paths,
            env,
            agents_json: None,
            plugin_folders: Vec::new(),
            skill_folders: Vec::new(),
            disabled_agents: Vec::new(),
            disabled_skills: Vec::new(),
            trust: Trust::Listed,
        }
    }
}

/// Which projects may make something run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Those on the user's list, folder by folder, as long as their files have not changed. A change takes
    /// effect at the next look, as does `caiman trust`.
    Listed,
    /// All of them stand alike.
    Settled(Standing),
}

/// The definitions of a process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    room: Option<Arc<Room>>,
    fixed: Arc<Definitions>,
}

#[derive(Debug)]
struct Room {
    places: Places,
    memory: Mutex<Memory>,
}

/// Where somebody looks from: a folder, and those below it whose skills count, too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct View {
    folder: PathBuf,
    below: Vec<PathBuf>,
}

#[derive(Debug, Default)]
struct Memory {
    looks: BTreeMap<View, Look>,
    /// The list of trusted folders and the stamp of its file.
    trusted: Option<(Option<Stamp>, Arc<TrustedFolders>)>,
}

#[derive(Debug)]
struct Look {
    survey: Survey,
    definitions: Arc<Definitions>,
}

impl Shelf {
    /// A shelf that looks in these places.
    pub fn new(places: Places) -> Self {
        let room = Room { places, memory: Mutex::default() };
        Self { room: Some(Arc::new(room)), fixed: Arc::default() }
    }

    /// A shelf that holds just these, wherever one looks from.
    pub fn of(definitions: Definitions) -> Self {
        Self { room: None, fixed: Arc::new(definitions) }
    }

    /// What can be found from `folder` now. An empty shelf finds nothing. Reads files, so a task that must
    /// not wait looks from a blocking thread.
    pub fn look(&self, folder: &Path) -> Arc<Definitions> {
        self.look_below(folder, &[])
    }

    /// The same with the skills of folders below it. One whose name is taken is called by its folder, too:
    /// `sub/dir:name`. The earlier of `below` comes first.
    pub fn look_below(&self, folder: &Path, below: &[PathBuf]) -> Arc<Definitions> {
        match &self.room {
            Some(room) => room.look(folder, below),
            None => self.fixed.clone(),
        }
    }

    /// Those folders that have skills of their own.
    pub fn with_skills(folders: &[PathBuf]) -> Vec<PathBuf> {
        folders.iter().filter(|folder| has_skills(folder)).cloned().collect()
    }
}

impl Room {
    fn look(&self, folder: &Path, below: &[PathBuf]) -> Arc<Definitions> {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let view = View { folder, below: Shelf::with_skills(below) };
        // Another thread's panic leaves the memory whole: entries are put in and taken out at once.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let trusted = memory.trusted(&self.places.paths.trust());
        let survey = Survey::take(&self.places, &view, &trusted);
        if let Some(look) = memory.looks.get(&view)
            && look.survey == survey
        {
            return look.definitions.clone();
        }
        let mut known = BTreeMap::new();
        let mut standing = |level: &Path| {
            *known.entry(level.to_owned()).or_insert_with(|| self.standing(level, &trusted))
        };
        let definitions = Arc::new(load::load(&self.places, &survey, &mut standing));
        // What was read must be what was judged; while files still change, no project is trusted.
        if Survey::take(&self.places, &view, &trusted) != survey {
            return Arc::new(load::load(&self.places, &survey, &mut |_| Standing::Untrusted));
        }
        if memory.looks.len() >= REMEMBERED_FOLDERS {
            memory.looks.clear();
        }
        memory.looks.insert(view, Look { survey, definitions: definitions.clone() });
        definitions
    }

    fn standing(&self, level: &Path, trusted: &TrustedFolders) -> Standing {
        match self.places.trust {
            Trust::Settled(standing) => standing,
            Trust::Listed => match trusted.state(level) {
                Ok(TrustState::Trusted) => Standing::Trusted,
                Ok(TrustState::Empty | TrustState::Unknown | TrustState::Changed) | Err(_) => {
                    Standing::Untrusted
                }
            },
        }
    }
}

impl Memory {
    fn trusted(&mut self, file: &Path) -> Arc<TrustedFolders> {
        let stamp = Stamp::of_file(file);
        match &self.trusted {
            Some((known, list)) if *known == stamp => list.clone(),
            Some(_) | None => {
                let list = Arc::new(TrustedFolders::read(file).unwrap_or_default());
                self.trusted = Some((stamp, list.clone()));
                list
            }
        }
    }
}
