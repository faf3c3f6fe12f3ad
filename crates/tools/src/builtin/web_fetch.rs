//! `web_fetch`: the main text of a page. Offered to the researcher only.

use base::Origin;
use guard::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{Effect, Output, Tool, ToolError};
use crate::web::visit::{Freshness, Visitor};
use crate::workspace::{ToolCtx, Workspace};

/// Read the main text of a web page, JSON or PDF. Long pages are saved as a file: use grep and view on it.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The address.
    url: String,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct WebFetch;

impl Tool for WebFetch {
    const NAME: &'static str = "web_fetch";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        input.url.clone()
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Fetch(workspace.web.address(&input.url)?)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let workspace = &ctx.workspace;
        let visitor = Visitor {
            web: &workspace.web,
            cache: &workspace.cache,
            fence: &workspace.fence,
            clock: &workspace.clock,
            cancel: &ctx.cancel,
        };
        let (visited, freshness) = visitor.visit(&input.url).await?;
        let text = match freshness {
            Freshness::New => visited.text,
            Freshness::Known => {
                format!("(fetched before in this run; the same page again)\n{}", visited.text)
            }
        };
        Ok(Output::text(text).from(Origin::Web).with_title(visited.source.title))
    }
}
