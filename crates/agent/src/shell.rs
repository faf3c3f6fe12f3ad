//! Commands of the user's own: typed at a face, run by the user's shell with all that the user may do. The
//! model sees what came of them with its next request; no turn begins.

use std::sync::Arc;
use std::time::Duration;

use base::protocol::ClientError;
use base::transcript::Outcome;
use base::{Block, CallId, Event, Part, SessionId};
use guard::process::{Command, Terminals};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tools::bound::Spill;
use tools::jobs::{self, Cause, Job, Start};

use crate::coordinator::Hub;
use crate::lane::Note;
use crate::live::lock;
use crate::lookup::Sight;

/// How often a face is shown what a command prints.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// How many lines it is shown: a screenful.
const PROGRESS_LINES: usize = 24;

/// A command on its way.
struct Run {
    sight: Arc<Sight>,
    call: CallId,
    line: String,
    job: Arc<Job>,
    stop: CancellationToken,
}

/// Starts a command; it goes on by itself, and its session hears of its end.
pub(crate) async fn run(hub: &Hub, session: SessionId, line: String) -> Result<(), ClientError> {
    let line = line.trim().to_owned();
    if line.is_empty() || line.contains('\0') {
        return Err(ClientError::Refused("there is no command to run".to_owned()));
    }
    let owner = hub.lane(session).await?;
    let run = Run::start(owner.sight().clone(), line)?;
    hub.scope.spawn(async move {
        let parts = run.follow().await;
        // A session that is closed meanwhile ends its commands, too: there is nothing to tell.
        drop(owner.tell(Note::Ran(parts)).await);
    });
    Ok(())
}

impl Run {
    fn start(sight: Arc<Sight>, line: String) -> Result<Self, ClientError> {
        let call = CallId::generate();
        let title = format!("! {line}");
        let start = Start {
            command: command(&sight, &line),
            title: title.clone(),
            spill: Spill::new(sight.workspace.spill.clone(), call.as_str()),
            timeout: None,
            origin: base::Origin::Shell,
        };
        let job = sight.workspace.jobs.start(start);
        let job = job.map_err(|error| ClientError::Refused(error.to_string()))?;
        let begun = Event::ToolStarted { session: sight.id, call: call.clone(), title };
        let stop = {
            let mut shells = lock(&sight.live.shells);
            shells.running.insert(call.clone(), begun.clone());
            shells.stop.clone()
        };
        sight.events.publish(begun);
        Ok(Self { sight, call, line, job, stop })
    }

    /// Waits for the end, and tells faces and model what came of it.
    async fn follow(self) -> Vec<Part> {
        let ended = tokio::select! {
            biased;
            () = self.stop.cancelled() => {
                self.job.end();
                self.job.ended().await
            }
            ending = self.job.ended() => ending,
            () = self.show_progress() => self.job.ended().await,
        };
        let mut text = self.job.text().trim_end_matches('\n').to_owned();
        if text.is_empty() {
            text.push_str("no output");
        }
        let how = match ended.cause {
            Cause::Itself if ended.exit.is_success() => None,
            Cause::Itself | Cause::TimedOut => Some(ended.exit.to_string()),
            Cause::Asked => Some("the user stopped it".to_owned()),
        };
        for more in how.into_iter().chain(self.job.notes()) {
            text.push('\n');
            text.push_str(&more);
        }
        let text = self.sight.mind.redactor.text(&text).into_owned();
        let is_done = ended.cause == Cause::Itself && ended.exit.is_success();
        self.sight.events.publish(Event::ToolDone {
            session: self.sight.id,
            call: self.call.clone(),
            outcome: if is_done { Outcome::Done } else { Outcome::Failed },
            title: format!("! {}", self.line),
            body: Some(Block::Text { text: text.clone() }),
        });
        let line = self.sight.mind.redactor.text(&self.line).into_owned();
        Part::own_command(&line, text)
    }

    /// Shows the last lines for as long as it is polled.
    async fn show_progress(&self) {
        loop {
            let (version, next) = (self.job.version(), Instant::now() + PROGRESS_EVERY);
            let tail = self.job.last_lines(PROGRESS_LINES);
            if !tail.is_empty() {
                let text = self.sight.mind.redactor.text(&tail).into_owned();
                let (session, call) = (self.sight.id, self.call.clone());
                let body = Block::Text { text };
                self.sight.events.publish(Event::ToolProgress { session, call, body });
            }
            sleep_until(next).await;
            self.job.changed(version).await;
        }
    }
}

impl Drop for Run {
    /// Whoever no longer waits has no use for the process, nor for what it left behind.
    fn drop(&mut self) {
        lock(&self.sight.live.shells).running.remove(&self.call);
        self.job.end();
    }
}

/// The user's shell with the user's own environment, outside every cage.
fn command(sight: &Sight, line: &str) -> Command {
    let env = &sight.mind.env.with(sight.workspace.exported.all());
    let own = env.get("SHELL").filter(|shell| shell.starts_with('/'));
    // A line that begins with a dash would be an option of the shell.
    let line = if line.starts_with('-') { format!(" {line}") } else { line.to_owned() };
    Command {
        program: own.unwrap_or_else(|| jobs::shell(env)).to_owned(),
        args: vec!["-c".to_owned(), line],
        folder: sight.workspace.fence.folder().to_owned(),
        env: env.with([("TERM".to_owned(), "dumb".to_owned())]),
        cage: None,
        stdio: Terminals::Output,
    }
}
