//! Agents as people write them, and as damage leaves them.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::definition::{Problem, Source, Standing, Weight};

fn home(source: Source) -> Home {
    Home { source, file: Some("a.md".into()), standing: Standing::Trusted }
}

fn parse(text: &str) -> (Option<Agent>, Vec<Problem>) {
    read(text, home(Source::User))
}

fn agent(header: &str) -> (Agent, Vec<String>) {
    let (agent, problems) = parse(&format!("---\nname: a\ndescription: d\n{header}\n---\nBody\n"));
    (agent.unwrap(), problems.into_iter().map(|it| it.text).collect())
}

#[test]
fn every_field_is_read() {
    let (agent, problems) = parse(
        "---\nname: reviewer\ndescription: Use it.\\nOften.\ntools: Read, Bash(git log:*, ls), mcp__x__*\n\
         disallowedTools: [Write, Agent(a,b)]\nmodel: opus\npermissionMode: bypassPermissions\n\
         maxTurns: 7\nskills: [one, two]\nmcpServers:\n  - github\n  - local: {command: x}\n\
         hooks:\n  Stop:\n    - hooks: [{type: command, command: x}]\nmemory: project\n\
         background: yes\neffort: xhigh\nisolation: worktree\ncolor: pink\ninitialPrompt: Begin.\n\
         observer: [x]\n---\n\nYou review.\n",
    );
    assert_eq!(problems, []);
    let agent = agent.unwrap();
    assert_eq!(agent.description, "Use it.\nOften.");
    assert_eq!(agent.prompt, "You review.");
    assert_eq!(agent.tools.unwrap(), ["Read", "Bash(git log:*, ls)", "mcp__x__*"]);
    assert_eq!(agent.disallowed_tools, ["Write", "Agent(a,b)"]);
    assert_eq!(agent.model.as_deref(), Some("opus"));
    assert_eq!(agent.mode, Some(Mode::Bypass));
    assert_eq!(agent.max_turns, Some(7));
    assert_eq!(agent.skills, ["one", "two"]);
    assert_eq!(agent.mcp_servers, [json!("github"), json!({"local": {"command": "x"}})]);
    assert_eq!(agent.hooks["Stop"].len(), 1);
    assert_eq!(agent.memory, Some(Memory::Project));
    assert!(agent.background);
    assert_eq!(agent.effort, Some(Effort::Xhigh));
    assert_eq!(agent.isolation, Isolation::Worktree);
    assert_eq!(agent.color.as_deref(), Some("pink"));
    assert_eq!(agent.initial_prompt.as_deref(), Some("Begin."));
    assert_eq!(agent.more, json!({"observer": ["x"]}).as_object().unwrap().clone());
}

