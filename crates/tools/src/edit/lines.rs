//! Lines of a file with the endings they really have.

use std::borrow::Cow;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// What it says, without its ending.
    pub(crate) text: &'a [u8],
    /// How it ends.
    pub(crate) ending: Ending,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Line feed: Unix.
    Lf,
    /// Carriage return and line feed: Windows.
    CrLf,
    /// Carriage return alone: old Macs, and files that have been through several hands.
    Cr,
    /// With the file.
    None,
}

impl Ending {
    /// Its bytes.
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            Self::Cr => b"\r",
            Self::None => b"",
        }
    }

    /// The ending most lines have; line feed where none has one, and where it is a draw the one met first.
    pub(crate) fn usual(content: &[u8]) -> Self {
        Self::usual_of(&split(content, &[Self::CrLf, Self::Lf]))
    }

    /// The same for lines already split.
    pub(crate) fn usual_of(lines: &[Line<'_>]) -> Self {
        let count = |ending| lines.iter().filter(|line| line.ending == ending).count();
        let counts = [Self::Lf, Self::CrLf, Self::Cr].map(|ending| (ending, count(ending)));
        let most = counts.iter().map(|&(_, count)| count).max().unwrap_or_default();
        let is_most = |ending| counts.contains(&(ending, most));
        let first = lines.iter().map(|line| line.ending).find(|&ending| is_most(ending));
        first.filter(|&ending| ending != Self::None).unwrap_or(Self::Lf)
    }

    /// Text with plain line feeds, written with this ending.
    pub(crate) fn write(self, plain: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Lf | Self::None => Cow::Borrowed(plain),
            Self::CrLf | Self::Cr => {
                let lines: Vec<&[u8]> = plain.split(|&byte| byte == b'\n').collect();
                Cow::Owned(lines.join(self.bytes()))
            }
        }
    }
}

/// Splits content at the given endings. What follows the last ending is a line only if it says something.
pub(crate) fn split<'a>(content: &'a [u8], at: &[Ending]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let mut rest = content;
    while !rest.is_empty() {
        let (text, ending) = first_line(rest, at);
        lines.push(Line { text, ending });
        rest = &rest[text.len() + ending.bytes().len()..];
    }
    lines
}

fn first_line<'a>(content: &'a [u8], at: &[Ending]) -> (&'a [u8], Ending) {
    let mut from = 0;
    while let Some(found) = memchr::memchr2(b'\r', b'\n', &content[from..]) {
        let place = from + found;
        let ending = match (content[place], content.get(place + 1)) {
            (b'\n', _) => Ending::Lf,
            (_, Some(b'\n')) => Ending::CrLf,
            (_, Some(_) | None) => Ending::Cr,
        };
        if at.contains(&ending) {
            return (&content[..place], ending);
        }
        // A return that is not an ending here belongs to the line.
        from = place + 1;
    }
    (content, Ending::None)
}
