//! Plugin folders: agents, skills, commands, hooks and servers that come together.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::sheet::is_word;
use super::{Hooks, Problem, Standing, Weight};
use crate::jsonc;

/// Where a manifest may lie; the first one counts. A plugin needs none.
pub(super) const MANIFESTS: [&str; 2] =
    [".caiman-plugin/plugin.json", ".claude-plugin/plugin.json"];
/// What makes a folder without a manifest a plugin.
pub(super) const USUAL_PARTS: [&str; 6] =
    ["agents", "skills", "commands", "output-styles", "hooks/hooks.json", ".mcp.json"];

/// A plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct Plugin {
    /// Its name, which stands before what it brings: `name:skill`.
    pub name: String,
    /// Its version, as written.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Its folder: `${CLAUDE_PLUGIN_ROOT}`.
    pub folder: PathBuf,
    /// Its hooks.
    pub hooks: Hooks,
    /// Its MCP servers, by name, as written.
    pub mcp_servers: BTreeMap<String, Value>,
    /// Whether what it wants to run may run.
    pub standing: Standing,
}

/// What a manifest says: the plugin, without what lies in other files, and where those are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Manifest {
    pub(super) plugin: Plugin,
    pub(super) parts: Parts,
    pub(super) problems: Vec<Problem>,
}

/// Where a plugin's parts lie, relative to its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) agents: Vec<PathBuf>,
    pub(super) skills: Vec<PathBuf>,
    pub(super) commands: Vec<PathBuf>,
    pub(super) styles: Vec<PathBuf>,
    pub(super) hooks: Vec<PathBuf>,
    pub(super) servers: Vec<PathBuf>,
}

impl Manifest {
    /// Reads a manifest; `text` is none where the plugin has none.
    pub(super) fn read(folder: &Path, file: &Path, text: Option<&str>, standing: Standing) -> Self {
        let mut reader = Reader { file, problems: Vec::new() };
        let mut fields = reader.fields(text);
        let word = |key: &str| {
            let text = fields.get(key).and_then(Value::as_str).map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        let (name, version, description) = (word("name"), word("version"), word("description"));
        let name = reader.name(name, folder);
        let mut paths = |key: &str, usual: &str| reader.paths(fields.get(key), key, usual);
        let mut parts = Parts {
            agents: paths("agents", "agents"),
            skills: paths("skills", "skills"),
            commands: paths("commands", "commands"),
            styles: paths("outputStyles", "output-styles"),
            hooks: paths("hooks", "hooks/hooks.json"),
            servers: paths("mcpServers", ".mcp.json"),
        };
        // The manifest's skills come on top of the usual folder; so do hooks and servers.
        for (list, usual) in [
            (&mut parts.skills, "skills"),
            (&mut parts.hooks, "hooks/hooks.json"),
            (&mut parts.servers, ".mcp.json"),
        ] {
            if !list.contains(&PathBuf::from(usual)) {
                list.insert(0, PathBuf::from(usual));
            }
        }
        let mut plugin = Plugin {
            name,
            version,
            description,
            folder: folder.to_owned(),
            hooks: Hooks::new(),
            mcp_servers: BTreeMap::new(),
            standing,
        };
        let mut problems = reader.problems;
        if let Some(hooks) = fields.remove("hooks").filter(Value::is_object) {
            add_hooks(&mut plugin, &hooks, file, &mut problems);
        }
        if let Some(servers) = fields.remove("mcpServers").filter(Value::is_object) {
            add_servers(&mut plugin, &servers);
        }
        Self { plugin, parts, problems }
    }
}

/// Adds the hooks of `hooks.json`, or of a manifest.
pub(super) fn add_hooks(
    plugin: &mut Plugin,
    value: &Value,
    file: &Path,
    problems: &mut Vec<Problem>,
) {
    let (hooks, troubles) = super::hooks(value.get("hooks").unwrap_or(value));
    for (event, hooks) in hooks {
        plugin.hooks.entry(event).or_default().extend(hooks);
    }
    problems.extend(troubles.into_iter().map(|text| note(file, text)));
}

/// Adds the servers of `.mcp.json`, or of a manifest. What is there already stays.
pub(super) fn add_servers(plugin: &mut Plugin, value: &Value) {
    let servers = value.get("mcpServers").unwrap_or(value).as_object();
    for (name, server) in servers.into_iter().flatten().filter(|(_, server)| server.is_object()) {
        plugin.mcp_servers.entry(name.clone()).or_insert_with(|| server.clone());
    }
}

fn note(file: &Path, text: impl Into<String>) -> Problem {
    Problem { file: file.to_owned(), line: None, weight: Weight::Note, text: text.into() }
}

struct Reader<'a> {
    file: &'a Path,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn fields(&mut self, text: Option<&str>) -> Map<String, Value> {
        let Some(text) = text else { return Map::new() };
        match jsonc::read::<Value>(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => {
                self.tell("the manifest is not an object; its folder's name and usual parts count");
                Map::new()
            }
            Err(error) => {
                self.tell(format!("the manifest is not JSON, its usual parts count: {error}"));
                Map::new()
            }
        }
    }

    fn tell(&mut self, text: impl Into<String>) {
        self.problems.push(note(self.file, text));
    }

    fn name(&mut self, written: Option<String>, folder: &Path) -> String {
        let of_folder = || {
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            let slug = super::slug(&name.unwrap_or_default());
            if slug.is_empty() { "plugin".to_owned() } else { slug }
        };
        match written {
            Some(name) if is_word(&name) => name,
            Some(_) => {
                self.tell("the plugin's name is not one word; the folder's name is used instead");
                of_folder()
            }
            None => of_folder(),
        }
    }

    /// Paths of a component: as the manifest says, or the usual one.
    fn paths(&mut self, value: Option<&Value>, key: &str, usual: &str) -> Vec<PathBuf> {
        let written: Vec<&str> = match value {
            Some(Value::String(path)) => vec![path],
            Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
            // Hooks and servers may stand in the manifest itself.
            Some(Value::Object(_)) if !matches!(key, "hooks" | "mcpServers") => {
                self.tell(format!("`{key}` should be a path or a list of paths; `{usual}` counts"));
                return vec![PathBuf::from(usual)];
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
                return vec![PathBuf::from(usual)];
            }
        };
        let mut paths = Vec::new();
        for path in written {
            match inside(path) {
                Some(path) => paths.push(path),
                None => self.tell(format!("a path of `{key}` leaves the plugin's folder")),
            }
        }
        paths
    }
}

