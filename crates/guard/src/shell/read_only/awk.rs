//! `awk` with a program that reads and prints, and no more.
//!
//! The program is cut into tokens, since `>` compares in a pattern and writes a file after `print`, and `|` is an
//! ordinary character in a regular expression and runs a command elsewhere.

use super::{Assurance, NotReadOnly, Proof, unsure};
use crate::shell::Word;

/// Names that read files of the program's choice, run commands, load code or change what is read.
const BANNED: &[&str] = &[
    "system",
    "getline",
    "close",
    "fflush",
    "ARGV",
    "ARGC",
    "ENVIRON",
    "PROCINFO",
    "SYMTAB",
    "FUNCTAB",
    "BINMODE",
    "include",
    "load",
    "namespace",
    "function",
    "func",
    "nextfile",
];

/// Proves that an `awk` command only reads.
pub(super) fn proof(arguments: &[Word]) -> Proof {
    let mut words = arguments.iter();
    let mut program = None;
    while let Some(word) = words.next() {
        let Some(text) = word.plain() else { return Err(unsure("awk", word)) };
        match text {
            "-F" => {
                let value = words.next().and_then(Word::plain);
                value
                    .filter(|it| !it.starts_with('-') || *it == "-")
                    .ok_or_else(|| unsure("awk", word))?;
            }
            "-v" => {
                // The value goes through escapes, not through the program; a name is all that matters.
                let assignment = words.next().ok_or_else(|| unsure("awk", word))?;
                check_assignment(assignment)?;
            }
            "--version" | "--help" if arguments.len() == 1 => return Ok(Assurance::Checked),
            _ if text.starts_with("-F") => {}
            _ if text.starts_with('-') => {
                let why = format!("`awk {text}` is not on the list of read-only options");
                return Err(NotReadOnly::new(why));
            }
            text => {
                program = Some(text);
                break;
            }
        }
    }
    let program = program.ok_or_else(|| NotReadOnly::new("`awk` has no program"))?;
    if !only_prints(program) {
        return Err(NotReadOnly::new("the awk program may write a file or run a command"));
    }
    for operand in words {
        check_operand(operand)?;
    }
    Ok(Assurance::Checked)
}

/// `-v name=value`, where the value may be known only when the command runs.
fn check_assignment(word: &Word) -> Result<(), NotReadOnly> {
    let name = word.raw.trim_start_matches(['"', '\'']).split('=').next().unwrap_or_default();
    let plain = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    if plain && !name.is_empty() && !BANNED.contains(&name) && !word.may_be_option() {
        Ok(())
    } else {
        Err(unsure("awk", word))
    }
}

/// Files, or assignments. `/inet/…` is a connection to gawk.
fn check_operand(word: &Word) -> Result<(), NotReadOnly> {
    let text = word.plain().unwrap_or(&word.raw);
    if word.may_be_option() || text.contains("/inet") {
        return Err(unsure("awk", word));
    }
    Ok(())
}

/// One piece of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'p> {
    Name(&'p str),
    Number,
    Text,
    Regex,
    Operator(char),
    /// The end of a line.
    Newline,
}

/// Whether a program neither writes, runs, reads other files nor loads code.
fn only_prints(program: &str) -> bool {
    let Some(tokens) = tokens(program) else { return false };
    // Even inside strings and regular expressions, in case a slash was taken for the wrong thing.
    if ["system", "getline", "/inet"].iter().any(|it| program.contains(it)) {
        return false;
    }
    let mut printing = false;
    let mut depth = 0_usize;
    let mut previous = None;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) if BANNED.contains(name) => return false,
            Token::Name("print" | "printf") => (printing, depth) = (true, 0),
            Token::Operator('(' | '[') => depth += 1,
            Token::Operator(')' | ']') => depth = depth.saturating_sub(1),
            Token::Operator(';' | '}' | '{') | Token::Newline if depth == 0 => printing = false,
            Token::Operator('>') if (printing && depth == 0) || begins_statement(previous) => {
                return false;
            }
            Token::Operator('@') => return false,
            Token::Operator('|') => {
                let doubled = previous == Some(Token::Operator('|'))
                    || tokens.get(at + 1) == Some(&Token::Operator('|'));
                if !doubled {
                    return false;
                }
            }
            Token::Name(_)
            | Token::Number
            | Token::Text
            | Token::Regex
            | Token::Operator(_)
            | Token::Newline => {}
        }
        previous = Some(*token);
    }
    true
}

