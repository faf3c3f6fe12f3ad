//! What the model is told of skills, and what loading one brings.

use base::protocol::{Client, Delivery, Op};
use base::{EntryKind, Origin};
use testkit::Script;

use super::{load, plan, results};
use crate::definitions::skill;
use crate::room::{Plan, Room, to_the_end};

/// Names of the tools, and the whole text, of the newest request.
fn newest(room: &Room) -> (Vec<String>, String) {
    let body = room.server.requests().pop().unwrap().body;
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let names = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
    (names.collect(), body.to_string())
}

#[tokio::test]
async fn the_tool_is_offered_only_where_there_are_skills() {
    let room = Room::new(Plan::with_tools(Script::new().text("Hi."))).await;
    room.say("hello").await;
    let (names, text) = newest(&room);
    assert!(!names.contains(&"skill".to_owned()) && !text.contains("Skills:"), "{text}");

    let skills = vec![skill("release", "Cuts a release."), skill("audit", "Looks for holes.")];
    let room = Room::new(plan(Script::new().text("Hi."), skills)).await;
    room.say("hello").await;
    let (names, text) = newest(&room);
    assert!(names.contains(&"skill".to_owned()));
    assert!(text.contains("- audit: Looks for holes.\\n- release: Cuts a release."), "{text}");
    room.assert_valid();
}

#[tokio::test]
async fn a_skill_is_loaded_on_demand_and_said_once() {
    let script = Script::new().call("skill", load("Release", "1.2")).then();
    let script = script.call("skill", load("release", "1.2")).then();
    let script = script.call("skill", load("release", "1.3")).then();
    let script = script.call("skill", load("nope", "")).then().text("Done.");
    let mut release = skill("release", "Cuts a release.");
    release.body = "Tag version $1.".to_owned();
    let room = Room::new(plan(script, vec![release])).await;
    room.say("release it").await;
    let results = results(&room).await;
    assert!(results[0].contains("Skill release; its files are in"), "{results:?}");
    assert!(results[0].ends_with("Tag version 1.2.\""), "{results:?}");
    assert!(results[1].contains("is loaded already"), "{results:?}");
    assert!(results[2].ends_with("Tag version 1.3.\""), "{results:?}");
    assert!(results[3].contains("The skills are: release."), "{results:?}");
    let branch = room.store.branch(room.session).await.unwrap();
    let origins = branch.iter().flat_map(|entry| entry.kind.parts()).map(|part| &part.origin);
    let origins = origins.filter(|origin| **origin == Origin::Skill("release".to_owned()));
    assert_eq!(origins.count(), 3);
    room.assert_valid();
}

#[tokio::test]
async fn its_folder_is_read_without_a_question_and_not_written() {
    let room = Room::new(Plan::from(Script::new())).await;
    let folder = room.folder.parent().unwrap().join("elsewhere/release");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("notes.md"), "Mind the gap.\n").unwrap();
    std::fs::write(folder.parent().unwrap().join("other.md"), "Not yours.\n").unwrap();
    let at = |name: &str| folder.join(name).display().to_string();
    let view = |name: &str| serde_json::json!({ "file_path": at(name) });
    let write = serde_json::json!({ "file_path": at("notes.md"), "content": "x" });
    let script = Script::new().call("view", view("notes.md")).then();
    let script = script.call("skill", load("release", "")).then();
    let script = script.call("view", view("notes.md")).then();
    let script = script.call("view", view("../other.md")).then();
    let script = script.call("write", write).then().text("Done.");
    let mut release = skill("release", "Cuts a release.");
    release.folder.clone_from(&folder);
    let room = Room::new(plan(script, vec![release])).await;
    room.say("release it").await;
    let results = results(&room).await;
    assert!(results[0].contains("Permission denied"), "before it is loaded: {results:?}");
    assert!(results[2].contains("Mind the gap."), "{results:?}");
    assert!(results[3].contains("Permission denied"), "{results:?}");
    assert!(results[4].contains("Permission denied"), "{results:?}");
}

