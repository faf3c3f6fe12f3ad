//! `agentic_fetch`: a question that a sub-agent answers from the web, locked into a folder of its own.

use std::fmt::Write as _;

use base::{Block, Origin};
use guard::Action;
use guard::room::Room;
use schemars::JsonSchema;
use serde::Deserialize;
use settings::definition::agent::Isolation;

use crate::tool::{Effect, Output, Tool, ToolError};
use crate::web::visit::{Source, Visitor};
use crate::web::{Web, frame};
use crate::workspace::{Order, Terms, ToolCtx, Who, Workspace};

/// Most pages that are named as sources.
const SOURCES: usize = 20;

/// Have a question answered from the web, with sources, by a sub-agent that sees nothing of this session.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    prompt: String,
    /// Page to begin with.
    #[serde(default)]
    url: Option<String>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct AgenticFetch;

impl Tool for AgenticFetch {
    const NAME: &'static str = "agentic_fetch";
    const EFFECT: Effect = Effect::Apart;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let line = input.prompt.trim().lines().next().unwrap_or_default();
        let question: String = line.chars().take(80).collect();
        match input.address() {
            Some(url) => format!("{url}: {question}"),
            None => question,
        }
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        if input.prompt.trim().is_empty() {
            return Err(ToolError::Arguments("the prompt is empty".to_owned()));
        }
        let first = match input.address() {
            Some(url) => workspace.web.address(url)?,
            None => workspace.web.search_address(input.prompt.trim())?,
        };
        Ok(vec![Action::Browse(first)])
    }

    async fn preview(&self, input: &Input, _ctx: &ToolCtx) -> Option<Block> {
        let text = match input.address() {
            Some(url) => format!("{}\n\nFirst page: {url}", input.prompt),
            None => input.prompt.clone(),
        };
        Some(Block::Text { text })
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let title = self.title(&input);
        let temp = ctx.workspace.env.temporary();
        let private =
            |source| ToolError::Io { what: "make a private folder in", path: temp.clone(), source };
        let room = Room::new(&temp).map_err(private)?;
        let web = ctx.workspace.web.anew();
        let prompt = match input.address() {
            Some(url) => begun(&input.prompt, url, &room, &web, ctx).await?,
            None => input.prompt.clone(),
        };
        let order = Order {
            who: Who::Researcher { room: room.folder().to_owned(), web: web.clone() },
            prompt,
            title: title.clone(),
            model: None,
            background: Some(false),
            isolation: Isolation::None,
            resume: None,
            terms: Terms::default(),
        };
        let report = match ctx.workspace.spawner.spawn(order, ctx).await {
            // Its first page may speak through it, too.
            Err(ToolError::Told { text, files, .. }) => {
                return Err(ToolError::Told { text, origin: Origin::Web, files });
            }
            reported => reported?,
        };
        let text = with_sources(&report.text, &web.sources());
        Ok(Output::text(text).from(Origin::Web).with_title(title))
    }
}

impl Input {
    fn address(&self) -> Option<&str> {
        self.url.as_deref().map(str::trim).filter(|url| !url.is_empty())
    }
}

/// The question with the page it begins with.
async fn begun(
    prompt: &str,
    url: &str,
    room: &Room,
    web: &Web,
    ctx: &ToolCtx,
) -> Result<String, ToolError> {
    let private = |source| ToolError::Io { what: "enter", path: guard::room::SHOWN.into(), source };
    let visitor = Visitor {
        web,
        cache: &ctx.workspace.cache,
        fence: &room.fence().map_err(private)?,
        clock: &ctx.workspace.clock,
        cancel: &ctx.cancel,
    };
    let (visited, _) = visitor.visit(url).await?;
    Ok(format!("{prompt}\n\nThe page to begin with:\n{}", visited.text))
}

/// The answer with the pages that were really fetched, whatever it says of its sources itself.
fn with_sources(answer: &str, sources: &[Source]) -> String {
    let mut text = without_sources(answer);
    if sources.is_empty() {
        text.push_str("\n\nSources: none; no page was fetched.");
        return text;
    }
    text.push_str("\n\nSources:");
    for source in sources.iter().take(SOURCES) {
        let title = frame::line(&source.title, 100);
        let _fits = write!(text, "\n- {title}: {}", source.url);
    }
    if let Some(more) = sources.len().checked_sub(SOURCES).filter(|more| *more > 0) {
        let _fits = write!(text, "\n- and {more} more");
    }
    text
}

/// The answer without the lists of sources it has itself, wherever they stand.
fn without_sources(answer: &str) -> String {
    let is_heading = |line: &str| {
        let marks = ['#', '*', ' ', '_'];
        let plain = line.trim().trim_start_matches(marks).to_ascii_lowercase();
        let rest = plain.strip_prefix("sources").map(|rest| rest.trim_matches(marks));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let is_entry = |line: &str| {
        let line = line.trim();
        let is_item = line.starts_with(['-', '*', '•', '[', '<']);
        is_item
            || line.is_empty()
            || line.contains("://")
            || line.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut in_list = false;
    for line in answer.lines() {
        in_list = is_heading(line) || in_list && is_entry(line);
        if !in_list {
            kept.push(line);
        }
    }
    kept.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(url: &str) -> Source {
        Source { url: url.parse().unwrap(), title: "A page".to_owned() }
    }

    #[test]
    fn only_pages_that_were_fetched_are_sources() {
        let fetched = [source("https://a.example/x")];
        for answer in [
            "Yes.",
            "Yes.\n\nSources:\n- https://made.up/",
            "Yes.\n\n## Sources\nhttps://made.up/",
            "Yes.\n\n**Sources:**\n1. [x](https://made.up/)",
            "Yes.\n\nSources: https://made.up/, https://made.up/2",
            "Yes.\n\nSources:\n- https://made.up/\n\n### Sources\n- https://made.up/2",
        ] {
            let text = with_sources(answer, &fetched);
            assert_eq!(text, "Yes.\n\nSources:\n- A page: https://a.example/x", "{answer}");
        }
        assert!(with_sources("Yes.", &[]).ends_with("no page was fetched."));
        let text =
            with_sources("## Sources\n- https://made.up/\n\n## Answer\nSources say yes.", &fetched);
        assert!(text.starts_with("## Answer\nSources say yes.\n\nSources:\n- A page"), "{text}");
    }
}
