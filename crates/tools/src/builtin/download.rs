//! `download`: a file from the web, into the workspace.

use std::path::Path;
use std::time::{Duration, Instant};

use base::{Block, Origin};
use guard::{Action, Spot};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncWriteExt;

use crate::draft::one_by_one;
use crate::search::grouped;
use crate::tool::{Effect, Output, Tool, ToolError};
use crate::web::cache::make_private;
use crate::web::decode::media_type;
use crate::web::{self, WebError};
use crate::workspace::{ToolCtx, Workspace};

/// Largest file that is saved.
const SIZE_LIMIT: u64 = 100 << 20;
const TIMEOUT: Duration = Duration::from_mins(5);
/// Longest time a call may ask for.
const TIMEOUT_LIMIT_S: u64 = 600;
/// Time between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

/// Save a file from the web, at most 100 MB.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The address.
    url: String,
    /// Where to save it.
    file_path: String,
    /// Replace a file you have not read.
    overwrite: Option<bool>,
    /// Models need not know of it; some send it.
    #[schemars(skip)]
    timeout: Option<u64>,
}

/// The tool; it holds no state.
#[derive(Debug)]
pub(super) struct Download;

impl Tool for Download {
    const NAME: &'static str = "download";
    const EFFECT: Effect = Effect::Write;
    type Input = Input;

    fn title(&self, input: &Input) -> String {
        format!("{} to {}", input.url, input.file_path)
    }

    fn actions(&self, input: &Input, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
        let spot = workspace.fence.locate(&input.file_path)?;
        Ok(vec![Action::Fetch(workspace.web.address(&input.url)?), Action::Edit(spot)])
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<Output, ToolError> {
        let workspace = &ctx.workspace;
        let url = workspace.web.address(&input.url)?;
        let spot = workspace.fence.locate(&input.file_path)?;
        check_target(&input, &spot, workspace).await?;
        let scratch = scratch(&workspace.cache)?;
        let time = web::time(input.timeout, TIMEOUT, TIMEOUT_LIMIT_S);
        let getting = async {
            let response = workspace.web.get(&url, HeaderMap::new()).await?;
            web::check_status(&response)?;
            save(response, scratch, ctx).await
        };
        let saved = web::within(ctx, &url, time, getting).await??;
        let name = workspace.fence.name(&spot);
        place(saved.file, spot, ctx).await?;
        let text = format!("Saved {} bytes ({}) to {name}\n", grouped(saved.size), saved.kind);
        Ok(Output::text(text)
            .from(Origin::Web)
            .with_title(format!("{name} ({} bytes)", saved.size)))
    }
}

/// Refuses to replace what the model does not know.
async fn check_target(input: &Input, spot: &Spot, workspace: &Workspace) -> Result<(), ToolError> {
    let name = workspace.fence.name(spot);
    match std::fs::symlink_metadata(&spot.real) {
        Err(_) => return Ok(()),
        Ok(data) if data.is_dir() => {
            return Err(ToolError::Refused(format!("{name} is a folder; name a file in it")));
        }
        Ok(_) => {}
    }
    let path = spot.real.display().to_string();
    let seen = workspace.store.read_of(workspace.session, path).await.ok().flatten().is_some();
    if seen || input.overwrite == Some(true) {
        return Ok(());
    }
    Err(ToolError::Refused(format!(
        "{name} exists and was not read; choose another name, or set `overwrite`"
    )))
}

/// A file without a name, that vanishes with us.
fn scratch(cache: &Path) -> Result<std::fs::File, ToolError> {
    let made = make_private(cache).and_then(|()| tempfile::tempfile_in(cache));
    made.map_err(|source| ToolError::Io { what: "write to", path: cache.to_owned(), source })
}

struct Saved {
    file: std::fs::File,
    size: usize,
    kind: String,
}

async fn save(
    mut response: Response,
    scratch: std::fs::File,
    ctx: &ToolCtx,
) -> Result<Result<Saved, ToolError>, WebError> {
    let expected = response.content_length();
    let too_large = || {
        let limit = SIZE_LIMIT >> 20;
        let text = format!("the file is larger than {limit} MB; ask the user to fetch it");
        Ok(Err(ToolError::Refused(text)))
    };
    if expected.is_some_and(|size| size > SIZE_LIMIT) {
        return too_large();
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.map_or("unknown type".to_owned(), media_type);
    let mut file = tokio::fs::File::from_std(scratch);
    let mut size = 0_u64;
    let mut reported = Instant::now();
    while let Some(chunk) = web::chunk(&mut response).await? {
        size += chunk.len() as u64;
        if size > SIZE_LIMIT {
            return too_large();
        }
        if let Err(source) = file.write_all(&chunk).await {
            let path = ctx.workspace.cache.clone();
            return Ok(Err(ToolError::Io { what: "write to", path, source }));
        }
        if reported.elapsed() >= REPORT {
            reported = Instant::now();
            ctx.progress.show(Block::Text { text: so_far(size, expected) });
        }
    }
    if let Err(source) = file.flush().await {
        let path = ctx.workspace.cache.clone();
        return Ok(Err(ToolError::Io { what: "write to", path, source }));
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    Ok(Ok(Saved { file: file.into_std().await, size, kind }))
}

fn so_far(size: u64, expected: Option<u64>) -> String {
    let kilobytes = |size: u64| grouped(usize::try_from(size >> 10).unwrap_or(usize::MAX));
    match expected {
        Some(expected) => format!("{} of {} KB", kilobytes(size), kilobytes(expected)),
        None => format!("{} KB", kilobytes(size)),
    }
}

/// Puts the whole file in its place at once.
async fn place(mut file: std::fs::File, spot: Spot, ctx: &ToolCtx) -> Result<(), ToolError> {
    let workspace = ctx.workspace.clone();
    let path = spot.asked.clone();
    let placing = tokio::task::spawn_blocking(move || {
        let _alone = one_by_one();
        workspace.replace_from(&spot, &mut file)
    });
    let placed = placing.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    placed.map_err(|source| ToolError::Io { what: "write", path, source })
}
