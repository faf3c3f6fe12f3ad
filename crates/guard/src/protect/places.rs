//! The list of places, `data/places.toml`, read once.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::folded;

const TEXT: &str = include_str!("../../data/places.toml");

static PLACES: LazyLock<Places> = LazyLock::new(|| match toml::from_str::<Listed>(TEXT) {
    Ok(listed) => listed.into(),
    Err(error) => unreachable!("the list is part of the program and tested: {error}"),
});

/// All listed places.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) start_up: StartUp,
    /// Below a home folder.
    pub(super) home_start_up: Names,
    pub(super) shared: Names,
    /// Below a home folder.
    pub(super) secret: Names,
    pub(super) environment_examples: Names,
}

/// What starts programs, in any workspace.
#[derive(Debug)]
pub(super) struct StartUp {
    pub(super) folders: Names,
    pub(super) files: Names,
    pub(super) endings: Names,
    pub(super) config_folders: Names,
}

/// Names or paths, to be gone through or looked up.
#[derive(Debug)]
pub(super) struct Names {
    listed: Vec<Name>,
    folded: HashSet<String>,
}

/// A name or a path as it is written, and as it is compared.
#[derive(Debug, Clone)]
pub(super) struct Name {
    real: String,
    folded: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    start_up: ListedStartUp,
    home: ListedHome,
    shared: ListedShared,
    secret: ListedSecret,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedStartUp {
    folders: Vec<String>,
    files: Vec<String>,
    endings: Vec<String>,
    config_folders: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedHome {
    start_up: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedShared {
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedSecret {
    home: Vec<String>,
    environment_examples: Vec<String>,
}

impl Places {
    pub(super) fn get() -> &'static Self {
        &PLACES
    }
}

impl From<Listed> for Places {
    fn from(listed: Listed) -> Self {
        let Listed { start_up, home, shared, secret } = listed;
        Self {
            start_up: StartUp {
                folders: Names::new(start_up.folders),
                files: Names::new(start_up.files),
                endings: Names::new(start_up.endings),
                config_folders: Names::new(start_up.config_folders),
            },
            home_start_up: Names::new(home.start_up),
            shared: Names::new(shared.names),
            secret: Names::new(secret.home),
            environment_examples: Names::new(secret.environment_examples),
        }
    }
}

impl Names {
    fn new(names: Vec<String>) -> Self {
        let name = |real: String| {
            let parts: Vec<String> = real.split('/').map(folded).collect();
            Name { folded: parts.join("/"), real }
        };
        let listed: Vec<Name> = names.into_iter().map(name).collect();
        let folded = listed.iter().map(|name| name.folded.clone()).collect();
        Self { listed, folded }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Name> {
        self.listed.iter()
    }

    /// Whether a folded name is listed.
    pub(super) fn has(&self, name: &str) -> bool {
        self.folded.contains(name)
    }
}

impl<'a> IntoIterator for &'a Names {
    type Item = &'a Name;
    type IntoIter = std::slice::Iter<'a, Name>;

    fn into_iter(self) -> Self::IntoIter {
        self.listed.iter()
    }
}

impl Name {
    pub(super) fn real(&self) -> &str {
        &self.real
    }

    pub(super) fn folded(&self) -> &str {
        &self.folded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_is_listed_twice_and_none_is_absolute() {
        let places = Places::get();
        let StartUp { folders, files, endings, config_folders } = &places.start_up;
        let lists = [
            folders,
            files,
            endings,
            config_folders,
            &places.home_start_up,
            &places.shared,
            &places.secret,
            &places.environment_examples,
        ];
        for names in lists {
            assert_eq!(names.listed.len(), names.folded.len(), "{:?}", names.listed);
            assert!(names.iter().all(|name| !name.real.is_empty() && !name.real.starts_with('/')));
        }
    }
}
