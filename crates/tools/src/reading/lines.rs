//! Lines of text with their numbers, read as they come.

use std::fmt::Write as _;
use std::io::Read;

use sha2::{Digest as _, Sha256};

use super::{Reading, SHOWN};
use crate::seen::{self, Fingerprint};
use crate::text::{Encoding, size as shown_size};
use crate::tool::ToolError;

/// Lines shown if nobody says how many.
const USUAL: usize = 2_000;
/// Letters of a line that are shown.
const WIDTH: usize = 2_000;
/// How much is read at a time.
const CHUNK: usize = 64 * 1024;

/// Shows lines of a file, and takes its fingerprint; none of one that is not read whole.
pub(super) fn show(
    file: &mut impl Read,
    encoding: Encoding,
    size: u64,
    reading: &Reading<'_>,
) -> Result<(String, Option<Fingerprint>), ToolError> {
    let part = reading.part;
    let mut page = Page::new(part.first.max(1), part.count.unwrap_or(USUAL).max(1));
    let mut decoder = encoding.decoder();
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut text = String::with_capacity(CHUNK * 3);
    let mut broken = false;
    loop {
        if reading.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let length = file.read(&mut chunk).map_err(|source| reading.io(source))?;
        let bytes = &chunk[..length];
        if size <= seen::WHOLE {
            hash.update(bytes);
        }
        text.clear();
        text.reserve(decoder.max_utf8_buffer_length(length).unwrap_or(CHUNK * 3));
        let last = length == 0;
        let (_, _, lossy) = decoder.decode_to_string(bytes, &mut text, last);
        broken |= lossy;
        page.take(&text);
        if last || (page.is_full() && size > seen::WHOLE) {
            break;
        }
    }
    let print = (size <= seen::WHOLE).then(|| Fingerprint::finish(hash));
    let total = if size > seen::WHOLE { Total::Size(size) } else { Total::Lines };
    let mut text = page.finish(reading.name, &total);
    text.insert_str(0, &said_of(encoding, broken));
    Ok((text, print))
}

/// What must be said of how the file is written.
fn said_of(encoding: Encoding, broken: bool) -> String {
    match (encoding, broken) {
        (Encoding::Utf8, false) => String::new(),
        (Encoding::Utf8, true) => "[some bytes are not UTF-8 and shown as �]\n".to_owned(),
        (encoding, _) => format!("[{} text]\n", encoding.name()),
    }
}

/// What can be said of how much there is in all.
enum Total {
    /// Every line was counted.
    Lines,
    /// Only this is known.
    Size(u64),
}

/// The lines wanted, collected while the text goes by.
struct Page {
    first: usize,
    count: usize,
    out: String,
    /// The line being read, counted from one.
    line: usize,
    /// Letters of it so far.
    width: usize,
    /// Lines shown so far.
    shown: usize,
    full: bool,
    /// Whether anything of the line being read has come.
    begun: bool,
}

impl Page {
    fn new(first: usize, count: usize) -> Self {
        let (out, full, begun) = (String::new(), false, false);
        Self { first, count, out, line: 1, width: 0, shown: 0, full, begun }
    }

    fn is_full(&self) -> bool {
        self.full
    }

