//! What the revision of 2025-11-25 says of tasks, put where rmcp keeps it: rmcp knows only the later way, and
//! drops the rest, or takes a task for the answer to a call.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// Where the way a tool is run stands in its entry, and for rmcp in what goes with it.
pub(in crate::mcp) const EXECUTION: &str = "execution";

/// A message as it came, or with what would be lost in another place.
pub(super) fn put_right(message: &[u8]) -> Cow<'_, [u8]> {
    let text = std::str::from_utf8(message).unwrap_or_default();
    if !text.contains("\"taskId\"") && !text.contains("\"taskSupport\"") {
        return Cow::Borrowed(message);
    }
    let righted = serde_json::from_str(text).ok().and_then(righted);
    let bytes = righted.and_then(|message| serde_json::to_vec(&message).ok());
    bytes.map_or(Cow::Borrowed(message), Cow::Owned)
}

/// The message put right; none where it is right as it is.
fn righted(mut message: Value) -> Option<Value> {
    let result = message.get_mut("result")?.as_object_mut()?;
    if let Some(tools) = result.get_mut("tools").and_then(Value::as_array_mut) {
        tools.iter_mut().filter_map(Value::as_object_mut).for_each(keep_execution);
        return Some(message);
    }
    if result.contains_key("resultType") {
        return None;
    }
    let begun = result.get("task").and_then(Value::as_object).unwrap_or(result);
    let is_task = begun.get("taskId").is_some_and(Value::is_string);
    let task = is_task.then(|| begun.clone())?;
    message["result"] = json!({ "task": task });
    Some(message)
}

fn keep_execution(tool: &mut Map<String, Value>) {
    let Some(execution) = tool.remove(EXECUTION) else { return };
    let meta = tool.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(EXECUTION.to_owned(), execution);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(message: &Value) -> Value {
        serde_json::from_slice(&put_right(message.to_string().as_bytes())).unwrap()
    }

    #[test]
    fn what_rmcp_would_drop_is_put_where_it_keeps_it() {
        let task = json!({ "taskId": "1", "status": "completed", "pollInterval": 5 });
        let with_meta = json!({ "taskId": "1", "status": "completed", "_meta": {} });
        for (result, expected) in [
            (task.clone(), json!({ "task": task })),
            (json!({ "task": task, "_meta": { "a": 1 } }), json!({ "task": task })),
            (with_meta.clone(), json!({ "task": with_meta })),
            (
                json!({ "tools": [{ "name": "a", "execution": { "taskSupport": "required" } }, 5] }),
                json!({ "tools": [
                    { "name": "a", "_meta": { "execution": { "taskSupport": "required" } } }, 5,
                ] }),
            ),
        ] {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
            assert_eq!(right(&message)["result"], expected);
        }
    }

    #[test]
    fn everything_else_stays_as_it_came() {
        for result in [
            json!({ "resultType": "task", "taskId": "1", "status": "working" }),
            json!({ "content": [{ "type": "text", "text": "\"taskId\" \"taskSupport\"" }] }),
            json!({ "content": [], "structuredContent": { "taskId": "1", "status": "done" } }),
            json!({ "task": { "taskId": 5 } }),
            json!(["taskId"]),
        ] {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
            assert_eq!(right(&message), message);
        }
        for garbage in [&b"{\"taskId\""[..], b"\xff\"taskId\"", b""] {
            assert_eq!(put_right(garbage), garbage);
        }
    }
}
