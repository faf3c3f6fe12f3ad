//! Strings a terminal sends: answers about colours, the clipboard, pictures, its name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::key::{Answer, Input};
use crate::terminal::parse::{ESC, LONGEST_STRING, Step};

/// Takes a string from the beginning of some bytes, of which the first `searched` have no end.
pub(super) fn step(bytes: &[u8], searched: usize, out: &mut Vec<Input>) -> Step {
    let start = searched.max(2);
    let Some(end) =
        bytes.iter().skip(start).position(|byte| matches!(*byte, 7 | ESC | 0x18 | 0x1a))
    else {
        return if bytes.len() > LONGEST_STRING { Step::Done(bytes.len()) } else { Step::More };
    };
    let end = start + end;
    let content = &bytes[2..end];
    match (bytes[end], bytes.get(end + 1)) {
        (7, _) => {
            out.extend(answer(bytes[1], content).map(Input::Answer));
            Step::Done(end + 1)
        }
        (ESC, Some(b'\\')) => {
            out.extend(answer(bytes[1], content).map(Input::Answer));
            Step::Done(end + 2)
        }
        (ESC, None) => Step::More,
        // Broken off: what comes next is something else.
        (ESC, Some(_)) => Step::Done(end),
        _ => Step::Done(end + 1),
    }
}

fn answer(kind: u8, content: &[u8]) -> Option<Answer> {
    match kind {
        b']' => command(content),
        b'P' => {
            let name = content.strip_prefix(b">|")?;
            Some(Answer::Name(String::from_utf8_lossy(name).chars().take(80).collect()))
        }
        b'_' => {
            let content = content.strip_prefix(b"G")?;
            content.ends_with(b";OK").then_some(Answer::KittyGraphics)
        }
        _ => None,
    }
}

fn command(content: &[u8]) -> Option<Answer> {
    if let Some(color) = content.strip_prefix(b"11;") {
        let (red, green, blue) = color_of(std::str::from_utf8(color).ok()?)?;
        return Some(Answer::Background(red, green, blue));
    }
    let clipboard = content.strip_prefix(b"52;")?;
    let text = clipboard.splitn(2, |byte| *byte == b';').nth(1)?;
    STANDARD.decode(text).ok().map(Answer::Clipboard)
}

/// A colour as X11 writes it: `rgb:RRRR/GGGG/BBBB` with one to four digits each, or `#RRGGBB`.
fn color_of(text: &str) -> Option<(u8, u8, u8)> {
    if let Some(digits) = text.strip_prefix('#') {
        let size = digits.len() / 3;
        if !digits.is_ascii() || size == 0 || digits.len() != size * 3 {
            return None;
        }
        let part = |index: usize| channel(&digits[index * size..(index + 1) * size]);
        return Some((part(0)?, part(1)?, part(2)?));
    }
    let parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(channel);
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// A colour's share, scaled to eight bits.
fn channel(digits: &str) -> Option<u8> {
    if !(1..=4).contains(&digits.len()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let most = (1u32 << (4 * digits.len())) - 1;
    u8::try_from(value * 255 / most).ok()
}
