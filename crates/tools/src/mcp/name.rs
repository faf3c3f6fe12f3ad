//! What models call lent tools: `mcp_<server>_<tool>`, of letters that every provider takes and no longer
//! than all of them allow. A name that would be cut, or that two tools would share, ends in a hash of the
//! tool's real name: whoever comes and goes beside it, it never stands for another tool.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use guard::rule::names;
use sha2::{Digest, Sha256};

/// Longest name that every provider takes.
pub const LONGEST: usize = 64;
/// Letters of the hash.
const HASH: usize = 8;

/// The names of tools, given by server and tool.
pub fn all(tools: &[(&str, &str)]) -> Vec<String> {
    let plain: Vec<String> = tools.iter().map(|(server, tool)| plain(server, tool)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &plain {
        *counts.entry(name).or_default() += 1;
    }
    let named = plain.iter().zip(tools).map(|(name, (server, tool))| {
        let is_shared = counts.get(name.as_str()).is_some_and(|count| *count > 1);
        if is_shared || name.len() > LONGEST { hashed(name, server, tool) } else { name.clone() }
    });
    named.collect()
}

/// The name of a tool as long as it wants to be, whoever else has it.
pub fn plain(server: &str, tool: &str) -> String {
    let name = names::mcp(server, tool);
    names::ours(&name).into_iter().next().unwrap_or(name)
}

fn hashed(plain: &str, server: &str, tool: &str) -> String {
    let mut hash = Sha256::new();
    // No name holds a zero byte.
    for piece in [server, "\0", tool] {
        hash.update(piece);
    }
    let bytes = hash.finalize();
    let mut hash = String::with_capacity(HASH);
    for byte in bytes.iter().take(HASH / 2) {
        let _fits = write!(hash, "{byte:02x}");
    }
    let head = &plain[..plain.len().min(LONGEST - HASH - 1)];
    format!("{head}_{hash}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_plain_short_and_apart() {
        let long = "a_tool_with_a_name_that_goes_on_and_on_and_on_and_on_and_on_and_on";
        let names = all(&[
            ("files", "read"),
            ("git", "hub_list"),
            ("git_hub", "list"),
            ("my server", "größe"),
            ("files", long),
        ]);
        assert_eq!(names[0], "mcp_files_read");
        assert_eq!(names[3], "mcp_my_server_gr__e");
        assert!(names[1].starts_with("mcp_git_hub_list_") && names[1] != names[2], "{names:?}");
        assert_eq!(names[4].len(), LONGEST);
    }

    #[test]
    fn a_name_stays_when_others_come() {
        let one = all(&[("b", "x")]);
        assert_eq!(all(&[("a", "x"), ("b", "x"), ("c", "b_x")])[1], one[0]);
        // One that is shared is nobody's: whoever calls it is told so.
        assert!(!all(&[("a", "b_x"), ("a_b", "x")]).contains(&"mcp_a_b_x".to_owned()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn every_list_of_tools_has_names_that_providers_take(
            tools in prop::collection::btree_set(("[ab_./ é]{1,4}", "[ab_./ é]{0,70}"), 0..12),
        ) {
            let tools: Vec<(&str, &str)> =
                tools.iter().map(|(server, tool)| (server.as_str(), tool.as_str())).collect();
            let names = all(&tools);
            let plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
            for name in &names {
                prop_assert!(name.len() <= LONGEST && name.chars().all(plain), "{name}");
                prop_assert!(name.starts_with("mcp_"));
            }
            let apart: BTreeSet<&String> = names.iter().collect();
            prop_assert_eq!(apart.len(), names.len());
        }
    }
}
