//! What a server asks of us, and who is asked: whoever has borrowed from it and still waits.

// Sampling, roots and logging are being retired from the protocol; servers of today use them.
#![expect(deprecated, reason = "servers still use what the protocol retires")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, CustomNotification,
    CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    InitializeRequestParams, InputRequest, JsonObject, ListRootsResult, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    RequestId, RequestMetaObject, Role, Root, RootsCapabilities, SamplingCapability,
    SamplingMessage, SamplingMessageContentBlock, SetLevelRequestParams, TASKS_EXTENSION_ID,
    UrlElicitationCapability,
};
use rmcp::service::{
    InboundStreamOrigin, NotificationContext, Peer, RequestContext, RoleClient, ServiceError,
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::menu::shown;
use super::talk::{Borrower, Content, Elicited, Message, Progress, Sampling};
use super::{content, form};
use crate::child::Log;

/// Questions of one server that are open at once; more are refused.
const QUESTIONS: usize = 8;

/// What a question about a task is marked with.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Bytes of a word about progress that are passed on.
const WORDS: usize = 1 << 10;

/// How much of what a server does it is asked to tell.
const LOGGED: LoggingLevel = LoggingLevel::Info;

/// Asks a server of the older lifecycle to tell what it does.
pub(super) async fn ask_for_log(peer: Peer<RoleClient>) -> Result<(), ServiceError> {
    peer.set_level(SetLevelRequestParams::new(LOGGED)).await
}

/// What asks a server of the newer lifecycle for the same, with each question.
pub(super) fn log_meta() -> RequestMetaObject {
    let mut meta = RequestMetaObject::default();
    meta.set_log_level(LOGGED);
    meta
}

/// Where a server's questions arrive.
pub(super) struct Desk {
    folder: PathBuf,
    log: Log,
    /// Rung when the server has changed what it lends.
    pub(super) changed: Arc<Notify>,
    next: AtomicU64,
    calls: Mutex<BTreeMap<u64, Arc<Call>>>,
    questions: AtomicUsize,
}

/// Something that was asked of the server and is not answered yet.
pub(super) struct Call {
    borrower: Arc<dyn Borrower>,
    /// Under which names the server knows it, as long as it owes an answer to each. The first stays: progress of a
    /// task is told under it.
    sent: Mutex<Vec<(RequestId, ProgressToken)>>,
    /// The task it has become.
    task: Mutex<Option<String>>,
    /// Rung when the server says that the task has changed.
    pub(super) stirred: Notify,
    /// When the server last showed that it works on it.
    beat: Mutex<Instant>,
    /// Questions of the server's about it that are open.
    asked: AtomicUsize,
    over: CancellationToken,
}

/// A call's place at the desk; it leaves when this is dropped.
pub(super) struct Seat {
    desk: Arc<Desk>,
    number: u64,
    call: Arc<Call>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.call.over.cancel();
        self.desk.lock().remove(&self.number);
    }
}

impl Call {
    pub(super) fn new(borrower: Arc<dyn Borrower>) -> Arc<Self> {
        Arc::new(Self {
            borrower,
            sent: Mutex::default(),
            task: Mutex::default(),
            stirred: Notify::new(),
            beat: Mutex::new(Instant::now()),
            asked: AtomicUsize::new(0),
            over: CancellationToken::new(),
        })
    }

    /// Notes under which names the server knows it, and that it has it from now.
    pub(super) fn sent(&self, request: RequestId, token: ProgressToken) {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push((request, token));
        self.beats();
    }

