//! What becomes of pasted text: made clean, folded if it is long, taken for a picture if it names one.

use super::marks::is_mark;

/// More lines than this are folded.
const MOST_LINES: usize = 10;
/// More characters than this are folded.
const MOST_CHARACTERS: usize = 1_000;
/// Folded text longer than this stays folded when it is pasted again: a key would be slow in it.
pub(super) const MOST_UNFOLDED_BYTES: usize = 128 << 10;

const PICTURES: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// A text without what no text should hold: control characters but new lines and tabs, and marks.
pub(super) fn cleaned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c if is_mark(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// Whether a text is shown as a mark.
pub(super) fn is_long(text: &str) -> bool {
    text.lines().count() > MOST_LINES || text.chars().nth(MOST_CHARACTERS).is_some()
}

/// The paths of pictures, if a text is nothing else: one or several, as they are dropped.
pub(super) fn pictures(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let all = lines.map(|line| {
        let one = picture(line).map(|path| vec![path]);
        one.or_else(|| words(line)?.into_iter().map(picture).collect())
    });
    all.collect::<Option<Vec<_>>>().unwrap_or_default().concat()
}

/// The words of a line, as they are written; none where a quote stays open.
fn words(line: &str) -> Option<Vec<&str>> {
    let (mut words, mut start, mut quote) = (Vec::new(), None, None);
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter.is_whitespace() && quote.is_none() {
            words.extend(start.take().map(|start| &line[start..at]));
            continue;
        }
        start.get_or_insert(at);
        match (letter, quote) {
            ('\\', None | Some('"')) => drop(letters.next()),
            (mark @ ('\'' | '"'), None) => quote = Some(mark),
            (mark, Some(open)) if mark == open => quote = None,
            _ => {}
        }
    }
    words.extend(start.map(|start| &line[start..]));
    quote.is_none().then_some(words)
}

/// The path of a picture, if a text is one: plain, as an address, or quoted as terminals do with files that
/// are dropped on them.
pub(super) fn picture(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.contains('\n') {
        return None;
    }
    let path = match text.strip_prefix("file://") {
        // An address may name a host: only this machine's files can be read.
        Some(rest) => unescape_address(&rest[rest.find('/')?..])?,
        None => unquote(text)?,
    };
    let lower = path.to_lowercase();
    let ends = |word: &str| PICTURES.iter().any(|ending| word.ends_with(ending));
    let has_root = path.starts_with(['/', '~', '.']) || has_drive(&path);
    let is_bare = !path.contains(char::is_whitespace) && !path.contains("://");
    // Who writes no quotes means one path with blanks, unless an earlier word is a picture already.
    let inner = lower.trim_end().rsplit_once(char::is_whitespace).map_or("", |(inner, _)| inner);
    let is_several = !text.starts_with(['\'', '"']) && inner.split_whitespace().any(ends);
    (ends(&lower) && (has_root || is_bare) && !is_several).then_some(path)
}

/// Whether a path begins with a drive's letter.
fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && b"\\/".contains(&bytes[2])
}

/// The one word a shell would read; none if it would read several.
fn unquote(text: &str) -> Option<String> {
    for quote in ['\'', '"'] {
        if let Some(inside) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            // A shell ends and begins quotes again around an apostrophe.
            let inside = inside.replace(r"'\''", "'");
            return (quote == '\'' || !inside.contains(quote)).then_some(inside);
        }
    }
    if has_drive(text) {
        return Some(text.to_owned());
    }
    // Some terminals escape blanks, some do not: a path that has both is two words.
    let mut out = String::with_capacity(text.len());
    let (mut has_escape, mut has_blank) = (false, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                has_escape = true;
                out.push(chars.next()?);
            }
            c => {
                has_blank |= c.is_whitespace();
                out.push(c);
            }
        }
    }
    (!(has_escape && has_blank)).then_some(out)
}

/// An address's path without its percent signs; none if they make no text.
fn unescape_address(path: &str) -> Option<String> {
    let mut out = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        out.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(out).ok().filter(|path| !path.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_dropped_picture_is_known_however_it_is_quoted() {
        let table = [
            ("/tmp/a.png", Some("/tmp/a.png")),
            ("  /tmp/a.PNG \n", Some("/tmp/a.PNG")),
            ("shot.jpeg", Some("shot.jpeg")),
            ("'/tmp/my shot.png'", Some("/tmp/my shot.png")),
            (r"'/tmp/it'\''s.png'", Some("/tmp/it's.png")),
            ("\"/tmp/my shot.webp\"", Some("/tmp/my shot.webp")),
            (r"/tmp/my\ shot\ (1).gif", Some("/tmp/my shot (1).gif")),
            (
                "~/Screen Shot 2026-01-01 at 10.00.00.png",
                Some("~/Screen Shot 2026-01-01 at 10.00.00.png"),
            ),
            ("file:///tmp/my%20shot.png", Some("/tmp/my shot.png")),
            ("file://localhost/tmp/a.jpg", Some("/tmp/a.jpg")),
            (r"C:\shots\a.png", Some(r"C:\shots\a.png")),
            ("look at shot.png", None),
            ("https://example.com/a.png", None),
            ("/tmp/a.txt", None),
            ("/tmp/a.png\n/tmp/b.png", None),
            ("/tmp/a.png /tmp/b\\ c.png", None),
            ("/tmp/a.png /tmp/b.png", None),
            ("file:///tmp/%ff.png", None),
            ("file:///tmp/a%00.png", None),
            ("", None),
        ];
        for (text, path) in table {
            assert_eq!(picture(text).as_deref(), path, "{text:?}");
        }
    }

    #[test]
    fn clean_text_keeps_tabs_and_lines() {
        assert_eq!(cleaned("a\r\nb\rc\td\u{1b}\u{7}\u{10F000}"), "a\nb\nc\td\u{FFFD}");
    }

    #[test]
    fn ten_lines_are_short_and_eleven_are_long() {
        assert!(!is_long(&"x\n".repeat(10)));
        assert!(is_long(&"x\n".repeat(11)));
        assert!(!is_long(&"é".repeat(1_000)));
        assert!(is_long(&"é".repeat(1_001)));
    }

    #[test]
    fn several_pictures_are_taken_and_anything_else_beside_them_is_text() {
        let table: [(&str, &[&str]); 8] = [
            ("/tmp/a.png /tmp/b.png", &["/tmp/a.png", "/tmp/b.png"]),
            ("/tmp/a.png /tmp/b\\ c.png", &["/tmp/a.png", "/tmp/b c.png"]),
            ("/tmp/a.png\n/tmp/b c.png\n", &["/tmp/a.png", "/tmp/b c.png"]),
            ("'/tmp/my shot.png' \"/b.gif\"", &["/tmp/my shot.png", "/b.gif"]),
            ("file:///tmp/a.png file:///tmp/b%20c.png", &["/tmp/a.png", "/tmp/b c.png"]),
            ("/tmp/a.png and /tmp/b.png", &[]),
            ("/tmp/a.png\nsee above", &[]),
            ("'/tmp/a.png /tmp/b.png", &[]),
        ];
        for (text, paths) in table {
            assert_eq!(pictures(text), paths, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_confuses_it(text in "(file://)?['\"\\\\%a-f0-9/ .\n\u{e9}]{0,30}(\\.png)?['\"]?") {
            pictures(&text);
        }
    }
}
