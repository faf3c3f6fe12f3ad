//! Which language servers there are, and which fits a file: known ones, changed and added to by settings.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::Env;
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::{Config, Expander, LspServer};

use crate::child::Limits;

const KNOWN: &str = include_str!("../../data/servers.toml");
/// How long a server's start may take.
const START: Duration = Duration::from_secs(30);
/// Memory of a server, where the settings say nothing: several were seen to take all there is.
const MEMORY_BYTES: u64 = 8 << 30;

/// One server, ready to be started where it fits.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are facts, each apart from the others")]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// Its program.
    pub command: String,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Variables it gets besides ours.
    pub env: BTreeMap<String, String>,
    /// What it is for.
    pub role: Role,
    /// Languages by the end of a file's name, without the dot, or by the whole name.
    pub languages: BTreeMap<String, String>,
    /// Files that mark a whole workspace: the outermost wins over what is nearer.
    pub workspace_markers: Vec<String>,
    /// Files that mark a project: the nearest to a file wins.
    pub root_markers: Vec<String>,
    /// Whether it serves files that have no project around them.
    pub single_file: bool,
    /// Sent with `initialize`.
    pub init_options: Value,
    /// Its settings.
    pub settings: Value,
    /// How long its start may take.
    pub start: Duration,
    /// What it may use up.
    pub limits: Limits,
    /// Whether it starts in the sandbox.
    pub sandbox: bool,
    /// Whether the settings name it: then it is always used.
    pub configured: bool,
    /// Whether it runs what the project's files say.
    pub runs_code: bool,
    /// The first version of its npm package that is a server; none where all are.
    pub least_version: Option<u64>,
    /// Whether nobody else knows the code below its markers, installed or not.
    pub alone: bool,
    /// Its commands that do nothing but work out an edit, which it then wants made.
    pub edit_commands: Vec<String>,
}

/// What a server is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It knows a programming language: of several for one file, the first that is installed is used.
    #[default]
    Code,
    /// It complains beside another one.
    Lint,
    /// It checks data or prose; nobody asks it for references.
    Data,
}

/// All servers, in the order in which they are preferred.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    servers: Vec<Arc<Spec>>,
    /// Servers that the settings switch off.
    off: Vec<String>,
    /// What is wrong with the settings.
    problems: Vec<(String, String)>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    name: String,
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    role: Role,
    languages: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    workspace_markers: Vec<String>,
    #[serde(default)]
    root_markers: Vec<String>,
    #[serde(default)]
    single_file: bool,
    #[serde(default)]
    init_options: Map<String, Value>,
    #[serde(default)]
    settings: Map<String, Value>,
    #[serde(default)]
    runs_code: bool,
    #[serde(default)]
    least_version: Option<u64>,
    #[serde(default)]
    alone: bool,
    #[serde(default)]
    edit_commands: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    server: Vec<Known>,
}

fn known() -> &'static [Known] {
    static READ: OnceLock<Vec<Known>> = OnceLock::new();
    READ.get_or_init(|| toml::from_str::<File>(KNOWN).map(|file| file.server).unwrap_or_default())
}

impl Catalog {
    /// The known servers, unless `options.auto_lsp` is off, under those of the settings.
    pub fn new(config: &Config, env: &Env) -> Self {
        let mut catalog = Self::default();
        for (name, own) in &config.lsp {
            if own.disabled {
                catalog.off.push(name.clone());
                continue;
            }
            match configured(name, own, env) {
                Ok(spec) => catalog.servers.push(Arc::new(spec)),
                Err(why) => catalog.problems.push((name.clone(), why)),
            }
        }
        if config.options.auto_lsp {
            let named = |known: &&Known| !config.lsp.contains_key(&known.name);
            let replaced: Vec<String> =
                catalog.servers.iter().map(|spec| spec.command.clone()).collect();
            let rest = known().iter().filter(named);
            let rest = rest.filter(|known| !replaced.contains(&known.command));
            catalog.servers.extend(rest.map(|known| Arc::new(spec_of(known))));
        }
        catalog
    }

    /// Whether no server can ever be needed.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// The servers.
    pub fn servers(&self) -> &[Arc<Spec>] {
        &self.servers
    }

    /// Servers the settings switch off, by name.
    pub fn off(&self) -> &[String] {
        &self.off
    }

    /// Servers whose settings cannot be used, and why.
    pub fn problems(&self) -> &[(String, String)] {
        &self.problems
    }

