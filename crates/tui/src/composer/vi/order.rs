//! What vi's keys say: `3dw` is an order to delete three words.

use std::iter::Peekable;
use std::str::Chars;

use super::super::motion::Words;

/// A count that is believed; beyond it nobody means it.
const MOST: usize = 9_999;

/// An order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    /// How often, if it was said.
    pub(super) count: Option<usize>,
    /// What.
    pub(super) act: Act,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Move the caret.
    Go(Motion),
    /// Delete, change or copy a part.
    Operate(Operator, Over),
    /// Put text in, typed from now on.
    Insert(Place),
    /// Put what was deleted or copied in.
    Put(Place),
    /// Put a character in place of those at the caret.
    Replace(char),
    /// Make capital letters small and small ones capital.
    SwapCase,
    /// Join the line with the next.
    Join,
    /// Take a step back.
    Undo,
    /// Do the last change again.
    Repeat,
}

impl Act {
    /// Whether the dot does it again, and undo takes it back as one.
    pub(super) fn is_change(self) -> bool {
        match self {
            Self::Go(_) | Self::Operate(Operator::Yank, _) | Self::Undo | Self::Repeat => false,
            Self::Operate(Operator::Delete | Operator::Change, _)
            | Self::Insert(_)
            | Self::Put(_)
            | Self::Replace(_)
            | Self::SwapCase
            | Self::Join => true,
        }
    }
}

/// What is done to a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// It is deleted.
    Delete,
    /// It is deleted, and text is put in.
    Change,
    /// It is copied.
    Yank,
}

/// Which part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// From the caret to where a motion goes.
    Motion(Motion),
    /// Something around the caret.
    Object(Extent, Object),
    /// Whole lines.
    Lines,
}

/// Whether what surrounds an object belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// It does not.
    Inner,
    /// It does: quotes, brackets, a blank.
    Around,
}

/// Something in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    /// A word.
    Word(Words),
    /// What is in quotes.
    Quoted(char),
    /// What is in brackets.
    Bracketed(char, char),
}

/// Where text is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the caret.
    Before,
    /// Behind it.
    Behind,
    /// At the beginning of the line's text.
    LineStart,
    /// At the end of the line.
    LineEnd,
    /// In a new line above.
    Above,
    /// In a new line below.
    Below,
}

/// Where the caret goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    /// Left.
    Left,
    /// Right.
    Right,
    /// Up.
    Up,
    /// Down.
    Down,
    /// To the next word.
    Word(Words),
    /// To the word before.
    Back(Words),
    /// To the end of the word.
    End(Words),
    /// To the beginning of the line.
    LineStart,
    /// To its first text.
    LineText,
    /// To its end.
    LineEnd,
    /// To a line by number, or the first.
    Top,
    /// To a line by number, or the last.
    Bottom,
    /// To a character in the line.
    Find(Find),
    /// To the next of the character that was found last.
    Again,
    /// The other way.
    AgainBack,
}

/// A character to find in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Find {
    /// The character.
    pub(super) character: char,
    /// Whether it is sought to the left.
    pub(super) is_back: bool,
    /// Whether the caret stops short of it.
    pub(super) is_short: bool,
    /// Whether it was found before: one that the caret is beside already is not meant.
    pub(super) is_again: bool,
}

/// Why keys are no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stuck {
    /// More must come.
    Unfinished,
    /// Nothing begins like this.
    Unknown,
}

/// Reads an order.
pub(super) fn parse(keys: &str) -> Result<Order, Stuck> {
    let mut keys = keys.chars().peekable();
    let count = count(&mut keys);
    let first = take(&mut keys)?;
    let Some(operator) = operator(first) else {
        return Ok(Order { count, act: act(first, &mut keys)? });
    };
    let inner = self::count(&mut keys);
    let count = match (count, inner) {
        (Some(outer), Some(inner)) => Some((outer * inner).min(MOST)),
        (outer, inner) => outer.or(inner),
    };
    let over = match take(&mut keys)? {
        again if again == first => Over::Lines,
        'i' => Over::Object(Extent::Inner, object(take(&mut keys)?)?),
        'a' => Over::Object(Extent::Around, object(take(&mut keys)?)?),
        other => Over::Motion(motion(other, &mut keys)?),
    };
    Ok(Order { count, act: Act::Operate(operator, over) })
}

