//! Slash commands: a line in, a reply out.

use agent::commands::{Ctx, Reply, all, run};
use agent::instructions::Loaded;
use base::protocol::Mode;
use base::transcript::ToolSpec;
use base::{Entry, EntryId, EntryKind, ModelRef, Op, Part, SessionId, Timestamp};
use settings::definition::Definitions;
use settings::definition::skill::Callers;
use store::{Moments, UsageSum};

use crate::definitions::{command, skill, style};

/// A session to run commands in.
struct Room {
    session: SessionId,
    branch: Vec<Entry>,
    past: Moments,
    system: Vec<String>,
    instructions: Loaded,
    model: ModelRef,
    models: Vec<ModelRef>,
    definitions: Definitions,
}

impl Room {
    fn new() -> Self {
        let model = ModelRef::new("lab", "big-1");
        let models = ["lab/big-1", "lab/small-1", "other/big-1", "other/tiny"];
        let file = "<instructions file=\"AGENTS.md\">\nUse tabs.\n</instructions>";
        Self {
            session: SessionId::new(),
            branch: Vec::new(),
            past: Moments::default(),
            system: vec!["You are x.".repeat(10), file.to_owned()],
            instructions: Loaded {
                left_out: vec!["CLAUDE.md: the same as AGENTS.md".to_owned()],
                ..Loaded::default()
            },
            models: models.iter().map(|name| name.parse().unwrap()).collect(),
            model,
            definitions: definitions(),
        }
    }

    fn say(&mut self, text: &str) {
        self.add(EntryKind::User { parts: vec![Part::user_text(text)] });
    }

    fn add(&mut self, kind: EntryKind) -> EntryId {
        let id = EntryId::new();
        self.branch.push(Entry { id, parent: None, at: Timestamp::default(), kind });
        id
    }

    fn run(&self, line: &str) -> Reply {
        let schema = serde_json::json!({ "type": "object" });
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: "Reads.".to_owned(),
            schema: schema.clone(),
        };
        run(
            line,
            &Ctx {
                session: self.session,
                folder: "/work",
                branch: &self.branch,
                past: &self.past,
                system: &self.system,
                tools: &[tool("view"), tool("ls")],
                instructions: &self.instructions,
                model: &self.model,
                window: 100_000,
                models: &self.models,
                mode: Mode::Plan,
                spent: UsageSum { calls: 3, failed: 1, unpriced: 1, ..UsageSum::default() },
                initialize_as: "AGENTS.md",
                definitions: &self.definitions,
                style: "default",
            },
        )
    }

    fn text(&self, line: &str) -> String {
        match self.run(line) {
            Reply::Text(text) | Reply::Unknown(text) => text,
            other @ (Reply::Op(_)
            | Reply::Say(_)
            | Reply::Record { .. }
            | Reply::Style { .. }
            | Reply::Changes) => {
                panic!("{line} replied {other:?}")
            }
        }
    }
}

/// Skills and commands of all kinds of callers.
fn definitions() -> Definitions {
    let mut silent = skill("lore", "What the model should know");
    silent.callers = Callers::Model;
    let mut deploy = skill("deploy", "Brings it out");
    deploy.argument_hint = Some("[where]".to_owned());
    Definitions {
        skills: vec![silent, deploy],
        commands: vec![
            command("git:tidy", "Tidies branches"),
            command("deploy", "Hidden by the skill"),
            command("help", "Hidden by ours"),
        ],
        styles: vec![style("Pirate", "Arr")],
        ..Definitions::default()
    }
}

