//! The pattern of a `Bash(…)` rule: `*` stands for any text, `:*` and ` *` at the end for any further
//! words or none.

/// What a command must look like.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandPattern {
    /// Pieces of plain text; between two of them any text may stand.
    pieces: Vec<String>,
    /// What may follow the last piece.
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    /// Nothing.
    Here,
    /// Nothing, or further words.
    Words,
}

impl CommandPattern {
    /// Reads what stands between the brackets.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        let (text, end) = match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
            Some(head) if !head.ends_with('\\') => (head.trim_end(), End::Words),
            Some(_) | None => (text, End::Here),
        };
        let mut pieces = vec![String::new()];
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let plain = match letter {
                '*' => {
                    pieces.push(String::new());
                    continue;
                }
                '\\' => match letters.next() {
                    Some(escaped @ ('*' | '\\')) => escaped.to_string(),
                    Some(other) => format!("\\{other}"),
                    None => "\\".to_owned(),
                },
                other => other.to_string(),
            };
            if let Some(last) = pieces.last_mut() {
                last.push_str(&plain);
            }
        }
        Self { pieces, end }
    }

    /// The text of a pattern that means exactly this command.
    pub(super) fn exact(command: &str) -> String {
        let escaped = command.replace('\\', "\\\\").replace('*', "\\*");
        // `:*` is gone by now; a space before the star would still read as an end.
        escaped.trim().to_owned()
    }

    /// Whether the pattern has no `*` of any kind.
    pub fn is_exact(&self) -> bool {
        self.pieces.len() == 1 && self.end == End::Here
    }

    /// Whether everything matches.
    pub(super) fn is_everything(&self) -> bool {
        match self.end {
            End::Here => self.pieces.len() > 1 && self.pieces.iter().all(String::is_empty),
            End::Words => self.pieces.iter().all(String::is_empty),
        }
    }

    /// Whether a command, words separated by one space, looks like this.
    pub fn matches(&self, command: &str) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        let Some(mut left) = command.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return self.ends(left) };
        for piece in middle {
            match left.find(piece.as_str()) {
                Some(at) => left = &left[at + piece.len()..],
                None => return false,
            }
        }
        match self.end {
            End::Here => left.ends_with(last.as_str()),
            End::Words => {
                left.match_indices(last.as_str()).any(|(at, _)| self.ends(&left[at + last.len()..]))
            }
        }
    }

    /// Whether what follows the last piece may follow it.
    fn ends(&self, left: &str) -> bool {
        match self.end {
            End::Here => left.is_empty(),
            End::Words => left.is_empty() || left.starts_with(char::is_whitespace),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, command: &str) -> bool {
        CommandPattern::parse(pattern).matches(command)
    }

    #[test]
    fn a_star_at_the_end_of_a_word_needs_a_word_boundary() {
        assert!(fits("ls *", "ls -la") && fits("ls:*", "ls") && fits("ls *", "ls"));
        assert!(!fits("ls *", "lsof") && !fits("ls:*", "lsof"));
        assert!(fits("ls*", "lsof"));
    }

    #[test]
    fn a_star_stands_anywhere_for_any_text() {
        assert!(fits("git * main", "git push origin main"));
        assert!(!fits("git * main", "git push origin mainline"));
        assert!(fits("* --version", "node --version"));
        assert!(fits("npm run * *", "npm run test -- -x"));
        assert!(!fits("npm run test", "npm run test2"));
    }

    #[test]
    fn an_exact_pattern_means_what_was_written() {
        for command in ["echo *", "grep a\\*b x", "find . -name '*.rs'", "x \\"] {
            let pattern = CommandPattern::parse(&CommandPattern::exact(command));
            assert!(pattern.is_exact() && pattern.matches(command), "{command}");
        }
        assert!(CommandPattern::parse("*").is_everything());
        assert!(!CommandPattern::parse("a *").is_everything());
    }
}
