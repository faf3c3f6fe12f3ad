//! Arguments as words, the way a shell splits them.

/// Splits arguments at blanks; quotes hold words together, a backslash takes the next letter as it is. A
/// quote that is never closed is an apostrophe: then only blanks split.
pub fn words(arguments: &str) -> Vec<String> {
    quoted(arguments)
        .unwrap_or_else(|| arguments.split_whitespace().map(ToOwned::to_owned).collect())
}

fn quoted(arguments: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = arguments.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' if c == '"' => match chars.next()? {
                            kept @ ('"' | '\\') => word.push(kept),
                            other => word.extend(['\\', other]),
                        },
                        inside => word.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next().unwrap_or('\\')),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}
