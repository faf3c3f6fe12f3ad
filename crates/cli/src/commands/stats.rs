//! `caiman stats`: what models were used for, and what it cost, from the ledger.

use std::collections::HashMap;

use base::{SessionId, Timestamp};
use clap::ValueEnum;
use jiff::ToSpan as _;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use store::{By, SessionFilter, Store, UsageKey, UsageQuery, UsageSum};

use super::session::text;
use crate::app::App;
use crate::database::{self, explain};
use crate::failure::Failure;
use crate::render;

/// `caiman stats`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What sums are made by.
    #[arg(long, value_enum, default_value_t = Grouping::Day)]
    by: Grouping,
    /// Only the last N days, today included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    days: Option<u16>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What sums are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grouping {
    /// Days of the local calendar.
    Day,
    /// Models.
    Model,
    /// Sessions.
    Session,
    /// Providers.
    Provider,
}

impl Grouping {
    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Model => "model",
            Self::Session => "session",
            Self::Provider => "provider",
        }
    }
}

/// Sums, ready to be printed.
struct Report {
    by: Grouping,
    since: Option<Timestamp>,
    rows: Vec<(UsageKey, UsageSum)>,
    titles: HashMap<SessionId, String>,
    short_ids: HashMap<SessionId, String>,
}

/// A column of counts.
struct Count {
    heading: &'static str,
    of: fn(&UsageSum) -> u64,
    /// Shown even if it is all zeros.
    always: bool,
}

const COUNTS: [Count; 7] = [
    Count { heading: "CALLS", of: |sum| sum.calls, always: true },
    Count { heading: "FAILED", of: |sum| sum.failed, always: false },
    Count { heading: "INPUT", of: |sum| sum.usage.input, always: true },
    Count { heading: "CACHE READ", of: |sum| sum.usage.cache_read, always: false },
    Count { heading: "CACHE WRITE", of: |sum| sum.usage.cache_write, always: false },
    Count { heading: "OUTPUT", of: |sum| sum.usage.output, always: true },
    Count { heading: "REASONING", of: |sum| sum.usage.reasoning, always: false },
];

/// Runs `caiman stats`.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let zone = TimeZone::system();
    let since = args.days.map(|days| first_moment(app.clock.now(), days, &zone)).transpose()?;
    let report = match database::open_existing(app)? {
        Some(store) => Report::of(&store, args.by, since, zone)?,
        None => Report {
            by: args.by,
            since,
            rows: Vec::new(),
            titles: HashMap::new(),
            short_ids: HashMap::new(),
        },
    };
    if args.json {
        return render::json(&report.json());
    }
    if report.rows.is_empty() {
        render::note("No model has been called yet, or not in these days.");
        return Ok(());
    }
    render::out(&report.text())
}

impl Report {
    fn of(
        store: &Store,
        grouping: Grouping,
        since: Option<Timestamp>,
        zone: TimeZone,
    ) -> Result<Self, Failure> {
        let by = match grouping {
            Grouping::Day => By::Day(zone),
            Grouping::Model => By::Model,
            Grouping::Session => By::Session,
            Grouping::Provider => By::Provider,
        };
        let query = UsageQuery { by, since, session: None };
        let rows = store.usage(query).wait().map_err(explain)?;
        let (titles, short_ids) = match grouping {
            Grouping::Session => (titles(store)?, short_ids(store, &rows)?),
            Grouping::Day | Grouping::Model | Grouping::Provider => Default::default(),
        };
        Ok(Self { by: grouping, since, rows, titles, short_ids })
    }

    fn total(&self) -> UsageSum {
        let mut total = UsageSum::default();
        self.rows.iter().for_each(|(_, sum)| total.add(sum));
        total
    }

