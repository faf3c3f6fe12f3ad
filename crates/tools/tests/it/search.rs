//! `glob`, `grep` and `ls` on real trees.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use base::Block;
use serde_json::json;
use tools::ToolError;

use crate::room::Room;

/// Sets a file's time of change to `seconds` after some moment.
fn age(room: &Room, path: &str, seconds: u64) {
    let file = std::fs::File::options().write(true).open(room.folder().join(path)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)).unwrap();
}

async fn text(room: &Room, tool: &str, input: serde_json::Value) -> String {
    room.call(tool, input).await.unwrap().text
}

/// A project with most things that a walk can trip over.
async fn project() -> Room {
    let room = Room::new().await;
    room.write("src/main.rs", "fn main() {\n    needle();\n}\n");
    room.write("src/deep/er/lib.rs", "// needle one\n// other\n// Needle two\n");
    room.write("notes.md", "a needle in a haystack\n");
    room.write(".hidden/config.toml", "needle = 1\n");
    room.write(".gitignore", "target/\n*.log\n");
    room.write(".caimanignore", "private.txt\n");
    room.write("private.txt", "needle\n");
    room.write("target/debug/out.rs", "needle\n");
    room.write("build.log", "needle\n");
    room.write(".git/objects/x", "needle\n");
    room.write("binary.bin", b"needle\n\0\x01needle\n");
    room.write(".env", "KEY=needle\n");
    room.write(".env.example", "KEY=needle\n");
    room
}

#[tokio::test]
async fn glob_gives_the_newest_first_and_leaves_out_what_is_ignored() {
    let room = project().await;
    room.write("src/new.rs", "");
    age(&room, "src/main.rs", 20);
    age(&room, "src/deep/er/lib.rs", 30);
    age(&room, "src/new.rs", 10);
    let found = text(&room, "glob", json!({ "pattern": "*.rs" })).await;
    assert_eq!(found, "src/deep/er/lib.rs\nsrc/main.rs\nsrc/new.rs\n");
    let found = text(&room, "glob", json!({ "pattern": "src/*.rs" })).await;
    assert_eq!(found, "src/main.rs\nsrc/new.rs\n");
    let found = text(&room, "glob", json!({ "pattern": "**/er/*", "path": "src" })).await;
    assert_eq!(found, "src/deep/er/lib.rs\n");
    let all = text(&room, "glob", json!({ "pattern": "**/*" })).await;
    assert!(all.contains(".hidden/config.toml") && all.contains(".env\n"), "{all}");
    for ignored in [".git/", "target", "build.log", "private.txt"] {
        assert!(!all.contains(ignored), "{ignored} in {all}");
    }
    let none = text(&room, "glob", json!({ "pattern": "*.zig" })).await;
    assert!(none.starts_with("No files match `*.zig`"), "{none}");
}

#[tokio::test]
async fn glob_finds_folders_and_names_what_it_left_out() {
    let room = project().await;
    let folders = text(&room, "glob", json!({ "pattern": "**/e*/" })).await;
    assert_eq!(folders, "src/deep/er\n");
    for number in 0..250 {
        room.write(&format!("many/{number:03}.txt"), "");
        age(&room, &format!("many/{number:03}.txt"), number);
    }
    let output = room.call("glob", json!({ "pattern": "many/*.txt" })).await.unwrap();
    assert!(output.text.starts_with("many/249.txt\nmany/248.txt\n"), "{}", output.text);
    assert!(output.text.ends_with("(the newest 100 of 250; narrow the pattern for others)\n"));
    assert_eq!(output.text.lines().count(), 101);
    assert_eq!(output.title.as_deref(), Some("250 files"));
}

