//! Settings of the terminal interface. They live here so that the interface needs no other crate for them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The terminal interface.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the file")]
pub struct Tui {
    /// Leave out the side pane and spare lines.
    pub compact_mode: bool,
    /// How changes are shown.
    pub diff_mode: DiffMode,
    /// File names offered while typing.
    pub completions: Completions,
    /// Leave the terminal's own background behind code and panels.
    pub transparent: bool,
    /// The transcript's scrollbar.
    pub scrollbar: Scrollbar,
    /// Name of the colour theme: `dark`, `light`, `auto` or one of `themes`; by default `auto`, which fits the
    /// terminal's background.
    pub theme: Option<String>,
    /// Themes of your own, by name: colours by role, as `#rrggbb`, a colour's name or a number from 0 to 255.
    /// `base` names the theme they are changes to.
    pub themes: BTreeMap<String, BTreeMap<String, String>>,
    /// Where the interface draws.
    pub screen: ScreenMode,
    /// Edit the prompt with vi's keys.
    pub vim: bool,
    /// Leave the mouse to the terminal.
    pub no_mouse: bool,
    /// Keys by action, such as `"open_models": ["ctrl+l"]`; an empty list takes an action's keys away.
    pub keys: BTreeMap<String, Vec<String>>,
}

/// Where the interface draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScreenMode {
    /// On the whole screen.
    #[default]
    Full,
    /// At the end of the terminal's own scrollback.
    Inline,
    /// Line by line, for screen readers and plain terminals.
    Linear,
}

/// How changes are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffMode {
    /// Side by side where the terminal is wide enough.
    #[default]
    Auto,
    /// One column.
    Unified,
    /// Side by side.
    Split,
}

/// File names offered while typing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Completions {
    /// How many folders deep to look; 0 has no limit.
    pub max_depth: u32,
    /// How many names to offer, 50 at most; 0 offers 50.
    pub max_items: u32,
}

/// The transcript's scrollbar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scrollbar {
    /// Shown while scrolling.
    #[default]
    Default,
    /// Always shown.
    Always,
    /// Never shown.
    Never,
}

/// How to tell that a turn has ended or an answer is needed, while the terminal is not in focus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Notifications {
    /// The best way this terminal has.
    #[default]
    Auto,
    /// The desktop's own notification.
    Native,
    /// A terminal escape sequence.
    Osc,
    /// The bell.
    Bell,
    /// Not at all.
    Disabled,
}
