//! What is generated: the settings reference. Checked in, so that it can be read without a build.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Writes every generated page.
pub(crate) fn write(root: &Path) -> Result<Vec<String>> {
    for (path, text) in pages() {
        let path = root.join(path);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Vec::new())
}

/// Names every generated page that is not what the code would write.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let stale = |(path, text): &(&'static str, String)| {
        fs::read_to_string(root.join(path)).map_or(true, |found| found != *text)
    };
    let stale = pages().into_iter().filter(stale);
    stale.map(|(path, _)| format!("{path} is stale: run `cargo xtask docs`")).collect()
}

fn pages() -> Vec<(&'static str, String)> {
    vec![("docs/configuration.md", settings::reference())]
}
