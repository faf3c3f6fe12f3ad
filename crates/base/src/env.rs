//! The only reader of the environment. Rooms get an [`Env`] handed down; tests hand down their own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The environment variables a process or a test sees, taken once.
#[derive(Debug, Clone, Default)]
pub struct Env {
    vars: Arc<BTreeMap<String, String>>,
}

impl Env {
    /// Takes the process's environment; names and values that are not UTF-8 are left out.
    pub fn of_process() -> Self {
        let pairs = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self { vars: Arc::new(pairs.collect()) }
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

    /// The same environment with a `PATH` of absolute folders only: any other would be one of the folder a program runs
    /// in, and whoever wrote that would choose what runs.
    #[must_use]
    pub fn with_absolute_path(&self) -> Self {
        let Some(path) = self.get("PATH") else { return self.clone() };
        let absolute = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        let joined = std::env::join_paths(absolute).ok().and_then(|it| it.into_string().ok());
        self.with([("PATH".to_owned(), joined.unwrap_or_default())])
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
        Self { vars: Arc::new(vars) }
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let vars = pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { vars: Arc::new(vars) }
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
        assert_eq!(Env::default().with_absolute_path().get("PATH"), None);
    }
}
