//! The beginning of a long text for the model, and all of it in a file.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::search::grouped;
use crate::workspace::ToolCtx;

use super::cache::make_private;

/// Characters of a page that the model reads.
pub(crate) const TEXT_LIMIT: usize = 50_000;

/// The first [`TEXT_LIMIT`] characters; a longer text is written to a spill file that the last line names.
/// Pages say what they are about at their beginning, so no tail is kept.
pub(crate) fn excerpt(text: String, ctx: &ToolCtx) -> String {
    let Some((end, _)) = text.char_indices().nth(TEXT_LIMIT) else { return text };
    // At a line's end, if one is near.
    let end = text[..end].rfind('\n').filter(|line| end - line < 2_000).unwrap_or(end);
    let all = grouped(text.chars().count());
    let rest = match spill(&text, ctx) {
        Ok(path) => {
            let path = ctx.workspace.fence.shown(&path);
            format!("all {all} are in {}; view or grep it", path.display())
        }
        // The error's own words name the file, which not every session may know.
        Err(error) => format!("it has {all}, which could not be kept: {}", error.kind()),
    };
    format!("{}\n\n(cut at {} characters; {rest})\n", &text[..end], grouped(TEXT_LIMIT))
}

fn spill(text: &str, ctx: &ToolCtx) -> io::Result<PathBuf> {
    let folder = &ctx.workspace.spill;
    make_private(folder)?;
    // A provider chooses the id: nothing in it may lead elsewhere.
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = ctx.call.as_str().chars().take(64).map(plain).collect();
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    let path = folder.join(format!("{name}.txt"));
    file.persist(&path)?;
    Ok(path)
}
