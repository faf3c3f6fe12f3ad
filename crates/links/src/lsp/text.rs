//! Places in a text: bytes here, units that were agreed on over the wire, and files as addresses.
//!
//! A server is told a text without the mark at its beginning, as editors do: all places here mean the text without it,
//! but for [`apply`], which is given the file as it is.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use url::Url;

use super::protocol::{Position, Range, TextEdit};

/// The units in which a server counts within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Units {
    /// Bytes.
    Utf8,
    /// What the protocol counts in unless both sides agree otherwise.
    Utf16,
    /// Letters.
    Utf32,
}

impl Units {
    /// What a server chose.
    pub(crate) fn named(name: Option<&str>) -> Self {
        match name {
            Some("utf-8") => Self::Utf8,
            Some("utf-32") => Self::Utf32,
            Some(_) | None => Self::Utf16,
        }
    }

    /// The place of a byte.
    pub(crate) fn position(self, text: &str, byte: usize) -> Position {
        let byte = floor(text, byte.min(text.len()));
        let start = text[..byte].rfind('\n').map_or(0, |feed| feed + 1);
        let line = text[..start].bytes().filter(|&byte| byte == b'\n').count();
        let units = self.count(&text[start..byte]);
        Position { line: number(line), character: number(units) }
    }

    /// The byte at a place; one past the end of its line means that end, one past the last line the text's.
    pub(crate) fn byte(self, text: &str, place: Position) -> usize {
        let Some(start) = line_start(text, place.line as usize) else { return text.len() };
        let line = text[start..].split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let wanted = place.character as usize;
        let mut units = 0;
        for (at, letter) in line.char_indices() {
            units += self.width(letter);
            if units > wanted {
                return start + at;
            }
        }
        start + line.len()
    }

    fn width(self, letter: char) -> usize {
        match self {
            Self::Utf8 => letter.len_utf8(),
            Self::Utf16 => letter.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    fn count(self, text: &str) -> usize {
        text.chars().map(|letter| self.width(letter)).sum()
    }

    /// The one change that makes `after` of `before`, as `didChange` wants it.
    pub(crate) fn change(self, before: &str, after: &str) -> Value {
        if has_odd_lines(before) {
            return json!({ "text": after });
        }
        let (head, old, new) = differing(before, after);
        let start = self.position(before, head);
        let end = self.position(before, head + old.len());
        json!({ "range": Range { start, end }, "text": new })
    }
}

/// Where two texts differ: the byte at which both pieces begin, and the pieces.
fn differing<'a>(before: &'a str, after: &'a str) -> (usize, &'a str, &'a str) {
    let same = |pair: &(u8, u8)| pair.0 == pair.1;
    let head = before.bytes().zip(after.bytes()).take_while(same).count();
    let mut head = floor(before, floor(after, head));
    // A place between the two bytes of a line's end is no place.
    if head > 0 && before.as_bytes()[head - 1] == b'\r' {
        head -= 1;
    }
    let most = before.len().min(after.len()) - head;
    let tail = before.bytes().rev().zip(after.bytes().rev()).take(most).take_while(same).count();
    let mut tail = tail;
    let ends = |text: &str, tail: usize| {
        let at = text.len() - tail;
        let splits_end = at > 0 && tail > 0 && text.as_bytes()[at - 1] == b'\r';
        text.is_char_boundary(at) && !splits_end
    };
    while tail > 0 && !(ends(before, tail) && ends(after, tail)) {
        tail -= 1;
    }
    (head, &before[head..before.len() - tail], &after[head..after.len() - tail])
}

/// Why edits cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Two of them want the same piece.
    #[error("two edits overlap")]
    Overlap,
    /// One ends before it begins.
    #[error("an edit ends before it begins")]
    Backwards,
    /// They mean another text.
    #[error("it has just been changed; try again")]
    Stale,
    /// Nobody knows which line is meant.
    #[error("its lines end in ways that are not counted alike everywhere; change it with edit")]
    OddLines,
}

/// The mark some files begin with.
const MARK: char = '\u{feff}';

