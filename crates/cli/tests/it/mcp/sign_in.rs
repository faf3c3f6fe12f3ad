//! `caiman mcp login`, against an authorization server on this machine and a browser that follows.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::{path, script};
use crate::home::Home;

/// A browser: it goes where the page leads.
const BROWSER: &str = "#!/usr/bin/env python3
import sys, urllib.request
urllib.request.urlopen(sys.argv[1]).read()
";

/// An MCP server that wants a sign-in. It ends with its test.
struct Office {
    child: Child,
    url: String,
    log: std::path::PathBuf,
}

impl Office {
    #[expect(clippy::disallowed_methods, reason = "the program plays a server")]
    fn open(home: &Home, lasts_s: u32) -> Self {
        let log = home.path("office.log");
        let mut child = Command::new("python3")
            .arg(script("office.py"))
            .arg(&log)
            .arg(lasts_s.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let url = format!("http://localhost:{}/mcp", port.trim());
        Self { child, url, log }
    }

    /// What it was asked for since the last time.
    fn asked(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        std::fs::write(&self.log, "").unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Office {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A user with a browser, and a server `office` in the settings.
fn home(lasts_s: u32) -> (Home, Office) {
    let home = Home::new();
    let office = Office::open(&home, lasts_s);
    home.write("bin/xdg-open", BROWSER);
    make_runnable(&home.path("bin/xdg-open"));
    let path = format!("{}:{}", home.path("bin").display(), path());
    let settings = json!({"mcp": {"office": {"type": "http", "url": office.url}}}).to_string();
    (home.with("PATH", &path).settings(&settings), office)
}

#[cfg(unix)]
fn make_runnable(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_sign_in_is_made_once_and_kept() {
    let (home, office) = home(3600);
    let without = home.run(&["mcp", "list", "--check"]);
    assert!(without.out.contains("caiman mcp login office"), "{}", without.out);
    office.asked();

    let done = home.run(&["mcp", "login", "office"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("it lends 2 tools"), "{}", done.out);
    assert!(done.err.contains("/authorize?"), "{}", done.err);
    assert!(!done.all().contains("-secret"), "{}", done.all());
    let asked = office.asked();
    assert!(asked.contains(&format!("authorize basic {}", office.url)), "{asked:?}");
    assert!(asked.contains(&"token authorization_code the-client".to_owned()), "{asked:?}");

    let listed = home.json(&["mcp", "list", "--check", "--json"]);
    assert_eq!((&listed[0]["works"], &listed[0]["signed_in"]), (&json!(true), &json!(true)));
    let asked = office.asked();
    assert!(
        asked.iter().all(|line| line.starts_with("mcp") && line.ends_with("with")),
        "{asked:?}"
    );

    let gone = home.run(&["mcp", "login", "office", "--forget"]);
    assert_eq!(gone.code, 0, "{}", gone.err);
    assert!(gone.out.contains("forgotten"), "{}", gone.out);
    assert!(home.run(&["mcp", "list", "--check"]).out.contains("wants a sign-in"));
    assert_eq!(home.run(&["mcp", "login", "ofice", "--forget"]).code, 1);
}

#[cfg(unix)]
#[test]
fn a_token_that_has_ended_is_renewed_without_a_word() {
    let (home, office) = home(1);
    assert_eq!(home.run(&["mcp", "login", "office", "--json"]).code, 0);
    office.asked();
    for _ in 0..2 {
        let listed = home.json(&["mcp", "list", "--check", "--json"]);
        assert_eq!(listed[0]["works"], true);
        let asked = office.asked();
        let renewed = asked.iter().filter(|line| *line == "token refresh_token the-client");
        assert!(
            renewed.count() >= 1 && !asked.iter().any(|it| it.starts_with("auth")),
            "{asked:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn over_the_older_wire_a_token_that_ends_in_use_is_renewed() {
    let (home, office) = home(3600);
    let url = office.url.replace("/mcp", "/sse");
    let home = home.settings(&json!({"mcp": {"office": {"type": "sse", "url": url}}}).to_string());
    let done = home.run(&["mcp", "login", "office"]);
    assert_eq!(done.code, 0, "{}", done.all());
    office.asked();
    let listed = home.json(&["mcp", "list", "--check", "--json"]);
    let asked = office.asked();
    assert_eq!(
        (&listed[0]["works"], &listed[0]["signed_in"]),
        (&json!(true), &json!(true)),
        "{asked:?}"
    );
    assert!(asked.contains(&"token refresh_token the-client".to_owned()), "{asked:?}");
    assert!(!asked.iter().any(|line| line.starts_with("auth")), "{asked:?}");
}

#[cfg(unix)]
#[test]
fn two_at_once_renew_a_token_that_can_be_renewed_once() {
    let (home, _office) = home(1);
    assert_eq!(home.run(&["mcp", "login", "office"]).code, 0);
    for _ in 0..3 {
        let both = [(); 2].map(|()| home.start(&["mcp", "list", "--check"]));
        for running in both {
            let done = running.end();
            assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_token_is_not_sent_to_another_address() {
    let (home, office) = home(3600);
    assert_eq!(home.run(&["mcp", "login", "office"]).code, 0);
    let other = Office::open(&home, 3600);
    office.asked();
    let home = home.settings(&json!({"mcp": {"office": {"url": other.url}}}).to_string());
    assert!(home.run(&["mcp", "list", "--check"]).out.contains("wants a sign-in"));
    let asked = other.asked();
    assert!(!asked.is_empty() && asked.iter().all(|line| line.ends_with("without")), "{asked:?}");
}

#[cfg(unix)]
#[test]
fn a_trial_signs_in_and_asks_for_more_when_a_tool_wants_it() {
    let (home, office) = home(3600);
    let done = home.run(&["mcp", "test", &office.url]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("calls: 2 ok"), "{}{}", done.out, done.err);
    let asked = office.asked();
    let pages: Vec<&str> = asked.iter().filter_map(|it| it.strip_prefix("authorize ")).collect();
    assert_eq!(pages, [format!("basic {}", office.url), format!("basic more {}", office.url)]);
    assert!(!home.credentials().exists(), "an address without a name leaves no token behind");
}

#[cfg(unix)]
#[test]
fn a_sign_in_nobody_makes_can_be_stopped() {
    let (home, _office) = home(3600);
    let mut running = home.start(&["mcp", "login", "office", "--no-browser"]);
    let mut stderr = BufReader::new(running.child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("/authorize?") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0);
    }
    running.signal(rustix::process::Signal::INT);
    assert_eq!(running.child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_program_wants_no_sign_in() {
    let home = Home::new();
    home.run(&["mcp", "add", "tool", "--", "x"]);
    let done = home.run(&["mcp", "login", "tool"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("wants no sign-in"), "{}", done.err);
}
