//! From files to a [`Config`]. Whatever the files hold, there is one at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use serde_path_to_error::Segment;

use super::Config;
use super::bans::Bans;
use super::check::{self, Checker, Distrust, Owner};
use super::compat::{Format, adopt, give_way};
use super::complete::drop_incomplete;
use super::layers::{Layer, Unreadable, layers, read};
use super::mask::{self, Exposure};
use super::merge::lay_over;
use super::origins::Origins;
use super::problem::{At, LIMIT, Problem, Problems, Severity};
use super::shape::Shape;
use super::tree::{self, Broken, Node, Place, Step};
use crate::trust::TrustedFolders;
use base::env::Env;
use base::paths::Paths;
use base::protocol::TrustState;

/// Where settings come from.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The user's folders.
    pub paths: Paths,
    /// The environment.
    pub env: Env,
    /// The folder we work in, absolute, links followed.
    pub cwd: PathBuf,
    /// Which projects count as trusted.
    pub trust: TrustSource,
}

/// Which projects count as trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TrustSource {
    /// Those on the user's list, as long as they have not changed.
    #[default]
    Listed,
    /// None: to see what trust would enable.
    Nobody,
}

/// Settings, what was wrong with them, and where each value came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// What was wrong, file by file.
    pub problems: Vec<Problem>,
    /// Where each value came from.
    pub origins: Origins,
    /// The files that were looked for, lowest priority first.
    pub files: Vec<ReadFile>,
    /// What was ignored because its folder is not trusted.
    pub withheld: Vec<Withheld>,
}

impl Loaded {
    /// Whether any setting or file could not be read.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// A file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadFile {
    /// The file.
    pub path: PathBuf,
    /// What became of it.
    pub state: FileState,
    /// How the project's folder it lies in stands; none for the user's and the machine's files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustState>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// There is none.
    Absent,
    /// It was read.
    Read,
    /// It is there, but could not be read.
    Broken,
}

/// A value that was ignored because its folder is not trusted, masked for display.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Withheld {
    /// The setting.
    pub path: String,
    /// Its value, secrets masked.
    pub value: Value,
    /// The file it is in.
    pub file: PathBuf,
    /// The line.
    pub line: u32,
}

/// Loads the settings that hold in a folder.
pub fn load(sources: &Sources) -> Loaded {
    let mut loader = Loader::default();
    let mut trust = TrustOf::new(sources);
    for layer in layers(&sources.paths, &sources.env, &sources.cwd) {
        loader.file(layer, &mut trust);
    }
    loader.problems.splice(0..0, trust.problem);
    loader.finish()
}

/// Loads one file's text as if it were the user's own. Never fails, whatever the text.
pub fn parse_text(file_name: &str, text: &str) -> Loaded {
    let mut loader = Loader::default();
    loader.text(Path::new(file_name), text, Format::Settings, Owner::User);
    loader.finish()
}

/// An MCP server as other programs write it, in the words of our own settings, and what was wrong with it. None
/// where nothing is left.
pub fn adopted_server(name: &str, entry: &Value) -> (Option<Value>, Vec<Problem>) {
    let text = json!({ "mcpServers": { name: entry } }).to_string();
    let mut reading = Loader::default();
    reading.text(Path::new(name), &text, Format::Mcp, Owner::User);
    let loaded = reading.finish();
    let servers = loaded.origins.root.table().and_then(|root| root.get("mcp")?.table());
    let server = servers.and_then(|servers| servers.get(name)).map(Node::to_value);
    (server, loaded.problems)
}

/// How the project's folders stand, asked only when one of them has a file.
struct TrustOf<'a> {
    sources: &'a Sources,
    list: Option<TrustedFolders>,
    known: BTreeMap<PathBuf, TrustState>,
    problem: Option<Problem>,
}

impl<'a> TrustOf<'a> {
    fn new(sources: &'a Sources) -> Self {
        Self { sources, list: None, known: BTreeMap::new(), problem: None }
    }

    fn state(&mut self, folder: &Path) -> TrustState {
        if let Some(state) = self.known.get(folder) {
            return *state;
        }
        if self.sources.trust == TrustSource::Nobody {
            return TrustState::Unknown;
        }
        let file = self.sources.paths.trust();
        if self.list.is_none() {
            let list = TrustedFolders::read(&file);
            self.list = Some(list.unwrap_or_else(|error| {
                self.problem = Some(whole_file(&file, error.to_string()));
                TrustedFolders::default()
            }));
        }
        let decided = self.list.as_ref().map(|list| list.state(folder));
        let state = decided.unwrap_or(Ok(TrustState::Unknown)).unwrap_or_else(|error| {
            self.problem = Some(whole_file(folder, error.to_string()));
            TrustState::Unknown
        });
        self.known.insert(folder.to_owned(), state);
        state
    }
}

fn whole_file(file: &Path, message: String) -> Problem {
    Problem {
        severity: Severity::Error,
        file: file.to_owned(),
        line: 0,
        column: 0,
        path: String::new(),
        message,
        hint: Some("no folder is trusted until this is mended".to_owned()),
    }
}

