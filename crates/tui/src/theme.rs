//! What things look like: a style for each role a text can have.
//!
//! Colours are those of the 256 colour palette's cube and greys, written as red, green and blue: they look the
//! same where a terminal knows all colours and where it knows 256.

mod built_in;
mod custom;

use std::collections::BTreeMap;

use crate::style::{Color, Style};

/// What a text is, as far as its look goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Text that matters less.
    Muted,
    /// Lines, hints, placeholders.
    Faint,
    /// Headings and names that matter.
    Strong,
    /// What belongs to Caiman: its mark, the chosen item, the caret's frame.
    Accent,
    /// What the user said.
    User,
    /// Links.
    Link,
    /// Code in a line of text.
    Code,
    /// The background of code blocks.
    CodeBlock,
    /// The background of what is raised: panels, pickers.
    Panel,
    /// The chosen item of a list.
    Chosen,
    /// Selected text.
    Selection,
    /// Letters that fit a search.
    Match,
    /// Something worked.
    Good,
    /// Something needs attention.
    Warning,
    /// Something failed.
    Bad,
    /// Added lines.
    Added,
    /// Added words in an added line.
    AddedWord,
    /// Removed lines.
    Removed,
    /// Removed words in a removed line.
    RemovedWord,
    /// Keywords in code.
    Keyword,
    /// Strings in code.
    String,
    /// Numbers and constants in code.
    Number,
    /// Comments in code.
    Comment,
    /// Types in code.
    Type,
    /// Functions in code.
    Function,
}

/// Roles a theme has a style for, with the names that user themes use.
pub const ROLES: [(Role, &str); 26] = [
    (Role::Text, "text"),
    (Role::Muted, "muted"),
    (Role::Faint, "faint"),
    (Role::Strong, "strong"),
    (Role::Accent, "accent"),
    (Role::User, "user"),
    (Role::Link, "link"),
    (Role::Code, "code"),
    (Role::CodeBlock, "code_block"),
    (Role::Panel, "panel"),
    (Role::Chosen, "chosen"),
    (Role::Selection, "selection"),
    (Role::Match, "match"),
    (Role::Good, "good"),
    (Role::Warning, "warning"),
    (Role::Bad, "bad"),
    (Role::Added, "added"),
    (Role::AddedWord, "added_word"),
    (Role::Removed, "removed"),
    (Role::RemovedWord, "removed_word"),
    (Role::Keyword, "keyword"),
    (Role::String, "string"),
    (Role::Number, "number"),
    (Role::Comment, "comment"),
    (Role::Type, "type"),
    (Role::Function, "function"),
];

/// What is known of the terminal's background.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Background {
    /// It is dark.
    Dark,
    /// It is light.
    Light,
    /// The terminal has not told.
    #[default]
    Unknown,
}

impl Background {
    /// What a colour is, as far as reading on it goes.
    pub fn of(red: u8, green: u8, blue: u8) -> Self {
        let [red, green, blue] = [red, green, blue].map(u32::from);
        // Weights of the eye, in thousandths.
        let light = red * 299 + green * 587 + blue * 114;
        if light < 128_000 { Self::Dark } else { Self::Light }
    }
}

/// Why there is no such theme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// Nothing has that name.
    #[error("there is no theme {name}; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// All that there are.
        known: String,
    },
    /// A user's theme gives a style to something that has none.
    #[error("theme {theme}: there is no role {role}")]
    NoSuchRole {
        /// The theme.
        theme: String,
        /// The word.
        role: String,
    },
    /// A style cannot be read.
    #[error(
        "theme {theme}: {role}: `{text}` is no style: write for example #5fd7af, \"white on 23\" or \"bold red\""
    )]
    BadStyle {
        /// The theme.
        theme: String,
        /// The role.
        role: String,
        /// What is written there.
        text: String,
    },
    /// A theme is a change to itself, by others perhaps.
    #[error("theme {0}: its base leads back to itself")]
    Circle(String),
}

/// Themes of the user's own, by name: styles by role.
pub type Custom = BTreeMap<String, BTreeMap<String, String>>;

/// A style for each role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    styles: [Style; ROLES.len()],
}

impl Theme {
    /// The theme of a name: `auto`, `dark`, `light`, `plain`, or one of the user's own.
    pub fn named(name: &str, background: Background, custom: &Custom) -> Result<Self, ThemeError> {
        custom::theme(name, background, custom)
    }

    /// The names there are, ours first.
    pub fn names(custom: &Custom) -> Vec<String> {
        let ours = built_in::NAMES.iter().map(|name| (*name).to_owned());
        let theirs = custom.keys().filter(|name| !built_in::NAMES.contains(&name.as_str()));
        ours.chain(theirs.cloned()).collect()
    }

    /// A theme for dark backgrounds.
    pub fn dark() -> Self {
        built_in::dark()
    }

    /// A theme for light backgrounds.
    pub fn light() -> Self {
        built_in::light()
    }

    /// A theme for a background that is not known: the terminal's own 16 colours, no backgrounds of ours.
    pub fn neutral() -> Self {
        built_in::neutral()
    }

    /// A theme without colours, for `NO_COLOR`: bold, dim, underlined and reversed text only.
    pub fn plain() -> Self {
        built_in::plain()
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// Takes away the backgrounds that only tell things apart: the terminal's own shows.
    pub fn uncover(&mut self) {
        for role in [Role::CodeBlock, Role::Panel] {
            self.set(role, Style { bg: Color::Default, ..self.style(role) });
        }
    }

    /// Gives a role another style.
    pub fn set(&mut self, role: Role, style: Style) {
        self.styles[role as usize] = style;
    }
}

#[cfg(test)]
mod tests;
