//! The themes that come with Caiman.

use super::{ROLES, Role, Theme};
use crate::style::{Attrs, Color, Style};

/// Names of the themes that come with Caiman.
pub(super) const NAMES: [&str; 4] = ["auto", "dark", "light", "plain"];

const BOLD: Attrs = Attrs::BOLD;
const NONE: Attrs = Attrs::NONE;

/// A colour from its six digits.
const fn rgb(digits: u32) -> Color {
    let [_, red, green, blue] = digits.to_be_bytes();
    Color::Rgb(red, green, blue)
}

const fn on(fg: u32, bg: u32) -> Style {
    Style::fg(rgb(fg)).on(rgb(bg))
}

fn of(styles: &[(Role, Style); ROLES.len()]) -> Theme {
    let mut theme = Theme { styles: [Style::PLAIN; ROLES.len()] };
    for (role, style) in styles {
        theme.set(*role, *style);
    }
    theme
}

/// For dark backgrounds.
pub(super) fn dark() -> Theme {
    let fg = |digits| Style::fg(rgb(digits));
    of(&[
        (Role::Text, fg(0x00da_dada)),
        (Role::Muted, fg(0x00b2_b2b2)),
        (Role::Faint, fg(0x0094_9494)),
        (Role::Strong, fg(0x00ff_ffff).with(BOLD)),
        (Role::Accent, fg(0x005f_d7af)),
        (Role::User, fg(0x00af_d7ff)),
        (Role::Link, fg(0x005f_afff).with(Attrs::UNDERLINE)),
        (Role::Code, fg(0x00ff_d7af)),
        (Role::CodeBlock, on(0x00da_dada, 0x001c_1c1c)),
        (Role::Panel, on(0x00da_dada, 0x0026_2626)),
        (Role::Chosen, on(0x00ff_ffff, 0x0000_5f5f)),
        (Role::Selection, on(0x00ff_ffff, 0x0044_4444)),
        (Role::Match, fg(0x00ff_d75f).with(BOLD)),
        (Role::Good, fg(0x0087_d787)),
        (Role::Warning, fg(0x00ff_af5f)),
        (Role::Bad, fg(0x00ff_8787)),
        // Not of the cube, but nearest to its 22, 28, 52 and 88: the cube has no darker green and red.
        (Role::Added, on(0x00d7_ffd7, 0x0000_3f14)),
        (Role::AddedWord, on(0x00ff_ffff, 0x0000_7520).with(BOLD)),
        (Role::Removed, on(0x00ff_d7d7, 0x004f_0a0f)),
        (Role::RemovedWord, on(0x00ff_ffff, 0x0087_1a1a).with(BOLD)),
        (Role::Keyword, fg(0x00d7_87d7)),
        (Role::String, fg(0x00af_d787)),
        (Role::Number, fg(0x00ff_af87)),
        (Role::Comment, fg(0x0094_9494).with(Attrs::ITALIC)),
        (Role::Type, fg(0x0087_d7d7)),
        (Role::Function, fg(0x0087_afff)),
    ])
}

/// For light backgrounds.
pub(super) fn light() -> Theme {
    let fg = |digits| Style::fg(rgb(digits));
    of(&[
        (Role::Text, fg(0x0026_2626)),
        (Role::Muted, fg(0x004e_4e4e)),
        (Role::Faint, fg(0x0062_6262)),
        (Role::Strong, fg(0x0000_0000).with(BOLD)),
        (Role::Accent, fg(0x0000_5f5f)),
        (Role::User, fg(0x0000_5f87)),
        (Role::Link, fg(0x0000_5faf).with(Attrs::UNDERLINE)),
        (Role::Code, fg(0x0087_5f00)),
        (Role::CodeBlock, on(0x0026_2626, 0x00ee_eeee)),
        (Role::Panel, on(0x0026_2626, 0x00ee_eeee)),
        (Role::Chosen, on(0x00ff_ffff, 0x0000_5f5f)),
        (Role::Selection, on(0x0000_0000, 0x00af_d7ff)),
        (Role::Match, fg(0x00af_005f).with(BOLD)),
        (Role::Good, fg(0x0000_5f00)),
        (Role::Warning, fg(0x0087_5f00)),
        (Role::Bad, fg(0x00af_0000)),
        (Role::Added, on(0x0000_5f00, 0x00d7_ffd7)),
        (Role::AddedWord, on(0x0000_0000, 0x0087_d787).with(BOLD)),
        (Role::Removed, on(0x0087_0000, 0x00ff_d7d7)),
        (Role::RemovedWord, on(0x0000_0000, 0x00ff_afaf).with(BOLD)),
        (Role::Keyword, fg(0x005f_00af)),
        (Role::String, fg(0x0000_5f00)),
        (Role::Number, fg(0x00af_005f)),
        (Role::Comment, fg(0x0062_6262).with(Attrs::ITALIC)),
        (Role::Type, fg(0x0000_5f87)),
        (Role::Function, fg(0x0000_00af)),
    ])
}

