//! JSON-RPC 2.0 over a pair of byte streams: both sides may ask, tell and cancel.
//!
//! One task reads and one writes. Whoever asks says how long they wait; a peer that floods, prints garbage or
//! never reads costs a bounded amount of memory and nobody's turn.

mod frame;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use base::TaskScope;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

pub use frame::{Decoder, Framing, Lost, encode};

/// Messages that wait to be written. A peer that does not read holds back whoever writes to it, each of
/// whom has a time-out.
const OUTGOING: usize = 64;
/// How long the end of a connection waits for what is still being answered and written.
const GOODBYE: Duration = Duration::from_secs(2);
/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// What a peer's questions and news are handed to.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request.
    fn request(&self, method: &str, params: Value) -> BoxFuture<'static, Result<Value, Fault>>;
    /// Takes a notification. It must not wait.
    fn notification(&self, method: &str, params: Value);
    /// Hears that an answer is on its way: what the peer is told from here on comes after it. It must not wait.
    fn answered(&self, _method: &str, _result: &Value) {}
    /// Hears that the peer says nothing more: what it has asked for should come to its end.
    fn ended(&self) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}

/// An error as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Fault {
    /// What kind it is.
    #[serde(default)]
    pub code: i64,
    /// What happened.
    #[serde(default)]
    pub message: String,
}

impl Fault {
    /// For a method nobody here knows.
    pub fn unknown(method: &str) -> Self {
        Self { code: -32601, message: format!("there is no method {method}") }
    }

    /// For a line that is no message.
    fn unreadable(error: &serde_json::Error) -> Self {
        let code = if error.is_data() { -32600 } else { -32700 };
        Self { code, message: format!("this is no JSON-RPC message: {error}") }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The peer is gone.
    #[error("the connection is closed: {0}")]
    Closed(String),
    /// It took longer than anybody wanted to wait.
    #[error("no answer to {method} within {after:?}")]
    TimedOut {
        /// What was asked.
        method: String,
        /// How long was waited.
        after: Duration,
    },
    /// The peer answered with an error.
    #[error(transparent)]
    Refused(#[from] Fault),
    /// The answer is not what was asked for.
    #[error("the answer to {method} cannot be read: {why}")]
    Unreadable {
        /// What was asked.
        method: String,
        /// What is wrong with it.
        why: String,
    },
}

/// How a protocol uses JSON-RPC.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// How messages are told apart.
    pub framing: Framing,
    /// The notification that takes a request back, and its parameters.
    pub cancel: fn(i64) -> (&'static str, Value),
    /// Requests of the peer that are worked on at once; the others wait in the pipe, and with them answers.
    pub at_work: usize,
}

/// The other side. A clone is the same one.
#[derive(Debug, Clone)]
pub struct Peer(Arc<Shared>);

type Answer = oneshot::Sender<Result<Value, RpcError>>;

#[derive(Debug)]
struct Shared {
    dialect: Dialect,
    next: AtomicI64,
    waiting: Mutex<HashMap<i64, Answer>>,
    outgoing: mpsc::Sender<Sent>,
    closed: CancellationToken,
    why: OnceLock<String>,
}

/// What waits to be written.
#[derive(Debug)]
enum Sent {
    Message(Vec<u8>),
    /// Somebody waits until everything before it was written.
    Mark(oneshot::Sender<()>),
}

/// A place in the queue to the peer: what is sent with it keeps its order.
#[derive(Debug)]
pub struct Slot<'a> {
    permit: mpsc::Permit<'a, Sent>,
    framing: Framing,
}

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Value::is_null")]
    params: &'a Value,
}

#[derive(Deserialize)]
struct Incoming {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<Fault>,
}

impl Peer {
    /// Begins to talk. Both tasks end with `scope`.
    pub fn start(
        dialect: Dialect,
        (input, output): (
            impl AsyncWrite + Unpin + Send + 'static,
            impl AsyncRead + Unpin + Send + 'static,
        ),
        handler: Arc<dyn Handler>,
        scope: &TaskScope,
    ) -> Self {
        let (outgoing, queue) = mpsc::channel(OUTGOING);
        let peer = Self(Arc::new(Shared {
            dialect,
            next: AtomicI64::new(1),
            waiting: Mutex::default(),
            outgoing,
            closed: scope.token().child_token(),
            why: OnceLock::new(),
        }));
        scope.spawn(write(input, queue, peer.clone()));
        let reading = Reading { peer: peer.clone(), handler, scope: scope.clone() };
        scope.spawn(reading.run(output));
        peer
    }

