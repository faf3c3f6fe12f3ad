//! One walk over a body: lines and fences, then what stands in a line.

use super::{Line, Piece, Template, Variables, add};
use crate::instructions::markdown::{Fences, after_span, word};

/// Longest command that is taken for one, in bytes.
const COMMAND_BYTES: usize = 10_000;

/// A walk over a body.
pub(super) struct Scan<'a> {
    template: Template<'a>,
    arguments: &'a str,
    words: &'a [String],
    variables: &'a Variables,
    /// The number of the first word in `$N`.
    first: usize,
}

/// What a walk found.
#[derive(Default)]
pub(super) struct Read {
    pub(super) pieces: Vec<Piece>,
    /// Whether the body has a place for arguments.
    pub(super) takes_arguments: bool,
    /// Whether it uses `$0` outside of code.
    pub(super) counts_from_zero: bool,
}

/// What surrounds a placeholder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Prose,
    /// Code the model reads: a number nobody gave a word for is the code's own.
    Code,
    /// A command that will run.
    Command,
}

/// What a placeholder asks for.
enum Wanted<'a> {
    Everything,
    Nth(usize),
    Numbered(usize),
    Variable(&'a str),
}

impl<'a> Scan<'a> {
    pub(super) fn new(
        template: Template<'a>,
        arguments: &'a str,
        words: &'a [String],
        variables: &'a Variables,
    ) -> Self {
        Self { template, arguments, words, variables, first: 1 }
    }

    /// From now on the first word is `$0`.
    pub(super) fn count_from_zero(&mut self) {
        self.first = 0;
    }

    pub(super) fn run(&self) -> Read {
        let mut read = Read::default();
        let mut fences = Fences::default();
        let mut rest = self.template.body;
        while !rest.is_empty() {
            if fences.are_closed()
                && let Some((script, after)) = block(rest)
            {
                let line = self.command(script, &mut read);
                read.pieces.push(Piece::Command(line));
                rest = after;
                continue;
            }
            let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at(end);
            if fences.holds(line) {
                let text = self.filled(line, Around::Code, &mut read);
                add(&mut read.pieces, &text);
            } else {
                self.prose(line, &mut read);
            }
            rest = after;
        }
        read
    }

