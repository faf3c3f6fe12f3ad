//! The little of Markdown that instruction files need: code is left alone, `@file` is an import, comments
//! that stand in lines of their own are for people.

/// Tells lines of fenced code from others.
#[derive(Default)]
pub(crate) struct Fences {
    /// The mark and length of the fence that is open.
    open: Option<(char, usize)>,
}

impl Fences {
    /// Whether no fence is open.
    pub(crate) fn are_closed(&self) -> bool {
        self.open.is_none()
    }

    /// Whether a line is code or the fence around it.
    pub(crate) fn holds(&mut self, line: &str) -> bool {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| ['`', '~'].contains(c));
        let length = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        match (self.open, mark) {
            (None, Some(mark)) if length >= 3 => {
                // An info string cannot hold a backtick: ```` ```x``` ```` is a span.
                if mark == '`' && line[length..].contains('`') {
                    return false;
                }
                self.open = Some((mark, length));
                true
            }
            (None, _) => false,
            (Some((open, needed)), Some(mark)) if open == mark && length >= needed => {
                if line[length..].trim().is_empty() {
                    self.open = None;
                }
                true
            }
            (Some(_), _) => true,
        }
    }
}

/// The text without HTML comments that begin a line; one that never ends is text.
pub(super) fn without_comments(text: &str) -> String {
    let mut fences = Fences::default();
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = &rest[..end];
        let is_code = fences.holds(line);
        let comment = (!is_code && line.trim_start().starts_with("<!--"))
            .then(|| rest.find("-->").map(|at| at + "-->".len()))
            .flatten();
        let Some(after) = comment else {
            kept.push_str(line);
            rest = &rest[end..];
            continue;
        };
        rest = &rest[after..];
        // The line break goes with a comment that fills its line.
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if rest[blank..].starts_with('\n') {
            rest = &rest[blank + 1..];
        }
    }
    kept
}

/// What stands behind an `@` outside of code, in order, each once.
pub(super) fn imports(text: &str) -> Vec<String> {
    let mut fences = Fences::default();
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        if fences.holds(line) {
            continue;
        }
        for import in imports_of_line(line) {
            if !found.contains(&import) {
                found.push(import);
            }
        }
    }
    found
}

fn imports_of_line(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        if c == '`' {
            let ticks = rest.chars().take_while(|c| *c == '`').count();
            rest = after_span(rest, ticks);
        } else if c == '@' && (before.is_whitespace() || before == '(') {
            let (word, after) = word(&rest[1..]);
            if !word.is_empty() && !word.starts_with('@') {
                found.push(word);
            }
            rest = after;
        } else {
            rest = &rest[c.len_utf8()..];
        }
        before = c;
    }
    found
}

/// What follows a code span that begins with `ticks` backticks; without an end there is no span.
pub(crate) fn after_span(text: &str, ticks: usize) -> &str {
    let inside = &text[ticks..];
    let mut at = 0;
    while let Some(next) = inside[at..].find('`') {
        let start = at + next;
        let length = inside[start..].chars().take_while(|c| *c == '`').count();
        at = start + length;
        if length == ticks {
            return &inside[at..];
        }
    }
    inside
}

/// The text up to the next blank; a backslash before a blank makes it part of the word.
pub(crate) fn word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(|(_, next)| *next == ' ') => {
                word.push(' ');
                chars.next();
            }
            c if c.is_whitespace() => return (word, &text[at..]),
            c => word.push(c),
        }
    }
    (word, "")
}

/// The ways to read an import: as it stands, and without the marks of the sentence around it.
pub(crate) fn readings(import: &str) -> impl Iterator<Item = &str> {
    let bare =
        import.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '*']);
    let other = Some(bare).filter(|bare| !bare.is_empty() && *bare != import);
    std::iter::once(import).chain(other)
}

/// Whether an `@word` can only be meant as a file: `@types/node` and `@media` are none.
pub(crate) fn is_surely_path(import: &str) -> bool {
    let bare = readings(import).last().unwrap_or(import);
    let marked = ["./", "../", "~/", "/"].iter().any(|start| bare.starts_with(start));
    let ending = bare.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let texts = ["md", "mdc", "txt", "json", "toml", "yaml", "yml", "rst", "adoc"];
    marked || ending.is_some_and(|ending| texts.contains(&ending.as_str()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn imports_are_found_outside_of_code_only() {
        let text = "See @README.md and (@docs/a.md).\n@~/own.md\nmail me@example.com `@no.md` \
                    ``a ` @no2.md`` `open @yes.md\n```\n@no3.md\n```\n~~~md\n@no4.md\n```\n@no5.md\n~~~\n\
                    @with\\ blank.md @README.md @@no6 @";
        let found = ["README.md", "docs/a.md).", "~/own.md", "yes.md", "with blank.md"];
        assert_eq!(imports(text), found);
        assert_eq!(readings("docs/a.md).").collect::<Vec<_>>(), ["docs/a.md).", "docs/a.md"]);
    }

    #[test]
    fn what_cannot_be_a_file_is_no_complaint() {
        for path in ["README.md", "./x", "../x", "~/x", "/etc/x", "docs/rules.mdc.", "a.yaml,"] {
            assert!(is_surely_path(path), "{path}");
        }
        for other in ["types/node", "media", "angular/core", "Override", "team.", "v2.1"] {
            assert!(!is_surely_path(other), "{other}");
        }
    }

    #[test]
    fn comments_in_lines_of_their_own_go() {
        for (text, kept) in [
            ("a\n<!-- b -->\nc\n", "a\nc\n"),
            ("<!--\n@x.md\n\n-->\nc", "c"),
            ("  <!-- b --> rest\n", " rest\n"),
            ("a <!-- stays --> b\n", "a <!-- stays --> b\n"),
            ("```\n<!-- code -->\n```\n", "```\n<!-- code -->\n```\n"),
            ("<!-- never closed\nc\n", "<!-- never closed\nc\n"),
            ("<!-- a --><!-- b -->\nc", "c"),
        ] {
            assert_eq!(without_comments(text), kept, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_text_is_read_to_its_end(text in "([a-z@`~<>! \\n\\\\/.-]|\\PC){0,200}") {
            let kept = without_comments(&text);
            prop_assert!(kept.len() <= text.len());
            for import in imports(&kept) {
                prop_assert!(!import.is_empty() && !import.contains('\n'), "{import:?}");
                prop_assert!(readings(&import).count() >= 1);
            }
        }

        #[test]
        fn text_without_comments_stays_as_it_is(text in "[a-z@` \\n.]{0,200}") {
            prop_assert_eq!(without_comments(&text), text);
        }
    }
}
