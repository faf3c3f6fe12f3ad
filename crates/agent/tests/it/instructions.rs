//! Instruction files on a real disk.

use std::fs;
use std::path::{Path, PathBuf};

use agent::instructions::{FILE_LIMIT_BYTES, Loaded, Scope, TOTAL_LIMIT_BYTES, load};
use base::{Env, Paths};
use settings::Options;
use tempfile::TempDir;

/// A home and a project beside it.
struct Disk {
    dir: TempDir,
    env: Env,
    options: Options,
}

impl Disk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap().join("home");
        fs::create_dir_all(dir.path().join("project/.git")).unwrap();
        let env = Env::from_iter([("HOME", home.display().to_string())]);
        Self { dir, env, options: Options::default() }
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn load(&self) -> Loaded {
        self.load_in("project")
    }

    fn load_in(&self, folder: &str) -> Loaded {
        fs::create_dir_all(self.path(folder)).unwrap();
        let paths = Paths::of(&self.env).unwrap();
        load(&self.path(folder), &paths, &self.env, &self.options)
    }

    fn link(&self, to: impl AsRef<Path>, at: &str) {
        std::os::unix::fs::symlink(to, self.path(at)).unwrap();
    }
}

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.files.iter().map(|file| file.name.as_str()).collect()
}

#[test]
fn the_order_is_stable_and_the_nearest_comes_last() {
    let disk = Disk::new();
    for file in [
        "home/.config/caiman/CAIMAN.md",
        "home/.config/caiman/AGENTS.md",
        "home/.config/AGENTS.md",
        "home/.config/crush/CRUSH.md",
        "home/.claude/CLAUDE.md",
        "home/.gemini/GEMINI.md",
        "project/.github/copilot-instructions.md",
        "project/.cursorrules",
        "project/.cursor/rules/b.mdc",
        "project/.cursor/rules/a/x.md",
        "project/.cursor/rules/skipped.png",
        "project/GEMINI.md",
        "project/crush.md",
        "project/CLAUDE.md",
        "project/.claude/CLAUDE.md",
        "project/.claude/rules/r.md",
        "project/AGENTS.md",
        "project/CAIMAN.md",
        "project/CLAUDE.local.md",
        "project/AGENTS.local.md",
        "project/sub/AGENTS.md",
        "project/sub/CLAUDE.local.md",
        "project/sub/deeper/AGENTS.md",
        "project/other/AGENTS.md",
        "AGENTS.md",
    ] {
        disk.write(file, format!("text of {file}"));
    }
    let loaded = disk.load_in("project/sub");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let expected = [
        "~/.gemini/GEMINI.md",
        "~/.config/crush/CRUSH.md",
        "~/.claude/CLAUDE.md",
        "~/.config/AGENTS.md",
        "~/.config/caiman/AGENTS.md",
        "~/.config/caiman/CAIMAN.md",
        ".github/copilot-instructions.md",
        ".cursorrules",
        ".cursor/rules/a/x.md",
        ".cursor/rules/b.mdc",
        "GEMINI.md",
        "crush.md",
        "CLAUDE.md",
        ".claude/CLAUDE.md",
        ".claude/rules/r.md",
        "AGENTS.md",
        "CAIMAN.md",
        "CLAUDE.local.md",
        "AGENTS.local.md",
        "sub/AGENTS.md",
        "sub/CLAUDE.local.md",
    ];
    assert_eq!(names(&loaded), expected);
    assert_eq!(loaded.files[0].scope, Scope::User);
    assert_eq!(loaded.files[6].scope, Scope::Project);
    assert_eq!(disk.load_in("project/sub"), loaded, "the same again");
}

