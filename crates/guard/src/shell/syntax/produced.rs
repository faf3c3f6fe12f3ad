//! What a command substitution gives, where the command says it: numbers and ids of commits.

use super::super::word::Hole;
use super::super::{Simple, Word};

/// What a substitution that ends with this command gives.
pub(super) fn by(command: &Simple) -> Hole {
    if !command.assignments.is_empty() {
        return Hole::AnyWords;
    }
    let words: Option<Vec<&str>> = command.words.iter().map(Word::plain).collect();
    let Some(words) = words else { return Hole::AnyWords };
    match words.as_slice() {
        ["nproc"]
        | ["id", "-u" | "-g"]
        | ["wc", "-l" | "-c" | "-w" | "-m"]
        | ["date", "+%s" | "+%Y" | "+%m" | "+%d" | "+%j" | "+%Y%m%d"] => Hole::Number,
        ["seq", numbers @ ..] if numbers.iter().all(|it| it.parse::<u64>().is_ok()) => Hole::Number,
        ["git", "rev-list", "--count", revision] if is_operand(revision) => Hole::Number,
        ["git", "merge-base", revisions @ ..] if revisions.iter().all(|it| is_operand(it)) => {
            Hole::Token
        }
        ["git", "rev-parse", "--short" | "--verify" | "--abbrev-ref", revision]
        | ["git", "rev-parse", revision]
            if is_operand(revision) =>
        {
            Hole::Token
        }
        _ => Hole::AnyWords,
    }
}

fn is_operand(word: &str) -> bool {
    !word.starts_with('-') && !word.contains(char::is_whitespace)
}
