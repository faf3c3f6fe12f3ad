//! The only reader of the environment. Rooms get an [`Env`] handed down; tests hand down their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The `PATH` of a program whose own would be empty: an unset one makes some shells search the folder they run in.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment variables a process or a test sees, taken once.
#[derive(Debug, Clone, Default)]
pub struct Env {
    vars: Arc<BTreeMap<String, String>>,
    /// A folder whose programs must not be found; see [`Env::avoiding`].
    avoided: Option<Arc<Path>>,
}

impl Env {
    /// Takes the process's environment; names and values that are not UTF-8 are left out.
    pub fn of_process() -> Self {
        let pairs = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self { vars: Arc::new(pairs.collect()), avoided: None }
    }

    /// The value of `name`, unless unset or empty: an empty key is as good as none.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The folder for temporary files.
    pub fn temporary(&self) -> PathBuf {
        let named = self.get("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
        named.unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// The same environment, which [`Env::with_absolute_path`] then keeps away from the programs in `folder`.
    #[must_use]
    pub fn avoiding(&self, folder: &Path) -> Self {
        Self { vars: self.vars.clone(), avoided: Some(folder.into()) }
    }

    /// The same environment without a folder to avoid.
    #[must_use]
    pub fn avoiding_nothing(&self) -> Self {
        Self { vars: self.vars.clone(), avoided: None }
    }

    /// The folder whose programs are not found, if one is avoided.
    pub fn avoided(&self) -> Option<&Path> {
        self.avoided.as_deref()
    }

    /// The same environment with a `PATH` of absolute folders only, none of them in the folder that is avoided. A
    /// relative or empty entry means the folder a program runs in, and the author of that folder would choose the
    /// program.
    #[must_use]
    pub fn with_absolute_path(&self) -> Self {
        let path = self.get("PATH").unwrap_or(DEFAULT_PATH);
        let avoided = self.avoided.as_deref();
        let avoided_real = avoided.and_then(|folder| std::fs::canonicalize(folder).ok());
        let is_avoided = |entry: &Path| {
            let Some(avoided) = avoided else { return false };
            // Links and `..` may lead into the folder. A missing entry holds no program yet, but may later.
            let Ok(real) = std::fs::canonicalize(entry) else { return true };
            entry.starts_with(avoided)
                || avoided_real.as_ref().is_some_and(|folder| real.starts_with(folder))
        };
        let kept = std::env::split_paths(path).filter(|it| it.is_absolute() && !is_avoided(it));
        let joined = std::env::join_paths(kept).ok().and_then(|it| it.into_string().ok());
        let joined = joined.filter(|it| !it.is_empty()).unwrap_or_else(|| DEFAULT_PATH.to_owned());
        self.with([("PATH".to_owned(), joined)])
    }

    /// Every variable, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.vars.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same environment with more variables set over it.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut vars = (*self.vars).clone();
        vars.extend(more);
        Self { vars: Arc::new(vars), avoided: self.avoided.clone() }
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let vars = pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { vars: Arc::new(vars), avoided: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let env = Env::from_iter([("KEY", ""), ("OTHER", "x")]);
        assert_eq!(env.get("KEY"), None);
        assert_eq!(env.get("OTHER"), Some("x"));
        assert_eq!(env.with([("KEY".into(), "y".into())]).get("KEY"), Some("y"));
    }

    #[test]
    fn only_absolute_folders_stay_on_the_path() {
        let env = Env::from_iter([("PATH", "./node_modules/.bin:/usr/bin::bin:/bin")]);
        assert_eq!(env.with_absolute_path().get("PATH"), Some("/usr/bin:/bin"));
        for path in ["", ".", ":", "bin:./bin"] {
            let env = Env::from_iter([("PATH", path)]);
            assert_eq!(env.with_absolute_path().get("PATH"), Some(DEFAULT_PATH), "{path}");
        }
        assert_eq!(Env::default().with_absolute_path().get("PATH"), Some(DEFAULT_PATH));
    }

    #[cfg(unix)]
    #[test]
    fn no_entry_of_the_path_leads_into_the_avoided_folder() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        std::fs::create_dir_all(work.join("bin")).unwrap();
        std::os::unix::fs::symlink(work.join("bin"), dir.path().join("link")).unwrap();
        let [work, root] = [&work, dir.path()].map(|path| path.display().to_string());
        let path = format!("{work}/bin:{root}/link:{root}/x/../work/bin:{work}:{work}y:/bin");
        let env = Env::from_iter([("PATH", path)]).avoiding(Path::new(&work));
        let env = env.with([("OTHER".to_owned(), "x".to_owned())]);
        assert_eq!(env.with_absolute_path().get("PATH"), Some("/bin"));
    }
}
