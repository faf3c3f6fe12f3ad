//! What faces see: events, numbered, in a bounded memory. The mind never waits for a face.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use base::Event;
use base::protocol::{EventStream, Numbered};
use futures::StreamExt;
use futures::stream;
use tokio::sync::watch;

/// Events kept for a face that lags; about a screenful of streamed words every second for minutes.
const KEPT: usize = 8192;

/// The numbered events of a process. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    kept: Mutex<VecDeque<Numbered>>,
    newest: watch::Sender<u64>,
}

impl Events {
    /// No events yet; the first has number 1.
    pub(crate) fn new() -> Self {
        let (newest, _) = watch::channel(0);
        Self { shared: Arc::new(Shared { kept: Mutex::default(), newest }) }
    }

    /// Numbers an event and lets every face see it.
    pub(crate) fn publish(&self, event: Event) {
        let mut kept = self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *self.shared.newest.borrow() + 1;
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Numbered { number, event });
        self.shared.newest.send_replace(number);
    }

    /// The number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        *self.shared.newest.borrow()
    }

    /// Every event after `since`; the stream ends when the reader has fallen too far behind, or with the
    /// last publisher.
    pub(crate) fn since(&self, since: u64) -> EventStream {
        let news = self.shared.newest.subscribe();
        let shared = Arc::downgrade(&self.shared);
        let batches =
            stream::unfold((shared, news, since), |(shared, mut news, seen)| async move {
                loop {
                    // Held only for the look, so that a waiting reader does not keep the mind alive.
                    let batch = shared.upgrade()?.after(seen)?;
                    if let Some(last) = batch.last() {
                        let seen = last.number;
                        return Some((stream::iter(batch), (shared, news, seen)));
                    }
                    news.changed().await.ok()?;
                }
            });
        batches.flatten().boxed()
    }
}

impl Shared {
    /// Everything kept after `seen`; none if some of it is no longer kept.
    fn after(&self, seen: u64) -> Option<Vec<Numbered>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = kept.front().map(|event| event.number) else { return Some(Vec::new()) };
        let skip = usize::try_from((seen + 1).checked_sub(first)?).unwrap_or(usize::MAX);
        Some(kept.iter().skip(skip).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(text: &str) -> Event {
        Event::Notice { session: None, text: text.to_owned() }
    }

    async fn numbers(events: &Events, since: u64, take: usize) -> Vec<u64> {
        events.since(since).take(take).map(|event| event.number).collect().await
    }

    #[tokio::test]
    async fn a_reader_gets_what_it_missed_and_what_comes() {
        let events = Events::new();
        events.publish(notice("a"));
        events.publish(notice("b"));
        assert_eq!(numbers(&events, 0, 2).await, [1, 2]);
        assert_eq!(numbers(&events, 1, 1).await, [2]);
        let mut later = events.since(2);
        events.publish(notice("c"));
        assert_eq!(later.next().await.map(|event| event.number), Some(3));
    }

    #[tokio::test]
    async fn a_reader_that_lags_too_far_meets_the_end() {
        let events = Events::new();
        for _ in 0..=KEPT {
            events.publish(notice("x"));
        }
        assert!(events.since(0).next().await.is_none());
        assert_eq!(numbers(&events, 1, 1).await, [2]);
    }

    #[tokio::test]
    async fn the_stream_ends_with_the_last_publisher() {
        let events = Events::new();
        let mut stream = events.since(0);
        drop(events);
        assert!(stream.next().await.is_none());
    }
}