/// For a background that is not known.
pub(super) fn neutral() -> Theme {
    let named = |index, attrs| Style::fg(Color::Indexed(index)).with(attrs);
    let [red, green, yellow, blue, magenta, cyan] =
        [1, 2, 3, 4, 5, 6].map(|index| move |attrs| named(index, attrs));
    let bare = |attrs| Style::PLAIN.with(attrs);
    of(&[
        (Role::Text, Style::PLAIN),
        (Role::Muted, bare(Attrs::DIM)),
        (Role::Faint, bare(Attrs::DIM)),
        (Role::Strong, bare(BOLD)),
        (Role::Accent, cyan(NONE)),
        (Role::User, blue(BOLD)),
        (Role::Link, blue(Attrs::UNDERLINE)),
        (Role::Code, magenta(NONE)),
        (Role::CodeBlock, Style::PLAIN),
        (Role::Panel, Style::PLAIN),
        (Role::Chosen, bare(Attrs::REVERSE)),
        (Role::Selection, bare(Attrs::REVERSE)),
        (Role::Match, cyan(BOLD | Attrs::UNDERLINE)),
        (Role::Good, green(NONE)),
        (Role::Warning, yellow(BOLD)),
        (Role::Bad, red(NONE)),
        (Role::Added, green(NONE)),
        (Role::AddedWord, green(Attrs::REVERSE)),
        (Role::Removed, red(NONE)),
        (Role::RemovedWord, red(Attrs::REVERSE)),
        (Role::Keyword, magenta(NONE)),
        (Role::String, green(NONE)),
        (Role::Number, yellow(NONE)),
        (Role::Comment, bare(Attrs::DIM | Attrs::ITALIC)),
        (Role::Type, cyan(NONE)),
        (Role::Function, blue(NONE)),
    ])
}

/// Without colours.
pub(super) fn plain() -> Theme {
    let bare = |attrs| Style::PLAIN.with(attrs);
    of(&[
        (Role::Text, Style::PLAIN),
        (Role::Muted, bare(Attrs::DIM)),
        (Role::Faint, bare(Attrs::DIM)),
        (Role::Strong, bare(BOLD)),
        (Role::Accent, bare(BOLD)),
        (Role::User, bare(BOLD)),
        (Role::Link, bare(Attrs::UNDERLINE)),
        (Role::Code, bare(BOLD)),
        (Role::CodeBlock, Style::PLAIN),
        (Role::Panel, Style::PLAIN),
        (Role::Chosen, bare(Attrs::REVERSE)),
        (Role::Selection, bare(Attrs::REVERSE)),
        (Role::Match, bare(BOLD | Attrs::UNDERLINE)),
        (Role::Good, Style::PLAIN),
        (Role::Warning, bare(BOLD)),
        (Role::Bad, bare(BOLD)),
        (Role::Added, Style::PLAIN),
        (Role::AddedWord, bare(BOLD | Attrs::UNDERLINE)),
        (Role::Removed, bare(Attrs::DIM)),
        (Role::RemovedWord, bare(Attrs::DIM | Attrs::STRIKE)),
        (Role::Keyword, bare(BOLD)),
        (Role::String, Style::PLAIN),
        (Role::Number, Style::PLAIN),
        (Role::Comment, bare(Attrs::DIM | Attrs::ITALIC)),
        (Role::Type, Style::PLAIN),
        (Role::Function, Style::PLAIN),
    ])
}
