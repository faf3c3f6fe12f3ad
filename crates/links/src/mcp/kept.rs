//! What servers told, on disk: a session knows it before any server is up.
//!
//! One file for a server's name and settings. Nothing depends on it: one that is damaged, or from another version of
//! ours, is as good as none.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base::Timestamp;
use serde::{Deserialize, Serialize};
use settings::{McpServer, Template};
use sha2::{Digest, Sha256};

use super::menu::Menu;

/// Counted up when what is kept changes its meaning.
const VERSION: u32 = 2;
/// Files that are larger are not ours.
const LARGEST: u64 = 16 << 20;

/// What is kept of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    version: u32,
    /// Whether it speaks the older lifecycle only, so that nobody has to find out again.
    pub(super) is_older: bool,
    pub(super) menu: Menu,
    /// When it told so last.
    #[serde(default)]
    pub(super) told_at: Timestamp,
}

impl Kept {
    pub(super) fn new(is_older: bool, menu: Menu, told_at: Timestamp) -> Self {
        Self { version: VERSION, is_older, menu, told_at }
    }

    /// What is kept in a file.
    pub(super) fn read(file: &Path) -> Option<Self> {
        if fs::metadata(file).ok()?.len() > LARGEST {
            return None;
        }
        let kept: Self = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        (kept.version == VERSION).then(|| Self { menu: kept.menu.bounded(), ..kept })
    }

    /// Keeps it in a file, whole or not at all.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(folder)?;
        let beside = file.with_extension(format!("{}.tmp", std::process::id()));
        let mut writing = fs::File::create(&beside)?;
        let written = writing.write_all(&serde_json::to_vec(self)?);
        drop(writing);
        written.and_then(|()| fs::rename(&beside, file)).inspect_err(|_| {
            // It may never have been there.
            fs::remove_file(&beside).ok();
        })
    }
}

/// Where something is kept of a server: the name to find it, the settings because others mean another server.
/// Which tools are let through and how long it may take do not count: they are ours.
pub(super) fn file(folder: &Path, name: &str, server: &McpServer) -> PathBuf {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(name);
    add(&format!("{:?}", server.transport));
    let plain = |template: &Option<Template>| {
        template.as_ref().map_or_else(String::new, |text| text.as_str().to_owned())
    };
    add(&plain(&server.command));
    add(&plain(&server.url));
    for arg in &server.args {
        add(arg.as_str());
    }
    for (kind, pairs) in [("env", &server.env), ("headers", &server.headers)] {
        add(kind);
        for (name, value) in pairs {
            add(name);
            add(value.as_str());
        }
    }
    let mut number = [0; 8];
    number.copy_from_slice(&hash.finalize()[..8]);
    let hash = u64::from_be_bytes(number);
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = name.chars().take(40).map(plain).collect();
    folder.join(format!("{name}-{hash:016x}.json"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::menu::Tool;
    use super::*;

    fn server(command: &str) -> McpServer {
        McpServer { command: Some(Template::new(command)), ..McpServer::default() }
    }

    fn kept() -> Kept {
        let tool = Tool {
            name: "t".to_owned(),
            description: "d".to_owned(),
            schema: serde_json::json!({ "type": "object" }),
            says_it_reads: false,
            is_task: false,
        };
        Kept::new(true, Menu { tools: vec![tool], ..Menu::default() }, Timestamp::from_millis(7))
    }

    #[test]
    fn what_is_kept_is_found_again_and_other_settings_are_another_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder.path().join("mcp"), "a/../b", &server("x"));
        assert_eq!(path.parent(), Some(folder.path().join("mcp").as_path()));
        assert_eq!(Kept::read(&path), None);
        kept().write(&path).unwrap();
        assert_eq!(Kept::read(&path), Some(kept()));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let filtered = McpServer { disabled_tools: vec!["t".to_owned()], ..server("x") };
        assert_eq!(file(&folder.path().join("mcp"), "a/../b", &filtered), path);
        assert_ne!(file(&folder.path().join("mcp"), "a/../b", &server("y")), path);
        assert_ne!(file(&folder.path().join("mcp"), "other", &server("x")), path);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn damage_is_survived(at in any::<prop::sample::Index>(), byte in any::<u8>(), keep in any::<prop::sample::Index>()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("menu.json");
            let mut bytes = serde_json::to_vec(&kept()).unwrap();
            let index = at.index(bytes.len());
            bytes[index] = byte;
            bytes.truncate(keep.index(bytes.len()) + 1);
            fs::write(&path, &bytes).unwrap();
            if let Some(read) = Kept::read(&path) {
                prop_assert!(read.menu.tools.len() <= 1);
            }
        }
    }
}
