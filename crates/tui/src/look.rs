//! What drawing depends on, beside the thing that is drawn.

use base::interface::DiffMode;

use crate::theme::Theme;

/// What drawing depends on.
#[derive(Debug, Clone)]
pub struct Look {
    /// Styles.
    pub theme: Theme,
    /// Counts up whenever the theme changes: what was laid out before is stale.
    pub version: u32,
    /// How changes are shown.
    pub diff: DiffMode,
    /// Which picture of an animation it is; it stands still while nobody looks.
    pub frame: u64,
    /// Milliseconds since we began, by a clock that never goes back.
    pub now_ms: u64,
    /// Whether characters beyond ASCII may be used for lines and marks.
    pub unicode: bool,
    /// How pictures can be drawn.
    pub pictures: Pictures,
    /// The key that unfolds; empty where nothing can be.
    pub unfold: String,
}

impl Look {
    /// How what is folded is unfolded, behind the words that tell what is.
    pub fn unfolding(&self) -> String {
        if self.unfold.is_empty() { String::new() } else { format!(", {}", self.unfold) }
    }
}

/// How pictures can be drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pictures {
    /// Two pixels a cell, as half blocks.
    #[default]
    HalfBlocks,
    /// By kitty's protocol.
    Kitty,
    /// By iTerm2's.
    Iterm,
    /// As sixels.
    Sixel,
}
