//! The table of programs that only read (`data/read_only.txt`), and how a command's words are held against it.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Word;

/// The table; its head describes the format.
const TABLE: &str = include_str!("../../data/read_only.txt");

/// What must hold for a command to run without a question. The later, the weaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assurance {
    /// No option of the programs it runs can write, start a program or connect.
    Inert,
    /// Some options can, and none of those is there.
    Checked,
    /// It may run code that the project chooses: only the read-only sandbox makes it harmless.
    Sandboxed,
}

/// What a program's operands may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands<'t> {
    /// Anything.
    Any,
    /// All words are text, those with dashes too.
    Text,
    /// At most so many: the next one would be written.
    AtMost(usize),
    /// Numbers, and job names such as `%1`.
    Numbers,
    /// Words that begin with `+`.
    Plus,
    /// Anything but `@file`, which holds options.
    NotAt,
    /// One of these words.
    Only(&'t str),
}

/// One entry of the table.
#[derive(Debug, Clone)]
pub(super) struct Program<'t> {
    assurance: Assurance,
    has_subcommands: bool,
    operands: Operands<'t>,
    needs: Vec<&'t str>,
    /// Option tokens, as the table writes them.
    options: Vec<&'t str>,
}

/// Why a command's words do not fit its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mismatch {
    /// This option is not listed.
    Option(String),
    /// The value of this word is not known, and it may be an option.
    Unknown(String),
    /// This operand is not one the entry allows.
    Operand(String),
    /// None of the options is there that make the program only read.
    Missing,
}

/// What one word is, by the table.
enum Matched {
    /// An option, by its letters or its name, and whether the next word is its value.
    Option {
        names: Vec<String>,
        takes_next: bool,
    },
    Operand,
}

/// The entry for a program or its subcommand, with the words that are left to check. Options in front of the
/// subcommand have been checked.
pub(super) struct Entry<'w> {
    pub(super) program: &'static Program<'static>,
    /// Name of the entry: the program, or program and subcommand.
    pub(super) name: String,
    /// The words after the program or the subcommand.
    pub(super) after: &'w [Word],
}

/// The table by name.
static PROGRAMS: LazyLock<HashMap<&'static str, Program<'static>>> = LazyLock::new(|| {
    let entries = records().filter_map(|(names, body)| Some((names, Program::parse(body)?)));
    entries
        .flat_map(|(names, program)| names.split(',').map(move |it| (it.trim(), program.clone())))
        .collect()
});

/// Every name the table has an entry for.
pub fn listed_programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.keys().copied()
}

/// Whether any entry is about this program.
pub(super) fn is_listed(program: &str) -> bool {
    PROGRAMS.contains_key(program)
        || listed_programs().any(|name| name.split(' ').next() == Some(program))
}

/// Finds the entry for a command.
pub(super) fn find<'w>(program: &str, arguments: &'w [Word]) -> Option<Entry<'w>> {
    let whole = lookup(program);
    let is_umbrella = whole.is_some_and(|it| it.has_subcommands);
    let start = if is_umbrella { whole?.options_end(arguments)? } else { 0 };
    let rest = &arguments[start..];
    let verbs: Vec<&str> = rest.iter().take(2).map_while(Word::plain).collect();
    for count in (1..=verbs.len()).rev() {
        let name = format!("{program} {}", verbs[..count].join(" "));
        if let Some(entry) = lookup(&name) {
            return Some(Entry { program: entry, name, after: &rest[count..] });
        }
    }
    // A subcommand without an entry is unknown, not an operand.
    if is_umbrella && !rest.is_empty() {
        return None;
    }
    whole.map(|entry| Entry { program: entry, name: program.to_owned(), after: arguments })
}

fn lookup(name: &str) -> Option<&'static Program<'static>> {
    PROGRAMS.get(name)
}

/// Names and body of each entry. A name list and a body may go over several lines.
fn records() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut rest = TABLE;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let end = entry_end(rest);
            let (entry, after) = rest.split_at(end);
            rest = after;
            if entry.trim().is_empty() || entry.starts_with('#') {
                continue;
            }
            // `:` is a builtin's name too: the list of names ends where a colon meets a blank.
            let colon = entry.match_indices(':').find(|(at, _)| {
                entry[at + 1..].starts_with(char::is_whitespace) && !entry[..*at].ends_with(',')
            })?;
            return Some((&entry[..colon.0], &entry[colon.0 + 1..]));
        }
    })
}

