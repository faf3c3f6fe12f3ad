//! `fetch`: a page as text.

use base::Origin;
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Effect, Output, Tool, ToolError};
use crate::web::cache::Cache;
use crate::web::excerpt::excerpt;
use crate::web::page::Format;
use crate::web::readable::rendered;
use crate::web::{self, TIMEOUT};
use crate::workspace::{ToolCtx, Workspace};

/// Longest time a call may ask for.
const TIMEOUT_LIMIT_S: u64 = 120;

/// Fetch a web page and read it as Markdown. For files, use download.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The address.
    url: String,
    /// Default markdown.
    #[serde(default)]
    format: Format,
    /// Models need not know of it; some send it.
    #[schemars(skip)]
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
        let workspace = &ctx.workspace;
        let cache = Cache::new(workspace.cache.join("fetch"), workspace.clock.clone());
        let load = workspace.web.load(&url, &cache);
        let answer = web::within(ctx, &url, time, load).await?;
        let title = web::host(&answer.head.url);
        let moved = (answer.head.url != url).then(|| format!("(from {})\n", answer.head.url));
        let text = rendered(answer, input.format, &ctx.cancel).await?.text;
        let text = excerpt(moved.unwrap_or_default() + &text, ctx);
        Ok(Output::text(text).from(Origin::Web).with_title(title))
    }
}