    fn take(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes());
            self.piece(&rest[..end.unwrap_or(rest.len())]);
            match end {
                Some(end) => {
                    self.end_line();
                    rest = &rest[end + 1..];
                }
                None => return,
            }
        }
    }

    /// A piece of the line being read.
    fn piece(&mut self, text: &str) {
        let starts = !std::mem::replace(&mut self.begun, true);
        if self.full || self.line < self.first {
            return;
        }
        if starts {
            if self.shown == self.count || self.out.len() >= SHOWN {
                self.full = true;
                return;
            }
            let _fits = write!(self.out, "{}\t", self.line);
        }
        let room = WIDTH.saturating_sub(self.width);
        let kept = text.char_indices().nth(room).map_or(text.len(), |(cut, _)| cut);
        // A zero far into a file is no reason to refuse it, but some providers refuse a zero.
        self.out.push_str(&text[..kept].replace('\0', "␀"));
        self.width += text.chars().count();
    }

    fn end_line(&mut self) {
        if !self.full && self.line >= self.first {
            if self.width <= WIDTH && self.out.ends_with('\r') {
                self.out.pop();
            }
            if self.width > WIDTH {
                let _fits = write!(self.out, "… [{} more letters]", self.width - WIDTH);
            }
            self.out.push('\n');
            self.shown += 1;
        }
        self.line += 1;
        self.width = 0;
        self.begun = false;
    }

    fn finish(mut self, name: &str, total: &Total) -> String {
        if self.begun {
            self.end_line();
        }
        let lines = self.line - 1;
        if lines == 0 {
            return format!("{name} is empty");
        }
        if self.shown == 0 {
            return format!("{name} has {lines} lines; line {} is past its end", self.first);
        }
        if self.full {
            let next = self.first + self.shown;
            let all = match total {
                Total::Lines => format!("{lines} lines"),
                Total::Size(size) => shown_size(*size),
            };
            let _fits = write!(self.out, "[more of {all}: offset {next}]");
        } else {
            self.out.pop();
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(pieces: &[&str], first: usize, count: usize) -> String {
        let mut page = Page::new(first, count);
        for piece in pieces {
            page.take(piece);
        }
        page.finish("f", &Total::Lines)
    }

    #[test]
    fn numbers_lines_and_names_the_next() {
        assert_eq!(page(&["a\nb\nc\n"], 1, 9), "1\ta\n2\tb\n3\tc");
        assert_eq!(page(&["a\r\n\r\nc"], 1, 9), "1\ta\n2\t\n3\tc");
        assert_eq!(page(&["a\nb\nc\n"], 1, 2), "1\ta\n2\tb\n[more of 3 lines: offset 3]");
        assert_eq!(page(&["a\nb\nc\n"], 2, 1), "2\tb\n[more of 3 lines: offset 3]");
        assert_eq!(page(&["a\nb\nc\n"], 3, 1), "3\tc");
        assert_eq!(page(&["a\n"], 3, 1), "f has 1 lines; line 3 is past its end");
        assert_eq!(page(&[], 1, 1), "f is empty");
        assert_eq!(page(&["\n"], 1, 1), "1\t");
    }

    #[test]
    fn a_tab_at_the_start_of_a_line_stays() {
        assert_eq!(page(&["\ta\n\t\n\t", "b"], 1, 9), "1\t\ta\n2\t\t\n3\t\tb");
    }

    #[test]
    fn zeros_are_shown_as_such() {
        assert_eq!(page(&["a\0b"], 1, 9), "1\ta␀b");
    }

    #[test]
    fn long_lines_and_pages_are_cut() {
        let line = "x".repeat(WIDTH + 5);
        assert!(page(&[&line, "\nb"], 1, 9).ends_with("x… [5 more letters]\n2\tb"));
        let pages = page(&[&"yyyyyyyyy\n".repeat(100_000)], 1, 100_000);
        assert!(pages.len() < SHOWN + 100);
        assert!(
            pages.ends_with(']') && pages.contains("[more of 100000 lines: offset "),
            "{}",
            pages.len()
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn how_the_text_comes_in_does_not_matter(text in "[a\u{e9}\t\r\n]{0,30}", cut in 0..30usize, first in 1..6usize, count in 1..6usize) {
            let cut = text.floor_char_boundary(cut.min(text.len()));
            let (head, tail) = text.split_at(cut);
            prop_assert_eq!(page(&[head, tail], first, count), page(&[&text], first, count));
        }

        #[test]
        fn pages_together_are_the_file(lines in prop::collection::vec("[a-c]{1,3}", 1..20), count in 1..7usize) {
            let text = lines.join("\n") + "\n";
            let mut read = Vec::new();
            let mut first = 1;
            loop {
                let page = page(&[&text], first, count);
                read.extend(page.lines().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())));
                match page.rsplit_once("offset ") {
                    Some((_, next)) => first = next.trim_end_matches(']').parse().unwrap(),
                    None => break,
                }
            }
            prop_assert_eq!(read, lines);
        }
    }
}
