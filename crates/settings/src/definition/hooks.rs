//! Hooks as definition files and plugins write them: Claude Code's groups, or our flat list.

use serde_json::Value;

use super::Hooks;
use crate::config::{HOOK_EVENTS, Hook};

/// Reads hooks by event, and tells which cannot be used.
///
/// Claude Code groups handlers under a matcher, `{"Stop": [{"matcher": …, "hooks": [{"command": …}]}]}`;
/// a flat list of handlers, each with a matcher of its own, is read as well.
pub fn hooks(value: &Value) -> (Hooks, Vec<String>) {
    let mut hooks = Hooks::new();
    let mut troubles = Vec::new();
    let Some(events) = value.as_object() else {
        return (hooks, vec!["`hooks` should be a table of events; it has no effect".to_owned()]);
    };
    for (event, groups) in events {
        if !HOOK_EVENTS.contains(&event.as_str()) {
            troubles.push(format!("the event `{}` is unknown; its hooks do not run", short(event)));
            continue;
        }
        for group in items(groups) {
            let matcher = group.get("matcher");
            let handlers = group.get("hooks").map_or(vec![group], items);
            for handler in handlers {
                match read(handler, matcher) {
                    Ok(hook) => hooks.entry(event.clone()).or_default().push(hook),
                    Err(trouble) => troubles.push(format!("a hook of `{event}` {trouble}")),
                }
            }
        }
    }
    (hooks, troubles)
}

fn read(handler: &Value, matcher: Option<&Value>) -> Result<Hook, String> {
    let kind = handler.get("type").and_then(Value::as_str);
    if let Some(kind) = kind.filter(|kind| !matches!(*kind, "command" | "http")) {
        return Err(format!("has the type `{}`, which is not run", short(kind)));
    }
    let mut handler = handler.clone();
    if let (Some(fields), Some(matcher)) = (handler.as_object_mut(), matcher) {
        fields.insert("matcher".to_owned(), matcher.clone());
    }
    // Serde's own message would quote the value.
    let hook: Option<Hook> = serde_json::from_value(handler).ok();
    hook.filter(|hook| !hook.command.is_empty() || hook.url.is_some())
        .ok_or_else(|| "cannot be read; it needs a `command` or a `url`".to_owned())
}

/// A list's items; anything else is a list of one.
fn items(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |items| items.iter().collect())
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_and_flat_lists_are_read_alike() {
        let grouped = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "a", "timeout": 5}, {"command": "b"}]}]});
        let flat = json!({"PreToolUse": [
            {"matcher": "Bash", "command": "a", "timeout": 5}, {"matcher": "Bash", "command": "b"}]});
        let (read, troubles) = hooks(&grouped);
        assert_eq!((&read, &troubles), (&hooks(&flat).0, &Vec::new()));
        assert_eq!(read["PreToolUse"].len(), 2);
        assert_eq!(read["PreToolUse"][0].matcher.as_deref(), Some("Bash"));
        assert_eq!(read["PreToolUse"][0].timeout_s, Some(5.0));
    }

    #[test]
    fn what_cannot_run_is_told_and_the_rest_is_kept() {
        let (read, troubles) = hooks(&json!({
            "Stop": [{"hooks": [{"command": 5}, {"command": "ok"}, {"type": "prompt", "prompt": "x"}]}],
            "Sotp": [{"command": "x"}],
        }));
        assert_eq!(read.keys().collect::<Vec<_>>(), ["Stop"]);
        assert_eq!(read["Stop"].len(), 1);
        assert_eq!(troubles.len(), 3, "{troubles:?}");
        for odd in [json!(null), json!([]), json!("x"), json!({"Stop": 5}), json!({"Stop": {}})] {
            assert!(hooks(&odd).0.is_empty(), "{odd}");
        }
    }
}
