//! Names with `*` in them, as settings and definition files write them.

/// Whether a text is as a pattern says, in which `*` stands for anything.
pub fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = text.find(piece) else { return false };
        text = &text[at + piece.len()..];
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("view", "view", true),
            ("view", "viewer", false),
            ("mcp_git_*", "mcp_git_log", true),
            ("mcp_*_*", "mcp_git_log", true),
            ("mcp_*_log", "mcp_git_log", true),
            ("mcp_*_log", "mcp_git_logs", false),
            ("mcp_*", "bash", false),
            ("https://x/*", "https://x/mcp", true),
            ("https://*.x/*", "https://a.b.x/mcp", true),
            ("https://*.x/*", "https://x/mcp", false),
            ("https://x/*a", "https://x/a", true),
            ("https://x/a*a", "https://x/a", false),
            ("https://x", "https://x/", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
