//! `caiman policy`: decisions explained, and held against expectations.

use serde_json::{Value, json};

use crate::home::Home;

const SETTINGS: &str = r#"{"permissions": {
    "allow": ["Bash(cargo test:*)", "Write(x)"], "ask": ["Bash(git push:*)"], "deny": ["Read(.env)"]}}"#;

fn home() -> Home {
    let home = Home::new().settings(SETTINGS);
    home.write("work/src/main.rs", "fn main() {}\n");
    home.write("work/.env", "KEY=1\n");
    home
}

#[test]
fn explain_names_decision_reason_and_every_part() {
    let done = home().run(&["-C", "work", "policy", "explain", "cargo test && ls | wc -l; rm x"]);
    assert_eq!(done.code, 0, "{}", done.err);
    for line in [
        "ask: `rm` is not on the list of read-only commands",
        "reach: workspace sandbox",
        "part: cargo test  (allowed: Bash(cargo test:*))",
        "part: ls  (only reads)",
        "would be allowed by: Bash(rm x)",
    ] {
        assert!(done.out.contains(line), "{line}\n{}", done.out);
    }
    assert!(done.err.contains("`Write(x)` has no effect"), "{}", done.err);
}

#[test]
fn explain_takes_files_addresses_flags_and_prints_json() {
    let home = home();
    let decision = |args: &[&str]| {
        let args: Vec<&str> =
            ["-C", "work", "policy", "explain", "--json"].iter().chain(args).copied().collect();
        let done = home.run(&args);
        let answer: Value = serde_json::from_str(&done.out).unwrap();
        answer["decision"].as_str().unwrap().to_owned()
    };
    assert_eq!(decision(&["Read(.env)"]), "deny");
    assert_eq!(decision(&["cat .env"]), "deny");
    assert_eq!(decision(&["Read(src/main.rs)"]), "allow");
    assert_eq!(decision(&["Edit(src/main.rs)"]), "ask");
    assert_eq!(decision(&["Edit(src/main.rs)", "--mode", "acceptEdits"]), "allow");
    assert_eq!(decision(&["Edit(src/main.rs)", "--mode", "plan"]), "deny");
    assert_eq!(decision(&["Edit(src/main.rs)", "--allow", "Edit(src/**)"]), "allow");
    assert_eq!(decision(&["Bash(ls)", "--deny", "Bash(ls)"]), "deny");
    assert_eq!(decision(&["WebFetch(https://docs.rs)", "--allow", "WebFetch"]), "allow");
    let tainted = ["WebFetch(https://docs.rs)", "--allow", "WebFetch", "--taint", "a page"];
    assert_eq!(decision(&tainted), "ask");
    assert_eq!(decision(&["make", "--mode", "acceptEdits", "--no-sandbox"]), "ask");
    assert_eq!(decision(&["mcp__github__list", "--allow", "mcp__github"]), "allow");
    let done = home.run(&["policy", "explain", "WebFetch(nonsense)"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("not an address"), "{}", done.err);
}

#[test]
fn explain_gives_a_script_the_kind_of_the_reason_and_the_part_to_blame() {
    let home = home();
    let explain = |args: &[&str]| -> Value {
        let args: Vec<&str> =
            ["-C", "work", "policy", "explain", "--json"].iter().chain(args).copied().collect();
        serde_json::from_str(&home.run(&args).out).unwrap()
    };
    let answer = explain(&["ls && rm x"]);
    assert_eq!(answer["cause"]["kind"], "not_read_only", "{answer}");
    assert_eq!(answer["cause"]["part"], "rm x", "{answer}");
    assert_eq!(answer["blame"][0], json!({ "text": "rm x", "start": 6, "end": 10 }), "{answer}");

    let answer = explain(&["git push"]);
    let rule = json!({ "kind": "rule", "rule": "Bash(git push:*)", "list": "ask" });
    assert_eq!(answer["cause"], rule, "{answer}");

    let answer = explain(&["WebFetch(https://docs.rs)", "--taint", "a page"]);
    let inner = json!({ "kind": "reaches_host", "host": "docs.rs" });
    let tainted = json!({ "kind": "tainted", "origin": "a page", "inner": inner });
    assert_eq!(answer["cause"], tainted, "{answer}");

    let answer = explain(&["Edit(a)", "--mode", "plan"]);
    assert_eq!(answer["cause"]["kind"], "denied_by_mode", "{answer}");
    assert_eq!(answer["cause"]["mode"], "plan", "{answer}");
    assert_eq!(answer["cause"]["inner"]["path"], "a", "{answer}");

    let answer = explain(&["ls >> /etc/x; cat ~/.ssh/id"]);
    assert_eq!(answer["also"][0]["kind"], "outside_workspace", "{answer}");
    assert_eq!(answer["also"][1]["kind"], "may_hold_secrets", "{answer}");
}

#[test]
fn expectations_are_checked_and_differences_told() {
    let home = home();
    let good = "[\n  // comments are fine\n  { \"action\": \"cargo test\", \"expect\": \"allow\" },\n  \
                { \"action\": \"git push\", \"expect\": \"ask\" },\n  \
                { \"action\": \"Edit(a)\", \"expect\": \"deny\", \"mode\": \"plan\" },\n]\n";
    home.write("work/good.jsonc", good);
    let done = home.run(&["-C", "work", "policy", "test", "good.jsonc"]);
    assert_eq!((done.code, done.out.as_str()), (0, "cases: 3, as expected: 3\n"), "{}", done.err);
    let bad = "// one a line\n{\"action\": \"cat .env\", \"expect\": \"allow\"}\n{\"action\": \"ls\", \"expect\": \"allow\"}\n";
    home.write("work/bad.jsonl", bad);
    let done = home.run(&["-C", "work", "policy", "test", "bad.jsonl"]);
    assert_eq!(done.code, 1);
    assert!(done.out.starts_with("deny  (not allow): cat .env"), "{}", done.out);
    assert!(done.out.contains("cases: 2, as expected: 1"), "{}", done.out);
    home.write("work/broken.jsonl", "{\"action\": \"ls\"}\n");
    let done = home.run(&["-C", "work", "policy", "test", "broken.jsonl"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("broken.jsonl:1:") && done.err.contains("expect"), "{}", done.err);
}
