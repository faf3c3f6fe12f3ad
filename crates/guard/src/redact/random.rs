//! Whether a text looks as if a machine had drawn it at random.

/// At least so many different characters: `xxxxxxxx` and `000000` are placeholders.
const DISTINCT: usize = 8;
/// A hash or a key in hexadecimal is at least so long.
const HEX_CHARS: usize = 32;

/// The 140 pairs of letters that words are made of most: four of five pairs in the words of this project's
/// sources and documents are among them, one of five in random letters.
const COMMON_PAIRS: &str = "ab ac ad ag ai al am an ap ar as at ba bi bl bo ca ce ch ci ck cl co cr ct cu da de di \
    do ea ec ed ee el em en ep er es et ex fe fi fo ge gr ha he hi ho ia ic id ie if ig il im in io ir is it iv \
    iz ke la le li ll lo ly ma me mi mo mp na nc nd ne ng ni no ns nt oc od ol om on oo op or os ot ou ow pa pe \
    pi pl po pr ra re ri rm ro rs rt ru sa sc se sh si so sp ss st su ta te th ti to tr ts tt tu ty ul un ur us \
    ut ve vi";

/// Whether a text looks like a key: letters that make no words, with digits or a wild mix of cases.
pub(super) fn is_random(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if distinct(text) < DISTINCT || is_sequence(text) || letters < 3 {
        return false;
    }
    let mixed = digits >= 1 || case_changes(text) * 5 >= letters.max(20);
    is_hex(text) || (mixed && !is_wordy(text))
}

/// Whether a text is made of words. Of 20 random letters and digits two in a hundred pass for words, of 36
/// less than one in a hundred; of identifiers of this project's sources all but one in a hundred.
pub(super) fn is_wordy(text: &str) -> bool {
    let (mut pairs, mut common) = (0, 0);
    for segment in segments(text) {
        for pair in segment.as_bytes().windows(2) {
            pairs += 1;
            common += usize::from(is_common(pair));
        }
    }
    let covers_most = pairs * 22 >= text.len() * 10;
    pairs >= 4 && common * 2 >= pairs && covers_most
}

/// Whether upper case, lower case and digits all occur.
pub(super) fn is_mixed(text: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| text.bytes().any(|byte| fits(&byte));
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

/// How many different characters there are.
pub(super) fn distinct(text: &str) -> usize {
    let mut seen = [false; 256];
    for byte in text.bytes() {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

fn is_common(pair: &[u8]) -> bool {
    let pair = [pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase()];
    COMMON_PAIRS.as_bytes().split(|byte| *byte == b' ').any(|common| common == pair)
}

fn is_hex(text: &str) -> bool {
    text.len() >= HEX_CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether it only counts up: `0123456789abcdef`, `abcdefgh12345678`.
fn is_sequence(text: &str) -> bool {
    let bytes = text.as_bytes();
    let steps = bytes.windows(2).filter(|pair| pair[0].checked_add(1) == Some(pair[1])).count();
    steps * 4 >= bytes.len().saturating_sub(1) * 3
}

fn case_changes(text: &str) -> usize {
    let change = |pair: &&[u8]| {
        pair.iter().all(u8::is_ascii_alphabetic)
            && pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()
    };
    text.as_bytes().windows(2).filter(change).count()
}

/// The runs of letters, cut where `camelCase` changes.
fn segments(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|run| !run.is_empty());
    runs.flat_map(|run| {
        let bytes = run.as_bytes();
        let mut cuts: Vec<usize> = vec![0];
        cuts.extend((1..bytes.len()).filter(|at| {
            let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            bytes[*at].is_ascii_uppercase() && (bytes[at - 1].is_ascii_lowercase() || next_is_lower)
        }));
        cuts.push(bytes.len());
        let pairs: Vec<(usize, usize)> = cuts.windows(2).map(|pair| (pair[0], pair[1])).collect();
        pairs.into_iter().map(move |(start, end)| &run[start..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_identifiers() {
        for key in [
            "C2FVsBQIhrscChlQIMV0b5sFYspob7oD",
            "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "QrStUvWxYzAbMnOpQkLmNbVcXzAsDfGhJq",
            "k3j9x2m8q1w7e4r6t5y0",
        ] {
            assert!(is_random(key), "{key}");
        }
        for word in [
            "getSecretAccessKeyFromEnvironment2",
            "loading-indicator-wrapper-v2",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "your-api-key-here-1234",
            "abcdefghijklmnopqrstuvwxyz012345",
            "2024-01-15-10-22-33",
            "ACCESS_TOKEN_EXPIRED_ERROR_401",
        ] {
            assert!(!is_random(word), "{word}");
        }
    }
}
