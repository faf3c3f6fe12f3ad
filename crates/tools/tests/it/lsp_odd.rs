//! Language servers and files that are not as one would wish: what is told stays right, and nothing changes unasked.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::TaskScope;
use guard::{Decision, Taint};
use links::Lsp;
use links::lsp::{Edited, Keeping};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::room::Room;
use crate::servers::{has, kept, room};

/// A room with a server of our own for Python files, which does odd things.
async fn odd(modes: &[&str], keeping: Keeping) -> Room {
    let args = [&["-c", include_str!("odd.py")], modes].concat();
    // Under this name its commands are known.
    let server = json!({ "command": "python3", "args": args, "filetypes": ["py"], "root_markers": ["none"] });
    let config = json!({ "options": { "auto_lsp": false }, "lsp": { "clangd": server } });
    let room = kept(config, &TaskScope::new(), keeping).await;
    room.write("a.py", "one = 1\n");
    room
}

fn edited(within: &Path, name: &str, before: &str, after: &str) -> Edited {
    Edited {
        path: within.join(name),
        within: within.to_owned(),
        before: Some(before.to_owned()),
        after: Some(after.to_owned()),
    }
}

/// Waits until the server has heard something.
async fn hears(room: &Room, text: &str) {
    let heard = || std::fs::read_to_string(room.folder().join("odd.log")).unwrap_or_default();
    for _ in 0..3_000 {
        if heard().contains(text) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no {text} in {}", heard());
}

#[tokio::test]
async fn a_server_that_does_not_read_holds_nobody_up() {
    let longest = Duration::from_millis(100);
    let room = odd(&["deaf"], Keeping { longest, ..Keeping::default() }).await;
    // More than a pipe takes, so that everything waits behind it.
    let (one, two) = ("x = 1\n".repeat(50_000), "x = 2\n".repeat(50_000));
    let folder = room.folder().canonicalize().unwrap();
    while room.lsp().processes().is_empty() {
        room.lsp().after(&[edited(&folder, "a.py", &one, &two)]).await;
    }
    let all = async {
        for _ in 0..40 {
            room.lsp().after(&[edited(&folder, "a.py", &one, &two)]).await;
            room.lsp().after(&[edited(&folder, "a.py", &two, &one)]).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), all).await.expect("nobody waits for ever");
    room.lsp().close().await;
}

#[tokio::test]
async fn a_file_that_came_while_the_server_began_is_told() {
    let room = odd(&["watches"], Keeping::default()).await;
    // The first who asks would look at the files too late.
    room.says("view", json!({ "file_path": "a.py" })).await;
    hears(&room, r#""id": "r", "result": null"#).await;
    room.write("made.py", "value = 1\n");
    room.says("diagnostics", json!({ "file_path": "a.py" })).await;
    hears(&room, "made.py\", \"type\": 1").await;
    room.lsp().close().await;
}

#[tokio::test]
async fn an_action_that_is_a_command_is_worked_out_and_made_by_us() {
    let room = odd(&["acts"], Keeping::default()).await;
    room.warm("a.py").await;
    let offered = room.says("code_action", json!({ "file_path": "a.py", "line": 1 })).await;
    assert_eq!(offered, "Good (refactor)\nTwice (refactor)\nBare");
    assert!(!room.read("odd.log").contains("executeCommand"), "a list runs nothing");
    let input = json!({ "file_path": "a.py", "line": 1, "title": "Good" });
    let Value::Object(fields) = input.clone() else { unreachable!() };
    let call = room.registry.get("code_action").unwrap().clone().prepare(fields).unwrap();
    call.foresee(&room.workspace).await.unwrap();
    let actions = format!("{:?}", call.actions(&room.workspace).unwrap());
    assert!(actions.contains("Edit(") && actions.contains("a.py"), "{actions}");
    assert_eq!(room.read("a.py"), "one = 1\n", "nothing changes before it is allowed");
    hears(&room, r#""id": "wish-0", "result": {"applied": false"#).await;
    call.run(&room.ctx()).await.unwrap();
    assert_eq!(room.read("a.py"), "two = 1\n");
    let twice = json!({ "file_path": "a.py", "line": 1, "title": "Twice" });
    let said = room.says("code_action", twice).await;
    assert!(said.contains("wants to change files in several steps"), "{said}");
    room.lsp().close().await;
}

#[tokio::test]
async fn who_waits_for_a_server_that_is_killed_hears_of_it_at_once() {
    let room = odd(&[], Keeping::default()).await;
    room.warm("a.py").await;
    let [id] = room.lsp().processes()[..] else { panic!("one server runs") };
    let asking = room.says("hover", json!({ "file_path": "a.py", "symbol": "one" }));
    let killing = async {
        hears(&room, "textDocument/hover").await;
        let pid = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        Instant::now()
    };
    let (said, killed) = tokio::join!(asking, killing);
    assert!(said.contains("the connection is closed"), "{said}");
    assert!(killed.elapsed() < Duration::from_secs(10), "{:?}", killed.elapsed());
    room.lsp().close().await;
}

#[tokio::test]
async fn what_changes_while_a_server_thinks_is_not_written_over() {
    let room = odd(&["steals"], Keeping::default()).await;
    room.warm("a.py").await;
    let to = json!({ "file_path": "a.py", "symbol": "one", "new_name": "two" });
    let said = room.says("rename", to).await;
    assert!(said.contains("nothing was changed: a.py: it has just been changed"), "{said}");
    assert_eq!(room.read("a.py"), "# new\none = 1\n");
    room.lsp().close().await;
}

#[tokio::test]
async fn each_file_of_a_change_belongs_to_its_own_folder() {
    let room = odd(&[], Keeping::default()).await;
    let other = tempfile::tempdir().unwrap();
    let folders = [room.folder().canonicalize().unwrap(), other.path().canonicalize().unwrap()];
    let edits = folders.each_ref().map(|it| edited(it, "a.py", "one = 1\n", "bad = 1\n"));
    let mut found = Vec::new();
    for _ in 0..20 {
        found = room.lsp().after(&edits).await.into_iter().map(|problem| problem.path).collect();
        if found.len() == 2 {
            break;
        }
    }
    let mut wanted: Vec<_> = folders.iter().map(|folder| folder.join("a.py")).collect();
    wanted.sort();
    assert_eq!(found, wanted);
    assert_eq!(room.lsp().processes().len(), 2);
    room.lsp().close().await;
}

#[tokio::test]
async fn a_file_with_a_mark_is_renamed_where_its_symbols_are() {
    if !has("pyright-langserver") {
        return;
    }
    let room = room(json!({ "pyright": {} })).await;
    room.write("a.py", "\u{feff}area = 1\r\nprint('😀', area)\r\n");
    room.warm("a.py").await;
    let said = room.edits("a.py", "print('😀', area)", "print('😀', missing)").await;
    assert!(said.contains("New errors since this change:\na.py:2:12 "), "{said}");
    room.edits("a.py", "missing", "area").await;
    let to = json!({ "file_path": "a.py", "symbol": "area", "new_name": "surface" });
    let said = room.says("rename", to).await;
    assert!(said.starts_with("changed a.py"), "{said}");
    assert_eq!(room.read("a.py"), "\u{feff}surface = 1\r\nprint('😀', surface)\r\n");
    room.lsp().close().await;
}

#[tokio::test]
async fn errors_that_an_edit_brings_to_other_files_are_asked_for() {
    if !has("ty") {
        return;
    }
    let room = room(json!({ "ty": {} })).await;
    room.write("pyproject.toml", "[project]\nname = \"x\"\nversion = \"0\"\n");
    room.write("shape.py", "def area() -> int:\n    return 1\n");
    room.write("main.py", "from shape import area\n\narea()\n");
    room.warm("main.py").await;
    room.warm("shape.py").await;
    let said = room.edits("shape.py", "def area", "def surface").await;
    assert!(said.contains("New errors since this change:\nmain.py:1:"), "{said}");
    room.lsp().close().await;
}

#[tokio::test]
async fn nothing_is_told_of_a_symbol_that_comes_from_a_closed_file() {
    if !has("typescript-language-server") {
        return;
    }
    let mut room = room(json!({ "typescript": {} })).await;
    room.write("tsconfig.json", "{}");
    room.write(
        "keys.ts",
        "export const key = 'hunter2';\nexport interface Inner { pin: 'hunter3' }\n",
    );
    room.write(
        "main.ts",
        "import { key, Inner } from './keys';\nexport const own = 1;\nexport let it: Inner;\nconsole.log(key);\n",
    );
    room.warm("main.ts").await;
    let at = |symbol: &str| json!({ "file_path": "main.ts", "symbol": symbol });
    assert!(room.says("hover", at("key")).await.contains("hunter2"));
    room.deny("Read(keys.ts)");
    for symbol in ["key", "it"] {
        let said = room.says("hover", at(symbol)).await;
        assert!(said.contains("that the rules keep from being read"), "{symbol}: {said}");
    }
    let said = room.says("hover", at("own")).await;
    assert!(said.contains("const own"), "{said}");
    room.lsp().close().await;
}

#[tokio::test]
async fn a_rename_that_reaches_a_closed_file_is_denied() {
    let mut room = odd(&[], Keeping::default()).await;
    room.warm("a.py").await;
    let input = json!({ "file_path": "a.py", "symbol": "one", "new_name": "two" });
    let Value::Object(input) = input else { unreachable!() };
    let call = room.registry.get("rename").unwrap().clone().prepare(input).unwrap();
    call.foresee(&room.workspace).await.unwrap();
    room.deny("Read(a.py)");
    let actions = call.actions(&room.workspace).unwrap();
    let judged = room.ctx().policy.decide("rename", &actions, &Taint::Clean);
    assert_eq!(judged.decision, Decision::Deny, "{judged:?}");
    room.lsp().close().await;
}

#[tokio::test]
async fn refactorings_of_typescript_are_commands_and_are_done() {
    if !has("typescript-language-server") {
        return;
    }
    let room = room(json!({ "typescript": {} })).await;
    room.write("tsconfig.json", "{}");
    room.write("a.ts", "export const twice = (n: number) => n * 2;\n");
    room.warm("a.ts").await;
    let at = json!({ "file_path": "a.ts", "line": 1, "symbol": "=>" });
    let offered = room.says("code_action", at).await;
    assert!(!offered.contains("new file"), "{offered}");
    let title = "Add braces to arrow function";
    assert!(offered.contains(title), "{offered}");
    let act = json!({ "file_path": "a.ts", "line": 1, "symbol": "=>", "title": title });
    let said = room.says("code_action", act).await;
    assert!(said.starts_with("changed a.ts"), "{said}");
    assert!(room.read("a.ts").contains("return n * 2;"), "{}", room.read("a.ts"));
    room.lsp().close().await;
}

#[tokio::test]
async fn tweaks_of_clangd_are_commands_and_are_done() {
    if !has("clangd") {
        return;
    }
    let room = room(json!({ "clangd": {} })).await;
    room.write("compile_flags.txt", "-Wall\n");
    room.write("a.cpp", "auto x = 1;\n");
    room.warm("a.cpp").await;
    let title = "Replace with deduced type";
    let act = json!({ "file_path": "a.cpp", "line": 1, "symbol": "auto", "title": title });
    let said = room.says("code_action", act).await;
    assert!(said.starts_with("changed a.cpp"), "{said}");
    assert_eq!(room.read("a.cpp"), "int x = 1;\n");
    room.lsp().close().await;
}

#[tokio::test]
async fn where_only_one_server_knows_the_code_no_other_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("tsgo"), "#!/bin/sh\ntouch ../ran; cat > /dev/null\n").unwrap();
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("tsgo"), all).unwrap();
    let env = base::Env::from_iter([("PATH", format!("{}:/bin:/usr/bin", bin.display()))]);
    let keeping = Keeping { longest: Duration::from_millis(100), ..Keeping::default() };
    let lsp = Lsp::kept(Arc::default(), env, &TaskScope::new(), keeping);
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("deno.json"), "{}").unwrap();
    lsp.after(&[edited(&project, "a.ts", "", "x")]).await;
    assert!(lsp.states().is_empty(), "{:?}", lsp.states());
    std::fs::remove_file(project.join("deno.json")).unwrap();
    lsp.after(&[edited(&project, "a.ts", "", "x")]).await;
    while !folder.path().join("ran").exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    lsp.close().await;
}

#[tokio::test]
async fn a_file_whose_lines_end_oddly_is_left_alone() {
    let room = odd(&[], Keeping::default()).await;
    room.write("a.py", "one = 1\rtwo = 2\n");
    room.warm("a.py").await;
    let to = json!({ "file_path": "a.py", "symbol": "one", "new_name": "two" });
    let said = room.says("rename", to).await;
    assert!(said.contains("its lines end in ways"), "{said}");
    assert_eq!(room.read("a.py"), "one = 1\rtwo = 2\n");
    room.lsp().close().await;
}
