//! The ledger: what every model call used and cost, and exact sums over it.

use std::collections::{BTreeMap, HashMap};

use base::protocol::Paid;
use base::{ModelRef, Money, SessionId, Timestamp, Usage};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rusqlite::{Connection, Row, named_params};

use crate::entries::encode;
use crate::error::Fault;
use crate::pending::Pending;
use crate::store::Store;

/// Offsets of time zones are whole minutes: calls of one minute are always of one local day.
const MINUTE_MS: i64 = 60_000;

/// One model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// For which session; none when it was for no session.
    pub session: Option<SessionId>,
    /// When it ended.
    pub at: Timestamp,
    /// Which model was asked.
    pub model: ModelRef,
    /// What it was for.
    pub kind: CallKind,
    /// How it ended.
    pub status: CallStatus,
    /// Tokens; a failed call may have used some.
    pub usage: Usage,
    /// Money; none where the price is unknown.
    pub cost: Option<Money>,
    /// How long it took.
    pub duration_ms: u64,
}

/// What a model call was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// The conversation itself.
    Main,
    /// Naming a session.
    Title,
    /// Summarising what no longer fits.
    Summary,
    /// Anything else on the side.
    Side,
}

impl CallKind {
    /// The name the ledger uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Title => "title",
            Self::Summary => "summary",
            Self::Side => "side",
        }
    }
}

/// How a model call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStatus {
    /// It worked.
    Done,
    /// It failed, with this class of failure.
    Failed(String),
}

/// What sums are made by.
#[derive(Debug, Clone)]
pub enum By {
    /// One sum over everything.
    All,
    /// A sum a session.
    Session,
    /// A sum a model.
    Model,
    /// A sum a provider.
    Provider,
    /// A sum a day, as days are counted in this time zone.
    Day(TimeZone),
}

/// Which calls to sum, and how.
#[derive(Debug, Clone)]
pub struct UsageQuery {
    /// By what.
    pub by: By,
    /// Only calls at or after this moment.
    pub since: Option<Timestamp>,
    /// Only calls of this session and its sub-agents.
    pub session: Option<SessionId>,
}

/// What a sum is of. Sums are sorted by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageKey {
    /// Everything.
    All,
    /// A session; none for calls outside any.
    Session(Option<SessionId>),
    /// A model.
    Model(ModelRef),
    /// A provider.
    Provider(String),
    /// A local day.
    Day(Date),
}

/// An exact sum over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// How many calls, failed ones included.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many have no known price.
    pub unpriced: u64,
    /// Tokens.
    pub usage: Usage,
    /// Money of the calls with a known price.
    pub cost: Money,
    /// How long they took together.
    pub duration_ms: u64,
}

impl UsageSum {
    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.unpriced += other.unpriced;
        self.usage += other.usage;
        self.cost += other.cost;
        self.duration_ms += other.duration_ms;
    }
}

impl Store {
    /// Writes a model call into the ledger. Safe from the end of the process at once, from a power cut with
    /// the next entry that is.
    pub fn record_usage(&self, row: UsageRow) -> Pending<()> {
        self.jot(move |connection| insert(connection, &row))
    }

    /// The calls of a session and its sub-agents between two moments, oldest first; those for titles are left
    /// out.
    pub fn paid(
        &self,
        session: SessionId,
        since: Timestamp,
        until: Timestamp,
    ) -> Pending<Vec<Paid>> {
        self.read(move |connection| paid(connection, session, (since, until)))
    }

    /// Sums over the ledger, sorted by key.
    pub fn usage(&self, query: UsageQuery) -> Pending<Vec<(UsageKey, UsageSum)>> {
        self.read(move |connection| sums(connection, &query))
    }
}

/// A session and all sub-agents below it, as the table `family`.
pub(crate) const FAMILY: &str = "WITH RECURSIVE family(id) AS (VALUES (:root) UNION
    SELECT sessions.id FROM sessions JOIN family ON sessions.parent = family.id)";

