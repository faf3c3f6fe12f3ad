//! Tools that ask a language server are offered where one fits, and stay what they are for a session.

use serde_json::{Value, json};
use settings::Config;
use testkit::Script;

use crate::room::{Plan, Room};

const CODE: [&str; 9] = [
    "call_hierarchy",
    "code_action",
    "definition",
    "diagnostics",
    "hover",
    "lsp_restart",
    "references",
    "rename",
    "symbols",
];

fn plan() -> Plan {
    let script = Script::new().text("Yes.").usage(10, 5);
    let server = json!({ "command": "sh", "args": ["-c", "cat > /dev/null"], "filetypes": ["py"] });
    let config = json!({ "options": { "auto_lsp": false }, "lsp": { "it": server } });
    let config: Config = serde_json::from_value(config).unwrap();
    Plan { config, ..Plan::with_tools(script) }
}

fn offered(room: &Room, request: usize) -> Vec<String> {
    let body = &room.server.requests()[request].body;
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    let names: Vec<String> = body["tools"].as_array().unwrap().iter().map(name).collect();
    names.into_iter().filter(|name| CODE.contains(&name.as_str())).collect()
}

#[tokio::test]
async fn a_folder_with_code_gets_the_tools_of_its_server() {
    let room = Room::new(plan()).await;
    room.write("main.py", "value = 1\n");
    room.say("hello").await;
    assert_eq!(offered(&room, 0), CODE);
    room.assert_valid();
    room.coordinator.close().await;
}

#[tokio::test]
async fn a_folder_without_gets_none_even_when_code_comes_later() {
    let room = Room::new(plan()).await;
    room.write("notes.txt", "value = 1\n");
    room.say("hello").await;
    room.write("main.py", "value = 1\n");
    room.say("and now").await;
    assert_eq!(offered(&room, 0), Vec::<String>::new());
    assert_eq!(offered(&room, 1), Vec::<String>::new());
    room.coordinator.close().await;
}

#[tokio::test]
async fn what_a_rule_keeps_from_being_read_is_not_quoted_by_who_would_change_it() {
    let at = json!({ "file_path": ".env", "line": 2, "symbol": "zzz" });
    let with = |name: &str, value: &str| {
        let mut input = at.clone();
        input[name] = json!(value);
        input
    };
    for (tool, input) in [
        ("rename", with("new_name", "y")),
        ("code_action", with("title", "mend")),
        ("code_action", at.clone()),
    ] {
        let script = Script::new().call(tool, input).usage(1, 1).then().text("Done.").usage(1, 1);
        let mut plan = Plan { script, ..plan() };
        plan.rules.deny = vec![guard::Rule::parse("Read(.env)").unwrap()];
        let room = Room::new(plan).await;
        room.write("main.py", "value = 1\n");
        room.write(".env", "first line\nopen sesame\n");
        room.say("go").await;
        let told = room.transcript().await.join("\n");
        assert!(told.contains("the rule `Read(.env)` forbids it"), "{tool}: {told}");
        assert!(!told.contains("sesame"), "{tool}: {told}");
        room.coordinator.close().await;
    }
}

#[tokio::test]
async fn a_secret_file_is_asked_about_before_it_is_looked_at() {
    let input = json!({ "file_path": ".env", "line": 2, "symbol": "zzz", "new_name": "y" });
    let script = Script::new().call("rename", input).usage(1, 1).then().text("Done.").usage(1, 1);
    let room = Room::new(Plan { script, mode: base::protocol::Mode::AcceptEdits, ..plan() }).await;
    room.write("main.py", "value = 1\n");
    room.write(".env", "first line\nopen sesame\n");
    room.say("go").await;
    let told = room.transcript().await.join("\n");
    assert!(told.contains(".env may hold secrets; nobody is here"), "{told}");
    assert!(!told.contains("sesame"), "{told}");
    room.coordinator.close().await;
}