    /// Asks, and waits at most `patience`. Whoever stops waiting takes the question back.
    pub async fn request(
        &self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Value, RpcError> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.lock().insert(id, answer);
        let _taken_back = Asked { peer: self, id };
        let asking = async {
            let message = Outgoing { jsonrpc: "2.0", id: Some(id), method, params: &params };
            self.slot().await?.send(&message);
            answered.await.unwrap_or_else(|_| Err(self.gone()))
        };
        let timed_out = || RpcError::TimedOut { method: method.to_owned(), after: patience };
        tokio::select! {
            answer = tokio::time::timeout(patience, asking) => answer.map_err(|_| timed_out())?,
            () = self.0.closed.cancelled() => Err(self.gone()),
        }
    }

    /// Tells, when there is room in the queue.
    pub async fn notify(&self, method: &str, params: Value) -> Result<(), RpcError> {
        self.slot().await?.notify(method, &params);
        Ok(())
    }

    /// Waits for a place in the queue.
    pub async fn slot(&self) -> Result<Slot<'_>, RpcError> {
        let permit = tokio::select! {
            permit = self.0.outgoing.reserve() => permit.map_err(|_| self.gone())?,
            () = self.0.closed.cancelled() => return Err(self.gone()),
        };
        Ok(Slot { permit, framing: self.0.dialect.framing })
    }

    /// Waits until the connection is closed.
    pub async fn closed(&self) {
        self.0.closed.cancelled().await;
    }

    /// Whether the connection is closed.
    pub fn is_closed(&self) -> bool {
        self.0.closed.is_cancelled()
    }

    /// Why the connection is closed.
    pub fn why(&self) -> String {
        self.0.why.get().cloned().unwrap_or_else(|| "we ended it".to_owned())
    }

    /// Waits until everything sent so far is written.
    async fn written(&self) {
        let (mark, reached) = oneshot::channel();
        if self.0.outgoing.send(Sent::Mark(mark)).await.is_ok() {
            // A writer that cannot write drops it.
            reached.await.ok();
        }
    }

    fn gone(&self) -> RpcError {
        RpcError::Closed(self.why())
    }

    fn close(&self, why: String) {
        // The first reason is the one that matters.
        self.0.why.set(why).ok();
        self.0.closed.cancel();
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Answer>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot<'_> {
    /// Tells the peer something.
    pub fn notify(self, method: &str, params: &Value) {
        self.send(&Outgoing { jsonrpc: "2.0", id: None, method, params });
    }

    fn send(self, message: &impl Serialize) {
        // What holds texts and numbers only always becomes JSON.
        let bytes = serde_json::to_vec(message).unwrap_or_default();
        self.permit.send(Sent::Message(encode(self.framing, &bytes)));
    }
}

/// A request somebody waits for; the peer is told when nobody does any more.
struct Asked<'a> {
    peer: &'a Peer,
    id: i64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.peer.lock().remove(&self.id).is_none() {
            return;
        }
        let (method, params) = (self.peer.0.dialect.cancel)(self.id);
        // Where the queue is full the peer does not read, and would not cancel either.
        if let Ok(permit) = self.peer.0.outgoing.try_reserve() {
            Slot { permit, framing: self.peer.0.dialect.framing }.notify(method, &params);
        }
    }
}

async fn write(mut input: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Sent>, peer: Peer) {
    while let Some(next) = queue.recv().await {
        let bytes = match next {
            Sent::Message(bytes) => bytes,
            // Whoever waited may be gone.
            Sent::Mark(mark) => {
                mark.send(()).ok();
                continue;
            }
        };
        let written = async {
            input.write_all(&bytes).await?;
            input.flush().await
        };
        if let Err(error) = written.await {
            return peer.close(format!("it does not read any more: {error}"));
        }
    }
}

struct Reading {
    peer: Peer,
    handler: Arc<dyn Handler>,
    scope: TaskScope,
}

