//! What lies where: the folders in the order of their rank, and the files in them, not yet read.
//!
//! Two equal surveys mean that nothing has changed on the disk, so what was read before still holds.

use std::path::{Path, PathBuf};

use super::walk::{Found, Pick, Stamp, Walker, text};
use super::{Places, Trust, View};
use crate::config::project_folders;
use crate::definition::plugin::{MANIFESTS, Manifest, Parts, USUAL_PARTS};
use crate::definition::{Problem, Source, Standing};
use crate::trust::{self, TrustedFolders};

/// Folders of a project, and of a home, that hold definitions; the first counts most.
const PROJECT_ROOTS: [&str; 3] = [".caiman", ".crush", ".claude"];
/// Where skills alone lie besides.
const SKILL_ROOT: &str = ".agents";

/// What a file defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Agent,
    Skill,
    Command,
    Style,
}

impl Kind {
    fn folder(self) -> &'static str {
        match self {
            Self::Agent => "agents",
            Self::Skill => "skills",
            Self::Command => "commands",
            Self::Style => "output-styles",
        }
    }

    fn pick(self) -> Pick {
        match self {
            Self::Skill => Pick::Skill,
            Self::Agent | Self::Command | Self::Style => Pick::Markdown,
        }
    }
}

/// Who answers for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// The user, who put it there.
    User,
    /// A folder of a project, once it is trusted.
    Project(PathBuf),
    /// A project, but no fingerprint covers the file, so trust says nothing of it.
    Nobody,
}

impl Owner {
    /// Who answers for what is reached through a linked folder, into which a fingerprint does not look.
    fn reached(self, through_link: bool) -> Self {
        match self {
            Self::Project(_) if through_link => Self::Nobody,
            Self::User | Self::Project(_) | Self::Nobody => self,
        }
    }
}

/// A definition file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) kind: Kind,
    pub(super) source: Source,
    pub(super) owner: Owner,
    /// The definition folder the file was found in.
    pub(super) root: PathBuf,
    pub(super) file: PathBuf,
    /// The folder below the one that is looked from to which it belongs, as a name says it.
    pub(super) below: Option<String>,
    stamp: Stamp,
}

/// A plugin's folder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PluginSpot {
    pub(super) manifest: Manifest,
    pub(super) owner: Owner,
    /// Its manifest and the files of its hooks and servers.
    stamps: Vec<(PathBuf, Option<Stamp>)>,
}

/// Everything there is, those that count most first.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Survey {
    pub(super) spots: Vec<Spot>,
    pub(super) plugins: Vec<PluginSpot>,
    pub(super) problems: Vec<Problem>,
    /// What trust in the project's folders hangs on.
    covered: Vec<(PathBuf, Option<Stamp>)>,
}

impl Survey {
    /// Looks from a folder, which is absolute, links followed.
    pub(super) fn take(places: &Places, view: &View, trusted: &TrustedFolders) -> Self {
        let folder = view.folder.as_path();
        let levels: Vec<PathBuf> = project_folders(folder).into_iter().rev().collect();
        let fence = levels.last().map_or(folder, PathBuf::as_path).to_owned();
        let mut surveyor =
            Surveyor { places, levels, fence, walker: Walker::default(), survey: Self::default() };
        surveyor.files_of_user_and_project();
        surveyor.skill_folders();
        surveyor.plugins();
        surveyor.skills_below(view);
        surveyor.covered(trusted);
        let mut survey = surveyor.survey;
        survey.problems = surveyor.walker.problems;
        survey
    }
}

impl Parts {
    fn of(&self, kind: Kind) -> &[PathBuf] {
        match kind {
            Kind::Agent => &self.agents,
            Kind::Skill => &self.skills,
            Kind::Command => &self.commands,
            Kind::Style => &self.styles,
        }
    }
}

struct Root {
    folder: PathBuf,
    owner: Owner,
}

struct Surveyor<'a> {
    places: &'a Places,
    /// The project's folders, nearest first.
    levels: Vec<PathBuf>,
    /// The project's own folder, which no link of its may leave.
    fence: PathBuf,
    walker: Walker,
    survey: Survey,
}

