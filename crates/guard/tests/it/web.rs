//! The web researcher, which may open any host.

use guard::{Action, Decision, Taint, Verdict};

use crate::room::{Room, tainted};

fn research(room: &Room, url: &str, taint: &Taint) -> Verdict {
    room.decide("agentic_fetch", Action::Browse(url.parse().unwrap()), taint)
}

#[test]
fn a_rule_for_a_host_does_not_allow_the_researcher() {
    let room = Room::new().allow(&["WebFetch(domain:docs.rs)", "WebFetch(domain:*.rs)"]);
    let verdict = research(&room, "https://docs.rs/", &Taint::Clean);
    assert_eq!(verdict.decision, Decision::Ask);
    assert!(verdict.reason.to_string().contains("any host"), "{}", verdict.reason);
    let rules: Vec<String> = verdict.grants.iter().map(ToString::to_string).collect();
    assert_eq!(rules, ["agentic_fetch"]);
}

#[test]
fn its_own_rule_allows_the_researcher_until_the_context_is_tainted() {
    for rule in ["agentic_fetch", "WebFetch", "group:web"] {
        let room = Room::new().allow(&[rule]);
        assert_eq!(research(&room, "https://docs.rs/", &Taint::Clean).decision, Decision::Allow);
        let verdict = research(&room, "https://docs.rs/", &tainted());
        assert_eq!(verdict.decision, Decision::Ask, "{rule}");
        assert!(verdict.reason.to_string().contains("any host"), "{}", verdict.reason);
        assert!(verdict.grants.is_empty(), "no rule lifts it");
    }
}

#[test]
fn deny_and_ask_rules_hold_for_the_first_page() {
    for rule in ["WebFetch", "agentic_fetch", "WebFetch(domain:docs.rs)"] {
        let room = Room::new().allow(&["agentic_fetch"]).deny(&[rule]);
        assert_eq!(research(&room, "https://docs.rs/", &Taint::Clean).decision, Decision::Deny);
        let room = Room::new().allow(&["agentic_fetch"]).ask(&[rule]);
        assert_eq!(research(&room, "https://docs.rs/", &Taint::Clean).decision, Decision::Ask);
    }
}
