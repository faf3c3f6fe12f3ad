//! Tool calls as an editor shows them: kind, places, content.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    Content, ContentBlock, Diff, ImageContent, TextContent, ToolCallContent, ToolCallLocation,
    ToolKind,
};
use base::Block;
use base::block::{Node, TodoState, files_of};
use base::transcript::{File, FileSource, Piece};
use serde_json::{Map, Value};

/// Arguments that name a file or folder.
const PATHS: [&str; 4] = ["file_path", "path", "notebook_path", "folder"];
/// Most places told of one call.
const PLACES: usize = 20;

/// What kind of call a tool's are, by its name.
pub(super) fn kind(tool: &str) -> ToolKind {
    match tool {
        "view" | "recall" | "hover" | "diagnostics" | "job_output" | "skill" => ToolKind::Read,
        "edit" | "multiedit" | "write" | "apply_patch" | "rename" | "code_action" => ToolKind::Edit,
        "glob" | "grep" | "ls" | "sourcegraph" | "references" | "definition" | "symbols"
        | "call_hierarchy" | "web_search" => ToolKind::Search,
        "bash" | "job_kill" | "job_input" => ToolKind::Execute,
        "fetch" | "web_fetch" | "download" | "agentic_fetch" => ToolKind::Fetch,
        "agent" | "todos" | "question" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

/// The places a call is about, as its arguments tell.
pub(super) fn locations(input: &Map<String, Value>, folder: &Path) -> Vec<ToolCallLocation> {
    let path = PATHS.iter().find_map(|name| input.get(*name)?.as_str());
    let Some(path) = path.filter(|path| !path.is_empty()) else { return Vec::new() };
    let line = ["offset", "line"].iter().find_map(|name| input.get(*name)?.as_u64());
    let line = line.filter(|line| *line > 0).and_then(|line| u32::try_from(line).ok());
    vec![ToolCallLocation::new(absolute(path, folder)).line(line)]
}

/// What a call shows, and the places that shows.
pub(super) fn shown(
    block: &Block,
    kind: ToolKind,
    folder: &Path,
) -> (Vec<ToolCallContent>, Vec<ToolCallLocation>) {
    match block {
        Block::Text { text } => (text_content(text, kind), Vec::new()),
        Block::Diff { path, unified } => {
            let files = files_of(path, unified).into_iter();
            let shown = files.map(|(path, unified)| diff(&absolute(path, folder), unified));
            let (content, places): (Vec<_>, Vec<_>) = shown.unzip();
            (content.concat(), places.concat().into_iter().take(PLACES).collect())
        }
        Block::Table { head, rows } => (vec![plain(table(head, rows))], Vec::new()),
        Block::Image { file } => (vec![picture(file)], Vec::new()),
        Block::Todos { items } => {
            let line = |item: &base::block::Todo| {
                let mark = match item.state {
                    TodoState::Pending => "- [ ]",
                    TodoState::InProgress => "- [ ] …",
                    TodoState::Completed => "- [x]",
                };
                format!("{mark} {}", item.text)
            };
            (vec![plain(items.iter().map(line).collect::<Vec<_>>().join("\n"))], Vec::new())
        }
        Block::Tree { roots } => {
            let mut lines = String::new();
            branches(roots, 0, &mut lines);
            (vec![plain(lines)], Vec::new())
        }
    }
}

/// What the pieces of a result show, where nothing else was kept of it.
pub(super) fn pieces(pieces: &[Piece], kind: ToolKind) -> Vec<ToolCallContent> {
    let content = |piece: &Piece| match piece {
        Piece::Text { text } => text_content(text, kind),
        Piece::File(file) => vec![picture(file)],
    };
    pieces.iter().flat_map(content).collect()
}

/// A path as the protocol wants it.
pub(super) fn absolute(path: &str, folder: &Path) -> PathBuf {
    folder.join(path)
}

/// Output is shown as it is, not as Markdown; words for people are Markdown.
fn text_content(text: &str, kind: ToolKind) -> Vec<ToolCallContent> {
    if text.is_empty() {
        return Vec::new();
    }
    let is_output = matches!(kind, ToolKind::Execute | ToolKind::Read | ToolKind::Search);
    vec![plain(if is_output { fenced(text) } else { text.to_owned() })]
}

fn plain(text: impl Into<String>) -> ToolCallContent {
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
}

/// The text in a code block whose fence does not occur in it.
fn fenced(text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

fn picture(file: &File) -> ToolCallContent {
    match &file.source {
        FileSource::Base64(data) if file.is_image() => {
            let image = ImageContent::new(data.clone(), file.media_type.clone());
            ToolCallContent::Content(Content::new(ContentBlock::Image(image)))
        }
        FileSource::Base64(_) => {
            plain(format!("{} ({})", file.name.as_deref().unwrap_or("a file"), file.media_type))
        }
        FileSource::Url(url) => plain(url.clone()),
    }
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let cell = |text: &String| text.replace('|', "\\|").replace('\n', " ");
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(cell).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", " --- |".repeat(head.len()));
    let rows: String = rows.iter().map(|row| line(row)).collect();
    line(head) + &rule + &rows
}

fn branches(nodes: &[Node], depth: usize, lines: &mut String) {
    for node in nodes {
        lines.push_str(&"  ".repeat(depth));
        lines.push_str("- ");
        lines.push_str(&node.label);
        lines.push('\n');
        branches(&node.children, depth + 1, lines);
    }
}

/// One piece of a unified diff: what stood there and what stands there now.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunk {
    line: u32,
    old: String,
    new: String,
    /// Whether there was nothing before: no file, or an empty one.
    from_nothing: bool,
}

/// A change, piece by piece. The protocol wants old and new text; the pieces are what the change touches, with
/// the lines around, and their places tell where they begin.
fn diff(path: &Path, unified: &str) -> (Vec<ToolCallContent>, Vec<ToolCallLocation>) {
    let (hunks, rest) = hunks(unified);
    let content = hunks.iter().map(|hunk| {
        let old = (!hunk.from_nothing).then(|| hunk.old.clone());
        ToolCallContent::Diff(Diff::new(path, hunk.new.clone()).old_text(old))
    });
    let content = content.chain(rest.map(plain)).collect();
    let places = hunks.iter().map(|hunk| ToolCallLocation::new(path).line(hunk.line));
    (content, places.collect())
}

/// The pieces of a unified diff without file headers, and what stands at its end that is none.
fn hunks(unified: &str) -> (Vec<Hunk>, Option<String>) {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut rest = None;
    for line in unified.lines() {
        if let Some(head) = line.strip_prefix("@@ -") {
            let line = head.split_once('+').map_or(0, |(_, new)| number(new)).max(1);
            hunks.push(Hunk { line, from_nothing: head.starts_with("0,0 "), ..Hunk::default() });
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let mut letters = line.chars();
        let sign = letters.next();
        let text = letters.as_str();
        match sign {
            Some(' ') => {
                push_line(&mut hunk.old, text);
                push_line(&mut hunk.new, text);
            }
            Some('-') => push_line(&mut hunk.old, text),
            Some('+') => push_line(&mut hunk.new, text),
            Some('…') => rest = Some(line.to_owned()),
            // An empty line, or the remark that the last line has no end.
            Some(_) | None => {}
        }
    }
    (hunks, rest)
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// The number a text begins with.
fn number(text: &str) -> u32 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn text_of(content: &[ToolCallContent]) -> String {
        serde_json::to_value(content).unwrap()[0]["content"]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_change_is_told_piece_by_piece_with_its_lines() {
        let unified = "@@ -3,3 +3,3 @@\n a\n-b\n+c\n d\n@@ -40 +40,2 @@\n x\n+y\n";
        let block = Block::Diff { path: "src/a.rs".into(), unified: unified.into() };
        let (content, places) = shown(&block, ToolKind::Edit, Path::new("/work"));
        assert_eq!(
            serde_json::to_value(content).unwrap(),
            json!([
                { "type": "diff", "path": "/work/src/a.rs", "oldText": "a\nb\nd\n", "newText": "a\nc\nd\n" },
                { "type": "diff", "path": "/work/src/a.rs", "oldText": "x\n", "newText": "x\ny\n" },
            ])
        );
        assert_eq!(
            serde_json::to_value(places).unwrap(),
            json!([{ "path": "/work/src/a.rs", "line": 3 }, { "path": "/work/src/a.rs", "line": 40 }])
        );
    }

    #[test]
    fn a_change_of_several_files_is_told_file_by_file() {
        let unified =
            "--- a.rs\n+++ a.rs\n@@ -3 +3 @@\n-x\n+y\n--- b/c.rs\n+++ b/c.rs\n@@ -1 +0,0 @@\n-z\n";
        let block = Block::Diff { path: "2 files".into(), unified: unified.into() };
        let (content, places) = shown(&block, ToolKind::Edit, Path::new("/work"));
        assert_eq!(
            serde_json::to_value(content).unwrap(),
            json!([
                { "type": "diff", "path": "/work/a.rs", "oldText": "x\n", "newText": "y\n" },
                { "type": "diff", "path": "/work/b/c.rs", "oldText": "z\n", "newText": "" },
            ])
        );
        assert_eq!(
            serde_json::to_value(places).unwrap(),
            json!([{ "path": "/work/a.rs", "line": 3 }, { "path": "/work/b/c.rs", "line": 1 }])
        );
    }

    #[test]
    fn a_new_file_has_no_old_text() {
        let block = Block::Diff {
            path: "/a".into(),
            unified: "@@ -0,0 +1,2 @@\n+a\n+b\n… 5 more lines\n".into(),
        };
        let (content, _) = shown(&block, ToolKind::Edit, Path::new("/work"));
        let told = serde_json::to_value(content).unwrap();
        assert_eq!(told[0], json!({ "type": "diff", "path": "/a", "newText": "a\nb\n" }));
        assert_eq!(told[1]["content"]["text"], "… 5 more lines");
    }

    #[test]
    fn places_come_from_the_arguments() {
        let places = |input: Value| {
            let found = locations(input.as_object().unwrap(), Path::new("/work"));
            serde_json::to_value(found).unwrap()
        };
        assert_eq!(
            places(json!({ "file_path": "a.rs", "offset": 7 })),
            json!([{ "path": "/work/a.rs", "line": 7 }])
        );
        assert_eq!(places(json!({ "path": "/b" })), json!([{ "path": "/b" }]));
        assert_eq!(places(json!({ "command": "ls", "path": 5 })), json!([]));
    }

    #[test]
    fn output_cannot_leave_its_fence() {
        let block = Block::Text { text: "a\n````\n# b".into() };
        let (content, _) = shown(&block, ToolKind::Execute, Path::new("/"));
        assert_eq!(text_of(&content), "`````\na\n````\n# b\n`````");
        let (content, _) = shown(&block, ToolKind::Other, Path::new("/"));
        assert_eq!(text_of(&content), "a\n````\n# b");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_breaks_the_reading_of_a_diff(unified in "(@@ -[0-9,]{0,4} \\+[0-9,]{0,12} @@\n|[ +\\-…\\\\é]?[a-z…]{0,3}\n?){0,9}") {
            let (hunks, _) = hunks(&unified);
            prop_assert!(hunks.iter().all(|hunk| hunk.line >= 1));
        }
    }
}
