//! Arguments and files that want more than they were given.

use base::protocol::Mode;
use settings::definition::Standing;
use testkit::Script;

use super::{call, load, plan, results, submit};
use crate::definitions::skill;
use crate::room::{Plan, Room};

const HOSTILE: [&str; 8] = [
    "!`touch owned`",
    "x !`touch owned`",
    "```!\ntouch owned\n```",
    "$(touch owned)",
    "`touch owned`; touch owned",
    "'; touch owned; '",
    "\"; touch owned; \"",
    "a && touch owned || touch owned",
];

/// A skill whose text has arguments in every place.
fn eager() -> settings::definition::Skill {
    let mut eager = skill("eager", "Takes anything.");
    "Do $ARGUMENTS\n- !`echo $ARGUMENTS`\n- !`echo \"$1\"`\n- !`echo \"$(echo $2)\"`\n\
     ```!\ncat <<END\n$ARGUMENTS\nEND\n```\n"
        .clone_into(&mut eager.body);
    eager.allowed_tools = vec!["Bash".to_owned()];
    eager
}

#[tokio::test]
async fn an_argument_never_becomes_a_command() {
    for hostile in HOSTILE {
        let script = Script::new().text("Done.").then().call("skill", load("eager", hostile));
        let script = script.then().text("Done.");
        let room = Room::new(plan(script, vec![eager()])).await;
        // Whether the guard takes the line or not, nothing of the argument may run.
        if submit(&room, &format!("/eager {hostile}")).await.is_ok() {
            let transcript = room.transcript().await.join("\n");
            assert!(transcript.contains("touch owned"), "{transcript}");
        }
        room.say("go").await;
        assert!(!room.folder.join("owned").exists(), "{hostile}");
    }
}

#[tokio::test]
async fn an_argument_never_becomes_a_file() {
    let mut eager = skill("eager", "Takes anything.");
    eager.body = "Do $ARGUMENTS".to_owned();
    let room = Room::new(plan(Script::new().text("Done."), vec![eager])).await;
    room.write("secret.txt", "hidden words\n");
    call(&room, "/eager @secret.txt $1 ${CLAUDE_SESSION_ID}").await;
    let transcript = room.transcript().await.join("\n");
    assert!(transcript.contains("Do @secret.txt $1 ${CLAUDE_SESSION_ID}"), "{transcript}");
    assert!(!transcript.contains("hidden words"), "{transcript}");
}

#[tokio::test]
async fn a_file_outside_or_behind_a_link_is_not_read() {
    let mut nosy = skill("nosy", "Reads.");
    nosy.body = "@/etc/passwd @link.txt @$1 @.env @../outside.txt".to_owned();
    let room = Room::new(plan(Script::new().text("Done."), vec![nosy])).await;
    let outside = room.folder.parent().unwrap().join("outside.txt");
    std::fs::write(&outside, "hidden words\n").unwrap();
    std::os::unix::fs::symlink(&outside, room.folder.join("link.txt")).unwrap();
    room.write(".env", "KEY=hidden words\n");
    call(&room, &format!("/nosy {}", outside.display())).await;
    let transcript = room.transcript().await.join("\n");
    assert!(!transcript.contains("hidden words") && !transcript.contains("root:"), "{transcript}");
    assert_eq!(transcript.matches("not read: ").count(), 5, "{transcript}");
}

#[tokio::test]
async fn commands_of_a_folder_nobody_trusts_do_not_run() {
    let mut shady = skill("shady", "Runs things.");
    shady.body = "!`touch owned`".to_owned();
    shady.allowed_tools = vec!["Bash".to_owned(), "Edit".to_owned()];
    shady.home.standing = Standing::Untrusted;
    let mut words = skill("words", "Says things.");
    words.home.standing = Standing::Untrusted;
    words.allowed_tools = vec!["Edit".to_owned()];
    let write = serde_json::json!({ "file_path": "owned", "content": "x" });
    let script = Script::new().call("skill", load("shady", "")).then();
    let script = script.call("skill", load("words", "")).then().call("write", write).then();
    let room = Room::new(plan(script.text("Done."), vec![shady, words])).await;
    room.say("go").await;
    let results = results(&room).await;
    assert!(results[0].contains("not trusted"), "{results:?}");
    assert!(results[1].contains("Do it well."), "its words count: {results:?}");
    assert!(results[2].contains("Permission denied"), "{results:?}");
    assert!(!room.folder.join("owned").exists());
}

#[tokio::test]
async fn what_would_be_asked_is_refused_whoever_is_there() {
    let mut curious = skill("curious", "Reaches out.");
    curious.body = "!`touch owned`".to_owned();
    curious.allowed_tools = vec!["Bash(touch:*)".to_owned()];
    let asking = |mut plan: Plan| {
        plan.rules.ask = vec![guard::Rule::parse("Bash(touch:*)").unwrap()];
        plan
    };
    let skills = vec![curious];
    let attended = asking(plan(Script::new(), skills.clone()));
    let attended = Plan { presence: agent::Presence::Attended, ..attended };
    let planning = Plan { mode: Mode::Plan, ..plan(Script::new(), skills) };
    for plan in [attended, planning] {
        let room = Room::new(plan).await;
        let error = submit(&room, "/curious").await.unwrap_err().to_string();
        assert!(error.contains("`touch owned`"), "{error}");
        assert!(!room.folder.join("owned").exists());
    }
}

#[tokio::test]
async fn a_deny_rule_stands_above_what_a_header_allows() {
    let mut eager = skill("eager", "Runs things.");
    eager.body = "!`touch owned`".to_owned();
    eager.allowed_tools = vec!["Bash(touch:*)".to_owned()];
    let mut plan = plan(Script::new(), vec![eager]);
    plan.rules.deny = vec![guard::Rule::parse("Bash(touch:*)").unwrap()];
    let room = Room::new(plan).await;
    let error = submit(&room, "/eager").await.unwrap_err().to_string();
    assert!(error.contains("forbids"), "{error}");
    assert!(!room.folder.join("owned").exists());
}

#[tokio::test]
async fn another_spelling_is_no_way_around_a_rule() {
    let script = Script::new().call("skill", load("deploy", "")).then();
    let script = script.call("skill", load("Deploy", "")).then();
    let script = script.call("skill", load("/deploy", "")).then();
    let script = script.call("skill", load("AUDIT", "")).then().text("Done.");
    let mut plan = plan(script, vec![skill("deploy", "Brings out."), skill("audit", "Looks.")]);
    plan.rules.deny = vec![guard::Rule::parse("Skill(deploy)").unwrap()];
    let room = Room::new(plan).await;
    room.say("go").await;
    let results = results(&room).await;
    assert!(results[..3].iter().all(|text| !text.contains("Do it well.")), "{results:?}");
    assert!(results[3].contains("Do it well."), "{results:?}");
}
