//! A session's past, as updates: what an editor shows of a session it opens again.

use std::path::Path;

use agent_client_protocol_schema::v1::{
    ContentBlock, ImageContent, SessionUpdate, ToolCallId, ToolCallUpdate, ToolCallUpdateFields,
};
use base::transcript::{CallResult, FileSource, own_command};
use base::{Block, Entry, EntryId, EntryKind, Origin, Part, PartBody};

use super::call;
use super::tell::{self, Speaker};

/// What entries of the current branch, oldest first, show.
pub(super) fn told(entries: &[Entry], folder: &Path) -> Vec<SessionUpdate> {
    entries.iter().flat_map(|entry| of(entry, folder)).collect()
}

fn of(entry: &Entry, folder: &Path) -> Vec<SessionUpdate> {
    match &entry.kind {
        EntryKind::User { parts } => match own_command(parts) {
            Some((line, output)) => vec![tell::words(&format!("`! {line}`\n\n{output}"))],
            None => parts.iter().filter_map(|part| user(part, entry.id)).collect(),
        },
        EntryKind::Assistant { parts, .. } => {
            let told = |part: &Part| match part.as_call() {
                Some(call) => Some(tell::past_call(call, folder)),
                None => tell::said(part, entry.id),
            };
            parts.iter().filter_map(told).collect()
        }
        EntryKind::ToolResults { parts } => {
            parts.iter().filter_map(Part::as_result).flat_map(|it| result(it, folder)).collect()
        }
        EntryKind::Notice { text, .. } => vec![tell::words(text)],
        EntryKind::Compaction { .. } => {
            vec![tell::words("What came before is kept; the model reads a summary of it.")]
        }
        EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::Prefix { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Checkpoint { .. } => Vec::new(),
    }
}

/// What the user said; notes of ours beside it are not shown.
fn user(part: &Part, entry: EntryId) -> Option<SessionUpdate> {
    if part.origin == Origin::System {
        return None;
    }
    match &part.body {
        PartBody::Text { text } => Some(tell::chunk(Speaker::User, text, entry)),
        PartBody::File(file) => match &file.source {
            FileSource::Base64(data) if file.is_image() => {
                let image = ImageContent::new(data.clone(), file.media_type.clone());
                Some(tell::block(Speaker::User, ContentBlock::Image(image), entry))
            }
            FileSource::Base64(_) | FileSource::Url(_) => {
                let name = file.name.as_deref().unwrap_or(&file.media_type);
                Some(tell::chunk(Speaker::User, &format!("[{name}]"), entry))
            }
        },
        PartBody::Reasoning { .. }
        | PartBody::Call(_)
        | PartBody::Result(_)
        | PartBody::Opaque { .. } => None,
    }
}

fn result(result: &CallResult, folder: &Path) -> Vec<SessionUpdate> {
    let kind = call::kind(&result.name);
    let shown = result.shown.as_deref();
    let mut fields = ToolCallUpdateFields::new().status(tell::status(result.outcome));
    if let Some(shown) = shown {
        fields = fields.title(shown.title.clone());
    }
    let mut updates = Vec::new();
    match shown.and_then(|shown| shown.body.as_ref()) {
        Some(Block::Todos { items }) => updates.push(SessionUpdate::Plan(tell::plan(items))),
        Some(body) => {
            let (content, places) = call::shown(body, kind, folder);
            fields = fields.content(content);
            if !places.is_empty() {
                fields = fields.locations(places);
            }
        }
        None => fields = fields.content(call::pieces(&result.pieces, kind)),
    }
    let id = ToolCallId::new(result.call.as_str());
    updates.push(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)));
    updates
}
