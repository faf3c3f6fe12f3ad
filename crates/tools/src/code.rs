//! What language servers know of a workspace: errors an edit has brought, and where symbols are.
//!
//! A model cannot count columns, so a place is a file, a line and the text of a symbol in it. What is found is
//! told in short lines: where it is, and the line of code.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use guard::{Action, Decision, Spot, Taint};
use links::Lsp;
use links::lsp::{At, Edited, LspError, Place, Problem};

use crate::draft::to_the_end;
use crate::format;
use crate::target::Target;
use crate::tool::{Output, ToolError};
use crate::workspace::{ToolCtx, Workspace};

/// Errors that are added to the result of an edit.
const ERRORS: usize = 10;
/// Letters of a message or a line of code that are shown.
const WIDTH: usize = 200;
/// Places that are listed.
pub(crate) const PLACES: usize = 100;
/// Longest file that is looked at.
const LONGEST: u64 = 4 << 20;
/// How far from the line a model named a symbol is looked for.
const NEAR: usize = 20;

/// What language servers know of a workspace.
#[derive(Debug, Clone, Default)]
pub struct Code {
    /// The servers.
    pub lsp: Lsp,
    /// Whether one that knows a programming language fits the folder: then the model gets the tools that
    /// ask it.
    pub fits: bool,
}

/// What a change of files has done.
pub(crate) struct Written {
    pub(crate) output: Output,
    pub(crate) files: Vec<Changed>,
}

/// A file, with its content before and now; none where there is no file.
pub(crate) type Changed = (Spot, Option<Vec<u8>>, Option<Vec<u8>>);

impl Code {
    /// Shows servers a file that a tool looks at, in the background.
    pub(crate) fn touch(&self, workspace: &Workspace, spot: &Spot) {
        if let Some(within) = within(workspace, &spot.real) {
            self.lsp.touch(&spot.real, within);
        }
    }
}

/// Changes files, and adds to the output what errors that has brought.
pub(crate) async fn change(
    ctx: &ToolCtx,
    work: impl FnOnce(&Workspace) -> Result<Written, ToolError> + Send + 'static,
) -> Result<Output, ToolError> {
    let Written { mut output, mut files } = to_the_end(ctx, work).await?;
    format::all(ctx, &mut files, &mut output.text).await;
    let workspace = &ctx.workspace;
    let edits: Vec<Edited> = files.into_iter().filter_map(|it| edited(workspace, it)).collect();
    let asking = workspace.code.lsp.after(&edits);
    // The files are written: whoever stops waiting only does not hear of errors.
    let mut problems = ctx.cancel.run_until_cancelled(asking).await.unwrap_or_default();
    problems.retain(|problem| !is_closed(ctx, &problem.path));
    if !problems.is_empty() {
        output.text.push_str("\nNew errors since this change:");
        for problem in problems.iter().take(ERRORS) {
            let _fits = write!(output.text, "\n{}", line_of(workspace, problem));
        }
        if problems.len() > ERRORS {
            let _fits = write!(output.text, "\n… and {} more", problems.len() - ERRORS);
        }
    }
    Ok(output)
}

/// A changed file in words of the servers; none for what is not text, or not theirs to look at.
fn edited(workspace: &Workspace, (spot, before, after): Changed) -> Option<Edited> {
    let text = |bytes: Option<Vec<u8>>| bytes.map(String::from_utf8).transpose().ok();
    let within = within(workspace, &spot.real)?.to_owned();
    Some(Edited { path: spot.real, within, before: text(before)?, after: text(after)? })
}

/// The folder of the workspace that holds a file.
fn within<'a>(workspace: &'a Workspace, path: &Path) -> Option<&'a Path> {
    if workspace.fence.is_confined() {
        return None;
    }
    workspace.fence.roots().iter().find(|root| path.starts_with(root)).map(PathBuf::as_path)
}

