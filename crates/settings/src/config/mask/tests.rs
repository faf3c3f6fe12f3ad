//! What is shown, and above all what is not.

use proptest::prelude::*;
use serde_json::json;

use super::super::parse_text;
use super::*;

#[test]
fn secrets_are_masked_wherever_they_stand() {
    let loaded = parse_text(
        "caiman.json",
        &json!({
            "providers": {"p": {
                "api_key": "sk-live-abcdefghijkl1234",
                "base_url": "https://ada:hunter2@example.com/v1?api_key=hunter2hunter2",
                "extra_headers": {"Authorization": "Bearer hunter2", "X-Team": "blue", "x-api-key": "hunter2"},
                "extra_body": {"auth": {"user": "hunter2"}, "max_tokens": 5},
            }},
            "mcp": {"m": {
                "args": ["--token", "hunter2", "--port", "80", "--api-key=hunter2"],
                "env": {"GITHUB_TOKEN": "hunter2", "MODE": "fast", "GIT_AUTHOR_NAME": "Ada"},
                "oauth_client_secret": "hunter2",
            }},
            "hooks": {"Stop": [{"command": "curl -H 'Authorization: Bearer hunter2' https://x@example.com"}]},
            "env": {"PLAIN": "x ghp_hunter2hunter2hunter2"},
        })
        .to_string(),
    );
    assert_eq!(loaded.problems, []);
    let shown = loaded.origins.shown();
    assert!(!shown.to_string().contains("hunter2"), "{shown:#}");
    assert!(!serde_json::to_string(&loaded.origins.leaves()).unwrap().contains("hunter2"));
    let printed = format!("{:?}{:?}", loaded.config.mcp, loaded.config.providers);
    assert!(!printed.contains("hunter2"));
    assert_eq!(shown["providers"]["p"]["api_key"], "••••1234");
    assert_eq!(shown["providers"]["p"]["extra_headers"]["X-Team"], "blue");
    assert_eq!(shown["providers"]["p"]["extra_body"]["max_tokens"], 5);
    assert_eq!(shown["mcp"]["m"]["args"][3], "80");
    assert_eq!(shown["mcp"]["m"]["env"]["MODE"], "fast");
    assert_eq!(shown["mcp"]["m"]["env"]["GIT_AUTHOR_NAME"], "Ada");
}

#[test]
fn references_are_shown_because_they_are_no_secret() {
    for text in ["$OPENAI_API_KEY", "${KEY}", ""] {
        assert_eq!(secret(text), text);
    }
    assert_eq!(secret("$(op read op://vault/item)"), "$(op …)");
    assert_eq!(secret("$(TOKEN=abc op read)"), "$(op …)");
    assert_eq!(secret("${KEY:-hunter2}"), "••••");
    assert_eq!(secret("$KEY-hunter2"), "••••");
}

#[test]
fn credentials_in_running_text_are_found() {
    let cases = [
        ("https://user:pass@host/x", "https://••••@host/x"),
        ("https://$USER@host/x", "https://$USER@host/x"),
        ("https://user:pa/ss@host/x", "https://••••@host/x"),
        ("https://host:8080/@scope/pkg", "https://host:8080/@scope/pkg"),
        ("http://a and ftp://u@b", "http://a and ftp://••••@b"),
        ("token=abc&mode=1", "token=••••&mode=1"),
        ("--password abc --fast", "--password •••• --fast"),
        ("Authorization: token abc", "Authorization: token ••••"),
        ("run the keyboard test", "run the keyboard test"),
        ("://", "://"),
        ("API_KEY=$API_KEY cmd", "API_KEY=$API_KEY cmd"),
    ];
    for (text, expected) in cases {
        assert_eq!(scrubbed(text), expected, "{text}");
    }
}

/// A secret no shown text could hold by chance; the mask itself may show its last four characters.
fn secret_text() -> impl Strategy<Value = String> {
    "Q[A-Z0-9]{11}Z[a-z0-9]{4}"
}

proptest! {
    #[test]
    fn no_secret_is_ever_shown(secret in secret_text(), name in "[a-z]{0,4}(key|token|secret|password)[a-z]{0,2}") {
        let bearer = format!("Bearer {secret}");
        let flag = format!("--{name}={secret}");
        let url = format!("https://ada:{secret}@example.com/{name}");
        let text = json!({
            "providers": {"p": {"api_key": secret, "base_url": url, "extra_headers": {&name: secret, "h": bearer},
                                "extra_body": {&name: [secret, {"x": secret}]}}},
            "mcp": {"m": {"command": format!("a {flag}"), "args": [flag, format!("-{name}"), secret],
                          "env": {&name: secret}, "headers": {"h": bearer}, "url": url}},
            "env": {&name: secret},
        });
        let loaded = parse_text("caiman.json", &text.to_string());
        let shown = loaded.origins.shown().to_string()
            + &serde_json::to_string(&loaded.origins.leaves()).unwrap()
            + &format!("{:?}{:?}", loaded.problems, loaded.config);
        prop_assert!(!shown.contains(&secret[..12]), "{}", shown);
    }

    #[test]
    fn problems_do_not_quote_secrets_of_the_wrong_type(secret in secret_text()) {
        let text = json!({"providers": {"p": {"api_key": [secret], "models": secret, "type": 1}}, "env": secret});
        let loaded = parse_text("caiman.json", &text.to_string());
        let told: String = loaded.problems.iter().map(ToString::to_string).collect();
        prop_assert!(loaded.problems.len() == 4 && !told.contains(&secret), "{}", told);
    }

    #[test]
    fn never_panics(text in "(?s).{0,80}", marks in "[a-z:/@=?&'\" $(){}-]{0,60}") {
        let _: String = scrubbed(&text) + &scrubbed(&marks) + &secret(&marks);
    }
}
