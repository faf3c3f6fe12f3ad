//! Prompts that wait for a running turn. Whatever changes here, faces see.

use std::collections::VecDeque;
use std::sync::Mutex;

use base::protocol::{Delivery, WaitingPrompt};
use base::{EntryId, Event, SessionId};
use store::Queued;

use crate::events::Events;
use crate::live::lock;

/// The prompts of one session that wait.
pub(crate) struct Queue {
    session: SessionId,
    events: Events,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Those that join the running turn at its next model call.
    joining: VecDeque<Queued>,
    /// Those that wait for a turn of their own.
    following: VecDeque<Queued>,
}

impl Queue {
    /// A queue in which nothing waits.
    pub(crate) fn new(session: SessionId, events: Events) -> Self {
        Self { session, events, waiting: Mutex::default() }
    }

    /// Takes in what another process has left waiting.
    pub(crate) fn restore(&self, held: Vec<Queued>) {
        lock(&self.waiting).following.extend(held);
    }

    /// Lets a prompt join the running turn.
    pub(crate) fn join(&self, prompt: Queued) {
        self.change(|waiting| waiting.joining.push_back(prompt));
    }

    /// Lets a prompt wait for a turn of its own.
    pub(crate) fn follow(&self, prompt: Queued) {
        self.change(|waiting| waiting.following.push_back(prompt));
    }

    /// The prompts that join now.
    pub(crate) fn take_joining(&self) -> Vec<Queued> {
        self.change(|waiting| waiting.joining.drain(..).collect())
    }

    /// The prompt whose turn it is.
    pub(crate) fn take_next(&self) -> Option<Queued> {
        self.change(|waiting| waiting.following.pop_front())
    }

    /// All that wait, in their order.
    pub(crate) fn take_all(&self) -> Vec<Queued> {
        self.change(|waiting| {
            let Waiting { joining, following } = waiting;
            joining.drain(..).chain(following.drain(..)).collect()
        })
    }

    /// Takes a prompt back.
    pub(crate) fn remove(&self, entry: EntryId) {
        self.change(|waiting| {
            waiting.joining.retain(|prompt| prompt.entry != entry);
            waiting.following.retain(|prompt| prompt.entry != entry);
        });
    }

    /// Whether a prompt waits to join.
    pub(crate) fn has_joining(&self) -> bool {
        !lock(&self.waiting).joining.is_empty()
    }

    /// Whether a prompt waits.
    pub(crate) fn holds(&self, entry: EntryId) -> bool {
        let waiting = lock(&self.waiting);
        waiting.joining.iter().chain(&waiting.following).any(|prompt| prompt.entry == entry)
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        lock(&self.waiting).len()
    }

    /// All that wait, as faces see them.
    pub(crate) fn prompts(&self) -> Vec<WaitingPrompt> {
        lock(&self.waiting).prompts()
    }

    /// Tells faces what waits, if anything does: a stop leaves it where it is.
    pub(crate) fn tell(&self) {
        let waiting = lock(&self.waiting);
        if waiting.len() > 0 {
            self.publish(&waiting);
        }
    }

    /// Changes what waits. Faces are told under the lock, so that they see changes in their order.
    fn change<T>(&self, change: impl FnOnce(&mut Waiting) -> T) -> T {
        let mut waiting = lock(&self.waiting);
        let before = waiting.len();
        let changed = change(&mut waiting);
        // Each change only adds or only takes away.
        if waiting.len() != before {
            self.publish(&waiting);
        }
        changed
    }

    fn publish(&self, waiting: &Waiting) {
        let prompts = waiting.prompts();
        self.events.publish(Event::Waiting { session: self.session, prompts });
    }
}

impl Waiting {
    fn len(&self) -> usize {
        self.joining.len() + self.following.len()
    }

    fn prompts(&self) -> Vec<WaitingPrompt> {
        let joining = self.joining.iter().map(|prompt| shown(prompt, Delivery::Steer));
        let following = self.following.iter().map(|prompt| shown(prompt, Delivery::Queue));
        joining.chain(following).collect()
    }
}

/// A waiting prompt, as faces see it.
pub(crate) fn shown(prompt: &Queued, delivery: Delivery) -> WaitingPrompt {
    WaitingPrompt { entry: prompt.entry, parts: prompt.parts.clone(), delivery }
}
