//! Rules: their grammar, and what they match.

use std::path::{Path, PathBuf};

use base::Paths;
use guard::rule::{Collected, Extra, Kind, Reading, Source};
use guard::{Fence, Rule, Spot};
use ignore::gitignore::GitignoreBuilder;
use proptest::prelude::*;
use settings::{Sources, TrustSource};

#[test]
fn what_is_no_rule_is_refused_with_its_reason() {
    for (text, why) in [
        ("", "empty"),
        ("Bash(ls", "not closed"),
        ("Bash()", "empty"),
        ("Read(!x)", "negated"),
        ("Read(a/../b)", "no meaning"),
        ("Read(a[b)", "not closed"),
        ("WebFetch(https://x)", "domain:"),
        ("WebFetch(domain:a b)", "host"),
        ("mcp__a__b(x)", "no brackets"),
        ("todos(status:done)", "not supported"),
        ("todos(x)", "nothing in brackets"),
        ("Two Words", "letters"),
        ("Ba*", "`*`"),
    ] {
        let error = Rule::parse(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn rules_that_never_decide_say_so() {
    for text in ["Write(src/**)", "MultiEdit(x)", "Glob(x)", "Cd(x)", "SlashCommand(x)", "Teleport"]
    {
        assert!(Rule::parse(text).unwrap().unused().is_some(), "{text}");
    }
}

#[test]
fn bare_rules_cover_kinds_and_tools_under_any_name() {
    let covers = |rule: &str, tool: &str, kind| Rule::parse(rule).unwrap().covers_tool(tool, kind);
    assert!(covers("Bash", "bash", Kind::Run) && covers("bash", "bash", Kind::Run));
    assert!(covers("Bash(*)", "bash", Kind::Run) && covers("exec", "bash", Kind::Run));
    assert!(covers("Edit", "write", Kind::Edit) && covers("Read", "grep", Kind::Read));
    assert!(covers("edit:write", "edit", Kind::Edit) && !covers("edit", "write", Kind::Edit));
    assert!(covers("group:fs", "view", Kind::Read) && covers("TodoWrite", "todos", Kind::Inner));
    assert!(covers("mcp__git", "mcp_git_log", Kind::Inner));
    assert!(covers("mcp__git__get_*", "mcp_git_get_x", Kind::Inner));
    assert!(!covers("mcp__git__get_*", "mcp_git_set_x", Kind::Inner));
    assert!(!covers("mcp__git", "mcp_github_log", Kind::Inner));
    assert!(!covers("Bash(ls)", "bash", Kind::Run));
}

#[test]
fn a_rule_for_one_server_is_not_for_another_whose_name_begins_alike() {
    let covers = |rule: &str, server: &str, tool: &str| {
        let name = guard::rule::names::mcp(server, tool);
        Rule::parse(rule).unwrap().covers_tool(&name, Kind::Inner)
    };
    assert!(covers("mcp__git", "git", "hub_list") && !covers("mcp__git", "git_hub", "list"));
    assert!(covers("mcp__my.server__a.b", "my server", "a b"));
    assert!(covers("mcp_git_hub_list", "git_hub", "list"));
    assert!(covers("mcp__*", "git", "log") && covers("mcp__git__l*", "git", "log"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_tool_of_a_server_is_covered_by_its_own_rule_and_its_servers(
        server in "[a-c_. é-]{1,6}", tool in "[a-c_. é*-]{0,8}", other in "[a-c_. é-]{1,6}",
    ) {
        use guard::rule::names;
        let name = names::mcp(&server, &tool);
        for rule in [name.clone(), format!("mcp__{}", names::server(&server))] {
            let rule = Rule::parse(&rule).unwrap();
            prop_assert!(rule.covers_tool(&name, Kind::Inner), "{} {}", rule, name);
            let of_other = names::mcp(&other, &tool);
            let is_same = names::server(&other) == names::server(&server);
            prop_assert_eq!(rule.covers_tool(&of_other, Kind::Inner), is_same);
        }
    }
}

#[test]
fn hosts_match_by_label() {
    let covers = |rule: &str, url: &str| {
        let rule = Rule::parse(&format!("WebFetch(domain:{rule})")).unwrap();
        rule.covers_address(&url.parse().unwrap())
    };
    assert!(covers("example.com", "https://EXAMPLE.com./x"));
    assert!(!covers("example.com", "https://www.example.com"));
    assert!(!covers("example.com", "https://example.com.evil.org"));
    assert!(!covers("example.com", "https://evil.org/example.com"));
    assert!(!covers("example.com", "https://example.com@evil.org"));
    assert!(covers("*.example.com", "https://a.b.example.com"));
    assert!(!covers("*.example.com", "https://example.com"));
    assert!(!covers("*.example.com", "https://evilexample.com"));
    assert!(covers("api-*.example.com", "https://api-1.example.com"));
    assert!(!covers("api-*.example.com", "https://api-1.x.example.com"));
}

struct Ground {
    _dir: tempfile::TempDir,
    fence: Fence,
}

impl Ground {
    fn new() -> Self {
        let dir = tempfile::tempdir_in(crate::place::lasting()).unwrap();
        let top = std::fs::canonicalize(dir.path()).unwrap();
        for folder in ["work", "home"] {
            std::fs::create_dir(top.join(folder)).unwrap();
        }
        let fence = Fence::new(&top.join("work"), &[], &top.join("home")).unwrap();
        Self { _dir: dir, fence }
    }

    fn covers(&self, rule: &Rule, path: &Path, reading: Reading) -> bool {
        let path = self.fence.folder().join(path);
        let spot = Spot { asked: path.clone(), real: path, inside: true };
        rule.covers_place(Kind::Read, &spot, &self.fence, reading)
    }
}

#[test]
fn anchors_say_where_a_pattern_begins() {
    let ground = Ground::new();
    let rule = |text: &str| Rule::parse(&format!("Read({text})")).unwrap();
    let work = ground.fence.folder().to_owned();
    let home = ground.fence.home().to_owned();
    let narrow = |text: &str, path: &Path| ground.covers(&rule(text), path, Reading::Narrow);
    assert!(narrow(&format!("/{}/x/**", work.display()), &work.join("x/y")));
    assert!(narrow("~/notes/*.md", &home.join("notes/a.md")));
    assert!(!narrow("~/notes/*.md", &home.join("notes/b/a.md")));
    assert!(narrow("src/**", &work.join("src/a/b")) && !narrow("src/**", &work.join("x/src/a")));
    assert!(narrow("*.rs", &work.join("a/b/c.rs")) && narrow("src", &work.join("a/src/b")));
    assert!(!narrow("./x.rs", &work.join("a/x.rs")) && narrow("./x.rs", &work.join("x.rs")));
    assert!(narrow("**", &work.join("a")) && !narrow("**", &home.join("a")));
    let wide = |text: &str, path: &Path| ground.covers(&rule(text), path, Reading::Wide);
    assert!(wide("src/**", &work.join("x/src/a")) && wide(".env", &work.join("a/.ENV")));
    let rooted = rule("/a/**").from_file(work.join("sub"), Source::Project);
    assert!(ground.covers(&rooted, &work.join("sub/a/x"), Reading::Narrow));
    assert!(!ground.covers(&rooted, &work.join("a/x"), Reading::Narrow));
}

#[test]
fn settings_give_rules_with_their_files_and_warnings() {
    let dir = tempfile::tempdir_in(crate::place::lasting()).unwrap();
    let top = std::fs::canonicalize(dir.path()).unwrap();
    let env = base::Env::from_iter([("HOME", top.join("home").to_str().unwrap())]);
    let paths = Paths::of(&env).unwrap();
    let project = top.join("project");
    std::fs::create_dir_all(paths.config()).unwrap();
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::write(
        paths.config().join("caiman.json"),
        r#"{"permissions": {"allow": ["Bash(ls:*)", "Write(x)", "mcp__*"], "allowed_tools": ["edit:write"]}}"#,
    )
    .unwrap();
    std::fs::write(
        project.join("caiman.json"),
        r#"{"permissions": {"deny": ["Read(/x)", "Bash("], "ask": ["Edit"]}}"#,
    )
    .unwrap();
    let sources =
        Sources { paths: paths.clone(), env, cwd: project.clone(), trust: TrustSource::Nobody };
    let loaded = settings::load(&sources);
    let (allow, deny) = (["Bash(make)".to_owned()], ["WebFetch".to_owned()]);
    let extra = Extra { allow: &allow, deny: &deny, granted: &[] };
    let all = Collected::from_settings(&loaded.config.permissions, &loaded.origins, &paths, &extra);
    let texts = |rules: &[Rule]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(texts(&all.rules.allow), ["edit:write", "Bash(ls:*)", "Bash(make)"]);
    assert_eq!(texts(&all.rules.ask), ["Edit"]);
    assert_eq!(texts(&all.rules.deny), ["Read(/x)", "WebFetch"]);
    assert_eq!(all.rules.deny[0].source(), Source::Project);
    assert_eq!(all.rules.allow[1].source(), Source::User);
    assert_eq!(all.warnings.len(), 3, "{:?}", all.warnings);
}

fn pattern() -> impl Strategy<Value = String> {
    let segment = proptest::sample::select(vec![
        "a", "b", "ab", "*", "**", "a*", "*b", "?", "[ab]", "[!a]", "a?c", ".env", "*.rs",
    ]);
    (proptest::collection::vec(segment, 1..4), any::<bool>()).prop_map(|(parts, dotted)| {
        format!("{}{}", if dotted { "./" } else { "" }, parts.join("/"))
    })
}

fn path() -> impl Strategy<Value = PathBuf> {
    let name = proptest::sample::select(vec!["a", "b", "ab", "abc", ".env", "x.rs", "c"]);
    proptest::collection::vec(name, 1..5).prop_map(|parts| parts.iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_a_rule_or_not_and_reads_the_same_again(text in "[A-Za-z_*]{0,9}\\(?.{0,20}\\)?") {
        if let Ok(rule) = Rule::parse(&text) {
            prop_assert_eq!(Rule::parse(&rule.to_string()).unwrap(), rule);
        }
    }

    #[test]
    fn an_exact_rule_covers_its_command_alone(line in "[a-z*\\\\ :]{1,12}") {
        let line = line.trim();
        prop_assume!(!line.is_empty());
        let rule = Rule::exact_command(line).unwrap();
        let pattern = rule.command().unwrap();
        prop_assert!(pattern.is_exact() && pattern.matches(line));
        let longer = format!("{line}x");
        prop_assert!(!pattern.matches(&longer));
    }

    #[test]
    fn paths_match_as_gitignore_has_it(pattern in pattern(), path in path()) {
        let ground = Ground::new();
        let rule = Rule::parse(&format!("Read({pattern})")).unwrap();
        let ours = ground.covers(&rule, &path, Reading::Narrow);
        let mut builder = GitignoreBuilder::new(ground.fence.folder());
        let theirs = pattern.strip_prefix("./").map_or(pattern.clone(), |rest| format!("/{rest}"));
        builder.add_line(None, &theirs).unwrap();
        let ignored = builder.build().unwrap();
        let theirs = ignored.matched_path_or_any_parents(&path, false).is_ignore();
        prop_assert_eq!(ours, theirs, "{} {:?}", pattern, path);
    }
}
