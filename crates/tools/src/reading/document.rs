//! The text of a PDF, by pages.
//!
//! `lopdf` and not `pdf-extract`: the latter has some hundred places that panic on a file it does not
//! understand, and a panic ends the program.

use std::fmt::Write as _;

use lopdf::{Document, LoadOptions};

use tokio_util::sync::CancellationToken;

use super::{Part, SHOWN, cut};
use crate::tool::ToolError;

/// Pages shown if nobody says how many.
const USUAL: usize = 20;
/// Most that one compressed part of a document may unfold to.
const UNFOLDED: usize = 50_000_000;

/// Shows pages of a document, under the name it has for the user.
pub(crate) fn show(
    bytes: &[u8],
    name: &str,
    part: Part,
    cancel: &CancellationToken,
) -> Result<String, ToolError> {
    let options = LoadOptions { max_decompressed_size: Some(UNFOLDED), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| {
        ToolError::Refused(format!("{name} is a PDF that cannot be read: {error}"))
    })?;
    if document.is_encrypted() {
        return Ok(format!("{name} is a PDF that needs a password"));
    }
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    let all = pages.len();
    let first = part.first.max(1);
    let mut out = String::new();
    let mut shown = 0;
    for &page in pages.iter().skip(first - 1).take(part.count.unwrap_or(USUAL)) {
        if out.len() >= SHOWN || cancel.is_cancelled() {
            break;
        }
        let text = text_of(&document, page);
        let _fits = writeln!(out, "[page {page} of {all}]\n{text}");
        shown += 1;
    }
    if shown == 0 {
        return Ok(format!("{name} is a PDF of {all} pages; page {first} is past its end"));
    }
    let next = first + shown;
    if cut(&mut out, SHOWN) {
        out.push_str("… [this page goes on]\n");
    }
    if next <= all {
        let _fits = writeln!(out, "[more of {all} pages: offset {next}]");
    }
    out.truncate(out.trim_end().len());
    Ok(out)
}

fn text_of(document: &Document, page: u32) -> String {
    match document.extract_text_with_limit(&[page], UNFOLDED) {
        Ok(text) if text.trim().is_empty() => "(no text; perhaps a scan)".to_owned(),
        Ok(text) => {
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            lines.join("\n").trim().to_owned()
        }
        Err(error) => format!("(cannot be read: {error})"),
    }
}
