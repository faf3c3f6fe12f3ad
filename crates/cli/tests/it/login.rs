//! `caiman login` and `caiman logout`.

use serde_json::Value;

use crate::home::Home;
use crate::server::Server;

const KEY: &str = "sk-test-1234567890abcdef";

#[test]
fn a_piped_key_is_stored_privately_and_never_printed() {
    let home = Home::new();
    let done = home.run_with_input(&["login", "openai"], &format!("  {KEY}\r\n"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("••••cdef") && done.out.contains("credentials.json"), "{}", done.out);
    let listed = home.run(&["login"]);
    for text in [&done.out, &done.err, &listed.out, &listed.err] {
        assert!(!text.contains(KEY), "{text}");
    }
    let line = listed.out.lines().find(|line| line.starts_with("openai")).unwrap();
    assert!(line.contains("••••cdef"), "{line}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(home.credentials()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_key_can_come_from_a_file() {
    let home = Home::new();
    std::fs::write(home.path("key.txt"), format!("{KEY}\n")).unwrap();
    let done = home.run(&["login", "groq", "--key-file", "key.txt", "--json"]);
    let told: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (told["provider"].as_str(), told["masked"].as_str()),
        (Some("groq"), Some("••••cdef"))
    );
    assert_eq!(home.run(&["login", "groq", "--key-file", "gone.txt"]).code, 1);
}

#[test]
fn what_cannot_be_a_key_or_a_provider_is_refused() {
    let home = Home::new();
    for (provider, input, word) in [
        ("openai", "\n", "empty"),
        ("openai", "two words", "white space"),
        ("opnai", KEY, "did you mean openai?"),
        ("demo", KEY, "needs no key"),
        ("vertexai", KEY, "gcloud"),
    ] {
        let done = home.run_with_input(&["login", provider], input);
        assert_eq!(done.code, 1, "{provider}");
        assert!(done.err.contains(word), "{}", done.err);
        assert!(!done.err.contains(KEY), "{}", done.err);
    }
    assert!(!home.credentials().exists());
}

#[test]
fn a_checked_key_is_stored_only_if_the_provider_takes_it() {
    let good = Server::start(&[("GET /v1/models", 200, r#"{"data":[{"id":"gpt-x"}]}"#)]);
    let denied = r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#;
    let bad = Server::start(&[("GET /v1/models", 401, denied)]);
    let home = Home::new().with("OPENAI_API_ENDPOINT", &bad.url);
    let done = home.run_with_input(&["login", "openai", "--check"], KEY);
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(done.err.contains("refuses the key") && done.err.contains("nothing was stored"));
    assert!(!home.credentials().exists());
    let home = home.with("OPENAI_API_ENDPOINT", &good.url);
    assert_eq!(home.run_with_input(&["login", "openai", "--check"], KEY).code, 0);
    assert!(good.requests()[0].contains(&format!("authorization: Bearer {KEY}")));
    assert!(home.credentials().exists());
}

#[test]
fn a_variable_that_hides_the_stored_key_is_pointed_out() {
    let home = Home::new().with("OPENAI_API_KEY", "sk-other-1234567890");
    let done = home.run_with_input(&["login", "openai"], KEY);
    assert!(done.err.contains("$OPENAI_API_KEY is used before"), "{}", done.err);
    let done = home.run(&["logout", "openai"]);
    assert!(done.err.contains("still has a key in $OPENAI_API_KEY"), "{}", done.err);
}

#[test]
fn logging_out_forgets_one_key_or_all() {
    let home = Home::new();
    for provider in ["openai", "groq", "xai"] {
        assert_eq!(home.run_with_input(&["login", provider], KEY).code, 0);
    }
    assert!(home.run(&["logout", "openai"]).out.contains("Removed the key of openai"));
    assert_eq!(home.run(&["logout", "openai"]).code, 0, "what is gone is gone");
    let gone: Value = serde_json::from_str(&home.run(&["logout", "--all", "--json"]).out).unwrap();
    assert_eq!(gone.as_array().unwrap().len(), 2);
    assert!(!std::fs::read_to_string(home.credentials()).unwrap().contains(KEY));
    assert_eq!(home.run(&["logout"]).code, 1);
}

#[test]
fn a_key_in_the_settings_is_masked_too() {
    let home = Home::new()
        .with("MY_KEY", KEY)
        .settings(r#"{ "providers": { "lab": { "base_url": "https://lab.test/v1", "api_key": "$MY_KEY" } } }"#);
    let done = home.run(&["login", "--json"]);
    assert!(!done.out.contains(KEY), "{}", done.out);
    let rows: Vec<Value> = serde_json::from_str(&done.out).unwrap();
    let lab = rows.iter().find(|row| row["provider"] == "lab").unwrap();
    assert_eq!(
        (lab["source"].as_str(), lab["masked"].as_str()),
        (Some("settings"), Some("••••cdef"))
    );
}

#[cfg(unix)]
#[test]
fn what_is_typed_at_a_terminal_is_not_shown() {
    let (shown, code) = typed(b"sk-wrong\x15sk-typed-1234567890abcdX\x7f\r");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("••••abcd"), "{shown}");
    assert!(!shown.contains("sk-"), "{shown}");
    let (shown, code) = typed(b"sk-half\x03");
    assert_eq!(code, 130, "{shown}");
    assert!(!shown.contains("sk-"), "{shown}");
}

/// Types at `caiman login openai` in a terminal; gives what was on the screen, and the exit code.
#[cfg(unix)]
fn typed(keys: &[u8]) -> (String, u32) {
    use std::io::{Read, Write};

    use portable_pty::{CommandBuilder, PtySize, native_pty_system};

    let home = Home::new();
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_caiman"));
    command.args(["login", "openai"]);
    command.env_clear();
    command.env("HOME", home.path(""));
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut shown = Vec::new();
    let mut byte = [0];
    // The question comes after the echo is off; keys typed before it would be thrown away.
    while !shown.ends_with(b"(not shown): ") && reader.read(&mut byte).unwrap() == 1 {
        shown.push(byte[0]);
    }
    pair.master.take_writer().unwrap().write_all(keys).unwrap();
    // A terminal whose last user has gone answers with an error on Linux.
    reader.read_to_end(&mut shown).ok();
    let code = child.wait().unwrap().exit_code();
    (String::from_utf8_lossy(&shown).into_owned(), code)
}