/// A text without the mark at its beginning.
pub(crate) fn bare(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Whether some of a text's lines end in a way that one server counts and another does not.
fn has_odd_lines(text: &str) -> bool {
    let is_alone = |(at, _): (usize, &str)| !text[at + 1..].starts_with('\n');
    text.contains(['\u{2028}', '\u{2029}']) || text.match_indices('\r').any(is_alone)
}

/// A file's text with edits made, all of which mean the text as it is.
pub(crate) fn apply(file: &str, edits: &[TextEdit], units: Units) -> Result<String, EditError> {
    let text = bare(file);
    if has_odd_lines(text) {
        return Err(EditError::OddLines);
    }
    let place = |edit: &TextEdit| {
        let (start, end) = (units.byte(text, edit.range.start), units.byte(text, edit.range.end));
        (start, end)
    };
    let mut placed: Vec<((usize, usize), &TextEdit)> =
        edits.iter().map(|edit| (place(edit), edit)).collect();
    // Insertions at one place keep their order.
    placed.sort_by_key(|(range, _)| *range);
    // Servers that ask several parts of theirs may say the same twice.
    placed.dedup_by(|one, other| one == other && one.0.0 < one.0.1);
    let (mut changed, mut done) = (String::with_capacity(file.len()), 0);
    changed.push_str(&file[..file.len() - text.len()]);
    for ((start, end), edit) in placed {
        if end < start {
            return Err(EditError::Backwards);
        }
        if start < done {
            return Err(EditError::Overlap);
        }
        changed.push_str(&text[done..start]);
        changed.push_str(&edit.new_text);
        done = end;
    }
    changed.push_str(&text[done..]);
    Ok(changed)
}

fn line_start(text: &str, line: usize) -> Option<usize> {
    if line == 0 {
        return Some(0);
    }
    text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').nth(line - 1).map(|(at, _)| at + 1)
}

/// The last place at or before `byte` where a letter begins.
fn floor(text: &str, byte: usize) -> usize {
    (0..=byte).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A file's address.
pub(crate) fn address(path: &Path) -> String {
    Url::from_file_path(path).map_or_else(|()| path.display().to_string(), |url| url.to_string())
}

/// The file at an address; none for anything else, such as a page inside an archive.
pub(crate) fn path_of(address: &str) -> Option<PathBuf> {
    let url = Url::parse(address).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_said_twice_is_done_once() {
        let at = |character| Position { line: 0, character };
        let edit = |start, end| TextEdit {
            range: Range { start: at(start), end: at(end) },
            new_text: "x".to_owned(),
        };
        let edits = [edit(2, 3), edit(0, 1), edit(2, 3)];
        assert_eq!(apply("abc", &edits, Units::Utf8).unwrap(), "xbx");
        assert_eq!(apply("abc", &[edit(0, 0), edit(0, 0)], Units::Utf8).unwrap(), "xxabc");
        assert_eq!(apply("abc", &[edit(0, 2), edit(1, 3)], Units::Utf8), Err(EditError::Overlap));
    }

    #[test]
    fn units_are_counted_as_agreed() {
        let text = "a\n😀é b\r\nlast";
        let b = text.find('b').unwrap();
        assert_eq!(Units::Utf8.position(text, b), Position { line: 1, character: 7 });
        assert_eq!(Units::Utf16.position(text, b), Position { line: 1, character: 4 });
        let past = Position { line: 1, character: 99 };
        assert_eq!(Units::Utf16.byte(text, past), text.find('\r').unwrap());
        assert_eq!(Units::Utf8.byte(text, Position { line: 9, character: 0 }), text.len());
        let inside = Position { line: 1, character: 1 };
        assert_eq!(Units::Utf16.byte(text, inside), 2, "half a letter is no place");
        assert_eq!(Units::Utf32.position(text, b), Position { line: 1, character: 3 });
        assert_eq!(Units::Utf32.byte(text, Position { line: 1, character: 3 }), b);
        assert_eq!(Units::named(Some("utf-32")), Units::Utf32);
    }

    #[test]
    fn the_mark_of_a_file_is_not_counted_and_stays() {
        let start = Position::default();
        let end = Position { line: 0, character: 1 };
        let edits = [TextEdit { range: Range { start, end }, new_text: "b".to_owned() }];
        assert_eq!(apply("\u{feff}a = 1\n", &edits, Units::Utf16).unwrap(), "\u{feff}b = 1\n");
    }

    #[test]
    fn lines_that_are_not_counted_alike_are_not_counted() {
        for text in ["a\rb\n", "a\u{2028}b\n", "a\r"] {
            assert_eq!(Units::Utf8.change(text, "x"), json!({ "text": "x" }), "{text:?}");
            assert_eq!(apply(text, &[], Units::Utf8), Err(EditError::OddLines), "{text:?}");
        }
        assert!(!has_odd_lines("a\r\nb\n"));
    }

    #[test]
    fn edits_keep_their_order_and_must_not_overlap() {
        let at = |line, from, to| Range {
            start: Position { line, character: from },
            end: Position { line, character: to },
        };
        let edit = |range, text: &str| TextEdit { range, new_text: text.to_owned() };
        let edits = [edit(at(1, 0, 3), "two"), edit(at(0, 0, 0), "x"), edit(at(0, 0, 0), "y")];
        assert_eq!(apply("one\nzwo\n", &edits, Units::Utf16).unwrap(), "xyone\ntwo\n");
        let edits = [edit(at(0, 0, 2), ""), edit(at(0, 1, 3), "")];
        assert_eq!(apply("one", &edits, Units::Utf8), Err(EditError::Overlap));
    }

    #[test]
    fn a_file_has_one_address_and_back() {
        for path in ["/tmp/a b/ü#?.rs", "/x%20y"] {
            assert_eq!(path_of(&address(Path::new(path))).unwrap(), Path::new(path));
        }
        assert_eq!(path_of("jdt://contents/x"), None);
        assert_eq!(path_of("file:///a%20b").unwrap(), Path::new("/a b"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn a_change_makes_the_new_text_of_the_old(
            before in "(a|b|é|😀|\n|\r\n){0,40}", after in "(a|b|é|😀|\n|\r\n){0,40}", units in 0_usize..3,
        ) {
            let units = [Units::Utf8, Units::Utf16, Units::Utf32][units];
            let change = units.change(&before, &after);
            let edit = TextEdit {
                range: serde_json::from_value(change["range"].clone()).unwrap(),
                new_text: change["text"].as_str().unwrap().to_owned(),
            };
            prop_assert_eq!(apply(&before, &[edit], units).unwrap(), after);
        }

        #[test]
        fn a_place_leads_back_to_its_byte(text in "[a\n é😀]{0,40}", at in 0_usize..200) {
            let byte = floor(&text, at.min(text.len()));
            for units in [Units::Utf8, Units::Utf16, Units::Utf32] {
                prop_assert_eq!(units.byte(&text, units.position(&text, byte)), byte);
            }
        }
    }
}
