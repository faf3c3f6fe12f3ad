//! The popup at the caret: commands and skills after a slash; files, agents and resources of servers after an
//! at sign.

mod draw;

use std::cmp::Reverse;
use std::ops::Range;

use base::fuzzy::{Match, Pattern};
use base::protocol::{Offer, OfferKind};

use super::Wanted;
use super::marks::is_mark;
use super::motion::line_start;

/// Rows it has at most.
pub(super) const MOST_ROWS: usize = 10;

/// What an offer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A command or a skill that takes nothing.
    Command,
    /// One that may be given something.
    Optional,
    /// One that must be given something.
    Needy,
    /// An agent.
    Agent,
    /// A file.
    File,
    /// A folder.
    Folder,
    /// What a server lets be read.
    Resource,
}

/// An offer that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    kind: Kind,
    /// What is put in, without slash or sign.
    name: String,
    /// Where the letters stand that were typed.
    letters: Vec<usize>,
    arguments: String,
    about: String,
}

/// What stands at the caret.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    sign: Sign,
    /// All of it, sign included.
    range: Range<usize>,
    /// What was typed between sign and caret.
    search: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Slash,
    At,
}

/// What to do when an item is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// What is replaced.
    pub(super) range: Range<usize>,
    /// By what.
    pub(super) text: String,
    /// What comes next.
    pub(super) then: Then,
}

/// What comes after an item was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// More is written.
    Write,
    /// It is said at once.
    Send,
}

/// Which key takes an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// Enter: it is done.
    Enter,
    /// Tab: folders are entered, commands get their arguments.
    Tab,
}

/// The popup.
#[derive(Debug, Default)]
pub(super) struct Popup {
    word: Option<Word>,
    /// The word it was closed at.
    closed: Option<Word>,
    items: Vec<Item>,
    chosen: usize,
    files: Vec<String>,
}

impl Popup {
    /// Looks what stands at the caret now.
    pub(super) fn refresh(&mut self, text: &str, caret: usize, offers: &[Offer]) {
        let word = word_at(text, caret);
        if word == self.word {
            return;
        }
        if self.closed != word {
            self.closed = None;
        }
        if word.as_ref().is_none_or(|word| word.sign == Sign::Slash) {
            self.files.clear();
        }
        self.word = word;
        self.chosen = 0;
        self.fill(offers);
    }

    /// Finds the offers that fit again, as when there are others.
    pub(super) fn fill(&mut self, offers: &[Offer]) {
        self.items = match self.open_word() {
            None => Vec::new(),
            Some(Word { sign: Sign::Slash, search, .. }) => commands(search, offers),
            Some(Word { sign: Sign::At, search, .. }) => mentions(search, offers, &self.files),
        };
        self.chosen = self.chosen.min(self.items.len().saturating_sub(1));
    }

    /// Takes files that fit, best first; those for an older search are dropped.
    pub(super) fn offer_files(&mut self, search: &str, paths: Vec<String>, offers: &[Offer]) {
        let is_asked = |word: &Word| word.sign == Sign::At && word.search == search;
        if !self.word.as_ref().is_some_and(is_asked) {
            return;
        }
        let chosen = self.items.get(self.chosen).map(|item| item.name.clone());
        // A name with a control character in it cannot be written in a prompt.
        let is_writable = |path: &String| !path.contains(|c: char| c.is_control() || is_mark(c));
        self.files = paths.into_iter().filter(is_writable).collect();
        self.fill(offers);
        let again = self.items.iter().position(|item| Some(&item.name) == chosen.as_ref());
        self.chosen = again.filter(|_| self.chosen > 0).unwrap_or(0);
    }

    /// What it would offer.
    pub(super) fn wanted(&self) -> Wanted {
        match self.open_word() {
            None => Wanted::Nothing,
            Some(Word { sign: Sign::Slash, .. }) => Wanted::Commands,
            Some(Word { sign: Sign::At, search, .. }) => Wanted::Files { search: search.clone() },
        }
    }

    /// Whether it shows anything.
    pub(super) fn is_open(&self) -> bool {
        !self.items.is_empty()
    }

    /// Closes it until another word stands at the caret.
    pub(super) fn close(&mut self) {
        self.closed = self.word.clone();
        self.items.clear();
    }

    /// The same for a text that nobody typed.
    pub(super) fn close_for(&mut self, text: &str, caret: usize) {
        self.word = word_at(text, caret);
        self.close();
    }

    /// Chooses another item, round and round.
    pub(super) fn step(&mut self, by: isize) {
        let count = isize::try_from(self.items.len()).unwrap_or(isize::MAX);
        let chosen = isize::try_from(self.chosen).unwrap_or(0) + by;
        self.chosen = usize::try_from(chosen.checked_rem_euclid(count).unwrap_or(0)).unwrap_or(0);
    }

    /// Takes the chosen item.
    pub(super) fn choose(&self, take: Take, text: &str) -> Option<Choice> {
        let (word, item) = (self.open_word()?, self.items.get(self.chosen)?);
        let mut range = word.range.clone();
        let is_typed = word.search == item.name;
        let (written, then) = match (item.kind, take) {
            (Kind::Command, Take::Enter) => (format!("/{}", item.name), Then::Send),
            (Kind::Optional, Take::Enter) if is_typed => (format!("/{}", item.name), Then::Send),
            (Kind::Command | Kind::Optional | Kind::Needy, Take::Enter | Take::Tab) => {
                (format!("/{} ", item.name), Then::Write)
            }
            (Kind::Agent, Take::Enter | Take::Tab) => {
                (format!("@agent-{} ", item.name), Then::Write)
            }
            (Kind::Folder, Take::Tab) if item.name.contains(char::is_whitespace) => {
                (format!("@\"{}", item.name), Then::Write)
            }
            (Kind::Folder, Take::Tab) => (format!("@{}", item.name), Then::Write),
            (Kind::File | Kind::Folder | Kind::Resource, Take::Enter | Take::Tab) => {
                (format!("{} ", mention(&item.name)), Then::Write)
            }
        };
        if written.ends_with(' ') && text[range.end..].starts_with(' ') {
            range.end += 1;
        }
        Some(Choice { range, text: written, then })
    }