impl Surveyor<'_> {
    fn files_of_user_and_project(&mut self) {
        for kind in [Kind::Agent, Kind::Style] {
            self.add_all(kind, self.project_roots(kind), &Source::Project);
            self.add_all(kind, self.user_roots(kind), &Source::User);
        }
        // As in Claude Code, a project cannot take the place of a skill the user has made.
        for kind in [Kind::Skill, Kind::Command] {
            self.add_all(kind, self.user_roots(kind), &Source::User);
            self.add_all(kind, self.project_roots(kind), &Source::Project);
        }
    }

    fn add_all(&mut self, kind: Kind, roots: Vec<Root>, source: &Source) {
        for Root { folder, owner } in roots {
            self.add(kind, &folder.join(kind.folder()), source, &owner);
        }
    }

    fn user_roots(&self, kind: Kind) -> Vec<Root> {
        let folders = user_folders(self.places, kind).into_iter();
        folders.map(|folder| Root { folder, owner: Owner::User }).collect()
    }

    /// The project's folders, nearest first. A home that is itself a project is the user's.
    fn project_roots(&self, kind: Kind) -> Vec<Root> {
        let names = PROJECT_ROOTS.into_iter().chain((kind == Kind::Skill).then_some(SKILL_ROOT));
        let names: Vec<&str> = names.collect();
        let users = user_folders(self.places, Kind::Skill);
        let mut roots = Vec::new();
        for level in &self.levels {
            for name in &names {
                let folder = level.join(name);
                if !users.contains(&folder) {
                    roots.push(Root { folder, owner: Owner::Project(level.clone()) });
                }
            }
        }
        roots
    }

    fn skill_folders(&mut self) {
        for folder in self.places.skill_folders.clone() {
            let (source, owner) = if folder.starts_with(&self.fence) {
                (Source::Project, Owner::Nobody)
            } else {
                (Source::User, Owner::User)
            };
            self.add(Kind::Skill, &folder, &source, &owner);
        }
    }

    /// Skills of folders below. Trust in a folder says nothing of them: each answers for itself.
    fn skills_below(&mut self, view: &View) {
        for level in &view.below {
            let Ok(name) = level.strip_prefix(&view.folder) else { continue };
            let name = name.components().map(|part| part.as_os_str().to_string_lossy());
            let name = name.collect::<Vec<_>>().join("/");
            let first = self.survey.spots.len();
            for root in skill_roots(level) {
                let owner = Owner::Project(level.clone());
                self.add(Kind::Skill, &root, &Source::Project, &owner);
            }
            let own = self.survey.spots.iter_mut().skip(first);
            own.for_each(|spot| spot.below = Some(name.clone()));
            self.levels.push(level.clone());
        }
    }

    fn plugins(&mut self) {
        for folder in self.places.plugin_folders.clone() {
            self.plugin(&folder, &Owner::User);
        }
        let roots = self.project_roots(Kind::Agent).into_iter();
        let projects = roots.filter(|root| root.folder.ends_with(".caiman"));
        let user = Root { folder: self.places.paths.config().to_owned(), owner: Owner::User };
        for Root { folder, owner } in std::iter::once(user).chain(projects) {
            let folder = folder.join("plugins");
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().take(256);
            let mut inner: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            inner.sort();
            for folder in inner {
                self.plugin(&folder, &owner);
            }
        }
    }

    fn plugin(&mut self, folder: &Path, owner: &Owner) {
        let manifest = MANIFESTS.iter().map(|name| folder.join(name)).find(|path| path.is_file());
        if manifest.is_none() && !USUAL_PARTS.iter().any(|part| folder.join(part).exists()) {
            return;
        }
        let words = manifest.as_deref().and_then(|path| text(path).ok());
        let file = manifest.unwrap_or_else(|| folder.to_owned());
        let manifest = Manifest::read(folder, &file, words.as_deref(), Standing::Untrusted);
        let Some(owner) = self.owner_of_plugin(owner, folder, &manifest.parts) else { return };
        let source = Source::Plugin(manifest.plugin.name.clone());
        for kind in [Kind::Agent, Kind::Skill, Kind::Command, Kind::Style] {
            for path in manifest.parts.of(kind) {
                self.add(kind, &folder.join(path), &source, &owner);
            }
        }
        let others = manifest.parts.hooks.iter().chain(&manifest.parts.servers);
        let files = std::iter::once(file).chain(others.map(|path| folder.join(path)));
        let stamps = files.map(|path| (path.clone(), Stamp::of_file(&path))).collect();
        self.survey.plugins.push(PluginSpot { manifest, owner, stamps });
    }

    /// Who answers for a plugin; none where a link leads out of the project.
    fn owner_of_plugin(&mut self, owner: &Owner, folder: &Path, parts: &Parts) -> Option<Owner> {
        let Owner::Project(level) = owner else { return Some(owner.clone()) };
        let root = level.join(".caiman");
        let files = parts.hooks.iter().chain(&parts.servers).chain(&parts.agents);
        let all = files.chain(&parts.skills).chain(&parts.commands).chain(&parts.styles);
        let manifests = MANIFESTS.iter().map(|name| folder.join(name));
        let places = all.map(|path| folder.join(path)).chain(manifests).chain([folder.to_owned()]);
        let mut through_link = false;
        for place in places.filter(|place| place.exists()) {
            if !self.walker.stays_in(&place, Some(&self.fence)) {
                return None;
            }
            through_link |= !is_direct(&root, &place);
        }
        Some(owner.clone().reached(through_link))
    }

    fn add(&mut self, kind: Kind, root: &Path, source: &Source, owner: &Owner) {
        let fence = (*owner != Owner::User).then_some(self.fence.as_path());
        let found = self.walker.files(root, kind.pick(), fence);
        for Found { path, stamp, through_link } in found {
            let owner = owner.clone().reached(through_link);
            let (root, source) = (root.to_owned(), source.clone());
            let (file, below) = (path, None);
            self.survey.spots.push(Spot { kind, source, owner, root, file, below, stamp });
        }
    }

    /// Stamps what the trust in each folder hangs on, for those that are trusted at all.
    fn covered(&mut self, trusted: &TrustedFolders) {
        let stamped = |path: PathBuf| {
            let stamp = Stamp::of_file(&path);
            (path, stamp)
        };
        if self.places.trust != Trust::Listed {
            return;
        }
        for level in self.levels.iter().filter(|level| trusted.folders.contains_key(*level)) {
            let files = trust::covered(level).unwrap_or_default();
            self.survey.covered.extend(files.iter().map(|file| stamped(level.join(file))));
        }
        self.survey.covered.push(stamped(self.places.paths.trust()));
    }
}

