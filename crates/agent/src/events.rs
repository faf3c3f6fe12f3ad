//! The events clients see: numbered, kept in memory bounded in bytes. The engine never waits for a reader.
//!
//! Each session has a ring of its own, so that a busy session does not push out the events of a quiet one.
//! Numbers count over all sessions, so that one number says where any reader stands; `sequence` counts
//! within a session, so that a reader of one session can tell that nothing is missing.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};

use base::protocol::{EventFilter, EventStream, Numbered};
use base::{Event, SessionId};
use futures::StreamExt;
use futures::stream;
use tokio::sync::watch;

use crate::live::lock;

/// Bytes kept per session for a reader that lags: minutes of streamed text, and a few screenshots.
const SESSION_BYTES: usize = 4 << 20;
/// Bytes kept for all sessions together. Beyond it the session that published longest ago loses its events.
const TOTAL_BYTES: usize = 64 << 20;
/// What an event costs besides its text, by measure of `size_of` and the allocator.
const EVENT_BYTES: usize = 256;

/// The numbered events of a process. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    rings: Mutex<Rings>,
    newest: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Rings {
    /// By session; `None` holds what concerns all of them.
    by_session: HashMap<Option<SessionId>, Ring>,
    /// The top session of each sub-agent's session.
    roots: HashMap<SessionId, SessionId>,
    /// Rings by their newest event, oldest first.
    by_age: BTreeMap<u64, Option<SessionId>>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Ring {
    kept: VecDeque<(Arc<Numbered>, usize)>,
    bytes: usize,
    /// The number of the newest event that was dropped.
    dropped: u64,
    /// The number of the newest event.
    newest: u64,
    /// How many events the session has published.
    sequence: u64,
}

impl Events {
    /// No events yet; the first has number 1.
    pub(crate) fn new() -> Self {
        let (newest, _) = watch::channel(0);
        Self { shared: Arc::new(Shared { rings: Mutex::default(), newest }) }
    }

    /// Makes a sub-agent's session known as a member of the family of `root`.
    pub(crate) fn adopt(&self, child: SessionId, root: SessionId) {
        lock(&self.shared.rings).roots.insert(child, root);
    }

    /// The top session of the family of a session that is or was open.
    pub(crate) fn root(&self, session: SessionId) -> Option<SessionId> {
        lock(&self.shared.rings).roots.get(&session).copied()
    }

    /// Drops what is kept of a deleted session.
    pub(crate) fn forget(&self, session: SessionId) {
        let mut rings = lock(&self.shared.rings);
        rings.empty(Some(session));
        rings.by_session.remove(&Some(session));
        rings.roots.remove(&session);
    }

    /// Numbers an event and lets every reader see it.
    pub(crate) fn publish(&self, event: Event) {
        let size = size_of_event(&event);
        let mut rings = lock(&self.shared.rings);
        let number = *self.shared.newest.borrow() + 1;
        rings.push(number, event, size);
        self.shared.newest.send_replace(number);
    }

    /// The number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        *self.shared.newest.borrow()
    }

    /// Every event after `since` that passes the filter; the stream ends when some of them are no longer
    /// kept, or with the last publisher.
    pub(crate) fn since(&self, filter: EventFilter, since: u64) -> EventStream {
        let news = self.shared.newest.subscribe();
        let shared = Arc::downgrade(&self.shared);
        let batches = stream::unfold(
            (shared, news, filter, since),
            |(shared, mut news, filter, seen)| async move {
                loop {
                    // Held only for the look, so that a waiting reader does not keep the engine alive.
                    let batch = shared.upgrade()?.after(filter, seen)?;
                    if let Some(last) = batch.last() {
                        let seen = last.number;
                        let owned = batch.into_iter().map(|event| (*event).clone());
                        let owned = stream::iter(owned.collect::<Vec<_>>());
                        return Some((owned, (shared, news, filter, seen)));
                    }
                    news.changed().await.ok()?;
                }
            },
        );
        batches.flatten().boxed()
    }

    /// Bytes that are kept.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        lock(&self.shared.rings).bytes
    }
}

impl Shared {
    /// Everything kept after `seen`; `None` if some of it is no longer kept.
    fn after(&self, filter: EventFilter, seen: u64) -> Option<Vec<Arc<Numbered>>> {
        let rings = lock(&self.rings);
        let mut batch = Vec::new();
        for (session, ring) in &rings.by_session {
            let passes = session.is_none_or(|session| rings.passes(filter, session));
            if !passes || ring.newest <= seen {
                continue;
            }
            if seen < ring.dropped {
                return None;
            }
            let first = ring.kept.partition_point(|(event, _)| event.number <= seen);
            batch.extend(ring.kept.range(first..).map(|(event, _)| event.clone()));
        }
        batch.sort_unstable_by_key(|event| event.number);
        Some(batch)
    }
}

impl Rings {
    fn push(&mut self, number: u64, event: Event, size: usize) {
        let session = event.session();
        let root = session.map(|session| self.roots.get(&session).copied().unwrap_or(session));
        let ring = self.by_session.entry(session).or_default();
        self.by_age.remove(&ring.newest);
        self.by_age.insert(number, session);
        ring.newest = number;
        ring.sequence += 1;
        let event = Numbered { number, sequence: ring.sequence, root, event };
        ring.kept.push_back((Arc::new(event), size));
        ring.bytes += size;
        self.bytes += size;
        while ring.bytes > SESSION_BYTES {
            let Some((event, size)) = ring.kept.pop_front() else { break };
            ring.dropped = event.number;
            ring.bytes -= size;
            self.bytes -= size;
        }
        while self.bytes > TOTAL_BYTES {
            let Some((_, oldest)) = self.by_age.first_key_value() else { break };
            let oldest = *oldest;
            self.empty(oldest);
        }
    }