#[tokio::test]
async fn glob_says_when_there_are_too_many_files_to_find_the_newest() {
    let room = Room::new().await;
    for number in 0..4_000 {
        room.write(&format!("f{:02}/{number:04}.txt", number % 40), "");
    }
    room.write("f00/rare.md", "");
    let output = room.call("glob", json!({ "pattern": "*.txt" })).await.unwrap();
    let lines: Vec<&str> = output.text.lines().collect();
    let (last, paths) = lines.split_last().unwrap();
    assert!(paths.len() == 100 && paths.is_sorted(), "{}", output.text);
    assert!(last.starts_with("(100 of more than ") && last.contains("by path"), "{last}");
    assert!(output.title.unwrap().starts_with("more than "));
    // Few matches are all found, however large the tree.
    assert_eq!(text(&room, "glob", json!({ "pattern": "*.md" })).await, "f00/rare.md\n");
    let few = text(&room, "glob", json!({ "pattern": "f07/*.txt" })).await;
    assert_eq!(few.lines().count(), 100, "{few}");
}

#[tokio::test]
async fn a_project_below_a_folder_called_build_is_still_a_project() {
    let room = Room::new().await;
    room.write("build/out/target/vendor/a.rs", "needle\n");
    let found = text(&room, "glob", json!({ "pattern": "*.rs" })).await;
    assert_eq!(found, "build/out/target/vendor/a.rs\n");
    let found = text(&room, "grep", json!({ "pattern": "needle" })).await;
    assert!(found.contains("build/out/target/vendor/a.rs:\n1: needle"), "{found}");
}

#[tokio::test]
async fn an_ignore_file_that_leaves_nothing_over_counts_only_in_a_repository() {
    let room = Room::new().await;
    room.write(".gitignore", "/*\n!/debian/\n");
    room.write("src/a.rs", "needle\n");
    let found = text(&room, "glob", json!({ "pattern": "*.rs" })).await;
    assert_eq!(found, "src/a.rs\n");
    assert!(text(&room, "ls", json!({})).await.contains("a.rs"));
    std::fs::create_dir(room.folder().join(".git")).unwrap();
    let found = text(&room, "glob", json!({ "pattern": "*.rs" })).await;
    assert!(found.starts_with("No files match"), "{found}");
}

#[tokio::test]
async fn ignore_files_above_the_folder_asked_for_count_too() {
    let room = project().await;
    room.write("src/debug.log", "needle\n");
    room.write("src/private.txt", "needle\n");
    let found = text(&room, "grep", json!({ "pattern": "needle", "path": "src" })).await;
    assert!(found.starts_with("Found 2 matches in 2 files"), "{found}");
    let listed = text(&room, "ls", json!({ "path": "src" })).await;
    assert!(!listed.contains("debug.log") && !listed.contains("private.txt"), "{listed}");
}

#[tokio::test]
async fn grep_groups_matches_by_file_in_the_order_of_paths() {
    let room = project().await;
    let found = text(&room, "grep", json!({ "pattern": "needle" })).await;
    let expected = "Found 5 matches in 5 files\n\
        \n.env.example:\n1: KEY=needle\n\
        \n.hidden/config.toml:\n1: needle = 1\n\
        \nnotes.md:\n1: a needle in a haystack\n\
        \nsrc/deep/er/lib.rs:\n1: // needle one\n\
        \nsrc/main.rs:\n2:     needle();\n\
        (1 file with secrets not searched, like .env; name one in `path`)\n";
    assert_eq!(found, expected);
    let named = text(&room, "grep", json!({ "pattern": "needle", "path": ".env" })).await;
    assert_eq!(named, "Found 1 match in 1 file\n\n.env:\n1: KEY=needle\n");
}

