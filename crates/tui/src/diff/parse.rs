//! Unified diffs, as tools write them and as a careless program might.

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Kept,
    Added,
    Removed,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DiffLine<'a> {
    pub(super) change: Change,
    /// Its number before the change.
    pub(super) old: usize,
    /// Its number after the change.
    pub(super) new: usize,
    pub(super) text: &'a str,
}

/// Lines that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hunk<'a> {
    pub(super) lines: Vec<DiffLine<'a>>,
}

/// The hunks of a diff; file headers are left out, lines before the first hunk are taken to be one.
pub(super) fn hunks(unified: &str) -> Vec<Hunk<'_>> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    let (mut old, mut new) = (1, 1);
    let mut is_inside = false;
    for line in unified.lines() {
        if let Some(starts) = header(line) {
            (old, new) = starts;
            is_inside = true;
            hunks.push(Hunk::default());
            continue;
        }
        if !is_inside && (line.starts_with("--- ") || line.starts_with("+++ ")) {
            continue;
        }
        let (change, text) = match line.as_bytes().first() {
            Some(b'+') => (Change::Added, &line[1..]),
            Some(b'-') => (Change::Removed, &line[1..]),
            Some(b' ') => (Change::Kept, &line[1..]),
            Some(b'\\') => continue,
            Some(_) | None => (Change::Kept, line),
        };
        if hunks.is_empty() {
            hunks.push(Hunk::default());
        }
        if let Some(hunk) = hunks.last_mut() {
            hunk.lines.push(DiffLine { change, old, new, text });
        }
        old += usize::from(change != Change::Added);
        new += usize::from(change != Change::Removed);
    }
    hunks.retain(|hunk| !hunk.lines.is_empty());
    hunks
}

/// Where a hunk begins before and after the change, from its `@@ -1,2 +3,4 @@`.
fn header(line: &str) -> Option<(usize, usize)> {
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    let start = |word: &str, sign: char| {
        word.strip_prefix(sign)?.split(',').next()?.parse::<usize>().ok().filter(|at| *at < 1 << 40)
    };
    let (old, new) = (words.next()?, words.next()?);
    Some((start(old, '-')?, start(new, '+')?))
}
