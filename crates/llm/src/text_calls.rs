//! Tool calls written as text, for models that have no others.
//!
//! [`prompt`] tells the model how to call, [`call_text`] and [`result_text`] write past calls the way
//! it was told, and [`Splitter`] takes calls out of what it says: in the form we asked for, or in
//! whichever form it was trained on. The Chat wire uses all of it where a quirk says so.

mod formats;
mod splitter;
#[cfg(test)]
mod tests;

use base::transcript::{Call, Mended};
use serde_json::json;

use crate::request::{ToolChoice, ToolSpec};

pub use splitter::{Splitter, Spoken};

/// The tools and how to call them, to stand at the end of the system prompt. None without tools.
pub fn prompt(tools: &[ToolSpec], choice: &ToolChoice) -> Option<String> {
    let duty = match choice {
        ToolChoice::Never => return None,
        ToolChoice::Auto => "Call a tool when you need it; otherwise just answer.".to_owned(),
        ToolChoice::Required => "Your next answer must call at least one tool.".to_owned(),
        ToolChoice::Named(name) => format!("Your next answer must call the tool `{name}`."),
    };
    if tools.is_empty() {
        return None;
    }
    let list: Vec<String> = tools.iter().map(tool_line).collect();
    Some(format!(
        "# Tools\n\n\
         To call a tool, write one line of this form, the object being valid JSON:\n\
         <tool_call>{{\"name\": \"<tool>\", \"arguments\": {{…}}}}</tool_call>\n\
         Write one such line for each call, then stop; the results come back inside <tool_result> tags. \
         Never write a <tool_result> yourself. {duty}\n\n\
         The tools, one JSON object a line, `parameters` being the JSON Schema of `arguments`:\n{}",
        list.join("\n")
    ))
}

/// A past call, as the model would have written it.
pub fn call_text(call: &Call) -> String {
    let text = match &call.input.mended {
        Some(Mended::Broken(original)) => {
            format!("{{\"name\": {}, \"arguments\": {original}}}", json!(call.name))
        }
        Some(Mended::Repaired(_)) | None => {
            json!({"name": call.name, "arguments": call.input.value}).to_string()
        }
    };
    format!("<tool_call>{text}</tool_call>")
}

/// A past result, as the model was told it would come.
pub fn result_text(name: &str, text: &str, failed: bool) -> String {
    let state = if failed { " failed=\"true\"" } else { "" };
    format!("<tool_result name=\"{name}\"{state}>\n{text}\n</tool_result>")
}

fn tool_line(tool: &ToolSpec) -> String {
    let ToolSpec { name, description, schema } = tool;
    json!({"name": name, "description": description, "parameters": schema}).to_string()
}
