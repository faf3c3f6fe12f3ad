//! What a word means: quotes and escapes taken off, braces spelled out, the rest known or not.

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it was written.
    pub raw: String,
    /// What it means.
    pub meaning: Meaning,
}

/// What a word means to the program that gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Exactly this text. A leading `~` is the home folder.
    Plain(String),
    /// The names of files that fit this pattern, or the pattern itself.
    Pattern(String),
    /// Digits, known only when the command runs.
    Number,
    /// One word, known only when the command runs, that cannot be an option; with its literal characters.
    Anchored(String),
    /// Any number of words, known only when the command runs; with the literal characters.
    Unknown(String),
}

/// Most words that braces may stand for.
const MOST_BRACES: usize = 32;

/// One character of a word, or an expansion in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A character that means something to the shell.
    Bare(char),
    /// A character that was quoted.
    Quoted(char),
    /// An expansion.
    Hole(Hole),
}

/// What an expansion may give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hole {
    /// Digits.
    Number,
    /// Letters and digits without blanks, such as the id of a commit.
    Token,
    /// Any text that stays in one word.
    OneWord,
    /// Any number of words.
    AnyWords,
}

impl Word {
    /// A word that means what it says.
    pub(super) fn exactly(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { raw: text.clone(), meaning: Meaning::Plain(text) }
    }

    /// A word of unknown value.
    pub(super) fn unknown(raw: impl Into<String>) -> Self {
        Self { raw: raw.into(), meaning: Meaning::Unknown(String::new()) }
    }

    /// A word of unknown digits.
    pub(super) fn number(raw: impl Into<String>) -> Self {
        Self { raw: raw.into(), meaning: Meaning::Number }
    }

    /// The text, if it is plain.
    pub fn plain(&self) -> Option<&str> {
        match &self.meaning {
            Meaning::Plain(text) => Some(text),
            Meaning::Pattern(_) | Meaning::Number | Meaning::Anchored(_) | Meaning::Unknown(_) => {
                None
            }
        }
    }

    /// The name of the variable that the word is, in quotes or not. Arguments of a script (`$1`) are none.
    pub(crate) fn variable(&self) -> Option<&str> {
        let bare = self.raw.trim_matches('"').trim_end_matches('/');
        let name = bare.strip_prefix('$')?;
        let name = name.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(name);
        let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
            && !name.starts_with(|it: char| it.is_ascii_digit());
        (is_name && !name.is_empty()).then_some(name)
    }

    /// Whether it is a number, known or not.
    pub(super) fn is_number(&self) -> bool {
        match &self.meaning {
            Meaning::Plain(text) => text.parse::<i64>().is_ok(),
            Meaning::Number => true,
            Meaning::Pattern(_) | Meaning::Anchored(_) | Meaning::Unknown(_) => false,
        }
    }

    /// Whether the program may take it for an option. Unknown words may be one, and so may a pattern that
    /// begins with `*`: a file can be called `--output=x`.
    pub(crate) fn may_be_option(&self) -> bool {
        match &self.meaning {
            Meaning::Plain(text) => text.starts_with('-') && text.len() > 1,
            Meaning::Pattern(text) => text.starts_with(['-', '*', '?', '[']),
            Meaning::Number | Meaning::Anchored(_) => false,
            Meaning::Unknown(_) => true,
        }
    }