/// Where skills lie in a folder of a project.
fn skill_roots(level: &Path) -> impl Iterator<Item = PathBuf> {
    let names = PROJECT_ROOTS.into_iter().chain([SKILL_ROOT]);
    names.map(|name| level.join(name).join(Kind::Skill.folder()))
}

/// Whether a folder has skills of its own.
pub(super) fn has_skills(level: &Path) -> bool {
    skill_roots(level).any(|root| root.is_dir())
}

/// Whether no linked folder lies between a folder and a place below it.
fn is_direct(root: &Path, place: &Path) -> bool {
    let inner = place.strip_prefix(root).ok();
    let expected = inner.and_then(|inner| Some(std::fs::canonicalize(root).ok()?.join(inner)));
    expected.is_some() && std::fs::canonicalize(place).ok() == expected
}

/// The user's folders, those that count most first.
fn user_folders(places: &Places, kind: Kind) -> Vec<PathBuf> {
    let absolute = |name: &str| {
        // A relative folder would be looked for in the project and so make its files the user's.
        places.env.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let home = places.paths.home();
    let shared = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let claude = absolute("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude"));
    let mut folders =
        vec![places.paths.config().to_owned(), shared.join("crush"), home.join(".crush"), claude];
    if kind == Kind::Skill {
        folders.extend([shared.join("agents"), home.join(SKILL_ROOT)]);
    }
    folders
}