    /// The servers for a file, going by its name alone.
    pub fn for_file<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Arc<Spec>> {
        self.servers.iter().filter(|spec| spec.language(path).is_some())
    }
}

impl Spec {
    /// The language of a file, if it serves it.
    pub fn language(&self, path: &Path) -> Option<&str> {
        let name = path.file_name()?.to_str()?;
        let end = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
        let by_end = || self.languages.get(end?.as_str());
        self.languages.get(name).or_else(by_end).map(String::as_str)
    }

    /// The root for a file: at or below `within`, which holds it. None if it has none and needs one.
    pub fn root(&self, path: &Path, within: &Path) -> Option<PathBuf> {
        let folders = || path.ancestors().skip(1).take_while(|folder| folder.starts_with(within));
        let marked = |folder: &&Path, markers: &[String]| has_marker(folder, markers);
        let outermost = folders().filter(|folder| marked(folder, &self.workspace_markers)).last();
        let found = outermost.or_else(|| folders().find(|it| marked(it, &self.root_markers)));
        let alone =
            self.single_file || (self.root_markers.is_empty() && self.workspace_markers.is_empty());
        found.or_else(|| alone.then_some(within)).map(Path::to_owned)
    }

    /// Whether it waits until somebody trusts the project. Settings that name it are the user's own, or those of
    /// a folder that is trusted.
    pub(crate) fn needs_trust(&self) -> bool {
        self.runs_code && !self.configured
    }

    /// Whether a folder itself is a root for it.
    pub(crate) fn marks(&self, names: &[String]) -> bool {
        let markers = self.workspace_markers.iter().chain(&self.root_markers);
        let is_marked = |marker: &String| names.iter().any(|name| fits(marker, name));
        markers.into_iter().any(is_marked)
            || (self.single_file
                && names.iter().any(|name| self.language(Path::new(name)).is_some()))
    }
}

fn has_marker(folder: &Path, markers: &[String]) -> bool {
    markers.iter().any(|marker| {
        if !marker.contains('*') {
            return folder.join(marker).exists();
        }
        let Ok(entries) = std::fs::read_dir(folder) else { return false };
        entries.flatten().any(|entry| fits(marker, &entry.file_name().to_string_lossy()))
    })
}

/// Whether a name is what a marker means; `*` stands for any beginning.
fn fits(marker: &str, name: &str) -> bool {
    match marker.strip_prefix('*') {
        Some(end) => name.ends_with(end),
        None => marker == name,
    }
}

fn spec_of(known: &Known) -> Spec {
    let languages = known
        .languages
        .iter()
        .flat_map(|(language, ends)| ends.iter().map(|end| (end.clone(), language.clone())));
    Spec {
        name: known.name.clone(),
        command: known.command.clone(),
        args: known.args.clone(),
        env: BTreeMap::new(),
        role: known.role,
        languages: languages.collect(),
        workspace_markers: known.workspace_markers.clone(),
        root_markers: known.root_markers.clone(),
        single_file: known.single_file,
        init_options: Value::Object(known.init_options.clone()),
        settings: Value::Object(known.settings.clone()),
        start: START,
        limits: Limits { memory_bytes: Some(MEMORY_BYTES), cpu_s: None },
        sandbox: false,
        configured: false,
        runs_code: known.runs_code,
        least_version: known.least_version,
        alone: known.alone,
        edit_commands: known.edit_commands.clone(),
    }
}

/// A server of the settings, over the known one of its name or command.
fn configured(name: &str, own: &LspServer, env: &Env) -> Result<Spec, String> {
    let expander = Expander { env, runner: None };
    let text =
        |template: &settings::Template| expander.text(template).map_err(|error| error.to_string());
    let command = own.command.as_ref().map(text).transpose()?.filter(|text| !text.is_empty());
    let by_name = known().iter().find(|known| known.name == name);
    let program = command.as_deref().and_then(|path| Path::new(path).file_name()?.to_str());
    let by_command = || known().iter().find(|known| Some(known.command.as_str()) == program);
    let mut spec = match by_name.or_else(by_command) {
        Some(known) => spec_of(known),
        None => Spec { single_file: true, ..empty(name) },
    };
    name.clone_into(&mut spec.name);
    spec.configured = true;
    if let Some(command) = command.clone() {
        if own.args.is_empty() && program != Some(spec.command.as_str()) {
            spec.args.clear();
        }
        spec.command = command;
    }
    if spec.command.is_empty() {
        return Err("no command is given, and no server of this name is known".to_owned());
    }
    if !own.args.is_empty() {
        spec.args = own.args.iter().map(text).collect::<Result<_, _>>()?;
    }
    spec.env = expander.map(&own.env).map_err(|error| error.to_string())?;
    if !own.filetypes.is_empty() {
        spec.languages = languages(&own.filetypes, &spec.languages);
    }
    if spec.languages.is_empty() {
        return Err("no filetypes are given".to_owned());
    }
    if !own.root_markers.is_empty() {
        spec.root_markers.clone_from(&own.root_markers);
        spec.workspace_markers.clear();
    }
    lay_over(&mut spec.init_options, &own.init_options);
    lay_over(&mut spec.settings, &own.options);
    spec.start = own.timeout_s.map_or(spec.start, Duration::from_secs);
    let memory = own.memory_mb.map(|megabytes| megabytes.saturating_mul(1 << 20));
    spec.limits.memory_bytes = memory.or(spec.limits.memory_bytes).filter(|bytes| *bytes > 0);
    spec.limits.cpu_s = own.cpu_s;
    spec.sandbox = own.sandbox;
    Ok(spec)
}

