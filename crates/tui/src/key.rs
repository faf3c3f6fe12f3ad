//! What comes from the terminal: keys, pastes, the mouse, and its answers to our questions.

use std::fmt;
use std::str::FromStr;

use crate::canvas::Point;

/// Something the terminal sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Paste(String),
    /// The mouse did something.
    Mouse(Mouse),
    /// The terminal has another size.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The terminal's window got or lost the focus.
    Focus(Focus),
    /// The terminal answers a question.
    Answer(Answer),
}

/// Whether the terminal's window has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// It has.
    Here,
    /// Another window has.
    Away,
}

/// A terminal's answer to a question about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Its background colour.
    Background(u8, u8, u8),
    /// What is on the clipboard, by OSC 52.
    Clipboard(Vec<u8>),
    /// It draws pictures by kitty's protocol.
    KittyGraphics,
    /// It speaks kitty's keyboard protocol.
    KittyKeyboard,
    /// Its device attributes; whether sixel pictures are among them.
    Attributes {
        /// Whether it draws sixel pictures.
        sixel: bool,
    },
    /// A cell's size in pixels.
    CellSize {
        /// Pixels across.
        width: u16,
        /// Pixels down.
        height: u16,
    },
    /// Its name and version.
    Name(String),
}

/// What the mouse did, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// The cell.
    pub at: Point,
    /// What it did.
    pub kind: MouseKind,
    /// Keys held meanwhile.
    pub mods: Mods,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseKind {
    /// A button went down.
    Down(Button),
    /// A button came up.
    Up(Button),
    /// It moved with a button down.
    Drag(Button),
    /// The wheel turned up.
    WheelUp,
    /// The wheel turned down.
    WheelDown,
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Button {
    /// The first.
    Left,
    /// The wheel's.
    Middle,
    /// The second.
    Right,
}

/// Keys held with another, as a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mods(u8);

impl Mods {
    /// None.
    pub const NONE: Self = Self(0);
    /// Shift.
    pub const SHIFT: Self = Self(1);
    /// Alt, or option.
    pub const ALT: Self = Self(2);
    /// Control.
    pub const CTRL: Self = Self(4);
    /// Super, or command.
    pub const SUPER: Self = Self(8);

    /// The set with these bits; others are dropped.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits & 15)
    }

    /// Whether all of `other` are held.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// One that makes a character; letters are lower case unless shift made them upper case.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key.
    F(u8),
}

/// A key with those held meanwhile, written `ctrl+shift+left`. Shift is not told of a character that it made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// Keys held meanwhile.
    pub mods: Mods,
}

impl Key {
    /// A key alone.
    pub const fn plain(code: Code) -> Self {
        Self { code, mods: Mods::NONE }
    }

    /// Control and a character.
    pub const fn ctrl(c: char) -> Self {
        Self { code: Code::Char(c), mods: Mods::CTRL }
    }

    /// Alt and a character.
    pub const fn alt(c: char) -> Self {
        Self { code: Code::Char(c), mods: Mods::ALT }
    }

    /// The character it types; none if it does something else.
    pub fn typed(self) -> Option<char> {
        match self.code {
            Code::Char(c) if self.mods.without(Mods::SHIFT) == Mods::NONE => Some(c),
            Code::Char(_)
            | Code::Enter
            | Code::Esc
            | Code::Tab
            | Code::Backspace
            | Code::Delete
            | Code::Insert
            | Code::Up
            | Code::Down
            | Code::Left
            | Code::Right
            | Code::Home
            | Code::End
            | Code::PageUp
            | Code::PageDown
            | Code::F(_) => None,
        }
    }
}

const NAMED: [(&str, Code); 15] = [
    ("enter", Code::Enter),
    ("esc", Code::Esc),
    ("tab", Code::Tab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("insert", Code::Insert),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pageup", Code::PageUp),
    ("pagedown", Code::PageDown),
    ("space", Code::Char(' ')),
];

const MODS: [(&str, Mods); 4] =
    [("ctrl", Mods::CTRL), ("alt", Mods::ALT), ("super", Mods::SUPER), ("shift", Mods::SHIFT)];

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, mods) in MODS {
            if self.mods.has(mods) {
                write!(f, "{name}+")?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        if let Code::F(number) = self.code {
            return write!(f, "f{number}");
        }
        if let Code::Char(c) = self.code { write!(f, "{c}") } else { Ok(()) }
    }
}

/// The text names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no key: write for example ctrl+l, alt+enter, f2 or pageup")]
pub struct BadKey(pub String);

impl FromStr for Key {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadKey(text.to_owned());
        let (mut rest, mut held) = (text, Mods::NONE);
        while let Some((word, tail)) =
            rest.split_once('+').filter(|(word, tail)| !word.is_empty() && !tail.is_empty())
        {
            let named = MODS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
            held = held.and(named.ok_or_else(bad)?.1);
            rest = tail;
        }
        let named = NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(rest));
        let function = rest.strip_prefix(['f', 'F']).and_then(|number| number.parse().ok());
        let mut chars = rest.chars();
        let code = match (named, function, chars.next(), chars.next()) {
            (Some((_, code)), ..) => *code,
            (None, Some(number @ 1..=24), ..) => Code::F(number),
            (None, _, Some(c), None) => Code::Char(c),
            (None, ..) => return Err(bad()),
        };
        if let Code::Char(c) = code
            && held.has(Mods::SHIFT)
            && c.is_alphabetic()
        {
            let upper = c.to_uppercase().next().unwrap_or(c);
            return Ok(Self { code: Code::Char(upper), mods: held.without(Mods::SHIFT) });
        }
        Ok(Self { code, mods: held })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        for text in [
            "ctrl+l",
            "alt+enter",
            "shift+tab",
            "f12",
            "a",
            "+",
            "ctrl++",
            "ctrl+alt+x",
            "space",
            "G",
        ] {
            let key: Key = text.parse().unwrap();
            assert_eq!(key.to_string(), text);
        }
        assert_eq!("shift+g".parse::<Key>(), Ok(Key::plain(Code::Char('G'))));
        for text in ["", "ctrl+", "hyper+x", "f25", "enterr"] {
            assert!(text.parse::<Key>().is_err(), "{text}");
        }
    }
}
