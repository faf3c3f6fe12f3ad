//! Counts what one decision looks at, for tests: a command is parsed once, and the places it names are looked up once.

use std::cell::Cell;

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { parses: 0, lookups: 0, walks: 0 }) };
}

/// What was done on this thread since the counts were last taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Command lines parsed, nested ones not counted.
    pub(crate) parses: usize,
    /// Commands whose words were looked up on disk.
    pub(crate) lookups: usize,
    /// Folders walked for files that a rule denies.
    pub(crate) walks: usize,
}

/// Counts one more.
pub(crate) fn count(add: impl FnOnce(&mut Counts)) {
    let mut counts = COUNTS.get();
    add(&mut counts);
    COUNTS.set(counts);
}

/// The counts so far, which start again at zero.
pub(crate) fn take() -> Counts {
    COUNTS.take()
}
