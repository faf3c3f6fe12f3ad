//! `web_search`: pages by words. Offered to the researcher only.

use std::fmt::Write as _;

use base::Origin;
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::lenient;
use crate::search::counted;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::web::engine::{Found, RESULT_LIMIT};
use crate::web::{TIMEOUT, WebError, frame};
use crate::workspace::{ToolCtx, Workspace};

/// Results given unless a call says otherwise.
const USUAL: u64 = 10;
/// Characters of a query: engines refuse longer ones.
const QUERY_CHARS: usize = 400;
/// Characters shown of a title and of a snippet.
const TITLE_CHARS: usize = 200;
const SNIPPET_CHARS: usize = 500;

/// Search the web. Gives titles, addresses and snippets; read a page with `web_fetch`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// A few words.
    query: String,
    /// Default 10, at most 20.
    #[serde(default, deserialize_with = "lenient::number")]
    max_results: Option<u64>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct WebSearch;

impl Tool for WebSearch {
    const NAME: &'static str = "web_search";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.query.clone()
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Fetch(workspace.web.search_address(&query(input)?)?)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let query = query(&input)?;
        let count = input.max_results.unwrap_or(USUAL).clamp(1, RESULT_LIMIT as u64);
        let count = usize::try_from(count).unwrap_or(RESULT_LIMIT);
        let searching = tokio::time::timeout(TIMEOUT, ctx.workspace.web.search(&query, count));
        let found = match ctx.cancel.run_until_cancelled(searching).await {
            Some(Ok(found)) => found?,
            Some(Err(_)) => {
                let host = "the search engine".to_owned();
                return Err(WebError::Slow { host, seconds: TIMEOUT.as_secs() }.into());
            }
            None => return Err(ToolError::Cancelled),
        };
        let title = format!("{query}: {}", counted(found.hits.len(), "result"));
        Ok(Output::text(told(&found, &query)).from(Origin::Web).with_title(title))
    }
}

fn query(input: &Input) -> Result<String, ToolError> {
    let words: Vec<&str> = input.query.split_whitespace().collect();
    let query: String = words.join(" ").chars().take(QUERY_CHARS).collect();
    if query.is_empty() {
        return Err(ToolError::Arguments("`query` is empty; write a few words".to_owned()));
    }
    Ok(query)
}

fn told(found: &Found, query: &str) -> String {
    let (engine, query) = (found.engine, frame::attribute(query));
    if found.hits.is_empty() {
        return format!("{engine} found nothing for \"{query}\"; try fewer or other words.\n");
    }
    let mut text = format!("<search_results engine=\"{engine}\" query=\"{query}\">\n");
    for (index, hit) in found.hits.iter().enumerate() {
        let title = frame::line(&hit.title, TITLE_CHARS);
        let url = frame::line(hit.url.as_str(), 2_000);
        let _fits = writeln!(text, "{}. {title}\n   {url}", index + 1);
        let snippet = frame::line(&hit.snippet, SNIPPET_CHARS);
        if !snippet.is_empty() {
            let _fits = writeln!(text, "   {snippet}");
        }
    }
    text.push_str("</search_results>\n");
    text
}