#[test]
fn help_lists_every_command() {
    insta::assert_snapshot!(Room::new().text("/help"), @r"
    /help                     lists the commands
    /agents [name]            lists the agents, or shows one; @agent-name in a prompt gives it the task
    /changes                  lists the files that tools have changed in this session
    /clear                    begins a new session in this folder; this one is kept
    /compact [focus | undo]   replaces the older part of the context by a summary
    /context                  shows what fills the model's window
    /cost                     shows what this session has cost
    /init [more to tell]      looks at the project and writes its instruction file
    /mode [name]              shows or sets what is done without asking
    /model [provider/model]   shows or changes the model
    /output-style [name]      shows or sets how answers are given
    /rewind [n | undo]        lists the prompts, or goes back to before the nth newest; `files` or `talk` for one only
    /skills                   lists the skills

    /deploy [where]           Brings it out
    /git:tidy                 Tidies branches
    ");
}

#[test]
fn a_path_is_something_to_say_and_a_typo_is_not() {
    let room = Room::new();
    let path = "/usr/bin/env is missing";
    assert_eq!(room.run(path), Reply::Say(vec![Part::user_text(path)]));
    assert_eq!(
        room.text("/compcat"),
        "There is no /compcat. Did you mean /compact? /help lists all."
    );
    assert_eq!(
        room.text("/depoly x"),
        "There is no /depoly. Did you mean /deploy? /help lists all."
    );
    assert_eq!(
        room.text("/git:tody"),
        "There is no /git:tody. Did you mean /git:tidy? /help lists all."
    );
    assert_eq!(room.text("/xyz"), "There is no /xyz. /help lists all commands.");
    assert!(matches!(room.run("/NEW"), Reply::Op(Op::NewSession { .. })));
}

#[test]
fn names_and_aliases_are_unique() {
    let mut names: Vec<&str> = all()
        .iter()
        .flat_map(|command| command.aliases.iter().copied().chain([command.name]))
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn compact_takes_a_focus_and_can_be_undone() {
    let mut room = Room::new();
    assert_eq!(room.text("/compact"), "There is too little in the context to compact.");
    for _ in 0..20 {
        room.say(&"word ".repeat(200));
    }
    let focus = Some("the parser".to_owned());
    let op = Op::Compact { session: room.session, focus };
    assert_eq!(room.run("/compact the parser"), Reply::Op(op));
    assert!(room.text("/compact undo").starts_with("Nothing was compacted"));
    let summary = EntryKind::Compaction { summary: "short".to_owned(), keep_from: None };
    let entry = room.add(summary);
    let Reply::Record { kind, .. } = room.run("/compact undo") else { panic!("no record") };
    assert_eq!(kind, EntryKind::Undone { entry });
}

#[test]
fn the_bill_names_each_item() {
    let mut room = Room::new();
    room.say(&"word ".repeat(200));
    insta::assert_snapshot!(room.text("/context"), @r"
           25  system prompt
           15  AGENTS.md
           24  2 tools
          250  your messages
        99686  free
          318  in all, estimated: 0 % of the 100000 tokens of lab/big-1
    not read or cut: CLAUDE.md: the same as AGENTS.md
    ");
}

#[test]
fn a_model_is_found_by_any_name_that_is_clear() {
    let room = Room::new();
    let set = |name: &str| {
        Reply::Op(Op::SetModel { session: room.session, model: name.parse().unwrap() })
    };
    assert_eq!(room.run("/model other/big-1"), set("other/big-1"));
    assert_eq!(room.run("/model TINY"), set("other/tiny"));
    assert_eq!(room.run("/model small"), set("lab/small-1"));
    assert_eq!(room.text("/model big-1"), "Which one?\nlab/big-1\nother/big-1");
    assert_eq!(room.text("/model none"), "No model is called none. /model lists them.");
    assert!(room.text("/model").starts_with("lab/big-1 answers."));
}

#[test]
fn a_mode_is_set_by_its_name() {
    let room = Room::new();
    let set = Op::SetMode { session: room.session, mode: Mode::AcceptEdits };
    assert_eq!(room.run("/mode accept-edits"), Reply::Op(set));
    assert!(room.text("/mode fast").starts_with("There is no mode fast.\n"));
    assert!(room.text("/mode").contains("* plan"));
}

#[test]
fn cost_tells_what_is_not_in_the_sum() {
    insta::assert_snapshot!(Room::new().text("/cost"), @r"
    $0.00 in 3 model calls, 1 of them failed
    0 tokens in (0 from the cache, 0 written to it), 0 out (0 of them thoughts)
    1 calls have no known price and are not in the sum
    ");
}

#[test]
fn init_says_the_prompt_and_what_the_user_adds() {
    let Reply::Say(parts) = Room::new().run("/init Mind the tests.") else { panic!("not said") };
    let text = parts[0].as_text().unwrap();
    assert!(text.starts_with("Write AGENTS.md") && text.ends_with("Mind the tests."), "{text}");
}

#[test]
fn skills_are_listed_with_who_may_call_them() {
    insta::assert_snapshot!(Room::new().text("/skills"), @r"
    deploy                    Brings it out
                              user; model and you; 3 tokens when loaded
    lore                      What the model should know
                              user; only the model; 3 tokens when loaded
    ");
    let mut room = Room::new();
    room.definitions = Definitions::default();
    assert!(room.text("/skills").starts_with("There are no skills."));
}

#[test]
fn a_style_is_chosen_by_its_name() {
    let room = Room::new();
    assert!(
        matches!(room.run("/output-style pirate"), Reply::Style { name, .. } if name == "Pirate")
    );
    assert!(room.text("/output-style").starts_with("* default"));
    assert!(room.text("/style baroque").starts_with("There is no output style baroque.\n"));
}
