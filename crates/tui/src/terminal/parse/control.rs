//! Control sequences: `ESC [`, numbers, and a letter that says what they mean.

use crate::canvas::Point;
use crate::key::{Answer, Button, Code, Focus, Input, Key, Mods, Mouse, MouseKind};
use crate::terminal::parse::{LONGEST_CONTROL, Step, keys};

/// Takes a control sequence from the beginning of some bytes.
pub(super) fn step(bytes: &[u8], held: Mods, out: &mut Vec<Input>) -> Step {
    match &bytes[2..] {
        [] | [b'['] => return Step::More,
        // The Linux console's first five function keys.
        [b'[', letter, ..] => {
            if let b'A'..=b'E' = letter {
                keys::push(Key::plain(Code::F(letter - b'A' + 1)), held, out);
            }
            return Step::Done(4);
        }
        // The mouse as it was before 1006: three bytes follow.
        [b'M', rest @ ..] => {
            let [buttons, x, y, ..] = rest else { return Step::More };
            let at = |byte: u8| u32::from(byte.saturating_sub(32));
            out.extend(mouse(at(*buttons), at(*x), at(*y), Direction::Down));
            return Step::Done(6);
        }
        _ => {}
    }
    let is_ours = bytes[2] == b'?';
    for (index, &byte) in bytes.iter().enumerate().skip(2).take(LONGEST_CONTROL) {
        match byte {
            // rxvt ends keys held with shift by a dollar sign.
            b'$' if !is_ours => return finish(&bytes[..=index], held, out),
            0x20..=0x3f => {}
            0x40..=0x7e => return finish(&bytes[..=index], held, out),
            // Broken off: what comes next is something else.
            _ => return Step::Done(index),
        }
    }
    let longest = LONGEST_CONTROL + 2;
    if bytes.len() >= longest { Step::Done(longest) } else { Step::More }
}

/// Understands a whole sequence.
fn finish(bytes: &[u8], held: Mods, out: &mut Vec<Input>) -> Step {
    let used = bytes.len();
    let (Some((letter, start)), Some(text)) = (
        bytes.split_last(),
        bytes.get(2..used - 1).and_then(|middle| std::str::from_utf8(middle).ok()),
    ) else {
        return Step::Done(used);
    };
    let private = start.get(2).filter(|byte| matches!(byte, b'<' | b'=' | b'>' | b'?')).copied();
    let numbers = Numbers::of(text.trim_start_matches(['<', '=', '>', '?']));
    match (private, letter) {
        (Some(b'<'), b'M') => out.extend(sgr_mouse(&numbers, Direction::Down)),
        (Some(b'<'), b'm') => out.extend(sgr_mouse(&numbers, Direction::Up)),
        (Some(b'?'), b'u') => out.push(Input::Answer(Answer::KittyKeyboard)),
        (Some(b'?'), b'c') => {
            let sixel = numbers.0.iter().skip(1).any(|parts| parts.first() == Some(&Some(4)));
            out.push(Input::Answer(Answer::Attributes { sixel }));
        }
        (Some(_), _) => {}
        (None, b'~') if numbers.get(0, 0) == Some(200) => return Step::Paste(used),
        (None, b't') => out.extend(cell_size(&numbers)),
        (None, b'I') => out.push(Input::Focus(Focus::Here)),
        (None, b'O') => out.push(Input::Focus(Focus::Away)),
        (None, letter) => key(*letter, &numbers, held, out),
    }
    Step::Done(used)
}

fn key(letter: u8, numbers: &Numbers, held: Mods, out: &mut Vec<Input>) {
    if numbers.is_release() {
        return;
    }
    let mods = numbers.mods().and(held);
    let first = numbers.get(0, 0);
    let (code, more) = match (letter, first) {
        (b'u', _) => return kitty(numbers, held, out),
        // modifyOtherKeys of xterm.
        (b'~', Some(27)) => {
            let code = numbers.get(2, 0).and_then(keys::of_kitty);
            (code, Mods::NONE)
        }
        (b'~', Some(number)) => (keys::of_number(number), Mods::NONE),
        // rxvt: control, shift, both.
        (b'^', Some(number)) => (keys::of_number(number), Mods::CTRL),
        (b'$', Some(number)) => (keys::of_number(number), Mods::SHIFT),
        (b'@', Some(number)) => (keys::of_number(number), Mods::CTRL.and(Mods::SHIFT)),
        (b'Z', _) => (Some(Code::Tab), Mods::SHIFT),
        (b'a'..=b'd', None) => (keys::of_letter(letter.to_ascii_uppercase()), Mods::SHIFT),
        // With another first number it is an answer that was not asked for.
        (letter, None | Some(1)) => (keys::of_letter(letter), Mods::NONE),
        _ => (None, Mods::NONE),
    };
    if let Some(code) = code {
        keys::push(Key::plain(code), mods.and(more), out);
    }
}

