//! Other servers that people use.

use serde_json::json;

use testkit::parts::installed;

use crate::mcp_room::{Room, words};

#[tokio::test]
async fn the_file_system_server_reads_and_writes() {
    let Some(program) = installed("node_modules/.bin/mcp-server-filesystem") else { return };
    let files = tempfile::tempdir().unwrap();
    let server = json!({ "command": program, "args": [files.path()], "timeout": 60 });
    let room = Room::new(&json!({ "it": server }));
    let menu = room.menu(|menu| menu.tools.len() >= 10).await;
    let reads = menu.tools.iter().find(|tool| tool.name == "read_text_file").unwrap();
    assert!(reads.says_it_reads && reads.schema["properties"]["path"].is_object());
    // It follows the root of its client, which is the room's folder.
    let folder = std::fs::canonicalize(room.folder.path()).unwrap();
    let mut allowed = String::new();
    for _ in 0..600 {
        allowed = room.says("list_allowed_directories", json!({})).await;
        if allowed.contains(folder.to_str().unwrap()) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(allowed.contains(folder.to_str().unwrap()), "{allowed}");
    let path = folder.join("a.txt");
    room.says("write_file", json!({ "path": path, "content": "grün\n" })).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "grün\n");
    assert_eq!(room.says("read_text_file", json!({ "path": path })).await, "grün\n");
    let outside = room.call("read_text_file", json!({ "path": "/etc/hostname" })).await.unwrap();
    assert!(outside.failed && words(&outside).contains("denied"), "{outside:?}");
    room.mcp.close().await;
}

#[tokio::test]
async fn the_git_server_tells_of_a_repository() {
    let Some(program) = installed("py/bin/mcp-server-git") else { return };
    let room = Room::new(&json!({ "it": { "command": program, "timeout": 60 } }));
    let path = room.folder.path().join("repository");
    std::fs::create_dir(&path).unwrap();
    git(&path, &["init", "-q"]).await;
    std::fs::write(path.join("a.txt"), "one\n").unwrap();
    let status = room.says("git_status", json!({ "repo_path": path })).await;
    assert!(status.contains("a.txt"), "{status}");
    assert!(room.menu(|menu| menu.tools.len() >= 10).await.prompts.is_empty());
    room.mcp.close().await;
}

async fn git(folder: &std::path::Path, args: &[&str]) {
    let command = guard::process::Command {
        program: "git".to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        folder: folder.to_owned(),
        env: base::Env::of_process(),
        cage: None,
        stdio: guard::process::Terminals::Output,
    };
    assert!(command.spawn().unwrap().wait().await.unwrap().success());
}