/// A path that stays in the folder it is relative to.
fn inside(path: &str) -> Option<PathBuf> {
    let mut inner = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => inner.push(part),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => return None,
        }
    }
    (!path.contains('\\')).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: Option<&str>) -> Manifest {
        let folder = Path::new("/plugins/My Kit");
        Manifest::read(folder, &folder.join(MANIFESTS[1]), text, Standing::Trusted)
    }

    #[test]
    fn a_plugin_needs_no_manifest() {
        let manifest = read(None);
        assert_eq!(manifest.plugin.name, "my-kit");
        assert_eq!(manifest.parts.agents, [Path::new("agents")]);
        assert_eq!(manifest.parts.hooks, [Path::new("hooks/hooks.json")]);
        assert_eq!(manifest.problems, []);
    }

    #[test]
    fn a_manifest_names_parts_and_brings_some_itself() {
        let manifest = read(Some(
            r#"{"name": "kit", "version": "1.0", "agents": "./minds", "skills": ["./more"],
                "commands": ["./a.md", "../../etc"], "hooks": {"Stop": [{"command": "x"}]},
                "mcpServers": {"s": {"command": "y"}, "odd": 5}, "unknown": true}"#,
        ));
        let Manifest { plugin, parts, problems } = manifest;
        assert_eq!((plugin.name.as_str(), plugin.version.as_deref()), ("kit", Some("1.0")));
        assert_eq!(parts.agents, [Path::new("minds")]);
        assert_eq!(parts.skills, [Path::new("skills"), Path::new("more")]);
        assert_eq!(parts.commands, [Path::new("a.md")]);
        assert_eq!(plugin.hooks["Stop"].len(), 1);
        assert_eq!(plugin.mcp_servers.keys().collect::<Vec<_>>(), ["s"]);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }

    #[test]
    fn commands_by_name_are_told_not_to_count() {
        let manifest = read(Some(r#"{"name": "kit", "commands": {"go": {"source": "./go.md"}}}"#));
        assert_eq!(manifest.parts.commands, [Path::new("commands")]);
        assert!(manifest.problems[0].text.contains("`commands` should be a path"));
    }

    #[test]
    fn a_damaged_manifest_costs_only_what_it_says() {
        for text in ["", "{", "[]", r#"{"name": "a b"}"#, r#"{"name": "../x"}"#] {
            let manifest = read(Some(text));
            assert_eq!(manifest.plugin.name, "my-kit", "{text}");
            assert_eq!(manifest.problems.len(), 1, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_path_leaves_the_plugin(path in "[a-z./\\\\~:]{0,24}") {
            if let Some(inner) = inside(&path) {
                let stays = inner.components().all(|part| matches!(part, Component::Normal(_)));
                proptest::prop_assert!(stays && !inner.is_absolute(), "{path} gives {inner:?}");
            }
        }
    }
}