#[tokio::test]
async fn grep_takes_context_case_literals_and_spans() {
    let room = project().await;
    let input =
        json!({ "pattern": "NEEDLE", "include": "*.rs", "case_insensitive": true, "context": 1 });
    let found = text(&room, "grep", input).await;
    let expected = "Found 3 matches in 2 files\n\
        \nsrc/deep/er/lib.rs:\n1: // needle one\n2- // other\n3: // Needle two\n\
        \nsrc/main.rs:\n1- fn main() {\n2:     needle();\n3- }\n";
    assert_eq!(found, expected);
    let input = json!({ "pattern": "needle()", "literal_text": true });
    assert!(text(&room, "grep", input).await.contains("2:     needle();"));
    let input = json!({ "pattern": "main.*\\}", "multiline": true, "path": "src" });
    let found = text(&room, "grep", input).await;
    assert!(found.contains("src/main.rs:\n1: fn main() {\n2:     needle();\n3: }\n"), "{found}");
    let input = json!({ "pattern": "--pre=rm", "literal_text": true });
    assert_eq!(text(&room, "grep", input).await.lines().next(), Some("No matches found."));
}

#[tokio::test]
async fn grep_reads_other_encodings_and_skips_binaries() {
    let room = Room::new().await;
    let utf16: Vec<u8> =
        "\u{feff}ein Nadelöhr\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    room.write("wide.txt", utf16);
    room.write("latin.txt", b"Nadel\xf6hr\n");
    room.write("late.bin", [b"Nadel\n".repeat(50), b"Heu\n".repeat(50_000), vec![0]].concat());
    let found = text(&room, "grep", json!({ "pattern": "Nadel" })).await;
    assert!(found.contains("wide.txt:\n1: ein Nadelöhr\n"), "{found}");
    assert!(found.contains("latin.txt:\n1: Nadel\u{fffd}hr\n"), "{found}");
    assert!(!found.contains("late.bin"), "{found}");
}

#[tokio::test]
async fn grep_stops_at_a_hundred_matches_and_they_are_always_the_same() {
    let room = Room::new().await;
    for folder in 0..40 {
        for file in 0..20 {
            let name = format!("f{folder:02}/{file:02}.txt");
            let mut content = String::new();
            for line in 0..=(folder * file) % 5 {
                writeln!(content, "needle {folder} {file} {line}").unwrap();
            }
            room.write(&name, content);
        }
    }
    let first = text(&room, "grep", json!({ "pattern": "needle" })).await;
    assert!(first.starts_with("Found more than 100 matches; 100 of them are below"), "{first}");
    assert_eq!(first.matches(": needle").count(), 100);
    let files: Vec<&str> = first.lines().filter(|line| line.ends_with(".txt:")).collect();
    assert!(files.len() > 20 && files.is_sorted(), "{first}");
    for _ in 0..20 {
        assert_eq!(text(&room, "grep", json!({ "pattern": "needle" })).await, first);
    }
    let exact = text(&room, "grep", json!({ "pattern": "needle 1 1 ", "context": 3 })).await;
    assert!(exact.starts_with("Found 2 matches in 1 file\n"), "{exact}");
}

#[tokio::test]
async fn exactly_a_hundred_matches_are_all_of_them() {
    let room = Room::new().await;
    room.write("a.txt", "needle\n".repeat(60));
    room.write("b.txt", "needle\n".repeat(40));
    let found = text(&room, "grep", json!({ "pattern": "needle" })).await;
    assert!(found.starts_with("Found 100 matches in 2 files\n"), "{found}");
    room.write("c.txt", "needle\n");
    let found = text(&room, "grep", json!({ "pattern": "needle" })).await;
    assert!(found.starts_with("Found more than 100 matches"), "{found}");
    assert_eq!(found.matches(": needle").count(), 100, "{found}");
}

#[tokio::test]
async fn long_lines_and_much_context_stay_bounded() {
    let room = Room::new().await;
    let line = format!("{}needle{}\n", "x".repeat(100_000), "y".repeat(100_000));
    room.write("long.txt", line.repeat(150));
    let input = json!({ "pattern": "needle", "context": 1_000 });
    let found = text(&room, "grep", input).await;
    assert!(found.contains("needle"), "the match is shown, not the line's start");
    assert!(found.len() < 40_000, "{}", found.len());
    assert!(found.contains("too much text"), "{found}");
}

