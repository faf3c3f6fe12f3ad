//! The task that owns a process.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use guard::cage::Swept;
use guard::process::{Child, Input, Output, Terminals};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::GRACE;
use super::ending::{Cause, Ending, Exit, Rest};
use super::job::{Job, Typed};

/// As much as a pipe holds.
const READ_BYTES: usize = 64 * 1024;
/// How long output is awaited after a process has ended: somebody it left behind may hold the pipe for ever.
const AFTERMATH: Duration = Duration::from_millis(100);
/// What ends the input of a pipe: the end-of-file key of a terminal.
const END_OF_INPUT: &[u8] = b"\x04";

/// Reads what a process prints until it and all it left behind are gone, or until it was ended.
pub(super) async fn own(mut child: Child, job: &Job, timeout: Option<Duration>) {
    let mut reader = Reader::new(child.output.take());
    let (exit, cause) = run(&mut child, &mut reader, job, timeout).await;
    if cause != Cause::Itself {
        // Who ignored the interrupt, as everything in the background of a shell does.
        child.kill();
    }
    drain(&mut reader, job).await;
    // A second look, now that those who were just ending have ended.
    child.wait().await.ok();
    job.set_notes(child.sweep().iter().map(told).collect());
    let rest = if child.is_gone() { Rest::Gone } else { Rest::LivesOn };
    job.set_ended(Ending { exit, cause, rest });
    if rest == Rest::LivesOn {
        accompany(&mut child, &mut reader, job).await;
    }
}

/// Until the process itself has ended.
async fn run(
    child: &mut Child,
    reader: &mut Reader,
    job: &Job,
    timeout: Option<Duration>,
) -> (Exit, Cause) {
    let mut cause = Cause::Itself;
    let mut too_long = pin!(async {
        match timeout {
            Some(timeout) => sleep(timeout).await,
            None => std::future::pending().await,
        }
    });
    let mut kill_at: Option<Instant> = None;
    loop {
        let untroubled = cause == Cause::Itself;
        let grace_over = async {
            match kill_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = job.shall_end().cancelled(), if untroubled => cause = Cause::Asked,
            () = &mut too_long, if untroubled => cause = Cause::TimedOut,
            () = grace_over => {
                child.kill();
                kill_at = None;
            }
            status = child.wait() => return (status.map_or(Exit::Unknown, Exit::of), cause),
            bytes = reader.read(), if reader.is_open() => job.push(bytes),
        }
        if untroubled && cause != Cause::Itself {
            child.interrupt();
            kill_at = Some(Instant::now() + GRACE);
        }
    }
}

/// Takes what is still in the pipe.
async fn drain(reader: &mut Reader, job: &Job) {
    let mut patience = pin!(sleep(AFTERMATH));
    while reader.is_open() {
        tokio::select! {
            bytes = reader.read() => job.push(bytes),
            () = &mut patience => return,
        }
    }
    job.finish();
}

/// Stays with those whom a process left behind: hears what they print, and ends them when asked.
async fn accompany(child: &mut Child, reader: &mut Reader, job: &Job) {
    while reader.is_open() {
        tokio::select! {
            biased;
            () = job.shall_end().cancelled() => break,
            bytes = reader.read() => job.push(bytes),
        }
    }
    job.finish();
    child.wait().await.ok();
    if !child.is_gone() {
        // They write elsewhere. Outside a sandbox nobody tells when they end.
        tokio::select! {
            () = job.shall_end().cancelled() => {
                child.end(GRACE).await.ok();
            }
            ended = child.all_ended() => drop(ended),
        }
    }
    for swept in child.sweep() {
        tracing::warn!(place = %swept.place.display(), "a command made a protected place");
    }
}

/// What a model is told of a protected place that came into being.
fn told(swept: &Swept) -> String {
    let place = swept.place.display();
    match &swept.aside {
        Some(aside) => format!(
            "{place} is protected; what the command made there is now in {}",
            aside.display()
        ),
        None => format!("{place} is protected, and the command made it all the same; it should go"),
    }
}

/// A process's output, and room to read it into.
struct Reader {
    output: Option<Output>,
    buffer: Vec<u8>,
}

impl Reader {
    fn new(output: Option<Output>) -> Self {
        Self { output, buffer: vec![0; READ_BYTES] }
    }

    fn is_open(&self) -> bool {
        self.output.is_some()
    }

    /// What comes next; nothing at the end. Can be dropped and called again.
    async fn read(&mut self) -> &[u8] {
        let count = match &mut self.output {
            Some(output) => output.read(&mut self.buffer).await.unwrap_or(0),
            None => 0,
        };
        if count == 0 {
            self.output = None;
        }
        &self.buffer[..count]
    }
}

/// Writes what is typed for a process, one piece after the other, until it has ended.
pub(super) async fn write(mut input: Input, mut inbox: mpsc::Receiver<Typed>, job: Arc<Job>) {
    let typing = async {
        while let Some(Typed { bytes, done }) = inbox.recv().await {
            if bytes == END_OF_INPUT && job.stdio() == Terminals::InputOutput {
                done.send(Ok(())).ok();
                return;
            }
            let written = input.write_all(&bytes).await;
            // Who sent it may have stopped waiting.
            done.send(written).ok();
        }
    };
    tokio::select! {
        () = typing => {}
        _ = job.ended() => {}
    }
}
