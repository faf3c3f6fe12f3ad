//! Colours of agents: Claude Code's eight names, any `#rrggbb`, and the names people use besides.

/// The names Claude Code knows; faces map them to their theme.
const NAMES: [&str; 8] = ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"];

/// Other names found in collections, as CSS and common palettes define them.
const OTHERS: [(&str, &str); 24] = [
    ("amber", "#ffbf00"),
    ("black", "#000000"),
    ("brown", "#a52a2a"),
    ("coral", "#ff7f50"),
    ("crimson", "#dc143c"),
    ("emerald", "#50c878"),
    ("fuchsia", "#ff00ff"),
    ("gold", "#ffd700"),
    ("gray", "#808080"),
    ("grey", "#808080"),
    ("indigo", "#4b0082"),
    ("lime", "#00ff00"),
    ("magenta", "#ff00ff"),
    ("maroon", "#800000"),
    ("navy", "#000080"),
    ("olive", "#808000"),
    ("rose", "#ff007f"),
    ("silver", "#c0c0c0"),
    ("sky", "#87ceeb"),
    ("slate", "#708090"),
    ("teal", "#008080"),
    ("turquoise", "#40e0d0"),
    ("violet", "#8f00ff"),
    ("white", "#ffffff"),
];

/// A colour as faces take it: one of the eight names, or `#rrggbb`.
pub(super) fn read(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    // Of `neon-green` and `dark blue` the last word counts.
    let word = text.rsplit(['-', '_', ' ']).next().unwrap_or_default();
    if NAMES.contains(&word) {
        return Some(word.to_owned());
    }
    let other = OTHERS.iter().find(|(name, _)| *name == word);
    if let Some((_, code)) = other {
        return Some((*code).to_owned());
    }
    let marked = text.strip_prefix('#').or_else(|| text.strip_prefix("0x"));
    // Without a mark only the full form is a code; `bad` and `decade` are words.
    let bare = || Some(text.as_str()).filter(|it| it.len() == 6 && it.contains(char::is_numeric));
    let digits = marked.or_else(bare)?;
    if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    match digits.len() {
        // The last digits of longer codes are transparency, which a terminal has none of.
        6 | 8 => Some(format!("#{}", &digits[..6])),
        3 | 4 => Some(
            digits.chars().take(3).fold("#".to_owned(), |code, c| code + &c.to_string().repeat(2)),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_become_what_faces_take() {
        let cases = [
            ("Blue", Some("blue")),
            ("neon-green", Some("green")),
            ("teal", Some("#008080")),
            ("#059669", Some("#059669")),
            ("#ABC", Some("#aabbcc")),
            ("#0596697f", Some("#059669")),
            ("42b883", Some("#42b883")),
            ("decade", None),
            ("#12", None),
            ("#gggggg", None),
            ("#ééé", None),
            ("plaid", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).as_deref(), expected, "{text}");
        }
    }
}
