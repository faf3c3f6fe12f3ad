//! A sub-agent's calls as a tree, shown in its parent's block while it works.

use base::block::Node;
use base::protocol::{EventFilter, Numbered};
use base::transcript::Outcome;
use base::{Block, CallId, Event, SessionId};
use futures::StreamExt;
use tools::Progress;

use crate::events::Events;

/// Most calls a tree shows; of more, the newest.
const SHOWN: usize = 30;

/// Shows a sub-agent's calls as they come. Ends never: whoever waits for the sub-agent stops it.
pub(super) fn show(
    events: &Events,
    child: SessionId,
    progress: &Progress,
) -> impl Future<Output = ()> + use<> {
    let (progress, mut news) =
        (progress.clone(), events.since(EventFilter::Session(child), events.newest()));
    async move {
        let mut tree = Tree::default();
        // Whoever lags too far behind misses a tree, not a result.
        while let Some(Numbered { event, .. }) = news.next().await {
            if tree.take(&event) {
                progress.show(tree.block());
            }
        }
        std::future::pending::<()>().await;
    }
}

#[derive(Debug, Default)]
struct Tree {
    calls: Vec<Call>,
    hidden: usize,
}

#[derive(Debug)]
struct Call {
    id: CallId,
    mark: &'static str,
    title: String,
    below: Vec<Node>,
}

impl Tree {
    /// Takes an event in; tells whether the tree looks different now.
    fn take(&mut self, event: &Event) -> bool {
        match event {
            Event::ToolStarted { call, title, .. } => self.mark(call, "…", title),
            Event::ApprovalNeeded { call, title, .. } => self.mark(call, "?", title),
            Event::ToolDone { call, outcome, title, .. } => {
                let mark = match outcome {
                    Outcome::Done => "✓",
                    Outcome::Failed => "✗",
                };
                self.mark(call, mark, title)
            }
            Event::ToolProgress { call, body: Block::Tree { roots }, .. } => {
                let known = self.calls.iter_mut().find(|known| known.id == *call);
                known.is_some_and(|known| {
                    known.below.clone_from(roots);
                    true
                })
            }
            Event::ToolProgress { .. }
            | Event::ChildStarted { .. }
            | Event::TurnStarted { .. }
            | Event::Appended { .. }
            | Event::Text { .. }
            | Event::Reasoning { .. }
            | Event::Retrying { .. }
            | Event::Denied { .. }
            | Event::QuestionAsked { .. }
            | Event::Settled { .. }
            | Event::Spent { .. }
            | Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::CommandDone { .. }
            | Event::Hook { .. }
            | Event::Notice { .. }
            | Event::TurnDone { .. }
            | Event::TurnFailed { .. } => false,
        }
    }

    fn mark(&mut self, id: &CallId, mark: &'static str, title: &str) -> bool {
        if let Some(known) = self.calls.iter_mut().find(|known| known.id == *id) {
            known.mark = mark;
            title.clone_into(&mut known.title);
        } else {
            let (id, title) = (id.clone(), title.to_owned());
            self.calls.push(Call { id, mark, title, below: Vec::new() });
        }
        if self.calls.len() > SHOWN {
            self.calls.remove(0);
            self.hidden += 1;
        }
        true
    }

    fn block(&self) -> Block {
        let earlier = (self.hidden > 0).then(|| Node {
            label: format!("{} earlier calls", self.hidden),
            children: Vec::new(),
        });
        let calls = self.calls.iter().map(|call| Node {
            label: format!("{} {}", call.mark, call.title),
            children: call.below.clone(),
        });
        Block::Tree { roots: earlier.into_iter().chain(calls).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_stand_in_order_with_how_they_are_and_what_is_below() {
        let session = SessionId::new();
        let (one, two) = (CallId::new("1"), CallId::new("2"));
        let mut tree = Tree::default();
        let title = "grep owls".to_owned();
        assert!(tree.take(&Event::ToolStarted { session, call: one.clone(), title }));
        let title = "agent: look".to_owned();
        assert!(tree.take(&Event::ToolStarted { session, call: two.clone(), title }));
        let roots = vec![Node { label: "… view a.rs".to_owned(), children: Vec::new() }];
        let body = Block::Tree { roots };
        assert!(tree.take(&Event::ToolProgress { session, call: two, body }));
        let (outcome, title) = (Outcome::Failed, "grep owls: nothing".to_owned());
        assert!(tree.take(&Event::ToolDone { session, call: one, outcome, title, body: None }));
        let Block::Tree { roots } = tree.block() else { panic!("a tree") };
        let labels: Vec<&str> = roots.iter().map(|node| node.label.as_str()).collect();
        assert_eq!(labels, ["✗ grep owls: nothing", "… agent: look"]);
        assert_eq!(roots[1].children[0].label, "… view a.rs");
    }

    #[test]
    fn a_long_tree_keeps_its_newest_calls() {
        let mut tree = Tree::default();
        for number in 0..SHOWN + 5 {
            tree.mark(&CallId::new(number.to_string()), "✓", "x");
        }
        let Block::Tree { roots } = tree.block() else { panic!("a tree") };
        assert_eq!(roots.len(), SHOWN + 1);
        assert_eq!(roots[0].label, "5 earlier calls");
    }
}
