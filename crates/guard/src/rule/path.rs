//! The pattern of a `Read(…)` or `Edit(…)` rule: gitignore's, with an anchor.

use std::path::Path;

/// Where a pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Anchor {
    /// `//etc/**`: the root of the file system.
    System,
    /// `~/notes/**`: the user's home.
    Home,
    /// `/src/**`: the folder of the file the rule stands in.
    Settings,
    /// `src/**`: the folder we work in.
    Folder,
}

/// Which files a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PathPattern {
    pub(super) anchor: Anchor,
    segments: Vec<Segment>,
    /// Whether it may begin at any depth below the anchor.
    floating: bool,
    /// Whether it is one folder's name and `/**`: floats too where a rule forbids.
    lone_folder: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Segment {
    /// `**`: any number of folders.
    Any,
    /// A name, perhaps with `*`, `?` and `[…]`.
    Name(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Token {
    Letter(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// How strictly a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// For what a rule allows: to the letter.
    Narrow,
    /// For what a rule forbids or asks about: letter case aside, a lone folder at any depth.
    Wide,
}

impl PathPattern {
    /// Reads what stands between the brackets; the error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the brackets are empty");
        }
        if text.starts_with('!') {
            return Err("a pattern cannot be negated; write a rule of the other kind");
        }
        let (anchor, rest) = match text.strip_prefix("//") {
            Some(rest) => (Anchor::System, rest),
            None => match (text.strip_prefix("~/"), text.strip_prefix('/')) {
                (Some(rest), _) => (Anchor::Home, rest),
                (None, Some(rest)) => (Anchor::Settings, rest),
                (None, None) if text == "~" => (Anchor::Home, ""),
                (None, None) => (Anchor::Folder, text.strip_prefix("./").unwrap_or(text)),
            },
        };
        let dotted = text.starts_with("./");
        let names: Vec<&str> = rest.split('/').filter(|name| !name.is_empty()).collect();
        if names.iter().any(|name| *name == ".." || *name == ".") {
            return Err("`.` and `..` have no meaning inside a pattern");
        }
        let segments = names.iter().map(|name| segment(name)).collect::<Result<Vec<_>, _>>()?;
        let floating = anchor == Anchor::Folder && !dotted && names.len() == 1;
        let lone_folder = anchor == Anchor::Folder
            && matches!(segments.as_slice(), [Segment::Name(_), Segment::Any]);
        Ok(Self { anchor, segments, floating, lone_folder })
    }

    /// Whether a path below the anchor (its names from there) is one of those meant, or lies below one.
    pub(super) fn matches(&self, below: &Path, reading: Reading) -> bool {
        let names: Vec<String> =
            below.components().map(|it| fold(&it.as_os_str().to_string_lossy(), reading)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let floats = self.floating || self.lone_folder && reading == Reading::Wide;
        let last_start = if floats { names.len() } else { 0 };
        (0..=last_start).any(|start| self.fits_or_holds(&names[start..], reading))
    }

    fn fits_or_holds(&self, names: &[&str], reading: Reading) -> bool {
        // A folder that is meant takes all below it along.
        (0..=names.len()).any(|end| fits(&self.segments, &names[..end], reading))
            && !(self.segments.is_empty() && self.anchor == Anchor::Folder)
    }
}

fn fits(segments: &[Segment], names: &[&str], reading: Reading) -> bool {
    match (segments.split_first(), names.split_first()) {
        (None, None) => true,
        // At the end it means what is inside a folder, not the folder itself.
        (Some((Segment::Any, [])), first) => first.is_some(),
        (Some((Segment::Any, rest)), _) => {
            (0..=names.len()).any(|skip| fits(rest, &names[skip..], reading))
        }
        (None, Some(_)) | (Some((Segment::Name(_), _)), None) => false,
        (Some((Segment::Name(tokens), rest)), Some((name, names))) => {
            let letters: Vec<char> = name.chars().collect();
            name_fits(tokens, &letters, reading) && fits(rest, names, reading)
        }
    }
}

/// Matches a name with at most one way back, so that many stars stay cheap.
fn name_fits(tokens: &[Token], letters: &[char], reading: Reading) -> bool {
    let (mut token, mut letter) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while letter < letters.len() {
        match tokens.get(token) {
            Some(Token::Many) => {
                back = Some((token, letter));
                token += 1;
            }
            Some(one) if is_one(one, letters[letter], reading) => {
                token += 1;
                letter += 1;
            }
            Some(_) | None => match back {
                Some((star, since)) => {
                    back = Some((star, since + 1));
                    token = star + 1;
                    letter = since + 1;
                }
                None => return false,
            },
        }
    }
    tokens[token..].iter().all(|rest| *rest == Token::Many)
}

fn is_one(token: &Token, letter: char, reading: Reading) -> bool {
    match token {
        Token::Letter(wanted) => fold_letter(*wanted, reading) == letter,
        Token::One => true,
        Token::Many => false,
        Token::Class { negated, ranges } => {
            let inside = ranges.iter().any(|(low, high)| {
                (*low..=*high).contains(&letter)
                    || reading == Reading::Wide
                        && (*low..=*high).contains(&letter.to_ascii_uppercase())
            });
            inside != *negated
        }
    }
}

fn fold(name: &str, reading: Reading) -> String {
    match reading {
        Reading::Narrow => name.to_owned(),
        Reading::Wide => name.chars().map(|letter| fold_letter(letter, reading)).collect(),
    }
}

fn fold_letter(letter: char, reading: Reading) -> char {
    match reading {
        Reading::Narrow => letter,
        Reading::Wide => letter.to_lowercase().next().unwrap_or(letter),
    }
}

fn segment(name: &str) -> Result<Segment, &'static str> {
    if name == "**" {
        return Ok(Segment::Any);
    }
    let mut tokens = Vec::new();
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            '*' => Token::Many,
            '?' => Token::One,
            '\\' => Token::Letter(letters.next().ok_or("it ends with a lone backslash")?),
            '[' => class(&mut letters)?,
            other => Token::Letter(other),
        });
    }
    Ok(Segment::Name(tokens))
}

fn class(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Token, &'static str> {
    let unclosed = "a `[` is not closed";
    let negated = letters.next_if(|it| matches!(it, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    loop {
        let low = match letters.next().ok_or(unclosed)? {
            ']' if !ranges.is_empty() => return Ok(Token::Class { negated, ranges }),
            '\\' => letters.next().ok_or(unclosed)?,
            other => other,
        };
        let mut ahead = letters.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(high)) if high != ']' => {
                *letters = ahead;
                high
            }
            (Some(_) | None, _) => low,
        };
        ranges.push((low, high));
    }
}
