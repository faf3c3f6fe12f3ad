//! `sed` and `awk`: programs in a program.

use super::options::unsure;
use super::{NotReadOnly, Proof, Word};

/// `sed` with scripts that print, delete and substitute, and no more.
pub(super) fn sed(arguments: &[Word]) -> Proof {
    let mut scripts = Vec::new();
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !word.may_be_option() {
            operands.push(word);
            continue;
        }
        let Some(text) = word.plain() else { return Err(unsure("sed", word)) };
        match text {
            "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-nE" | "-nr" | "-En" | "--quiet"
            | "--silent" | "--regexp-extended" | "--posix" => {}
            "-e" | "-ne" | "-Ee" | "--expression" => scripts.extend(words.next()),
            _ => return Err(NotReadOnly::new(format!("`sed {text}` may write"))),
        }
    }
    if scripts.is_empty() {
        scripts.extend(operands.first());
    }
    let harmless =
        |word: &&Word| word.plain().is_some_and(|script| SedScript(script).only_edits_the_stream());
    if scripts.is_empty() || !scripts.iter().all(harmless) {
        return Err(NotReadOnly::new("the sed script may write or run something"));
    }
    Ok(())
}

/// What is left to read of a sed script.
struct SedScript<'s>(&'s str);

impl SedScript<'_> {
    /// Whether all of it is addresses and the commands `p d q = n N g G h H x D P s y`.
    fn only_edits_the_stream(mut self) -> bool {
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
            'p' | 'd' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'D' | 'P' => self.ends(),
            'q' => {
                self.skip(|it| it.is_ascii_digit() || it == ' ');
                self.ends()
            }
            's' => {
                let mark =
                    self.next().filter(|it| !it.is_alphanumeric() && *it != '\\' && *it != '\n')?;
                self.until(mark)?;
                self.until(mark)?;
                self.skip(|it| {
                    it.is_ascii_digit() || matches!(it, 'g' | 'p' | 'i' | 'I' | 'm' | 'M')
                });
                self.ends()
            }
            'y' => {
                let mark =
                    self.next().filter(|it| !it.is_alphanumeric() && *it != '\\' && *it != '\n')?;
                self.until(mark)?;
                self.until(mark)?;
                self.ends()
            }
            _ => None,
        }
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
                '\\' => drop(self.next()?),
                letter if letter == mark => return (!class).then_some(()),
                '[' => class = true,
                ']' => class = false,
                '\n' => return None,
                _ => {}
            }
        }
    }
}

/// `awk` with a program that prints, and no more.
pub(super) fn awk(arguments: &[Word]) -> Proof {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.plain() else { return Err(unsure("awk", word)) };
        match text {
            "-F" => drop(words.next()),
            "-v" => {
                if words.next().and_then(Word::plain).is_none() {
                    return Err(unsure("awk", word));
                }
            }
            _ if text.starts_with("-F") => {}
            _ if text.starts_with('-') => {
                return Err(NotReadOnly::new(format!("`awk {text}` may run a program file")));
            }
            program => {
                let reaches = ["system", "|", ">", "getline", "@", "print >", "close", "ENVIRON"];
                if reaches.iter().any(|it| program.contains(it)) {
                    return Err(NotReadOnly::new("the awk program may write or run something"));
                }
                return Ok(());
            }
        }
    }
    Ok(())
}
