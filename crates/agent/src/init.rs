//! First run in a project: whether to offer to write an instruction file, and the prompt that writes one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::Paths;
use settings::project_folders;

use crate::instructions;

/// How deep and how far code is looked for.
const DEPTH: usize = 3;
const ENTRIES: usize = 2_000;
/// Folders that hold other people's code.
const SKIPPED: [&str; 8] =
    ["node_modules", "target", "vendor", "dist", "build", "out", "venv", "__pycache__"];
/// Endings of code.
const CODE: [&str; 40] = [
    "rs", "go", "py", "js", "ts", "jsx", "tsx", "mjs", "java", "kt", "scala", "c", "h", "cc",
    "cpp", "hpp", "cs", "fs", "rb", "php", "swift", "m", "mm", "sh", "lua", "pl", "r", "jl", "ex",
    "exs", "erl", "hs", "ml", "clj", "dart", "zig", "nim", "vue", "svelte", "sql",
];
/// Most folders remembered as declined; the oldest give way.
const DECLINED: usize = 1_000;

/// Whether to offer an instruction file: the folder has code, no file of any name instructs us yet, and
/// nobody declined before.
pub fn wants(folder: &Path, paths: &Paths) -> bool {
    !declined(folder, paths)
        && !project_folders(folder).iter().any(|folder| instructions::any_in(folder))
        && has_code(folder)
}

/// The prompt that has the model write `file` (`options.initialize_as`).
pub fn prompt(file: &str) -> String {
    format!(
        "Write {file} in the project's root: what a coding agent new to this project must know to work \
         in it well. Everything in it must come from what you observe here; leave out what you cannot \
         find.\n\n\
         First look around. List the folders. Read the manifests, build files and CI configuration for \
         the commands that build, run, test and lint, and how to run a single test. Read existing \
         instructions, if any (README, CONTRIBUTING, .cursor/rules, .cursorrules, \
         .github/copilot-instructions.md, CLAUDE.md). Then read a few typical source and test files \
         for structure, naming, error handling and test habits. If there is no code, say so and stop.\n\n\
         Then write, in short sections: commands; what lies where; conventions; how tests are written \
         and run; traps that are not obvious. Name real paths and commands; run a command where that is \
         cheap and safe, to be sure that it works. No general advice, nothing a reader sees at once \
         from the file names. One page is plenty. If {file} exists, improve it and keep what people \
         wrote.\n\n\
         Last, tell me in a few lines what you wrote and what you could not find out."
    )
}

/// Remembers that nobody wants the offer for this folder.
pub fn decline(folder: &Path, paths: &Paths) -> io::Result<()> {
    let mut folders = declined_folders(paths);
    let name = folder.display().to_string();
    if folders.contains(&name) {
        return Ok(());
    }
    folders.push(name);
    let excess = folders.len().saturating_sub(DECLINED);
    let text = folders[excess..].join("\n") + "\n";
    fs::create_dir_all(paths.data())?;
    fs::write(declined_file(paths), text)
}

fn declined(folder: &Path, paths: &Paths) -> bool {
    declined_folders(paths).contains(&folder.display().to_string())
}

fn declined_folders(paths: &Paths) -> Vec<String> {
    let text = fs::read_to_string(declined_file(paths)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn declined_file(paths: &Paths) -> PathBuf {
    paths.data().join("init-declined")
}

/// Whether a folder has code near its top. It looks at a bounded number of names.
fn has_code(folder: &Path) -> bool {
    let mut left = ENTRIES;
    let mut waiting = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Some(rest) = left.checked_sub(1) else { return false };
            left = rest;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && depth < DEPTH && !name.starts_with('.') && !SKIPPED.contains(&&*name) {
                waiting.push((entry.path(), depth + 1));
            }
            let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
            if !is_folder && ending.is_some_and(|ending| CODE.contains(&ending.as_str())) {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use base::Env;

    use super::*;

    struct Home {
        dir: tempfile::TempDir,
        paths: Paths,
    }

    impl Home {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let home = dir.path().join("home").display().to_string();
            let paths = Paths::of(&Env::from_iter([("HOME", home)])).unwrap();
            fs::create_dir_all(dir.path().join("project/.git")).unwrap();
            Self { dir, paths }
        }

        fn project(&self) -> PathBuf {
            self.dir.path().join("project")
        }

        fn write(&self, path: &str) {
            let path = self.project().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }

        fn wants(&self) -> bool {
            wants(&self.project(), &self.paths)
        }
    }

    #[test]
    fn offers_where_there_is_code_and_no_instruction_file() {
        let home = Home::new();
        assert!(!home.wants(), "nothing there");
        home.write("notes.txt");
        home.write("node_modules/x/index.js");
        assert!(!home.wants(), "no code of its own");
        home.write("src/deep/main.rs");
        assert!(home.wants());
        for file in [".cursor/rules/a.mdc", "agents.md", "CLAUDE.local.md", ".claude/CLAUDE.md"] {
            home.write(file);
            assert!(!home.wants(), "{file}");
            fs::remove_file(home.project().join(file)).unwrap();
        }
        home.write("AGENTS.md");
        assert!(!wants(&home.project().join("src"), &home.paths), "the root's file counts below");
    }

    #[test]
    fn does_not_offer_again_what_was_declined() {
        let home = Home::new();
        home.write("main.go");
        decline(&home.project(), &home.paths).unwrap();
        decline(&home.project(), &home.paths).unwrap();
        assert!(!home.wants());
        assert_eq!(declined_folders(&home.paths).len(), 1);
    }

    #[test]
    fn the_prompt_stays_short_and_names_the_file() {
        let prompt = prompt("CAIMAN.md");
        let tokens = tiktoken::get_encoding("o200k_base").unwrap().count(&prompt);
        assert!(tokens < 350, "{tokens} tokens");
        assert!(prompt.starts_with("Write CAIMAN.md in the project's root"), "{prompt}");
    }
}
