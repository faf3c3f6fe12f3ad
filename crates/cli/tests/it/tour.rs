//! The demo that works, and `caiman init`.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use testkit::Script;

use crate::home::Home;
use crate::model::Model;

/// A user whose temporary files go below the home folder.
fn tourist() -> Home {
    let home = Home::new();
    fs::create_dir(home.path("tmp")).unwrap();
    let temporary = home.path("tmp").display().to_string();
    home.with("TMPDIR", &temporary).with("PATH", "/usr/bin:/bin")
}

fn scratch_folders(home: &Home) -> Vec<PathBuf> {
    let found = fs::read_dir(home.path("tmp")).unwrap().map(|entry| entry.unwrap().path());
    found.filter(|path| path.display().to_string().contains("caiman-demo-")).collect()
}

#[test]
fn the_demo_fixes_a_real_bug_with_real_tools_in_a_folder_of_its_own() {
    let home = tourist();
    home.write("project/largest.sh", "mine\n");
    let done = home.run(&["run", "-C", "project", "--model", "demo/tour", "Fix the bug", "-v"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert!(
        done.out.contains("not an AI") && done.out.contains("All tests pass now"),
        "{}",
        done.out
    );
    let folders = scratch_folders(&home);
    assert_eq!(folders.len(), 1);
    assert!(done.err.contains(&folders[0].display().to_string()), "{}", done.err);
    assert!(fs::read_to_string(folders[0].join("largest.sh")).unwrap().contains("largest=$1"));
    assert_eq!(fs::read_to_string(home.path("project/largest.sh")).unwrap(), "mine\n");
    let shown = home.run(&["session", "last", "-C", "project"]);
    assert!(shown.out.contains("sh test.sh"), "{}{}", shown.out, shown.err);
}

#[test]
fn the_demo_tells_honestly_what_it_may_not_do() {
    let home = tourist();
    let args = ["run", "--model", "demo/tour", "Fix the bug", "--mode", "plan", "--deny", "Bash"];
    let done = home.run(&args);
    assert!(!done.out.contains("All tests pass now"), "{}", done.out);
    let args = ["run", "--model", "demo/tour", "Fix the bug", "--deny", "Edit(largest.sh)"];
    let done = home.run(&args);
    assert_eq!(done.code, 2, "{}{}", done.out, done.err);
    assert!(done.out.contains("I could not change the file"), "{}", done.out);
}

#[test]
fn a_question_to_the_demo_is_answered_without_a_scratch_folder() {
    let home = tourist();
    let done = home.run(&["run", "--model", "demo/tour", "What is this?"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.out.contains("not an AI"), "{}", done.out);
    assert_eq!(scratch_folders(&home), Vec::<PathBuf>::new());
}

#[test]
fn init_writes_its_file_and_may_write_no_other() {
    let write = |path: &str| json!({ "file_path": path, "content": "# Agents\n" });
    let script = Script::new().call("write", write("AGENTS.md")).usage(1, 1).then();
    let script = script.call("write", write("other.md")).usage(1, 1).then();
    let model = Model::start(script.text("Written.").usage(1, 1));
    let home = Home::of(&model);
    let done = home.run(&["init"]);
    assert_eq!((done.code, done.out.as_str()), (2, "Written.\n"), "{}", done.err);
    assert_eq!(fs::read_to_string(home.path("AGENTS.md")).unwrap(), "# Agents\n");
    assert!(!home.path("other.md").exists());
    let asked = model.requests().len();
    let done = home.run(&["init"]);
    assert_eq!((done.code, model.requests().len()), (1, asked), "{}", done.err);
    assert!(done.err.contains("AGENTS.md") && done.err.contains("--force"), "{}", done.err);
}
