//! Definition files as strangers write them: each is read with its name, its whole description and its tools.

use std::path::Path;

use settings::definition::{
    Agent, Home, Problem, Skill, Source, Standing, Weight, agent, command, skill,
};

fn home() -> Home {
    let file = Some("x.md".into());
    Home { source: Source::User, file, standing: Standing::Trusted }
}

fn read(text: &str) -> (Agent, Vec<Problem>) {
    let (agent, problems) = agent::read(text, home());
    (agent.unwrap_or_else(|| panic!("{problems:?} in {text:.200}")), problems)
}

fn words(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn called(text: &str) -> Skill {
    let (command, problems) = command::read(text, Path::new("x.md"), home());
    command.unwrap_or_else(|| panic!("{problems:?} in {text}"))
}

#[test]
fn a_description_is_all_that_was_written() {
    let long = "word ".repeat(20_000);
    let cases: &[(&str, &str)] = &[
        ("Use it: always", "Use it: always"),
        (
            r#"Use this agent when x. Examples: <example>Context: y user: "do it" assistant: "I'll: do" <commentary>z: w</commentary></example>"#,
            r#"Use this agent when x. Examples: <example>Context: y user: "do it" assistant: "I'll: do" <commentary>z: w</commentary></example>"#,
        ),
        (
            "Use it.\n\nExamples:\n- <example>\n  Context: a thing\n  user: \"go\"\n  assistant: \"yes: at once\"\n  </example>",
            "Use it.\n\nExamples:\n- <example>\nContext: a thing\nuser: \"go\"\nassistant: \"yes: at once\"\n</example>",
        ),
        (
            "Use it.\n<example>\nContext: a thing\nuser: \"go\"\nassistant: \"yes\"\n</example>",
            "Use it.\n<example>\nContext: a thing\nuser: \"go\"\nassistant: \"yes\"\n</example>",
        ),
        ("Fixes bugs like #12 and #13", "Fixes bugs like #12 and #13"),
        ("Fixes #12: quickly # really", "Fixes #12: quickly # really"),
        ("One.\\n\\nTwo: three.", "One.\n\nTwo: three."),
        ("\"One.\\n\\nTwo: three.\"", "One.\n\nTwo: three."),
        ("'it''s: \"quoted\"'", "it's: \"quoted\""),
        ("'it's badly quoted: yes'", "it's badly quoted: yes"),
        ("\"he said \"hi\" to: me\"", "he said \"hi\" to: me"),
        ("[WIP]", "[WIP]"),
        ("[WIP] not yet", "[WIP] not yet"),
        ("{{team}} helper", "{{team}} helper"),
        ("{draft}", "{draft}"),
        ("\n  - Use for a\n  - Use for b", "Use for a\nUse for b"),
        ("\n  short: a\n  long: b", "short: a\nlong: b"),
        ("|\n  One: two\n\n  three # four", "One: two\n\nthree # four"),
        (">\n  folded\n  text", "folded text"),
        ("\t\ttabbed: text", "tabbed: text"),
        ("`code`: and @mention", "`code`: and @mention"),
        ("@agent first", "@agent first"),
        ("% of things", "% of things"),
        ("* starred *", "* starred *"),
        ("& co: all", "& co: all"),
        ("! important: yes", "! important: yes"),
        ("- dashed: item", "- dashed: item"),
        ("? maybe: so", "? maybe: so"),
        ("true", "true"),
        ("1.10", "1.10"),
        ("2024-01-02", "2024-01-02"),
        ("🚀 Ships: fast — “smart” quotes", "🚀 Ships: fast — “smart” quotes"),
        ("with a nul\0 byte", "with a nul byte"),
        (&long, long.trim()),
    ];
    for (written, expected) in cases {
        let written: &str = written;
        for ending in ["\n", "\r\n"] {
            let text =
                format!("---\nname: a\ndescription: {written}\ntools: Read, Grep\n---\nBody\n");
            let (agent, _) = read(&text.replace('\n', ending));
            let shown: String = agent.description.chars().take(300).collect();
            assert_eq!(agent.description, *expected, "{shown} of {written:.100}");
            assert_eq!(agent.tools.unwrap(), ["Read", "Grep"], "{written:.100}");
            assert_eq!(
                (agent.name.as_str(), agent.prompt.as_str()),
                ("a", "Body"),
                "{written:.100}"
            );
        }
    }
}

#[test]
fn tools_are_those_that_are_named_and_no_others() {
    let cases: &[(&str, &[&str])] = &[
        ("Read, Write", &["Read", "Write"]),
        ("Read Write Grep", &["Read", "Write", "Grep"]),
        ("[Read, \"Write\", 'Grep']", &["Read", "Write", "Grep"]),
        ("\n  - Read\n  - mcp__a__b", &["Read", "mcp__a__b"]),
        ("\n\t- Read\n\t- Write", &["Read", "Write"]),
        ("\n- Read\n- Write", &["Read", "Write"]),
        ("Bash(git log:*, git diff:*), Read", &["Bash(git log:*, git diff:*)", "Read"]),
        ("[Agent(a, b), Read]", &["Agent(a,b)", "Read"]),
        (
            "['changes', 'Azure MCP/search', 'edit/editFiles']",
            &["changes", "Azure MCP/search", "edit/editFiles"],
        ),
        ("\n  - Chrome Read Page\n  - Grep", &["Chrome Read Page", "Grep"]),
        ("[Read, Grep] but never Bash", &["Read", "Grep"]),
        ("[Bash(ls [a-z]*), Read]", &["Bash(ls [a-z]*)", "Read"]),
        ("\"Read, Grep\"", &["Read", "Grep"]),
        ("Read, Grep, # and Bash", &["Read", "Grep"]),
        ("mcp__server__*, mcp__other", &["mcp__server__*", "mcp__other"]),
        ("Read, Azure MCP/search, Grep", &["Read", "Azure MCP/search", "Grep"]),
        ("Read, Bash (git only)", &["Read", "Bash (git only)"]),
        ("Read, Grep,", &["Read", "Grep"]),
        ("Bash(git log:*) Read", &["Bash(git log:*)", "Read"]),
        ("[]", &[]),
    ];
    for (written, expected) in cases {
        // Strict, and beside a line that is not.
        for description in ["plain", "not: strict"] {
            let text = format!(
                "---\nname: a\ndescription: {description}\ntools: {written}\nmodel: opus\n---\nB\n"
            );
            let (agent, problems) = read(&text);
            assert_eq!(
                agent.tools.as_deref(),
                Some(&expected.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]),
                "{written} {}",
                words(&problems)
            );
            assert_eq!(agent.model.as_deref(), Some("opus"), "{written}");
        }
    }
    let (agent, problems) =
        read("---\nname: a\ndescription: d\ntools: [Read] except Bash\n---\nB\n");
    assert_eq!(agent.tools.unwrap(), ["Read"]);
    assert!(words(&problems).contains("`except Bash` stands behind the list"), "{problems:?}");
}

