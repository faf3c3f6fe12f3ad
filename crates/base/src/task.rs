//! The tree of running work. Scopes nest: process, session, turn, call.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Owner of a family of tasks: close it, and all of them, children's too, are
/// cancelled and awaited.
#[derive(Debug, Clone, Default)]
pub struct TaskScope {
    cancel: CancellationToken,
    tasks: TaskTracker,
    above: Vec<TaskTracker>,
}

impl TaskScope {
    /// Makes a scope with nothing above it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a scope that ends with `self`, but can end earlier by itself.
    #[must_use]
    pub fn child(&self) -> Self {
        let mut above = self.above.clone();
        above.push(self.tasks.clone());
        Self { cancel: self.cancel.child_token(), tasks: TaskTracker::new(), above }
    }

    /// Starts `work`; it is dropped at its next await once the scope closes.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let cancel = self.cancel.clone();
        self.spawn_settling(async move {
            cancel.run_until_cancelled(work).await;
        });
    }

    /// Starts `work` that watches [`TaskScope::token`] itself, because it must put its things in order when
    /// the scope closes. Closing waits for it.
    #[expect(clippy::disallowed_methods, reason = "this is the sanctioned door to tokio::spawn")]
    pub fn spawn_settling(&self, work: impl Future<Output = ()> + Send + 'static) {
        let held: Vec<_> = self.above.iter().map(TaskTracker::token).collect();
        tokio::spawn(self.tasks.track_future(async move {
            work.await;
            drop(held);
        }));
    }

    /// The token that ends this scope; hand it to work that must clean up when cancelled.
    pub fn token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Asks every task to end, without waiting.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Cancels every task and waits until the last one is gone.
    pub async fn close(&self) {
        self.cancel.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Waits until every task has ended by itself. No task may be added afterwards.
    pub async fn join(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct CountsDrop(Arc<AtomicUsize>);

    impl Drop for CountsDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn closing_a_scope_ends_the_tasks_of_its_children() {
        let (root, gone) = (TaskScope::new(), Arc::new(AtomicUsize::new(0)));
        let grandchild = root.child().child();
        for scope in [&root, &grandchild] {
            let guard = CountsDrop(gone.clone());
            scope.spawn(async move {
                std::future::pending::<()>().await;
                drop(guard);
            });
        }
        root.close().await;
        assert_eq!(gone.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn closing_a_child_leaves_its_parent_running() {
        let root = TaskScope::new();
        let child = root.child();
        child.close().await;
        assert!(!root.token().is_cancelled());
        assert!(root.child().token().clone().run_until_cancelled(async {}).await.is_some());
    }
}