/// Whether a token stands where a statement may begin, so that an operator there belongs to the line before.
fn begins_statement(previous: Option<Token<'_>>) -> bool {
    matches!(previous, None | Some(Token::Newline | Token::Operator(';' | '{' | '}')))
}

/// The tokens of a program; none if a string or regular expression does not end.
fn tokens(program: &str) -> Option<Vec<Token<'_>>> {
    let mut all = Vec::new();
    let mut rest = program;
    while let Some(letter) = rest.chars().next() {
        let (token, length) = match letter {
            '"' => (Some(Token::Text), quoted_length(rest, '"')?),
            '/' if begins_regex(all.last()) => (Some(Token::Regex), regex_length(rest)?),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '\\' if rest.starts_with("\\\n") => (None, 2),
            '\\' => return None,
            '\n' => (Some(Token::Newline), 1),
            _ if letter.is_whitespace() => (None, letter.len_utf8()),
            _ if letter.is_ascii_alphabetic() || letter == '_' => {
                let length = rest
                    .find(|it: char| !it.is_ascii_alphanumeric() && it != '_')
                    .unwrap_or(rest.len());
                (Some(Token::Name(&rest[..length])), length)
            }
            _ if letter.is_ascii_digit() => {
                let length = rest
                    .find(|it: char| !it.is_ascii_alphanumeric() && it != '.')
                    .unwrap_or(rest.len());
                (Some(Token::Number), length)
            }
            _ => (Some(Token::Operator(letter)), letter.len_utf8()),
        };
        all.extend(token);
        rest = &rest[length..];
    }
    Some(all)
}

/// Whether a slash begins a regular expression: not after something that has a value, where it divides.
fn begins_regex(previous: Option<&Token<'_>>) -> bool {
    match previous {
        None | Some(Token::Newline) => true,
        Some(Token::Name(name)) => {
            ["print", "printf", "return", "in", "case", "else", "do"].contains(name)
        }
        Some(Token::Number | Token::Text | Token::Regex) => false,
        Some(Token::Operator(operator)) => !matches!(operator, ')' | ']' | '$' | '+' | '-'),
    }
}

fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()?),
            '\n' => return None,
            _ if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A slash inside `[…]` ends the expression in some awks and not in others, so it is refused.
fn regex_length(text: &str) -> Option<usize> {
    let length = quoted_length(text, '/')?;
    let inside = &text[1..length - 1];
    let opened = inside.rfind('[').map_or(0, |at| at + 1);
    let is_open = opened > 0 && !inside[opened..].contains(']');
    (!is_open).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_only_print_pass() {
        for program in [
            "{print $1}",
            "NR>=10 && NR<=20",
            "$3 > 100 {print $1, $2}",
            "/a|b/ {n++} END {print n}",
            "{s+=$1} END {print s/NR}",
            "{ if ($1 > 5) print $2 }",
            "BEGIN{FS=\":\"} {printf \"%s\\n\", $1}",
            "length($0) > 80",
            "!seen[$0]++",
            "{print (a > b)}",
            "{gsub(/x/, \"y\"); print}",
            "a || b",
            "END{print NR}",
            "{print $NF \"|\" $1}",
        ] {
            assert!(only_prints(program), "{program}");
        }
    }

    #[test]
    fn programs_that_write_run_or_connect_are_refused() {
        for program in [
            "{print > \"f\"}",
            "{print $1 >> \"f\"}",
            "{print | \"sh\"}",
            "{\"id\" | getline x}",
            "BEGIN{system(\"id\")}",
            "{print (1)(2) > \"f\"}",
            "{printf \"x\" > \"f\"}",
            "BEGIN{getline x < \"f\"}",
            "@include \"f\"",
            "BEGIN{ARGV[1]=\"f\"}",
            "{print $1, $2 |& \"sh\"}",
            "{print \"a;b\" > \"f\"}",
            "{print\n > \"f\"}",
            "{print a[1] > \"f\"}",
            "{x = y / print > \"f\" /}",
            "BEGIN{@f()}",
            "{print \\\n> \"f\"}",
            "{print \"a\" \"/\" > \"f/\"}",
        ] {
            assert!(!only_prints(program), "{program}");
        }
    }
}