/// Where the first entry of a text ends: before the next line that does not begin with a blank.
fn entry_end(text: &str) -> usize {
    let mut lines = text.match_indices('\n').map(|(at, _)| at + 1);
    lines.find(|at| !text[*at..].starts_with([' ', '\t'])).unwrap_or(text.len())
}

impl<'t> Program<'t> {
    fn parse(body: &'t str) -> Option<Self> {
        let mut words = body.split_whitespace();
        let assurance = match words.next()? {
            "inert" => Assurance::Inert,
            "checked" => Assurance::Checked,
            "sandboxed" => Assurance::Sandboxed,
            _ => return None,
        };
        let mut program = Self {
            assurance,
            has_subcommands: false,
            operands: Operands::Any,
            needs: Vec::new(),
            options: Vec::new(),
        };
        for word in words {
            if word == "subcommands" {
                program.has_subcommands = true;
            } else if let Some(kind) = word.strip_prefix("operands=") {
                program.operands = Operands::parse(kind)?;
            } else if let Some(list) = word.strip_prefix("needs=") {
                program.needs = list.split(',').collect();
            } else {
                program.options.push(word);
            }
        }
        Some(program)
    }

    pub(super) fn assurance(&self) -> Assurance {
        self.assurance
    }

    /// Where the options before a subcommand end; none if one of them is not listed.
    fn options_end(&self, words: &[Word]) -> Option<usize> {
        let mut index = 0;
        while let Some(word) = words.get(index) {
            let text = word.plain()?;
            match self.matched(text)? {
                Matched::Operand => return Some(index),
                Matched::Option { takes_next: true, .. } => {
                    words.get(index + 1)?.plain().filter(|it| !it.starts_with('-'))?;
                    index += 2;
                }
                Matched::Option { takes_next: false, .. } => index += 1,
            }
        }
        Some(index)
    }

    /// Checks every word: wherever it stands, a word that may be an option must be a listed one.
    pub(super) fn check(&self, words: &[Word]) -> Result<(), Mismatch> {
        if self.operands == Operands::Text {
            return Ok(());
        }
        let mut operands = 0;
        let mut needed = self.needs.is_empty();
        let mut is_value = false;
        for word in words {
            let was_value = std::mem::take(&mut is_value);
            let Some(text) = word.plain() else {
                self.check_unknown(word)?;
                operands += usize::from(!was_value);
                continue;
            };
            match self.matched(text).ok_or_else(|| Mismatch::Option(word.raw.clone()))? {
                Matched::Option { names, takes_next } => {
                    // Behind an operand or `--` some programs take it for a file.
                    let leads = operands == 0;
                    if !leads && matches!(self.operands, Operands::AtMost(_)) {
                        operands += 1;
                        if !self.operands.accepts(text, operands) {
                            return Err(Mismatch::Operand(word.raw.clone()));
                        }
                    }
                    needed |= leads && names.iter().any(|name| self.needs.contains(&name.as_str()));
                    is_value = takes_next;
                }
                Matched::Operand if was_value => {}
                Matched::Operand => {
                    operands += 1;
                    if !self.operands.accepts(text, operands) {
                        return Err(Mismatch::Operand(word.raw.clone()));
                    }
                }
            }
        }
        // Without its value, some programs take an option at the end for a file.
        if needed && !is_value { Ok(()) } else { Err(Mismatch::Missing) }
    }

    fn check_unknown(&self, word: &Word) -> Result<(), Mismatch> {
        let free = match self.operands {
            Operands::Any | Operands::Text => true,
            Operands::NotAt => !word.raw.trim_start_matches(['"', '\'']).starts_with('@'),
            Operands::Numbers => word.is_number(),
            Operands::AtMost(_) | Operands::Plus | Operands::Only(_) => false,
        };
        let harmless = self.assurance == Assurance::Inert || !word.may_be_option();
        if free && harmless { Ok(()) } else { Err(Mismatch::Unknown(word.raw.clone())) }
    }

