//! The laws of laying settings over settings.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::parse_text;
use super::super::problem::Problems;
use super::super::tree::parse;
use super::*;

fn node(value: &Value) -> Node {
    let parsed = parse(&value.to_string(), 0, &mut Problems::of("test.json".into()));
    parsed.ok().flatten().unwrap()
}

fn merged(under: &Value, over: &Value) -> Value {
    lay_over(node(under), node(over), Some(Shape::root())).to_value()
}

#[test]
fn objects_merge_lists_append_and_the_rest_is_replaced() {
    let under = json!({
        "options": {"debug": false, "disabled_tools": ["a", "b"], "tui": {"compact_mode": true}},
        "mcp": {"x": {"args": ["1", "2"], "env": {"A": "1"}}},
        "providers": {"p": {"models": [{"id": "m", "name": "M", "context_window": 1}, {"id": "n"}]}},
    });
    let over = json!({
        "options": {"debug": true, "disabled_tools": ["b", "c"]},
        "mcp": {"x": {"args": ["3"], "env": {"B": "2"}}},
        "providers": {"p": {"models": [{"id": "o"}, {"id": "m", "context_window": 2}],
                            "extra_body": {"stop": ["x", "x"]}}},
    });
    let expected = json!({
        "options": {"debug": true, "disabled_tools": ["a", "b", "c"], "tui": {"compact_mode": true}},
        "mcp": {"x": {"args": ["3"], "env": {"A": "1", "B": "2"}}},
        "providers": {"p": {"models": [{"id": "m", "name": "M", "context_window": 2}, {"id": "n"}, {"id": "o"}],
                            "extra_body": {"stop": ["x", "x"]}}},
    });
    assert_eq!(merged(&under, &over), expected);
}

/// Settings in which each key always has the same type, as the checker leaves them.
fn settings() -> impl Strategy<Value = Value> {
    let names = proptest::collection::btree_set("[a-c]", 0..3);
    let models = proptest::collection::btree_map("[m-o]", 0..9_u64, 0..3).prop_map(|all| {
        let entries = all.into_iter().map(|(id, size)| json!({"id": id, "context_window": size}));
        entries.collect::<Vec<_>>()
    });
    let args = proptest::collection::vec("[a-c]", 0..3);
    (any::<Option<bool>>(), names, models, args, "[p-q]").prop_map(
        |(debug, names, models, args, id)| {
            let mut value = json!({
                "options": {"disabled_tools": names},
                "providers": {&id: {"models": models}},
                "mcp": {&id: {"args": args}},
            });
            if let Some(debug) = debug {
                value["options"]["debug"] = json!(debug);
            }
            value
        },
    )
}

proptest! {
    #[test]
    fn nothing_laid_over_changes_nothing(one in settings()) {
        let same = node(&one).to_value();
        prop_assert_eq!(merged(&one, &json!({})), same.clone());
        prop_assert_eq!(merged(&json!({}), &one), same);
    }

    #[test]
    fn the_same_twice_is_the_same_once(one in settings()) {
        prop_assert_eq!(merged(&one, &one), node(&one).to_value());
    }

    #[test]
    fn grouping_does_not_matter(a in settings(), b in settings(), c in settings()) {
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
    }

    #[test]
    fn what_is_written_is_what_is_loaded(one in settings()) {
        let loaded = parse_text("caiman.json", &one.to_string());
        prop_assert_eq!(&loaded.problems, &[]);
        prop_assert_eq!(loaded.origins.shown(), node(&one).to_value());
    }
}
