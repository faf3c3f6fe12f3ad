//! Words: what their quotes, escapes and expansions come to.

use tree_sitter::Node;

use super::super::word::{self, Piece};
use super::super::{Unclear, Word};
use super::{Read, Walk, children, refuse_depth};

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
            "string" | "translated_string" => self.string(node, pieces),
            "concatenation" | "command_name" => self.concatenation(node, pieces, depth),
            "simple_expansion" => {
                pieces.push(variable(raw, pieces.is_empty()));
                Ok(())
            }
            "expansion" => {
                self.expansion(node)?;
                pieces.push(variable(raw, pieces.is_empty()));
                Ok(())
            }
            "command_substitution" | "process_substitution" => {
                pieces.push(Piece::Hole);
                self.substitution(node)
            }
            "arithmetic_expansion" => {
                pieces.push(Piece::Hole);
                if !raw
                    .chars()
                    .all(|it| it.is_ascii_digit() || "$()[] +-*/%<>=!&|^~?:".contains(it))
                {
                    self.hazard("arithmetic may run what its variables hold");
                }
                self.nested(node)
            }
            "brace_expression" => {
                pieces.push(Piece::Hole);
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
        let open = if raw.starts_with('$') { 2 } else { 1 };
        if raw.len() < open + 1 || !raw.ends_with('"') {
            return Err(Unclear::new("a quote is not closed"));
        }
        let inner = if node.kind() == "translated_string" { node.named_child(0) } else { None };
        let holder = inner.unwrap_or(node);
        let (mut at, end) = (node.start_byte() + open, node.end_byte() - 1);
        for child in children(holder) {
            let is_hole = matches!(
                child.kind(),
                "simple_expansion" | "expansion" | "command_substitution" | "arithmetic_expansion"
            );
            if is_hole {
                quoted(self.text.get(at..child.start_byte()).unwrap_or_default(), pieces)?;
                let mut hole = Vec::new();
                let first = pieces.is_empty();
                self.pieces(child, &mut hole, 1)?;
                pieces.push(if first {
                    hole.first().copied().unwrap_or(Piece::Hole)
                } else {
                    Piece::Hole
                });
                at = child.end_byte();
            }
        }
        quoted(self.text.get(at..end).unwrap_or_default(), pieces)
    }

    /// `${…}`: only forms that neither assign nor evaluate.
    fn expansion(&mut self, node: Node<'_>) -> Read<()> {
        let raw = self.raw(node);
        let odd = || Unclear::new(format!("`{raw}` may do more than give a value"));
        let inside = raw.strip_prefix("${").and_then(|it| it.strip_suffix('}')).ok_or_else(odd)?;
        let name = inside.strip_prefix('#').filter(|it| !it.is_empty()).unwrap_or(inside);
        let rest = name.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || it == '_');
        let rest = match rest.strip_prefix('[') {
            Some(index) => {
                let (index, rest) = index.split_once(']').ok_or_else(odd)?;
                if !index.chars().all(|it| it.is_ascii_digit() || matches!(it, '@' | '*')) {
                    return Err(odd());
                }
                rest
            }
            None => rest,
        };
        let harmless = rest.is_empty()
            || [":-", ":+", ":?", "-", "+", "?", "#", "%", "/", "^", ","]
                .iter()
                .any(|operator| rest.starts_with(operator));
        if !harmless || rest.len() == inside.len() {
            return Err(odd());
        }
        self.nested(node)
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

/// A variable's value: known for those that say where we are, if they begin the word.
fn variable(raw: &str, first: bool) -> Piece {
    match raw {
        "$HOME" | "${HOME}" if first => Piece::Bare('~'),
        "$PWD" | "${PWD}" if first => Piece::Bare('.'),
        _ => Piece::Hole,
    }
}
