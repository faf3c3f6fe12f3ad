//! Expansion: every form, every mistake, and nothing said that should not be.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

/// Answers commands from a list and remembers them.
#[derive(Default)]
struct Scripted {
    ran: Mutex<Vec<String>>,
}

impl RunCommand for Scripted {
    fn run(&self, command: &CommandLine) -> Result<String, RunError> {
        let line = command.args.last().cloned().unwrap_or_default();
        self.ran.lock().unwrap().push(line.clone());
        if line.starts_with("fail") {
            return Err(RunError::Failed {
                program: "sh".into(),
                status: "exit status: 1".into(),
                stderr: "no session for hunter2-hunter2".into(),
            });
        }
        Ok(format!("<{line}>"))
    }
}

fn env() -> Env {
    Env::from_iter([
        ("HOME", "/home/ada"),
        ("A", "one"),
        ("B_2", "two"),
        ("EMPTY", ""),
        ("DOLLAR", "$A $(rm)"),
        ("VAULT_TOKEN", "hunter2-hunter2"),
    ])
}

fn text(template: &str) -> Result<String, String> {
    let (env, runner) = (env(), Scripted::default());
    let expander = Expander { env: &env, runner: Some(&runner) };
    expander.text(template).map_err(|error| error.to_string())
}

#[test]
fn every_form_expands() {
    let cases = [
        ("plain", "plain"),
        ("$A", "one"),
        ("$A$B_2", "onetwo"),
        ("${A}x", "onex"),
        ("$Ax", ""),
        ("$UNSET|$EMPTY|", "||"),
        ("${UNSET:-x}", "x"),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY-x}", "x"),
        ("${A:-x}", "one"),
        ("${UNSET:-${EMPTY:-$A}}", "one"),
        ("${UNSET:-a}b}", "ab}"),
        ("${UNSET:-\\}}", "\\}"),
        ("${A:+yes}${UNSET:+no}", "yes"),
        ("${A:?needed}", "one"),
        ("$$A \\$A", "$A $A"),
        ("C:\\dir\\new", "C:\\dir\\new"),
        ("costs $5, 100$", "costs $5, 100$"),
        ("$(echo hi)", "<echo hi>"),
        ("Bearer $(a (b) ')' \")\" \\))!", "Bearer <a (b) ')' \")\" \\)>!"),
        ("${UNSET:-$(a })}", "<a }>"),
        ("$DOLLAR", "$A $(rm)"),
        ("ü$A·", "üone·"),
    ];
    for (template, expected) in cases {
        assert_eq!(text(template).as_deref(), Ok(expected), "{template}");
    }
}

#[test]
fn mistakes_are_named() {
    let cases = [
        ("${A", "`${` is not closed"),
        ("$(a", "`$(` is not closed"),
        ("$(a ')", "`$(` is not closed"),
        ("${}", "`${…}` needs a variable's name, and after it nothing or one of :- :+ :?"),
        ("${A!}", "`${…}` needs a variable's name, and after it nothing or one of :- :+ :?"),
        ("${A:}", "`${…}` needs a variable's name, and after it nothing or one of :- :+ :?"),
        ("${KEY:?get one at $A}", "the variable KEY is not set: get one at one"),
        ("${KEY:?}", "the variable KEY is not set: it is required"),
    ];
    for (template, expected) in cases {
        assert_eq!(text(template), Err(expected.to_owned()), "{template}");
    }
    let deep = "${U:-".repeat(50) + &"}".repeat(50);
    assert_eq!(text(&deep), Err(ExpandError::TooMuch.to_string()));
}

#[test]
fn a_failing_command_tells_neither_its_line_nor_a_secret() {
    let error = text("$(PIN=1234 fail --password swordfish)").unwrap();
    assert_eq!(error, "<PIN=1234 fail --password swordfish>");
    let error = text("$(fail --password swordfish)").unwrap_err();
    assert_eq!(error, "`$(fail …)`: failed (exit status: 1): no session for ••••");
}

#[test]
fn commands_run_only_where_a_runner_is_given_and_a_value_is_asked_for() {
    let env = env();
    let forbidden = Expander { env: &env, runner: None };
    assert!(matches!(forbidden.text("$(id)"), Err(ExpandError::CommandsForbidden)));
    assert_eq!(forbidden.text("${A:-$(id)}").unwrap(), "one");
    let runner = Scripted::default();
    let expander = Expander { env: &env, runner: Some(&runner) };
    let _: String = expander.text("${A:-$(id)}").unwrap();
    assert!(runner.ran.lock().unwrap().is_empty());
}

#[test]
fn secrets_headers_and_paths_have_their_own_rules() {
    let env = env();
    let expander = Expander { env: &env, runner: None };
    assert_eq!(expander.secret(&Secret::new("$UNSET")).unwrap(), None);
    assert_eq!(expander.secret(&Secret::new("k-$A")).unwrap(), Some(Secret::new("k-one")));
    let headers = [("Keep", "$A"), ("Gone", "$UNSET"), ("Remove", "")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let headers = expander.map(&headers).unwrap();
    let shown: Vec<_> = headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(shown, ["Keep=one", "Remove="]);
    for (path, expected) in [("~/x", "/home/ada/x"), ("~", "/home/ada"), ("~bob/x", "~bob/x")] {
        assert_eq!(expander.path(path).unwrap(), PathBuf::from(expected));
    }
}

#[test]
fn the_env_section_lies_over_the_environment_and_one_failure_is_one_variable() {
    let loaded = super::super::parse_text(
        "caiman.json",
        r#"{"env": {"A": "new", "C": "${A}!", "BAD": "$(id)"}}"#,
    );
    let env = env();
    let (env, failures) = loaded.config.environment(Expander { env: &env, runner: None });
    assert_eq!((env.get("A"), env.get("C"), env.get("BAD")), (Some("new"), Some("one!"), None));
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].0, "BAD");
}

proptest! {
    #[test]
    fn never_panics(template in "[$(){}:?+'\"\\\\AB_ ü-]{0,40}") {
        drop(text(&template));
    }

    #[test]
    fn text_without_dollar_or_backslash_stays(template in "[^$\\\\]{0,40}") {
        prop_assert_eq!(text(&template), Ok(template));
    }

    #[test]
    fn escaped_text_stays(words in proptest::collection::vec("[a-z(){}]{0,5}", 0..6)) {
        prop_assert_eq!(text(&words.join("$$")), Ok(words.join("$")));
    }
}
