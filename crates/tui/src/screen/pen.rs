//! The look a terminal writes with, and the least that must be written to change it.

use std::io::Write;

use crate::style::{Attrs, Color, Style};

/// Attributes with the numbers that begin and end them; bold and dim end together.
const ATTRS: [(Attrs, u8, u8); 6] = [
    (Attrs::BOLD, 1, 22),
    (Attrs::DIM, 2, 22),
    (Attrs::ITALIC, 3, 23),
    (Attrs::UNDERLINE, 4, 24),
    (Attrs::STRIKE, 9, 29),
    (Attrs::REVERSE, 7, 27),
];

/// The look a terminal writes with.
#[derive(Debug, Default)]
pub(super) struct Pen {
    style: Style,
    link: Option<Box<str>>,
}

impl Pen {
    /// The style in use.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// The address in use.
    pub(super) fn link(&self) -> Option<&str> {
        self.link.as_deref()
    }

    /// Changes the style.
    pub(super) fn set_style(&mut self, style: Style, out: &mut Vec<u8>) {
        if style == self.style {
            return;
        }
        let mut change = Vec::with_capacity(32);
        changes(self.style, style, &mut change);
        let mut anew = vec![b'0'];
        changes(Style::PLAIN, style, &mut anew);
        out.extend(b"\x1b[");
        if style == Style::PLAIN {
            // No number at all means plain.
        } else if change.len() <= anew.len() {
            out.extend(&change);
        } else {
            out.extend(&anew);
        }
        out.push(b'm');
        self.style = style;
    }

    /// Changes the address that what is written leads to.
    pub(super) fn set_link(&mut self, link: Option<&str>, out: &mut Vec<u8>) {
        // A place in a file is ours to follow; a terminal would look for an address there.
        let link = link.filter(|link| link.contains("://") || link.starts_with("mailto:"));
        if link == self.link() {
            return;
        }
        out.extend(b"\x1b]8;;");
        out.extend(link.into_iter().flat_map(str::bytes).flat_map(escaped));
        out.extend(b"\x1b\\");
        self.link = link.map(Box::from);
    }

    /// Back to the terminal's own look.
    pub(super) fn reset(&mut self, out: &mut Vec<u8>) {
        self.set_link(None, out);
        self.set_style(Style::PLAIN, out);
    }
}

/// A byte of an address as it may be written: beyond printable ASCII it is encoded.
fn escaped(byte: u8) -> impl Iterator<Item = u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let is_safe = (0x21..0x7f).contains(&byte);
    let [high, low] = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
    let (whole, count) = if is_safe { ([byte, 0, 0], 1) } else { ([b'%', high, low], 3) };
    whole.into_iter().take(count)
}

/// Writes the numbers that lead from one style to another, with semicolons between and before if there is
/// something already.
fn changes(from: Style, to: Style, out: &mut Vec<u8>) {
    let mut ended = 0;
    for (attr, _, end) in ATTRS {
        if from.attrs.has(attr) && !to.attrs.has(attr) && ended != end {
            number(end, out);
            ended = end;
        }
    }
    for (attr, begin, end) in ATTRS {
        // What ended with another must begin again.
        if to.attrs.has(attr) && (!from.attrs.has(attr) || (end == 22 && ended_weight(from, to))) {
            number(begin, out);
        }
    }
    if from.fg != to.fg {
        color(to.fg, Ground::Fore, out);
    }
    if from.bg != to.bg {
        color(to.bg, Ground::Back, out);
    }
}

/// Whether bold or dim ends.
fn ended_weight(from: Style, to: Style) -> bool {
    [Attrs::BOLD, Attrs::DIM].into_iter().any(|attr| from.attrs.has(attr) && !to.attrs.has(attr))
}

#[derive(Clone, Copy)]
enum Ground {
    Fore,
    Back,
}

fn color(color: Color, ground: Ground, out: &mut Vec<u8>) {
    let shift = match ground {
        Ground::Fore => 0,
        Ground::Back => 10,
    };
    match color {
        Color::Default => number(39 + shift, out),
        Color::Indexed(index @ 0..8) => number(30 + index + shift, out),
        Color::Indexed(index @ 8..16) => number(82 + index + shift, out),
        Color::Indexed(index) => numbers(&[38 + shift, 5, index], out),
        Color::Rgb(red, green, blue) => numbers(&[38 + shift, 2, red, green, blue], out),
    }
}

fn numbers(values: &[u8], out: &mut Vec<u8>) {
    for value in values {
        number(*value, out);
    }
}

fn number(value: u8, out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.push(b';');
    }
    write_number(value.into(), out);
}

/// Writes a number in digits.
pub(super) fn write_number(value: u32, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    drop(write!(out, "{value}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(from: Style, to: Style) -> String {
        let mut pen = Pen { style: from, link: None };
        let mut out = Vec::new();
        pen.set_style(to, &mut out);
        String::from_utf8(out).unwrap().replace('\u{1b}', "^")
    }

    #[test]
    fn only_what_differs_is_written() {
        let red = Style::fg(Color::Indexed(1));
        let bold_red = red.with(Attrs::BOLD);
        let table = [
            (Style::PLAIN, Style::PLAIN, ""),
            (Style::PLAIN, red, "^[31m"),
            (red, bold_red, "^[1m"),
            (bold_red, red, "^[22m"),
            (bold_red, Style::PLAIN, "^[m"),
            (red, Style::fg(Color::Indexed(9)), "^[91m"),
            (red, Style::fg(Color::Indexed(99)).on(Color::Rgb(1, 2, 3)), "^[38;5;99;48;2;1;2;3m"),
            (bold_red.with(Attrs::DIM), bold_red, "^[22;1m"),
        ];
        for (from, to, bytes) in table {
            assert_eq!(written(from, to), bytes);
        }
    }

    #[test]
    fn an_address_cannot_leave_its_sequence() {
        let (mut pen, mut out) = (Pen::default(), Vec::new());
        pen.set_link(Some("http://x/\u{1b}\\\u{7}é y"), &mut out);
        assert_eq!(out, b"\x1b]8;;http://x/%1B\\%07%C3%A9%20y\x1b\\");
    }
}
