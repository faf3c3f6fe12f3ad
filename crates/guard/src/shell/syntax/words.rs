//! Words: what their quotes, escapes and expansions come to.

use tree_sitter::Node;

use super::super::word::{self, Hole, Piece};
use super::super::{Unclear, Word};
use super::{Read, Walk, children, expansion, refuse_depth};

impl Walk<'_> {
    /// What a word means. Braces may make it several.
    pub(super) fn word(&mut self, node: Node<'_>) -> Read<Vec<Word>> {
        let mut pieces = Vec::new();
        self.pieces(node, &mut pieces, 0)?;
        Ok(word::words(self.raw(node), &pieces))
    }

    fn pieces(&mut self, node: Node<'_>, pieces: &mut Vec<Piece>, depth: usize) -> Read<()> {
        refuse_depth(depth)?;
        let raw = self.raw(node);
        match node.kind() {
            "word" | "number" | "variable_name" | "extglob_pattern" | "test_operator"
                if node.named_child_count() == 0 =>
            {
                bare(raw, pieces)
            }
            "$" => {
                pieces.push(Piece::Quoted('$'));
                Ok(())
            }
            "raw_string" => {
                let inside = raw.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
                let inside = inside.ok_or_else(|| Unclear::new("a quote is not closed"))?;
                pieces.extend(inside.chars().map(Piece::Quoted));
                Ok(())
            }
            "ansi_c_string" => {
                let inside = raw.strip_prefix("$'").and_then(|it| it.strip_suffix('\''));
                let text = inside.and_then(word::ansi_c);
                let text = text.ok_or_else(|| Unclear::new("it has an odd escape"))?;
                pieces.extend(text.chars().map(Piece::Quoted));
                Ok(())
            }
            "string" => self.string(node, pieces),
            "concatenation" | "command_name" => self.concatenation(node, pieces, depth),
            "simple_expansion" => {
                self.variable(raw, Quotes::Without, pieces);
                Ok(())
            }
            "expansion" => self.expansion(node, Quotes::Without, pieces),
            "command_substitution" => {
                let hole = self.substitution(node)?;
                pieces.push(Piece::Hole(hole));
                Ok(())
            }
            "process_substitution" => {
                // The path of a pipe.
                self.substitution(node)?;
                pieces.push(Piece::Hole(Hole::Token));
                Ok(())
            }
            "arithmetic_expansion" => {
                pieces.push(Piece::Hole(Hole::Number));
                self.arithmetic_expansion(node)
            }
            "brace_expression" => {
                pieces.push(Piece::Hole(sequence(raw)));
                Ok(())
            }
            other => Err(Unclear::new(format!("it has a word of the kind `{other}`"))),
        }
    }

    fn concatenation(&mut self, node: Node<'_>, pieces: &mut Vec<Piece>, depth: usize) -> Read<()> {
        let mut end = node.start_byte();
        for child in children(node) {
            if child.start_byte() != end {
                return Err(Unclear::new("a word has a gap"));
            }
            end = child.end_byte();
            if child.is_named() {
                self.pieces(child, pieces, depth + 1)?;
            } else {
                bare(self.raw(child), pieces)?;
            }
        }
        Ok(())
    }

    /// Double quotes: the text between expansions is taken from the source, since the grammar leaves
    /// blanks out.
    fn string(&mut self, node: Node<'_>, pieces: &mut Vec<Piece>) -> Read<()> {
        let raw = self.raw(node);
        if raw.len() < 2 || !raw.starts_with('"') || !raw.ends_with('"') {
            return Err(Unclear::new("a quote is not closed"));
        }
        let (mut at, end) = (node.start_byte() + 1, node.end_byte() - 1);
        for child in children(node) {
            let is_hole = matches!(
                child.kind(),
                "simple_expansion" | "expansion" | "command_substitution" | "arithmetic_expansion"
            );
            if !is_hole {
                continue;
            }
            quoted(self.text.get(at..child.start_byte()).unwrap_or_default(), pieces)?;
            self.quoted_expansion(child, pieces)?;
            at = child.end_byte();
        }
        quoted(self.text.get(at..end).unwrap_or_default(), pieces)
    }

    fn quoted_expansion(&mut self, node: Node<'_>, pieces: &mut Vec<Piece>) -> Read<()> {
        match node.kind() {
            "simple_expansion" => {
                self.variable(self.raw(node), Quotes::Double, pieces);
                Ok(())
            }
            "expansion" => self.expansion(node, Quotes::Double, pieces),
            "arithmetic_expansion" => {
                pieces.push(Piece::Hole(Hole::Number));
                self.arithmetic_expansion(node)
            }
            _ => {
                let hole = match self.substitution(node)? {
                    Hole::AnyWords => Hole::OneWord,
                    known @ (Hole::Number | Hole::Token | Hole::OneWord) => known,
                };
                pieces.push(Piece::Hole(hole));
                Ok(())
            }
        }
    }

    /// `${…}`: only forms that neither assign nor evaluate.
    fn expansion(&mut self, node: Node<'_>, quotes: Quotes, pieces: &mut Vec<Piece>) -> Read<()> {
        let raw = self.raw(node);
        let Some(hole) = expansion::value(raw) else {
            return Err(Unclear::new(format!("`{raw}` may do more than give a value")));
        };
        let simple =
            raw[2..raw.len() - 1].chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        if simple {
            self.variable(raw, quotes, pieces);
            return Ok(());
        }
        pieces.push(Piece::Hole(match (hole, quotes) {
            (Hole::OneWord, Quotes::Without) => Hole::AnyWords,
            (known, Quotes::Without | Quotes::Double) => known,
        }));
        Ok(())
    }

    /// A variable's value: known for those that say where we are, if they begin the word, and for those that the
    /// line sets once, to a literal.
    fn variable(&mut self, raw: &str, quotes: Quotes, pieces: &mut Vec<Piece>) {
        let name = raw.trim_start_matches(['$', '{']).trim_end_matches('}');
        let is_first = pieces.is_empty();
        if let Some(value) = self.constants.get(name) {
            let splits = value.is_empty() || value.contains([' ', '\t', '\n', '*', '?', '[', '\\']);
            if quotes == Quotes::Double || !splits {
                pieces.extend(value.chars().map(Piece::Quoted));
                return;
            }
        }
        let piece = match (name, quotes) {
            ("HOME", _) if is_first => Piece::Bare('~'),
            ("PWD", _) if is_first => Piece::Bare('.'),
            ("?" | "#" | "$" | "!", _) => Piece::Hole(Hole::Number),
            ("@", _) | (_, Quotes::Without) => Piece::Hole(Hole::AnyWords),
            (_, Quotes::Double) if self.constants.is_anchored(name) => Piece::Hole(Hole::Token),
            (_, Quotes::Double) => Piece::Hole(Hole::OneWord),
        };
        pieces.push(piece);
    }
}

