//! What an answer used and cost. Every gateway has its own names for the same few numbers.

use base::model::{Money, Usage};
use serde_json::Value;

/// Reads a `usage` object. Whether output leaves thinking out, the provider's own total tells; where it
/// leaves thinking out too (`reasoning_beside`), more thinking than output does.
pub(super) fn tokens(usage: &Value, reasoning_beside: Option<bool>) -> Usage {
    let prompt = first(usage, &["/prompt_tokens", "/input_tokens"]);
    let mut output = first(usage, &["/completion_tokens", "/output_tokens"]);
    let reasoning = first(
        usage,
        &[
            "/completion_tokens_details/reasoning_tokens",
            "/output_tokens_details/reasoning_tokens",
            "/reasoning_tokens",
        ],
    );
    let cache_read = first(
        usage,
        &[
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cache_read_input_tokens",
            "/cached_tokens",
        ],
    )
    .min(prompt);
    let cache_write = first(
        usage,
        &[
            "/prompt_tokens_details/cache_write_tokens",
            "/prompt_tokens_details/cache_creation_tokens",
            "/cache_creation_input_tokens",
        ],
    )
    .min(prompt - cache_read);
    let total = first(usage, &["/total_tokens"]);
    let told_apart = total == prompt + output + reasoning;
    let hidden = reasoning_beside == Some(true) && reasoning > output;
    if reasoning_beside != Some(false) && (told_apart || hidden) {
        output += reasoning;
    }
    Usage {
        input: prompt - cache_read - cache_write,
        cache_read,
        cache_write,
        output,
        // Some servers count thoughts they did not bill.
        reasoning: reasoning.min(output),
    }
}

/// Reads what the provider says the call cost: from `usage`, or from a `cost` beside it.
pub(super) fn cost(usage: Option<&Value>, beside: Option<&Value>) -> Option<Money> {
    usage.and_then(cost_in_usage).or_else(|| beside.and_then(dollars)).map(Money::from_dollars)
}

fn cost_in_usage(usage: &Value) -> Option<f64> {
    let ticks = |at: &str, per_dollar: f64| Some(number(usage.pointer(at)?)? / per_dollar);
    let stated = || usage.get("cost").and_then(dollars);
    stated()
        .map(|cost| cost + own_key_cost(usage))
        .or_else(|| ticks("/cost_in_usd_ticks", 1e10))
        .or_else(|| ticks("/cost_in_nano_usd", 1e9))
        .or_else(|| ticks("/estimated_cost", 1.0))
}

/// With the user's own key the gateway states only its fee; the model's price is told apart.
fn own_key_cost(usage: &Value) -> f64 {
    if usage.get("is_byok") != Some(&Value::Bool(true)) {
        return 0.0;
    }
    usage.pointer("/cost_details/upstream_inference_cost").and_then(number).unwrap_or(0.0)
}

/// Dollars as a number, as text, or inside an object that also tells how they came about.
fn dollars(value: &Value) -> Option<f64> {
    number(value)
        .or_else(|| ["usd", "total_cost", "total"].iter().find_map(|key| number(value.get(key)?)))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The first of these places that holds a count above zero.
fn first(usage: &Value, places: &[&str]) -> u64 {
    let count = |place: &&str| {
        let value = usage.pointer(place)?;
        value.as_u64().or_else(|| number(value).map(whole)).filter(|count| *count > 0)
    };
    places.iter().find_map(count).unwrap_or(0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, which is what we want"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_four_buckets_are_disjoint_whatever_the_names() {
        let openrouter = json!({"prompt_tokens": 100, "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}});
        let expected =
            Usage { input: 10, cache_read: 60, cache_write: 30, output: 7, reasoning: 0 };
        assert_eq!(tokens(&openrouter, None), expected);
        let deepseek = json!({"prompt_tokens": 100, "completion_tokens": 7,
            "prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40});
        assert_eq!(tokens(&deepseek, None).input, 40);
        let nonsense =
            json!({"prompt_tokens": 5, "cached_tokens": 60, "cache_creation_input_tokens": 9});
        assert_eq!(tokens(&nonsense, None).prompt(), 5);
    }

    #[test]
    fn thinking_beside_output_is_added_when_the_total_or_a_quirk_says_so() {
        let apart = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 35,
            "completion_tokens_details": {"reasoning_tokens": 20}});
        assert_eq!(tokens(&apart, None).output, 25);
        assert_eq!(tokens(&apart, Some(false)).output, 5);
        let within = json!({"prompt_tokens": 10, "completion_tokens": 25, "total_tokens": 35,
            "completion_tokens_details": {"reasoning_tokens": 20}});
        assert_eq!(tokens(&within, None).output, 25);
        assert_eq!(tokens(&within, Some(true)).output, 25);
        let untold = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
            "completion_tokens_details": {"reasoning_tokens": 20}});
        assert_eq!(tokens(&untold, Some(true)).output, 25);
        let counted = tokens(&untold, None);
        assert_eq!((counted.output, counted.reasoning), (5, 5));
    }

    #[test]
    fn costs_are_read_from_every_known_place() {
        let read = |usage: Value| cost(Some(&usage), None).map(Money::as_pico);
        assert_eq!(read(json!({"cost": 0.001})), Some(1_000_000_000));
        assert_eq!(read(json!({"cost": "0.001"})), Some(1_000_000_000));
        assert_eq!(read(json!({"cost": {"total_cost": 0.001}})), Some(1_000_000_000));
        assert_eq!(read(json!({"cost_in_usd_ticks": 10_000_000})), Some(1_000_000_000));
        let own_key = json!({"cost": 0.001, "is_byok": true,
            "cost_details": {"upstream_inference_cost": 0.002}});
        assert_eq!(read(own_key), Some(3_000_000_000));
        assert_eq!(read(json!({"prompt_tokens": 1})), None);
        let beside = cost(None, Some(&json!({"usd": 0.001, "diem": 0})));
        assert_eq!(beside, Some(Money::from_dollars(0.001)));
    }
}