#[test]
fn odd_places_of_headers_do_no_harm() {
    let header = "name: a\ndescription: d: e\ntools: Read";
    let indented = header.replace('\n', "\n    ");
    for text in [
        format!("---\n{header}\n---\nBody"),
        format!("\u{feff}---\n{header}\n---\nBody"),
        format!("\n\n---\n{header}\n---\nBody"),
        format!("\n    ---\n    {indented}\n    ---\n\nBody"),
        format!("--- \t\n{header}\n---\t\nBody"),
        format!("---\n\n# a comment\n{header}\n\n---\nBody"),
        format!("---\n{header}\nteam: x\nteam: y\n---\nBody"),
        format!("---\n{header}\nloop: &a [*a]\n---\nBody"),
        format!("---\n{header}\nbomb: &a [x,x,x]\nb: &b [*a,*a]\nc: [*b,*b,*b]\n---\nBody"),
        format!("---\n{header}\ndeep: {}{}\n---\nBody", "[".repeat(5_000), "]".repeat(5_000)),
        format!("---\n{header}\nmany: [{}]\n---\nBody", "x, ".repeat(30_000)),
        format!("---\n{header}\ncolor: #059669 # green\n---\nBody"),
        format!("---\n{header}\nhooks: nonsense\nmaxTurns: many\nmemory: all\n---\nBody"),
    ] {
        let (agent, problems) = read(&text);
        assert_eq!((agent.name.as_str(), agent.description.as_str()), ("a", "d: e"), "{text:.300}");
        assert_eq!(
            (agent.tools.unwrap(), agent.prompt.as_str()),
            (vec!["Read".to_owned()], "Body"),
            "{text:.300}"
        );
        assert!(problems.iter().all(|it| it.weight == Weight::Note), "{}", words(&problems));
    }
    let (agent, _) =
        read("---\nname: a\ndescription: d\ncolor: #059669 # green\n---\nOne\n---\nTwo\n");
    assert_eq!(agent.color.as_deref(), Some("#059669"));
    assert_eq!(agent.prompt, "One\n---\nTwo");
    let (agent, _) = read("---\nname: a\ndescription: whole\nteam: [core\nowner: bob\n---\nB\n");
    assert_eq!((agent.description.as_str(), agent.more.len()), ("whole", 2));
    let (agent, problems) =
        read("---\nname: a\ndescription: |\n  Line: one\n   odd\n tools: Read\n---\nB\n");
    assert_eq!(agent.tools.unwrap(), ["Read"], "an indented list still narrows");
    assert!(words(&problems).contains("is indented"), "{problems:?}");
    let (agent, problems) = read("---\nname: a\ndescription: d\n\nBody\n");
    assert_eq!(agent.prompt, "Body");
    assert!(words(&problems).contains("no closing"), "{problems:?}");
}

#[test]
fn hints_are_shown_as_they_are_written() {
    for hint in [
        "[x] | [y]",
        "[file]",
        "[a, b]",
        "[a: b]",
        "[--flag=x] <file>",
        "{name}",
        "<pr-number> [--draft]",
        "add [tagId] | remove [tagId] | list",
        "[issue #12]",
    ] {
        let text = format!(
            "---\nargument-hint: {hint}\ndescription: d\nallowed-tools: Bash(git:*), Read\n---\nDo it\n"
        );
        let command = called(&text);
        assert_eq!(command.argument_hint.as_deref(), Some(hint), "{text}");
        assert_eq!(command.description, "d");
        assert_eq!(command.allowed_tools, ["Bash(git:*)", "Read"], "{hint}");
    }
    let (skill, _) = skill::read(
        "---\nname: s\ndescription: Reads: all\nallowed-tools: Bash(git log:*) Read\n---\nB\n",
        Path::new("/s"),
        home(),
    );
    let skill = skill.unwrap();
    assert_eq!(skill.allowed_tools, ["Bash(git log:*)", "Read"]);
    assert_eq!(skill.description, "Reads: all");
}
