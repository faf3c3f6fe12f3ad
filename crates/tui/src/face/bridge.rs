//! Between the interface's thread and the mind: a task that carries requests there and events back.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use base::Client;
use base::protocol::{EventFilter, Numbered, Op, Query};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::face::signals::{Signal, Signals};
use crate::message::{Asker, Message, Purpose};

/// Events on their way to the interface at most: about two seconds of a fast stream. While it is away, in an
/// editor say, the rest stays with the mind.
const EVENTS_ON_THE_WAY: usize = 1024;

/// How far to go on after events that are no longer kept, and how often. The mind keeps more than one step.
const STEP: u64 = 4096;
const STEPS: usize = 256;

/// Something for the loop.
#[derive(Debug)]
pub(crate) enum Happening {
    /// A message for the interface.
    Message(Message),
    /// An event, with the place it takes on the way.
    Event(Box<Numbered>, OwnedSemaphorePermit),
    /// A signal of the system.
    Signal(Signal),
    /// The terminal is gone.
    TerminalGone,
}

/// Something for the mind.
#[derive(Debug)]
pub(crate) enum Request {
    Submit { op: Op, purpose: Purpose },
    Ask { query: Query, asker: Asker },
}

/// The interface's end.
#[derive(Debug)]
pub struct Wire {
    /// Not bounded: it is filled by keys.
    pub(crate) requests: UnboundedSender<Request>,
    pub(crate) happenings: Receiver<Happening>,
    /// For others that have something for the loop. Not bounded, since nobody who sends may wait; events, the
    /// only ones that come in masses, are counted.
    pub(crate) sender: Sender<Happening>,
}

/// The mind's end.
#[derive(Debug)]
pub struct Bridge {
    requests: UnboundedReceiver<Request>,
    sender: Sender<Happening>,
    signals: Option<Signals>,
}

/// Both ends.
pub fn bridge() -> (Wire, Bridge) {
    let (requests, carried) = unbounded_channel();
    let (sender, happenings) = channel();
    let wire = Wire { requests, happenings, sender: sender.clone() };
    (wire, Bridge { requests: carried, sender, signals: None })
}

impl Bridge {
    /// Listens to signals from now on, not only when it is served: one that comes in between would end us with
    /// the terminal taken. It must be called in the context of a runtime.
    #[must_use]
    pub fn listen(mut self) -> Self {
        self.signals = self.signals.or_else(|| Signals::listen().ok());
        self
    }

    /// Carries requests and events until the interface is gone. `since` is the number of the last event that is
    /// of no interest.
    pub async fn serve(self, client: Arc<dyn Client>, since: u64) {
        let Self { requests, sender, signals } = self.listen();
        tokio::select! {
            () = carry(requests, &*client, &sender) => {}
            () = follow(&*client, since, &sender) => {}
            () = watch(signals, &sender) => {}
        }
    }
}

/// Carries requests: operations one after the other, look-ups as they come.
async fn carry(
    mut requests: UnboundedReceiver<Request>,
    client: &dyn Client,
    sender: &Sender<Happening>,
) {
    let (operations, mut waiting) = unbounded_channel::<(Op, Purpose)>();
    let in_order = async {
        while let Some((op, purpose)) = waiting.recv().await {
            tell(sender, submit(client, op, purpose).await);
        }
    };
    let as_they_come = async {
        let mut running: FuturesUnordered<BoxFuture<'_, Message>> = FuturesUnordered::new();
        loop {
            tokio::select! {
                request = requests.recv() => match request {
                    // A key is tried at its provider, which takes its time; nothing else waits for that.
                    Some(Request::Submit { op, purpose: Purpose::Login }) => {
                        running.push(Box::pin(submit(client, op, Purpose::Login)));
                    }
                    Some(Request::Submit { op, purpose }) => {
                        // The other end is in this function.
                        operations.send((op, purpose)).ok();
                    }
                    Some(Request::Ask { query, asker }) => {
                        running.push(Box::pin(ask(client, query, asker)));
                    }
                    None => break,
                },
                Some(message) = running.next() => tell(sender, message),
            }
        }
        drop(operations);
    };
    tokio::join!(in_order, as_they_come);
}

async fn submit(client: &dyn Client, op: Op, purpose: Purpose) -> Message {
    Message::Submitted { purpose, outcome: client.submit(op).await }
}