impl Reading {
    async fn run(self, mut output: impl AsyncRead + Unpin) {
        let mut decoder = Decoder::new(self.peer.0.dialect.framing);
        let at_work = Arc::new(Semaphore::new(self.peer.0.dialect.at_work));
        let mut chunk = vec![0; CHUNK];
        let why = loop {
            match output.read(&mut chunk).await {
                Ok(0) => {
                    let why = "it closed its output".to_owned();
                    self.peer.0.why.set(why.clone()).ok();
                    self.end(&mut decoder, &at_work).await;
                    break why;
                }
                Ok(count) => decoder.push(&chunk[..count]),
                Err(error) => break format!("it cannot be read: {error}"),
            }
            match self.take_all(&mut decoder, &at_work).await {
                Ok(()) => {}
                Err(lost) => break lost.to_string(),
            }
        };
        self.peer.close(why);
    }

    /// The peer says nothing more: what it has asked is answered, within a moment, before nobody is heard either.
    async fn end(&self, decoder: &mut Decoder, at_work: &Arc<Semaphore>) {
        // What we have asked is not answered any more.
        self.peer.lock().clear();
        let ending = async {
            if let Ok(Some(last)) = decoder.last_message() {
                self.take_one(&last, at_work).await;
            }
            self.handler.ended().await;
            let all = u32::try_from(self.peer.0.dialect.at_work).unwrap_or(u32::MAX);
            // All permits are back once everything is answered.
            drop(at_work.acquire_many(all).await);
            self.peer.written().await;
        };
        tokio::select! {
            _late = tokio::time::timeout(GOODBYE, ending) => {}
            () = self.peer.closed() => {}
        }
    }

    async fn take_all(&self, decoder: &mut Decoder, at_work: &Arc<Semaphore>) -> Result<(), Lost> {
        while let Some(message) = decoder.next_message()? {
            self.take_one(&message, at_work).await;
        }
        Ok(())
    }

    async fn take_one(&self, message: &[u8], at_work: &Arc<Semaphore>) {
        match read(message) {
            Ok(incoming) => self.take(incoming, at_work).await,
            Err(error) => self.complain(message, &error).await,
        }
    }

    /// Answers what is no message, where nothing else may be sent; what a server prints by the way is let pass.
    async fn complain(&self, message: &[u8], error: &serde_json::Error) {
        tracing::debug!(%error, "a message cannot be read");
        if self.peer.0.dialect.framing != Framing::OnlyLines {
            return;
        }
        let sent: Value = serde_json::from_slice(message).unwrap_or_default();
        let id = sent.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
        let answer = answer(&id.unwrap_or_default(), Err(Fault::unreadable(error)));
        if let Ok(slot) = self.peer.slot().await {
            slot.send(&answer);
        }
    }

    async fn take(&self, incoming: Incoming, at_work: &Arc<Semaphore>) {
        let Incoming { id, method, params, result, error } = incoming;
        match (method, id) {
            (Some(method), None) => self.handler.notification(&method, params),
            (Some(method), Some(id)) => {
                let Ok(permit) = at_work.clone().acquire_owned().await else { return };
                let answering = self.handler.request(&method, params);
                let (peer, handler) = (self.peer.clone(), self.handler.clone());
                self.scope.spawn(async move {
                    let result = answering.await;
                    if let Ok(slot) = peer.slot().await {
                        slot.send(&answer(&id, result.as_ref().map_err(Clone::clone)));
                        if let Ok(result) = &result {
                            handler.answered(&method, result);
                        }
                    }
                    drop(permit);
                });
            }
            (None, Some(id)) => {
                let waiting = id.as_i64().and_then(|id| self.peer.lock().remove(&id));
                let Some(waiting) = waiting else { return };
                let answer = error.map_or(Ok(result), |fault| Err(RpcError::Refused(fault)));
                // Whoever asked may have stopped waiting.
                waiting.send(answer).ok();
            }
            (None, None) => {}
        }
    }
}

/// A message. Read as an object first: a list of the right length would do for a structure, too.
fn read(message: &[u8]) -> Result<Incoming, serde_json::Error> {
    let fields: Map<String, Value> = serde_json::from_slice(message)?;
    serde_json::from_value(Value::Object(fields))
}

/// An answer as it goes over the wire.
fn answer(id: &Value, result: Result<&Value, Fault>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Fault { code, message }) => {
            let error = json!({ "code": code, "message": message });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    }
}

#[cfg(test)]
mod tests;