#[test]
fn the_same_text_or_file_counts_once() {
    let disk = Disk::new();
    disk.write("project/CLAUDE.md", "Use tabs.\n");
    disk.write("project/AGENTS.md", "\nUse tabs.\r\n");
    disk.link("CLAUDE.md", "project/GEMINI.md");
    disk.write("project/agents.md", "another spelling");
    let loaded = disk.load();
    assert_eq!(names(&loaded), ["GEMINI.md"], "the link is read where it stands");
    assert_eq!(loaded.left_out, ["AGENTS.md: the same as GEMINI.md"]);
    assert_eq!(loaded.warnings, Vec::<String>::new());
}

#[test]
fn imports_follow_their_importer() {
    let disk = Disk::new();
    let text = "See @docs/style.md, @docs/style.md and `@docs/no.md`.\n<!-- @docs/no.md -->\n\
                @types/node and mail@docs/no.md are none; @docs/missing.md and @./gone are missing.";
    disk.write("project/AGENTS.md", text);
    disk.write("project/docs/style.md", "Style. Also @deeper/more.md and @../AGENTS.md");
    disk.write("project/docs/deeper/more.md", "More.");
    disk.write("project/docs/no.md", "No.");
    let loaded = disk.load();
    assert_eq!(names(&loaded), ["AGENTS.md", "docs/style.md", "docs/deeper/more.md"]);
    let expected = [
        "AGENTS.md: imports docs/missing.md, which is no file",
        "AGENTS.md: imports ./gone, which is no file",
    ];
    assert_eq!(loaded.warnings, expected);
    assert!(!loaded.files[0].text.contains("<!--"), "{}", loaded.files[0].text);
}

#[test]
fn imports_end_at_a_depth_and_in_a_circle() {
    let disk = Disk::new();
    disk.write("project/AGENTS.md", "@1.md");
    for at in 1..8 {
        disk.write(&format!("project/{at}.md"), format!("{at} @{}.md @1.md", at + 1));
    }
    let loaded = disk.load();
    assert_eq!(names(&loaded), ["AGENTS.md", "1.md", "2.md", "3.md", "4.md"]);
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
    assert!(loaded.warnings[0].contains("too deep"), "{:?}", loaded.warnings);
}

#[test]
fn a_project_cannot_reach_out_and_the_user_can() {
    let disk = Disk::new();
    let outside = disk.path("home/secret.md").display().to_string();
    disk.write("home/secret.md", "the user's own");
    disk.write("project/.env", "KEY=1");
    disk.write("project/id_rsa", "PRIVATE");
    disk.write(
        "project/AGENTS.md",
        format!("@{outside} @~/secret.md @../home/secret.md @.env @id_rsa"),
    );
    disk.link(&outside, "project/CLAUDE.md");
    disk.link("../home", "project/out");
    disk.write("project/GEMINI.md", "@out/secret.md");
    let loaded = disk.load();
    assert_eq!(names(&loaded), ["GEMINI.md", "AGENTS.md"]);
    assert_eq!(loaded.warnings.len(), 7, "{:#?}", loaded.warnings);
    disk.write("home/.claude/CLAUDE.md", "@~/secret.md");
    let loaded = disk.load();
    assert_eq!(names(&loaded)[..2], ["~/.claude/CLAUDE.md", "~/secret.md"]);
}

#[test]
fn what_is_no_text_is_said_and_skipped() {
    let disk = Disk::new();
    disk.write("project/AGENTS.md", [b'a', 0xff, b'b']);
    disk.write("project/CAIMAN.md", "a\0b");
    disk.write("project/GEMINI.md", " \n\t");
    fs::create_dir_all(disk.path("project/CRUSH.md")).unwrap();
    disk.write("project/CLAUDE.md", "\u{feff}good");
    let loaded = disk.load();
    assert_eq!(names(&loaded), ["CLAUDE.md"]);
    assert_eq!(loaded.files[0].text, "good");
    let expected = [
        "CRUSH.md: not a regular file; it is not read",
        "AGENTS.md: not UTF-8 text; it is not read",
        "CAIMAN.md: not text; it is not read",
    ];
    assert_eq!(loaded.warnings, expected);
}

