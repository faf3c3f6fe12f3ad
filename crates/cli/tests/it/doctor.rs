//! `caiman doctor`.

use serde_json::Value;

use crate::home::Home;

fn section<'a>(report: &'a Value, name: &str) -> &'a Vec<Value> {
    let sections = report.as_array().unwrap();
    sections.iter().find(|it| it["name"] == name).unwrap()["checks"].as_array().unwrap()
}

#[test]
fn a_healthy_machine_passes_and_every_attempt_is_refused() {
    let home = Home::new().with("LANG", "C.UTF-8");
    let report = home.json(&["doctor", "--json"]);
    let sandbox = section(&report, "sandbox");
    if sandbox[0]["outcome"] == "warning" {
        testkit::parts::skipped(&format!("no sandbox here: {}", sandbox[0]["text"]));
        return;
    }
    let text = |check: &Value| check["text"].as_str().unwrap().to_owned();
    for attempt in [
        "write a file outside",
        "write outside through a link",
        "change .git/config",
        "read a private key",
        "read caiman's environment",
        "connect to a port of this machine",
        "connect to another program's socket",
        "send caiman a signal",
    ] {
        let found = sandbox.iter().find(|check| text(check).starts_with(attempt)).unwrap();
        assert!(text(found).contains("refused"), "{found}");
    }
    assert!(sandbox.iter().any(|check| text(check) == "change the workspace: works"));
    assert!(!home.database().exists());
}

#[test]
fn lines_fit_into_eighty_columns() {
    let done = Home::new().run(&["doctor"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    for name in ["sandbox", "shell", "git", "database", "log", "settings", "keys", "terminal"] {
        assert!(done.out.lines().any(|line| line == name), "{name}: {}", done.out);
    }
    for line in done.out.lines() {
        assert!(line.chars().count() <= 80 || !line.trim().contains(' '), "{line}");
    }
}

#[test]
fn a_damaged_database_fails_and_stays_where_it_is() {
    let home = Home::new();
    home.write(".local/share/caiman/caiman.db", &"no database ".repeat(1000));
    let done = home.run(&["doctor"]);
    assert_eq!(done.code, 1, "{}", done.out);
    assert!(done.out.contains("FAIL") && done.out.contains("fix:"), "{}", done.out);
    let still = std::fs::read_to_string(home.database()).unwrap();
    assert!(still.starts_with("no database"));
    let beside = std::fs::read_dir(home.database().parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1);
}

#[test]
fn a_key_is_named_and_never_shown() {
    let home = Home::new().with("ANTHROPIC_API_KEY", "sk-ant-not-to-be-shown");
    let done = home.run(&["doctor"]);
    assert!(done.out.contains("anthropic: key from"), "{}", done.out);
    assert!(!done.out.contains("not-to-be-shown") && !done.err.contains("not-to-be-shown"));
}

#[test]
fn a_broken_setting_fails_with_its_place() {
    let home = Home::new().settings("{ \"options\": ");
    let done = home.run(&["doctor"]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("caiman.json:1"), "{}", done.out);
}
