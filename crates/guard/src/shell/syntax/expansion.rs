//! `${…}`: the forms that give a value and do nothing else.

use super::super::word::Hole;

/// Operators whose word is a text or a pattern.
const OPERATORS: &[&str] = &[
    ":-", ":+", ":?", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "+", "?", "#", "%", "/", "^",
    ",",
];

/// What an expansion gives; none if it may assign, evaluate or run something. Only a name, an index of digits, and
/// an operator with a literal word are known to be harmless: whatever is nested deeper is refused.
pub(super) fn value(raw: &str) -> Option<Hole> {
    let inside = raw.strip_prefix("${")?.strip_suffix('}')?;
    if let Some(counted) = inside.strip_prefix('#').filter(|it| !it.is_empty()) {
        let (_, rest) = name(counted)?;
        return rest.is_empty().then_some(Hole::Number);
    }
    let (many, rest) = name(inside)?;
    let harmless = rest.is_empty() || is_substring(rest) || has_plain_operator(rest);
    harmless.then_some(if many { Hole::AnyWords } else { Hole::OneWord })
}

/// Whether a name stands for several words, and what follows it.
fn name(text: &str) -> Option<(bool, &str)> {
    let special = text.chars().next().filter(|it| "@*#?$".contains(*it));
    if let Some(special) = special {
        return Some((special == '@', &text[1..]));
    }
    let end = text.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(text.len());
    if end == 0 {
        return None;
    }
    let (_, rest) = text.split_at(end);
    let Some(index) = rest.strip_prefix('[') else { return Some((false, rest)) };
    let (index, rest) = index.split_once(']')?;
    let known = index == "@" || index == "*" || is_digits(index);
    known.then_some((index == "@", rest))
}

/// `:4` and `:0:8`. A name there would be evaluated.
fn is_substring(rest: &str) -> bool {
    let Some(numbers) = rest.strip_prefix(':') else { return false };
    let number = |text: &str| is_digits(text.trim_start_matches(' ').trim_start_matches('-'));
    match numbers.split_once(':') {
        Some((start, length)) => number(start) && number(length),
        None => number(numbers) && !numbers.starts_with('-'),
    }
}

fn has_plain_operator(rest: &str) -> bool {
    let Some(operator) = OPERATORS.iter().find(|it| rest.starts_with(**it)) else { return false };
    let word = &rest[operator.len()..];
    let unquoted = word.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(word);
    !unquoted.contains(['`', '"', '\'', '\\', '{', '}', '\n', '(']) && has_plain_variables(unquoted)
}

/// Whether each `$` begins the name of a variable.
fn has_plain_variables(text: &str) -> bool {
    let starts_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.match_indices('$').all(|(at, _)| text[at + 1..].starts_with(starts_name))
}

/// Whether a pattern holds no expansion but plain variables. A `$` may also be the end of the text.
pub(super) fn is_plain_pattern(raw: &str) -> bool {
    let harmless =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | ')' | '|' | '"' | '\'');
    !raw.contains('`')
        && raw.match_indices('$').all(|(at, _)| {
            let rest = &raw[at + 1..];
            rest.is_empty() || rest.starts_with(harmless)
        })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_forms_give_a_value() {
        for raw in ["${x}", "${x:-y}", "${x##*/}", "${x%.rs}", "${x//a/b}", "${x:0:8}", "${a[0]}"] {
            assert_eq!(value(raw), Some(Hole::OneWord), "{raw}");
        }
        assert_eq!(value("${#x}"), Some(Hole::Number));
        assert_eq!(value("${#a[@]}"), Some(Hole::Number));
        assert_eq!(value("${a[@]}"), Some(Hole::AnyWords));
    }

    #[test]
    fn forms_that_assign_evaluate_or_nest_are_refused() {
        for raw in [
            "${x:=y}",
            "${x=y}",
            "${!x}",
            "${x@P}",
            "${x:y}",
            "${x:0:y}",
            "${a[y]}",
            "${a[$y]}",
            "${x:-${y@P}}",
            "${x:-$(y)}",
            "${x:-`y`}",
            "${x:-$((y))}",
            "${x:-<(y)}",
            "${x/$'a'/b}",
            "${}",
            "${",
        ] {
            assert_eq!(value(raw), None, "{raw}");
        }
    }
}
