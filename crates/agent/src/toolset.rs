//! Which tools a model is offered: those that suit it, in a stable order.

use base::star;
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
/// Offered where a language server fits the folder.
const CODE: [&str; 9] = [
    "call_hierarchy",
    "code_action",
    "definition",
    "diagnostics",
    "hover",
    "lsp_restart",
    "references",
    "rename",
    "symbols",
];
/// Offered where a sub-agent may be started.
const DELEGATING: [&str; 2] = ["agent", "agentic_fetch"];

/// The tools a session's model is offered, sorted by name.
pub(crate) fn specs(session: &Session, wanted: &Tools) -> Vec<ToolSpec> {
    let config = &session.mind.config;
    let offered = session.mind.registry.iter().filter(|tool| {
        let name = tool.name();
        includes(wanted, name)
            && (is_list(wanted) || suits(name, session))
            && (!CODE.contains(&name) || session.workspace.code.fits)
            && (!DELEGATING.contains(&name) || session.crew.may_delegate())
            && !config.options.disabled_tools.iter().any(|disabled| disabled == name)
    });
    let spec = |tool: &std::sync::Arc<dyn tools::AnyTool>| ToolSpec {
        name: tool.name().to_owned(),
        description: tool.description(),
        schema: tool.schema(),
    };
    let mut specs: Vec<ToolSpec> = offered.map(spec).collect();
    specs.extend(session.lent_specs(wanted));
    specs.sort_by(|one, other| one.name.cmp(&other.name));
    specs
}

/// Whether a choice of tools includes one.
pub(crate) fn includes(wanted: &Tools, name: &str) -> bool {
    match wanted {
        Tools::All => true,
        Tools::But(of, names) => {
            includes(of, name) && !names.iter().any(|unwanted| star::fits(unwanted, name))
        }
        Tools::Only(names) => names.iter().any(|wanted| star::fits(wanted, name)),
        Tools::None => false,
    }
}

/// Whether somebody has named each tool.
fn is_list(wanted: &Tools) -> bool {
    match wanted {
        Tools::Only(_) => true,
        Tools::But(of, _) => is_list(of),
        Tools::All | Tools::None => false,
    }
}

fn suits(name: &str, session: &Session) -> bool {
    match name {
        PATCH => {
            let id = session.options.target.model.id.to_ascii_lowercase();
            PATCH_MODELS.iter().any(|trained| id.contains(trained))
        }
        RECALL => compaction::hides_something(&session.branch),
        QUESTION => session.mind.presence != Presence::Alone,
        _ => !WEB.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn files_can_name_every_tool_there_is() {
        for tool in tools::Registry::builtin().iter() {
            assert_eq!(guard::rule::names::ours(tool.name()), [tool.name()]);
        }
    }
}
