//! Random text beside a name that says secret: `api_key = "…"`, `Authorization: Bearer …`, `--token …`.

use super::{Found, is_placeholder, random, token};

/// Names that say secret; what follows them is looked at. In any case of letters.
pub(super) const NAMES: &str = "authorization|bearer|(?:api|access|auth|account|client|encryption|license|\
     master|private|secret|service|shared|signing|storage)[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd";

/// Tokens that only say where a list goes on.
const PAGES: &[&str] = &["page", "next", "cursor", "continuation", "sync", "pagination", "resume"];
/// How far before a name those are looked for.
const NAME_BYTES: usize = 24;
/// Longest value.
const VALUE_BYTES: usize = 512;
/// Shortest random value, and shortest password.
const RANDOM_CHARS: usize = 16;
const PASSWORD_CHARS: usize = 10;

/// The value that belongs to the name from `start` to `end`.
pub(super) fn at(text: &str, start: usize, end: usize) -> Option<Found> {
    let kind = Kind::of(&text[start..end]);
    let rest = &text[end..text.floor_char_boundary(end + VALUE_BYTES)];
    let before = &text[text.ceil_char_boundary(start.saturating_sub(NAME_BYTES))..start];
    let value = match kind {
        Kind::Scheme => words_after(rest)?,
        Kind::Header => header(rest)?,
        Kind::Password | Kind::Other => assigned(rest, before)?,
    };
    let place = {
        let offset = end + (value.as_ptr() as usize - rest.as_ptr() as usize);
        offset..offset + value.len()
    };
    if let Some(known) = token::at(text, place.start) {
        return Some(Found { place, name: known.name });
    }
    let pages = kind == Kind::Other
        && PAGES
            .iter()
            .any(|word| before.to_ascii_lowercase().trim_end_matches(['_', '-']).ends_with(word));
    (!pages && kind.fits(value)).then_some(Found { place, name: kind.name() })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Header,
    Scheme,
    Password,
    Other,
}

impl Kind {
    fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "authorization" => Self::Header,
            "bearer" => Self::Scheme,
            _ if name.starts_with("pass") || name == "pwd" => Self::Password,
            _ => Self::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Header | Self::Scheme => "authorization",
            Self::Password => "password",
            Self::Other => "secret",
        }
    }

    fn fits(self, value: &str) -> bool {
        let chars = value.chars().count();
        if is_placeholder(value) || is_uuid(value) || value.contains("://") {
            return false;
        }
        match self {
            Self::Header => chars >= 8 && (random::is_random(value) || is_base64_words(value)),
            Self::Scheme => chars >= RANDOM_CHARS && random::is_random(value),
            Self::Password => chars >= PASSWORD_CHARS && is_strong(value),
            Self::Other => {
                let is_aws = chars == token::AWS_SECRET_CHARS && random::is_mixed(value);
                chars >= RANDOM_CHARS
                    && (random::is_random(value) || is_aws)
                    && !is_reference(value)
            }
        }
    }
}

/// What stands behind `Authorization`: with or without its scheme.
fn header(rest: &str) -> Option<&str> {
    const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "apikey"];
    let value = after_separator(rest)?.trim_start_matches(['\\', '"', '\'', '`']);
    let (first, more) = value.split_at(value.find(ends_value).unwrap_or(value.len()));
    let is_scheme = SCHEMES.iter().any(|scheme| first.eq_ignore_ascii_case(scheme));
    if is_scheme { words_after(more) } else { Some(first) }
}

/// The word behind white space.
fn words_after(rest: &str) -> Option<&str> {
    let word = rest.strip_prefix(' ')?.trim_start_matches(' ');
    Some(&word[..word.find(ends_value).unwrap_or(word.len())])
}

/// What is assigned to a name that ends here: `= x`, `: "x"`, `: &str = "x"`, `>x<`, or the next word of an option.
fn assigned<'a>(rest: &'a str, before: &str) -> Option<&'a str> {
    let is_option = before.rsplit(char::is_whitespace).next().is_some_and(|w| w.starts_with("--"));
    if is_option && rest.starts_with(' ') {
        return words_after(rest).filter(|value| !value.starts_with('-'));
    }
    if let Some(element) = rest.strip_prefix('>') {
        let (value, _) = element.split_once('<')?;
        return (!value.contains(char::is_whitespace)).then_some(value);
    }
    let value = after_separator(rest)?;
    let value = behind_type(value).unwrap_or(value);
    let unquoted = value.trim_start_matches('\\');
    let Some(quote) = unquoted.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else {
        let end = value.find(ends_value).unwrap_or(value.len());
        // A call or an index is code, not a value.
        let is_code = value[end..].starts_with(['(', '[', '{']);
        return Some(&value[..end]).filter(|_| !is_code);
    };
    let inner = &unquoted[1..];
    let end = inner.find(quote)?;
    let inner = inner[..end].trim_end_matches('\\');
    (!inner.contains(char::is_whitespace)).then_some(inner)
}

/// What stands behind `=`, `:`, `=>`, `:=` or `==`, with an optional quote before it.
fn after_separator(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches('\\');
    let rest = rest.strip_prefix(['"', '\'', ']', '`']).unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', '\t']);
    let value = rest.trim_start_matches(['=', ':', '>']);
    let separator = &rest[..rest.len() - value.len()];
    let known = matches!(separator, "=" | ":" | "=>" | ":=" | "==");
    known.then_some(value.trim_start_matches([' ', '\t']))
}

/// What stands behind a type: `&str = "…"`.
fn behind_type(value: &str) -> Option<&str> {
    let is_type = |c: char| c.is_ascii_alphanumeric() || "&'_<>[]:? ".contains(c);
    let after = value.trim_start_matches(is_type);
    let after = after.strip_prefix('=')?.trim_start();
    (value.len() - after.len() < 48 && after.starts_with(['"', '\''])).then_some(after)
}

fn ends_value(c: char) -> bool {
    c.is_whitespace() || "\"'`,;&()[]{}<>|\\".contains(c)
}

/// Letters of at least three kinds that make no words.
fn is_strong(value: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| usize::from(value.bytes().any(|byte| fits(&byte)));
    let kinds = has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_digit)
        + has(u8::is_ascii_punctuation);
    kinds >= 3
        && !random::is_wordy(value)
        && random::distinct(value) >= 6
        && !is_reference(value)
        && !value.contains(['$', '*'])
}

/// Whether it names something else: a variable, a path, a member, an ARN.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '/', '~', '.', '@', '%']) || value.starts_with("arn:")
}

/// `user:password` in base64 need not look random: it is enough that its cases are mixed like no word's.
fn is_base64_words(value: &str) -> bool {
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = value.bytes().filter(u8::is_ascii_lowercase).count();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    value.bytes().all(fits) && upper >= 3 && lower >= 3 && !random::is_wordy(value)
}

fn is_uuid(value: &str) -> bool {
    let groups: Vec<usize> = value.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
