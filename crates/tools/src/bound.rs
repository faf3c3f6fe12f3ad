//! Output bounded for the model: its head and tail, and the name of the file that has all of it.
//!
//! Bytes come in as a process writes them, in pieces of any size. They are cleaned as a terminal would show
//! them ([`clean`]); what no longer fits in memory goes to a file ([`spill`]). The clean text is a stream
//! with byte offsets, so that a reader can come back for what is new.

mod clean;
mod spill;

use std::path::{Path, PathBuf};

use clean::Cleaner;
pub use spill::Spill;

/// Most that a model is shown of one output.
pub const LIMIT_CHARS: usize = 30_000;

/// Output that is still growing.
#[derive(Debug)]
pub struct Bounded {
    cleaner: Cleaner,
    /// Clean text on its way into `head` and `tail`; kept for its allocation.
    fresh: String,
    /// The first characters, at most `limit / 2`.
    head: Counted,
    /// What follows the head: all of it until the spill begins, then at least the last `limit / 2`.
    tail: Counted,
    total: Totals,
    limit: usize,
    spill: Spill,
}

/// How much clean text has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    bytes: u64,
    chars: u64,
    lines: u64,
}

impl Bounded {
    /// Nothing yet; what does not fit goes to `spill`.
    pub fn new(spill: Spill) -> Self {
        Self::with_limit(spill, LIMIT_CHARS)
    }

    /// The same with another limit than [`LIMIT_CHARS`]. A limit below 1,000 is taken for 1,000.
    pub fn with_limit(spill: Spill, limit: usize) -> Self {
        Self {
            cleaner: Cleaner::default(),
            fresh: String::new(),
            head: Counted::default(),
            tail: Counted::default(),
            total: Totals::default(),
            // The line that says what is left out must fit, with a long path in it.
            limit: limit.max(1_000),
            spill,
        }
    }

    /// Takes what a process wrote.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut fresh = std::mem::take(&mut self.fresh);
        self.cleaner.push(bytes, &mut fresh);
        self.keep(&fresh);
        fresh.clear();
        self.fresh = fresh;
    }

    /// Says that nothing more comes: what was half a line or half a character is all there is of it.
    pub fn finish(&mut self) {
        let mut rest = String::new();
        self.cleaner.finish(&mut rest);
        self.keep(&rest);
    }

    /// How many bytes of clean text there are in finished lines: where [`Bounded::since`] goes on.
    pub fn end(&self) -> u64 {
        self.total.bytes
    }

    /// The line that is still being written.
    pub fn line(&self) -> String {
        self.cleaner.line()
    }

    /// The file that has everything, once there is one.
    pub fn spilled(&self) -> Option<&Path> {
        self.spill.path()
    }

    /// All of it, bounded.
    pub fn text(&mut self) -> String {
        self.since(0)
    }

    /// What came after the first `from` bytes of clean text, and the line that is still being written; bounded.
    pub fn since(&mut self, from: u64) -> String {
        let line = Counted::from(self.cleaner.line());
        let from = from.min(self.total.bytes);
        if let Some(mut text) = self.whole(from) {
            text.push_str(&line.text);
            // A text has at least as many bytes as characters: most are short enough without counting.
            if text.len() <= self.limit || text.chars().count() <= self.limit {
                return text;
            }
        }
        self.open_spill();
        self.shortened(from, &line)
    }

    /// The last `count` lines, as a face shows them while more is coming.
    pub fn last_lines(&self, count: usize) -> String {
        let mut text = cut_end(&self.tail.text, LAST_LINES_CHARS).to_owned();
        if self.tail.chars < LAST_LINES_CHARS {
            text.insert_str(0, &self.head.text);
        }
        text.push_str(&self.cleaner.line());
        let text = cut_end(text.trim_end_matches('\n'), LAST_LINES_CHARS);
        let start = text.rmatch_indices('\n').nth(count.saturating_sub(1));
        text[start.map_or(0, |(at, _)| at + 1)..].to_owned()
    }

    fn keep(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let chars = text.chars().count();
        self.total.bytes += text.len() as u64;
        self.total.chars += chars as u64;
        self.total.lines += text.matches('\n').count() as u64;
        if self.total.chars > self.limit as u64 {
            self.open_spill();
        }
        if self.spill.is_open() {
            self.spill.write(text);
        }
        let room = self.limit / 2 - self.head.chars;
        let (first, rest) = if chars <= room { (text, "") } else { split_chars(text, room) };
        self.head.push(first);
        self.tail.push(rest);
        self.tail.keep_last(self.limit - self.limit / 2, self.limit);
    }

    /// Writes what memory has to the file; from then on the file is ahead of memory.
    fn open_spill(&mut self) {
        if !self.spill.is_open() {
            self.spill.write(&self.head.text);
            self.spill.write(&self.tail.text);
        }
    }

    /// All of the clean text after `from`, if it is in memory or may be short enough to be read back.
    fn whole(&mut self, from: u64) -> Option<String> {
        let bytes = usize::try_from(self.total.bytes - from).ok()?;
        if let Some(start) = self.tail.text.len().checked_sub(bytes) {
            return Some(self.tail.text[self.tail.text.ceil_char_boundary(start)..].to_owned());
        }
        let all = self.head.text.len() + self.tail.text.len();
        if all as u64 == self.total.bytes {
            let start = self.head.text.ceil_char_boundary(all - bytes);
            return Some(format!("{}{}", &self.head.text[start..], self.tail.text));
        }
        let read = (bytes <= self.limit * 4).then(|| self.spill.read(from, bytes).ok())??;
        // Up to three bytes of a character that `from` cuts are missing, never more.
        (read.len() + 3 >= bytes).then_some(read)
    }

    /// The first and the last of what came after `from`, with a line between them.
    fn shortened(&mut self, from: u64, line: &Counted) -> String {
        let marker_room = 200 + self.spill.describe().chars().count();
        let half = (self.limit - marker_room.min(self.limit / 2)) / 2;
        let front = if from == 0 {
            self.head.text.clone()
        } else {
            let before_tail = self.total.bytes.saturating_sub(from + self.tail.text.len() as u64);
            let most = usize::try_from(before_tail).map_or(half * 4, |most| most.min(half * 4));
            self.spill.read(from, most).unwrap_or_default()
        };
        let front = cut_start(&front, half);
        let back = format!("{}{}", self.tail.text, line.text);
        let back = cut_end(&back, half);
        let marker = if from == 0 {
            let chars = self.total.chars + line.chars as u64;
            let shown = (front.chars().count() + back.chars().count()) as u64;
            let lines = self.total.lines + u64::from(line.chars > 0);
            let shown_lines = lines_in(front) + lines_in(back);
            let lines = lines.saturating_sub(shown_lines);
            format!("{lines} lines ({} characters) left out here", chars.saturating_sub(shown))
        } else {
            let bytes = self.total.bytes - from + line.text.len() as u64;
            let shown = (front.len() + back.len()) as u64;
            format!("{} bytes left out here", bytes.saturating_sub(shown))
        };
        let gap = if front.is_empty() || front.ends_with('\n') { "" } else { "\n" };
        format!("{front}{gap}[… {marker}; {} …]\n{back}", self.spill.describe())
    }
}

