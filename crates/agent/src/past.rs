//! Going back to an earlier moment of a session: its files, its conversation, or both.
//!
//! Nothing is lost by it. The entries that are left stay in the tree, and a checkpoint below them marks the
//! moment of the rewind; what the files were then is kept under it. Going back to that checkpoint takes the
//! rewind back.
//!
//! | module | does |
//! |---|---|
//! | `look` | what faces look up: changes, checkpoints, words, history |

mod look;

use base::protocol::{ClientError, Rewound};
use base::{Entry, EntryId, EntryKind, Event, SessionId};
use guard::Taint;
use store::StoreError;
use tools::past::{Past, Returned};

use crate::coordinator::refused;
use crate::live::lock;
use crate::session::{Session, stain, taint_of};

pub use look::checkpoints;

/// Most files that are named.
const NAMED: usize = 5;

/// Why one cannot go back.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The memory failed, or does not know the entry.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session is a sub-agent's.
    #[error("the files of a sub-agent go back with session {0}; rewind that one")]
    SubAgent(SessionId),
    /// Sub-agents would write meanwhile.
    #[error("sub-agents are at work in the background: stop them, or wait for their end")]
    AtWork,
}

/// What a rewind came to.
#[derive(Debug, Clone)]
pub struct Went {
    /// The entry it went back to.
    pub to: Entry,
    /// The moment of the rewind itself: going back to it takes the rewind back.
    pub checkpoint: Entry,
    /// What was done, for the user.
    pub text: String,
}

/// Goes back to `entry`. A prompt that nothing comes before stands for the beginning: the conversation is
/// empty then.
pub async fn rewind(past: &Past, entry: EntryId, what: Rewound) -> Result<Went, PastError> {
    let (store, session) = (&past.store, past.session);
    let to = store.entry(session, entry).await?;
    let row = store.session(session).await?;
    let (files, talk) = match what {
        Rewound::Files => (true, false),
        Rewound::Talk => (false, true),
        Rewound::Both => (true, true),
    };
    if let Some(child) = row.child_of.filter(|_| files) {
        return Err(PastError::SubAgent(child.parent));
    }
    let moment = named(&store.branch(session).await?, &to);
    // Below what is left, so that going back to it brings all of that back.
    let label = format!("take back the rewind to {moment}");
    let (kind, at) = (EntryKind::Checkpoint { label }, past.clock.now());
    let checkpoint = Entry { id: EntryId::new(), parent: row.head, at, kind };
    store.append(session, vec![checkpoint.clone()]).await?;
    let mut done = vec![format!("Went back to {moment}.")];
    if files {
        let (past, mark) = (past.clone(), checkpoint.id);
        let returning = tokio::task::spawn_blocking(move || past.go_back(entry, mark)).await;
        done.extend(told(&returning.unwrap_or(Err(StoreError::Closed))?));
    }
    if talk {
        let is_beginning = to.parent.is_none() && matches!(to.kind, EntryKind::User { .. });
        store.set_head(session, (!is_beginning).then_some(entry)).await?;
        // What was seen of files since is no longer in the context: it has to be viewed again before it
        // is changed.
        store.forget_reads(session, to.at).await?;
    }
    done.push("`/rewind undo` takes this back.".to_owned());
    Ok(Went { to, checkpoint, text: done.join(" ") })
}

impl Session {
    /// Goes back, and tells the faces.
    pub(crate) async fn rewind(
        &mut self,
        entry: EntryId,
        what: Rewound,
    ) -> Result<(), ClientError> {
        let went = self.go_back(entry, what).await.map_err(|error| match error {
            PastError::Store(error) => refused(&error),
            error @ (PastError::SubAgent(_) | PastError::AtWork) => {
                ClientError::Refused(error.to_string())
            }
        })?;
        self.events.publish(Event::Notice { session: Some(self.id), text: went.text });
        Ok(())
    }

    async fn go_back(&mut self, entry: EntryId, what: Rewound) -> Result<Went, PastError> {
        if what != Rewound::Talk && self.crew.is_at_work() {
            return Err(PastError::AtWork);
        }
        let went = rewind(&Past::of(&self.workspace), entry, what).await?;
        let branch = self.mind.store.branch(self.id).await?;
        self.take_branch(branch);
        // Whatever went back: faces look up the branch again when they see it.
        let entry = went.checkpoint.clone();
        self.events.publish(Event::Appended { session: self.id, entry });
        Ok(went)
    }

    /// Goes on with another branch.
    fn take_branch(&mut self, branch: Vec<Entry>) {
        let above = self.kin.above.as_ref().map_or(Taint::Clean, |above| above.live.taint());
        self.taint = branch.iter().map(taint_of).fold(above, stain);
        self.branch = branch;
        lock(&self.live.taint).clone_from(&self.taint);
        self.book.open(&self.branch, &self.taint, self.workspace.fence.folder());
    }
}

/// A moment of a branch in words: by the prompt that comes after it.
fn named(branch: &[Entry], to: &Entry) -> String {
    let at = branch.iter().position(|entry| entry.id == to.id);
    let rest = at.map_or(&[][..], |at| &branch[at..]);
    let prompt = rest.iter().find_map(|entry| store::typed(&entry.kind));
    match (prompt, at) {
        (Some(prompt), _) => format!("before “{}”", look::one_line(&prompt, 60)),
        (None, Some(_)) => "the last answer".to_owned(),
        (None, None) => "a moment of another branch".to_owned(),
    }
}

/// What was done to files, in words.
fn told(returned: &Returned) -> Vec<String> {
    let Returned { files, others, left } = returned;
    let mut told = vec![match files.as_slice() {
        [] => "No file had to change.".to_owned(),
        files => format!("Restored: {}.", names(files)),
    }];
    if !others.is_empty() {
        let names = names(others);
        told.push(format!("Changed by somebody else before that, which is kept: {names}."));
    }
    let why = |(name, why): &(String, String)| format!("{name} ({why})");
    if !left.is_empty() {
        let left: Vec<String> = left.iter().map(why).collect();
        told.push(format!("Left as they are: {}.", names(&left)));
    }
    told.push("What commands changed stays as it is.".to_owned());
    told
}

fn names(files: &[String]) -> String {
    let named = files.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
