//! Lives of servers: menus, news, sleep, many calls, and what is left of them when we are gone.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use base::Clock;
use links::Mcp;
use links::mcp::{Content, Outside};
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use testkit::processes::{gone_soon, is_alive};

use crate::mcp_room::{Asked, LONG, Room, outside, paths, script, scripted, words};

#[tokio::test]
async fn a_menu_is_known_before_the_server_is_up() {
    let room = scripted("plain");
    assert!(room.mcp.menu("it").is_none());
    let told = room.menu(|_| true).await;
    room.mcp.close().await;
    let room = room.again(&json!({ "it": script("plain") }));
    assert_eq!(room.mcp.menu("it"), Some(told));
    assert!(room.mcp.processes().is_empty());
    assert_eq!(room.mcp.states()[0].state, "asleep");
    assert_eq!(room.mcp.states()[0].log, ["lends 1 tools, 0 prompts, 0 resources"]);
    let room = room.again(&json!({ "it": script("odd") }));
    assert!(room.mcp.menu("it").is_none(), "other settings are another server");
}

#[tokio::test]
async fn what_a_server_told_counts_for_a_day() {
    let room = scripted("plain");
    let it = ["it".to_owned()];
    assert_eq!(room.mcp.stale(&it), it);
    room.menu(|_| true).await;
    assert!(room.mcp.stale(&it).is_empty());
    room.mcp.close().await;
    let clock = Clock::fixed(Clock::system().now());
    let outside = Outside { clock: clock.clone(), ..outside(room.folder.path()) };
    let room = Room { mcp: Mcp::new(outside, &room.scope), ..room };
    room.add(&json!({ "it": script("plain") }));
    assert!(room.mcp.stale(&it).is_empty());
    clock.advance(Duration::from_hours(25));
    assert_eq!(room.mcp.stale(&it), it);
    room.mcp.wake(&it);
    let asked = async {
        while !room.mcp.stale(&it).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, asked).await.expect("the same again counts anew");
    room.mcp.close().await;
}

#[tokio::test]
async fn settings_say_which_tools_are_offered() {
    let with = |more: serde_json::Value| {
        let mut server = script("odd");
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "it": server })
    };
    let room =
        Room::new(&with(json!({ "enabled_tools": ["echo", "fat"], "disabled_tools": ["fat"] })));
    let menu = room.menu(|_| true).await;
    assert_eq!(menu.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["echo"]);
    assert_eq!(room.says("echo", json!({})).await, "{}");
    for tool in ["fat", "deep"] {
        let error = room.call(tool, json!({})).await.unwrap_err().to_string();
        assert!(error.contains("the settings do not offer its tool"), "{error}");
    }
    room.mcp.close().await;
    let room = room.again(&with(json!({})));
    assert_eq!(room.mcp.menu("it").unwrap().tools.len(), 5, "the whole menu is kept");
    let room = room.again(&with(json!({ "disabled": true })));
    assert!(room.mcp.names().is_empty() && room.mcp.menu("it").is_none());
    assert_eq!(room.mcp.states()[0].state, "switched off");
    assert!(room.call("echo", json!({})).await.is_err());
}

#[tokio::test]
async fn a_changed_list_is_news() {
    let room = scripted("plain");
    room.menu(|menu| menu.tools.len() == 1).await;
    room.says("change", json!({ "name": "second" })).await;
    room.menu(|menu| menu.tools.iter().any(|tool| tool.name == "second")).await;
    room.says("change", json!({ "name": "third" })).await;
    room.menu(|menu| menu.tools.len() == 3).await;
    room.mcp.close().await;
}

