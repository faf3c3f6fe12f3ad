//! One HTTP exchange, for the log: who was asked for what, how it ended, how much came and how long it took.
//!
//! Headers, bodies and the query of the address are never kept: they carry secrets.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::time::Instant;

/// An HTTP exchange; it is logged, at `debug`, when its last owner is dropped.
pub struct HttpExchange {
    method: String,
    host: String,
    path: String,
    started: Instant,
    /// The answer's status; 0 as long as there is none.
    status: AtomicU16,
    received_bytes: AtomicU64,
}

impl HttpExchange {
    /// Begins one; `None` where nobody reads the log in such detail.
    pub fn start(method: &str, host: &str, path: &str) -> Option<Arc<Self>> {
        if !tracing::event_enabled!(target: "caiman::http", tracing::Level::DEBUG) {
            return None;
        }
        Some(Arc::new(Self {
            method: method.to_owned(),
            host: host.to_owned(),
            path: path.to_owned(),
            started: Instant::now(),
            status: AtomicU16::new(0),
            received_bytes: AtomicU64::new(0),
        }))
    }

    /// Notes that an answer has begun.
    pub fn answered(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// Notes bytes of the answer's body.
    pub fn received(&self, bytes: usize) {
        self.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl fmt::Debug for HttpExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpExchange").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Drop for HttpExchange {
    fn drop(&mut self) {
        let (method, host, path) = (self.method.as_str(), self.host.as_str(), self.path.as_str());
        let status = self.status.load(Ordering::Relaxed);
        let bytes = self.received_bytes.load(Ordering::Relaxed);
        let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if status == 0 {
            tracing::debug!(target: "caiman::http", method, host, path, bytes, ms, "no answer");
        } else {
            tracing::debug!(target: "caiman::http", method, host, path, status, bytes, ms, "answered");
        }
    }
}