    /// What a literal word is; none if it is an option that is not listed.
    fn matched(&self, text: &str) -> Option<Matched> {
        if !text.starts_with('-') || text == "-" || text == "--" {
            return Some(Matched::Operand);
        }
        if let Some(exact) = self.exact(text) {
            return Some(exact);
        }
        if text.starts_with("--") {
            return self.long(text);
        }
        let digits = &text[1..];
        if self.options.contains(&"-#") && digits.chars().all(|it| it.is_ascii_digit()) {
            return Some(Matched::Option { names: Vec::new(), takes_next: false });
        }
        self.bundle(text)
    }

    /// `@-name`, alone or with `=value`.
    fn exact(&self, text: &str) -> Option<Matched> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let mut exact = self.options.iter().filter_map(|it| it.strip_prefix('@'));
        let listed = exact.find(|it| it.strip_suffix('=').unwrap_or(it) == name)?;
        let takes_next = listed.ends_with('=') && value.is_none();
        Some(Matched::Option { names: vec![name.to_owned()], takes_next })
    }

    fn long(&self, text: &str) -> Option<Matched> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        // Where some values are listed, the others are not allowed.
        let prefix = format!("{name}=");
        let has_values =
            self.options.iter().any(|it| it.len() > prefix.len() && it.starts_with(&prefix));
        if has_values && value.is_some() {
            let is_listed = self.options.contains(&text);
            return is_listed
                .then(|| Matched::Option { names: vec![name.to_owned()], takes_next: false });
        }
        self.options.iter().find_map(|option| {
            let (listed, only) = match option.split_once('=') {
                Some((listed, only)) => (listed, Some(only)),
                None => (*option, None),
            };
            let fits = listed == name
                && match only {
                    None | Some("") => true,
                    Some(only) => value == Some(only),
                };
            let takes_next = only == Some("") && value.is_none();
            fits.then(|| Matched::Option { names: vec![name.to_owned()], takes_next })
        })
    }

    /// The characters that the attached value of an option may have; none for an option without a value, an empty
    /// text for any value.
    fn value_letters(&self, letter: char) -> Option<&'t str> {
        self.options.iter().find_map(|it| {
            let (name, allowed) = it.strip_prefix('-')?.split_once('=')?;
            let mut name = name.chars();
            (name.next() == Some(letter) && name.next().is_none()).then_some(allowed)
        })
    }

    /// Letters after one dash: each must be listed; the first that has a value takes the rest of the word.
    fn bundle(&self, text: &str) -> Option<Matched> {
        let mut names = Vec::new();
        let mut letters = text.chars().skip(1);
        while let Some(letter) = letters.next() {
            names.push(format!("-{letter}"));
            if let Some(allowed) = self.value_letters(letter) {
                let value: String = letters.collect();
                let fits = allowed.is_empty() || value.chars().all(|it| allowed.contains(it));
                return fits.then_some(Matched::Option { names, takes_next: value.is_empty() });
            }
            let is_flag = self.options.iter().any(|it| {
                let group = it.strip_prefix('-').filter(|it| !it.starts_with(['-', '#']));
                group.is_some_and(|it| !it.contains('=') && it.contains(letter))
            });
            if !is_flag {
                return None;
            }
        }
        Some(Matched::Option { names, takes_next: false })
    }
}

impl<'t> Operands<'t> {
    fn parse(kind: &'t str) -> Option<Self> {
        Some(match kind {
            "any" => Self::Any,
            "text" => Self::Text,
            "none" => Self::AtMost(0),
            "numbers" => Self::Numbers,
            "plus" => Self::Plus,
            "not-at" => Self::NotAt,
            _ => match kind.strip_prefix("only=") {
                Some(list) => Self::Only(list),
                None => Self::AtMost(kind.parse().ok()?),
            },
        })
    }

    fn accepts(self, text: &str, count: usize) -> bool {
        match self {
            Self::Any | Self::Text => true,
            Self::NotAt => !text.starts_with('@'),
            Self::AtMost(most) => count <= most || text == "--",
            Self::Numbers => {
                let number = text.strip_prefix('%').unwrap_or(text);
                number.chars().all(|it| it.is_ascii_digit())
            }
            Self::Plus => text.starts_with('+') || text == "--",
            Self::Only(list) => list.split(',').any(|it| it == text),
        }
    }
}