    fn text(&self) -> String {
        let total = self.total();
        // A column of nothing but zeros tells nothing and costs width.
        let counts: Vec<&Count> =
            COUNTS.iter().filter(|count| count.always || (count.of)(&total) > 0).collect();
        let heading = self.by.name().to_uppercase();
        let mut head = vec![heading.as_str()];
        head.extend(counts.iter().map(|count| count.heading));
        head.push("COST");
        let cells = |label: String, sum: &UsageSum| {
            let mut cells = vec![label];
            cells.extend(counts.iter().map(|count| (count.of)(sum).to_string()));
            cells.push(sum.cost.to_string());
            cells
        };
        let mut rows: Vec<Vec<String>> =
            self.rows.iter().map(|(key, sum)| cells(self.label(key), sum)).collect();
        rows.push(cells("total".to_owned(), &total));
        let mut out = text::table(&head, &rows, 1);
        let unpriced = match total.unpriced {
            0 => return out,
            1 => "1 call has no known price and is not in the cost.\n".to_owned(),
            many => format!("{many} calls have no known price and are not in the cost.\n"),
        };
        out.push_str(&unpriced);
        out
    }

    fn label(&self, key: &UsageKey) -> String {
        match key {
            UsageKey::All => "all".to_owned(),
            UsageKey::Session(None) => "(no session)".to_owned(),
            UsageKey::Session(Some(id)) => {
                let title = self.titles.get(id).map_or("(deleted or sub-agent)", String::as_str);
                let id = self.short_ids.get(id).cloned().unwrap_or_else(|| id.to_string());
                format!("{id}  {}", text::short(title, 30))
            }
            UsageKey::Model(model) => text::line(&model.to_string()),
            UsageKey::Provider(provider) => text::line(provider),
            UsageKey::Day(day) => day.to_string(),
        }
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|(key, sum)| self.row(key, sum)).collect();
        json!({
            "by": self.by.name(),
            "since": self.since,
            "rows": rows,
            "total": fields(&self.total()),
        })
    }

    fn row(&self, key: &UsageKey, sum: &UsageSum) -> Value {
        let mut row = Map::new();
        let name = match key {
            UsageKey::All => json!("all"),
            UsageKey::Session(id) => json!(id),
            UsageKey::Model(model) => json!(model.to_string()),
            UsageKey::Provider(provider) => json!(provider),
            UsageKey::Day(day) => json!(day.to_string()),
        };
        row.insert(self.by.name().to_owned(), name);
        if let UsageKey::Session(Some(id)) = key {
            row.insert("title".to_owned(), json!(self.titles.get(id)));
        }
        row.extend(fields(sum));
        Value::Object(row)
    }
}

fn titles(store: &Store) -> Result<HashMap<SessionId, String>, Failure> {
    let sessions = store.sessions(SessionFilter::default()).wait().map_err(explain)?;
    Ok(sessions.into_iter().filter_map(|session| Some((session.id, session.title?))).collect())
}

fn short_ids(
    store: &Store,
    rows: &[(UsageKey, UsageSum)],
) -> Result<HashMap<SessionId, String>, Failure> {
    let id = |(key, _): &(UsageKey, UsageSum)| match key {
        UsageKey::Session(id) => *id,
        UsageKey::All | UsageKey::Model(_) | UsageKey::Provider(_) | UsageKey::Day(_) => None,
    };
    let ids: Vec<SessionId> = rows.iter().filter_map(id).collect();
    let digits = store.distinct_digits(ids.clone()).wait().map_err(explain)?;
    Ok(ids.into_iter().zip(digits).map(|(id, digits)| (id, text::short_id(id, digits))).collect())
}

