//! A Jupyter notebook as its cells, each with what came out of it.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Reading, SHOWN, cut};

/// Cells shown if nobody says how many.
const USUAL: usize = 200;
/// Bytes of one output that are shown.
const OUTPUT: usize = 2_000;

/// Shows cells of a notebook; none if it is not one.
pub(super) fn show(bytes: &[u8], reading: &Reading<'_>) -> Option<String> {
    let notebook: Value = serde_json::from_slice(bytes).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let first = reading.part.first.max(1);
    let mut out = String::new();
    let mut next = first;
    let wanted = cells.iter().skip(first - 1).take(reading.part.count.unwrap_or(USUAL));
    for cell in wanted {
        if out.len() >= SHOWN {
            break;
        }
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("unknown");
        let _fits = writeln!(out, "[cell {next}, {kind}]\n{}", text_at(cell, "source").trim_end());
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            let mut text = output_text(output);
            if cut(&mut text, OUTPUT) {
                text.push('…');
            }
            let _fits = writeln!(out, "[output]\n{}", text.trim_end());
        }
        next += 1;
    }
    if cut(&mut out, SHOWN) {
        out.push_str("… [this cell goes on]\n");
    }
    if next <= cells.len() {
        let _fits = writeln!(out, "[more of {} cells: offset {next}]", cells.len());
    }
    out.truncate(out.trim_end().len());
    if out.is_empty() {
        return Some(format!("{} has {} cells", reading.name, cells.len()));
    }
    Some(out)
}

/// Text that is one string or a list of lines.
fn text_at(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            String::new()
        }
    }
}

fn output_text(output: &Value) -> String {
    if output.get("output_type").and_then(Value::as_str) == Some("error") {
        return format!("{}: {}", text_at(output, "ename"), text_at(output, "evalue"));
    }
    let Some(forms) = output.get("data").and_then(Value::as_object) else {
        return text_at(output, "text");
    };
    let plain = output.get("data").map(|data| text_at(data, "text/plain")).unwrap_or_default();
    let picture = forms.keys().find(|form| form.starts_with("image/"));
    match picture {
        Some(form) => format!("({form} picture) {plain}"),
        None => plain,
    }
}
