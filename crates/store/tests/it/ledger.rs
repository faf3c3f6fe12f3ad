//! The ledger's sums equal a naive sum, whatever they are made by.

use std::collections::BTreeMap;

use base::{ModelRef, Money, SessionId, Timestamp, Usage};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use store::{Batch, By, CallKind, CallStatus, Store, UsageKey, UsageQuery, UsageRow, UsageSum};

use crate::support;

fn rows(sessions: Vec<SessionId>) -> impl Strategy<Value = Vec<UsageRow>> {
    let tokens = (0..1u64 << 40, 0..1u64 << 40, 0..1000u64, 0..1u64 << 40, 0..1000u64);
    let session = prop::option::of(prop::sample::select(sessions));
    let at = -10_000_000_000..2_000_000_000_000_i64;
    let model = prop::sample::select(vec!["a/x", "a/y", "b/x", "b/x/y"]);
    let cost = prop::option::of(-5..1_i64 << 50);
    let failed = prop::option::weighted(0.2, Just("rate_limit".to_owned()));
    let row = (session, at, model, tokens, cost, failed, 0..100_000_u64).prop_map(
        |(session, at, model, tokens, cost, failed, duration_ms)| UsageRow {
            session,
            at: Timestamp::from_millis(at),
            model: model.parse::<ModelRef>().unwrap(),
            kind: CallKind::Side,
            status: failed.map_or(CallStatus::Done, CallStatus::Failed),
            usage: Usage {
                input: tokens.0,
                cache_read: tokens.1,
                cache_write: tokens.2,
                output: tokens.3,
                reasoning: tokens.4,
            },
            cost: cost.map(Money::from_pico),
            duration_ms,
        },
    );
    prop::collection::vec(row, 0..40)
}

fn naive(rows: &[UsageRow], key: impl Fn(&UsageRow) -> UsageKey) -> Vec<(UsageKey, UsageSum)> {
    let mut sums: BTreeMap<UsageKey, UsageSum> = BTreeMap::new();
    for row in rows {
        sums.entry(key(row)).or_default().add(&UsageSum {
            calls: 1,
            failed: u64::from(row.status != CallStatus::Done),
            unpriced: u64::from(row.cost.is_none()),
            usage: row.usage,
            cost: row.cost.unwrap_or_default(),
            duration_ms: row.duration_ms,
        });
    }
    sums.into_iter().collect()
}

fn asked(store: &Store, by: By, since: Option<Timestamp>) -> Vec<(UsageKey, UsageSum)> {
    store.usage(UsageQuery { by, since, session: None }).wait().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_equal_a_naive_sum(rows in rows(vec![SessionId::new(), SessionId::new()]), since in 0..2_000_000_000_000_i64) {
        let store = Store::in_memory().unwrap();
        for row in &rows {
            store.record_usage(row.clone()).wait().unwrap();
        }
        let zone = TimeZone::get("Asia/Kathmandu").unwrap_or(TimeZone::fixed(jiff::tz::offset(-7)));
        let day = |row: &UsageRow| {
            let at = jiff::Timestamp::from_millisecond(row.at.as_millis()).unwrap();
            UsageKey::Day(zone.to_datetime(at).date())
        };
        prop_assert_eq!(asked(&store, By::All, None), naive(&rows, |_| UsageKey::All));
        prop_assert_eq!(asked(&store, By::Session, None), naive(&rows, |row| UsageKey::Session(row.session)));
        prop_assert_eq!(asked(&store, By::Model, None), naive(&rows, |row| UsageKey::Model(row.model.clone())));
        prop_assert_eq!(asked(&store, By::Provider, None), naive(&rows, |row| UsageKey::Provider(row.model.provider.clone())));
        prop_assert_eq!(asked(&store, By::Day(zone.clone()), None), naive(&rows, day));
        let since = Timestamp::from_millis(since);
        let late: Vec<_> = rows.into_iter().filter(|row| row.at >= since).collect();
        prop_assert_eq!(asked(&store, By::Model, Some(since)), naive(&late, |row| UsageKey::Model(row.model.clone())));
    }
}

#[test]
fn a_session_shows_what_it_cost_and_the_ledger_outlives_it() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    for cost in [Some(Money::from_pico(1)), Some(Money::from_pico(2)), None] {
        let row = UsageRow {
            session: Some(session),
            at: Timestamp::from_millis(1),
            model: ModelRef::new("a", "x"),
            kind: CallKind::Main,
            status: CallStatus::Done,
            usage: Usage { input: 7, output: 11, ..Usage::default() },
            cost,
            duration_ms: 5,
        };
        store.record_usage(row).wait().unwrap();
    }
    let summary = store.session(session).wait().unwrap().summary;
    assert_eq!((summary.usage.input, summary.usage.output), (21, 33));
    assert_eq!(summary.cost, Money::from_pico(3));
    store.delete(session).wait().unwrap();
    let sums = asked(&store, By::Session, None);
    assert_eq!(sums.len(), 1);
    assert_eq!((sums[0].0.clone(), sums[0].1.calls), (UsageKey::Session(Some(session)), 3));
}

#[test]
fn a_count_that_does_not_fit_is_refused_not_bent() {
    let store = Store::in_memory().unwrap();
    let row = UsageRow {
        session: None,
        at: Timestamp::from_millis(1),
        model: ModelRef::new("a", "x"),
        kind: CallKind::Title,
        status: CallStatus::Failed("server".into()),
        usage: Usage { input: u64::MAX, ..Usage::default() },
        cost: None,
        duration_ms: 0,
    };
    assert!(store.record_usage(row).wait().is_err());
    assert!(asked(&store, By::All, None).is_empty());
}

#[test]
fn a_batch_is_written_whole_or_not_at_all() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let calls = |store: &Store| asked(store, By::All, None).first().map_or(0, |(_, sum)| sum.calls);

    let stranger = support::user(Some(base::EntryId::new()), "below nothing");
    let batch =
        Batch::default().record_usage(support::paid(session, 5)).append(session, vec![stranger]);
    assert!(store.commit(batch).wait().is_err());
    assert_eq!(calls(&store), 0, "the ledger has a call whose entry was refused");

    let entry = support::user(None, "first");
    let batch = Batch::default()
        .record_usage(support::paid(session, 5))
        .append_step(session, vec![entry.clone()]);
    store.commit(batch).wait().unwrap();
    assert_eq!(calls(&store), 1);
    assert_eq!(store.branch(session).wait().unwrap(), [entry]);
}
