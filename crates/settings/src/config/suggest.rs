//! The known word nearest to a misspelt one.

/// Longest word worth comparing; longer ones are no typing mistake.
const LONGEST: usize = 48;

/// The nearest of `known`, if it is near enough to be what was meant.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if word.len() > LONGEST {
        return None;
    }
    let plain = simplified(word);
    let allowed = (plain.len() / 3).max(1);
    let near = known.iter().map(|candidate| (distance(&plain, &simplified(candidate)), *candidate));
    near.filter(|(distance, _)| *distance <= allowed).min().map(|(_, candidate)| candidate)
}

/// Letters and digits in lower case: `autoLsp`, `auto-lsp` and `auto_lsp` are one word.
fn simplified(word: &str) -> Vec<char> {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut cost = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_far_fetched() {
        let known = ["providers", "permissions", "options", "auto_lsp"];
        assert_eq!(nearest("provders", &known), Some("providers"));
        assert_eq!(nearest("permisions", &known), Some("permissions"));
        assert_eq!(nearest("autoLsp", &known), Some("auto_lsp"));
        assert_eq!(nearest("opitons", &known), Some("options"));
        assert_eq!(nearest("theme", &known), None);
        assert_eq!(nearest(&"p".repeat(10_000), &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