#[tokio::test]
async fn a_change_is_told_with_the_next_prompt_and_the_prefix_stays() {
    let first = plan(Script::new().text("Hi."), vec![skill("release", "Cuts a release.")]);
    let second = plan(
        Script::new(),
        vec![skill("audit", "Looks for holes."), skill("release", "Cuts a release.")],
    );
    let script = Script::new().text("One.").then().text("Two.").then().text("Three.");
    let room = Room::new(Plan { script, ..first }).await;
    room.say("one").await;
    room.coordinator.close().await;
    let coordinator = room.reopened(&second);
    for text in ["two", "three"] {
        let mut events =
            coordinator.subscribe(base::protocol::EventFilter::All, coordinator.newest_event());
        coordinator.submit(room.saying(text, Delivery::Queue)).await.unwrap();
        to_the_end(&mut events).await;
    }
    let branch = room.other_process().branch(room.session).await.unwrap();
    let prefixes = branch.iter().filter(|e| matches!(e.kind, EntryKind::Prefix { .. })).count();
    assert_eq!(prefixes, 1, "the prefix is what it was");
    let transcript: Vec<String> = branch.iter().map(crate::room::entry).collect();
    let told = |line: &&String| line.contains("The skills have changed");
    assert_eq!(transcript.iter().filter(told).count(), 1, "{transcript:#?}");
    assert!(transcript.iter().any(|line| line.contains("user \"two\" \"The skills have changed")));
}

#[tokio::test]
async fn what_is_allowed_is_allowed_until_the_next_word() {
    let write = |path: &str| serde_json::json!({ "file_path": path, "content": "x\n" });
    let script = Script::new().call("write", write("a")).then();
    let script = script.call("skill", load("scribe", "")).then();
    let script = script.call("write", write("b")).call("write", write("secret/c")).then();
    let script = script.text("Done.").then().call("write", write("d")).then().text("Pity.");
    let mut scribe = skill("scribe", "Writes.");
    scribe.allowed_tools = vec!["Edit".to_owned(), "*".to_owned(), "Teleport(x)".to_owned()];
    let mut plan = plan(script, vec![scribe]);
    plan.rules.deny = vec![guard::Rule::parse("Edit(secret/**)").unwrap()];
    let room = Room::new(plan).await;
    room.say("write").await;
    assert!(!room.folder.join("a").exists(), "before it is loaded");
    assert!(room.folder.join("b").exists());
    assert!(!room.folder.join("secret/c").exists(), "a deny rule stands above it");
    room.say("more").await;
    assert!(!room.folder.join("d").exists(), "the user's next word ends it");
}

#[tokio::test]
async fn what_is_forbidden_is_forbidden_until_the_next_word() {
    let bash = serde_json::json!({ "command": "echo hi" });
    let script = Script::new().call("skill", load("calm", "")).then().call("bash", bash.clone());
    let script = script.then().text("Done.").then().call("bash", bash).then().text("Done.");
    let mut calm = skill("calm", "No commands.");
    calm.disallowed_tools = vec!["Bash".to_owned()];
    let room =
        Room::new(Plan { mode: base::protocol::Mode::Bypass, ..plan(script, vec![calm]) }).await;
    room.say("one").await;
    room.say("two").await;
    let results = results(&room).await;
    assert!(results[1].contains("Permission denied"), "{results:?}");
    assert!(results[2].contains("hi"), "{results:?}");
}

#[tokio::test]
async fn a_style_holds_for_the_sessions_that_begin() {
    let script = Script::new().text("Arr.").then().text("Hi.");
    let mut plan = Plan::with_tools(script);
    plan.definitions.styles = vec![crate::definitions::style("Pirate", "Talk like a pirate.")];
    let room = Room::new(plan).await;
    super::submit(&room, "/output-style pirate").await.unwrap();
    room.say("hello").await;
    let (_, text) = newest(&room);
    assert!(text.contains("Style: Pirate\\nTalk like a pirate."), "{text}");
    super::submit(&room, "/output-style default").await.unwrap();
    room.say("hello").await;
    let (_, text) = newest(&room);
    assert!(text.contains("Style: Pirate"), "a session keeps the prompt it began with");
    room.submit(Op::Stop { session: room.session }).await;
}