#[test]
fn a_named_pipe_does_not_hold_us_up() {
    let disk = Disk::new();
    let pipe = disk.path("project/AGENTS.md");
    let mkfifo = base::CommandLine::new("mkfifo", [pipe.display().to_string()], &Env::of_process());
    base::RunCommand::run(&guard::Runner, &mkfifo).unwrap();
    assert_eq!(disk.load().warnings, ["AGENTS.md: not a regular file; it is not read"]);
}

#[test]
fn a_long_file_is_cut_aloud() {
    let disk = Disk::new();
    disk.write("project/AGENTS.md", "Zeile mit ä\n".repeat(4_000));
    let loaded = disk.load();
    let text = &loaded.files[0].text;
    assert!(text.len() <= FILE_LIMIT_BYTES + 100, "{}", text.len());
    let last = text.lines().last().unwrap();
    assert_eq!(
        last,
        "[Cut: 20474 of 51999 bytes are shown. View AGENTS.md when you need the rest.]"
    );
    assert_eq!(loaded.warnings, ["AGENTS.md: 51999 bytes long, cut after 20474"]);
}

#[test]
fn in_all_there_is_a_limit_and_the_nearest_come_first() {
    let disk = Disk::new();
    for name in ["GEMINI", "CRUSH", "CLAUDE", "AGENTS", "CAIMAN"] {
        disk.write(&format!("project/{name}.md"), format!("{name}\n").repeat(4_000));
    }
    let loaded = disk.load();
    let total: usize = loaded.files.iter().map(|file| file.text.len()).sum();
    assert!(total <= TOTAL_LIMIT_BYTES + 500, "{total}");
    let shown = names(&loaded);
    assert_eq!(shown, ["CLAUDE.md", "AGENTS.md", "CAIMAN.md"]);
    assert!(loaded.warnings.iter().any(|warning| warning.starts_with("GEMINI.md: left out")));
}

#[test]
fn rules_for_some_files_are_only_pointed_to() {
    let disk = Disk::new();
    disk.write(
        "project/.cursor/rules/always.mdc",
        "---\nalwaysApply: true\nglobs: \"*.x\"\n---\nA.",
    );
    let some = "---\ndescription: T\nglobs: *.ts, *.tsx\nalwaysApply: false\n---\nB.";
    disk.write("project/.cursor/rules/some.mdc", some);
    disk.write("project/.claude/rules/api.md", "---\npaths:\n  - src/api/**\n---\nC.");
    disk.write("project/.claude/rules/plain.md", "D.");
    let loaded = disk.load();
    let texts: Vec<&str> = loaded.files.iter().map(|file| file.text.as_str()).collect();
    let expected = [
        "A.",
        ".cursor/rules/some.mdc has rules for *.ts, *.tsx: read it before you change these.",
        ".claude/rules/api.md has rules for src/api/**: read it before you change these.",
        "D.",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn settings_name_more_files_and_folders() {
    let mut disk = Disk::new();
    disk.options.global_context_paths = vec!["~/team.md".to_owned(), "~/absent.md".to_owned()];
    disk.options.context_paths =
        vec!["docs/rules".to_owned(), "near.md".to_owned(), "~/mine.md".to_owned()];
    disk.write("home/team.md", "team");
    disk.write("home/mine.md", "mine");
    disk.write("project/AGENTS.md", "agents");
    disk.write("project/docs/rules/b.md", "b");
    disk.write("project/docs/rules/a.txt", "a");
    disk.write("project/docs/rules/c.rs", "c");
    disk.write("project/sub/near.md", "near");
    let loaded = disk.load_in("project/sub");
    let expected = [
        "~/team.md",
        "AGENTS.md",
        "docs/rules/a.txt",
        "docs/rules/b.md",
        "sub/near.md",
        "~/mine.md",
    ];
    assert_eq!(names(&loaded), expected);
    assert_eq!(loaded.warnings, Vec::<String>::new());
}
