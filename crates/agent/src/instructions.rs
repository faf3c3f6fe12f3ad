//! Instruction files: what the user and the project want every session to know.
//!
//! | module | does |
//! |---|---|
//! | `places` | knows which files are looked for, and in which order |
//! | `markdown` | finds `@file` imports, takes out comments, leaves code alone |
//!
//! This file reads, deduplicates and bounds them. A project's files are other people's: links and imports
//! that lead out of the project are not followed, and nothing that looks like a key is imported.

pub(crate) mod markdown;
mod places;

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base::{Env, Paths};
use settings::front_matter;
use settings::{Options, project_folders};

use self::places::Candidate;

/// Most of one file that goes into the prompt.
pub const FILE_LIMIT_BYTES: usize = 20 * 1024;
/// Most of all files together.
pub const TOTAL_LIMIT_BYTES: usize = 60 * 1024;
/// Most of a file that is looked at: comments may take up a lot that is not shown.
const READ_LIMIT_BYTES: u64 = 1024 * 1024;
/// How deep imports may import.
const IMPORT_DEPTH: usize = 4;
/// Most files in all; a folder of rules can hold thousands.
const FILE_COUNT: usize = 100;
/// A piece of a file that is shorter is not worth its heading.
const SMALLEST_PIECE: usize = 200;

/// One instruction file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Its name as the model and the user see it: from the project's root, or from `~`.
    pub name: String,
    /// Whose it is.
    pub scope: Scope,
    /// What goes into the prompt.
    pub text: String,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The user's, or the machine's.
    User,
    /// The project's.
    Project,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The files, in the order of the prompt: what comes later lies nearer.
    pub files: Vec<Instruction>,
    /// What the user should know: cut, unreadable or refused files.
    pub warnings: Vec<String>,
    /// What was left out because it is there already or applies to some files only.
    pub left_out: Vec<String>,
}

/// Loads the instruction files for a session in `folder`.
///
/// Paths in `options` may begin with `~`; variables in them have been expanded.
pub fn load(folder: &Path, paths: &Paths, env: &Env, options: &Options) -> Loaded {
    let folders = project_folders(folder);
    let root = folders.first().map_or(folder, PathBuf::as_path);
    let mut reader = Reader {
        root: fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()),
        home: fs::canonicalize(paths.home()).unwrap_or_else(|_| paths.home().to_owned()),
        ..Reader::default()
    };
    for candidate in places::all(&folders, paths, env, options) {
        reader.read(&candidate, 0);
    }
    reader.bound()
}

/// Whether a folder of a project has any instruction file.
pub fn any_in(folder: &Path) -> bool {
    !places::in_folder(folder).is_empty()
}

/// Gathers files.
#[derive(Default)]
struct Reader {
    root: PathBuf,
    home: PathBuf,
    seen_paths: HashSet<PathBuf>,
    /// Each text, and the file it was found in first.
    seen_texts: BTreeMap<String, String>,
    found: Vec<Found>,
    loaded: Loaded,
}

/// A file before it is bounded.
struct Found {
    name: String,
    scope: Scope,
    text: String,
    /// How many imports led to it.
    depth: usize,
}

/// What a file turned out to be.
enum Outcome {
    Text(String),
    Absent,
    Unusable(String),
}

impl Reader {
    fn read(&mut self, candidate: &Candidate, depth: usize) {
        let Ok(real) = fs::canonicalize(&candidate.path) else { return };
        let name = self.name(&candidate.path, &real);
        if candidate.scope == Scope::Project && !real.starts_with(&self.root) {
            self.warn(&name, "a link that leaves the project; it is not read");
            return;
        }
        if !self.seen_paths.insert(real.clone()) {
            return;
        }
        if self.found.len() == FILE_COUNT {
            self.warn(&name, "one file too many; it is not read");
            return;
        }
        match text_of(&real) {
            Outcome::Text(text) => self.take(candidate, &real, &text, depth),
            Outcome::Absent => {}
            Outcome::Unusable(why) => self.warn(&name, &format!("{why}; it is not read")),
        }
    }

    fn take(&mut self, candidate: &Candidate, real: &Path, text: &str, depth: usize) {
        let name = self.name(&candidate.path, real);
        let mut text = markdown::without_comments(&text.replace("\r\n", "\n"));
        if candidate.is_rule {
            match rule(&text) {
                Rule::Always(body) => text = body,
                Rule::For(files) => {
                    self.loaded.left_out.push(format!("{name}: only for {files}"));
                    text =
                        format!("{name} has rules for {files}: read it before you change these.");
                }
            }
        }
        let text = text.trim().to_owned();
        if text.is_empty() {
            return;
        }
        if let Some(first) = self.seen_texts.get(&text) {
            self.loaded.left_out.push(format!("{name}: the same as {first}"));
            return;
        }
        self.seen_texts.insert(text.clone(), name.clone());
        let imports = markdown::imports(&text);
        let scope = candidate.scope;
        self.found.push(Found { name: name.clone(), scope, text, depth });
        for import in imports {
            match self.import(scope, real, &import, depth) {
                Ok(Some(imported)) => self.read(&imported, depth + 1),
                Ok(None) => {}
                Err(why) => self.warn(&name, &format!("imports {import}, {why}")),
            }
        }
    }

