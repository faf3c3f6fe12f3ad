//! Which tools a model is offered: those that suit it, in a stable order.

use base::transcript::ToolSpec;

use crate::compaction;
use crate::mind::{Presence, Tools};
use crate::session::Session;

/// Models trained on patches in Codex's grammar edit best with them.
const PATCH_MODELS: [&str; 3] = ["gpt-5", "codex", "gpt-4.1"];
/// Offered only to models trained on it.
const PATCH: &str = "apply_patch";
/// Offered once something was pruned or compacted.
const RECALL: &str = "recall";
/// Useless when nobody is there to answer.
const QUESTION: &str = "question";

/// Offered only where they are named: the web sub-agent has them.
const WEB: [&str; 2] = ["web_search", "web_fetch"];
/// Offered where a sub-agent may be started.
const DELEGATING: [&str; 2] = ["agent", "agentic_fetch"];

/// The tools a session's model is offered, sorted by name.
pub(crate) fn specs(session: &Session, wanted: &Tools) -> Vec<ToolSpec> {
    let config = &session.mind.config;
    let offered = session.mind.registry.iter().filter(|tool| {
        let name = tool.name();
        includes(wanted, name)
            && (matches!(wanted, Tools::Only(_)) || suits(name, session))
            && (!DELEGATING.contains(&name) || session.crew.may_delegate())
            && !config.options.disabled_tools.iter().any(|disabled| disabled == name)
    });
    let spec = |tool: &std::sync::Arc<dyn tools::AnyTool>| ToolSpec {
        name: tool.name().to_owned(),
        description: tool.description(),
        schema: tool.schema(),
    };
    offered.map(spec).collect()
}

/// Whether a choice of tools includes one.
pub(crate) fn includes(wanted: &Tools, name: &str) -> bool {
    match wanted {
        Tools::All => true,
        Tools::But(names) => !names.iter().any(|wanted| fits(wanted, name)),
        Tools::Only(names) => names.iter().any(|wanted| fits(wanted, name)),
        Tools::None => false,
    }
}

fn fits(wanted: &str, name: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => wanted == name,
    }
}

fn suits(name: &str, session: &Session) -> bool {
    match name {
        PATCH => {
            let id = session.options.target.model.id.to_ascii_lowercase();
            PATCH_MODELS.iter().any(|trained| id.contains(trained))
        }
        RECALL => compaction::hides_something(&session.branch),
        QUESTION => session.mind.presence == Presence::Attended,
        _ => !WEB.contains(&name),
    }
}
