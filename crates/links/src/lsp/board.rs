//! What a server complains of, file by file, and what an edit has added to it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::protocol::{Diagnostic, Published};
use super::text;

/// Files whose complaints are kept; a server that tells of more is not believed.
const FILES: usize = 5_000;
/// Complaints kept of one file.
const EACH: usize = 500;
/// Complaints kept of all files.
const ALL: usize = 50_000;
/// Bytes of a message that are kept.
const MESSAGE: usize = 2_000;
/// Bytes of what a server adds for itself that are kept, for each of the fields it may use.
const OWN: usize = 10_000;

/// The newest complaints of all files.
#[derive(Debug)]
pub(crate) struct Board {
    files: Mutex<HashMap<PathBuf, Posted>>,
    /// How often something came.
    news: watch::Sender<u64>,
}

/// What is known of one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Posted {
    /// The version the server told them for, if it tells versions.
    pub(crate) version: Option<i64>,
    /// When they were told: a number of [`Board::news`]; 0 for never.
    pub(crate) told: u64,
    pub(crate) pushed: Vec<Diagnostic>,
    pub(crate) pulled: Vec<Diagnostic>,
    /// What the server calls the pulled ones.
    pub(crate) result_id: Option<String>,
}

impl Posted {
    /// All complaints, each once.
    pub(crate) fn all(&self) -> Vec<Diagnostic> {
        let mut all = self.pulled.clone();
        for pushed in &self.pushed {
            let same = |it: &Diagnostic| it.range == pushed.range && it.message == pushed.message;
            if !all.iter().any(same) {
                all.push(pushed.clone());
            }
        }
        all
    }

    /// Whether anything was ever told.
    pub(crate) fn is_known(&self) -> bool {
        self.told > 0
    }

    fn count(&self) -> usize {
        self.pushed.len() + self.pulled.len()
    }
}

/// As much of complaints as there is room for.
fn kept(mut found: Vec<Diagnostic>, room: usize) -> Vec<Diagnostic> {
    found.truncate(room);
    for it in &mut found {
        it.message.truncate(it.message.floor_char_boundary(MESSAGE));
        for own in [&mut it.code, &mut it.data] {
            if own.to_string().len() > OWN {
                *own = Value::Null;
            }
        }
    }
    found
}

impl Board {
    pub(crate) fn new() -> Self {
        Self { files: Mutex::default(), news: watch::channel(0).0 }
    }

    /// Takes what a server pushed, unless it means a text from before the one it has spoken of already.
    pub(crate) fn push(&self, published: Published) {
        let Some(path) = text::path_of(&published.uri) else { return };
        let is_late = published.version < self.of(&path).version && published.version.is_some();
        if is_late {
            return;
        }
        self.put(path, published.diagnostics.len(), |posted, room| {
            posted.version = published.version;
            posted.pushed = kept(published.diagnostics, room);
        });
    }

    /// Takes what a server was asked for; none leaves what it said before.
    pub(crate) fn pull(&self, path: &Path, found: Option<Vec<Diagnostic>>, id: Option<String>) {
        self.put(path.to_owned(), found.as_ref().map_or(0, Vec::len), |posted, room| {
            if let Some(found) = found {
                posted.pulled = kept(found, room);
            }
            posted.result_id = id;
        });
    }

    /// Changes what is known of a file by so many complaints, of which there is room for some.
    fn put(&self, path: PathBuf, more: usize, change: impl FnOnce(&mut Posted, usize)) {
        let mut files = self.lock();
        if files.len() >= FILES && !files.contains_key(&path) {
            return;
        }
        let room = match more {
            0 => 0,
            _ => ALL.saturating_sub(files.values().map(Posted::count).sum()).min(EACH),
        };
        let told = *self.news.borrow() + 1;
        let posted = files.entry(path).or_default();
        change(posted, room);
        posted.told = told;
        self.news.send_replace(told);
    }

    /// How often something came so far.
    pub(crate) fn news(&self) -> u64 {
        *self.news.borrow()
    }

    /// Tells when something comes.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// What is known of a file.
    pub(crate) fn of(&self, path: &Path) -> Posted {
        self.lock().get(path).cloned().unwrap_or_default()
    }

    /// What is known of every file.
    pub(crate) fn all(&self) -> HashMap<PathBuf, Posted> {
        self.lock().clone()
    }

