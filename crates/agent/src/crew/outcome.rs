//! What came of a sub-agent, in words for its parent.

use base::protocol::Ending;
use base::transcript::{is_unfinished, last_said};
use base::{Entry, EntryKind, Origin, Part, SessionId};
use store::StoreError;
use tools::Report;

use super::report_prompt;
use crate::mind::Mind;
use crate::turn::Close;

/// What came of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Came {
    /// The last thing it said.
    pub(super) text: String,
    /// Why that is not its answer; none if it is.
    pub(super) failure: Option<String>,
}

/// What came of a task, by what was said since it was given and how its last turn ended.
pub(super) fn of(task: &[Entry], close: Option<&Result<Close, String>>) -> Came {
    let text = last_words(task);
    let failure = match close {
        Some(Ok(Close::Ended(Ending::Answered, _))) if !ends_in_words(task) => {
            Some("it ended without an answer".to_owned())
        }
        Some(Ok(Close::Ended(Ending::Answered, _))) => None,
        Some(Ok(Close::Ended(Ending::Cancelled, _))) => Some("it was stopped".to_owned()),
        Some(Ok(Close::Failed(error))) => Some(error.message.clone()),
        Some(
            Err(why)
            | Ok(
                Close::Blocked(why)
                | Close::Ended(
                    Ending::OverBudget(why) | Ending::GoingInCircles(why) | Ending::Halted(why),
                    _,
                ),
            ),
        ) => Some(why.clone()),
        None => Some("it broke off".to_owned()),
    };
    Came { text, failure }
}

/// A failure as the parent reads it, with what the sub-agent had.
pub(super) fn failed(report: &Report, why: &str) -> String {
    let Report { agent, session, text, .. } = report;
    let had = if text.is_empty() {
        "It had said nothing.".to_owned()
    } else {
        format!("What it had said last:\n\n{text}")
    };
    format!(
        "The agent {agent} did not finish: {why}\n{had}\n\nIts session is {session}: resume it with \
         another prompt, or do the rest yourself."
    )
}

/// The end of one in the background, as the parent reads it.
pub(super) fn told(report: &Report) -> String {
    let Report { agent, session, text, .. } = report;
    format!("The agent {agent} in the background has finished (session {session}):\n\n{text}")
}

/// What the parent reads of one that has begun in the background.
pub(super) fn begun(session: SessionId, agent: &str) -> Report {
    let text = format!(
        "The agent {agent} works in the background (session {session}). You will be told when it ends; do \
         not wait for it."
    );
    Report { session, agent: agent.to_owned(), text, origin: Origin::System }
}

/// Where a sub-agent's words may come from: content that nobody vouches for stays so.
pub(super) fn origin(branch: &[Entry]) -> Origin {
    let foreign = |part: &&Part| match part.origin {
        Origin::Web | Origin::Mcp(_) | Origin::Channel(_) => true,
        Origin::User
        | Origin::Assistant
        | Origin::System
        | Origin::Workspace
        | Origin::Shell
        | Origin::Skill(_)
        | Origin::Memory => false,
    };
    let mut parts = branch.iter().flat_map(|entry| entry.kind.parts());
    parts.find(foreign).map_or(Origin::Assistant, |part| part.origin.clone())
}

/// Reports what sub-agents of a process that is gone have left: each is told once. Those at work report
/// themselves.
pub(crate) async fn settle_debts(
    mind: &Mind,
    parent: SessionId,
    at_work: impl Fn(&SessionId) -> bool,
) -> Result<(), StoreError> {
    let owed = mind.store.owed_reports(parent).await?;
    for child in owed.into_iter().filter(|child| !at_work(child)) {
        let branch = mind.store.branch(child).await?;
        let agent = mind.store.session(child).await?.agent.unwrap_or_default();
        let origin = origin(&branch);
        let report = Report { session: child, agent, text: last_words(&branch), origin };
        let text = if is_unfinished(&branch) || !ends_in_words(&branch) {
            failed(&report, "caiman ended while it worked")
        } else {
            told(&report)
        };
        mind.store.report(child, report_prompt(mind, text, report.origin)).await?;
    }
    Ok(())
}

/// The newest thing the model said, however long ago.
fn last_words(entries: &[Entry]) -> String {
    let words = |entry: &Entry| Some(words(&entry.kind)?).filter(|text| !text.is_empty());
    entries.iter().rev().find_map(words).unwrap_or_default()
}

/// Whether what was said last is an answer.
fn ends_in_words(entries: &[Entry]) -> bool {
    last_said(entries).and_then(words).is_some_and(|text| !text.is_empty())
}

fn words(kind: &EntryKind) -> Option<String> {
    let EntryKind::Assistant { parts, .. } = kind else { return None };
    let text: String = parts.iter().filter_map(Part::as_text).collect();
    Some(text.trim().to_owned())
}
