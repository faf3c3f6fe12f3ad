//! Events of the mind, from before it is open on. A mind that is opened anew counts from one again; faces see
//! numbers that go on.

use agent::Coordinator;
use base::protocol::{Client, EventFilter, EventStream, Numbered};
use futures::{StreamExt, stream};
use tokio::sync::watch;

/// The minds of a process, one after the other.
pub(super) struct Generations {
    now: watch::Sender<Generation>,
}

/// One mind, and where its numbers begin.
#[derive(Clone, Default)]
struct Generation {
    mind: Option<Coordinator>,
    /// What is added to its numbers.
    offset: u64,
}

/// How far a reader is.
struct Reader {
    now: watch::Receiver<Generation>,
    filter: EventFilter,
    /// The events of the mind that is read, and what is added to their numbers.
    reading: Option<(EventStream, u64)>,
    seen: u64,
}

impl Generations {
    /// No mind yet.
    pub(super) fn new() -> Self {
        Self { now: watch::Sender::new(Generation::default()) }
    }

    /// A mind is open.
    pub(super) fn begin(&self, mind: &Coordinator) {
        self.now.send_modify(|now| now.mind = Some(mind.clone()));
    }

    /// A mind is closed, and another one may follow.
    pub(super) fn end(&self, mind: &Coordinator) {
        let newest = mind.newest_event();
        self.now.send_modify(|now| {
            now.mind = None;
            now.offset += newest;
        });
    }

    /// Every event after number `since` that passes the filter.
    pub(super) fn subscribe(&self, filter: EventFilter, since: u64) -> EventStream {
        let now = self.now.subscribe();
        let reader = Reader { now, filter, reading: None, seen: since };
        stream::unfold(reader, |mut reader| async move {
            let event = reader.next().await?;
            Some((event, reader))
        })
        .boxed()
    }
}

impl Reader {
    async fn next(&mut self) -> Option<Numbered> {
        loop {
            let Some((events, offset)) = &mut self.reading else {
                let now = self.now.wait_for(|now| now.mind.is_some()).await.ok()?.clone();
                let since = self.seen.saturating_sub(now.offset);
                self.seen = self.seen.max(now.offset);
                self.reading =
                    now.mind.map(|mind| (mind.subscribe(self.filter, since), now.offset));
                continue;
            };
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => {
                        self.seen = event.number + *offset;
                        return Some(Numbered { number: self.seen, ..event });
                    }
                    // It ends for a reader that lags, unless the mind itself has ended.
                    None if self.is_current() => return None,
                    None => self.reading = None,
                },
                changed = self.now.changed() => {
                    changed.ok()?;
                    if !self.is_current() {
                        self.reading = None;
                    }
                }
            }
        }
    }

    /// Whether the mind that is read is the one that is open.
    fn is_current(&mut self) -> bool {
        let now = self.now.borrow_and_update();
        let offset = self.reading.as_ref().map(|(_, offset)| *offset);
        now.mind.is_some() && Some(now.offset) == offset
    }
}