    /// A file is gone.
    pub(crate) fn forget(&self, path: &Path) {
        self.lock().remove(path);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Posted>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the lines of a text have gone by an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift {
    /// Lines at the beginning that stayed.
    head: usize,
    /// The first of the lines at the end that stayed, as it was and as it is.
    tail_before: usize,
    tail_after: usize,
}

impl Shift {
    pub(crate) fn between(before: &str, after: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.lines().collect(), after.lines().collect());
        let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
        let most = old.len().min(new.len()) - head;
        let tail = old.iter().rev().zip(new.iter().rev());
        let tail = tail.take(most).take_while(|(one, other)| one == other).count();
        Self { head, tail_before: old.len() - tail, tail_after: new.len() - tail }
    }

    /// A file that did not change.
    pub(crate) fn none() -> Self {
        Self { head: usize::MAX, tail_before: usize::MAX, tail_after: usize::MAX }
    }

    /// Where a line is now; none if it was changed.
    fn line(self, line: usize) -> Option<usize> {
        if line < self.head {
            Some(line)
        } else if line >= self.tail_before {
            Some(line - self.tail_before + self.tail_after)
        } else {
            None
        }
    }

    /// Whether a line is new.
    fn is_new(self, line: usize) -> bool {
        line >= self.head && line < self.tail_after
    }
}

/// Those of `after` that the edit has brought. Without `before` nobody knows; then those in lines that are new.
pub(crate) fn brought(
    before: Option<&[Diagnostic]>,
    after: &[Diagnostic],
    shift: Shift,
) -> Vec<Diagnostic> {
    let line = |it: &Diagnostic| it.range.start.line as usize;
    let Some(before) = before else {
        return after.iter().filter(|it| shift.is_new(line(it))).cloned().collect();
    };
    let same = |one: &Diagnostic, other: &Diagnostic| {
        one.message == other.message && one.code == other.code && one.source == other.source
    };
    let mut old: Vec<Option<&Diagnostic>> = before.iter().map(Some).collect();
    let mut take = |fits: &dyn Fn(&Diagnostic) -> bool| {
        let found = old.iter_mut().find(|it| it.is_some_and(fits));
        found.and_then(Option::take).is_some()
    };
    // Those that only moved are matched first, so that of two alike the new one is told.
    let moved = |it: &&Diagnostic| {
        take(&|known| same(known, it) && shift.line(line(known)) == Some(line(it)))
    };
    let (_, rest): (Vec<&Diagnostic>, Vec<&Diagnostic>) = after.iter().partition(moved);
    let rest = rest.into_iter().filter(|it| !take(&|known| same(known, it)));
    rest.cloned().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::protocol::{Position, Range};
    use super::*;

    fn complaint(line: u32, message: &str) -> Diagnostic {
        let at = Position { line, character: 0 };
        Diagnostic {
            range: Range { start: at, end: at },
            severity: Some(1),
            code: Value::Null,
            source: None,
            message: message.to_owned(),
            data: Value::Null,
        }
    }

    #[test]
    fn only_what_the_edit_brought_is_told() {
        let shift = Shift::between("a\nb\nc\n", "new\na\nb!\nc\n");
        let before = [complaint(0, "old"), complaint(2, "old"), complaint(1, "mended")];
        let after = [complaint(1, "old"), complaint(3, "old"), complaint(0, "old")];
        let lines: Vec<u32> =
            brought(Some(&before), &after, shift).iter().map(|it| it.range.start.line).collect();
        assert_eq!(lines, [0]);
    }

    #[test]
    fn without_knowing_what_was_only_new_lines_are_told() {
        let shift = Shift::between("a\nb\nc\n", "a\nB\nc\n");
        let after = [complaint(0, "x"), complaint(1, "y"), complaint(2, "z")];
        assert_eq!(brought(None, &after, shift), [complaint(1, "y")]);
    }

    #[test]
    fn the_board_is_bounded_and_knows_what_is_newer() {
        let board = Board::new();
        let publish = |number: usize| {
            let uri = format!("file:///x/{number}");
            let published = json!({ "uri": uri, "diagnostics": [{ "message": "no range" }] });
            board.push(serde_json::from_value(published).unwrap());
        };
        (0..FILES + 10).for_each(publish);
        assert_eq!(board.all().len(), FILES);
        let posted = board.of(Path::new("/x/7"));
        assert!(posted.is_known() && posted.all().is_empty());
    }

    fn published(version: Option<i64>, complaints: Vec<Diagnostic>) -> Published {
        Published { uri: "file:///x/a".to_owned(), version, diagnostics: complaints }
    }

    #[test]
    fn what_means_an_earlier_text_comes_too_late() {
        let board = Board::new();
        board.push(published(Some(3), vec![complaint(0, "new")]));
        board.push(published(Some(2), vec![complaint(0, "old")]));
        assert_eq!(board.of(Path::new("/x/a")).all(), [complaint(0, "new")]);
        board.push(published(None, Vec::new()));
        assert!(board.of(Path::new("/x/a")).all().is_empty(), "who tells no version is believed");
    }

    #[test]
    fn long_complaints_are_cut_and_too_many_are_not_kept() {
        let board = Board::new();
        let mut long = complaint(0, &"é".repeat(MESSAGE));
        long.data = json!("x".repeat(OWN + 1));
        board.push(published(None, vec![long; EACH + 1]));
        let all = board.of(Path::new("/x/a")).pushed;
        assert_eq!((all.len(), all[0].message.len()), (EACH, MESSAGE));
        assert!(all[0].data.is_null());
        for number in 0..ALL / EACH + 5 {
            let found = Some(vec![complaint(0, "x"); EACH]);
            board.pull(Path::new(&format!("/y/{number}")), found, None);
        }
        assert_eq!(board.all().values().map(Posted::count).sum::<usize>(), ALL);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn an_edit_that_brings_nothing_tells_nothing(
            before in proptest::collection::vec("[a-c]{1,2}", 0..8),
            added in proptest::collection::vec("[a-c]{1,2}", 0..4),
            at in 0_usize..8,
            complaints in proptest::collection::vec((0_u32..8, "[xyz]"), 0..8),
        ) {
            let at = at.min(before.len());
            let mut after = before.clone();
            after.splice(at..at, added.clone());
            let shift = Shift::between(&before.join("\n"), &after.join("\n"));
            let old: Vec<Diagnostic> =
                complaints.iter().map(|(line, text)| complaint(*line, text)).collect();
            let moved = |it: &Diagnostic| {
                let line = it.range.start.line as usize;
                complaint(u32::try_from(shift.line(line).unwrap_or(line)).unwrap(), &it.message)
            };
            let new: Vec<Diagnostic> = old.iter().map(moved).collect();
            prop_assert_eq!(brought(Some(&old), &new, shift), Vec::new());
            prop_assert_eq!(brought(Some(&[]), &new, shift).len(), new.len());
        }
    }
}
