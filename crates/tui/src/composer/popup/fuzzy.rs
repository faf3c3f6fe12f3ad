//! How well letters fit a name, until there is one matcher for all.

/// A score, the higher the better, and where the letters stand; none if they do not fit in their order.
pub(super) fn fit(search: &str, name: &str) -> Option<(i32, Vec<usize>)> {
    let mut letters = Vec::new();
    let mut score = 0;
    let mut rest = name.char_indices().peekable();
    let mut before: Option<char> = None;
    for wanted in search.chars() {
        let mut is_run = !letters.is_empty();
        loop {
            let (at, c) = rest.next()?;
            let begins = before.is_none_or(|before| !before.is_alphanumeric());
            before = Some(c);
            if c.to_lowercase().eq(wanted.to_lowercase()) {
                letters.push(at);
                score += 1 + 4 * i32::from(is_run) + 3 * i32::from(begins);
                break;
            }
            is_run = false;
        }
    }
    Some((score, letters))
}
