//! An answer as text that a model can read, whatever kind of text it is.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::cache::Answer;
use super::decode::{self, Kind};
use super::load::BODY_LIMIT;
use super::page::{self, Format};
use crate::reading::{Part, document};
use crate::search::grouped;
use crate::tool::ToolError;

/// Time to turn a page into text; pages that take longer are meant to.
const RENDER_TIME: Duration = Duration::from_secs(20);
/// Pages read of a document.
const PDF_PAGES: usize = 200;

/// What is read of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Readable {
    /// What it calls itself; empty if it has no name.
    pub(crate) title: String,
    /// Its text.
    pub(crate) text: String,
}

/// The body as text, made aside: pages are large, and some are made to take long.
pub(crate) async fn rendered(
    answer: Answer,
    format: Format,
    cancel: &CancellationToken,
) -> Result<Readable, ToolError> {
    let stop = cancel.child_token();
    let _ends_with_the_call = stop.clone().drop_guard();
    let making = tokio::task::spawn_blocking(move || readable(&answer, format, &stop));
    let making = tokio::time::timeout(RENDER_TIME, making);
    match cancel.run_until_cancelled(making).await {
        Some(Ok(Ok(text))) => text.map_err(ToolError::Refused),
        Some(Ok(Err(_)) | Err(_)) => {
            Err(ToolError::Refused("the page could not be turned into text".to_owned()))
        }
        None => Err(ToolError::Cancelled),
    }
}

fn readable(answer: &Answer, format: Format, stop: &CancellationToken) -> Result<Readable, String> {
    let head = &answer.head;
    let content_type = head.content_type.as_deref();
    let told = decode::told_kind(content_type);
    let kind = if told == Some(Kind::Binary) {
        Kind::Binary
    } else {
        decode::kind(content_type, &answer.body)
    };
    let text = || decode::text(content_type, kind, &answer.body);
    let (title, text) = match kind {
        Kind::Html => {
            let page = page::render(&text(), &head.url, format);
            (page.title, page.text)
        }
        Kind::Json => (String::new(), pretty(text())),
        Kind::Text
            if content_type.is_some_and(|kind| decode::media_type(kind) == "text/markdown") =>
        {
            (String::new(), without_comments(&text()))
        }
        Kind::Text => (String::new(), text()),
        Kind::Pdf if head.cut => {
            let limit = grouped(BODY_LIMIT);
            return Err(format!("{} is a PDF of more than {limit} bytes; too large", head.url));
        }
        Kind::Pdf => {
            let part = Part { first: 1, count: Some(PDF_PAGES) };
            let shown = document::show(&answer.body, head.url.as_str(), part, stop);
            (String::new(), shown.map_err(|error| error.to_string())?)
        }
        Kind::Binary => {
            let what = content_type.map_or("a binary file".to_owned(), decode::media_type);
            return Err(format!("{} is {what}, not text; save it with download", head.url));
        }
    };
    let text = if text.trim().is_empty() {
        "(the page has no text)\n".to_owned()
    } else if head.cut {
        let limit = grouped(BODY_LIMIT);
        format!("{text}\n(only the first {limit} bytes were read)\n")
    } else {
        text
    };
    Ok(Readable { title, text })
}

/// Markdown without what is not shown of it.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once("-->").map_or("", |(_, after)| after));
    }
    out
}

fn pretty(text: String) -> String {
    let value = serde_json::from_str::<serde_json::Value>(&text);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or(text)
}
