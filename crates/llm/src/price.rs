//! What a call cost, to the picodollar.

use base::model::{Money, Usage};
use settings::provider::Model;

use crate::target::Target;

/// What `usage` costs at a target; none when its prices are not known.
pub fn cost_at(target: &Target, usage: &Usage) -> Option<Money> {
    if target.flat_rate { Some(Money::ZERO) } else { cost(&target.model, usage) }
}

/// What `usage` costs with a model; none when its prices are not known.
///
/// A model that names no price is not thereby free: only one that says so in its id is.
pub fn cost(model: &Model, usage: &Usage) -> Option<Money> {
    if model.cost_per_1m_in == 0.0 && model.cost_per_1m_out == 0.0 {
        return is_free(&model.id).then_some(Money::ZERO);
    }
    let cache = CachePrices::of(model);
    let bill = [
        (usage.input, model.cost_per_1m_in),
        (usage.cache_read, cache.read),
        (usage.cache_write, cache.write),
        (usage.output, model.cost_per_1m_out),
    ];
    Some(bill.into_iter().map(|(tokens, price)| times(tokens, price)).sum())
}

/// Whether a model's id says that it costs nothing, as gateways mark such models.
pub fn is_free(id: &str) -> bool {
    id.ends_with(":free") || id.ends_with("-free")
}

/// Dollars for a million tokens read from and written to the cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CachePrices {
    /// Read.
    pub read: f64,
    /// Written.
    pub write: f64,
}

impl CachePrices {
    /// Finds a model's cache prices.
    ///
    /// The keys' names (Crush's) mislead, so lists have them in three ways: as meant (`in_cached`
    /// for writing, `out_cached` for reading), the other way round, or with the price for reading in
    /// `in_cached` and the output price repeated in `out_cached`. Reading from a cache never costs
    /// more than reading without one, which tells them apart. A price nobody gives is the prompt's.
    pub fn of(model: &Model) -> Self {
        let full = model.cost_per_1m_in;
        let (first, second) = (model.cost_per_1m_in_cached, model.cost_per_1m_out_cached);
        let or_full = |price: f64| if price > 0.0 { price } else { full };
        let is_discount = |price: f64| price > 0.0 && price <= full;
        if is_discount(second) {
            return Self { read: second, write: or_full(first) };
        }
        if is_discount(first) {
            let is_output_price = (second - model.cost_per_1m_out).abs() < f64::EPSILON;
            let write = if is_output_price { full } else { or_full(second) };
            return Self { read: first, write };
        }
        Self { read: full, write: or_full(first) }
    }
}

/// Dollars for a million tokens are microdollars for one, and a microdollar has a million picodollars.
fn times(tokens: u64, dollars_per_million: f64) -> Money {
    let pico_per_token = Money::from_dollars(dollars_per_million / 1e6).as_pico();
    let pico = i128::from(pico_per_token).saturating_mul(i128::from(tokens));
    Money::from_pico(i64::try_from(pico).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(prices: [f64; 4]) -> Model {
        let [cost_per_1m_in, cost_per_1m_out, cost_per_1m_in_cached, cost_per_1m_out_cached] =
            prices;
        Model {
            cost_per_1m_in,
            cost_per_1m_out,
            cost_per_1m_in_cached,
            cost_per_1m_out_cached,
            ..Model::default()
        }
    }

    #[test]
    fn each_bucket_has_its_own_price() {
        let usage =
            Usage { input: 1, cache_read: 10, cache_write: 100, output: 1000, reasoning: 900 };
        let bill = cost(&model([3.0, 15.0, 3.75, 0.3]), &usage).unwrap();
        assert_eq!(bill.as_pico(), 3_000_000 + 10 * 300_000 + 100 * 3_750_000 + 1000 * 15_000_000);
    }

    #[test]
    fn prices_that_binary_fractions_cannot_hold_are_still_exact() {
        let usage = Usage { input: 1_000_000_007, ..Usage::default() };
        let bill = cost(&model([0.399_999_999_999_999_97, 1.6, 0.0, 0.1]), &usage).unwrap();
        assert_eq!(bill.as_pico(), 1_000_000_007 * 400_000);
    }

    #[test]
    fn cache_prices_are_found_however_a_list_has_them() {
        let of = |prices| {
            let found = CachePrices::of(&model(prices));
            (found.read, found.write)
        };
        assert_eq!(of([3.0, 15.0, 3.75, 0.3]), (0.3, 3.75), "as meant");
        assert_eq!(of([0.3, 1.2, 0.06, 0.375]), (0.06, 0.375), "the other way round");
        assert_eq!(of([0.27, 1.1, 0.07, 1.1]), (0.07, 0.27), "output price repeated");
        assert_eq!(of([5.0, 30.0, 0.5, 0.0]), (0.5, 5.0), "only reading, in the wrong place");
        assert_eq!(of([2.0, 8.0, 0.0, 0.5]), (0.5, 2.0), "only reading");
        assert_eq!(of([2.0, 8.0, 0.0, 0.0]), (2.0, 2.0), "nothing known");
        assert_eq!(of([1.0, 2.0, 0.5, 0.1]), (0.1, 0.5), "cheap writes, as a user may set them");
    }

    #[test]
    fn an_unknown_price_is_not_a_price_of_zero() {
        let usage = Usage { input: 5, output: 5, ..Usage::default() };
        assert_eq!(cost(&model([0.0; 4]), &usage), None);
        let free = Model { id: "vendor/thing:free".into(), ..Model::default() };
        assert_eq!(cost(&free, &usage), Some(Money::ZERO));
    }

    #[test]
    fn absurd_counts_do_not_overflow() {
        let usage = Usage { input: u64::MAX, output: u64::MAX, ..Usage::default() };
        assert_eq!(cost(&model([1.0, 1.0, 0.0, 0.0]), &usage), Some(Money::from_pico(i64::MAX)));
    }
}
