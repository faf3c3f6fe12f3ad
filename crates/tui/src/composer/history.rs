//! What was said before, walked with the arrow keys. What is being written meanwhile comes back at the end.

/// Prompts kept at most.
const MOST: usize = 1_000;

/// What was said before.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Newest first.
    prompts: Vec<String>,
    walk: Option<Walk>,
}

/// A walk through it.
#[derive(Debug)]
struct Walk {
    index: usize,
    draft: String,
    /// Version and caret of the buffer when a prompt was put there.
    arrived: (u64, usize),
}

impl History {
    /// Takes what was said before, newest first.
    pub(super) fn set(&mut self, prompts: Vec<String>) {
        // What was said while this was looked up is not in it yet.
        let said = std::mem::replace(&mut self.prompts, prompts);
        self.prompts.truncate(MOST);
        self.walk = None;
        for prompt in said.iter().rev() {
            self.remember(prompt);
        }
    }

    /// What was said just now.
    pub(super) fn remember(&mut self, prompt: &str) {
        self.walk = None;
        if prompt.trim().is_empty() {
            return;
        }
        self.prompts.retain(|known| known != prompt);
        self.prompts.insert(0, prompt.to_owned());
        self.prompts.truncate(MOST);
    }

    /// The prompt before the one that is shown; `draft` is what is shown now.
    pub(super) fn older(&mut self, draft: &str) -> Option<String> {
        let index = self.walk.as_ref().map_or(0, |walk| walk.index + 1);
        // What is there already is no step: it is the draft a walk began from.
        let beyond = self.prompts.iter().skip(index).position(|prompt| prompt != draft)?;
        let index = index + beyond;
        let prompt = self.prompts.get(index)?.clone();
        let walk = self.walk.get_or_insert_with(|| Walk {
            index,
            draft: draft.to_owned(),
            arrived: (0, 0),
        });
        walk.index = index;
        Some(prompt)
    }

    /// The prompt after the one that is shown, or the draft at the end; none if no walk is on.
    pub(super) fn newer(&mut self) -> Option<String> {
        let walk = self.walk.as_mut()?;
        if let Some(index) = walk.index.checked_sub(1) {
            walk.index = index;
            return self.prompts.get(index).cloned();
        }
        self.walk.take().map(|walk| walk.draft)
    }

    /// Notes how the buffer was when a prompt had been put there.
    pub(super) fn arrive(&mut self, version: u64, caret: usize) {
        if let Some(walk) = &mut self.walk {
            walk.arrived = (version, caret);
        }
    }

    /// Whether nobody has touched the prompt since it was put there. One that was changed is a draft itself:
    /// the walk that led there is over.
    pub(super) fn is_walking(&mut self, version: u64, caret: usize) -> bool {
        self.walk.take_if(|walk| walk.arrived.0 != version);
        self.walk.as_ref().is_some_and(|walk| walk.arrived.1 == caret)
    }

    /// Ends a walk: what is shown is the draft from now on.
    pub(super) fn stay(&mut self) {
        self.walk = None;
    }
}