fn empty(name: &str) -> Spec {
    Spec {
        name: name.to_owned(),
        command: String::new(),
        args: Vec::new(),
        env: BTreeMap::new(),
        role: Role::Code,
        languages: BTreeMap::new(),
        workspace_markers: Vec::new(),
        root_markers: Vec::new(),
        single_file: false,
        init_options: Value::Object(Map::new()),
        settings: Value::Object(Map::new()),
        start: START,
        limits: Limits { memory_bytes: Some(MEMORY_BYTES), cpu_s: None },
        sandbox: false,
        configured: false,
        runs_code: false,
        least_version: None,
        alone: false,
        edit_commands: Vec::new(),
    }
}

/// Languages by ends of names, from what settings call file types: ends, or names of languages.
fn languages(types: &[String], own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for kind in types {
        let kind = kind.trim_start_matches('.');
        let tables =
            std::iter::once(own.clone()).chain(known().iter().map(|it| spec_of(it).languages));
        let tables: Vec<_> = tables.collect();
        let ends = |table: &BTreeMap<String, String>| -> Vec<String> {
            let named = table.iter().filter(|(_, language)| *language == kind);
            named.map(|(end, _)| end.clone()).collect()
        };
        if let Some(language) = tables.iter().find_map(|table| table.get(kind)) {
            all.insert(kind.to_owned(), language.clone());
        } else if let Some(ends) = tables.iter().map(ends).find(|ends| !ends.is_empty()) {
            all.extend(ends.into_iter().map(|end| (end, kind.to_owned())));
        } else {
            all.insert(kind.to_owned(), kind.to_owned());
        }
    }
    all
}

