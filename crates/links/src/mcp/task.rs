//! Tools that a server runs as tasks: it answers at once that it has begun, and is asked how it goes until it has
//! ended. For whoever called it is a call like any other.
//!
//! | | with `initialize` (2025-11-25) | without (2026-07-28, an extension) |
//! |---|---|---|
//! | begins | where the tool wants it and we say so | where the server wants it |
//! | questions | while its result is waited for | in what it says of itself; answers are sent to it |
//! | result | asked for | in what it says of itself |

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::try_join_all;
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, CustomRequest, ErrorData, GetTaskParams,
    GetTaskRequest, InputRequests, InputResponses, ServerResult, TaskStatus, UpdateTaskParams,
    UpdateTaskRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use super::ask::refused;
use super::connection::{Connection, Failure, Lifecycle};
use super::content;
use super::desk::Call;
use super::talk::Answer;

/// How long a task may take, unless the settings have more patience.
const LONGEST: Duration = Duration::from_hours(1);
/// How long a server is left alone between two questions where it does not say.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest such pause, whatever it says.
const SHORTEST: Duration = Duration::from_millis(100);
/// The longest.
const LONG: Duration = Duration::from_mins(1);
/// How often in a row it may be out of reach before the task is given up.
const TRIES: usize = 3;
/// Questions that are answered for one task.
const QUESTIONS: usize = 100;
/// How long a task nobody waits for any more may take to say which it is.
const LATE: Duration = Duration::from_secs(10);
/// The error of something that was taken back.
const TAKEN_BACK: i32 = -32800;

/// What a server says of a task.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    #[serde(rename = "taskId")]
    id: String,
    status: TaskStatus,
    status_message: Option<String>,
    #[serde(alias = "pollInterval")]
    poll_interval_ms: Option<f64>,
    input_requests: Option<Value>,
    result: Option<Value>,
    error: Option<ErrorData>,
}

impl Task {
    /// The task that a call has become, or that was asked after; none where it is an answer.
    pub(super) fn of(result: &ServerResult) -> Option<Self> {
        let is_task = matches!(
            result,
            ServerResult::CreateTaskResult(_)
                | ServerResult::GetTaskResult(_)
                | ServerResult::CustomResult(_)
        );
        let mut value = is_task.then(|| serde_json::to_value(result).ok())??;
        let task = value.get_mut("task").map(Value::take);
        serde_json::from_value(task.unwrap_or(value)).ok()
    }

    /// How long it is left alone: as long as it wants, but not so long that it would count as silent.
    fn pause(&self, patience: Duration) -> Duration {
        let told = self.poll_interval_ms.map(|ms| Duration::try_from_secs_f64(ms / 1e3));
        let told = told.map_or(PAUSE, |told| told.unwrap_or(LONG));
        told.min(LONG).min(patience / 2).max(SHORTEST)
    }

    /// What has become of it; none as long as it is worked on.
    fn ended(&mut self) -> Option<Result<Answer, Failure>> {
        let said = self.status_message.as_deref();
        let ended = |code, what: &str| {
            let words = said.map_or_else(|| what.to_owned(), |said| format!("{what}: {said}"));
            Err(refused(&ErrorData::new(rmcp::model::ErrorCode(code), words, None)))
        };
        match self.status {
            TaskStatus::Completed => {
                Some(Ok(content::answer_of_value(&self.result.take().unwrap_or_default())))
            }
            TaskStatus::Failed => Some(match &self.error {
                Some(error) => Err(refused(error)),
                None => ended(-32603, "the task failed"),
            }),
            TaskStatus::Cancelled => Some(ended(TAKEN_BACK, "it has taken the task back")),
            // rmcp may learn more states; whoever is in one of them is not done.
            TaskStatus::Working | TaskStatus::InputRequired | _ => None,
        }
    }
}

/// The call of a tool that is to become a task.
pub(super) fn begin(tool: &str, arguments: &Map<String, Value>) -> ClientRequest {
    let ttl = u64::try_from(LONGEST.as_millis()).unwrap_or(u64::MAX);
    let params = json!({ "name": tool, "arguments": arguments, "task": { "ttl": ttl } });
    ClientRequest::CustomRequest(CustomRequest::new(CALL, Some(params)))
}

const CALL: &str = "tools/call";

/// Whether a request begins a task for sure.
pub(super) fn begins(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::CustomRequest(request) if request.method == CALL)
}

/// Takes back a task that is just about to begin.
pub(super) async fn never_mind(mut handle: RequestHandle<RoleClient>) {
    match timeout(LATE, &mut handle.rx).await {
        Ok(Ok(Ok(result))) => {
            if let Some(task) = Task::of(&result) {
                cancel(&handle.peer, task.id).await;
            }
        }
        Ok(_) => {}
        Err(_) => {
            handle.cancel(Some("nobody waits for it any more".to_owned())).await.ok();
        }
    }
}

async fn cancel(peer: &Peer<RoleClient>, task: String) {
    let request = CancelTaskRequest::new(CancelTaskParams::new(task));
    let request = ClientRequest::CancelTaskRequest(request);
    let sending = peer.send_request_with_option(request, PeerRequestOptions::no_options());
    if let Ok(handle) = sending.await {
        // Whatever it says to that.
        timeout(LATE, handle.rx).await.ok();
    }
}

