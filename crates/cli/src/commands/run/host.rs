//! The program at the other end of the pipes, with `--input-format stream-json`: a JSON line a message.

mod message;

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, Read};
use std::thread;

use base::protocol::Question;
use base::{Part, RequestId};
use serde_json::Value;
use tokio::sync::mpsc;

pub(crate) use self::message::{Ask, Heard};
use crate::failure::Failure;

/// Most bytes of one line: pictures come in base64.
const LINE_LIMIT: u64 = 64 * 1024 * 1024;
/// Lines read ahead; a host that writes faster waits in its pipe.
const AHEAD: usize = 16;

/// The other end of the pipes.
pub(crate) struct Host {
    lines: mpsc::Receiver<io::Result<Vec<u8>>>,
    number: usize,
    /// Prompts that wait for the running turn.
    pub(crate) prompts: VecDeque<Vec<Part>>,
    /// What we asked and the host has not answered yet, by the id it will answer to.
    pub(crate) asked: HashMap<String, Asked>,
    /// Whether everything has been read.
    pub(crate) has_ended: bool,
}

/// A question the host was sent.
#[derive(Debug, Clone)]
pub(crate) enum Asked {
    /// May this call run?
    Approval {
        /// What to answer to.
        request: RequestId,
        /// The input the host was shown.
        input: Value,
    },
    /// Something the model wants to know.
    Questions {
        /// What to answer to.
        request: RequestId,
        /// The questions.
        questions: Vec<Question>,
    },
}

impl Asked {
    /// What to answer to.
    pub(crate) fn request(&self) -> RequestId {
        match self {
            Self::Approval { request, .. } | Self::Questions { request, .. } => *request,
        }
    }
}

impl Host {
    /// Begins to read standard input.
    pub(crate) fn at_standard_input() -> Self {
        let (sender, lines) = mpsc::channel(AHEAD);
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut line = Vec::new();
                let read = (&mut stdin).take(LINE_LIMIT).read_until(b'\n', &mut line);
                let is_end = !matches!(read, Ok(1..));
                if !matches!(read, Ok(0)) && sender.blocking_send(read.map(|_| line)).is_err() {
                    return;
                }
                if is_end {
                    return;
                }
            }
        });
        let (prompts, asked) = (VecDeque::new(), HashMap::new());
        Self { lines, number: 0, prompts, asked, has_ended: false }
    }

    /// What the host says next; none once it has ended.
    pub(crate) async fn next(&mut self) -> Result<Option<Heard>, Failure> {
        let Some(line) = self.lines.recv().await else {
            self.has_ended = true;
            return Ok(None);
        };
        self.number += 1;
        let line =
            line.map_err(|error| Failure::user(format!("cannot read standard input: {error}")))?;
        message::read(&line).map(Some).map_err(|why| {
            Failure::user(format!("line {} of standard input {why}", self.number)).hint(
                r#"messages look like {"type":"user","message":{"role":"user","content":"…"}}"#,
            )
        })
    }
}