#[tokio::test]
async fn a_skill_about_files_waits_until_one_is_touched() {
    let view = serde_json::json!({ "file_path": "web/app.ts" });
    let script = Script::new().call("view", view).then().text("One.").then().text("Two.");
    let mut typed = skill("typed", "Minds types.");
    typed.paths = vec!["web/**/*.ts".to_owned()];
    let room = Room::new(plan(script, vec![typed, skill("audit", "Looks.")])).await;
    room.write("web/app.ts", "let a = 1;\n");
    room.say("one").await;
    assert!(!newest(&room).1.contains("Minds types."));
    room.say("two").await;
    assert!(newest(&room).1.contains("- audit: Looks.\\n- typed: Minds types."));
}

/// A skill's file.
fn file(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: About {body}.\n---\n{body}\n")
}

#[tokio::test]
async fn skills_of_a_folder_below_are_found_once_a_file_there_is_touched() {
    let view = |path: &str| serde_json::json!({ "file_path": path });
    let script = Script::new().call("view", view("top.txt")).then();
    let script = script.call("view", view("web/app/a.ts")).then();
    let script = script.call("skill", load("web/app:lint", "")).then();
    let script = script.call("skill", load("paint", "")).then().text("Done.");
    let plan = Plan::with_tools(script.then().text("Again."));
    let room = Room::new(plan).await;
    room.write(".claude/skills/lint/SKILL.md", &file("lint", "the whole"));
    room.write("web/app/.claude/skills/lint/SKILL.md", &file("lint", "the app"));
    room.write("web/.agents/skills/paint/SKILL.md", &file("paint", "the web"));
    room.write("other/.caiman/skills/never/SKILL.md", &file("never", "another"));
    room.write("top.txt", "t");
    room.write("web/app/a.ts", "a");
    room.say("go").await;
    let results = results(&room).await;
    assert!(results[2].contains("the app"), "{results:#?}");
    assert!(results[3].contains("the web"), "{results:#?}");
    room.say("again").await;
    let transcript = room.transcript().await;
    let told: Vec<&String> =
        transcript.iter().filter(|line| line.contains("The skills have changed")).collect();
    assert_eq!(told.len(), 1, "{transcript:#?}");
    for line in
        ["- lint: About the whole.", "- paint: About the web.", "- web/app:lint: About the app."]
    {
        assert!(told[0].contains(line), "{line} in {told:?}");
    }
    assert!(!told[0].contains("never"), "{told:?}");
    let branch = room.store.branch(room.session).await.unwrap();
    let prefixes = branch.iter().filter(|entry| matches!(entry.kind, EntryKind::Prefix { .. }));
    assert_eq!(prefixes.count(), 1, "the prefix stays");
    room.assert_valid();
}

#[tokio::test]
async fn a_model_without_the_tool_is_told_where_the_file_of_a_skill_below_is() {
    let view = |path: &str| serde_json::json!({ "file_path": path });
    let script = Script::new().call("view", view("web/a.ts")).then().text("Done.");
    let room = Room::new(Plan::with_tools(script.then().text("Again."))).await;
    room.write("web/.crush/skills/paint/SKILL.md", &file("paint", "the web"));
    room.write("web/a.ts", "a");
    room.say("go").await;
    room.say("again").await;
    let (names, text) = newest(&room);
    assert!(!names.contains(&"skill".to_owned()), "the tools stay: {names:?}");
    assert_eq!(text.matches("Where you work there are skills").count(), 1, "{text}");
    assert!(text.contains("web/.crush/skills/paint/SKILL.md"), "{text}");
    room.assert_valid();
}
