//! Words as the index takes them, and as a person types them.
//!
//! The index parts text at blanks and signs. Chinese, Japanese, Thai and their neighbours are written without
//! blanks: there each letter is a word of its own, and letters in a row are looked for in a row. So a word of
//! two letters is found, which an index of three-letter pieces cannot do.

/// Characters of a snippet before the first word, and in all.
const BEFORE: usize = 40;
const SNIPPET: usize = 160;

/// Text with blanks around every letter of a script that has none.
pub(super) fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if has_no_blanks(letter) {
            out.extend([' ', letter, ' ']);
        } else {
            out.push(letter);
        }
    }
    out
}

/// Whether a letter's script puts no blanks between words.
fn has_no_blanks(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0e00..=0x0eff          // Thai, Lao
        | 0x1000..=0x109f        // Burmese
        | 0x1780..=0x17ff        // Khmer
        | 0x3040..=0x30ff        // Hiragana, Katakana
        | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf        // Han
        | 0x4e00..=0x9fff
        | 0xf900..=0xfaff
        | 0x2_0000..=0x3_23af)
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    words: Vec<String>,
}

impl Wanted {
    /// The words of a line; none if there is nothing to look for in it.
    pub(super) fn of(line: &str) -> Option<Self> {
        let has_letter = |word: &&str| word.chars().any(char::is_alphanumeric);
        let words: Vec<String> =
            line.split_whitespace().filter(has_letter).map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// The words in SQLite's terms: all of them, each a beginning. Quoted, nothing in them is an operator.
    pub(super) fn expression(&self) -> String {
        let quoted = |word: &String| {
            let plain: String = word.chars().filter(|letter| *letter != '\0').collect();
            format!("\"{}\"*", spaced(&plain).trim().replace('"', "\"\""))
        };
        self.words.iter().map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// Whether a line holds all the words, anywhere.
    pub(super) fn are_in(&self, line: &str) -> bool {
        let line = line.to_lowercase();
        self.words.iter().all(|word| line.contains(&word.to_lowercase()))
    }

    /// The surroundings of the first word that occurs in a text, in one line.
    pub(super) fn snippet(&self, text: &str) -> String {
        let line: Vec<char> = one_line(text);
        let folded: Vec<char> = line.iter().copied().map(fold).collect();
        let places = self.words.iter().filter_map(|word| {
            let word: Vec<char> = word.chars().map(fold).collect();
            folded.windows(word.len()).position(|window| window == word)
        });
        let start = places.min().unwrap_or(0).saturating_sub(BEFORE);
        let end = (start + SNIPPET).min(line.len());
        let mut snippet = String::new();
        if start > 0 {
            snippet.push('…');
        }
        snippet.extend(&line[start..end]);
        if end < line.len() {
            snippet.push('…');
        }
        snippet
    }
}

/// A letter without its case; letters that become several keep it.
fn fold(letter: char) -> char {
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        (Some(_) | None, _) => letter,
    }
}

/// A text with every run of blanks and control characters made one blank.
fn one_line(text: &str) -> Vec<char> {
    let mut line = Vec::new();
    for letter in text.chars() {
        if !letter.is_whitespace() && !letter.is_control() {
            line.push(letter);
        } else if line.last().is_some_and(|last| *last != ' ') {
            line.push(' ');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_typed_is_an_operator() {
        let wanted = Wanted::of("foo\" OR (bar NEAR -- *").unwrap();
        assert_eq!(wanted.expression(), "\"foo\"\"\"* \"OR\"* \"(bar\"* \"NEAR\"*");
        assert_eq!(Wanted::of(" -- * \" "), None);
    }

    #[test]
    fn letters_without_blanks_are_words() {
        assert_eq!(Wanted::of("修复bug").unwrap().expression(), "\"修  复 bug\"*");
    }

    #[test]
    fn a_snippet_is_one_line_around_the_word() {
        let text = format!("{}\n\tthe Owl\x1b[31m sleeps {}", "a ".repeat(100), "b ".repeat(200));
        let snippet = Wanted::of("owl").unwrap().snippet(&text);
        assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert!(snippet.contains(" a the Owl [31m sleeps b "), "{snippet}");
        assert!(snippet.chars().count() <= SNIPPET + 2);
    }
}
