//! Arithmetic: which variables an expression reads and sets.
//!
//! Bash evaluates the value of a variable as an expression again, and an array's index in it may run a command. So
//! an expression is harmless only if every name in it is known to hold a number.

/// The variables of an expression.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arithmetic<'t> {
    /// Names whose value is evaluated.
    pub(super) reads: Vec<&'t str>,
    /// Names that get a number before anything else is done with them.
    pub(super) sets: Vec<&'t str>,
    /// Names that change, starting from the value they have.
    pub(super) updates: Vec<&'t str>,
}

/// Reads the text between the brackets; none if it holds more than numbers, names and operators.
pub(super) fn read(text: &str) -> Option<Arithmetic<'_>> {
    let mut found = Arithmetic::default();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if letter.is_ascii_digit() {
            let is_number = |it: char| it.is_ascii_alphanumeric() || matches!(it, '#' | '@' | '_');
            rest = rest.trim_start_matches(is_number);
        } else if letter.is_ascii_alphabetic() || letter == '_' {
            let (name, after) = split_name(rest);
            found.reads.push(name);
            rest = after;
        } else if letter == '$' {
            rest = parameter(&rest[1..], &mut found)?;
        } else if letter.is_ascii_whitespace() || "+-*/%()<>=!&|^~?:,;".contains(letter) {
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    if has_assignment(text) {
        let (sets, updates) = found.reads.iter().partition(|name| is_set_first(text, name));
        (found.sets, found.updates) = (sets, updates);
    }
    Some(found)
}

/// `$x`, `${x}`, `${#x}`, `$#` and `$?`, after the dollar.
fn parameter<'t>(rest: &'t str, found: &mut Arithmetic<'t>) -> Option<&'t str> {
    if let Some(after) = rest.strip_prefix(['#', '?']) {
        return Some(after);
    }
    if let Some(inside) = rest.strip_prefix("{#") {
        let (name, after) = split_name(inside);
        return after.strip_prefix('}').filter(|_| !name.is_empty());
    }
    let braced = rest.strip_prefix('{');
    let (name, after) = split_name(braced.unwrap_or(rest));
    if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    found.reads.push(name);
    if braced.is_some() { after.strip_prefix('}') } else { Some(after) }
}

fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(text.len());
    text.split_at(end)
}

/// Whether the expression begins by giving a name a number: `i = 0`.
fn is_set_first(text: &str, name: &str) -> bool {
    let rest = text.trim_start().strip_prefix(name).map(str::trim_start);
    let value = rest.and_then(|it| it.strip_prefix('=')).map(str::trim);
    value.is_some_and(|it| !it.is_empty() && it.chars().all(|digit| digit.is_ascii_digit()))
}

/// Whether an operator assigns: `=` outside of comparisons, `++` or `--`.
fn has_assignment(text: &str) -> bool {
    let compared = text.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "");
    // `<<=` and `>>=` assign.
    compared.contains('=')
        || text.contains("<<=")
        || text.contains(">>=")
        || text.contains("++")
        || text.contains("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_assignments_noticed() {
        let found = read(" i + $n * ${m} + ${#x} + 0x1f ").unwrap();
        assert_eq!((found.reads, found.sets), (vec!["i", "n", "m"], vec![]));
        assert_eq!(read("i++").unwrap().updates, ["i"]);
        assert_eq!(read("i = 3").unwrap().sets, ["i"]);
        assert_eq!(read("i = j").unwrap().sets, Vec::<&str>::new());
        assert!(read("i <= 3 && i != 4").unwrap().sets.is_empty());
    }

    #[test]
    fn indexes_commands_and_arguments_are_refused() {
        for text in ["a[0]", "$(x)", "`x`", "$1", "${x:-1}", "'a'", "\"a\"", "${!x}"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