type Keys<'a> = Peekable<Chars<'a>>;

fn take(keys: &mut Keys<'_>) -> Result<char, Stuck> {
    keys.next().ok_or(Stuck::Unfinished)
}

fn count(keys: &mut Keys<'_>) -> Option<usize> {
    let mut count = None;
    while let Some(digit) = keys.peek().and_then(|c| c.to_digit(10)) {
        if count.is_none() && digit == 0 {
            return None;
        }
        let digit = usize::try_from(digit).unwrap_or(0);
        count = Some((count.unwrap_or(0) * 10 + digit).min(MOST));
        keys.next();
    }
    count
}

fn operator(c: char) -> Option<Operator> {
    match c {
        'd' => Some(Operator::Delete),
        'c' => Some(Operator::Change),
        'y' => Some(Operator::Yank),
        _ => None,
    }
}

fn act(c: char, keys: &mut Keys<'_>) -> Result<Act, Stuck> {
    let delete = |motion| Act::Operate(Operator::Delete, Over::Motion(motion));
    let change = |motion| Act::Operate(Operator::Change, Over::Motion(motion));
    Ok(match c {
        'x' => delete(Motion::Right),
        'X' => delete(Motion::Left),
        'D' => delete(Motion::LineEnd),
        's' => change(Motion::Right),
        'C' => change(Motion::LineEnd),
        'S' => Act::Operate(Operator::Change, Over::Lines),
        'Y' => Act::Operate(Operator::Yank, Over::Lines),
        'i' => Act::Insert(Place::Before),
        'a' => Act::Insert(Place::Behind),
        'I' => Act::Insert(Place::LineStart),
        'A' => Act::Insert(Place::LineEnd),
        'O' => Act::Insert(Place::Above),
        'o' => Act::Insert(Place::Below),
        'P' => Act::Put(Place::Before),
        'p' => Act::Put(Place::Behind),
        'r' => Act::Replace(take(keys)?),
        '~' => Act::SwapCase,
        'J' => Act::Join,
        'u' => Act::Undo,
        '.' => Act::Repeat,
        other => Act::Go(motion(other, keys)?),
    })
}

fn motion(c: char, keys: &mut Keys<'_>) -> Result<Motion, Stuck> {
    Ok(match c {
        'h' => Motion::Left,
        'l' | ' ' => Motion::Right,
        'k' => Motion::Up,
        'j' => Motion::Down,
        'w' => Motion::Word(Words::Small),
        'W' => Motion::Word(Words::Big),
        'b' => Motion::Back(Words::Small),
        'B' => Motion::Back(Words::Big),
        'e' => Motion::End(Words::Small),
        'E' => Motion::End(Words::Big),
        '0' => Motion::LineStart,
        '^' | '_' => Motion::LineText,
        '$' => Motion::LineEnd,
        'G' => Motion::Bottom,
        'g' => match take(keys)? {
            'g' => Motion::Top,
            _ => return Err(Stuck::Unknown),
        },
        'f' | 't' | 'F' | 'T' => Motion::Find(Find {
            character: take(keys)?,
            is_back: c.is_uppercase(),
            is_short: c.eq_ignore_ascii_case(&'t'),
            is_again: false,
        }),
        ';' => Motion::Again,
        ',' => Motion::AgainBack,
        _ => return Err(Stuck::Unknown),
    })
}

fn object(c: char) -> Result<Object, Stuck> {
    Ok(match c {
        'w' => Object::Word(Words::Small),
        'W' => Object::Word(Words::Big),
        '"' | '\'' | '`' => Object::Quoted(c),
        '(' | ')' | 'b' => Object::Bracketed('(', ')'),
        '[' | ']' => Object::Bracketed('[', ']'),
        '{' | '}' | 'B' => Object::Bracketed('{', '}'),
        '<' | '>' => Object::Bracketed('<', '>'),
        _ => return Err(Stuck::Unknown),
    })
}