#[cfg(unix)]
#[tokio::test]
async fn no_search_follows_a_link() {
    use std::os::unix::fs::symlink;

    let room = project().await;
    let outside = room.folder().with_file_name("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.rs"), "needle outside\n").unwrap();
    symlink(&outside, room.folder().join("way")).unwrap();
    symlink(outside.join("secret.rs"), room.folder().join("link.rs")).unwrap();
    symlink("..", room.folder().join("src/loop")).unwrap();
    let found = text(&room, "grep", json!({ "pattern": "outside" })).await;
    assert!(found.starts_with("No matches found."), "{found}");
    let found = text(&room, "glob", json!({ "pattern": "**/secret.rs" })).await;
    assert!(found.starts_with("No files match"), "{found}");
    let listed = text(&room, "ls", json!({})).await;
    assert!(listed.contains("  way -> ") && !listed.contains("secret.rs\n    "), "{listed}");
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_path_really_is_goes_before_the_lock() {
    use guard::Action;
    use std::os::unix::fs::symlink;

    let room = project().await;
    let outside = room.folder().with_file_name("outside");
    std::fs::create_dir_all(&outside).unwrap();
    symlink(&outside, room.folder().join("way")).unwrap();
    for (tool, input) in [
        ("glob", json!({ "pattern": "way/*.rs" })),
        ("glob", json!({ "pattern": "*.rs", "path": "way" })),
        ("glob", json!({ "pattern": "../outside/*.rs" })),
        ("glob", json!({ "pattern": format!("{}/**", outside.display()) })),
        ("grep", json!({ "pattern": "x", "path": "way" })),
        ("ls", json!({ "path": "../outside" })),
    ] {
        let serde_json::Value::Object(input) = input else { unreachable!() };
        let call = room.registry.get(tool).unwrap().clone().prepare(input.clone()).unwrap();
        let actions = call.actions(&room.workspace).unwrap();
        let [Action::Read(spot)] = actions.as_slice() else { panic!("{actions:?}") };
        assert!(!spot.inside && spot.real == outside, "{tool} {input:?}: {spot:?}");
    }
}

#[tokio::test]
async fn secret_places_are_not_walked_into() {
    let room = Room::new().await;
    let home = room.workspace.fence.home().to_owned();
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::write(home.join(".ssh/id_test"), "needle\n").unwrap();
    std::fs::write(home.join("plain.txt"), "needle\n").unwrap();
    let home = home.display().to_string();
    let found = text(&room, "grep", json!({ "pattern": "needle", "path": home })).await;
    assert!(found.contains("plain.txt") && !found.contains("id_test"), "{found}");
    let found = text(&room, "glob", json!({ "pattern": "**/*", "path": home })).await;
    assert!(found.contains("plain.txt") && !found.contains("id_test"), "{found}");
    let listed = text(&room, "ls", json!({ "path": home })).await;
    assert!(listed.contains("plain.txt") && !listed.contains(".ssh"), "{listed}");
}

#[tokio::test]
async fn ls_shows_a_tree_and_says_what_each_folder_lacks() {
    let room = project().await;
    let output = room.call("ls", json!({ "path": "src" })).await.unwrap();
    assert_eq!(output.text, "src/\n  deep/\n    er/\n      lib.rs\n  main.rs\n");
    assert_eq!(output.title.as_deref(), Some("src: 4 names"));
    let Some(Block::Tree { roots }) = output.body else { panic!("{:?}", output.body) };
    assert_eq!(roots[0].children[0].children[0].label, "er/");
    let shallow = text(&room, "ls", json!({ "depth": 1, "ignore": ["*.md", "src"] })).await;
    let expected =
        "./\n  .caimanignore\n  .env\n  .env.example\n  .gitignore\n  .hidden/\n  binary.bin\n";
    assert_eq!(shallow, expected);
    for number in 0..1_500 {
        room.write(&format!("wide/{number:04}"), "");
    }
    let output = room.call("ls", json!({})).await.unwrap();
    assert!(output.text.contains("    0249\n    … 1,250 more\n"), "{}", output.text);
    assert!(output.text.contains("      lib.rs\n") || output.text.contains("lib.rs"));
    assert!(output.title.unwrap().ends_with("1,250 left out"));
    let file = room.call("ls", json!({ "path": "notes.md" })).await.unwrap_err();
    assert!(file.to_string().contains("use view"), "{file}");
}

