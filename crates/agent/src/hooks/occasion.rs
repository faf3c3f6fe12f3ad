//! The moments at which hooks run, by the names Claude Code gives them.

use std::fmt;
use std::time::Duration;

/// A moment at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// A session begins, or is taken up again.
    SessionStart,
    /// A session is closed.
    SessionEnd,
    /// The user said something; the model has not heard it yet.
    UserPromptSubmit,
    /// A tool call is about to be judged.
    PreToolUse,
    /// Somebody would be asked about a call.
    PermissionRequest,
    /// A call worked.
    PostToolUse,
    /// A call failed.
    PostToolUseFailure,
    /// The model has no more to do.
    Stop,
    /// A sub-agent begins.
    SubagentStart,
    /// A sub-agent has no more to do.
    SubagentStop,
    /// Something waits for the user.
    Notification,
    /// The context is about to be summarised.
    PreCompact,
}

impl Occasion {
    /// All of them, in the order of [`settings::HOOK_EVENTS`].
    pub const ALL: [Self; 12] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::Stop,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::Notification,
        Self::PreCompact,
    ];

    /// The name settings and handlers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::Stop => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::Notification => "Notification",
            Self::PreCompact => "PreCompact",
        }
    }

    /// The moment a name means; Crush writes `pre_tool_use`, too.
    pub fn of_name(name: &str) -> Option<Self> {
        let plain = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
        let wanted = plain(name);
        Self::ALL.into_iter().find(|occasion| plain(occasion.name()) == wanted)
    }

    /// How long a handler may take unless it says otherwise.
    pub fn patience(self) -> Duration {
        match self {
            Self::UserPromptSubmit => Duration::from_secs(30),
            Self::SessionEnd => Duration::from_millis(1500),
            Self::SessionStart
            | Self::PreToolUse
            | Self::PermissionRequest
            | Self::PostToolUse
            | Self::PostToolUseFailure
            | Self::Stop
            | Self::SubagentStart
            | Self::SubagentStop
            | Self::Notification
            | Self::PreCompact => Duration::from_mins(10),
        }
    }

    /// Whether plain text on standard output is something for the model.
    pub(super) fn hears_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit | Self::SubagentStart)
    }

    /// Whether exit code 2 stops what is about to happen; elsewhere its words go to the user.
    pub(super) fn can_be_stopped(self) -> bool {
        match self {
            Self::UserPromptSubmit
            | Self::PreToolUse
            | Self::PostToolUse
            | Self::PostToolUseFailure
            | Self::Stop
            | Self::SubagentStop
            | Self::PreCompact => true,
            Self::SessionStart
            | Self::SessionEnd
            | Self::PermissionRequest
            | Self::SubagentStart
            | Self::Notification => false,
        }
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Occasion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_settings() {
        assert_eq!(Occasion::ALL.map(Occasion::name), settings::HOOK_EVENTS);
        for (index, occasion) in Occasion::ALL.into_iter().enumerate() {
            assert_eq!(occasion.index(), index);
            assert_eq!(Occasion::of_name(occasion.name()), Some(occasion));
        }
        assert_eq!(Occasion::of_name("pre_tool_use"), Some(Occasion::PreToolUse));
        assert_eq!(Occasion::of_name("Elicitation"), None);
    }
}
