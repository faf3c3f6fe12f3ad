//! What people who look at a page do not see, and a model should not read: the place for words that are
//! meant for models only. Known where it is cheap to know, by attributes, inline styles and plain rules of
//! the page's own style sheets; what scripts and linked sheets do is not.

use std::collections::HashSet;

use super::tokens::Tag;

/// Classes that style sheets everywhere give to text for screen readers only.
const UNSEEN_CLASSES: [&str; 6] = [
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
    "screen-reader-only",
    "u-hidden",
];
/// Parts of names of what asks for consent.
const CONSENT: [&str; 13] = [
    "cookie-banner",
    "cookie-consent",
    "cookie-notice",
    "cookie-bar",
    "cookiebar",
    "cookie-popup",
    "cookieconsent",
    "cookie-law",
    "consent-banner",
    "consent-manager",
    "gdpr",
    "onetrust",
    "cybot",
];
/// Roles of what frames a page.
const FRAME_ROLES: [&str; 6] =
    ["navigation", "contentinfo", "complementary", "dialog", "alertdialog", "search"];
/// Bytes of a page's own style sheets that are looked at, and rules.
const SHEET_BYTES: usize = 256 << 10;
const RULES: usize = 5_000;

/// What the page's own style sheets say.
#[derive(Debug, Default)]
pub(super) struct Sheets {
    /// Names (`.class`, `#id`) that are not shown.
    hidden: HashSet<String>,
    /// Names that some rule shows after all: tabs, menus.
    shown: HashSet<String>,
    read: usize,
}

impl Sheets {
    /// Reads a style sheet's plain rules.
    pub(super) fn read(&mut self, sheet: &str) {
        let sheet = &sheet[..sheet.floor_char_boundary(SHEET_BYTES.saturating_sub(self.read))];
        self.read += sheet.len();
        let mut rest = sheet;
        for _ in 0..RULES {
            let Some((selectors, body)) = rest.split_once('{') else { return };
            let selectors = selectors.rsplit(['}', ';']).next().unwrap_or_default().trim();
            if selectors.starts_with('@') {
                // Another medium, perhaps: what is hidden on paper may be seen on a screen.
                rest = past_block(body);
                continue;
            }
            let (declarations, after) = body.split_once('}').unwrap_or((body, ""));
            rest = after;
            self.rule(selectors, declarations);
        }
    }

    fn rule(&mut self, selectors: &str, declarations: &str) {
        let style = Style::read(declarations);
        if style.is_unseen() {
            let plain = selectors.split(',').map(str::trim).filter(|name| is_plain(name));
            self.hidden.extend(plain.map(str::to_owned));
        } else if style.shows {
            let names = selectors.split([' ', ',', '>', '+', '~', ':', '[', '\n']);
            for name in names.flat_map(|name| name.split_inclusive(['.', '#'])) {
                // Both spellings: a mere mention is enough.
                let name = name.trim_matches(['.', '#']);
                self.shown.extend([format!(".{name}"), format!("#{name}")]);
            }
        }
    }

    fn hides(&self, mark: char, name: &str) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let name = format!("{mark}{name}");
        self.hidden.contains(&name) && !self.shown.contains(&name)
    }
}

