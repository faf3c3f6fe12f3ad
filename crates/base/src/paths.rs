//! Where things are: settings, state, caches. The only reader of the home folder.

use std::path::{Path, PathBuf};

use crate::env::Env;

/// The folders of one user, by the platform's rules; XDG variables win everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    home: PathBuf,
    config: PathBuf,
    data: PathBuf,
    cache: PathBuf,
    system: PathBuf,
}

/// Which platform's rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and the BSDs: the XDG folders.
    Unix,
    /// `~/Library`.
    MacOs,
    /// `%APPDATA%`, `%LOCALAPPDATA%`, `%ProgramData%`.
    Windows,
}

impl Platform {
    /// The platform this binary was built for.
    pub fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Unix
        }
    }
}

/// No home folder is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no home folder: set HOME (or XDG_CONFIG_HOME and XDG_DATA_HOME)")]
pub struct NoHome;

impl Paths {
    /// The folders of the user the environment describes.
    pub fn of(env: &Env) -> Result<Self, NoHome> {
        Self::on(Platform::current(), env)
    }

    /// The folders by one platform's rules.
    pub fn on(platform: Platform, env: &Env) -> Result<Self, NoHome> {
        let home_variable = match platform {
            Platform::Windows => "USERPROFILE",
            Platform::Unix | Platform::MacOs => "HOME",
        };
        // A relative XDG path is invalid by the specification and is ignored.
        let absolute =
            |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let known = |name: &str| env.get(name).map(PathBuf::from);
        let home = known(home_variable);
        let under_home = |rest: &str| home.as_ref().map(|home| home.join(rest));
        let (config, data, cache) = match platform {
            Platform::Unix => {
                (under_home(".config"), under_home(".local/share"), under_home(".cache"))
            }
            Platform::MacOs => (
                under_home("Library/Application Support"),
                under_home("Library/Application Support"),
                under_home("Library/Caches"),
            ),
            Platform::Windows => (
                known("APPDATA").or_else(|| under_home("AppData/Roaming")),
                known("LOCALAPPDATA").or_else(|| under_home("AppData/Local")),
                known("LOCALAPPDATA").or_else(|| under_home("AppData/Local")),
            ),
        };
        let system = match platform {
            Platform::Unix | Platform::MacOs => PathBuf::from("/etc/caiman"),
            Platform::Windows => known("ProgramData")
                .unwrap_or_else(|| PathBuf::from("C:/ProgramData"))
                .join("caiman"),
        };
        let folder = |xdg: &str, usual: Option<PathBuf>| {
            absolute(xdg).or(usual).map(|root| root.join("caiman")).ok_or(NoHome)
        };
        let config = folder("XDG_CONFIG_HOME", config)?;
        let data = folder("XDG_DATA_HOME", data)?;
        let cache = folder("XDG_CACHE_HOME", cache)?;
        let home = home.unwrap_or_else(|| data.clone());
        Ok(Self { home, config, data, cache, system })
    }

    /// The user's home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The user's settings folder.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// The state folder: database, blobs, logs, credentials.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The folder for what can be made again.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The machine-wide settings folder.
    pub fn system(&self) -> &Path {
        &self.system
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.data.join("caiman.db")
    }

    /// The file that holds credentials where no keyring does.
    pub fn credentials(&self) -> PathBuf {
        self.data.join("credentials.json")
    }

    /// The file that remembers which folders are trusted.
    pub fn trust(&self) -> PathBuf {
        self.data.join("trust.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_platform_has_its_usual_folders() {
        let env = Env::from_iter([
            ("HOME", "/home/ada"),
            ("USERPROFILE", "C:/Users/ada"),
            ("APPDATA", "C:/Users/ada/AppData/Roaming"),
        ]);
        let shown = |platform| {
            let paths = Paths::on(platform, &env).unwrap();
            (paths.config().to_owned(), paths.data().to_owned())
        };
        assert_eq!(
            shown(Platform::Unix),
            ("/home/ada/.config/caiman".into(), "/home/ada/.local/share/caiman".into())
        );
        assert_eq!(
            shown(Platform::MacOs).0,
            Path::new("/home/ada/Library/Application Support/caiman")
        );
        assert_eq!(
            shown(Platform::Windows),
            (
                "C:/Users/ada/AppData/Roaming/caiman".into(),
                "C:/Users/ada/AppData/Local/caiman".into()
            )
        );
    }

    #[test]
    fn absolute_xdg_folders_win_and_relative_ones_are_ignored() {
        let env = Env::from_iter([
            ("HOME", "/home/ada"),
            ("XDG_CONFIG_HOME", "/cfg"),
            ("XDG_DATA_HOME", "relative"),
        ]);
        let paths = Paths::on(Platform::Unix, &env).unwrap();
        assert_eq!(paths.config(), Path::new("/cfg/caiman"));
        assert_eq!(paths.data(), Path::new("/home/ada/.local/share/caiman"));
    }

    #[test]
    fn no_home_is_an_error_not_a_guess() {
        assert_eq!(Paths::on(Platform::Unix, &Env::default()), Err(NoHome));
    }
}