/// Bounds a text that is all there.
pub fn bounded(text: &str, spill: Spill) -> String {
    if text.len() <= LIMIT_CHARS {
        return text.to_owned();
    }
    let mut out = Bounded::new(spill);
    out.keep(text);
    out.text()
}

/// Where the output of a call goes when it is too long: a file named like the call.
pub fn spill_for(ctx: &crate::ToolCtx) -> Spill {
    let folder = PathBuf::clone(&ctx.workspace.spill);
    let shown = ctx.workspace.fence.shown(&folder);
    Spill::new(folder, ctx.call.as_str()).shown_in(shown)
}

/// Most that [`Bounded::last_lines`] gives: eight lines of a wide terminal.
const LAST_LINES_CHARS: usize = 2_000;

/// A text that knows how many characters it has.
#[derive(Debug, Default)]
struct Counted {
    text: String,
    chars: usize,
}

impl From<String> for Counted {
    fn from(text: String) -> Self {
        let chars = text.chars().count();
        Self { text, chars }
    }
}

impl Counted {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.chars += text.chars().count();
    }

    /// Drops what is before the last `keep` characters once there are more than `most`: seldom enough that
    /// a character is moved about once.
    fn keep_last(&mut self, keep: usize, most: usize) {
        if self.chars <= most {
            return;
        }
        let drop = self.chars - keep;
        let is_ascii = self.chars == self.text.len();
        let end = if is_ascii { drop } else { split_chars(&self.text, drop).0.len() };
        self.text.drain(..end);
        self.chars = keep;
        // One large push must not be paid for ever after.
        self.text.shrink_to(most * 2);
    }
}

fn lines_in(text: &str) -> u64 {
    text.lines().count() as u64
}

/// The first `chars` characters and the rest.
fn split_chars(text: &str, chars: usize) -> (&str, &str) {
    let at = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.split_at(at)
}

/// At most the first `chars` characters; whole lines, or at least whole words, where that costs little.
fn cut_start(text: &str, chars: usize) -> &str {
    let (first, rest) = split_chars(text, chars);
    if rest.is_empty() {
        return first;
    }
    let least = first.len() / 4 * 3;
    let line = first.rfind('\n').filter(|at| *at >= least);
    let end = line.or_else(|| first.rfind(' ').filter(|at| *at >= least));
    end.map_or(first, |at| &first[..=at])
}

/// At most the last `chars` characters; whole lines, or at least whole words, where that costs little.
fn cut_end(text: &str, chars: usize) -> &str {
    let all = text.chars().count();
    if all <= chars {
        return text;
    }
    let (_, last) = split_chars(text, all - chars);
    let most = last.len() / 4;
    let line = last.find('\n').filter(|at| *at <= most);
    let start = line.or_else(|| last.find(' ').filter(|at| *at <= most));
    start.map_or(last, |at| &last[at + 1..])
}

#[cfg(test)]
mod tests;