    /// Notes that nothing more comes under a name.
    pub(super) fn answered(&self, request: &RequestId) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let first = sent.first().map(|(first, _)| first.clone());
        sent.retain(|(id, _)| id != request || Some(id) == first.as_ref());
    }

    /// Notes which task it has become.
    pub(super) fn became(&self, task: &str) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.to_owned());
    }

    fn is_task(&self, task: &str) -> bool {
        self.task.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(task)
    }

    /// Passes on what the server says of where it is.
    pub(super) fn is_at(&self, words: &str) {
        let message = Some(shown(words, WORDS));
        self.borrower.progress(Progress { done: None, total: None, message });
    }

    fn is_sent_as(&self, is_it: impl Fn(&(RequestId, ProgressToken)) -> bool) -> bool {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_it)
    }

    /// When the server last showed that it works on it; now, while it waits for us.
    pub(super) fn beat(&self) -> Instant {
        if self.asked.load(Ordering::Relaxed) > 0 {
            return Instant::now();
        }
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn beats(&self) {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// A question that is open.
struct Question<'a> {
    desk: &'a Desk,
    call: &'a Call,
}

impl<'a> Question<'a> {
    fn open(desk: &'a Desk, call: &'a Call) -> Option<Self> {
        if desk.questions.fetch_add(1, Ordering::Relaxed) >= QUESTIONS {
            desk.questions.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        call.asked.fetch_add(1, Ordering::Relaxed);
        Some(Self { desk, call })
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.call.beats();
        self.call.asked.fetch_sub(1, Ordering::Relaxed);
        self.desk.questions.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Desk {
    pub(super) fn new(folder: PathBuf, log: Log) -> Self {
        Self {
            folder,
            log,
            changed: Arc::new(Notify::new()),
            next: AtomicU64::new(0),
            calls: Mutex::default(),
            questions: AtomicUsize::new(0),
        }
    }

    /// A seat for a call.
    pub(super) fn seat(self: &Arc<Self>, call: &Arc<Call>) -> Seat {
        let call = call.clone();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(number, call.clone());
        Seat { desk: self.clone(), number, call }
    }

    /// Whether anybody waits for the server.
    pub(super) fn is_busy(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Answers what a server wants to know before it gives a result.
    pub(super) async fn input(&self, call: &Call, asked: InputRequest) -> Result<Value, ErrorData> {
        let answer = match asked {
            InputRequest::CreateMessage(request) => {
                serde_json::to_value(self.sample(Some(call), request.params).await?)
            }
            InputRequest::Elicitation(request) => {
                let params = serde_json::to_value(&request.params).unwrap_or_default();
                serde_json::to_value(self.elicit(Some(call), &params).await)
            }
            InputRequest::ListRoots(_) => serde_json::to_value(self.roots()),
            // rmcp may learn more questions than we know.
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "unknown", None)),
        };
        answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Has pages visited that a server wants to be visited before it answers.
    pub(super) async fn visited(&self, call: &Call, pages: &[Value]) -> bool {
        for page in pages {
            let answer = self.elicit(Some(call), page).await;
            if !matches!(answer.action, ElicitationAction::Accept) {
                return false;
            }
        }
        true
    }

    /// The call that a question is about: the one whose task it names or whose stream it came on, else the newest.
    fn call(&self, context: &RequestContext<RoleClient>) -> Option<Arc<Call>> {
        let calls = self.lock();
        let task = context.meta.0.0.get(RELATED).and_then(|task| task.get("taskId")?.as_str());
        let is_its = |call: &&Arc<Call>| task.is_some_and(|task| call.is_task(task));
        if let Some(call) = calls.values().find(is_its) {
            return Some(call.clone());
        }
        let origin = context.extensions.get::<InboundStreamOrigin>();
        if let Some(InboundStreamOrigin::OutboundRequest(request)) = origin {
            let is_it = |call: &&Arc<Call>| call.is_sent_as(|(id, _)| id == request);
            return calls.values().find(is_it).cloned();
        }
        calls.values().next_back().cloned()
    }

    async fn elicit(&self, call: Option<&Call>, params: &Value) -> ElicitResult {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let (Some(call), Some(asked)) = (call, form::elicitation(params)) else {
            return declined();
        };
        let Some(_question) = Question::open(self, call) else { return declined() };
        let asking = call.borrower.elicit(asked.clone());
        let elicited = call.over.run_until_cancelled(asking).await;
        match elicited.unwrap_or(Elicited::Cancelled) {
            Elicited::Filled(content) => {
                let accepted = ElicitResult::new(ElicitationAction::Accept);
                match asked {
                    super::Elicitation::Form { .. } => accepted.with_content(content.into()),
                    super::Elicitation::Page { .. } => accepted,
                }
            }
            Elicited::Declined => declined(),
            Elicited::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
        }
    }

    async fn sample(
        &self,
        call: Option<&Call>,
        params: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorData> {
        let refused = |why: String| ErrorData::new(ErrorCode(-1), why, None);
        let call = call.ok_or_else(|| refused("nobody waits for this server now".to_owned()))?;
        let question = Question::open(self, call);
        let _question = question.ok_or_else(|| refused("too many questions at once".to_owned()))?;
        let asking = call.borrower.sample(sampling(params));
        let sampled = call.over.run_until_cancelled(asking).await;
        let sampled = sampled.unwrap_or_else(|| Err("the call is over".to_owned()));
        let sampled = sampled.map_err(refused)?;
        let stop = if sampled.cut_off {
            CreateMessageResult::STOP_REASON_END_MAX_TOKEN
        } else {
            CreateMessageResult::STOP_REASON_END_TURN
        };
        let message = SamplingMessage::assistant_text(sampled.text);
        Ok(CreateMessageResult::new(message, sampled.model).with_stop_reason(stop))
    }

    fn roots(&self) -> ListRootsResult {
        let root = |url: Url| {
            let name = self.folder.file_name().map(|name| name.to_string_lossy().into_owned());
            Root::new(url.as_str()).with_name(name.unwrap_or_else(|| "/".to_owned()))
        };
        let url = Url::from_file_path(&self.folder).ok();
        ListRootsResult::new(url.map(root).into_iter().collect())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Call>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a server wants of a model.
fn sampling(params: CreateMessageRequestParams) -> Sampling {
    let messages = params.messages.iter().flat_map(|message| {
        let by_model = matches!(message.role, Role::Assistant);
        message.content.iter().map(move |block| Message { by_model, content: piece(block) })
    });
    Sampling {
        messages: messages.collect(),
        system: params.system_prompt,
        max_tokens: params.max_tokens.into(),
    }
}

fn piece(block: &SamplingMessageContentBlock) -> Content {
    if let SamplingMessageContentBlock::Text(text) = block {
        return Content::Text(text.text.clone());
    }
    content::content_of_value(&serde_json::to_value(block).unwrap_or_default())
}

impl ClientHandler for Desk {
    fn get_info(&self) -> InitializeRequestParams {
        let mut can = ClientCapabilities::default();
        can.roots = Some(RootsCapabilities::default());
        can.sampling = Some(SamplingCapability::default());
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        can.elicitation = Some(forms.with_url(UrlElicitationCapability::new()));
        can.extensions = Some([(TASKS_EXTENSION_ID.to_owned(), JsonObject::new())].into());
        let us = Implementation::new("caiman", env!("CARGO_PKG_VERSION")).with_title("Caiman");
        InitializeRequestParams::new(can, us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let call = self.call(&context);
        let sampling = self.sample(call.as_deref(), params);
        let cancelled = || ErrorData::internal_error("cancelled", None);
        context.ct.run_until_cancelled(sampling).await.unwrap_or_else(|| Err(cancelled()))
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(request).unwrap_or_default();
        let call = self.call(&context);
        let eliciting = self.elicit(call.as_deref(), &params);
        let answer = context.ct.run_until_cancelled(eliciting).await;
        Ok(answer.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel)))
    }

    // A form with something rmcp does not know arrives here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "elicitation/create" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let call = self.call(&context);
        let params = request.params.unwrap_or_default();
        let eliciting = self.elicit(call.as_deref(), &params);
        let answer = context.ct.run_until_cancelled(eliciting).await;
        let cancelled = || json!({ "action": "cancel" });
        let answer = answer.and_then(|answer| serde_json::to_value(answer).ok());
        Ok(CustomResult::new(answer.unwrap_or_else(cancelled)))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let token = &params.progress_token;
        let is_it = |call: &&Arc<Call>| call.is_sent_as(|(_, sent)| sent == token);
        let Some(call) = self.lock().values().find(is_it).cloned() else { return };
        call.beats();
        call.borrower.progress(Progress {
            done: Some(params.progress),
            total: params.total,
            message: params.message.map(|text| shown(&text, WORDS)),
        });
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleClient>,
    ) {
        if notification.method != "notifications/tasks/status" {
            return;
        }
        let params = notification.params.unwrap_or_default();
        let Some(task) = params.get("taskId").and_then(Value::as_str) else { return };
        let call = self.lock().values().find(|call| call.is_task(task)).cloned();
        if let Some(call) = call {
            call.beats();
            call.stirred.notify_one();
        }
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let text = params.data.as_str().map_or_else(|| params.data.to_string(), str::to_owned);
        let level = serde_json::to_value(params.level).unwrap_or_default();
        self.log.note(&format!("{}: {text}", level.as_str().unwrap_or("log")));
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
