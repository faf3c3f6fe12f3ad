//! Agents in a prompt: those the user names, and those that are new since the model was told of them.

use base::definition::Definitions;
use base::{Entry, EntryKind, Origin, Part, PartBody};

use crate::prompt;

/// What is added to a prompt: the user's wish to delegate, and agents the model does not know of yet.
pub(super) fn asides(prompt: &[Part], branch: &[Entry], offered: &[(String, String)]) -> Vec<Part> {
    let said = prompt.iter().filter(|part| part.origin == Origin::User).filter_map(Part::as_text);
    let said: Vec<&str> = said.collect();
    let mut texts = Vec::new();
    let named: Vec<&str> = offered
        .iter()
        .map(|(name, _)| name.as_str())
        .chain([super::builtin::EXPLORER, super::builtin::GENERAL])
        .filter(|name| said.iter().any(|text| mentions(text, name)))
        .collect();
    for name in named {
        texts.push(format!(
            "The user wants the agent `{name}` to do this: call the agent tool with it at once, with all it \
             needs to know."
        ));
    }
    let fresh: Vec<(String, String)> =
        offered.iter().filter(|(name, _)| !is_known(branch, name)).cloned().collect();
    if !fresh.is_empty() && !branch.is_empty() {
        let lines = prompt::agent_lines(&fresh).join("\n");
        texts.push(format!("Agents that have been added:\n{lines}"));
    }
    texts.into_iter().map(|text| Part::new(PartBody::Text { text }, Origin::System)).collect()
}

/// Whether a text names an agent: `@agent-name`, or `@"name (agent)"` as Claude Code writes it.
fn mentions(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    if text.contains(&format!("@\"{name} (agent)\"")) {
        return true;
    }
    let plain = format!("@agent-{name}");
    let ends =
        |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
    text.match_indices(&plain).any(|(at, _)| ends(&text[at + plain.len()..]))
}

/// Whether the model was told of an agent, at the start or since.
fn is_known(branch: &[Entry], name: &str) -> bool {
    let line = format!("- {name}:");
    branch.iter().any(|entry| match &entry.kind {
        EntryKind::Prefix { system, .. } => system.iter().any(|text| text.contains(&line)),
        EntryKind::User { parts } => parts
            .iter()
            .filter(|part| part.origin == Origin::System)
            .filter_map(Part::as_text)
            .any(|text| text.contains(&line)),
        EntryKind::Assistant { .. }
        | EntryKind::ToolResults { .. }
        | EntryKind::Notice { .. }
        | EntryKind::Compaction { .. }
        | EntryKind::Pruned { .. }
        | EntryKind::Undone { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::Checkpoint { .. } => false,
    })
}

/// The texts of skills that an agent begins with.
pub(super) fn preloaded(names: &[String], definitions: &Definitions) -> Vec<String> {
    let text = |name: &String| {
        let skill = definitions.skill(name)?;
        Some(format!("<skill name=\"{}\">\n{}\n</skill>", skill.name, skill.body.trim()))
    };
    names.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_named_by_its_whole_name() {
        for (text, is_named) in [
            ("@agent-reviewer look at this", true),
            ("please, @Agent-Reviewer: look", true),
            ("ask @\"reviewer (agent)\" about it", true),
            ("@agent-reviewer-two look", false),
            ("@agent-review look", false),
            ("the reviewer should look", false),
            ("mail@agent-reviewers.example", false),
        ] {
            assert_eq!(mentions(text, "reviewer"), is_named, "{text}");
        }
    }
}
