//! A question to the store that has not been asked yet.

use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::store::Room;
use crate::writer::Job;

/// A question to the store: `.await` it, or `.wait()` for it where nothing is async.
#[must_use = "nothing happens until it is awaited or waited for"]
pub struct Pending<T>(Way<T>);

/// Who answers.
enum Way<T> {
    /// The writer thread; the answer comes after its COMMIT.
    Writer {
        /// The store, open until the answer is there: a sender alone would keep the writer thread running that the
        /// last owner of the store waits for.
        room: Arc<Room>,
        /// The job.
        job: Box<dyn Job>,
        /// Where its answer arrives.
        answer: oneshot::Receiver<Result<T, StoreError>>,
    },
    /// Any thread that may block.
    Reader(Box<dyn FnOnce() -> Result<T, StoreError> + Send>),
}

impl<T> Pending<T> {
    pub(crate) fn writer(
        room: Arc<Room>,
        job: Box<dyn Job>,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Self {
        Self(Way::Writer { room, job, answer })
    }

    pub(crate) fn reader(work: impl FnOnce() -> Result<T, StoreError> + Send + 'static) -> Self {
        Self(Way::Reader(Box::new(work)))
    }

    /// Asks and blocks until the answer is there. Not inside an async task: tokio refuses to block there.
    pub fn wait(self) -> Result<T, StoreError> {
        match self.0 {
            Way::Writer { room, job, answer } => {
                let jobs = room.jobs().ok_or(StoreError::Closed)?;
                jobs.blocking_send(job).map_err(|_| StoreError::Closed)?;
                answer.blocking_recv().unwrap_or(Err(StoreError::Closed))
            }
            Way::Reader(work) => work(),
        }
    }
}

impl<T: Send + 'static> IntoFuture for Pending<T> {
    type Output = Result<T, StoreError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Asks; a future dropped after its first poll may still have its write done.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            match self.0 {
                Way::Writer { room, job, answer } => {
                    let jobs = room.jobs().ok_or(StoreError::Closed)?;
                    jobs.send(job).await.map_err(|_| StoreError::Closed)?;
                    answer.await.unwrap_or(Err(StoreError::Closed))
                }
                Way::Reader(work) => {
                    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Closed))
                }
            }
        })
    }
}

impl<T> std::fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pending")
    }
}