#[tokio::test]
async fn both_lifecycles_are_spoken() {
    let room = scripted("modern");
    let menu = room.menu(|_| true).await;
    assert_eq!(menu.tools.len(), 2);
    assert!(room.state("ready").await.state.contains("modern 1"));
    assert_eq!(room.says("echo", json!({ "a": 1 })).await, r#"[{"a": 1}, null, null]"#);
    let asked = Arc::new(Asked::default());
    let answer = room.borrow("form", json!({}), asked.clone()).await.unwrap();
    let told = r#"{"who": {"action": "accept", "content": {"name": "words"}}}"#;
    assert_eq!(words(&answer), format!(r#"[{{}}, {told}, "sealed"]"#));
    assert_eq!(asked.forms.lock().unwrap().len(), 1);
    room.mcp.close().await;
}

#[tokio::test]
async fn settings_are_filled_in_when_the_server_is_needed() {
    let mut server = script("plain");
    server["env"] = json!({ "GIVEN": "$(printf 'a key')" });
    server["args"].as_array_mut().unwrap().push(json!("--token=$SECRET_OF_TEST"));
    let room = Room::new(&json!({ "it": server }));
    let said: serde_json::Value =
        serde_json::from_str(&room.says("where", json!({})).await).unwrap();
    assert_eq!((&said["env"], &said["args"]), (&json!("a key"), &json!(["--token=whisper"])));
    let folder = std::fs::canonicalize(room.folder.path()).unwrap();
    let started = std::path::PathBuf::from(said["folder"].as_str().unwrap());
    assert!(!started.starts_with(&folder), "nobody trusts the folder: {}", started.display());
    room.mcp.close().await;
}

#[tokio::test]
async fn a_server_starts_in_a_folder_that_is_trusted() {
    let room = Room::new(&json!({ "it": script("plain") }));
    let hash = settings::trust::Fingerprint::nothing().hash;
    let folder = std::fs::canonicalize(room.folder.path()).unwrap();
    let list = paths(room.folder.path()).trust();
    std::fs::create_dir_all(list.parent().unwrap()).unwrap();
    let trusted = json!({ "folders": { room.folder.path().to_str().unwrap(): { "hash": hash, "since": 0 } } });
    std::fs::write(list, trusted.to_string()).unwrap();
    let said: serde_json::Value =
        serde_json::from_str(&room.says("where", json!({})).await).unwrap();
    assert_eq!(said["folder"], json!(folder));
    room.mcp.close().await;
}

#[tokio::test]
async fn a_server_knows_its_root() {
    let room = scripted("plain");
    let said = room.says("ask", json!({ "method": "roots/list", "params": {} })).await;
    let url = url::Url::from_file_path(room.folder.path()).unwrap();
    assert!(said.contains(url.as_str()), "{said}");
    assert_eq!(room.says("ask", json!({ "method": "ping", "params": {} })).await, "{}");
    room.mcp.close().await;
}

#[tokio::test]
async fn a_hundred_calls_at_once_all_get_their_own_answer() {
    let room = scripted("plain");
    let calls = (0..100).map(async |number| {
        let said = room.says("echo", json!({ "number": number })).await;
        assert_eq!(said, format!(r#"{{"number": {number}}}"#));
    });
    futures::future::join_all(calls).await;
    assert_eq!(room.mcp.processes().len(), 1, "one server serves all");
    room.mcp.close().await;
}

#[tokio::test]
async fn a_restarted_server_is_another_process() {
    let room = scripted("plain");
    room.says("echo", json!({})).await;
    let [old] = room.mcp.processes()[..] else { panic!("one server runs") };
    room.mcp.restart("it").unwrap();
    assert_eq!(room.says("echo", json!({})).await, "{}");
    assert_ne!(room.mcp.processes(), [old]);
    gone_soon(old).await;
    // The same settings are the same server, others take its place.
    let [old] = room.mcp.processes()[..] else { panic!("one server runs") };
    room.add(&json!({ "it": script("plain") }));
    assert_eq!(room.mcp.processes(), [old]);
    room.add(&json!({ "it": script("chatty") }));
    gone_soon(old).await;
    assert_eq!(room.says("echo", json!({})).await, "{}");
    room.mcp.close().await;
}

#[tokio::test]
async fn an_idle_server_sleeps_by_itself_and_wakes_when_it_is_needed() {
    let room = Room::resting_after(Duration::from_secs(2), &json!({ "it": script("plain") }));
    // One that works is not idle, however long it takes.
    let asked = Arc::new(Asked { thinks: Duration::from_secs(5), ..Asked::default() });
    let form = json!({ "method": "elicitation/create", "params": { "message": "m", "requestedSchema": {} } });
    let working = room.borrow("ask", form, asked.clone());
    let looking = async {
        while asked.open.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        room.mcp.processes()
    };
    let (answer, processes) = tokio::join!(working, looking);
    assert!(answer.is_ok());
    let [old] = processes[..] else { panic!("one server runs") };
    // Nobody has to use another one for it.
    room.state("asleep").await;
    gone_soon(old).await;
    assert!(room.mcp.processes().is_empty());
    assert_eq!(room.says("echo", json!({})).await, "{}");
    room.mcp.close().await;
}

#[tokio::test]
async fn a_list_that_is_refused_is_asked_for_again() {
    let room = scripted("lists-late");
    room.mcp.wake(&["it".to_owned()]);
    let state = room.state("ready: lists-late 1; it does not tell what it lends").await.state;
    assert!(state.ends_with("still warming up (-32000)"), "{state}");
    assert!(room.mcp.menu("it").is_none());
    room.menu(|menu| menu.tools.len() == 1).await;
    for _ in 0..500 {
        if room.state("ready").await.state == "ready: lists-late 1" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(room.mcp.states()[0].state, "ready: lists-late 1");
    assert_eq!(room.says("recall", json!({ "what": "lists" })).await, "3");
    room.mcp.close().await;
}

#[tokio::test]
async fn what_a_server_tells_of_its_work_is_kept_for_the_log() {
    for mode in ["plain", "modern"] {
        let room = scripted(mode);
        assert_eq!(room.says("log", json!({})).await, "info", "{mode}");
        let line = "info: on my way".to_owned();
        for _ in 0..500 {
            if room.state("ready").await.log.contains(&line) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let log = room.state("ready").await.log;
        assert!(log.contains(&line), "{mode}: {log:?}");
        room.mcp.close().await;
    }
}

#[tokio::test]
async fn nobody_starts_after_the_end() {
    let room = scripted("plain");
    room.mcp.close().await;
    let began = Instant::now();
    assert!(room.call("echo", json!({})).await.is_err());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(room.mcp.processes().is_empty());
}

#[tokio::test]
async fn an_unused_server_starts_nothing_and_a_broken_one_delays_no_other() {
    let mut servers = json!({ "it": script("plain"), "unused": script("plain") });
    for number in 0..3 {
        servers[format!("hangs{number}")] = script("hangs");
        servers[format!("dies{number}")] = script("dies");
    }
    let room = Room::new(&servers);
    let all: Vec<String> = room.mcp.names().into_iter().filter(|name| name != "unused").collect();
    let began = Instant::now();
    room.mcp.wake(&all);
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    assert_eq!(room.says("echo", json!({})).await, "{}");
    let states = room.mcp.states();
    let state = |name: &str| &states.iter().find(|state| state.name == name).unwrap().state;
    assert_eq!(state("unused"), "asleep");
    assert!(state("hangs0").starts_with("starting"), "{states:?}");
    room.mcp.close().await;
}

/// A server with children, in its group, in one of their own and in a session of their own, and with a grandchild:
/// all of their ids.
async fn family(room: &Room) -> Vec<u32> {
    let said = room.says("spawn", json!({})).await;
    let mut family: Vec<u32> = serde_json::from_str(&said).unwrap();
    family.extend(room.mcp.processes());
    assert_eq!(family.len(), 5);
    family
}

#[tokio::test]
async fn closing_ends_servers_and_all_they_have_started() {
    let room = scripted("plain");
    let family = family(&room).await;
    room.mcp.close().await;
    for id in family {
        gone_soon(id).await;
    }
    assert!(room.mcp.processes().is_empty());
    assert!(room.call("echo", json!({})).await.is_err(), "nobody starts again after the end");
}

/// Started by the test below, in a process of its own.
#[tokio::test]
#[ignore = "a part of another test"]
async fn starts_servers_and_waits_to_be_killed() {
    let room = scripted("plain");
    let family = family(&room).await;
    println!("servers {family:?}");
    tokio::time::sleep(Duration::from_mins(2)).await;
}

#[tokio::test]
async fn nobody_survives_us() {
    let name = "mcp_life::starts_servers_and_waits_to_be_killed";
    let mut parent = guard::process::Command {
        program: std::env::current_exe().unwrap().display().to_string(),
        args: ["--ignored", "--exact", name, "--nocapture"].map(str::to_owned).to_vec(),
        folder: std::env::temp_dir(),
        env: base::Env::of_process(),
        cage: None,
        stdio: guard::process::Terminals::Output,
    }
    .spawn()
    .unwrap();
    let mut text = String::new();
    while !text.contains("servers [") || !text.ends_with('\n') {
        let mut buffer = [0; 512];
        let count = parent.output.as_mut().unwrap().read(&mut buffer).await.unwrap();
        assert!(count > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    let list = text.split("servers [").nth(1).unwrap().split(']').next().unwrap();
    let family: Vec<u32> = list.split(", ").map(|id| id.parse().unwrap()).collect();
    assert!(family.iter().all(|id| is_alive(*id)));
    // Nobody gets a chance to tidy up.
    parent.kill();
    for id in family {
        gone_soon(id).await;
    }
}

#[tokio::test]
async fn a_server_may_say_nothing_at_all() {
    let room = scripted("plain");
    let answer = room.call("echo", json!({})).await.unwrap();
    assert_eq!(answer.content, [Content::Text("{}".to_owned())]);
    assert_eq!((answer.structured, answer.failed), (None, false));
    room.mcp.close().await;
}