/// Whether an expansion stands in double quotes, so that its value stays one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Without,
    Double,
}

/// What `{1..9}` gives.
fn sequence(raw: &str) -> Hole {
    let inside = raw.trim_start_matches('{').trim_end_matches('}');
    let numbers = |text: &str| !text.is_empty() && text.chars().all(|it| it.is_ascii_digit());
    match inside.split_once("..") {
        Some((first, last)) if numbers(first) && numbers(last) => Hole::Number,
        Some(_) | None => Hole::AnyWords,
    }
}

/// Unquoted text.
fn bare(raw: &str, pieces: &mut Vec<Piece>) -> Read<()> {
    let mut letters = raw.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') => {}
                Some(escaped) => pieces.push(Piece::Quoted(escaped)),
                None => return Err(Unclear::new("it ends with a backslash")),
            },
            '$' | '`' | '"' | '\'' | '(' | ')' | '<' | '>' | ';' | '|' | '&' | ' ' | '\n'
            | '\t' => {
                return Err(Unclear::new(format!(
                    "a word holds a bare `{}`",
                    letter.escape_default()
                )));
            }
            other => pieces.push(Piece::Bare(other)),
        }
    }
    Ok(())
}

/// Text in double quotes.
fn quoted(raw: &str, pieces: &mut Vec<Piece>) -> Read<()> {
    let mut letters = raw.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') => {}
                Some(escaped @ ('$' | '`' | '"' | '\\')) => pieces.push(Piece::Quoted(escaped)),
                Some(other) => pieces.extend([Piece::Quoted('\\'), Piece::Quoted(other)]),
                None => return Err(Unclear::new("a quote is not closed")),
            },
            '`' => return Err(Unclear::new("it hides a command where none is expected")),
            other => pieces.push(Piece::Quoted(other)),
        }
    }
    if raw.replace("\\$", "").contains("$(") {
        return Err(Unclear::new("it hides a command where none is expected"));
    }
    Ok(())
}