fn fields(sum: &UsageSum) -> Map<String, Value> {
    let pairs = [
        ("calls", json!(sum.calls)),
        ("failed", json!(sum.failed)),
        ("unpriced", json!(sum.unpriced)),
        ("input", json!(sum.usage.input)),
        ("cache_read", json!(sum.usage.cache_read)),
        ("cache_write", json!(sum.usage.cache_write)),
        ("output", json!(sum.usage.output)),
        ("reasoning", json!(sum.usage.reasoning)),
        ("cost_pico", json!(sum.cost)),
        ("cost_usd", json!(sum.cost.as_dollars())),
        ("duration_ms", json!(sum.duration_ms)),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// When the first of the last `days` local days began.
fn first_moment(now: Timestamp, days: u16, zone: &TimeZone) -> Result<Timestamp, Failure> {
    let moment = || {
        let today = jiff::Timestamp::from_millisecond(now.as_millis())?.to_zoned(zone.clone());
        let first = today.date().checked_sub((i64::from(days) - 1).days())?;
        Ok::<_, jiff::Error>(first.to_zoned(zone.clone())?.timestamp().as_millisecond())
    };
    let failed = |error| Failure::user(format!("cannot count {days} days back: {error}"));
    moment().map(Timestamp::from_millis).map_err(failed)
}

#[cfg(test)]
mod tests {
    use base::{ModelRef, Money, Usage};
    use store::{CallKind, CallStatus, UsageRow};

    use super::*;

    /// The first of November 2026, noon UTC.
    const NOON_MS: i64 = 1_793_534_400_000;
    const DAY_MS: i64 = 86_400_000;

    fn store() -> Store {
        let store = Store::in_memory().unwrap();
        let calls = [
            (NOON_MS, "a/x", CallStatus::Done, Some(1_500_000_000_000)),
            (NOON_MS + DAY_MS, "a/x", CallStatus::Failed("server".into()), Some(1)),
            (NOON_MS + DAY_MS, "b/y", CallStatus::Done, None),
        ];
        for (at, model, status, cost) in calls {
            let row = UsageRow {
                session: None,
                at: Timestamp::from_millis(at),
                model: model.parse::<ModelRef>().unwrap(),
                kind: CallKind::Main,
                status,
                usage: Usage { input: 10, cache_read: 20, output: 5, ..Usage::default() },
                cost: cost.map(Money::from_pico),
                duration_ms: 7,
            };
            store.record_usage(row).wait().unwrap();
        }
        store
    }

    fn report(by: Grouping, since: Option<Timestamp>) -> Report {
        Report::of(&store(), by, since, TimeZone::UTC).unwrap()
    }

    #[test]
    fn the_table_adds_up_and_says_what_it_cannot_price() {
        let text = report(Grouping::Day, None).text();
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["2026-11-01", "1", "0", "10", "20", "5", "$1.50"]);
        assert_eq!(rows[2][..3], ["2026-11-02", "2", "1"]);
        assert_eq!(rows[3], ["total", "3", "1", "30", "60", "15", "$1.50"]);
        assert!(!text.contains("CACHE WRITE") && !text.contains("REASONING"), "{text}");
        assert!(text.ends_with("1 call has no known price and is not in the cost.\n"), "{text}");
    }

    #[test]
    fn json_sums_are_exact_to_the_picodollar() {
        let json = report(Grouping::Model, None).json();
        assert_eq!(json["rows"][0]["model"], "a/x");
        assert_eq!(json["rows"][0]["cost_pico"], 1_500_000_000_001_i64);
        assert_eq!((&json["rows"][1]["unpriced"], &json["total"]["calls"]), (&json!(1), &json!(3)));
        assert_eq!(report(Grouping::Provider, None).json()["rows"][1]["provider"], "b");
        assert_eq!(report(Grouping::Session, None).json()["rows"][0]["session"], Value::Null);
    }

    #[test]
    fn days_are_counted_back_from_today_on_the_local_calendar() {
        let zone = TimeZone::fixed(jiff::tz::offset(13));
        let first = |days| first_moment(Timestamp::from_millis(NOON_MS), days, &zone).unwrap();
        // Noon UTC is one in the morning of the second of November there.
        assert_eq!(first(1).as_millis(), NOON_MS - 3_600_000);
        assert_eq!(first(2).as_millis(), NOON_MS - 3_600_000 - DAY_MS);
        let today = Some(Timestamp::from_millis(NOON_MS + 1));
        assert_eq!(report(Grouping::Day, today).rows.len(), 1);
    }
}
