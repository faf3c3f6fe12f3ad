//! Checks on any bytes, for tests here and for the fuzzer.

use guard::{Rule, shell};

/// A line gets an answer, and only one that is understood is taken for a reader.
pub(crate) fn shell_line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(script) = shell::parse(&text) else {
        drop(shell::fragments(&text));
        return;
    };
    let reads = script.read_only().is_ok();
    for command in script.all_commands() {
        drop((command.text(), command.plain_text(), command.bare_text()));
        let writer = matches!(command.program_name(), Some("rm" | "sudo" | "tee" | "curl"));
        assert!(!(reads && writer), "{text:?}");
    }
    // What joins a reader and a writer is no reader.
    if reads && !text.contains(['#', '\\']) && !text.trim().is_empty() {
        let joined = shell::parse(&format!("{}\nrm x", text.trim_end()));
        assert!(!joined.is_ok_and(|it| it.read_only().is_ok()), "{text:?}");
    }
}

/// A text is a rule or not, and a rule reads the same again.
pub(crate) fn rule(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(rule) = Rule::parse(&text) {
        assert_eq!(Rule::parse(&rule.to_string()).as_ref(), Ok(&rule));
        if let Some(pattern) = rule.command() {
            let again = pattern.matches(&text);
            assert_eq!(again, pattern.matches(&text));
        }
    }
}
