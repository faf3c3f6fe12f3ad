//! What a branch tells of itself: what was said last, what requests begin with, whether a turn broke off.

use super::{Call, Entry, EntryKind, Part, ToolSpec, own_command};
use crate::model::StopReason;

impl EntryKind {
    /// What was said; nothing for a note about the session.
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::User { parts } | Self::Assistant { parts, .. } | Self::ToolResults { parts } => {
                parts
            }
            Self::Notice { .. }
            | Self::Compaction { .. }
            | Self::Pruned { .. }
            | Self::Undone { .. }
            | Self::Prefix { .. }
            | Self::ModelChange { .. }
            | Self::Checkpoint { .. } => &[],
        }
    }

    /// Whether it tells of a command the user ran, to which nobody waits for an answer.
    pub fn is_own_command(&self) -> bool {
        matches!(self, Self::User { parts } if own_command(parts).is_some())
    }

    /// Who said it, in one word; none for a note about the session.
    pub fn speaker(&self) -> Option<&'static str> {
        match self {
            Self::User { .. } => Some("user"),
            Self::Assistant { .. } => Some("assistant"),
            Self::ToolResults { .. } => Some("results"),
            Self::Notice { .. }
            | Self::Compaction { .. }
            | Self::Pruned { .. }
            | Self::Undone { .. }
            | Self::Prefix { .. }
            | Self::ModelChange { .. }
            | Self::Checkpoint { .. } => None,
        }
    }
}

/// The newest thing said on a branch.
pub fn last_said(branch: &[Entry]) -> Option<&EntryKind> {
    branch.iter().rev().map(|entry| &entry.kind).find(|kind| kind.speaker().is_some())
}

/// What requests of a branch begin with: the system prompt's segments and the tools.
pub fn prefix(branch: &[Entry]) -> Option<(&[String], &[ToolSpec])> {
    branch.iter().rev().find_map(|entry| {
        let EntryKind::Prefix { system, tools, .. } = &entry.kind else { return None };
        Some((system.as_slice(), tools.as_slice()))
    })
}

/// The calls of the newest answer, if nothing has been said since: their process has died.
pub fn open_calls(branch: &[Entry]) -> Vec<&Call> {
    match last_said(branch) {
        Some(EntryKind::Assistant { parts, .. }) => {
            parts.iter().filter_map(Part::as_call).collect()
        }
        Some(_) | None => Vec::new(),
    }
}

/// Whether the last turn broke off: what was said last waits for an answer, a result, or its own end.
/// A command the user ran is none of it.
pub fn is_unfinished(branch: &[Entry]) -> bool {
    let said = branch.iter().rev().map(|entry| &entry.kind);
    let mut said = said.filter(|kind| kind.speaker().is_some() && !kind.is_own_command());
    match said.next() {
        Some(EntryKind::Assistant { stop, .. }) => match stop {
            StopReason::ToolCalls
            | StopReason::Paused
            | StopReason::Cancelled
            | StopReason::Length
            | StopReason::ContextFull
            | StopReason::Other => true,
            StopReason::Done | StopReason::Refusal => false,
        },
        Some(_) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::id::{CallId, EntryId};
    use crate::model::{ModelRef, Usage};
    use crate::transcript::{CallInput, Origin, PartBody};

    fn branch(kinds: impl IntoIterator<Item = EntryKind>) -> Vec<Entry> {
        let entry =
            |kind| Entry { id: EntryId::new(), parent: None, at: Timestamp::default(), kind };
        kinds.into_iter().map(entry).collect()
    }

    fn user() -> EntryKind {
        EntryKind::User { parts: vec![Part::user_text("hi")] }
    }

    fn answer(stop: StopReason) -> EntryKind {
        let input = CallInput::default();
        let call = PartBody::Call(Call { id: CallId::new("c"), name: "ls".to_owned(), input });
        let said = if stop == StopReason::ToolCalls {
            Part::new(call, Origin::Assistant)
        } else {
            Part::assistant_text("yes")
        };
        let parts = vec![said];
        let (model, usage) = (ModelRef::new("demo", "tour"), Usage::default());
        EntryKind::Assistant { parts, model, stop, usage }
    }

    fn command() -> EntryKind {
        EntryKind::User { parts: Part::own_command("ls", "a b") }
    }

    #[test]
    fn a_command_of_the_user_is_known_again() {
        assert_eq!(own_command(command().parts()), Some(("ls", "a b")));
        assert!(command().is_own_command() && !user().is_own_command());
        // What somebody says that only looks like one is none.
        let said = Part::own_command("ls", "x").remove(0).as_text().unwrap().to_owned();
        let parts = vec![Part::user_text(said), Part::user_text("x")];
        assert_eq!(own_command(&parts), None);
    }

    fn notice() -> EntryKind {
        EntryKind::Notice { text: "by the way".to_owned(), class: None }
    }

    #[test]
    fn a_turn_is_unfinished_until_its_answer_has_ended() {
        let cases = [
            (vec![], false),
            (vec![notice()], false),
            (vec![user()], true),
            (vec![user(), answer(StopReason::ToolCalls)], true),
            (vec![user(), answer(StopReason::Cancelled), notice()], true),
            (vec![user(), answer(StopReason::Length)], true),
            (vec![user(), answer(StopReason::Done), notice()], false),
            (vec![user(), answer(StopReason::Refusal)], false),
            (vec![user(), answer(StopReason::Done), command()], false),
            (vec![user(), command()], true),
            (vec![command()], false),
        ];
        for (kinds, expected) in cases {
            let branch = branch(kinds);
            assert_eq!(is_unfinished(&branch), expected, "{branch:?}");
        }
    }

    #[test]
    fn calls_are_open_until_something_is_said_after_them() {
        let called = branch([user(), answer(StopReason::ToolCalls), notice()]);
        assert_eq!(open_calls(&called).len(), 1);
        let results = EntryKind::ToolResults { parts: Vec::new() };
        let answered = branch([user(), answer(StopReason::ToolCalls), results]);
        assert!(open_calls(&answered).is_empty());
    }

    #[test]
    fn the_newest_prefix_counts() {
        let made = |word: &str| EntryKind::Prefix {
            system: vec![word.to_owned()],
            tools: Vec::new(),
            reason: String::new(),
        };
        let two = branch([made("old"), user(), made("new"), user()]);
        assert_eq!(prefix(&two).unwrap().0, ["new"]);
        assert!(prefix(&branch([user()])).is_none());
    }
}