    /// The file an import of `real` names; none if it is no import after all, or the reason not to read it.
    fn import(
        &self,
        scope: Scope,
        real: &Path,
        import: &str,
        depth: usize,
    ) -> Result<Option<Candidate>, &'static str> {
        let folder = real.parent().unwrap_or(real);
        let mut readings = markdown::readings(import).map(|text| self.absolute(folder, text));
        // A folder is no instruction.
        let Some(path) = readings.find(|path| path.is_file()) else {
            let is_mistake = markdown::is_surely_path(import);
            return if is_mistake { Err("which is no file") } else { Ok(None) };
        };
        let target = fs::canonicalize(&path).map_err(|_| "which is no file")?;
        let inside = target.starts_with(&self.root);
        if depth == IMPORT_DEPTH {
            return Err("which is too deep: imports are followed four levels down");
        }
        if scope == Scope::Project && !inside {
            return Err("which lies outside the project: only your own files may do that");
        }
        if scope == Scope::Project && holds_secrets(&target) {
            return Err("which may hold secrets; it is not read");
        }
        let scope = if inside { Scope::Project } else { scope };
        Ok(Some(Candidate { path, scope, is_rule: false }))
    }

    fn absolute(&self, folder: &Path, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => folder.join(path),
        }
    }

    /// The name to show: `asked` where that lies in the project, else where the file really is.
    fn name(&self, asked: &Path, real: &Path) -> String {
        let inside = |path: &Path| Some(path.strip_prefix(&self.root).ok()?.display().to_string());
        let at_home =
            |path: &Path| Some(format!("~/{}", path.strip_prefix(&self.home).ok()?.display()));
        let name = inside(asked)
            .or_else(|| inside(real))
            .or_else(|| at_home(asked))
            .or_else(|| at_home(real))
            .unwrap_or_else(|| real.display().to_string());
        // It stands between quotes in the prompt.
        name.chars().map(|c| if c.is_control() || c == '"' { '?' } else { c }).collect()
    }

    fn warn(&mut self, name: &str, what: &str) {
        self.loaded.warnings.push(format!("{name}: {what}"));
    }

    /// Gives each file its share, the nearest first, imports after those that import them; then puts them
    /// in the order of the prompt.
    fn bound(mut self) -> Loaded {
        let mut order: Vec<usize> = (0..self.found.len()).collect();
        order.sort_by_key(|&at| (self.found[at].depth, usize::MAX - at));
        let mut room = TOTAL_LIMIT_BYTES;
        let mut shares = vec![0; self.found.len()];
        for at in order {
            let want = self.found[at].text.len().min(FILE_LIMIT_BYTES);
            let share = want.min(room);
            shares[at] = if share < want && share < SMALLEST_PIECE { 0 } else { share };
            room -= shares[at];
        }
        for (found, share) in std::mem::take(&mut self.found).into_iter().zip(shares) {
            if let Some(text) = self.bounded(&found, share) {
                let Found { name, scope, .. } = found;
                self.loaded.files.push(Instruction { name, scope, text });
            }
        }
        self.loaded
    }

    fn bounded(&mut self, found: &Found, share: usize) -> Option<String> {
        let (text, name) = (&found.text, &found.name);
        if text.len() <= share {
            return Some(text.clone());
        }
        let whole = text.len();
        if share == 0 {
            let limit = TOTAL_LIMIT_BYTES / 1024;
            self.warn(name, &format!("left out: all instruction files together have {limit} KB"));
            return None;
        }
        let mut end = share;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let end = text[..end].rfind('\n').filter(|at| *at > end / 2).unwrap_or(end);
        self.warn(name, &format!("{whole} bytes long, cut after {end}"));
        let kept = &text[..end];
        Some(format!(
            "{kept}\n[Cut: {end} of {whole} bytes are shown. View {name} when you need the rest.]"
        ))
    }
}

/// Whom a rule file is for.
enum Rule {
    Always(String),
    For(String),
}

/// Reads the header of a rule file: Claude Code's `paths`, Cursor's `globs` and `alwaysApply`.
fn rule(text: &str) -> Rule {
    let keys = ["paths", "globs", "alwaysApply", "description"];
    let document = front_matter::parse(text, &keys);
    let files = document.list("paths").or_else(|| document.list("globs")).unwrap_or_default();
    let always = document.flag("alwaysApply").unwrap_or(files.is_empty());
    if always || files.is_empty() {
        return Rule::Always(document.body);
    }
    Rule::For(files.join(", "))
}

/// What a file says, if it is one that says something.
fn text_of(path: &Path) -> Outcome {
    // Asked before opening: opening a named pipe would wait for its writer.
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    if !is_file {
        return Outcome::Unusable("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(READ_LIMIT_BYTES).read_to_end(&mut bytes));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Outcome::Absent,
        Err(error) => return Outcome::Unusable(format!("cannot be read ({error})")),
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let whole = error.utf8_error().valid_up_to();
            // Only the character at the end of what was read may be cut in two.
            if error.utf8_error().error_len().is_some() || whole == 0 {
                return Outcome::Unusable("not UTF-8 text".to_owned());
            }
            let mut bytes = error.into_bytes();
            bytes.truncate(whole);
            String::from_utf8(bytes).unwrap_or_default()
        }
    };
    if text.contains('\0') {
        return Outcome::Unusable("not text".to_owned());
    }
    Outcome::Text(text.trim_start_matches('\u{feff}').to_owned())
}

/// Whether a file is of a kind that holds keys: a project must not put one into a prompt.
fn holds_secrets(path: &Path) -> bool {
    let lower = |text: &std::ffi::OsStr| text.to_string_lossy().to_ascii_lowercase();
    let name = path.file_name().map(lower).unwrap_or_default();
    let ending = path.extension().map(lower).unwrap_or_default();
    let hidden = [".git", ".ssh", ".gnupg", ".aws", ".kube"];
    name.starts_with(".env")
        || name.starts_with("id_")
        || [".npmrc", ".netrc", ".pypirc", "credentials"].contains(&name.as_str())
        || ["pem", "key", "p12", "pfx", "keystore"].contains(&ending.as_str())
        || path.components().any(|part| hidden.contains(&lower(part.as_os_str()).as_str()))
}
