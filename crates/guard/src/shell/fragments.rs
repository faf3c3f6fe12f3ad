//! The pieces of a line that is not understood, so that what forbids can still be held against them.

/// Pieces of a line between anything that could separate commands, quotes and escapes off, one space
/// between words. Cut too often on purpose: it serves rules that deny, never rules that allow.
pub fn fragments(text: &str) -> Vec<String> {
    // A line that continues is one line, and braces make words of what commas separate.
    let joined = text.replace("\\\n", "");
    let spelled = if joined.contains('{') { joined.replace(',', " ") } else { String::new() };
    let plain: String = [joined, spelled]
        .join("\n")
        .chars()
        .filter(|it| !matches!(it, '\'' | '"' | '\\'))
        .collect();
    let separators = [';', '|', '&', '\n', '\r', '(', ')', '{', '}', '`', '<', '>', '$', '!', '='];
    let pieces =
        plain.split(separators).map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut all: Vec<String> = Vec::new();
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        // What follows a keyword, an assignment or a wrapper is a command, too.
        let words: Vec<&str> = piece.split(' ').collect();
        let starts = 0..words.len().min(64);
        all.extend(starts.map(|start| {
            let program = words[start].rsplit('/').next().unwrap_or_default();
            let rest = words[start + 1..].join(" ");
            format!("{program} {rest}").trim_end().to_owned()
        }));
    }
    all.truncate(2_000);
    all
}