#[tokio::test]
async fn missing_folders_and_bad_patterns_are_told() {
    let room = project().await;
    for (tool, input, expected) in [
        ("grep", json!({ "pattern": "x", "path": "nowhere" }), "cannot search"),
        ("ls", json!({ "path": "nowhere" }), "cannot list"),
        ("grep", json!({ "pattern": "f(x" }), "at character 2"),
        ("grep", json!({ "pattern": "x", "include": "{a" }), "write patterns like"),
        ("glob", json!({ "pattern": "[z-a" }), "write patterns like"),
        ("glob", json!({ "pattern": "" }), "names no file"),
        ("glob", json!({ "pattern": "*.rs", "path": "no\u{0}where" }), ""),
    ] {
        let error = room.call(tool, input).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{tool}: {error}");
    }
}

#[tokio::test]
async fn a_cancelled_search_ends_at_once() {
    let room = project().await;
    room.cancel.cancel();
    for (tool, input) in [
        ("grep", json!({ "pattern": "needle" })),
        ("glob", json!({ "pattern": "*" })),
        ("ls", json!({})),
    ] {
        let error = room.call(tool, input).await.unwrap_err();
        assert!(matches!(error, ToolError::Cancelled), "{error}");
    }
}

#[tokio::test]
async fn a_search_in_an_endless_file_is_cancelled() {
    let room = Room::new().await;
    // A file with a hole: terabytes to read, nothing on disk. Its zeros must not count as binary at once.
    let path = room.folder().join("huge");
    std::fs::write(&path, b"text\n".repeat(100)).unwrap();
    let file = std::fs::File::options().append(true).open(Path::new(&path)).unwrap();
    file.set_len(1 << 40).unwrap();
    let input = json!({ "pattern": "needle.*\\d", "multiline": true });
    let started = std::time::Instant::now();
    let output = room.call("grep", input).await.unwrap();
    assert!(started.elapsed() < Duration::from_mins(1));
    assert!(output.text.starts_with("No matches") || output.text.starts_with("Time ran out"));
}

#[tokio::test]
async fn what_is_sent_with_every_request_is_short() {
    let room = Room::new().await;
    let mut all = String::new();
    for name in ["download", "fetch", "glob", "grep", "ls", "sourcegraph"] {
        let tool = room.registry.get(name).unwrap();
        writeln!(all, "{name} {} {}", tool.description(), tool.schema()).unwrap();
    }
    // Four bytes a token: these six get 700 of the 1,600 tokens there are for all.
    assert!(all.len() < 2_800, "{}: {all}", all.len());
}

#[tokio::test]
async fn what_a_rule_keeps_from_being_read_is_not_searched() {
    let mut room = project().await;
    room.deny("Read(src/deep/**)");
    room.deny("Read(notes.md)");
    let found = text(&room, "grep", json!({ "pattern": "needle", "path": "src" })).await;
    assert_eq!(
        found,
        "Found 1 match in 1 file\n\nsrc/main.rs:\n2:     needle();\n\
         (1 file not searched: a rule forbids to read them)\n"
    );
    // Whether there is a match is not told, either.
    let none = text(&room, "grep", json!({ "pattern": "nowhere", "path": "src" })).await;
    assert_eq!(none, "No matches found.\n(1 file not searched: a rule forbids to read them)\n");
    let named = text(&room, "glob", json!({ "pattern": "*.md" })).await;
    assert_eq!(named, "notes.md\n");
}
