//! Sub-agents that work in a git worktree of their own.

use std::path::PathBuf;

use base::protocol::{Delivery, Op};
use base::{Event, SessionId};
use serde_json::{Value, json};
use testkit::Script;
use testkit::script::When;

use crate::room::{Plan, Room, until};

const TRYER: &str =
    "---\nname: tryer\ndescription: Tries things\nisolation: worktree\n---\nYou try things.\n";

fn task() -> Value {
    json!({ "prompt": "try", "agent": "tryer" })
}

fn tryer() -> When {
    When { contains: Some("You try things.".to_owned()), ..When::default() }
}

/// A room whose project is a repository with one commit.
async fn room(script: Script) -> Room {
    let room = Room::new(Plan::with_tools(script)).await;
    room.write(".gitignore", ".caiman\n");
    room.write("sub/kept.txt", "kept\n");
    git(&room, &["init", "-q"]);
    git(&room, &["add", "."]);
    git(&room, &["commit", "-q", "-m", "first"]);
    room.write(".caiman/agents/tryer.md", TRYER);
    room
}

fn git(room: &Room, args: &[&str]) -> String {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let line = [&who[..], args].concat().iter().map(|arg| format!("'{arg}'")).collect::<Vec<_>>();
    let env = base::Env::of_process();
    let mut command = base::CommandLine::shell(format!("git {}", line.join(" ")), &env);
    command.folder = Some(room.folder.clone());
    base::RunCommand::run(&guard::Runner, &command).unwrap()
}

fn worktrees(room: &Room) -> usize {
    git(room, &["worktree", "list"]).lines().count() - 1
}

fn child(events: &[Event]) -> SessionId {
    let child = events.iter().find_map(|event| {
        if let Event::ChildStarted { child, .. } = event { Some(*child) } else { None }
    });
    child.unwrap_or_else(|| panic!("no child in {events:#?}"))
}

#[tokio::test]
async fn an_agent_in_a_worktree_reports_what_it_changed() {
    let script = Script::new()
        .call("agent", task())
        .then()
        .when(tryer())
        .call("write", json!({ "file_path": "new.txt", "content": "tried\n" }))
        .then()
        .when(tryer())
        .text("Tried.")
        .then()
        .text("Good.");
    let room = room(script).await;
    let own = child(&room.say("PARENT: try it").await);
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("+tried"), "{transcript}");
    assert!(transcript.contains("git worktree"), "{transcript}");
    assert!(!room.folder.join("new.txt").exists(), "the project is as it was");
    assert_eq!(worktrees(&room), 1, "kept, because something changed");

    let more = json!({ "prompt": "go on", "resume": own.to_string() });
    let commit = "git -c user.name=t -c user.email=t@example.com commit -q -m tried";
    let script = Script::new()
        .call("agent", more)
        .then()
        .when(tryer())
        .call("bash", json!({ "command": format!("echo more > more.txt; git add -A; {commit}") }))
        .then()
        .when(tryer())
        .text("Committed.")
        .then()
        .text("Good.");
    let room = room.rescripted(Plan::with_tools(script)).await;
    room.say("PARENT: and on").await;
    let last = room.transcript().await.join("\n");
    let last = last.rsplit("Committed.").next().unwrap();
    assert!(last.contains("+tried") && last.contains("+more"), "all since it began: {last}");
    assert!(last.contains("Commits:"), "{last}");
}

#[tokio::test]
async fn one_that_changed_nothing_goes_and_comes_back_for_the_next_prompt() {
    let script =
        Script::new().call("agent", task()).then().when(tryer()).text("Nothing to do.").then();
    let room = room(script.text("Good.")).await;
    let own = child(&room.say("PARENT: try it").await);
    assert_eq!(worktrees(&room), 0);
    let more = json!({ "prompt": "go on", "resume": own.to_string() });
    let script = Script::new()
        .call("agent", more)
        .then()
        .when(tryer())
        .call("write", json!({ "file_path": "new.txt", "content": "tried\n" }))
        .then()
        .when(tryer())
        .text("Tried.")
        .then()
        .text("Good.");
    let room = room.rescripted(Plan::with_tools(script)).await;
    room.say("PARENT: and on").await;
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("+tried"), "{transcript}");
    assert_eq!(worktrees(&room), 1);
}

#[tokio::test]
async fn it_works_where_its_parent_does_and_any_call_may_ask_for_it() {
    let asked = When { contains: Some("look here".to_owned()), ..When::default() };
    let own = When { lacks: Some("PARENT".to_owned()), ..asked };
    let order = json!({ "prompt": "look here", "subagent_type": "general", "name": "a look",
                        "isolation": "worktree" });
    let script = Script::new()
        .call("agent", order)
        .then()
        .when(own.clone())
        .call("bash", json!({ "command": "pwd; ls" }))
        .then()
        .when(own)
        .text("Looked.")
        .then()
        .text("Good.");
    let room = room(script).await;
    let session = SessionId::new();
    let folder = room.folder.join("sub").display().to_string();
    room.submit(Op::NewSession { session, folder }).await;
    let mut events = room.watch();
    let parts = vec![base::Part::user_text("PARENT: go")];
    room.submit(Op::Say { session, parts, delivery: Delivery::Queue }).await;
    let started = until(&mut events, |event| matches!(event, Event::ChildStarted { .. })).await;
    let Event::ChildStarted { child, .. } = started else { panic!("{started:?}") };
    until(
        &mut events,
        |event| matches!(event, Event::TurnDone { session: ended, .. } if *ended == session),
    )
    .await;
    let row = room.store.session(child).await.unwrap();
    let folder = PathBuf::from(&row.summary.folder);
    assert!(folder.ends_with(format!("worktrees/{child}/sub")), "{}", folder.display());
    assert_eq!(row.summary.title.as_deref(), Some("a look"));
    let said = format!("{:?}", room.store.branch(child).await.unwrap());
    assert!(said.contains("kept.txt"), "{said}");
}

#[tokio::test]
async fn what_a_stopped_one_changed_is_kept_and_named() {
    for (command, is_kept) in [("echo x > new.txt; sleep 600", true), ("sleep 600", false)] {
        let script = Script::new().call("agent", task()).then().when(tryer());
        let room = room(script.call("bash", json!({ "command": command }))).await;
        let mut events = room.watch();
        room.submit(room.saying("PARENT: go", Delivery::Queue)).await;
        let child = until(&mut events, |event| matches!(event, Event::ChildStarted { .. })).await;
        let Event::ChildStarted { child, .. } = child else { panic!("{child:?}") };
        until(
            &mut events,
            |event| matches!(event, Event::ToolStarted { session, .. } if *session == child),
        )
        .await;
        let place = room.dir.path().join(format!(".local/share/caiman/worktrees/{child}"));
        while is_kept && !place.join("new.txt").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        room.submit(Op::Stop { session: room.session }).await;
        if is_kept {
            let told = until(
                &mut events,
                |event| matches!(event, Event::Notice { text, .. } if text.contains("git worktree")),
            );
            told.await;
        }
        room.coordinator.close().await;
        assert_eq!(worktrees(&room), usize::from(is_kept), "{command}");
    }
}