    /// A line that is no code.
    fn prose(&self, line: &str, read: &mut Read) {
        let mut rest = line;
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let mut after = &rest[c.len_utf8()..];
            if c == '!'
                && before.is_whitespace()
                && let Some((command, behind)) = inline(after)
            {
                let line = self.command(command, read);
                read.pieces.push(Piece::Command(line));
                after = behind;
            } else if c == '`' {
                let ticks = rest.chars().take_while(|c| *c == '`').count();
                after = after_span(rest, ticks);
                let span = &rest[..rest.len() - after.len()];
                let text = self.filled(span, Around::Code, read);
                add(&mut read.pieces, &text);
            } else if c == '@' && (before.is_whitespace() || before == '(') {
                let (path, behind) = word(after);
                if path.is_empty() || path.starts_with('@') {
                    add(&mut read.pieces, "@");
                } else {
                    let path = self.filled(&path, Around::Prose, read);
                    read.pieces.push(Piece::File(path));
                    after = behind;
                }
            } else if let Some((text, behind)) = self.placeholder(rest, Around::Prose, read) {
                add(&mut read.pieces, &text);
                after = behind;
            } else {
                let plain = rest[c.len_utf8()..].find(['!', '`', '@', '$', '\\']);
                let end = plain.map_or(rest.len(), |at| at + c.len_utf8());
                add(&mut read.pieces, &rest[..end]);
                after = &rest[end..];
            }
            before = rest[..rest.len() - after.len()].chars().next_back().unwrap_or(c);
            rest = after;
        }
    }

    /// A text with its placeholders filled in, and nothing else looked at.
    fn filled(&self, text: &str, around: Around, read: &mut Read) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '\\']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some((value, after)) = self.placeholder(rest, around, read) {
                out.push_str(&value);
                rest = after;
            } else {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        out
    }

    /// A command line. Words that mean something to a shell are handed over in variables: they cannot
    /// become commands, whatever quotes stand around them.
    fn command(&self, text: &str, read: &mut Read) -> Line {
        let mut line = Line::default();
        let (mut rest, mut single, mut double) = (text, false, false);
        while let Some(c) = rest.chars().next() {
            let mut after = &rest[c.len_utf8()..];
            match c {
                '\'' if !double => single = !single,
                '"' if !single => double = !double,
                // In single quotes a number is awk's or another program's.
                '$' if single && after.starts_with(|c: char| c.is_ascii_digit()) => {}
                '$' | '\\' => {
                    if let Some((value, behind)) = self.placeholder(rest, Around::Command, read) {
                        line.put(value);
                        rest = behind;
                        continue;
                    }
                    if c == '\\' && !single {
                        // What a backslash protects is no quote.
                        let next = after.chars().next().map_or(0, char::len_utf8);
                        after = &after[next..];
                    }
                }
                _ => {}
            }
            line.text.push_str(&rest[..rest.len() - after.len()]);
            rest = after;
        }
        line
    }

    /// What a placeholder at the beginning of `text` becomes, and what follows it.
    fn placeholder<'t>(
        &self,
        text: &'t str,
        around: Around,
        read: &mut Read,
    ) -> Option<(String, &'t str)> {
        if let Some(escaped) = text.strip_prefix('\\') {
            let (_, after) = self.wanted(escaped)?;
            return Some((escaped[..escaped.len() - after.len()].to_owned(), after));
        }
        let (wanted, after) = self.wanted(text)?;
        let value = match wanted {
            Wanted::Variable(name) => return Some((self.variables.get(name)?.to_owned(), after)),
            Wanted::Everything => self.arguments,
            Wanted::Nth(index) => self.words.get(index).map_or("", String::as_str),
            Wanted::Numbered(number) => {
                read.counts_from_zero |= number == 0 && around == Around::Prose;
                let word = number.checked_sub(self.first).and_then(|at| self.words.get(at));
                match word {
                    Some(word) => word,
                    None if around == Around::Code => return None,
                    None => "",
                }
            }
        };
        read.takes_arguments = true;
        Some((value.to_owned(), after))
    }

    /// The placeholder `text` begins with, and what follows it.
    fn wanted<'t>(&self, text: &'t str) -> Option<(Wanted<'t>, &'t str)> {
        let inside = text.strip_prefix('$')?;
        if let Some(braced) = inside.strip_prefix('{') {
            let (name, after) = braced.split_once('}')?;
            self.variables.get(name)?;
            return Some((Wanted::Variable(name), after));
        }
        let end = inside.find(|c: char| !is_word(c)).unwrap_or(inside.len());
        let (name, after) = inside.split_at(end);
        if let Ok(number) = name.parse::<usize>() {
            return (name.len() <= 3).then_some((Wanted::Numbered(number), after));
        }
        if name == "ARGUMENTS" {
            return Some(indexed(after).unwrap_or((Wanted::Everything, after)));
        }
        let known = self.template.names.iter().position(|known| known == name)?;
        (!after.starts_with('[')).then_some((Wanted::Nth(known), after))
    }
}

impl Line {
    /// Adds a value: written out where every shell takes it for words, else as a variable.
    fn put(&mut self, value: String) {
        let is_plain = |c: char| c.is_alphanumeric() || "_./:=@%+,- ".contains(c);
        if value.chars().all(is_plain) {
            self.text.push_str(&value);
            return;
        }
        let name = format!("CAIMAN_VALUE_{}", self.values.len() + 1);
        self.text.extend(["${", &name, "}"]);
        self.values.push((name, value));
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The `[N]` behind `$ARGUMENTS`.
fn indexed(after: &str) -> Option<(Wanted<'_>, &str)> {
    let (number, after) = after.strip_prefix('[')?.split_once(']')?;
    Some((Wanted::Nth(number.parse().ok()?), after))
}

/// The command of a line that goes on with `` `command` ``.
fn inline(text: &str) -> Option<(&str, &str)> {
    let (command, after) = text.strip_prefix('`')?.split_once('`')?;
    let usable = !command.trim().is_empty() && command.len() <= COMMAND_BYTES;
    (usable && !command.contains('\n')).then_some((command, after))
}

/// The script of a ```` ```! ```` block that `text` begins with, and what follows the block.
fn block(text: &str) -> Option<(&str, &str)> {
    let (opening, body) = text.split_once('\n')?;
    if opening.trim() != "```!" {
        return None;
    }
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if line.trim() == "```" {
            let script = &body[..at];
            // The line break behind the closing fence stays with the text.
            let after = &body[at + line.trim_end_matches(['\n', '\r']).len()..];
            let usable = !script.trim().is_empty() && script.len() <= COMMAND_BYTES;
            return usable.then_some((script.trim_end(), after));
        }
        at += line.len();
    }
    None
}