    /// Drops the events of a session; its readers are told by `dropped`.
    fn empty(&mut self, session: Option<SessionId>) {
        let Some(ring) = self.by_session.get_mut(&session) else { return };
        self.by_age.remove(&ring.newest);
        self.bytes -= ring.bytes;
        ring.bytes = 0;
        ring.kept = VecDeque::new();
        ring.dropped = ring.newest;
    }

    fn passes(&self, filter: EventFilter, session: SessionId) -> bool {
        match filter {
            EventFilter::All => true,
            EventFilter::Session(wanted) => session == wanted,
            EventFilter::Family(root) => session == root || self.roots.get(&session) == Some(&root),
        }
    }
}

/// About how many bytes an event takes.
fn size_of_event(event: &Event) -> usize {
    // Streamed text is most of all events, and needs no counting.
    if let Event::Text { delta, .. } | Event::Reasoning { delta, .. } = event {
        return EVENT_BYTES + delta.len();
    }
    let mut counted = CountedBytes(0);
    // A sink that cannot fail; an event that cannot be written is counted as far as it can.
    drop(serde_json::to_writer(&mut counted, event));
    EVENT_BYTES + counted.0
}

struct CountedBytes(usize);

impl io::Write for CountedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use base::EntryId;

    use super::*;

    fn notice(session: Option<SessionId>) -> Event {
        Event::Notice { session, text: "x".to_owned() }
    }

    fn text(session: SessionId, bytes: usize) -> Event {
        Event::Text { session, entry: EntryId::new(), delta: "x".repeat(bytes) }
    }

    async fn numbers(events: &Events, filter: EventFilter, since: u64, take: usize) -> Vec<u64> {
        events.since(filter, since).take(take).map(|event| event.number).collect().await
    }

    #[tokio::test]
    async fn a_reader_gets_what_it_missed_and_what_comes() {
        let events = Events::new();
        events.publish(notice(None));
        events.publish(notice(Some(SessionId::new())));
        assert_eq!(numbers(&events, EventFilter::All, 0, 2).await, [1, 2]);
        assert_eq!(numbers(&events, EventFilter::All, 1, 1).await, [2]);
        let mut later = events.since(EventFilter::All, 2);
        events.publish(notice(None));
        assert_eq!(later.next().await.map(|event| event.number), Some(3));
    }

    #[tokio::test]
    async fn a_filter_passes_a_session_or_its_family_and_what_concerns_all() {
        let (events, root, child, other) =
            (Events::new(), SessionId::new(), SessionId::new(), SessionId::new());
        events.adopt(child, root);
        for session in [Some(root), Some(other), Some(child), None, Some(root)] {
            events.publish(notice(session));
        }
        assert_eq!(numbers(&events, EventFilter::Session(root), 0, 3).await, [1, 4, 5]);
        assert_eq!(numbers(&events, EventFilter::Family(root), 0, 4).await, [1, 3, 4, 5]);
        let all: Vec<_> = events.since(EventFilter::All, 0).take(5).collect().await;
        let roots: Vec<_> = all.iter().map(|event| event.root).collect();
        assert_eq!(roots, [Some(root), Some(other), Some(root), None, Some(root)]);
        let sequences: Vec<_> = all.iter().map(|event| event.sequence).collect();
        assert_eq!(sequences, [1, 1, 1, 1, 2]);
    }

    #[tokio::test]
    async fn a_reader_that_lags_too_far_meets_the_end_and_resumes_later() {
        let (events, busy, quiet) = (Events::new(), SessionId::new(), SessionId::new());
        events.publish(notice(Some(quiet)));
        for _ in 0..5 {
            events.publish(text(busy, 1 << 20));
        }
        assert!(events.since(EventFilter::All, 0).next().await.is_none());
        assert!(events.since(EventFilter::Session(busy), 0).next().await.is_none());
        assert_eq!(numbers(&events, EventFilter::All, 3, 3).await, [4, 5, 6]);
        let kept = numbers(&events, EventFilter::Session(quiet), 0, 1).await;
        assert_eq!(kept, [1], "a busy session does not push out a quiet one");
    }

    #[tokio::test]
    async fn what_is_kept_is_bounded_in_bytes() {
        let events = Events::new();
        let sessions: Vec<SessionId> = (0..40).map(|_| SessionId::new()).collect();
        for round in 0..8 {
            for session in &sessions {
                events.publish(text(*session, 700_000));
                assert!(events.bytes() <= TOTAL_BYTES, "{round}");
            }
        }
        assert!(events.bytes() > TOTAL_BYTES / 2);
        assert!(events.since(EventFilter::All, 0).next().await.is_none());
        let newest = events.newest();
        assert_eq!(numbers(&events, EventFilter::All, newest - 1, 1).await, [newest]);
    }

    #[tokio::test]
    async fn the_stream_ends_with_the_last_publisher() {
        let events = Events::new();
        let mut stream = events.since(EventFilter::All, 0);
        drop(events);
        assert!(stream.next().await.is_none());
    }
}
