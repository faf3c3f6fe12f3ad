//! `grep`: lines by a regular expression.

use std::time::Duration;

use guard::{Action, Spot};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::lines::{Line, Meaning, Query, Role, Span};
use crate::search::pattern::Patterns;
use crate::search::sweep::{Found, Search};
use crate::search::walk::Root;
use crate::search::{RESULT_LIMIT, aside, counted, grouped};
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Most lines of context around a match.
const CONTEXT_LIMIT: u32 = 20;
/// Characters of output beyond which no more lines are shown.
const TEXT_LIMIT: usize = 30_000;

/// Search file contents with a regular expression; at most 100 matches. Ignored and binary files are left
/// out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// Regular expression (Rust syntax).
    pattern: String,
    /// File or folder to search.
    path: Option<String>,
    /// Only files like `*.rs`.
    include: Option<String>,
    /// Take the pattern as plain text.
    literal_text: Option<bool>,
    /// Ignore case.
    case_insensitive: Option<bool>,
    /// Lines to show around matches.
    context: Option<u32>,
    /// Let matches span lines.
    multiline: Option<bool>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Grep;

impl Tool for Grep {
    const NAME: &'static str = "grep";
    const EFFECT: Effect = Effect::Read;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        let mut title = input.pattern.clone();
        for (word, value) in [(" in ", &input.path), (" for ", &input.include)] {
            if let Some(value) = value {
                title.push_str(word);
                title.push_str(value);
            }
        }
        title
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Read(place(input, workspace)?)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let spot = place(&input, &ctx.workspace)?;
        if let Err(source) = std::fs::symlink_metadata(&spot.real) {
            return Err(ToolError::Io { what: "search", path: spot.asked, source });
        }
        let search = Search {
            root: Root::new(&ctx.workspace.fence, &spot),
            query: Query::new(&input.pattern, meaning(&input))?,
            include: input.include.as_deref().map(Patterns::parse).transpose()?,
            limit: RESULT_LIMIT,
            policy: ctx.policy.clone(),
        };
        let time = Duration::from_millis(ctx.workspace.limits.grep.timeout_ms);
        let (found, search, late) = aside(ctx, time, move |stop| {
            let found = search.run(stop);
            (found, search, stop.was_late())
        })
        .await?;
        let ended = Ended::of(&found, late);
        let title = summary(&found, ended);
        Ok(Output::text(told(&found, &search.root, ended)).with_title(title))
    }
}

fn place(input: &Input, workspace: &Workspace) -> Result<Spot, ToolError> {
    Ok(workspace.fence.locate(input.path.as_deref().unwrap_or("."))?)
}

fn meaning(input: &Input) -> Meaning {
    let span = match input.multiline {
        Some(true) => Span::Lines,
        Some(false) | None => Span::Line,
    };
    Meaning {
        literal: input.literal_text.unwrap_or_default(),
        any_case: input.case_insensitive.unwrap_or_default(),
        span,
        context: input.context.unwrap_or_default().min(CONTEXT_LIMIT) as usize,
    }
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// All files were seen.
    Whole,
    /// There are more matches than were wanted.
    Full,
    /// Time ran out.
    Late,
}

impl Ended {
    fn of(found: &Found, late: bool) -> Self {
        match (found.more, late) {
            (true, _) => Self::Full,
            (false, true) => Self::Late,
            (false, false) => Self::Whole,
        }
    }
}

fn summary(found: &Found, ended: Ended) -> String {
    let count = counted(found.count, "match");
    match ended {
        Ended::Full => format!("more than {count}"),
        Ended::Whole | Ended::Late => format!("{count} in {}", counted(found.files.len(), "file")),
    }
}

fn told(found: &Found, root: &Root, ended: Ended) -> String {
    let mut text = match ended {
        Ended::Full => format!(
            "Found more than {}; {} of them are below, from anywhere in the tree. \
             Narrow the pattern, `path` or `include`.\n",
            counted(found.count, "match"),
            grouped(found.count)
        ),
        Ended::Late => format!(
            "Time ran out: found {} so far. Give a narrower `path` or `include`.\n",
            summary(found, ended)
        ),
        Ended::Whole if found.count == 0 => "No matches found.\n".to_owned(),
        Ended::Whole => format!("Found {}\n", summary(found, ended)),
    };
    for (path, hits) in &found.files {
        if text.len() > TEXT_LIMIT {
            text.push_str("\n(the other files are left out: too much text)\n");
            break;
        }
        text.extend(["\n", &root.name(path), ":\n"]);
        write_lines(&mut text, &hits.lines);
    }
    if ended == Ended::Whole {
        write_left_out(&mut text, found);
    }
    text
}

fn write_lines(text: &mut String, lines: &[Line]) {
    let mut next = None;
    let with_context = lines.iter().any(|line| line.role == Role::Context);
    for line in lines {
        if with_context && next.is_some_and(|next| next != line.number) {
            text.push_str("--\n");
        }
        next = Some(line.number + 1);
        let mark = match line.role {
            Role::Match | Role::Rest => ": ",
            Role::Context => "- ",
        };
        text.extend([&line.number.to_string(), mark, &line.text, "\n"]);
        if text.len() > TEXT_LIMIT {
            text.push_str("(the rest of this file is left out: too much text)\n");
            return;
        }
    }
}

fn write_left_out(text: &mut String, found: &Found) {
    let left_out = &found.left_out;
    let silent = if found.count == 0 { left_out.binary } else { 0 };
    for (count, noun, what) in [
        (left_out.secret, "file", " with secrets not searched, like .env; name one in `path`"),
        (left_out.forbidden, "file", " not searched: a rule forbids to read them"),
        (left_out.unreadable, "file", " could not be read"),
        (silent, "binary file", " not searched"),
    ] {
        if count > 0 {
            text.extend(["(", &counted(count, noun), what, ")\n"]);
        }
    }
}