#[test]
fn tools_are_understood_in_other_products_forms() {
    let some = |tools: &[&str]| Some(tools.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
    for (header, tools, taken) in [
        ("allowed-tools: Read, Grep", some(&["Read", "Grep"]), vec![]),
        ("allowedTools: [Read]", some(&["Read"]), vec![]),
        ("tools: Read\nallowed-tools: Bash", some(&["Read"]), vec![]),
        ("tools: {bash: false, edit: true}", None, vec!["bash"]),
        ("tools: {bash: true, edit: true}", some(&["bash", "edit"]), vec![]),
        ("tools:\n  \"*\": false\n  read: true", some(&["read"]), vec![]),
        ("tools: {bash: false}\ndisallowedTools: Write", None, vec!["Write", "bash"]),
    ] {
        let (agent, _) = agent(header);
        assert_eq!(agent.tools, tools, "{header}");
        assert_eq!(agent.disallowed_tools, taken, "{header}");
    }
    let (agent, problems) = agent("tools: {bash: maybe}");
    assert_eq!(agent.tools, some(&[]), "what nobody understands widens nothing");
    assert!(problems[0].contains("`tools` should be a list"), "{problems:?}");
}

#[test]
fn a_file_without_a_name_is_no_agent_and_no_mistake() {
    for text in ["# Read me\n", "", "---\ndescription: x\n---\nBody", "---\nname:\n---\n"] {
        let (agent, problems) = parse(text);
        assert!(agent.is_none(), "{text:?}");
        assert!(problems.iter().all(|it| it.weight == Weight::Note), "{problems:?}");
    }
}

#[test]
fn what_cannot_be_used_is_broken_with_its_line() {
    let cases = [
        ("---\nname: a\n---\nBody", 2, "description"),
        ("---\ndescription: d\nname: a:b\n---\nBody", 3, "`:`"),
        ("---\nname: -a\ndescription: d\n---\nBody", 2, "begin with"),
        ("---\nname: a\ndescription: \"\"\n---\nBody", 3, "description"),
        ("---\nnam: [\n---\nBody", 2, "no `name`"),
    ];
    for (text, line, word) in cases {
        let (agent, problems) = parse(text);
        assert!(agent.is_none(), "{text:?}");
        let broken = problems.iter().find(|it| it.weight == Weight::Broken).unwrap();
        assert!(broken.text.contains(word), "{broken:?}");
        assert!(broken.line.is_some_and(|found| found.abs_diff(line) <= 1), "{text:?} {broken:?}");
    }
}

#[test]
fn a_description_of_several_paragraphs_ends_at_the_next_field() {
    let text = "---\nname: designer\ndescription: Use it for: screens.\n\nExamples:\n<example>\n\
                Context: Someone asks.\nuser: \"Make it update: now\"\nassistant: \"I'll do it\"\n\
                <commentary>It's: asked</commentary>\n</example>\n\nmodel: opus\ncolor: 42b883\n\
                tools: All tools\nskills:\n  - one\n  - two\ntriggers:\n  - x\n---\n\nYou design.\n";
    let (agent, problems) = parse(text);
    let agent = agent.unwrap();
    assert!(agent.description.starts_with("Use it for: screens.\n\nExamples:"), "{agent:?}");
    assert!(agent.description.ends_with("</example>"), "{agent:?}");
    assert_eq!((agent.model.as_deref(), agent.color.as_deref()), (Some("opus"), Some("#42b883")));
    assert_eq!((agent.tools, agent.skills), (None, vec!["one".to_owned(), "two".to_owned()]));
    assert_eq!(agent.more.keys().collect::<Vec<_>>(), ["triggers"]);
    assert_eq!(agent.prompt, "You design.");
    assert!(problems.iter().all(|it| it.weight == Weight::Note), "{problems:?}");
}

#[test]
fn tools_are_read_in_every_form() {
    let tools = |header: &str| agent(header).0.tools;
    let two = Some(vec!["Read".to_owned(), "Write".to_owned()]);
    for header in [
        "tools: Read, Write",
        "tools: Read Write",
        "tools: [Read, Write]",
        "tools:\n  - Read\n  - Write",
        "tools: \"Read, Write\"",
        "tools: \"Read\", \"Write\"",
        "tools: |\n  Read,\n  Write",
    ] {
        assert_eq!(tools(header), two, "{header}");
    }
    for header in ["", "tools:", "tools: *", "tools: \"*\"", "tools: All tools"] {
        assert_eq!(tools(header), None, "{header}");
    }
    assert_eq!(tools("tools: []"), Some(Vec::new()));
}

#[test]
fn values_nobody_knows_are_told_and_have_no_effect() {
    let (odd, told) = agent(
        "permissionMode: yolo\nmaxTurns: many\nmemory: cloud\neffort: hard\nisolation: vm\n\
         color: plaid\nbackground: perhaps\nhooks: 5\nmcpServers: 5",
    );
    let (plain, _) = agent("");
    assert_eq!(odd, plain);
    assert_eq!(told.len(), 9, "{told:#?}");
}

#[test]
fn modes_and_efforts_have_several_names() {
    for (text, mode) in [
        ("manual", Mode::Default),
        ("auto", Mode::AcceptEdits),
        ("plan", Mode::Plan),
        ("dontAsk", Mode::DontAsk),
        ("bypassPermissions", Mode::Bypass),
    ] {
        assert_eq!(agent(&format!("permissionMode: {text}")).0.mode, Some(mode));
    }
    for (text, effort) in
        [("Low", Effort::Low), ("max", Effort::Max), ("60", Effort::High), ("0", Effort::None)]
    {
        assert_eq!(agent(&format!("effort: {text}")).0.effort, Some(effort));
    }
}

#[test]
fn other_spellings_of_compound_fields_are_read() {
    let (agent, told) = agent("disallowed-tools: Write\nmax_turns: 3");
    assert_eq!((agent.disallowed_tools, agent.max_turns), (vec!["Write".to_owned()], Some(3)));
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn a_plugins_agent_sets_nothing_that_runs_or_widens() {
    let text = "---\nname: a\ndescription: d\npermissionMode: bypassPermissions\nmcpServers: [x]\n\
                hooks:\n  Stop: [{command: x}]\n---\nBody";
    let (agent, problems) = read(text, home(Source::Plugin("kit".into())));
    let agent = agent.unwrap();
    assert_eq!(agent.name, "kit:a");
    assert!(agent.hooks.is_empty() && agent.mcp_servers.is_empty() && agent.mode.is_none());
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[test]
fn agents_of_the_command_line_have_their_prompt_among_the_fields() {
    let (agents, problems) = read_json(
        r#"{"one": {"description": "d", "prompt": "p", "tools": ["Read"]}, "two": 5, "-x": {}}"#,
    );
    let [one] = &agents[..] else { panic!("{agents:?}") };
    assert_eq!((one.name.as_str(), one.prompt.as_str()), ("one", "p"));
    assert_eq!(one.tools.as_deref(), Some(&["Read".to_owned()][..]));
    assert_eq!(one.home.source, Source::Flag);
    assert_eq!(problems.len(), 2, "{problems:?}");
    for text in ["", "[", "[]", "5"] {
        let (agents, problems) = read_json(text);
        assert!(agents.is_empty() && problems.len() == 1, "{text}: {problems:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_panics(text in "(?s).{0,200}", header in "[-a-zA-Z:#'\"\\[\\]{}|>&*!%@,() \t\n]{0,160}") {
        let _ = parse(&text);
        let _ = parse(&format!("---\n{header}\n---\n{text}"));
        let _ = parse(&format!("---\nname: a\ntools: {header}\nhooks: {header}\n---\n"));
        let _ = read_json(&text);
    }

    #[test]
    fn names_of_tools_have_no_commas(text in "[A-Za-z,()\"'\\[\\]:* \t]{0,60}") {
        let (agent, _) = agent(&format!("tools: {text}"));
        for tool in agent.tools.unwrap_or_default() {
            let before = tool.split('(').next().unwrap_or_default();
            prop_assert!(!before.is_empty() || tool.starts_with('('), "{}", tool);
            prop_assert!(!before.contains(','), "{}", tool);
        }
    }

    #[test]
    fn name_and_description_survive_a_mess_beside_them(
        name in "[a-z][a-z0-9-]{0,20}[a-z]",
        mess in "[a-zA-Z:#'\"\\[\\]{}|>&*!%@,() ]{0,60}",
    ) {
        let reserved = ["true", "false", "null", "yes", "no", "on", "off", "inf", "nan"];
        prop_assume!(!reserved.contains(&name.as_str()));
        let (agent, _) = parse(&format!("---\nname: {name}\ndescription: Plain words.\nmodel: {mess}\n---\nBody"));
        let agent = agent.unwrap();
        prop_assert_eq!(agent.name, name);
        prop_assert!(agent.description.starts_with("Plain words."));
    }
}
