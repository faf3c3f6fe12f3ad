//! Writes that are made together: all of them, or none.

use base::{Entry, SessionId};
use rusqlite::Connection;

use crate::connection::Durability;
use crate::entries;
use crate::error::Fault;
use crate::pending::Pending;
use crate::store::Store;
use crate::usage::{self, UsageRow};

/// Writes for one transaction, made in the order in which they were added.
#[derive(Debug, Default)]
#[must_use = "nothing is written until it is committed"]
pub struct Batch {
    writes: Vec<Write>,
}

/// One write of a batch.
#[derive(Debug)]
enum Write {
    /// As [`Store::append`] or [`Store::append_step`].
    Append { session: SessionId, entries: Vec<Entry>, durability: Durability },
    /// As [`Store::record_usage`].
    Usage(Box<UsageRow>),
}

impl Batch {
    /// Adds what [`Store::append`] does.
    pub fn append(mut self, session: SessionId, entries: Vec<Entry>) -> Self {
        self.writes.push(Write::Append { session, entries, durability: Durability::Disk });
        self
    }

    /// Adds what [`Store::append_step`] does.
    pub fn append_step(mut self, session: SessionId, entries: Vec<Entry>) -> Self {
        self.writes.push(Write::Append { session, entries, durability: Durability::Process });
        self
    }

    /// Adds what [`Store::record_usage`] does.
    pub fn record_usage(mut self, row: UsageRow) -> Self {
        self.writes.push(Write::Usage(Box::new(row)));
        self
    }

    /// As durable as its most durable write.
    fn durability(&self) -> Durability {
        let each = self.writes.iter().map(|write| match write {
            Write::Append { durability, .. } => *durability,
            Write::Usage(_) => Durability::Process,
        });
        each.max().unwrap_or(Durability::Process)
    }
}

impl Write {
    fn run(&self, connection: &Connection) -> Result<(), Fault> {
        match self {
            Self::Append { session, entries, .. } => entries::append(connection, *session, entries),
            Self::Usage(row) => usage::insert(connection, row),
        }
    }
}

impl Store {
    /// Makes all writes of a batch, or none: they share a transaction.
    pub fn commit(&self, batch: Batch) -> Pending<()> {
        self.submit(batch.durability(), move |connection| {
            batch.writes.iter().try_for_each(|write| write.run(connection))
        })
    }
}
