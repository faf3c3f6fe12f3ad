//! The log file: what is in it, and what never is.

use serde_json::{Value, json};
use testkit::Script;
use testkit::script::When;

use crate::home::{Home, lab};
use crate::model::{KEY, Model};

/// Where the log is, below the home folder.
const LOG: &str = ".local/share/caiman/logs/caiman.log";

fn home(model: &Model, options: &Value) -> Home {
    let mut settings = lab(&model.base_url(), &json!({}));
    settings["options"] = options.clone();
    settings["tools"] = json!({ "fetch": { "allow_private": ["127.0.0.1"] } });
    Home::new().settings(&settings.to_string())
}

fn log(home: &Home) -> String {
    std::fs::read_to_string(home.path(LOG)).unwrap_or_default()
}

/// A sub-agent of the web that tries to leave its folder.
fn curious() -> Script {
    let researcher = || When {
        contains: Some("You answer one question from the web".to_owned()),
        ..When::default()
    };
    Script::new()
        .call("agentic_fetch", json!({ "prompt": "look around" }))
        .then()
        .when(researcher())
        .call("view", json!({ "file_path": "/etc/passwd" }))
        .call("view", json!({ "file_path": "~/.ssh/id_rsa" }))
        .then()
        .when(researcher())
        .text("Nothing.")
        .then()
        .text("Nothing.")
}

#[test]
fn forbidden_requests_of_the_web_agent_are_always_logged() {
    let model = Model::start(curious());
    let home = home(&model, &json!({}));
    let done = home.run(&["run", "--model", "lab/m", "--yolo", "ask the web"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let text = log(&home);
    let forbidden: Vec<&str> =
        text.lines().filter(|line| line.contains("forbidden request")).collect();
    for path in ["path=/etc/passwd", "path=~/.ssh/id_rsa"] {
        assert!(forbidden.iter().any(|line| line.ends_with(path)), "{path}: {text}");
    }
    assert!(!text.contains("caiman::http"), "nobody asked for details: {text}");
}

#[test]
fn each_http_exchange_is_logged_on_demand_without_secrets() {
    let script = Script::new().text("Hello.");
    let model = Model::start(script);
    let url = format!("{}/page?token=query-secret", model.base_url());
    let fetching = Model::start(
        Script::new().call("fetch", json!({ "url": url, "format": "text" })).then().text("Read."),
    );
    let home = home(&fetching, &json!({ "debug": true }));
    let done = home.run(&["run", "--model", "lab/m", "--yolo", "words of the prompt"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let text = log(&home);
    let exchanges: Vec<&str> = text.lines().filter(|line| line.contains("caiman::http")).collect();
    let posts: Vec<&&str> = exchanges.iter().filter(|it| it.contains(r#"method="POST""#)).collect();
    assert!(posts.len() >= 2, "{text}");
    for part in [r#"host="127.0.0.1:"#, "/chat/completions", "status=200", "bytes=", "ms="] {
        assert!(posts[0].contains(part), "{part}: {text}");
    }
    assert!(!posts[0].contains("bytes=0"), "{text}");
    let page = exchanges.iter().find(|it| it.contains(r#"method="GET""#));
    assert!(page.is_some_and(|line| line.contains("/page\"")), "{text}");
    for secret in [KEY, "query-secret", "words of the prompt", "Hello."] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[test]
fn a_run_with_nothing_to_report_writes_no_log() {
    let model = Model::saying("Hello.");
    let home = Home::of(&model);
    assert_eq!(home.run(&["run", "--model", "lab/m", "hello"]).code, 0);
    assert_eq!(log(&home), "");
    assert!(!home.path(LOG).exists());
}

#[test]
fn the_doctor_names_the_log() {
    let model = Model::saying("Hello.");
    let home = home(&model, &json!({ "debug": true }));
    let named = |home: &Home| home.run(&["doctor"]).out.replace(['\n', ' '], "");
    assert!(named(&home).contains(LOG), "{}", home.run(&["doctor"]).out);
    assert_eq!(home.run(&["run", "--model", "lab/m", "hello"]).code, 0);
    assert!(named(&home).contains(&format!("{LOG}(")), "{}", home.run(&["doctor"]).out);
}