fn is_plain(selector: &str) -> bool {
    let name = selector.strip_prefix(['.', '#']).unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// What follows a block that was opened before `text`.
fn past_block(text: &str) -> &str {
    let mut open = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

/// What an element's attributes say about whether it is seen.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    /// Nobody sees it, or it is not what the page is about.
    pub(super) is_unseen: bool,
    /// It says what is behind its text.
    pub(super) has_ground: bool,
}

/// Looks at an element. `on_ground` is whether something it lies in says what is behind it.
pub(super) fn look(tag: Tag<'_>, sheets: &Sheets, on_ground: bool) -> Look {
    let mut look = Look::default();
    let mut whiteness = false;
    for (name, value) in tag.attributes() {
        if name.eq_ignore_ascii_case("style") {
            let style = Style::read(value);
            look.has_ground |= style.ground.is_some();
            look.is_unseen |= style.is_unseen();
            whiteness |= style.is_white();
        } else if name.eq_ignore_ascii_case("class") {
            look.is_unseen |= value.split_ascii_whitespace().any(|class| {
                UNSEEN_CLASSES.contains(&class) || is_consent(class) || sheets.hides('.', class)
            });
        } else if name.eq_ignore_ascii_case("id") {
            look.is_unseen |= is_consent(value) || sheets.hides('#', value);
        } else if name.eq_ignore_ascii_case("hidden") {
            look.is_unseen |= !value.eq_ignore_ascii_case("until-found");
        } else if name.eq_ignore_ascii_case("aria-hidden") {
            look.is_unseen |= value.trim().eq_ignore_ascii_case("true");
        } else if name.eq_ignore_ascii_case("role") {
            look.is_unseen |= FRAME_ROLES.iter().any(|role| value.eq_ignore_ascii_case(role));
        } else if name.eq_ignore_ascii_case("bgcolor") || name.eq_ignore_ascii_case("background") {
            look.has_ground = true;
        } else if name.eq_ignore_ascii_case("color") && tag.is("font") {
            whiteness |= is_white(&colour(value));
        }
    }
    // On the white that a page has unless it says otherwise.
    look.is_unseen |= whiteness && !on_ground && !look.has_ground;
    look
}

/// Whether a name is that of something that asks for consent. Asked of every name on a page, so nothing is
/// copied for it.
fn is_consent(name: &str) -> bool {
    let name = name.as_bytes();
    let begins = |at: usize, part: &str| {
        name.get(at..at + part.len()).is_some_and(|it| it.eq_ignore_ascii_case(part.as_bytes()))
    };
    let starts = (0..name.len()).filter(|at| matches!(name[*at] | 0x20, b'c' | b'g' | b'o'));
    starts.into_iter().any(|at| CONSENT.iter().any(|part| begins(at, part)))
}

/// The declarations of a style that bear on whether text is seen.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a declaration of its own")]
struct Style {
    hides: bool,
    shows: bool,
    is_empty_box: bool,
    clips: bool,
    is_far_out: bool,
    colour: Option<String>,
    ground: Option<String>,
}

impl Style {
    fn read(text: &str) -> Self {
        let mut style = Self::default();
        for declaration in text.split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let name = name.trim().to_ascii_lowercase();
            let value = value.trim().to_ascii_lowercase().replace("!important", "");
            style.declare(&name, value.trim());
        }
        style
    }

    fn declare(&mut self, name: &str, value: &str) {
        let mut switch = |hides: bool| if hides { self.hides = true } else { self.shows = true };
        match name {
            "display" => switch(value == "none"),
            "visibility" => switch(matches!(value, "hidden" | "collapse")),
            "content-visibility" => switch(value == "hidden"),
            "opacity" => switch(number(value).is_some_and(|number| number <= 0.05)),
            "font-size" => {
                switch(number(value).is_some_and(|number| number <= 1.0) && !is_relative(value));
            }
            "transform" => self.hides |= value.starts_with("scale(0)"),
            "clip" => self.clips |= value.starts_with("rect(0") || value.starts_with("rect(1px"),
            "clip-path" => {
                self.clips |= value.starts_with("inset(50%") || value.starts_with("inset(100%");
            }
            "width" | "height" => {
                self.is_empty_box |=
                    number(value).is_some_and(|number| number <= 1.0) && !is_relative(value);
            }
            "overflow" => self.clips |= value == "hidden",
            "left" | "top" | "right" | "bottom" | "margin-left" | "margin-top" | "text-indent" => {
                self.is_far_out |= number(value).is_some_and(|number| number <= -900.0);
            }
            "color" => self.colour = Some(colour(value)),
            "background" | "background-color" | "background-image" => {
                self.ground = Some(colour(value));
            }
            _ => {}
        }
    }

    fn is_unseen(&self) -> bool {
        self.hides
            || self.is_far_out
            || self.clips && self.is_empty_box
            || self.colour.as_deref().is_some_and(|colour| colour == "transparent")
            || self.colour.is_some() && self.colour == self.ground
    }

    fn is_white(&self) -> bool {
        self.ground.is_none() && self.colour.as_deref().is_some_and(is_white)
    }
}

/// The number a value begins with.
fn number(value: &str) -> Option<f64> {
    let end =
        value.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(value.len());
    let number: f64 = value[..end].parse().ok()?;
    Some(if value.ends_with('%') { number / 100.0 } else { number })
}

/// Whether a length is in units of the text around it, of which one is much.
fn is_relative(value: &str) -> bool {
    number(value).is_some_and(|number| number > 0.05)
        && ["em", "rem", "%", "vw", "vh", "ch"].iter().any(|unit| value.ends_with(unit))
}

/// A colour in one spelling.
fn colour(value: &str) -> String {
    let value: String = value.to_ascii_lowercase().split_whitespace().collect();
    if let Some(hex) = value.strip_prefix('#').filter(|hex| hex.len() == 3 && hex.is_ascii()) {
        return hex.chars().fold("#".to_owned(), |long, digit| long + &format!("{digit}{digit}"));
    }
    match value.as_str() {
        "white" | "rgb(255,255,255)" | "rgba(255,255,255,1)" => "#ffffff".to_owned(),
        "black" | "rgb(0,0,0)" => "#000000".to_owned(),
        "rgba(0,0,0,0)" | "rgba(255,255,255,0)" => "transparent".to_owned(),
        _ => value,
    }
}

fn is_white(colour: &str) -> bool {
    matches!(colour, "#ffffff" | "#fefefe" | "#fffffe" | "#fdfdfd")
}
