//! What the model is told of the skills there are: a line each, in a stable order, bounded.

use base::transcript::Seen;
use base::{Entry, EntryKind, Origin, PartBody};
use settings::definition::Skill;

use super::is_for_model;

/// Begins the list in the system prompt.
const HEAD: &str = "Skills: when one fits the task, load it with the skill tool before you begin.";
/// Begins the list once it has changed.
const NEWS: &str = "The skills have changed. Now there are:";
/// Begins the list of those that lie where the model has come to, where it has no tool to load one.
const NEARBY: &str =
    "Where you work there are skills: when one fits the task, read its file before you go on.";
/// Said when none is left.
const NONE_LEFT: &str = "The skills have changed. Now there are none.";
/// The most all lines may have, in bytes: about 1,500 tokens.
const LIST_BYTES: usize = 6_000;
/// How long a description may be, in characters; the first at which all fit.
const DESCRIPTION_CHARS: [usize; 4] = [200, 120, 60, 0];

/// The lines of the skills the model may call; none where there are no such skills.
pub fn lines(skills: &[&Skill]) -> Option<String> {
    let mut skills: Vec<&Skill> =
        skills.iter().copied().filter(|skill| is_for_model(skill)).collect();
    skills.sort_by(|one, other| one.name.cmp(&other.name));
    let list = |chars: usize| skills.iter().map(|skill| line(skill, chars)).collect::<Vec<_>>();
    let fits = |lines: &Vec<String>| bytes(lines) <= LIST_BYTES;
    let fitting = DESCRIPTION_CHARS.into_iter().map(list).find(fits);
    let lines = fitting.unwrap_or_else(|| first(list(0)));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The segment of the system prompt.
pub fn segment(skills: &[&Skill]) -> Option<String> {
    lines(skills).map(|lines| format!("{HEAD}\n{lines}"))
}

/// Whether a segment of the system prompt is such a list.
pub fn is_segment(segment: &str) -> bool {
    segment.starts_with(HEAD)
}

/// What must be said because the model was told something else; none while the list is what it was.
pub(crate) fn news(skills: &[&Skill], system: &[String], branch: &[Entry]) -> Option<String> {
    let now = lines(skills);
    if told(system, branch).as_deref() == now.as_deref() {
        return None;
    }
    Some(now.map_or_else(|| NONE_LEFT.to_owned(), |lines| format!("{NEWS}\n{lines}")))
}

/// What must be said of skills the model has come upon and has no tool for; none while it knows.
pub(crate) fn nearby(skills: &[&Skill], branch: &[Entry]) -> Option<String> {
    let skills: Vec<&Skill> = skills.iter().copied().filter(|skill| is_for_model(skill)).collect();
    let file = |skill: &Skill| skill.home.file.as_ref().map(|file| file.display().to_string());
    let about =
        |skill: &&Skill| Some(format!("{} ({})", line(skill, DESCRIPTION_CHARS[1]), file(skill)?));
    let lines = skills.iter().filter_map(about).collect::<Vec<_>>();
    let text = format!("{NEARBY}\n{}", first_fitting(lines).join("\n"));
    let is_known = || Seen::of(branch).entries.into_iter().any(|entry| said(entry, &text));
    (!skills.is_empty() && !is_known()).then_some(text)
}

fn said(entry: &Entry, words: &str) -> bool {
    let is_it = |body: &PartBody| matches!(body, PartBody::Text { text } if text == words);
    matches!(&entry.kind, EntryKind::User { parts } if parts.iter().any(|part| is_it(&part.body)))
}

/// The list the model goes by: the newest it has before it.
fn told(system: &[String], branch: &[Entry]) -> Option<String> {
    let newest = Seen::of(branch).entries.into_iter().rev().find_map(|entry| {
        let EntryKind::User { parts } = &entry.kind else { return None };
        parts.iter().rev().find_map(|part| match (&part.body, &part.origin) {
            (PartBody::Text { text }, Origin::System) if text == NONE_LEFT => Some(None),
            (PartBody::Text { text }, Origin::System) => below(text, NEWS).map(Some),
            _ => None,
        })
    });
    newest.unwrap_or_else(|| system.iter().find_map(|segment| below(segment, HEAD)))
}

fn below(text: &str, head: &str) -> Option<String> {
    text.strip_prefix(head)?.strip_prefix('\n').map(ToOwned::to_owned)
}

fn line(skill: &Skill, chars: usize) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut about = words(&skill.description);
    if let Some(when) = &skill.when_to_use {
        about = format!("{about} {}", words(when));
    }
    if about.chars().nth(chars).is_some() {
        about = about.chars().take(chars).chain(['…']).collect();
    }
    if chars == 0 { format!("- {}", skill.name) } else { format!("- {}: {about}", skill.name) }
}

fn bytes(lines: &[String]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}

/// All lines, or as many as fit.
fn first_fitting(lines: Vec<String>) -> Vec<String> {
    if bytes(&lines) <= LIST_BYTES { lines } else { first(lines) }
}

/// As many lines as fit, and how many do not.
fn first(mut lines: Vec<String>) -> Vec<String> {
    let mut left_out = 0;
    while bytes(&lines) > LIST_BYTES && lines.pop().is_some() {
        left_out += 1;
    }
    lines.push(format!("- and {left_out} more, which only the user can name"));
    lines
}

#[cfg(test)]
mod tests;
