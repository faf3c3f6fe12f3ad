//! What a change is, for the model in a line and for a face as a unified diff.

use std::fmt::Write as _;
use std::time::Duration;

use base::Block;
use similar::{ChangeTag, DiffTag, TextDiff};

/// Lines around a change.
const CONTEXT: usize = 3;
/// Lines of a diff that are shown.
const LINES: usize = 400;
/// Letters of a line that are shown.
const WIDTH: usize = 500;
/// A diff nobody waits longer for; what is left then is shown as replaced whole.
const PATIENCE: Duration = Duration::from_millis(200);

/// What changed from one content to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Unified diff, without file headers.
    pub(crate) unified: String,
    /// Lines that are new.
    pub(crate) added: usize,
    /// Lines that are gone.
    pub(crate) removed: usize,
    /// The first line that is new or gone, counted in the new content.
    pub(crate) first_line: usize,
}

impl Change {
    /// Compares two contents.
    pub(crate) fn between(before: &[u8], after: &[u8]) -> Self {
        let (head, tail) = common(before, after);
        let (before, skipped) = (&before[..before.len() - tail], &before[..head]);
        let offset = memchr::memchr_iter(b'\n', skipped).count();
        let old = String::from_utf8_lossy(&before[head..]);
        let new = String::from_utf8_lossy(&after[head..after.len() - tail]);
        let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old.as_ref(), new.as_ref());
        let mut change = Self { unified: String::new(), added: 0, removed: 0, first_line: 0 };
        let mut shown = 0;
        for group in diff.grouped_ops(CONTEXT) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            if shown < LINES {
                let old = first.old_range().start..last.old_range().end;
                let new = first.new_range().start..last.new_range().end;
                let head = format!("@@ -{} +{} @@", span(&old, offset), span(&new, offset));
                change.line("", &head);
            }
            let changed = group.iter().find(|step| step.tag() != DiffTag::Equal);
            if let (0, Some(step)) = (change.first_line, changed) {
                change.first_line = offset + step.new_range().start + 1;
            }
            for line in group.iter().flat_map(|step| diff.iter_changes(step)) {
                let sign = match line.tag() {
                    ChangeTag::Equal => " ",
                    ChangeTag::Delete => "-",
                    ChangeTag::Insert => "+",
                };
                change.count(line.tag());
                shown += 1;
                if shown <= LINES {
                    change.line(sign, line.value());
                }
            }
        }
        if shown > LINES {
            let _fits = writeln!(change.unified, "… {} more lines", shown - LINES);
        }
        change
    }

    /// The diff as a face shows it.
    pub(crate) fn block(&self, path: &str) -> Block {
        Block::Diff { path: path.to_owned(), unified: self.unified.clone() }
    }

    /// How much changed, as in `+3 −1`.
    pub(crate) fn counts(&self) -> String {
        format!("+{} −{}", self.added, self.removed)
    }

    fn count(&mut self, tag: ChangeTag) {
        match tag {
            ChangeTag::Equal => {}
            ChangeTag::Delete => self.removed += 1,
            ChangeTag::Insert => self.added += 1,
        }
    }

    fn line(&mut self, sign: &str, text: &str) {
        self.unified.push_str(sign);
        let line = text.trim_end_matches(['\n', '\r']);
        match line.char_indices().nth(WIDTH) {
            Some((cut, _)) => {
                self.unified.push_str(&line[..cut]);
                self.unified.push('…');
            }
            None => self.unified.push_str(line),
        }
        self.unified.push('\n');
        if !sign.is_empty() && !text.ends_with('\n') {
            self.unified.push_str("\\ No newline at end of file\n");
        }
    }
}

/// How much two contents begin and end with alike, in whole lines and less what is shown around a change:
/// so that a change in a large file costs what the change costs.
fn common(before: &[u8], after: &[u8]) -> (usize, usize) {
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let head = before.iter().zip(after).take_while(same).count();
    let most = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(same).count();
    let mut feeds = memchr::memrchr_iter(b'\n', &before[..head]);
    let head = feeds.nth(CONTEXT).map_or(0, |feed| feed + 1);
    let end = &before[before.len() - tail..];
    // The first feed may end the line that changed.
    let mut feeds = memchr::memchr_iter(b'\n', end);
    let tail = feeds.nth(CONTEXT).map_or(0, |feed| end.len() - feed - 1);
    (head, tail)
}

/// A hunk's place and length as unified diffs write it.
fn span(lines: &std::ops::Range<usize>, offset: usize) -> String {
    let start = lines.start + offset;
    match lines.len() {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        length => format!("{},{length}", start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_change_with_its_surroundings() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let change = Change::between(before.as_bytes(), before.replace('6', "six").as_bytes());
        assert_eq!(change.unified, "@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n");
        assert_eq!((change.added, change.removed, change.first_line), (1, 1, 6));
    }

    #[test]
    fn a_change_in_a_large_file_has_the_right_numbers() {
        let lines: Vec<String> = (1..=50_000).map(|line| format!("line {line}\n")).collect();
        let before = lines.concat();
        let after = before.replace("line 40000\n", "line 40000\nmore\n");
        let change = Change::between(before.as_bytes(), after.as_bytes());
        assert!(
            change.unified.starts_with("@@ -39998,6 +39998,7 @@\n line 39998\n"),
            "{}",
            change.unified
        );
        assert_eq!((change.added, change.removed, change.first_line), (1, 0, 40_001));
    }

    #[test]
    fn what_is_only_gone_has_a_place_too() {
        let change = Change::between(b"1\n2\n3\n4\n", b"1\n2\n4\n");
        assert_eq!((change.added, change.removed, change.first_line), (0, 1, 3));
    }

    #[test]
    fn a_new_file_is_all_new() {
        let change = Change::between(b"", b"a\nb");
        assert_eq!(change.unified, "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
    }

    #[test]
    fn a_long_diff_is_cut() {
        let after = "x\n".repeat(1_000);
        let change = Change::between(b"", after.as_bytes());
        assert_eq!(change.added, 1_000);
        assert!(change.unified.ends_with("… 600 more lines\n"));
        assert_eq!(change.unified.lines().count(), 402);
    }
}
