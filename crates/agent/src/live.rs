//! What may change while a turn runs: what may be done, by which model, and the prompts that join.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::queue::Queue;
use crate::skills::lending::Lent;
use base::protocol::Mode;
use base::{CallId, Effort, Event, Paths};
use guard::cage::Bounds;
use guard::policy::{CageState, Depth};
use guard::{Cage, Policy, Reach, Rule, Taint};
use llm::{Reasoning, Target};
use tokio_util::sync::CancellationToken;
use tools::Exported;

/// How long a cage is used before the workspace is searched again for files that it has to cover. A search takes up to
/// 50 ms.
const CAGE_AGE: Duration = Duration::from_mins(1);

/// A cage, or none where anything is allowed, and when it was made.
type MadeCage = (Instant, Option<Arc<Cage>>);

/// What may change while a turn runs.
pub(crate) struct Live {
    /// Of the session that this one works for: what it may not, this one may not.
    pub(crate) above: Option<Arc<Live>>,
    pub(crate) policy: Mutex<Arc<Policy>>,
    /// The model that is asked now.
    pub(crate) target: Mutex<Target>,
    /// Whether content nobody vouches for is in the context: sub-agents get it with their task.
    pub(crate) taint: Mutex<Taint>,
    /// The cages children have run in, and when each was made: making one anew for each costs.
    pub(crate) cages: Mutex<HashMap<Reach, MadeCage>>,
    /// Where caged children put temporary files.
    pub(crate) temp: PathBuf,
    /// Where our own files are, which no child reads or changes.
    pub(crate) paths: Paths,
    /// Rules that hold until the user's next word.
    pub(crate) lent: Mutex<Lent>,
    pub(crate) wishes: Mutex<Wishes>,
    /// How hard the model is to think, from the next call on.
    pub(crate) reasoning: Mutex<Reasoning>,
    /// What commands get besides the environment.
    pub(crate) exported: Exported,
    pub(crate) shells: Mutex<Shells>,
    /// Prompts that wait.
    pub(crate) queue: Queue,
}

/// The user's own commands.
#[derive(Default)]
pub(crate) struct Shells {
    /// Stops those that run; a new one after each stop.
    pub(crate) stop: CancellationToken,
    /// How faces were told of each that runs.
    pub(crate) running: BTreeMap<CallId, Event>,
}

/// What a face has asked for, until the next call.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) target: Option<Target>,
    pub(crate) reasoning: Option<Reasoning>,
}

impl Live {
    /// What decides about calls, now: nothing that those above may not.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        let own = lock(&self.policy).clone();
        match &self.above {
            Some(above) => Arc::new(own.within(&above.policy())),
            None => own,
        }
    }

    /// Whether content nobody vouches for is in the context.
    pub(crate) fn taint(&self) -> Taint {
        lock(&self.taint).clone()
    }

    /// The model that is asked now.
    pub(crate) fn target(&self) -> Target {
        lock(&self.target).clone()
    }

    /// Finds out whether this machine can cage a command; tried once a process, when one is to run.
    pub(crate) async fn look_for_cage(&self) {
        let state = match Cage::probed() {
            Some(status) => status.state(),
            // Starts a child and waits for it.
            None => tokio::task::spawn_blocking(|| Cage::probe().state())
                .await
                .unwrap_or(CageState::Missing),
        };
        let mut policy = lock(&self.policy);
        if policy.cage != state {
            Arc::make_mut(&mut policy).cage = state;
        }
    }

    /// The cage of a reach; none where anything is allowed.
    pub(crate) fn cage(&self, reach: Reach) -> Option<Arc<Cage>> {
        let make = || {
            let policy = self.policy();
            let bounds = Bounds::for_reach(reach, &policy.fence, &self.temp)?;
            let mut bounds = bounds.without_own_data(&self.paths);
            // What tools ask about, or may not read by a rule, commands do not read.
            for root in policy.fence.roots() {
                bounds.hidden.extend(policy.closed_below(root, Depth::Everything).places);
                bounds.hidden.extend(policy.environment_files(root).places);
            }
            Some(Arc::new(Cage::new(bounds)))
        };
        let mut cages = lock(&self.cages);
        let known = cages.get(&reach).filter(|(made, _)| made.elapsed() < CAGE_AGE);
        if let Some((_, cage)) = known {
            return cage.clone();
        }
        let cage = make();
        cages.insert(reach, (Instant::now(), cage.clone()));
        cage
    }

    /// Changes how questions are answered.
    pub(crate) fn set_mode(&self, mode: Mode) {
        Arc::make_mut(&mut lock(&self.policy)).mode = mode;
    }

    /// Adds rules that allow: what the user allows a sub-agent holds for the family.
    pub(crate) fn allow(&self, rules: Vec<Rule>) {
        // A rule may open a file that the cages cover.
        lock(&self.cages).clear();
        if let Some(above) = &self.above {
            return above.allow(rules);
        }
        Arc::make_mut(&mut lock(&self.policy)).rules.allow.extend(rules);
    }

    /// Another model, from the next call on.
    pub(crate) fn set_target(&self, target: Target) {
        lock(&self.wishes).target = Some(target);
    }

    /// The same, unless a face has asked for one.
    pub(crate) fn set_target_unless_wished(&self, target: Target) {
        lock(&self.wishes).target.get_or_insert(target);
    }

    /// Thinks harder or less, from the next call on.
    pub(crate) fn set_reasoning(&self, reasoning: Reasoning) {
        lock(&self.wishes).reasoning = Some(reasoning);
        *lock(&self.reasoning) = reasoning;
    }

    /// The same, unless a face has asked for it.
    pub(crate) fn set_reasoning_unless_wished(&self, reasoning: Reasoning) {
        if lock(&self.wishes).reasoning.is_none() {
            self.set_reasoning(reasoning);
        }
    }

    /// Stops the user's own commands.
    pub(crate) fn stop_shells(&self) {
        std::mem::take(&mut lock(&self.shells).stop).cancel();
    }

    /// The model that is asked next.
    pub(crate) fn next_target(&self) -> Target {
        let wished = lock(&self.wishes).target.clone();
        wished.unwrap_or_else(|| self.target())
    }

    /// How hard the model is to think.
    pub(crate) fn reasoning(&self) -> Reasoning {
        *lock(&self.reasoning)
    }

    /// How hard the model is to think; none where that is its own choice.
    pub(crate) fn effort(&self) -> Option<Effort> {
        effort_of(self.reasoning())
    }
}

/// The effort that a face can show; none for the model's own choice, or a number of tokens.
pub(crate) fn effort_of(reasoning: Reasoning) -> Option<Effort> {
    match reasoning {
        Reasoning::Effort(effort) => Some(effort),
        Reasoning::ModelDefault | Reasoning::Budget(_) => None,
    }
}

/// What a lock guards, whoever panicked while holding it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