struct Loader {
    merged: Node,
    paths: Vec<PathBuf>,
    files: Vec<ReadFile>,
    problems: Vec<Problem>,
    withheld: Vec<Withheld>,
    bans: Bans,
}

impl Default for Loader {
    fn default() -> Self {
        Self {
            merged: Node::empty(),
            paths: Vec::new(),
            files: Vec::new(),
            problems: Vec::new(),
            withheld: Vec::new(),
            bans: Bans::default(),
        }
    }
}

impl Loader {
    fn file(&mut self, layer: Layer, trust: &mut TrustOf<'_>) {
        let (state, standing) = match read(&layer) {
            Ok(None) => (FileState::Absent, None),
            Ok(Some(text)) => {
                let standing = layer.folder.as_deref().map(|folder| trust.state(folder));
                let owner = match standing {
                    None => Owner::User,
                    Some(TrustState::Trusted) => Owner::TrustedProject,
                    Some(TrustState::Changed) => Owner::Project(Distrust::Changed),
                    Some(TrustState::Unknown | TrustState::Empty) => {
                        Owner::Project(Distrust::Unknown)
                    }
                };
                (self.text(&layer.path, &text, layer.format, owner), standing)
            }
            Err(error) => {
                self.unreadable(&layer.path, &error);
                (FileState::Broken, None)
            }
        };
        self.files.push(ReadFile { path: layer.path, state, trust: standing });
    }

    fn unreadable(&mut self, path: &Path, error: &Unreadable) {
        let mut problems = Problems::of(path.to_owned());
        problems.push(Severity::Error, At::FILE, error.to_string());
        self.problems.extend(problems.into_list());
    }

    fn text(&mut self, path: &Path, text: &str, format: Format, owner: Owner) -> FileState {
        let number = self.paths.len();
        self.paths.push(path.to_owned());
        let mut problems = Problems::of(path.to_owned());
        let mut withheld = Vec::new();
        let parsed = tree::parse(text, number, &mut problems);
        let state = match parsed {
            Ok(_) => FileState::Read,
            Err(Broken) => FileState::Broken,
        };
        if let Ok(Some(root)) = parsed {
            match format {
                Format::Claude | Format::Mcp => self.bans.note(&root, owner),
                Format::Settings => {}
            }
            let root = adopt(format, root, &mut problems);
            let root = Checker::new(owner, &mut problems, &mut withheld).clean(root);
            let mut under = std::mem::replace(&mut self.merged, Node::empty());
            if format == Format::Mcp {
                give_way(&mut under, &root);
            }
            self.merged = lay_over(under, root, Some(Shape::root()));
        }
        self.problems.extend(problems.into_list());
        self.withheld.extend(withheld.into_iter().map(|taken| shown(path, &taken)));
        state
    }

    fn finish(mut self) -> Loaded {
        self.bans.apply(&mut self.merged, &self.paths);
        for entry in drop_incomplete(&mut self.merged).into_iter().take(LIMIT) {
            let message = format!("needs `{}`; the entry is left out", entry.key);
            self.told(entry.place, &entry.path, message);
        }
        let config = Config { bans: self.bans.clone(), ..self.read() };
        Loaded {
            config,
            problems: self.problems,
            origins: Origins { root: self.merged, files: self.paths },
            files: self.files,
            withheld: self.withheld,
        }
    }

    /// Reads the merged tree. The checker has seen to it that this works; should serde know better,
    /// the value it stumbles over is dropped and it is asked again.
    fn read(&mut self) -> Config {
        for _ in 0..100 {
            let error = match serde_path_to_error::deserialize(self.merged.to_value()) {
                Ok(config) => return config,
                Err(error) => error,
            };
            let steps: Vec<Step> = error.path().iter().filter_map(step).collect();
            let Some(node) = self.merged.remove(&steps) else { break };
            // Serde's own message would quote the value.
            let message = "does not fit; the value is left out".to_owned();
            self.told(node.place, &error.path().to_string(), message);
        }
        self.told(Place::default(), "", "nothing of the settings could be read".to_owned());
        self.merged = Node::empty();
        Config::default()
    }

    fn told(&mut self, place: Place, path: &str, message: String) {
        let file = self.paths.get(place.file).cloned().unwrap_or_default();
        let mut problems = Problems::of(file);
        problems.push(Severity::Error, place.at(path), message);
        self.problems.extend(problems.into_list());
    }
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } | Segment::Enum { variant: key } => Some(Step::Key(key.clone())),
        Segment::Unknown => None,
    }
}

fn shown(file: &Path, taken: &check::Withheld) -> Withheld {
    Withheld {
        path: taken.path.clone(),
        value: mask::shown(&taken.node, Some(taken.shape), Exposure::Plain),
        file: file.to_owned(),
        line: taken.node.place.line,
    }
}

#[cfg(test)]
mod tests;