fn lay_over(under: &mut Value, over: &Map<String, Value>) {
    let Value::Object(fields) = under else { return };
    for (name, value) in over {
        match (fields.get_mut(name), value) {
            (Some(below @ Value::Object(_)), Value::Object(above)) => lay_over(below, above),
            _ => drop(fields.insert(name.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_known_servers_can_be_read_and_are_many() {
        let catalog = Catalog::new(&Config::default(), &Env::default());
        assert!(catalog.servers().len() >= 50, "{}", catalog.servers().len());
        let mut names: Vec<&str> =
            catalog.servers().iter().map(|spec| spec.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), catalog.servers().len());
        for (file, server) in [
            ("a.rs", "rust-analyzer"),
            ("a.py", "pyright"),
            ("a.tsx", "deno"),
            ("a.go", "gopls"),
            ("a.hpp", "clangd"),
            ("Dockerfile", "docker"),
        ] {
            let first = catalog.for_file(Path::new(file)).next().map(|spec| spec.name.clone());
            assert_eq!(first.as_deref(), Some(server), "{file}");
        }
        assert_eq!(catalog.for_file(Path::new("notes.txt")).count(), 0);
    }

    #[test]
    fn servers_that_run_what_a_project_says_are_marked() {
        let catalog = Catalog::new(&Config::default(), &Env::default());
        let runs_code = |name: &str| {
            catalog.servers().iter().find(|spec| spec.name == name).unwrap().needs_trust()
        };
        let all = ["rust-analyzer", "typescript", "eslint", "jdtls", "zls", "haskell", "r", "deno"];
        for name in all.into_iter().chain(["basedpyright", "pyrefly", "jedi", "texlab", "gleam"]) {
            assert!(runs_code(name), "{name}");
        }
        for name in ["clangd", "pyright", "ty", "ruff", "gopls", "tsc", "bash", "yaml"] {
            assert!(!runs_code(name), "{name}");
        }
        let named = config(r#"{"lsp": {"rust-analyzer": {}}}"#);
        let catalog = Catalog::new(&named, &Env::default());
        assert!(!catalog.servers()[0].needs_trust(), "who names it wants it");
    }

    #[test]
    fn no_server_fetches_what_a_file_names() {
        let catalog = Catalog::new(&Config::default(), &Env::default());
        let find = |name: &str| catalog.servers().iter().find(|spec| spec.name == name).unwrap();
        assert_eq!(
            find("json").init_options["handledSchemaProtocols"],
            serde_json::json!(["file"])
        );
        assert_eq!(find("yaml").settings["http"]["proxy"], "http://127.0.0.1:9");
        assert_eq!(find("yaml").settings["yaml"]["schemaStore"]["enable"], false);
        assert_eq!(find("taplo").settings["evenBetterToml"]["schema"]["enabled"], false);
    }

    #[test]
    fn files_that_may_hold_comments_are_not_called_json() {
        let catalog = Catalog::new(&Config::default(), &Env::default());
        let json = catalog.servers().iter().find(|spec| spec.name == "json").unwrap();
        assert_eq!(json.language(Path::new("/x/tsconfig.json")), Some("jsonc"));
        assert_eq!(json.language(Path::new("/x/package.json")), Some("json"));
    }

    #[test]
    fn settings_change_a_known_server_or_add_one() {
        let text = r#"{"lsp": {
            "rust-analyzer": {"options": {"rust-analyzer": {"check": {"command": "clippy"}}}},
            "mine": {"command": "my-server", "args": ["--stdio"], "filetypes": [".foo", "rust"]},
            "gopls": {"disabled": true},
            "nothing": {}
        }}"#;
        let catalog = Catalog::new(&config(text), &Env::default());
        let mine = catalog.servers().iter().find(|spec| spec.name == "mine").unwrap();
        assert_eq!(mine.language(Path::new("x.foo")), Some("foo"));
        assert_eq!(mine.language(Path::new("x.rs")), Some("rust"));
        let rust = catalog.servers().iter().find(|spec| spec.name == "rust-analyzer").unwrap();
        assert_eq!(rust.settings["rust-analyzer"]["check"]["command"], "clippy");
        assert_eq!(catalog.off(), ["gopls"]);
        assert_eq!(catalog.problems().len(), 1);
        assert_eq!(catalog.for_file(Path::new("a.go")).count(), 0);
    }

    #[test]
    fn without_the_known_ones_only_those_of_the_settings_are_used() {
        let text = r#"{"options": {"auto_lsp": false}, "lsp": {"pyright": {}}}"#;
        let catalog = Catalog::new(&config(text), &Env::default());
        let names: Vec<&str> = catalog.servers().iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, ["pyright"]);
        assert_eq!(catalog.servers()[0].command, "pyright-langserver");
    }

    #[test]
    fn each_file_has_the_nearest_root_and_a_workspace_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        for path in [
            "py/one/pyproject.toml",
            "py/two/setup.py",
            "rs/Cargo.lock",
            "rs/a/Cargo.toml",
            "c/Makefile",
            "c/lib/Makefile",
            "cs/all.sln",
            "cs/one/one.csproj",
            "java/pom.xml",
            "java/core/pom.xml",
        ] {
            make(path);
        }
        let catalog = Catalog::new(&Config::default(), &Env::default());
        let root = |server: &str, file: &str| {
            let spec = catalog.servers().iter().find(|spec| spec.name == server).unwrap();
            spec.root(&dir.path().join(file), dir.path())
        };
        assert_eq!(root("pyright", "py/one/src/a.py"), Some(dir.path().join("py/one")));
        assert_eq!(root("clangd", "c/lib/a.c"), Some(dir.path().join("c")));
        assert_eq!(root("csharp", "cs/one/a.cs"), Some(dir.path().join("cs")));
        assert_eq!(root("jdtls", "java/core/src/A.java"), Some(dir.path().join("java")));
        assert_eq!(root("pyright", "py/two/a.py"), Some(dir.path().join("py/two")));
        assert_eq!(root("pyright", "a.py"), Some(dir.path().to_owned()));
        assert_eq!(root("rust-analyzer", "rs/a/src/lib.rs"), Some(dir.path().join("rs")));
        assert_eq!(root("rust-analyzer", "other/lib.rs"), None);
    }
}