async fn ask(client: &dyn Client, query: Query, asker: Asker) -> Message {
    Message::Answer { asker, reply: client.ask(query).await.map(Box::new) }
}

fn tell(sender: &Sender<Happening>, message: Message) {
    // If the interface is gone, nobody is left to be told.
    sender.send(Happening::Message(message)).ok();
}

/// Forwards events. When they break off the interface is told, and they are asked for again from where they can
/// be had.
async fn follow(client: &dyn Client, since: u64, sender: &Sender<Happening>) {
    let places = Arc::new(Semaphore::new(EVENTS_ON_THE_WAY));
    let (mut since, mut tries) = (since, 0);
    while tries < STEPS {
        let mut events = client.subscribe(EventFilter::All, since);
        let mut came = 0u64;
        while let Some(event) = events.next().await {
            (since, came) = (event.number, came + 1);
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            if sender.send(Happening::Event(Box::new(event), place)).is_err() {
                return;
            }
        }
        if came > 0 {
            tries = 0;
            continue;
        }
        // From that number on they are no longer kept, or the mind has ended.
        if tries == 0 {
            tell(sender, Message::EventsEnded);
        }
        (since, tries) = (since + STEP, tries + 1);
    }
    std::future::pending::<()>().await;
}

/// Forwards signals.
async fn watch(signals: Option<Signals>, sender: &Sender<Happening>) {
    let Some(mut signals) = signals else { return std::future::pending().await };
    // What came before we listened is made up for.
    let mut came = Signal::Resized;
    while sender.send(Happening::Signal(came)).is_ok() {
        came = signals.next().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    use base::protocol::{ClientError, Event, EventStream, Reply};
    use futures::FutureExt;

    /// A mind that keeps events from a number on, and lets go of a reader after three.
    struct Forgetful {
        keeps_from: u64,
        newest: u64,
        asked: Mutex<Vec<u64>>,
    }

    impl Client for Forgetful {
        fn submit(&self, _op: Op) -> BoxFuture<'_, Result<(), ClientError>> {
            Box::pin(std::future::ready(Err(ClientError::Closed)))
        }

        fn ask(&self, _query: Query) -> BoxFuture<'_, Result<Reply, ClientError>> {
            Box::pin(std::future::ready(Err(ClientError::Closed)))
        }

        fn subscribe(&self, _: EventFilter, since: u64) -> EventStream {
            self.asked.lock().unwrap().push(since);
            if since + 1 < self.keeps_from {
                return futures::stream::empty().boxed();
            }
            if since >= self.newest {
                return futures::stream::pending().boxed();
            }
            let event = Event::Notice { session: None, text: String::new() };
            let numbered = move |number| Numbered::new(number, event.clone());
            let last = self.newest.min(since + 3);
            futures::stream::iter((since + 1..=last).map(numbered)).boxed()
        }
    }

    /// What is told before there is something to wait for.
    fn heard(mind: &Forgetful, since: u64) -> Vec<String> {
        let (sender, happenings) = channel();
        assert_eq!(follow(mind, since, &sender).now_or_never(), None);
        let told = happenings.try_iter().map(|happening| match happening {
            Happening::Event(event, _) => event.number.to_string(),
            Happening::Message(message) => format!("{message:?}"),
            Happening::Signal(_) | Happening::TerminalGone => String::new(),
        });
        told.collect()
    }

    #[test]
    fn who_is_let_go_asks_again_from_the_last_number() {
        let mind = Forgetful { keeps_from: 0, newest: 8, asked: Mutex::default() };
        assert_eq!(heard(&mind, 0), ["1", "2", "3", "4", "5", "6", "7", "8"]);
        assert_eq!(*mind.asked.lock().unwrap(), [0, 3, 6, 8]);
    }

    #[test]
    fn who_lags_too_far_is_told_and_goes_on_where_events_are_kept() {
        let mind = Forgetful { keeps_from: 9_000, newest: 17_191, asked: Mutex::default() };
        let told = heard(&mind, 5);
        assert_eq!(told[..2], ["EventsEnded", "12294"]);
        assert_eq!(*mind.asked.lock().unwrap().get(..4).unwrap(), [5, 4101, 8197, 12293]);
    }
}
