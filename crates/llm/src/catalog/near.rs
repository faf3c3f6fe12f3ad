//! Names that are near a mistyped one.

/// At most this many are offered.
const MOST: usize = 3;

/// The candidates nearest to `name`: those it differs little from, then those that hold it.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let name = name.to_lowercase();
    let limit = (name.chars().count() / 3).max(2);
    let rate = |candidate: &'a str| {
        let low = candidate.to_lowercase();
        let edits = distance(&name, &low);
        let is_part = name.len() >= 3 && low.contains(&name);
        match (edits <= limit, is_part) {
            (true, _) => Some((edits, candidate)),
            // Behind every mistyped one; the shortest that holds the name says it best.
            (false, true) => Some((limit + low.len(), candidate)),
            (false, false) => None,
        }
    };
    let mut rated: Vec<(usize, &str)> = candidates.into_iter().filter_map(rate).collect();
    rated.sort_by_key(|(edits, _)| *edits);
    rated.dedup_by_key(|(_, candidate)| *candidate);
    rated.into_iter().take(MOST).map(|(_, candidate)| candidate.to_owned()).collect()
}

/// How many letters must be added, removed, replaced or swapped to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut fewest = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                fewest = fewest.min(before_last[j - 2] + 1);
            }
            row.push(fewest);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typing_errors_before_longer_names() {
        let ids = ["openai", "openrouter", "anthropic", "opencode-zen", "opencode-go"];
        assert_eq!(nearest("opneai", ids), ["openai"]);
        assert_eq!(nearest("opencode", ids), ["opencode-go", "opencode-zen"]);
        assert_eq!(nearest("Antropic", ids), ["anthropic"]);
        assert!(nearest("zzzzzz", ids).is_empty());
    }

    #[test]
    fn counts_swapped_letters_once() {
        assert_eq!(distance("gtp", "gpt"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