    fn open_word(&self) -> Option<&Word> {
        self.word.as_ref().filter(|word| self.closed.as_ref() != Some(*word))
    }
}

/// A file as it is written in a prompt.
fn mention(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

/// Commands and skills that fit, best first.
fn commands(search: &str, offers: &[Offer]) -> Vec<Item> {
    let item = |offer: &Offer| {
        let kind = match (offer.kind, offer.arguments.as_str()) {
            (OfferKind::Agent | OfferKind::Resource, _) => return None,
            (OfferKind::Command | OfferKind::Skill, "") => Kind::Command,
            (OfferKind::Command | OfferKind::Skill, arguments) if arguments.starts_with('[') => {
                Kind::Optional
            }
            (OfferKind::Command | OfferKind::Skill, _) => Kind::Needy,
        };
        scored(search, kind, offer)
    };
    best_first(offers.iter().filter_map(item).collect())
}

/// Agents, files and resources that fit: agents whose name begins with what was typed and resources of a
/// server that was typed in full, files, others.
fn mentions(search: &str, offers: &[Offer], files: &[String]) -> Vec<Item> {
    let named = search.strip_prefix("agent-").unwrap_or(search);
    let agents = offers.iter().filter(|offer| offer.kind == OfferKind::Agent);
    let agents = agents.filter_map(|offer| scored(named, Kind::Agent, offer));
    let readable = offers.iter().filter(|offer| offer.kind == OfferKind::Resource);
    let readable = readable.filter_map(|offer| scored(search, Kind::Resource, offer));
    let begins = |item: &Item| match item.kind {
        Kind::Resource => search.contains(':') && item.name.starts_with(search),
        Kind::Agent | Kind::Command | Kind::Optional | Kind::Needy | Kind::File | Kind::Folder => {
            !search.is_empty() && item.name.starts_with(named)
        }
    };
    let (mut items, others): (Vec<Item>, Vec<Item>) =
        best_first(agents.chain(readable).collect()).into_iter().partition(begins);
    let pattern = Pattern::new(search);
    // They come in order; those of an answer to an older search are sifted.
    items.extend(files.iter().filter_map(|path| {
        let letters = pattern.find(path)?.positions;
        let kind = if path.ends_with('/') { Kind::Folder } else { Kind::File };
        let (arguments, about) = (String::new(), String::new());
        Some(Item { kind, name: path.clone(), letters, arguments, about })
    }));
    items.extend(others);
    items
}

fn scored(search: &str, kind: Kind, offer: &Offer) -> Option<(i32, Item)> {
    let Match { score, positions: letters } = Pattern::new(search).find(&offer.name)?;
    let Offer { name, arguments, about, .. } = offer.clone();
    Some((score, Item { kind, name, letters, arguments, about }))
}

/// Of those that fit alike the shortest comes first: it may have been typed in full. They stay as they are if
/// nothing was typed.
fn best_first(mut items: Vec<(i32, Item)>) -> Vec<Item> {
    items.sort_by_key(|(score, item)| {
        let length = if item.letters.is_empty() { 0 } else { item.name.len() };
        (Reverse(*score), length)
    });
    items.into_iter().map(|(_, item)| item).collect()
}

/// The word at the caret, if it begins with a sign of ours. A shell has its own use for signs.
fn word_at(text: &str, caret: usize) -> Option<Word> {
    if text.starts_with('!') {
        return None;
    }
    slash_word(text, caret).or_else(|| at_word(text, caret))
}

fn slash_word(text: &str, caret: usize) -> Option<Word> {
    let rest = text.strip_prefix('/').filter(|_| caret > 0)?;
    let end = 1 + rest.find(char::is_whitespace).unwrap_or(rest.len());
    let is_name = !text[1..end].contains(|c| c == '/' || is_mark(c));
    (caret <= end && is_name).then(|| {
        let search = text[1..caret].to_owned();
        Word { sign: Sign::Slash, range: 0..end, search }
    })
}

/// The word that begins with the nearest at sign before the caret; in quotes, blanks belong to it.
fn at_word(text: &str, caret: usize) -> Option<Word> {
    let line = line_start(text, caret);
    let typed = &text[line..caret];
    let begins = |at: usize| {
        let before = typed[..at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || "([{,;".contains(c) || is_mark(c))
    };
    let at = typed.rmatch_indices('@').map(|(at, _)| at).find(|at| begins(*at))?;
    let after = &typed[at + 1..];
    if after.contains(is_mark) {
        return None;
    }
    let rest = &text[caret..];
    let (search, end) = match after.strip_prefix('"') {
        Some(quoted) if quoted.contains('"') => return None,
        Some(quoted) => (quoted, closing_quote(rest)),
        None if after.contains(char::is_whitespace) => return None,
        None => (after, rest.find(|c: char| c.is_whitespace() || is_mark(c)).unwrap_or(rest.len())),
    };
    Some(Word { sign: Sign::At, range: line + at..caret + end, search: search.to_owned() })
}

/// The end of what is quoted; without a closing quote in the line, what follows is not meant.
fn closing_quote(rest: &str) -> usize {
    let line = rest.lines().next().unwrap_or_default();
    line.find('"').map_or(0, |at| at + 1)
}
