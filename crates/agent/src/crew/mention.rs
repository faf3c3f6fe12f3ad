//! Agents in a prompt: those the user names, and those that are new since the model was told of them.

use base::{Entry, EntryKind, Origin, Part, PartBody};
use settings::definition::{Definitions, slug};

use super::builtin;
use crate::prompt;

/// What is added to a prompt: the user's wish to delegate, and agents the model does not know of yet.
pub(super) fn asides(prompt: &[Part], branch: &[Entry], offered: &[(String, String)]) -> Vec<Part> {
    let said = prompt.iter().filter(|part| part.origin == Origin::User).filter_map(Part::as_text);
    let said: Vec<&str> = said.collect();
    let mut texts = Vec::new();
    let own = offered.iter().map(|(name, _)| (name.as_str(), vec![name.clone(), slug(name)]));
    let is_own = |name: &str| offered.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let ours = builtin::ALIASES.iter().filter(|(name, _)| !is_own(name)).map(|(name, aliases)| {
        let names = std::iter::once(name).chain(*aliases);
        (*name, names.map(|name| (*name).to_owned()).collect())
    });
    let is_named = |names: &[String]| {
        let is_it = |name: &String| said.iter().any(|text| mentions(text, name));
        names.iter().filter(|name| !name.is_empty()).any(is_it)
    };
    let named: Vec<&str> =
        own.chain(ours).filter(|(_, names)| is_named(names)).map(|(name, _)| name).collect();
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
    let described = format!("- {name}:");
    let tells = |text: &str| {
        text.lines().any(|line| {
            let names = line.strip_prefix(prompt::ONLY_NAMED).unwrap_or_default();
            line.starts_with(&described)
                || names.split(", ").any(|known| known == name)
                // Of those that were left out nobody can tell which are new.
                || line.starts_with(prompt::NOT_NAMED)
        })
    };
    branch.iter().any(|entry| match &entry.kind {
        EntryKind::Prefix { system, .. } => system.iter().any(|text| tells(text)),
        EntryKind::User { parts } => parts
            .iter()
            .filter(|part| part.origin == Origin::System)
            .filter_map(Part::as_text)
            .any(tells),
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
    fn an_agent_is_named_as_one_types_it() {
        let offered = [("Backend Architect".to_owned(), "Designs".to_owned())];
        let wished = |text: &str| {
            let parts = asides(&[Part::user_text(text)], &[], &offered);
            parts.iter().filter_map(Part::as_text).collect::<String>()
        };
        assert!(wished("@agent-backend-architect design it").contains("`Backend Architect`"));
        assert!(wished("@\"Backend Architect (agent)\" design it").contains("`Backend Architect`"));
        assert!(wished("@agent-general-purpose do it").contains("`general`"));
        assert!(wished("@agent-Explore look").contains("`explorer`"));
        assert_eq!(wished("@agent-backend"), "");
    }

    #[test]
    fn agents_that_were_only_named_are_not_new() {
        let agent = |number: usize| (format!("agent-{number}"), "Helps.".to_owned());
        let many = |count: usize| (0..count).map(agent).collect::<Vec<_>>();
        for known in [43, 4_000] {
            let (system, tools) = (prompt::agent_lines(&many(known)), Vec::new());
            let kind = EntryKind::Prefix { system, tools, reason: "it begins".to_owned() };
            let (id, at) = (base::EntryId::new(), base::Timestamp::default());
            let branch = [Entry { id, parent: None, at, kind }];
            let told = |offered: usize| asides(&[Part::user_text("go")], &branch, &many(offered));
            assert_eq!(told(known), [], "{known}");
            if known == 43 {
                let news: Vec<Part> = told(44);
                let news: Vec<&str> = news.iter().filter_map(Part::as_text).collect();
                assert_eq!(news, ["Agents that have been added:\n- agent-43: Helps."]);
            }
        }
    }

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
