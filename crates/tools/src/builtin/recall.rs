//! `recall`: what was shortened or taken out of the context, in full.

use std::fmt::Write;

use base::transcript::{CallResult, File, Part, PartBody, Piece};
use base::{Entry, Origin};
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Most bytes of one answer.
const PAGE_BYTES: usize = 20_000;
/// Fewest digits that name an entry.
const ID_DIGITS: usize = 6;
/// What the list shows of each entry, in characters.
const PREVIEW_CHARS: usize = 80;

/// Get back what was shortened or taken out of this conversation.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// Id from a note; leave out for a list.
    #[serde(default)]
    id: Option<String>,
    /// Where to go on.
    #[serde(default)]
    offset: Option<usize>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Recall;

impl Tool for Recall {
    const NAME: &'static str = "recall";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.id.clone().unwrap_or_else(|| "list".to_owned())
    }

    fn actions(&self, _: &Input, _: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Inner])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let workspace = &ctx.workspace;
        let reading = workspace.store.branch(workspace.session).into_future();
        let branch = ctx.cancel.run_until_cancelled(reading).await.ok_or(ToolError::Cancelled)?;
        let unreadable = |error| ToolError::Refused(format!("the session cannot be read: {error}"));
        let branch = branch.map_err(unreadable)?;
        let wanted = input.id.as_deref().map(str::trim).filter(|id| !id.is_empty());
        let found = match wanted {
            Some(id) => find(&branch, id)?,
            None => list(&branch),
        };
        let text = page(&found.text, input.offset.unwrap_or(0))?;
        Ok(Output { files: found.files, ..Output::text(text).from(found.origin) })
    }
}

/// Something that was said or came out earlier.
struct Found {
    text: String,
    files: Vec<File>,
    origin: Origin,
}

/// What an id stands for: the newest result of that call, or the entry whose id ends so.
fn find(branch: &[Entry], id: &str) -> Result<Found, ToolError> {
    let results = branch.iter().rev().flat_map(|entry| entry.kind.parts().iter().rev());
    let of_call = |part: &&Part| matches!(&part.body, PartBody::Result(r) if r.call.as_str() == id);
    if let Some(part) = results.into_iter().find(of_call) {
        return Ok(gathered(std::slice::from_ref(part)));
    }
    let digits = id.to_ascii_lowercase();
    let ends_so = |entry: &&Entry| entry.id.to_string().ends_with(&digits);
    let has_words = |entry: &&Entry| !entry.kind.parts().is_empty();
    let mut entries = branch.iter().filter(has_words).filter(ends_so);
    match (entries.next(), entries.next()) {
        (Some(entry), None) if digits.len() >= ID_DIGITS => Ok(gathered(entry.kind.parts())),
        (Some(_), _) => Err(ToolError::Refused(format!(
            "{id:?} is not clear; use all eight digits of the list"
        ))),
        (None, _) => Err(ToolError::Refused(format!(
            "nothing has the id {id:?}; call recall without an id for a list"
        ))),
    }
}

/// Every message, one line each.
fn list(branch: &[Entry]) -> Found {
    let mut text = String::new();
    for entry in branch {
        let Some(who) = entry.kind.speaker() else { continue };
        let id = entry.id.to_string();
        let said = gathered(entry.kind.parts()).text;
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let preview: String = words.chars().take(PREVIEW_CHARS).collect();
        // Writing to a string cannot fail.
        writeln!(text, "{} {who}: {preview}", &id[id.len() - 8..]).ok();
    }
    Found {
        text,
        files: Vec::new(),
        origin: foreign(branch.iter().flat_map(|entry| entry.kind.parts())),
    }
}

/// Parts as text, with the files that results hold.
fn gathered(parts: &[Part]) -> Found {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        match &part.body {
            PartBody::Text { text } => texts.push(text.clone()),
            PartBody::Call(call) => {
                let input = serde_json::to_string(&call.input.value).unwrap_or_default();
                texts.push(format!("calls {} {input}", call.name));
            }
            PartBody::Result(result) => gather_result(result, &mut texts, &mut files),
            PartBody::File(file) => files.push(file.clone()),
            PartBody::Reasoning { .. } | PartBody::Opaque { .. } => {}
        }
    }
    Found { text: texts.join("\n"), files, origin: foreign(parts) }
}

fn gather_result(result: &CallResult, texts: &mut Vec<String>, files: &mut Vec<File>) {
    for piece in &result.pieces {
        match piece {
            Piece::Text { text } => texts.push(text.clone()),
            Piece::File(file) => files.push(file.clone()),
        }
    }
}

/// Where the least trusted of the parts came from: what was tainted stays tainted when it comes back.
fn foreign<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Origin {
    let rank = |origin: &Origin| match origin {
        Origin::User | Origin::Assistant | Origin::System => 0,
        Origin::Workspace | Origin::Skill(_) | Origin::Memory => 1,
        Origin::Shell => 2,
        Origin::Channel(_) => 3,
        Origin::Mcp(_) | Origin::Web => 4,
    };
    let worst = parts.into_iter().map(|part| &part.origin).max_by_key(|origin| rank(origin));
    worst.filter(|origin| rank(origin) > 0).cloned().unwrap_or(Origin::System)
}

/// One page of a text, and where the next one begins.
fn page(text: &str, offset: usize) -> Result<String, ToolError> {
    let whole = text.len();
    if offset > 0 && offset >= whole {
        return Err(ToolError::Refused(format!(
            "there are only {whole} bytes; use a smaller offset"
        )));
    }
    let start = boundary(text, offset);
    let end = boundary(text, start.saturating_add(PAGE_BYTES));
    let shown = &text[start..end];
    if end < whole {
        return Ok(format!("{shown}\n[bytes {start} to {end} of {whole}; offset {end} goes on]"));
    }
    Ok(if shown.is_empty() { "It has no text.".to_owned() } else { shown.to_owned() })
}

/// The greatest place up to `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