/// A problem in one line.
pub(crate) fn line_of(workspace: &Workspace, problem: &Problem) -> String {
    let Problem { line, column, message, source, .. } = problem;
    let name = name(workspace, &problem.path);
    format!("{name}:{line}:{column} {} ({source})", short(message))
}

/// A file's path as the user knows it.
pub(crate) fn name(workspace: &Workspace, path: &Path) -> String {
    let spot = workspace.fence.locate(path);
    spot.map_or_else(|_| path.display().to_string(), |spot| workspace.fence.name(&spot))
}

/// One line of at most [`WIDTH`] letters.
pub(crate) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WIDTH) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// What the model reads of a server's failure.
#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
pub(crate) fn refused(error: LspError) -> ToolError {
    ToolError::Refused(error.to_string())
}

/// A place a model named: a file, and in it a line and a symbol.
pub(crate) struct Named {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    within: PathBuf,
    byte: usize,
}

impl Named {
    /// Finds the symbol in the line, or in the nearest line that has it.
    pub(crate) fn find(
        workspace: &Workspace,
        target: &Target,
        line: Option<u64>,
        symbol: Option<&str>,
    ) -> Result<Self, ToolError> {
        let spot = target.spot(&workspace.fence)?;
        let Some(within) = within(workspace, &spot.real) else {
            let text =
                format!("{target} is outside the workspace; language servers do not look there");
            return Err(ToolError::Refused(text));
        };
        let text = content(workspace, spot)?;
        let line = line.map(|line| usize::try_from(line).unwrap_or(usize::MAX));
        let byte = match symbol.map(str::trim).filter(|symbol| !symbol.is_empty()) {
            Some(symbol) => byte_of(&text, line, symbol),
            None => Ok(line.map_or(0, |line| start_of(&text, line))),
        };
        let byte = byte
            .map_err(|why| ToolError::Refused(format!("{}: {why}", workspace.fence.name(spot))))?;
        Ok(Self { path: spot.real.clone(), text, within: within.to_owned(), byte })
    }

    /// The place, as servers are asked about it.
    pub(crate) fn at(&self) -> At<'_> {
        At { path: &self.path, within: &self.within, text: &self.text, byte: self.byte }
    }
}

/// What a call does that looks at one file.
pub(crate) fn reads(target: &Target, workspace: &Workspace) -> Result<Vec<Action>, ToolError> {
    Ok(vec![Action::Read(target.spot(&workspace.fence)?.clone())])
}

/// A file's text.
pub(crate) fn content(workspace: &Workspace, spot: &Spot) -> Result<String, ToolError> {
    let io = |source| ToolError::Io { what: "read", path: spot.asked.clone(), source };
    let file = workspace.fence.open(spot).map_err(io)?;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(io)?;
    Ok(text)
}

/// The byte at which a line begins, counted from 1 and past any blanks.
fn start_of(text: &str, line: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let blanks = text[before..].len() - text[before..].trim_start_matches([' ', '\t']).len();
    before + blanks
}

/// The byte of a symbol: in the line if it is there, else in the nearest line; of a path such as `a::b.c`
/// its last part.
fn byte_of(text: &str, line: Option<usize>, symbol: &str) -> Result<usize, String> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.push((start, line));
        start += line.len();
    }
    let wanted = line.map(|line| line.saturating_sub(1));
    let last = symbol.rsplit(['.', ':', '\\', '#']).find(|part| !part.is_empty()).unwrap_or(symbol);
    for (looked_for, inner) in [(symbol, symbol.len() - last.len()), (last, 0)] {
        let found = lines.iter().enumerate().filter_map(|(number, (start, line))| {
            let at = word_in(line, looked_for)?;
            Some((wanted.map_or(number, |wanted| wanted.abs_diff(number)), start + at + inner))
        });
        // Of two as near, the first.
        let nearest = found.min_by_key(|(distance, _)| *distance);
        if let Some((_, byte)) = nearest.filter(|(far, _)| wanted.is_none() || *far <= NEAR) {
            return Ok(byte);
        }
    }
    Err(match wanted {
        None => format!("there is no `{symbol}` in this file"),
        Some(wanted) => {
            let line = lines.get(wanted).map_or("", |(_, line)| line.trim());
            format!("there is no `{symbol}` in or near line {}: {}", wanted + 1, short(line))
        }
    })
}

