//! Sub-agents that work in a git worktree of their own.

use std::path::PathBuf;

use base::protocol::{Delivery, Mode, Op};
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
    room.submit(Op::say(session, parts, Delivery::Queue)).await;
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

/// A shell script that leaves a mark outside the worktree, and the mark.
fn tripwire(room: &Room) -> (PathBuf, PathBuf) {
    let (script, mark) = (room.dir.path().join("tripwire.sh"), room.dir.path().join("TRIPPED"));
    std::fs::write(&script, format!("#!/bin/sh\ntouch {}\nexec cat\n", mark.display())).unwrap();
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, all).unwrap();
    (script, mark)
}

/// Has the agent run commands in its worktree, and returns what the parent is told.
async fn run_in_worktree(commands: impl FnOnce(&Room) -> String) -> (Room, String) {
    let first = Script::new().text("Ready.");
    let room = room(first).await;
    let command = commands(&room);
    let script = Script::new()
        .call("agent", task())
        .then()
        .when(tryer())
        .call("bash", json!({ "command": command }))
        .then()
        .when(tryer())
        .text("Tried.")
        .then()
        .text("Good.");
    let room = room.rescripted(Plan::with_tools(script)).await;
    room.say("PARENT: try it").await;
    let transcript = room.transcript().await.join("\n");
    (room, transcript)
}

#[tokio::test]
async fn a_repository_inside_the_worktree_runs_nothing_when_it_is_compared() {
    let nested = "export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t; \
                  git init -q inner && cd inner && echo one > file && git add . && git commit -q -m x && cd ..";
    let trap = "cd inner && git config filter.x.clean SCRIPT && git config core.fsmonitor SCRIPT && \
                git config diff.x.textconv SCRIPT && echo '* filter=x diff=x' > .gitattributes && echo two > file";
    let commit = "git add inner && git commit -q -m nested";
    for (name, command) in [
        ("new", format!("{nested} && {trap}")),
        ("known", format!("{nested} && git add inner && {trap}")),
        ("committed", format!("{nested} && {commit} && {trap}")),
    ] {
        let mut mark = PathBuf::new();
        let (room, told) = run_in_worktree(|room| {
            let (script, planted) = tripwire(room);
            mark = planted;
            command.replace("SCRIPT", &script.display().to_string())
        })
        .await;
        assert!(!mark.exists(), "{name}: {told}");
        assert!(told.contains("git worktree"), "{name}: {told}");
        assert_eq!(worktrees(&room), 1, "{name}: kept, because something changed");
        assert!(told.contains("not compared: inner"), "{name}: {told}");
    }
}

#[tokio::test]
async fn what_an_agent_does_to_its_own_git_settings_runs_nothing() {
    let trap = "git config filter.x.clean SCRIPT; git config diff.external SCRIPT; \
                echo '* filter=x' > .gitattributes; echo new > new.txt; echo two > sub/kept.txt";
    let mut mark = PathBuf::new();
    let (_room, told) = run_in_worktree(|room| {
        let (script, planted) = tripwire(room);
        mark = planted;
        trap.replace("SCRIPT", &script.display().to_string())
    })
    .await;
    assert!(!mark.exists(), "{told}");
    assert!(told.contains("cannot be compared") && told.contains("[filter"), "{told}");
}

#[tokio::test]
async fn a_repository_whose_settings_start_programs_gets_no_worktree() {
    for setting in ["filter.x.smudge", "include.path", "hook.x.command"] {
        let script = Script::new().call("agent", task()).then().text("Then not.");
        let room = room(script).await;
        let (planted, mark) = tripwire(&room);
        let (section, key) = setting.rsplit_once('.').unwrap();
        let section = section.replacen('.', " \"", 1);
        let quote = if section.contains('"') { "\"" } else { "" };
        let config = room.folder.join(".git/config");
        let old = std::fs::read_to_string(&config).unwrap();
        let more = format!("[{section}{quote}]\n\t{key} = {}\n", planted.display());
        std::fs::write(&config, old + &more).unwrap();
        std::fs::write(room.folder.join(".git/info/attributes"), "* filter=x\n").unwrap();
        room.say("PARENT: try it").await;
        let told = room.transcript().await.join("\n");
        let section = format!("`[{}]`", setting.split('.').next().unwrap());
        assert!(told.contains("none could be made") && told.contains(&section), "{told}");
        assert!(!mark.exists(), "{setting}");
        assert!(!room.folder.join(".git/worktrees").exists(), "{setting}");
    }
}

#[tokio::test]
async fn hooks_of_the_repository_do_not_run_for_a_worktree() {
    let script = Script::new().call("agent", task()).then().when(tryer()).text("Nothing.").then();
    let room = room(script.text("Good.")).await;
    let (planted, mark) = tripwire(&room);
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        std::fs::copy(&planted, room.folder.join(".git/hooks").join(hook)).unwrap();
    }
    room.say("PARENT: try it").await;
    assert!(!mark.exists());
    let told = room.transcript().await.join("\n");
    assert!(told.contains("It changed nothing in its worktree."), "{told}");
}

#[tokio::test]
async fn a_worktree_is_asked_about_as_a_change_of_git() {
    let by_argument = json!({ "prompt": "try", "isolation": "worktree" });
    for (mode, reason) in [
        (Mode::Default, "decides what runs later"),
        (Mode::AcceptEdits, "decides what runs later"),
        (Mode::Plan, "while planning"),
    ] {
        for input in [task(), by_argument.clone()] {
            let script = Script::new().call("agent", input.clone()).then().text("Then not.");
            let mut plan = Plan { mode, ..Plan::with_tools(script) };
            plan.rules.allow = ["Bash(git:*)", "agent", "Edit"]
                .iter()
                .map(|rule| guard::Rule::parse(rule).unwrap())
                .collect();
            let room = room(Script::new().text("Ready.")).await;
            let room = room.rescripted(plan).await;
            room.say("PARENT: try it").await;
            let told = room.transcript().await.join("\n");
            assert!(told.contains("Permission denied"), "{mode:?} {input}: {told}");
            assert!(told.contains(reason), "{mode:?} {input}: {told}");
            assert_eq!(worktrees(&room), 0, "{mode:?} {input}");
        }
    }
}

#[tokio::test]
async fn an_unknown_isolation_is_refused() {
    let input = json!({ "prompt": "try", "isolation": "vm" });
    let script = Script::new().call("agent", input).then().text("Then not.");
    let room = room(script).await;
    room.say("PARENT: try it").await;
    let told = room.transcript().await.join("\n");
    assert!(told.contains("unknown isolation `vm`"), "{told}");
}
