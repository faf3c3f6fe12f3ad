//! Which tools a model is offered: those that suit it, in a stable order.

use base::Entry;
use base::transcript::ToolSpec;
use llm::Target;

use crate::compaction;
use crate::mind::{Mind, Presence, Tools};

/// Models trained on patches in Codex's grammar edit best with them.
const PATCH_MODELS: [&str; 3] = ["gpt-5", "codex", "gpt-4.1"];
/// Offered only to models trained on it.
const PATCH: &str = "apply_patch";
/// Offered once something was pruned or compacted.
const RECALL: &str = "recall";
/// Useless when nobody is there to answer.
const QUESTION: &str = "question";

/// The tools `target` is offered, sorted by name.
pub(crate) fn specs(
    mind: &Mind,
    wanted: &Tools,
    target: &Target,
    branch: &[Entry],
) -> Vec<ToolSpec> {
    let offered = mind.registry.iter().filter(|tool| {
        let name = tool.name();
        let chosen = match wanted {
            Tools::All => suits(name, mind.presence, target, branch),
            Tools::Only(names) => names.iter().any(|wanted| wanted == name),
            Tools::None => false,
        };
        chosen && !mind.config.options.disabled_tools.iter().any(|disabled| disabled == name)
    });
    let spec = |tool: &std::sync::Arc<dyn tools::AnyTool>| ToolSpec {
        name: tool.name().to_owned(),
        description: tool.description(),
        schema: tool.schema(),
    };
    offered.map(spec).collect()
}

fn suits(name: &str, presence: Presence, target: &Target, branch: &[Entry]) -> bool {
    match name {
        PATCH => {
            let id = target.model.id.to_ascii_lowercase();
            PATCH_MODELS.iter().any(|trained| id.contains(trained))
        }
        RECALL => compaction::hides_something(branch),
        QUESTION => presence == Presence::Attended,
        _ => true,
    }
}
