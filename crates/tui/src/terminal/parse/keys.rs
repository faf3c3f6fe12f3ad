//! Keys: characters, control characters, and what the numbers and letters of sequences stand for.

use crate::key::{Code, Input, Key, Mods};
use crate::terminal::parse::{ESC, Step};

/// Takes a character from the beginning of some bytes; there is at least one.
pub(super) fn character(bytes: &[u8], mods: Mods, out: &mut Vec<Input>) -> Step {
    let first = bytes.first().copied().unwrap_or(0);
    if first < 0x80 {
        push(of_byte(first), mods, out);
        return Step::Done(1);
    }
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Step::Done(1),
    };
    let available = &bytes[..length.min(bytes.len())];
    match std::str::from_utf8(available) {
        Ok(text) => {
            for c in text.chars().filter(|c| !c.is_control()) {
                push(Key::plain(Code::Char(c)), mods, out);
            }
            Step::Done(length)
        }
        Err(error) if error.error_len().is_none() && bytes.len() < length => Step::More,
        Err(error) => Step::Done(error.error_len().unwrap_or(1)),
    }
}

/// The key that sends a byte by itself. Backspace is what sends DEL; the byte BS is control and h, as it may
/// mean either.
pub(super) fn of_byte(byte: u8) -> Key {
    match byte {
        0 => Key::ctrl(' '),
        b'\t' => Key::plain(Code::Tab),
        b'\r' => Key::plain(Code::Enter),
        ESC => Key::plain(Code::Esc),
        0x7f => Key::plain(Code::Backspace),
        0x01..=0x1a => Key::ctrl(char::from(byte + 0x60)),
        0x1c..=0x1f => Key::ctrl(char::from(byte + 0x40)),
        0x20.. => Key::plain(Code::Char(char::from(byte))),
    }
}

/// Takes what follows `ESC O`: arrows and function keys of terminals in application mode, and the keypad.
pub(super) fn after_o(bytes: &[u8], mods: Mods, out: &mut Vec<Input>) -> Step {
    let Some(&letter) = bytes.get(2) else { return Step::More };
    let code = match letter {
        b'M' => Some(Code::Enter),
        b'I' => Some(Code::Tab),
        b'j'..=b'y' => Some(Code::Char(char::from(letter - 0x40))),
        b'X' => Some(Code::Char('=')),
        letter => of_letter(letter),
    };
    if let Some(code) = code {
        push(Key::plain(code), mods, out);
        return Step::Done(3);
    }
    if let b'a'..=b'd' = letter
        && let Some(code) = of_letter(letter.to_ascii_uppercase())
    {
        push(Key::plain(code), mods.and(Mods::CTRL), out);
        return Step::Done(3);
    }
    // No sequence after all: alt and O, then whatever it is.
    push(Key::plain(Code::Char('O')), mods.and(Mods::ALT), out);
    Step::Done(2)
}

/// The key behind a sequence's last letter.
pub(super) fn of_letter(letter: u8) -> Option<Code> {
    Some(match letter {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'F' => Code::End,
        b'H' => Code::Home,
        b'P' => Code::F(1),
        b'Q' => Code::F(2),
        b'R' => Code::F(3),
        b'S' => Code::F(4),
        _ => return None,
    })
}

/// The key behind a sequence's number, before a tilde.
pub(super) fn of_number(number: u32) -> Option<Code> {
    let function =
        |first: u32, key: u8| u8::try_from(number - first).ok().map(|offset| Code::F(key + offset));
    match number {
        1 | 7 => Some(Code::Home),
        2 => Some(Code::Insert),
        3 => Some(Code::Delete),
        4 | 8 => Some(Code::End),
        5 => Some(Code::PageUp),
        6 => Some(Code::PageDown),
        11..=15 => function(11, 1),
        17..=21 => function(17, 6),
        23..=26 => function(23, 11),
        28..=29 => function(28, 15),
        31..=34 => function(31, 17),
        _ => None,
    }
}

/// The key behind a code point of kitty's protocol; none for keys we have no name for, such as those that are
/// held with others.
pub(super) fn of_kitty(code: u32) -> Option<Code> {
    Some(match code {
        9 => Code::Tab,
        13 | 57_414 => Code::Enter,
        27 => Code::Esc,
        127 => Code::Backspace,
        57_376..=57_387 => Code::F(u8::try_from(code - 57_376).ok()? + 13),
        57_399..=57_408 => Code::Char(char::from_digit(code - 57_399, 10)?),
        57_409 => Code::Char('.'),
        57_410 => Code::Char('/'),
        57_411 => Code::Char('*'),
        57_412 => Code::Char('-'),
        57_413 => Code::Char('+'),
        57_415 => Code::Char('='),
        57_416 => Code::Char(','),
        57_417 => Code::Left,
        57_418 => Code::Right,
        57_419 => Code::Up,
        57_420 => Code::Down,
        57_421 => Code::PageUp,
        57_422 => Code::PageDown,
        57_423 => Code::Home,
        57_424 => Code::End,
        57_425 => Code::Insert,
        57_426 => Code::Delete,
        // The rest of kitty's own: locks, media keys, modifiers.
        57_344..=63_743 => return None,
        code => Code::Char(char::from_u32(code).filter(|c| !c.is_control())?),
    })
}

/// Adds a key with more keys held. Shift that made a letter is not told.
pub(super) fn push(key: Key, more: Mods, out: &mut Vec<Input>) {
    let mods = key.mods.and(more);
    let key = if let Code::Char(c) = key.code
        && mods.has(Mods::SHIFT)
        && c.is_alphabetic()
    {
        let upper = c.to_uppercase().next().unwrap_or(c);
        Key { code: Code::Char(upper), mods: mods.without(Mods::SHIFT) }
    } else {
        Key { mods, ..key }
    };
    out.push(Input::Key(key));
}
