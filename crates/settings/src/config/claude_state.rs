//! Claude Code's state file, `~/.claude.json`: where `claude mcp add` writes servers, for all projects or for one.
//!
//! The file is also its history and may be megabytes long, so nothing else of it is read: what it says for one
//! scope becomes the text of a settings file, line for line where it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

/// The file's name, in the user's folder or where `CLAUDE_CONFIG_DIR` says.
pub(super) const NAME: &str = ".claude.json";

/// The file.
pub(super) struct State {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow, rename = "mcpServers")]
    servers: Option<&'a RawValue>,
    #[serde(borrow, default)]
    projects: BTreeMap<String, Project<'a>>,
}

#[derive(Deserialize)]
struct Project<'a> {
    #[serde(borrow, rename = "mcpServers")]
    servers: Option<&'a RawValue>,
    #[serde(borrow, rename = "disabledMcpjsonServers")]
    off_in_file: Option<&'a RawValue>,
    #[serde(borrow, rename = "disabledMcpServers")]
    off: Option<&'a RawValue>,
}

impl State {
    /// What holds in all projects.
    pub(super) fn of_user(&self) -> String {
        match self.whole() {
            Ok(whole) => self.only(&[("mcpServers", whole.servers)]),
            // Whoever reads the text says what is wrong with it, and where.
            Err(_) => self.text.clone(),
        }
    }

    /// What holds in a project's folder; none where nothing does.
    pub(super) fn of_folder(&self, folder: &Path) -> Option<String> {
        let mut projects = self.whole().ok()?.projects;
        let project = projects.remove(folder.to_str()?)?;
        let keys = [
            ("mcpServers", project.servers),
            ("disabledMcpjsonServers", project.off_in_file),
            ("disabledMcpServers", project.off),
        ];
        let says = |raw: &RawValue| !["{}", "[]"].contains(&raw.get());
        keys.iter().any(|(_, raw)| raw.is_some_and(says)).then(|| self.only(&keys))
    }

    fn whole(&self) -> serde_json::Result<Whole<'_>> {
        serde_json::from_str(&self.text)
    }

    /// An object of these values, each on the line it has in the file.
    fn only(&self, keys: &[(&str, Option<&RawValue>)]) -> String {
        let begin = self.text.as_ptr().addr();
        let there = keys.iter().filter_map(|(key, raw)| Some((*key, raw.as_ref()?.get())));
        let mut there: Vec<(usize, &str, &str)> =
            there.map(|(key, raw)| (raw.as_ptr().addr() - begin, key, raw)).collect();
        there.sort_unstable();
        let (mut text, mut line) = ("{".to_owned(), 0);
        for (index, (at, key, raw)) in there.into_iter().enumerate() {
            let above = lines(&self.text[..at]);
            text.push_str(if index == 0 { "" } else { "," });
            text.push_str(&"\n".repeat(above - line));
            text.extend(["\"", key, "\": ", raw]);
            line = above + lines(raw);
        }
        text + "}"
    }
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_is_a_text_of_its_own_with_the_lines_of_the_file() {
        let text = "{ \"history\": [\n1],\n \"projects\": { \"/a\": {\n \"disabledMcpServers\": [\"y\"],\n\
                    \"x\": 1,\n \"mcpServers\": {\n\"m\": {} } }, \"/b\": { \"mcpServers\": {} } },\n\
                    \"mcpServers\": { \"u\": {} } }";
        let state = State { path: PathBuf::new(), text: text.to_owned() };
        assert_eq!(
            state.of_user(),
            format!("{{{}\"mcpServers\": {{ \"u\": {{}} }}}}", "\n".repeat(7))
        );
        let local = "{\n\n\n\"disabledMcpServers\": [\"y\"],\n\n\"mcpServers\": {\n\"m\": {} }}";
        assert_eq!(state.of_folder(Path::new("/a")).as_deref(), Some(local));
        assert_eq!(state.of_folder(Path::new("/b")), None);
        assert_eq!(state.of_folder(Path::new("/c")), None);
        let broken = State { path: PathBuf::new(), text: "{\"projects\": 3}".to_owned() };
        assert_eq!((broken.of_user(), broken.of_folder(Path::new("/a"))), (broken.text, None));
    }
}
