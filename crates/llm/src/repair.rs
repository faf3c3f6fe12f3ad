//! Almost-JSON arguments to JSON.

use base::transcript::{CallInput, Mended};
use serde_json::{Map, Value};

/// Reads a call's arguments. No text at all means no arguments.
pub fn call_input(text: &str) -> CallInput {
    if text.trim().is_empty() {
        return CallInput::default();
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(value)) => CallInput::sound(value),
        Ok(_) | Err(_) => {
            CallInput { value: Map::new(), mended: Some(Mended::Broken(text.to_owned())) }
        }
    }
}
