//! Themes of the user's own: changes to another theme, written as words.

use super::{Background, Custom, ROLES, Role, Theme, ThemeError, built_in};
use crate::style::{Attrs, Color, Style};

const COLORS: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright_black",
    "bright_red",
    "bright_green",
    "bright_yellow",
    "bright_blue",
    "bright_magenta",
    "bright_cyan",
    "bright_white",
];

const ATTRIBUTES: [(&str, Attrs); 6] = [
    ("bold", Attrs::BOLD),
    ("dim", Attrs::DIM),
    ("italic", Attrs::ITALIC),
    ("underline", Attrs::UNDERLINE),
    ("strike", Attrs::STRIKE),
    ("reverse", Attrs::REVERSE),
];

/// The theme of a name.
pub(super) fn theme(
    name: &str,
    background: Background,
    custom: &Custom,
) -> Result<Theme, ThemeError> {
    // One's own theme of a built-in name changes that one.
    let mut changes = Vec::new();
    let mut next = name;
    while let Some(styles) = custom.get(next) {
        if changes.iter().any(|(seen, _)| *seen == next) {
            return Err(ThemeError::Circle(name.to_owned()));
        }
        changes.push((next, styles));
        let base = styles.get("base").map_or("auto", String::as_str);
        if base == next && built_in::NAMES.contains(&base) {
            break;
        }
        next = base;
    }
    let mut theme = built_in(next, background).ok_or_else(|| ThemeError::Unknown {
        name: next.to_owned(),
        known: Theme::names(custom).join(", "),
    })?;
    for (name, styles) in changes.into_iter().rev() {
        for (role, text) in styles.iter().filter(|(role, _)| *role != "base") {
            change(&mut theme, name, role, text)?;
        }
    }
    Ok(theme)
}

fn built_in(name: &str, background: Background) -> Option<Theme> {
    match (name, background) {
        ("dark", _) | ("auto", Background::Dark) => Some(built_in::dark()),
        ("light", _) | ("auto", Background::Light) => Some(built_in::light()),
        ("auto", Background::Unknown) => Some(built_in::neutral()),
        ("plain", _) => Some(built_in::plain()),
        _ => None,
    }
}

fn change(theme: &mut Theme, name: &str, role: &str, text: &str) -> Result<(), ThemeError> {
    let Some((known, _)) = ROLES.iter().find(|(_, known)| *known == role) else {
        return Err(ThemeError::NoSuchRole { theme: name.to_owned(), role: role.to_owned() });
    };
    let style = style(text, *known, theme.style(*known)).ok_or_else(|| ThemeError::BadStyle {
        theme: name.to_owned(),
        role: role.to_owned(),
        text: text.to_owned(),
    })?;
    theme.set(*known, style);
    Ok(())
}

/// A style from its words: attributes, a colour, `on` and a background. A colour alone changes what the role is
/// known by, and leaves the rest.
fn style(text: &str, role: Role, before: Style) -> Option<Style> {
    let mut words = text.split_whitespace().peekable();
    words.peek()?;
    let (mut fg, mut bg, mut attrs) = (None, None, Attrs::NONE);
    while let Some(word) = words.next() {
        if word == "on" {
            bg = Some(color(words.next()?)?);
        } else if let Some((_, attr)) = ATTRIBUTES.iter().find(|(name, _)| *name == word) {
            attrs |= *attr;
        } else if fg.is_none() {
            fg = Some(color(word)?);
        } else {
            return None;
        }
    }
    if is_background(role) && bg.is_none() {
        (fg, bg) = (None, fg);
    }
    let attrs = if attrs == Attrs::NONE && fg.is_none() { before.attrs } else { attrs };
    Some(Style { fg: fg.unwrap_or(before.fg), bg: bg.unwrap_or(before.bg), attrs })
}

/// Whether a role is known by what is behind its text.
fn is_background(role: Role) -> bool {
    matches!(
        role,
        Role::CodeBlock
            | Role::Panel
            | Role::Chosen
            | Role::Selection
            | Role::Added
            | Role::AddedWord
            | Role::Removed
            | Role::RemovedWord
    )
}

fn color(word: &str) -> Option<Color> {
    if let Some(digits) = word.strip_prefix('#') {
        let is_long = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_long)?;
        let [_, red, green, blue] = number.to_be_bytes();
        return Some(Color::Rgb(red, green, blue));
    }
    if word == "default" {
        return Some(Color::Default);
    }
    let word = word.replace('-', "_");
    let named = COLORS
        .iter()
        .position(|name| *name == word || name.replace("bright_black", "gray") == word);
    let index = named.and_then(|index| u8::try_from(index).ok()).or_else(|| word.parse().ok());
    index.map(Color::Indexed)
}