/// Tokens and money of sessions, each with its sub-agents; a session without calls is not in it.
pub(crate) fn of_sessions(
    connection: &Connection,
    sessions: &[SessionId],
) -> Result<HashMap<SessionId, (Usage, Money)>, Fault> {
    let ids: Vec<String> = sessions.iter().map(|id| id.to_string().replace('-', "")).collect();
    let ids = encode("ids of sessions", &ids)?;
    let sql = format!(
        "WITH RECURSIVE family (root, id) AS (
             SELECT unhex(value), unhex(value) FROM json_each(:ids)
             UNION
             SELECT family.root, sessions.id FROM family JOIN sessions ON sessions.parent = family.id)
         SELECT {SUMS}, root FROM family JOIN usage ON usage.session = family.id GROUP BY root"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(named_params! { ":ids": ids }, |row| {
        let sum = sum(row)?;
        Ok((SessionId::from_bytes(row.get(KEY)?), (sum.usage, sum.cost)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn paid(
    connection: &Connection,
    session: SessionId,
    (since, until): (Timestamp, Timestamp),
) -> Result<Vec<Paid>, Fault> {
    let sql = format!(
        "{FAMILY} SELECT at, input, cache_read, cache_write, output, reasoning, cost_pico FROM usage
         WHERE session IN (SELECT id FROM family) AND at BETWEEN :since AND :until AND kind <> :title
         ORDER BY seq"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let named = named_params! {
        ":root": session.as_bytes(),
        ":since": since.as_millis(),
        ":until": until.as_millis(),
        ":title": CallKind::Title.as_str(),
    };
    let rows = statement.query_map(named, |row| {
        let number = |at| unsigned(row, at);
        Ok(Paid {
            at: Timestamp::from_millis(row.get(0)?),
            usage: Usage {
                input: number(1)?,
                cache_read: number(2)?,
                cache_write: number(3)?,
                output: number(4)?,
                reasoning: number(5)?,
            },
            cost: row.get::<_, Option<i64>>(6)?.map(Money::from_pico),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn insert(connection: &Connection, row: &UsageRow) -> Result<(), Fault> {
    let failure = match &row.status {
        CallStatus::Done => None,
        CallStatus::Failed(class) => Some(class),
    };
    let mut insert = connection.prepare_cached(
        "INSERT INTO usage (session, at, provider, model, kind, failure, input, cache_read,
             cache_write, output, reasoning, cost_pico, duration_ms)
         VALUES (:session, :at, :provider, :model, :kind, :failure, :input, :cache_read,
             :cache_write, :output, :reasoning, :cost, :duration)",
    )?;
    insert.execute(named_params! {
        ":session": row.session.as_ref().map(SessionId::as_bytes),
        ":at": row.at.as_millis(),
        ":provider": row.model.provider,
        ":model": row.model.model,
        ":kind": row.kind.as_str(),
        ":failure": failure,
        ":input": signed(row.usage.input)?,
        ":cache_read": signed(row.usage.cache_read)?,
        ":cache_write": signed(row.usage.cache_write)?,
        ":output": signed(row.usage.output)?,
        ":reasoning": signed(row.usage.reasoning)?,
        ":cost": row.cost.map(Money::as_pico),
        ":duration": signed(row.duration_ms)?,
    })?;
    Ok(())
}

/// The columns of [`sum`].
const SUMS: &str = "count(*), count(failure), sum(cost_pico IS NULL), sum(input), sum(cache_read),
    sum(cache_write), sum(output), sum(reasoning), sum(cost_pico), sum(duration_ms)";
/// How many columns [`SUMS`] has; the key's come after them.
const KEY: usize = 10;

fn sum(row: &Row<'_>) -> rusqlite::Result<UsageSum> {
    let number = |at| unsigned(row, at);
    Ok(UsageSum {
        calls: number(0)?,
        failed: number(1)?,
        unpriced: number(2)?,
        usage: Usage {
            input: number(3)?,
            cache_read: number(4)?,
            cache_write: number(5)?,
            output: number(6)?,
            reasoning: number(7)?,
        },
        cost: Money::from_pico(row.get::<_, Option<i64>>(8)?.unwrap_or(0)),
        duration_ms: number(9)?,
    })
}

/// SQLite's integers are signed; a count too large for one is refused rather than bent.
fn signed(count: u64) -> rusqlite::Result<i64> {
    i64::try_from(count).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// Reads a count; a sum over no rows is NULL and counts as zero.
pub(crate) fn unsigned(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    let count: i64 = row.get::<_, Option<i64>>(at)?.unwrap_or(0);
    u64::try_from(count).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, count))
}

fn sums(connection: &Connection, query: &UsageQuery) -> Result<Vec<(UsageKey, UsageSum)>, Fault> {
    let columns = match query.by {
        By::All => "'all'".to_owned(),
        By::Session => "session".to_owned(),
        By::Model => "provider, model".to_owned(),
        By::Provider => "provider".to_owned(),
        // Rounds down, also before 1970.
        By::Day(_) => format!("(at - ((at % {MINUTE_MS}) + {MINUTE_MS}) % {MINUTE_MS})"),
    };
    let sql = format!(
        "{FAMILY} SELECT {SUMS}, {columns} FROM usage
         WHERE (:since IS NULL OR at >= :since)
           AND (:root IS NULL OR session IN (SELECT id FROM family))
         GROUP BY {columns}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(named_params! {
        ":since": query.since.map(Timestamp::as_millis),
        ":root": query.session.as_ref().map(SessionId::as_bytes),
    })?;
    let mut sums: BTreeMap<UsageKey, UsageSum> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        sums.entry(key(row, &query.by)?).or_default().add(&sum(row)?);
    }
    Ok(sums.into_iter().collect())
}

fn key(row: &Row<'_>, by: &By) -> rusqlite::Result<UsageKey> {
    Ok(match by {
        By::All => UsageKey::All,
        By::Session => {
            let session: Option<[u8; 16]> = row.get(KEY)?;
            UsageKey::Session(session.map(SessionId::from_bytes))
        }
        By::Model => UsageKey::Model(ModelRef::new(
            row.get::<_, String>(KEY)?,
            row.get::<_, String>(KEY + 1)?,
        )),
        By::Provider => UsageKey::Provider(row.get(KEY)?),
        By::Day(zone) => UsageKey::Day(day(row.get(KEY)?, zone)),
    })
}

fn day(at_ms: i64, zone: &TimeZone) -> Date {
    // A clock beyond the year 9999 counts as the epoch rather than failing every sum.
    let at = jiff::Timestamp::from_millisecond(at_ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    zone.to_datetime(at).date()
}
