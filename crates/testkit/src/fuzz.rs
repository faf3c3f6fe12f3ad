//! Deterministic mutations of a seed corpus, for smoke tests of parsers in every test run.
//!
//! Real fuzzing runs elsewhere; this finds the cheap crashes on each change. The same numbers in
//! give the same bytes out, so a failure repeats.

use std::time::{Duration, Instant};

/// Fragments that parsers of our inputs care about.
const FRAGMENTS: [&[u8]; 24] = [
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\r",
    b"data:",
    b"data: ",
    b"event: ",
    b": ping\n\n",
    b"[DONE]",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"-1e999",
    b"---\n",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xf0\x9f",
    b"\0\0\0\x10\0\0\0\0",
];

/// `count` mutations of the seeds, the same for the same `seed`.
pub fn mutations(seeds: &[Vec<u8>], count: usize, seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut dice = Dice(seed ^ 0x9E37_79B9_7F4A_7C15);
    (0..count).map(move |_| {
        let mut bytes = dice.pick(seeds).cloned().unwrap_or_default();
        for _ in 0..=dice.below(4) {
            mutate(&mut bytes, seeds, &mut dice);
        }
        bytes
    })
}

/// Feeds mutations to `parse` until there are `count` of them or the time is up. Returns how many.
///
/// `parse` fails the test by panicking; the caller prints what it was given.
pub fn smoke(
    seeds: &[Vec<u8>],
    count: usize,
    limit: Duration,
    mut parse: impl FnMut(&[u8]),
) -> usize {
    let start = Instant::now();
    let mut done = 0;
    for bytes in mutations(seeds, count, 1) {
        if start.elapsed() > limit {
            break;
        }
        parse(&bytes);
        done += 1;
    }
    done
}

/// Xorshift: small, fast, the same everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`; 0 when there is none.
    fn below(&mut self, limit: usize) -> usize {
        let limit = limit.max(1) as u64;
        usize::try_from(self.next() % limit).unwrap_or(0)
    }

    fn pick<'s, T>(&mut self, list: &'s [T]) -> Option<&'s T> {
        list.get(self.below(list.len()))
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below((length - start).min(64) + 1)
    }
}

fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    match dice.below(8) {
        0 => {
            let bit = 1 << dice.below(8);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= bit;
            }
        }
        1 => {
            let noise = dice.next().to_le_bytes()[0];
            bytes.insert(at, noise);
        }
        2 => {
            let range = dice.range(bytes.len());
            bytes.drain(range);
        }
        3 => {
            let range = dice.range(bytes.len());
            let copy = bytes[range].to_vec();
            bytes.splice(at..at, copy);
        }
        4 => bytes.truncate(at),
        5 | 6 => {
            let fragment = dice.pick(&FRAGMENTS).copied().unwrap_or_default();
            bytes.splice(at..at, fragment.iter().copied());
        }
        _ => {
            let other = dice.pick(seeds).map(Vec::as_slice).unwrap_or_default();
            let range = dice.range(other.len());
            let piece = other[range].to_vec();
            bytes.splice(at..at, piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_mutations_and_another_gives_others() {
        let seeds = vec![b"data: {\"a\":1}\n\n".to_vec(), b"event: x\n\n".to_vec()];
        let run = |seed| mutations(&seeds, 200, seed).collect::<Vec<_>>();
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        let changed = run(7).iter().filter(|bytes| !seeds.contains(bytes)).count();
        assert!(changed > 150, "{changed}");
    }

    #[test]
    fn an_empty_corpus_still_yields_bytes() {
        assert!(mutations(&[], 100, 3).any(|bytes| !bytes.is_empty()));
    }

    #[test]
    fn smoke_stops_when_the_time_is_up() {
        let pause = Duration::from_millis(2);
        let done = smoke(&[b"x".to_vec()], 1_000_000, pause * 5, |_| std::thread::sleep(pause));
        assert!((1..100).contains(&done), "{done}");
    }
}
