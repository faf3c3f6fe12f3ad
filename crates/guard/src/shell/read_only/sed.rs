//! `sed` with scripts that print, delete and substitute, and no more.

use super::{Assurance, NotReadOnly, Proof, unsure};
use crate::shell::Word;

const LONG_FLAGS: &[&str] = &[
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--posix",
    "--separate",
    "--unbuffered",
    "--null-data",
    "--debug",
    "--version",
    "--help",
    "--sandbox",
];

/// Proves that a `sed` command writes nothing but its output. Every word that may be an option must be a known
/// flag or introduce a script.
pub(super) fn proof(arguments: &[Word]) -> Proof {
    let mut scripts: Vec<&Word> = Vec::new();
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !word.may_be_option() {
            operands.push(word);
            continue;
        }
        let Some(text) = word.plain() else { return Err(unsure("sed", word)) };
        match flags(text) {
            Some(Flags::Plain) => {}
            Some(Flags::Script) => scripts.extend(words.next()),
            None => {
                let why = format!("`sed {text}` is not on the list of read-only options");
                return Err(NotReadOnly::new(why));
            }
        }
    }
    if scripts.is_empty() {
        operands.retain(|word| word.plain() != Some("--"));
        scripts.extend(operands.first());
    }
    let harmless =
        |word: &&Word| word.plain().is_some_and(|text| Script(text).only_edits_the_stream());
    if scripts.is_empty() || !scripts.iter().all(harmless) {
        return Err(NotReadOnly::new("the sed script may write a file or run a command"));
    }
    Ok(Assurance::Checked)
}

/// What an option word does.
enum Flags {
    Plain,
    /// The next word is a script.
    Script,
}

fn flags(text: &str) -> Option<Flags> {
    if text == "--expression" {
        return Some(Flags::Script);
    }
    if text.starts_with("--") {
        return LONG_FLAGS.contains(&text).then_some(Flags::Plain);
    }
    let letters = text.strip_prefix('-')?;
    let (flags, kind) = match letters.strip_suffix('e') {
        Some(before) => (before, Flags::Script),
        None => (letters, Flags::Plain),
    };
    flags.chars().all(|it| "nErsuz".contains(it)).then_some(kind)
}

/// What is left to read of a sed script.
struct Script<'s>(&'s str);

impl Script<'_> {
    /// Whether all of it is addresses, labels, jumps and commands that change the pattern space or print.
    fn only_edits_the_stream(mut self) -> bool {
        // A backslash at the end joins the script with what follows it.
        if self.0.ends_with('\\') {
            return false;
        }
        loop {
            self.skip(|it| it.is_whitespace() || matches!(it, ';' | '{' | '}'));
            if self.0.is_empty() {
                return true;
            }
            if self.addresses().is_none() || self.command().is_none() {
                return false;
            }
        }
    }

    fn addresses(&mut self) -> Option<()> {
        loop {
            self.skip(|it| it == ' ');
            match self.0.chars().next()? {
                '/' => {
                    self.next();
                    self.until('/')?;
                    self.skip(|it| matches!(it, 'I' | 'M'));
                }
                '0'..='9' | '$' | ',' | '~' | '+' | '!' => drop(self.next()),
                _ => return Some(()),
            }
        }
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            '{' | '}' => Some(()),
            'p' | 'd' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'D' | 'P' | 'z' | 'F' => {
                self.ends()
            }
            'q' | 'Q' | 'l' => {
                self.skip(|it| it.is_ascii_digit() || it == ' ');
                self.ends()
            }
            ':' | 'b' | 't' | 'T' => {
                self.skip(|it| it == ' ');
                self.skip(|it| it.is_ascii_alphanumeric() || it == '_');
                self.ends()
            }
            's' => {
                self.delimited_pair()?;
                self.skip(|it| {
                    it.is_ascii_digit() || matches!(it, 'g' | 'p' | 'i' | 'I' | 'm' | 'M')
                });
                self.ends()
            }
            'y' => {
                self.delimited_pair()?;
                self.ends()
            }
            _ => None,
        }
    }

    /// The two parts of `s` and `y`.
    fn delimited_pair(&mut self) -> Option<()> {
        let mark = self.next().filter(|it| {
            !it.is_alphanumeric() && !it.is_whitespace() && !matches!(it, '\\' | ';' | '[' | ']')
        })?;
        self.until(mark)?;
        self.until(mark)
    }

    /// What follows a command must not belong to it.
    fn ends(&mut self) -> Option<()> {
        self.skip(|it| it == ' ');
        match self.0.chars().next() {
            None | Some(';' | '\n' | '}') => Some(()),
            Some(_) => None,
        }
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.0.chars().next()?;
        self.0 = &self.0[letter.len_utf8()..];
        Some(letter)
    }

    fn skip(&mut self, is: impl Fn(char) -> bool) {
        self.0 = self.0.trim_start_matches(is);
    }

    /// Goes past the next `mark` that is not escaped. A class such as `[/]` is refused: whether the mark
    /// counts inside depends on the sed.
    fn until(&mut self, mark: char) -> Option<()> {
        let mut class = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next().filter(|it| *it != '\n')?;
                }
                letter if letter == mark => return (!class).then_some(()),
                '[' => class = true,
                ']' => class = false,
                '\n' => return None,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_scripts_only_edit_the_stream() {
        for script in [
            "10,20p",
            "$p",
            "/a/,/b/p",
            "s/a/b/g",
            "s|a|b|;s#c#d#p",
            "/^$/d",
            ":a;N;$!ba;s/\\n/ /g",
            "1!G;h;$!d",
            "y/abc/xyz/",
            "/x/{n;p}",
            "5q",
            "/a/I,+3p",
        ] {
            assert!(Script(script).only_edits_the_stream(), "{script}");
        }
    }

    #[test]
    fn scripts_that_write_or_run_are_refused() {
        for script in [
            "w x",
            "1w x",
            "s/a/b/w x",
            "s/a/b/e",
            "e id",
            "1e",
            "r x",
            "R x",
            "W x",
            "s/a/b/;w x",
            "p;w x",
            "{w x\n}",
            "s/[/]/w x/",
            "s/a/b\\\n/w x",
            "a\\",
            ":a w x",
            "b;e",
            "s/a/b/gw x",
            "i\\\nx",
        ] {
            assert!(!Script(script).only_edits_the_stream(), "{script}");
        }
    }
}