/// Where a word stands in a line, or the text if it stands nowhere as a word.
fn word_in(line: &str, word: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let is_word = |at: &usize| {
        let before = line[..*at].chars().next_back();
        let after = line[*at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    };
    let mut found = line.match_indices(word).map(|(at, _)| at);
    if word.chars().all(is_part) { found.find(is_word) } else { found.next() }
}

/// Whether rules keep a file from being read: nothing is told of what it says.
pub(crate) fn is_closed(ctx: &ToolCtx, path: &Path) -> bool {
    ctx.workspace.fence.locate(path).is_ok_and(|spot| ctx.policy.closes(&spot))
}

/// Places, a line each with its code; the code only of files in the workspace that may be read unasked.
pub(crate) fn lines_of(ctx: &ToolCtx, places: &[Place], none: &str) -> String {
    let workspace = &ctx.workspace;
    let may_read = |spot: &Spot| {
        let read = [Action::Read(spot.clone())];
        ctx.policy.decide("view", &read, &Taint::Clean).decision == Decision::Allow
    };
    if places.is_empty() {
        return none.to_owned();
    }
    let mut text = String::new();
    let mut file: Option<(&Path, String, Option<String>)> = None;
    for Place { path, line } in places.iter().take(PLACES) {
        if file.as_ref().is_none_or(|(known, ..)| known != path) {
            let spot = workspace.fence.locate(path).ok().filter(|it| it.inside && may_read(it));
            let content = spot.and_then(|spot| content(workspace, &spot).ok());
            file = Some((path, name(workspace, path), content));
        }
        let Some((_, name, content)) = &file else { continue };
        let index = usize::try_from(*line).unwrap_or_default().saturating_sub(1);
        let code = content.as_deref().and_then(|text| text.lines().nth(index)).map(short);
        let _fits = writeln!(text, "{name}:{line} {}", code.unwrap_or_default());
    }
    if places.len() > PLACES {
        let _fits = writeln!(text, "… and {} more", places.len() - PLACES);
    }
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import os\n\ndef run(runner):\n    return runner.run(os.path)\n\nrun(1)\n";

    fn found(line: Option<usize>, symbol: &str) -> String {
        let byte = byte_of(TEXT, line, symbol).unwrap();
        let line = TEXT[..byte].matches('\n').count() + 1;
        let start = TEXT[..byte].rfind('\n').map_or(0, |feed| feed + 1);
        format!("{line}:{}", byte - start)
    }

    #[test]
    fn a_symbol_is_found_as_a_word_in_its_line_or_nearby() {
        assert_eq!(found(Some(3), "run"), "3:4");
        assert_eq!(found(Some(3), "runner"), "3:8");
        assert_eq!(found(Some(4), "runner.run"), "4:18");
        assert_eq!(found(Some(4), "Thing::run"), "4:18");
        assert_eq!(found(Some(5), "run"), "4:18");
        assert_eq!(found(None, "run"), "3:4");
        assert_eq!(found(None, "os.path"), "4:25");
    }

    #[test]
    fn what_is_not_there_is_said_with_the_line() {
        let why = byte_of(TEXT, Some(1), "nothing").unwrap_err();
        assert_eq!(why, "there is no `nothing` in or near line 1: import os");
        assert!(byte_of(TEXT, Some(9_999), "run").is_err());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn a_found_byte_is_where_the_symbol_is(
            text in "[ab_é.\n ]{0,60}", symbol in "[ab_é]{1,3}", line in proptest::option::of(0_usize..9),
        ) {
            if let Ok(byte) = byte_of(&text, line, &symbol) {
                proptest::prop_assert!(text[byte..].starts_with(&symbol));
            }
            let _in_bounds = &text[start_of(&text, line.unwrap_or(0))..];
        }
    }
}