    /// The word with quotes only where the shell needs them.
    pub(super) fn quoted(&self) -> String {
        let is_variable = self.raw.contains('$') && !self.raw.contains("$'");
        let Some(text) = self.plain().filter(|_| !is_variable) else { return self.raw.clone() };
        let harmless = |it: char| it.is_alphanumeric() || "-_./:=@%+,~^".contains(it);
        if !text.is_empty() && text.chars().all(harmless) {
            text.to_owned()
        } else if self.raw.contains(['\'', '"', '\\']) {
            self.raw.clone()
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    }
}

/// The words that pieces stand for: one, or as many as its braces say.
pub(super) fn words(raw: &str, pieces: &[Piece]) -> Vec<Word> {
    let Some(spelled) = spell_braces(pieces) else {
        return vec![Word::unknown(raw)];
    };
    let alone = spelled.len() == 1;
    let word = |pieces: &Vec<Piece>| {
        let meaning = meaning(pieces);
        let raw = match &meaning {
            Meaning::Plain(text) if !alone => Word::exactly(text.clone()).quoted(),
            Meaning::Plain(_)
            | Meaning::Pattern(_)
            | Meaning::Number
            | Meaning::Anchored(_)
            | Meaning::Unknown(_) => raw.to_owned(),
        };
        Word { raw, meaning }
    };
    spelled.iter().map(word).collect()
}

fn meaning(pieces: &[Piece]) -> Meaning {
    let literal = |piece: &Piece| match piece {
        Piece::Bare(letter) | Piece::Quoted(letter) => Some(*letter),
        Piece::Hole(_) => None,
    };
    let text: String = pieces.iter().filter_map(literal).collect();
    let names_a_home = pieces.first() == Some(&Piece::Bare('~'))
        && !matches!(pieces.get(1), None | Some(Piece::Bare('/') | Piece::Quoted('/')));
    if names_a_home {
        return Meaning::Unknown(text);
    }
    if pieces.iter().any(|piece| matches!(piece, Piece::Hole(_))) {
        return with_holes(pieces, text);
    }
    let special = |piece: &Piece| matches!(piece, Piece::Bare('*' | '?' | '['));
    if pieces.iter().any(special) {
        return Meaning::Pattern(text);
    }
    if pieces.first() == Some(&Piece::Quoted('~')) {
        return Meaning::Plain(format!("./{text}"));
    }
    Meaning::Plain(text)
}

fn with_holes(pieces: &[Piece], text: String) -> Meaning {
    if pieces == [Piece::Hole(Hole::Number)] {
        return Meaning::Number;
    }
    let stays_one_word = pieces.iter().all(|piece| match piece {
        Piece::Bare(_) | Piece::Quoted(_) => true,
        Piece::Hole(hole) => *hole != Hole::AnyWords,
    });
    let begins_safely = match pieces.first() {
        Some(Piece::Bare(letter)) => !matches!(letter, '-' | '*' | '?' | '[' | '~'),
        Some(Piece::Quoted(letter)) => *letter != '-',
        Some(Piece::Hole(hole)) => matches!(hole, Hole::Number | Hole::Token),
        None => false,
    };
    if stays_one_word && begins_safely { Meaning::Anchored(text) } else { Meaning::Unknown(text) }
}

/// `a{b,c}d` as `abd` and `acd`. None where that is too much, or a sequence such as `{1..9}`.
fn spell_braces(pieces: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    let Some((open, close, commas)) = first_braces(pieces) else {
        return Some(vec![pieces.to_vec()]);
    };
    let inside = &pieces[open + 1..close];
    if commas.is_empty() {
        let dots = |pair: &[Piece]| pair == [Piece::Bare('.'), Piece::Bare('.')];
        if inside.windows(2).any(dots) {
            return None;
        }
        // `{x}` is no more than it says; what follows may still be more.
        let rest = spell_braces(&pieces[close..])?;
        return Some(rest.into_iter().map(|tail| [&pieces[..close], &tail].concat()).collect());
    }
    let mut all = Vec::new();
    let mut start = open + 1;
    for end in commas.into_iter().chain([close]) {
        let choice = [&pieces[..open], &pieces[start..end], &pieces[close + 1..]].concat();
        all.extend(spell_braces(&choice)?);
        start = end + 1;
        if all.len() > MOST_BRACES {
            return None;
        }
    }
    Some(all)
}

/// The first pair of braces that closes, and the commas directly inside.
fn first_braces(pieces: &[Piece]) -> Option<(usize, usize, Vec<usize>)> {
    let opens = (0..pieces.len()).filter(|index| pieces[*index] == Piece::Bare('{'));
    opens.into_iter().find_map(|open| {
        let (close, commas) = closing_brace(&pieces[open..])?;
        Some((open, open + close, commas.into_iter().map(|comma| open + comma).collect()))
    })
}

/// Where the brace that `pieces` begins with closes, and the commas directly inside.
fn closing_brace(pieces: &[Piece]) -> Option<(usize, Vec<usize>)> {
    let (mut depth, mut commas) = (0_usize, Vec::new());
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Bare('{') => depth += 1,
            Piece::Bare('}') if depth == 1 => return Some((index, commas)),
            Piece::Bare('}') => depth -= 1,
            Piece::Bare(',') if depth == 1 => commas.push(index),
            Piece::Bare(_) | Piece::Quoted(_) | Piece::Hole(_) => {}
        }
    }
    None
}

/// What `$'…'` says between its quotes; none for an escape we do not know.
pub(super) fn ansi_c(inside: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = inside.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        let number = |letters: &mut std::iter::Peekable<std::str::Chars<'_>>, radix, most| {
            let mut digits = String::new();
            while digits.len() < most
                && let Some(digit) = letters.next_if(|it: &char| it.is_digit(radix))
            {
                digits.push(digit);
            }
            let code = u32::from_str_radix(&digits, radix).ok()?;
            // Zero would end the word, and bytes past ASCII need not be UTF-8.
            char::from_u32(code).filter(|it| *it != '\0' && (most > 3 || it.is_ascii()))
        };
        text.push(match letters.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            same @ ('\\' | '\'' | '"' | '?') => same,
            'x' => number(&mut letters, 16, 2)?,
            'u' => number(&mut letters, 16, 4)?,
            'U' => number(&mut letters, 16, 8)?,
            octal @ '0'..='7' => {
                let mut with_first = octal.to_string();
                while with_first.len() < 3
                    && let Some(digit) = letters.next_if(|it| it.is_digit(8))
                {
                    with_first.push(digit);
                }
                let code = u32::from_str_radix(&with_first, 8).ok()?;
                char::from_u32(code).filter(|it| *it != '\0' && it.is_ascii())?
            }
            _ => return None,
        });
    }
    Some(text)
}
