//! Colours and attributes of a cell.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// A colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The terminal's own.
    #[default]
    Default,
    /// One of the terminal's palette; the first 16 have names.
    Indexed(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// How a cell's glyph is drawn, as a set.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Attrs(u8);

impl Attrs {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// Bold.
    pub const BOLD: Self = Self(1);
    /// Dim.
    pub const DIM: Self = Self(1 << 1);
    /// Italic.
    pub const ITALIC: Self = Self(1 << 2);
    /// Underlined.
    pub const UNDERLINE: Self = Self(1 << 3);
    /// Struck through.
    pub const STRIKE: Self = Self(1 << 4);
    /// Foreground and background exchanged.
    pub const REVERSE: Self = Self(1 << 5);

    /// Whether all of `other` are in the set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Attrs {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Attrs {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Attrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attrs({:06b})", self.0)
    }
}

/// How a cell looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// The glyph's colour.
    pub fg: Color,
    /// The colour behind it.
    pub bg: Color,
    /// How the glyph is drawn.
    pub attrs: Attrs,
}

impl Style {
    /// The terminal's own look.
    pub const PLAIN: Self = Self { fg: Color::Default, bg: Color::Default, attrs: Attrs::NONE };

    /// A colour on the terminal's own background.
    pub const fn fg(fg: Color) -> Self {
        Self { fg, bg: Color::Default, attrs: Attrs::NONE }
    }

    /// The same with another background.
    #[must_use]
    pub const fn on(self, bg: Color) -> Self {
        Self { bg, ..self }
    }

    /// The same with attributes added.
    #[must_use]
    pub fn with(self, attrs: Attrs) -> Self {
        Self { attrs: self.attrs | attrs, ..self }
    }

    /// This style over `below`: what it leaves to the terminal comes from there.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let pick = |mine: Color, theirs: Color| if mine == Color::Default { theirs } else { mine };
        Self {
            fg: pick(self.fg, below.fg),
            bg: pick(self.bg, below.bg),
            attrs: self.attrs | below.attrs,
        }
    }
}