impl Connection {
    /// Waits for a task, and gives what the call would have given that became it.
    pub(super) async fn finished(&self, task: Task, call: &Call) -> Result<Answer, Failure> {
        let longest = LONGEST.max(self.patience.answer);
        let mut watched = Watched::new(self, call, task);
        let ended = match self.about.lifecycle {
            Lifecycle::Newest => timeout(longest, watched.tells()).await,
            Lifecycle::Older => timeout(longest, watched.is_asked()).await,
        };
        watched.is_over = matches!(ended, Ok(Ok(_))) || watched.task.status.is_terminal();
        ended.unwrap_or(Err(Failure::TimedOut { after: longest }))
    }
}

/// A task that somebody waits for; the server is told when nobody does any more.
struct Watched<'a> {
    connection: &'a Connection,
    call: &'a Call,
    task: Task,
    /// Its last words that were passed on.
    said: Option<String>,
    /// Questions of it that were answered.
    answered: BTreeSet<String>,
    /// How often it was out of reach since it was last heard of.
    missed: usize,
    is_over: bool,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let scope = &self.connection.scope;
        if self.is_over
            || scope.token().is_cancelled()
            || tokio::runtime::Handle::try_current().is_err()
        {
            return;
        }
        let (peer, task) = (self.connection.peer.clone(), self.task.id.clone());
        scope.spawn(async move { cancel(&peer, task).await });
    }
}

impl<'a> Watched<'a> {
    fn new(connection: &'a Connection, call: &'a Call, task: Task) -> Self {
        call.became(&task.id);
        let (said, answered) = (None, BTreeSet::new());
        Self { connection, call, task, said, answered, missed: 0, is_over: false }
    }

    /// Waits for a task that tells all by itself.
    async fn tells(&mut self) -> Result<Answer, Failure> {
        loop {
            self.pass_on();
            if let Some(ended) = self.task.ended() {
                return ended;
            }
            if self.task.status == TaskStatus::InputRequired {
                self.answer().await?;
            }
            self.look().await?;
        }
    }

    /// Waits for a task whose questions and result have to be asked for.
    async fn is_asked(&mut self) -> Result<Answer, Failure> {
        self.pass_on();
        while self.task.status == TaskStatus::Working {
            self.look().await?;
            self.pass_on();
        }
        if self.task.status == TaskStatus::Cancelled {
            return self.task.ended().unwrap_or(Err(Failure::Cancelled));
        }
        let (connection, call) = (self.connection, self.call);
        let params = json!({ "taskId": self.task.id });
        let request =
            ClientRequest::CustomRequest(CustomRequest::new("tasks/result", Some(params)));
        let mut asking = Box::pin(connection.ask(request, call, connection.patience.answer));
        // That it answers how the task goes shows that it works on it. It may have forgotten it with the result.
        loop {
            tokio::select! {
                biased;
                answered = &mut asking => return answered.map(content::answer_of),
                looked = self.look() => if looked.is_err() { break },
            }
            self.pass_on();
        }
        asking.await.map(content::answer_of)
    }

    /// Asks how it goes, after a pause.
    async fn look(&mut self) -> Result<(), Failure> {
        let patience = self.connection.patience.answer;
        let pause = self.task.pause(patience);
        sleep(SHORTEST).await;
        // The server may say itself that there is something to see.
        timeout(pause.saturating_sub(SHORTEST), self.call.stirred.notified()).await.ok();
        let params = GetTaskParams::new(self.task.id.clone());
        let request = ClientRequest::GetTaskRequest(GetTaskRequest::new(params));
        match self.connection.ask(request, self.call, patience).await {
            Ok(result) => {
                let task = Task::of(&result).filter(|task| task.id == self.task.id);
                let wrong =
                    || Failure::Broken("what it says of its task makes no sense".to_owned());
                let told = task.ok_or_else(wrong)?;
                let poll_interval_ms = told.poll_interval_ms.or(self.task.poll_interval_ms);
                self.task = Task { poll_interval_ms, ..told };
                self.missed = 0;
                self.call.beats();
                Ok(())
            }
            // A task goes on without us; whoever asks for it may be cut off for a moment.
            Err(Failure::Broken(_)) if !self.connection.is_ending() && self.missed < TRIES => {
                self.missed += 1;
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    fn pass_on(&mut self) {
        let words = self.task.status_message.as_deref().map(str::trim);
        if let Some(words) = words.filter(|words| !words.is_empty())
            && self.said.as_deref() != Some(words)
        {
            self.call.is_at(words);
            self.said = Some(words.to_owned());
        }
    }

    /// Answers what it wants to know and has not been told yet.
    async fn answer(&mut self) -> Result<(), Failure> {
        let asked = self.task.input_requests.take().unwrap_or_default();
        let asked: InputRequests = serde_json::from_value(asked)
            .map_err(|_| Failure::Broken("its questions cannot be read".to_owned()))?;
        let open: InputRequests =
            asked.into_iter().filter(|(key, _)| !self.answered.contains(key)).collect();
        if open.is_empty() {
            return Ok(());
        }
        if self.answered.len() + open.len() > QUESTIONS {
            return Err(Failure::Broken("it asks again and again instead of answering".to_owned()));
        }
        self.answered.extend(open.keys().cloned());
        let (desk, call) = (&self.connection.desk, self.call);
        let answering = open.into_iter().map(async |(key, request)| {
            let answer = desk.input(call, request).await.map_err(|error| refused(&error))?;
            Ok::<_, Failure>((key, answer))
        });
        let responses: InputResponses = try_join_all(answering).await?.into_iter().collect();
        let params = UpdateTaskParams::new(self.task.id.clone(), responses);
        let request = ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(params));
        let patience = self.connection.patience.answer;
        self.connection.ask(request, call, patience).await.map(drop)
    }
}
