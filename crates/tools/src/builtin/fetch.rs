//! `fetch`: a page as text.

use std::time::Duration;

use base::Origin;
use guard::Action;
use reqwest::Response;
use reqwest::header::ACCEPT;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use crate::search::grouped;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::web::cache::{Answer, Cache, Head};
use crate::web::decode::{self, Kind};
use crate::web::excerpt::excerpt;
use crate::web::page::{self, Format};
use crate::web::{self, TIMEOUT, Web, WebError};
use crate::workspace::{ToolCtx, Workspace};

/// Bytes read of a body, decompressed.
const BODY_LIMIT: usize = 5 << 20;
/// Longest time a call may ask for.
const TIMEOUT_LIMIT_S: u64 = 120;
/// Time to turn a page into text; pages that take longer are meant to.
const RENDER_TIME: Duration = Duration::from_secs(20);
/// What is asked for; the same for all formats, so that the cache serves all.
const ACCEPTED: &str =
    "text/markdown, text/html;q=0.9, application/json;q=0.9, text/plain;q=0.8, */*;q=0.5";

/// Fetch a web page and read it as Markdown. For files, use download.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The address.
    url: String,
    /// Default markdown.
    #[serde(default)]
    format: Format,
    /// Seconds, at most 120.
    timeout: Option<u64>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Fetch;

impl Tool for Fetch {
    const NAME: &'static str = "fetch";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.url.clone()
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Fetch(workspace.web.address(&input.url)?)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let url = ctx.workspace.web.address(&input.url)?;
        let time = web::time(input.timeout, TIMEOUT, TIMEOUT_LIMIT_S);
        let answer = web::within(ctx, &url, time, load(&ctx.workspace, &url)).await?;
        let title = web::host(&answer.head.url);
        let moved = (answer.head.url != url).then(|| format!("(from {})\n", answer.head.url));
        let text = rendered(answer, input.format, ctx).await?;
        let text = excerpt(moved.unwrap_or_default() + &text, ctx);
        Ok(Output::text(text).from(Origin::Web).with_title(title))
    }
}

/// The answer to a request: kept, asked for again, or new.
async fn load(workspace: &Workspace, url: &Url) -> Result<Answer, WebError> {
    let cache = Cache::new(workspace.cache.join("fetch"), workspace.clock.clone());
    let kept = {
        let (cache, url) = (cache.clone(), url.clone());
        tokio::task::spawn_blocking(move || cache.get(&url)).await.ok().flatten()
    };
    if let Some(kept) = &kept
        && kept.head.is_fresh(cache.now())
    {
        return Ok(kept.clone());
    }
    let answer = ask(&workspace.web, &cache, url, kept).await?;
    let store = answer.clone();
    let stored = tokio::task::spawn_blocking(move || cache.put(&store)).await;
    if let Ok(Err(error)) = stored {
        tracing::debug!(%error, "an answer could not be kept");
    }
    Ok(answer)
}

async fn ask(
    web: &Web,
    cache: &Cache,
    url: &Url,
    kept: Option<Answer>,
) -> Result<Answer, WebError> {
    let mut headers = web::header(ACCEPT, ACCEPTED);
    if let Some(kept) = &kept {
        headers.extend(kept.head.conditions());
    }
    let response = web.get(url, headers).await?;
    let mut head = Head::new(url, response.url(), response.headers(), cache.now());
    if let (304, Some(kept)) = (response.status().as_u16(), kept) {
        return Ok(Answer { head: kept.head.renewed(&head), body: kept.body });
    }
    web::check_status(&response)?;
    // A film is not read to find out that it is none of our business.
    let limit = match decode::told_kind(head.content_type.as_deref()) {
        Some(Kind::Binary) => 0,
        Some(Kind::Html | Kind::Json | Kind::Text) | None => BODY_LIMIT,
    };
    let (body, cut) = read(response, limit).await?;
    head.cut = cut;
    Ok(Answer { head, body })
}

/// Reads a body up to `limit` bytes, and says whether there is more.
async fn read(mut response: Response, limit: usize) -> Result<(Vec<u8>, bool), WebError> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|error| web::failed(response.url(), &error))?;
        let Some(chunk) = chunk else { return Ok((body, false)) };
        let room = limit - body.len();
        if chunk.len() > room {
            body.extend_from_slice(&chunk[..room]);
            return Ok((body, true));
        }
        body.extend_from_slice(&chunk);
    }
}

/// The body as text, made aside: pages are large, and some are made to take long.
async fn rendered(answer: Answer, format: Format, ctx: &ToolCtx) -> Result<String, ToolError> {
    let making = tokio::task::spawn_blocking(move || readable(&answer, format));
    let making = tokio::time::timeout(RENDER_TIME, making);
    match ctx.cancel.run_until_cancelled(making).await {
        Some(Ok(Ok(text))) => text.map_err(ToolError::Refused),
        Some(Ok(Err(_)) | Err(_)) => Err(ToolError::Refused(
            "the page could not be turned into text; fetch it with format html".to_owned(),
        )),
        None => Err(ToolError::Cancelled),
    }
}

fn readable(answer: &Answer, format: Format) -> Result<String, String> {
    let head = &answer.head;
    let content_type = head.content_type.as_deref();
    let told = decode::told_kind(content_type);
    let kind = if told == Some(Kind::Binary) {
        Kind::Binary
    } else {
        decode::kind(content_type, &answer.body)
    };
    let text = || decode::text(content_type, kind, &answer.body);
    let text = match kind {
        Kind::Html => page::render(&text(), &head.url, format),
        Kind::Json => pretty(text()),
        Kind::Text => text(),
        Kind::Binary => {
            let what = content_type.map_or("a binary file".to_owned(), decode::media_type);
            return Err(format!("{} is {what}, not text; save it with download", head.url));
        }
    };
    if text.trim().is_empty() {
        return Ok("(the page has no text)\n".to_owned());
    }
    if head.cut {
        let limit = grouped(BODY_LIMIT);
        return Ok(format!("{text}\n(only the first {limit} bytes were read)\n"));
    }
    Ok(text)
}

fn pretty(text: String) -> String {
    let value = serde_json::from_str::<serde_json::Value>(&text);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or(text)
}
