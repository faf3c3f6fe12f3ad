//! Secrets out of what is shown, logged, exported or sent to a model.
//!
//! Two kinds are found: values that are known ([`known`]: keys in use, variables whose name says secret), and
//! shapes ([`shape`]: prefixes that issuers chose, key blocks, passwords in addresses, random text beside a
//! name that says secret). A shape must also look random ([`random`]), so that hashes, ids and identifiers
//! stay readable: a masked word in a source file would make the model's next edit miss.

mod known;
mod random;
mod shape;
mod stream;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use base::{Env, Secret};
use regex::Regex;

pub use stream::RedactStream;

/// Knows secret values and shapes, and masks them. Clones are cheap, and learn together.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Vec<Arc<Known>>>>,
}

/// The values that are masked wherever they stand.
struct Known {
    values: Regex,
    /// The longest value that has white space in it: a stream must keep back as much.
    longest_spaced: usize,
}

/// A place in a text, and what to call it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    place: Range<usize>,
    name: &'static str,
}

impl Redactor {
    /// Masks `secrets` and the secret variables of `env` besides everything that has a secret's shape.
    pub fn new(env: &Env, secrets: impl IntoIterator<Item = Secret>) -> Self {
        let known = known::collect(env, secrets).map(Arc::new);
        Self { known: Arc::new(RwLock::new(known.into_iter().collect())) }
    }

    /// Masks the secret variables of `env` from now on, too.
    pub fn learn(&self, env: &Env) {
        let is_known = |value: &str| {
            let found = self.find(value.trim());
            found.first().is_some_and(|it| it.place == (0..value.trim().len()))
        };
        let unknown = env.iter().filter(|(_, value)| !is_known(value));
        let known = known::collect(&unknown.collect(), []).map(Arc::new);
        self.known.write().unwrap_or_else(PoisonError::into_inner).extend(known);
    }

    /// The text with `[masked: …]` in place of every secret. Borrowed when there was none.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for Found { place, name } in found {
            out.extend([&text[done..place.start], "[masked: ", name, "]"]);
            done = place.end;
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// Masks text that comes in pieces: a secret cut between two of them is masked all the same.
    pub fn stream(&self) -> RedactStream {
        RedactStream::new(self.clone())
    }

    /// Every secret, in order, without overlaps.
    fn find(&self, text: &str) -> Vec<Found> {
        let mut found = shape::find(text);
        for known in self.known() {
            let hits = known.values.find_iter(text);
            found.extend(hits.map(|hit| Found { place: hit.range(), name: known::NAME }));
        }
        found.sort_by_key(|found| (found.place.start, std::cmp::Reverse(found.place.end)));
        merge(found)
    }

    fn known(&self) -> Vec<Arc<Known>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether a text carries something that has a secret's shape, or an address with a password. Unlike a redactor, which
/// leaves the placeholders of documentation alone, this takes every password in an address for one.
pub(crate) fn holds_secret(text: &str) -> bool {
    shape::has_password(text) || text.contains("PRIVATE KEY-----") || !shape::find(text).is_empty()
}

/// Joins places that overlap under the name of the first.
fn merge(found: Vec<Found>) -> Vec<Found> {
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut() {
            Some(last) if next.place.start < last.place.end => {
                last.place.end = last.place.end.max(next.place.end);
                // A shape says more than "known".
                if last.name == known::NAME {
                    last.name = next.name;
                }
            }
            Some(_) | None => merged.push(next),
        }
    }
    merged
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known(••••)")
    }
}

#[cfg(test)]
mod tests;
