//! A message a line, over a program's input and output.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use guard::process::{Input, Output};
use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::{Ending, Gather, Gathered, Heard, hear};
use crate::child::{Log, Pipes};

/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// How much that is no message is survived between two messages.
const NOISE: usize = 1 << 20;

/// The wire to a program.
pub(in crate::mcp) struct Lines {
    /// None once it is closed.
    input: Arc<Mutex<Option<Input>>>,
    output: Output,
    chunk: Vec<u8>,
    line: Gather,
    heard: VecDeque<ServerJsonRpcMessage>,
    noise: usize,
    log: Log,
    ending: Ending,
    /// Cancelled when nothing can be said any more: whoever does not listen is not listened to.
    deaf: CancellationToken,
}

impl Lines {
    /// Talks over pipes. What is no message goes to `log`.
    pub(in crate::mcp) fn new(pipes: Pipes, log: Log, ending: Ending) -> Self {
        Self {
            input: Arc::new(Mutex::new(Some(pipes.input))),
            output: pipes.output,
            chunk: vec![0; CHUNK],
            line: Gather::default(),
            heard: VecDeque::new(),
            noise: 0,
            log,
            ending,
            deaf: CancellationToken::new(),
        }
    }

    fn take(&mut self, count: usize) {
        let chunk = std::mem::take(&mut self.chunk);
        let mut rest = &chunk[..count];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.push(&rest[..end]);
            rest = &rest[end + 1..];
            let line = self.line.take();
            self.take_line(line);
        }
        self.line.push(rest);
        self.chunk = chunk;
    }

    fn take_line(&mut self, line: Gathered) {
        let shown = match &line {
            Gathered::Whole(bytes) if bytes.first() != Some(&b'{') => bytes.clone(),
            Gathered::Whole(_) | Gathered::Overlong { .. } => Vec::new(),
        };
        let length = match &line {
            Gathered::Whole(bytes) => bytes.len(),
            Gathered::Overlong { .. } => super::LONGEST,
        };
        match hear(line) {
            Heard::Messages(messages) => {
                self.noise = 0;
                self.heard.extend(messages);
            }
            Heard::Noise => {
                self.noise += length + 1;
                self.log.push(&shown);
                self.log.push(b"\n");
            }
        }
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (input, ending, deaf) = (self.input.clone(), self.ending.clone(), self.deaf.clone());
        async move {
            let mut bytes = serde_json::to_vec(&item)?;
            bytes.push(b'\n');
            let mut input = input.lock().await;
            let input = input.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            let sent = async {
                input.write_all(&bytes).await?;
                input.flush().await
            };
            // A program that ends early is heard of here or where its output is read, whichever is first.
            sent.await.inspect_err(|_| {
                ending.because("it closed its input");
                deaf.cancel();
            })
        }
    }

    // Whoever waits for it may stop at the read: what was read before is kept.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.heard.pop_front() {
                return Some(message);
            }
            if self.noise > NOISE {
                self.ending.because("it prints what is no message");
                return None;
            }
            let read = tokio::select! {
                biased;
                read = self.output.read(&mut self.chunk) => read,
                () = self.deaf.cancelled() => return None,
            };
            match read {
                Ok(0) => {
                    self.ending.because("it closed its output");
                    return None;
                }
                Ok(count) => self.take(count),
                Err(error) => {
                    self.ending.because(format!("it cannot be read: {error}"));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.input.lock().await.take();
        Ok(())
    }
}