/// A key of kitty's protocol: `code:shifted:base ; mods:event ; text u`.
fn kitty(numbers: &Numbers, held: Mods, out: &mut Vec<Input>) {
    let mods = numbers.mods().and(held);
    let is_text = mods.without(Mods::SHIFT) == Mods::NONE;
    let text = numbers.0.get(2).map(Vec::as_slice).unwrap_or_default();
    let typed = text.iter().flatten().filter_map(|code| char::from_u32(*code));
    let typed: Vec<char> = typed.filter(|c| !c.is_control()).collect();
    if is_text && !typed.is_empty() {
        out.extend(typed.into_iter().map(|c| Input::Key(Key::plain(Code::Char(c)))));
        return;
    }
    let code = numbers.get(0, 0).unwrap_or(1);
    let (shifted, base) = (numbers.get(0, 1), numbers.get(0, 2));
    // A shortcut typed on a layout without Latin letters means the key that has one on the usual layout.
    let is_foreign = code > 127 && char::from_u32(code).is_some_and(char::is_alphabetic);
    if let Some(base) = base.filter(|_| !is_text && is_foreign)
        && let Some(code) = keys::of_kitty(base)
    {
        keys::push(Key::plain(code), mods, out);
        return;
    }
    let made = shifted.filter(|_| mods.has(Mods::SHIFT)).and_then(keys::of_kitty);
    if let Some(code @ Code::Char(_)) = made {
        keys::push(Key::plain(code), mods.without(Mods::SHIFT), out);
    } else if let Some(code) = keys::of_kitty(code) {
        keys::push(Key::plain(code), mods, out);
    }
}

fn cell_size(numbers: &Numbers) -> Option<Input> {
    let size = |index| numbers.get(index, 0).and_then(|size| u16::try_from(size).ok());
    let (kind, height, width) = (numbers.get(0, 0)?, size(1)?, size(2)?);
    let is_cell = kind == 6 && height > 0 && width > 0;
    is_cell.then_some(Input::Answer(Answer::CellSize { width, height }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Down,
    Up,
}

fn sgr_mouse(numbers: &Numbers, direction: Direction) -> Option<Input> {
    mouse(numbers.get(0, 0)?, numbers.get(1, 0)?, numbers.get(2, 0)?, direction)
}

/// A report of the mouse; columns and rows are counted from 1.
fn mouse(buttons: u32, x: u32, y: u32, direction: Direction) -> Option<Input> {
    let place = |value: u32| u16::try_from(value.saturating_sub(1)).unwrap_or(u16::MAX);
    let at = Point { x: place(x), y: place(y) };
    let held = [(4, Mods::SHIFT), (8, Mods::ALT), (16, Mods::CTRL)];
    let mods = held.iter().filter(|(bit, _)| buttons & bit != 0);
    let mods = mods.fold(Mods::NONE, |all, (_, one)| all.and(*one));
    let (is_wheel, is_moving) = (buttons & 64 != 0, buttons & 32 != 0);
    let button = match buttons & 3 {
        0 => Some(Button::Left),
        1 => Some(Button::Middle),
        2 => Some(Button::Right),
        _ => None,
    };
    let kind = match (button, direction) {
        _ if buttons & 128 != 0 => return None,
        (Some(Button::Left), _) if is_wheel => MouseKind::WheelUp,
        (Some(Button::Middle), _) if is_wheel => MouseKind::WheelDown,
        _ if is_wheel => return None,
        (Some(button), _) if is_moving => MouseKind::Drag(button),
        (Some(button), Direction::Down) => MouseKind::Down(button),
        (Some(button), Direction::Up) => MouseKind::Up(button),
        // Before 1006 a release did not say of which button.
        (None, Direction::Down) if !is_moving => MouseKind::Up(Button::Left),
        (None, _) => return None,
    };
    Some(Input::Mouse(Mouse { at, kind, mods }))
}

/// Numbers of a sequence, separated by semicolons, with parts separated by colons.
struct Numbers(Vec<Vec<Option<u32>>>);

impl Numbers {
    fn of(text: &str) -> Self {
        let parts = |number: &str| number.split(':').map(|part| part.parse().ok()).collect();
        Self(text.split(';').map(parts).collect())
    }

    fn get(&self, index: usize, part: usize) -> Option<u32> {
        self.0.get(index)?.get(part).copied().flatten()
    }

    /// Keys held: written as a set of bits, plus one.
    fn mods(&self) -> Mods {
        let bits = self.get(1, 0).unwrap_or(1).saturating_sub(1);
        let mods = Mods::from_bits(u8::try_from(bits & 15).unwrap_or(0));
        // What is called meta is where alt is.
        if bits & 32 == 0 { mods } else { mods.and(Mods::ALT) }
    }

    fn is_release(&self) -> bool {
        self.get(1, 1) == Some(3)
    }
}
