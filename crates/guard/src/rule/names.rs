//! One table of the names tools have: ours, Claude Code's, crocbot's.
//!
//! Rules, agent files and hooks may use any of them; `stream-json` and hooks are told Claude Code's.

/// A name elsewhere, and the tools it means here. The first pair that names one of ours gives the name
/// it has at Claude Code.
const CLAUDE: &[(&str, &[&str])] = &[
    ("Bash", &["bash"]),
    ("BashOutput", &["job_output"]),
    ("BashInput", &["job_input"]),
    ("KillShell", &["job_kill"]),
    ("KillBash", &["job_kill"]),
    ("Read", &["view"]),
    ("Write", &["write"]),
    ("Edit", &["edit", "apply_patch"]),
    ("MultiEdit", &["multiedit"]),
    ("NotebookEdit", &["edit"]),
    ("NotebookRead", &["view"]),
    ("Glob", &["glob"]),
    ("Grep", &["grep"]),
    ("LS", &["ls"]),
    ("WebFetch", &["fetch", "web_fetch", "agentic_fetch", "download"]),
    ("WebSearch", &["web_search"]),
    ("TodoWrite", &["todos"]),
    ("TodoRead", &["todos"]),
    ("AskUserQuestion", &["question"]),
    ("Task", &["agent"]),
    ("Agent", &["agent"]),
    ("Skill", &["skill"]),
];

/// crocbot's names and groups.
const CROCBOT: &[(&str, &[&str])] = &[
    ("read", &["view"]),
    ("find", &["glob"]),
    ("exec", &["bash"]),
    ("process", &["job_output", "job_input", "job_kill"]),
    ("browser", &["fetch"]),
    ("sessions_spawn", &["agent"]),
    ("group:file", FILES),
    ("group:fs", FILES),
    ("group:exec", &["bash", "job_output", "job_input", "job_kill"]),
    ("group:runtime", &["bash", "job_output", "job_input", "job_kill"]),
    ("group:web", &["web_search", "web_fetch", "fetch", "agentic_fetch", "download"]),
    ("group:sessions", &["agent"]),
    ("group:*", OURS),
];

const FILES: &[&str] = &["view", "write", "edit", "multiedit", "apply_patch", "ls", "glob", "grep"];

/// The tools there are here. Those of MCP servers are called `mcp_<server>_<tool>`.
pub const OURS: &[&str] = &[
    "bash",
    "job_output",
    "job_input",
    "job_kill",
    "view",
    "edit",
    "multiedit",
    "write",
    "apply_patch",
    "glob",
    "grep",
    "ls",
    "todos",
    "question",
    "fetch",
    "download",
    "sourcegraph",
    "recall",
    "agent",
    "skill",
    "agentic_fetch",
    "web_search",
    "web_fetch",
    "diagnostics",
    "references",
    "definition",
    "hover",
    "symbols",
    "call_hierarchy",
    "rename",
    "code_action",
    "lsp_restart",
];

/// Our tools behind a name, wherever it comes from; empty if nobody knows it.
pub fn ours(name: &str) -> Vec<String> {
    if OURS.contains(&name) || name.starts_with("mcp_") && !name.starts_with("mcp__") {
        return vec![name.to_owned()];
    }
    if let Some(rest) = name.strip_prefix("mcp__") {
        return vec![format!("mcp_{}", rest.replacen("__", "_", 1))];
    }
    // opencode writes Claude Code's names in small letters.
    let mut all = CLAUDE.iter().chain(CROCBOT);
    let known = all.find(|(theirs, _)| theirs.eq_ignore_ascii_case(name));
    let tools = known.map(|(_, tools)| tools.iter().map(|tool| (*tool).to_owned()));
    tools.map(Iterator::collect).unwrap_or_default()
}

/// The name one of our tools has at Claude Code; its own where it has none there. The server of an MCP
/// tool is taken to be one word: use [`mcp`] where it is known.
pub fn claude(tool: &str) -> String {
    if tool.starts_with("mcp__") {
        return tool.to_owned();
    }
    if let Some((server, name)) = tool.strip_prefix("mcp_").and_then(|it| it.split_once('_')) {
        return mcp(server, name);
    }
    let known = CLAUDE.iter().find(|(_, tools)| tools.contains(&tool));
    known.map_or(tool, |(name, _)| name).to_owned()
}

/// The names one of our tools goes by where somebody looks for it with a pattern: its own, Claude Code's, and
/// the earlier of two that Claude Code has given it.
pub fn spellings(tool: &str) -> Vec<String> {
    let mut names = vec![claude(tool), tool.to_owned()];
    if tool == "agent" {
        names.push("Agent".to_owned());
    }
    if tool.starts_with("mcp__") {
        names.extend(ours(tool));
    }
    names.dedup();
    names
}

/// The name a server's tool has at Claude Code: what rules and hooks know it by. Only what is plain stays of
/// both names, and two underscores stand between them and nowhere in the server's.
pub fn mcp(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", self::server(server), plain(tool, |_| false))
}

/// A server's name as it stands in the names of its tools.
pub fn server(name: &str) -> String {
    let name = joined(&plain(name, |_| false));
    if name.is_empty() { "server".to_owned() } else { name }
}

/// The same in a rule, where stars stand for anything.
pub(super) fn server_pattern(name: &str) -> String {
    joined(&plain(name, |letter| letter == '*'))
}

/// The same for a tool's name in a rule.
pub(super) fn tool_pattern(name: &str) -> String {
    plain(name, |letter| letter == '*')
}

fn plain(name: &str, also: impl Fn(char) -> bool) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-') || also(it);
    name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect()
}

/// A name without underscores at its ends, and never two of them together.
fn joined(name: &str) -> String {
    name.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_elsewhere_find_our_tools() {
        assert_eq!(ours("Read"), ["view"]);
        assert_eq!(ours("Task"), ours("Agent"));
        assert_eq!(ours("exec"), ["bash"]);
        assert_eq!(ours("webfetch"), ours("WebFetch"));
        assert!(ours("group:fs").contains(&"grep".to_owned()));
        assert_eq!(ours("mcp__git_hub__list_issues"), ["mcp_git_hub_list_issues"]);
        assert!(ours("Teleport").is_empty());
    }

    #[test]
    fn a_servers_name_cannot_run_into_its_tools() {
        assert_eq!(mcp("git hub", "list.all"), "mcp__git_hub__list_all");
        assert_eq!(mcp("a__b_", "_c"), "mcp__a_b___c");
        assert_eq!(mcp("\u{1F40A}", "x"), "mcp__server__x");
    }

    #[test]
    fn every_name_in_the_table_means_a_tool_there_is() {
        for (name, tools) in CLAUDE.iter().chain(CROCBOT) {
            assert!(tools.iter().all(|tool| OURS.contains(tool)), "{name}");
        }
    }

    #[test]
    fn our_tools_go_out_under_the_names_wrappers_know() {
        assert_eq!(claude("view"), "Read");
        assert_eq!(claude("agent"), "Task");
        assert_eq!(claude("job_kill"), "KillShell");
        assert_eq!(claude("recall"), "recall");
        assert_eq!(claude("mcp_github_list_issues"), "mcp__github__list_issues");
        assert_eq!(claude("mcp__git_hub__list"), "mcp__git_hub__list");
        assert_eq!(spellings("mcp__git_hub__list"), ["mcp__git_hub__list", "mcp_git_hub_list"]);
        assert_eq!(spellings("agent"), ["Task", "agent", "Agent"]);
        assert_eq!(spellings("recall"), ["recall"]);
    }
}
