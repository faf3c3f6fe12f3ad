//! From a server's settings to a connection: its program or address, the wire, the first words.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use base::TaskScope;
use http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{ProtocolVersion, ServerPeerInfo, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RoleClient, RunningService, SubscriptionEnd,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpClient,
    StreamableHttpClientTransportConfig,
};
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::ask::refused;
use super::auth::{Account, SignInError, Signed};
use super::connection::{About, Connection, Failure, Lifecycle, Opening};
use super::desk::{Desk, ask_for_log, log_meta};
use super::menu::shown;
use super::reach::{Address, Patience, Reach, reach};
use super::wire::{Ending, Events, EventsError, Http, LONGEST, Lines, Probe, innermost};
use crate::child::{Pipes, Program, Supervised};

/// How long a server may take to be told that it is over.
const GOODBYE: Duration = Duration::from_secs(1);
/// How long a server may take to answer the first question of the newer lifecycle.
const FIRST_QUESTION: Duration = Duration::from_secs(5);
/// How long a program that has closed its output may take to end.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The longest pause before a server is asked again for its news.
const LISTEN_AGAIN: Duration = Duration::from_mins(5);
/// Bytes of a server's name that are kept.
const NAME: usize = 200;
/// Bytes of a reason that are passed on.
const WORDS: usize = 1 << 10;
/// Headers that are the protocol's own.
const RESERVED: [&str; 3] = ["accept", "mcp-session-id", "last-event-id"];

/// One attempt at a connection.
pub(super) struct Attempt<'a> {
    pub(super) opening: &'a Opening,
    pub(super) lifecycle: Lifecycle,
    pub(super) scope: TaskScope,
}

type Running = RunningService<RoleClient, Arc<Desk>>;

impl Attempt<'_> {
    pub(super) async fn run(self) -> Result<Connection, Failure> {
        let Opening { server, outside, log, .. } = self.opening;
        let (ending, patience) = (Ending::default(), Patience::of(server));
        let desk = Arc::new(Desk::new(outside.folder.clone(), log.clone()));
        let mut child = None;
        let begun = match reach(server, outside).await.map_err(Failure::Broken)? {
            Reach::Program(program) => {
                let (supervised, pipes) = self.start(program).await?;
                child = Some(supervised);
                self.begin(Lines::new(pipes, log.clone(), ending.clone()), &desk).await
            }
            Reach::Http(address) => self.begin_http(address, &desk).await,
            Reach::Events(address) => self.begin_events(address, &desk, &ending).await,
        };
        let service = match begun {
            Ok(service) => service,
            Err(Begun::Failed(failure)) => return Err(told(failure, &ending, child.as_ref()).await),
            Err(Begun::Lost) => {
                return Err(Failure::Broken(last_words(&ending, child.as_ref()).await));
            }
        };
        let (peer, closed) = (service.peer().clone(), CancellationToken::new());
        let info = peer.peer_info();
        let about = info.as_deref().map(about).unwrap_or_default();
        self.watch(service, closed.clone());
        let has_log = info.as_deref().is_some_and(|info| info.capabilities.logging.is_some());
        let mut meta = None;
        match about.lifecycle {
            Lifecycle::Newest => meta = has_log.then(log_meta),
            Lifecycle::Older if has_log => self.ask_for_log(&peer),
            Lifecycle::Older => {}
        }
        if let Some(info) = info.as_deref().filter(|info| !info.protocol_version.has_initialize()) {
            self.listen(&peer, info, &desk.changed);
        }
        Ok(Connection {
            peer,
            desk,
            about,
            child,
            patience,
            meta,
            scope: self.scope,
            closed,
            ending,
            log: log.clone(),
        })
    }

    /// Starts a program, aside: whoever has other things to do is not to wait for that.
    async fn start(&self, program: Program) -> Result<(Supervised, Pipes), Failure> {
        let (log, scope) = (self.opening.log.clone(), self.scope.clone());
        let started = spawn_blocking(move || program.start_with(log, &scope)).await;
        let started = started.map_err(|error| Failure::Broken(error.to_string()))?;
        started.map_err(|error| Failure::Broken(error.to_string()))
    }

    /// Says the first words over a wire.
    async fn begin<T>(&self, wire: T, desk: &Arc<Desk>) -> Result<Running, Begun>
    where
        T: Transport<RoleClient> + 'static,
    {
        let lifecycle = match self.lifecycle {
            Lifecycle::Newest => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            Lifecycle::Older => ClientLifecycleMode::Initialize,
        };
        let patience = (Patience::of(&self.opening.server).start / 2).min(FIRST_QUESTION);
        let wire = Probe::new(wire, patience);
        let end = self.scope.token().child_token();
        let begun = serve_client_with_lifecycle_and_ct(desk.clone(), wire, lifecycle, end);
        Box::pin(begun).await.map_err(Begun::of)
    }

    async fn begin_http(&self, address: Address, desk: &Arc<Desk>) -> Result<Running, Begun> {
        let client = self.client(&address).await?;
        self.begin(streamable(client, address), desk).await
    }

    async fn begin_events(
        &self,
        address: Address,
        desk: &Arc<Desk>,
        ending: &Ending,
    ) -> Result<Running, Begun> {
        let client = self.client(&address).await?;
        let wire = Events::open(client, address.url, address.headers, ending.clone()).await;
        let wire = wire.map_err(|error| match error {
            EventsError::Refused(failure) => broken(&failure),
            EventsError::Broken(_) | EventsError::Elsewhere(_) | EventsError::NoEndpoint => {
                Failure::Broken(error.to_string())
            }
        })?;
        self.begin(wire, desk).await
    }

    /// The HTTP client for an address, with what we are known by there.
    async fn client(&self, address: &Address) -> Result<Signed, Failure> {
        let Opening { name, server, outside, visitor, .. } = self.opening.clone();
        let plain = (outside.dial)(&address.url).map_err(Failure::Broken)?;
        let url = address.url.clone();
        // A client's id may come from a command, which blocks.
        let account = spawn_blocking(move || Account::of(&name, &url, &server, &outside)).await;
        let account = account.map_err(|error| Failure::Broken(error.to_string()))?;
        let account = account.map_err(unsigned)?.map(|account| match visitor {
            Some(visitor) => account.visited_by(visitor),
            None => account,
        });
        Ok(Signed::new(Http::new(plain), account.map(Arc::new)))
    }

    /// Notices when the other side is gone.
    fn watch(&self, service: Running, closed: CancellationToken) {
        let ended = self.scope.token().clone();
        self.scope.spawn_settling(async move {
            let mut waiting = std::pin::pin!(service.waiting());
            tokio::select! {
                // However it ended, it has.
                _ = &mut waiting => {}
                () = ended.cancelled() => {
                    // It may have to tell a server far away.
                    timeout(GOODBYE, waiting).await.ok();
                }
            }
            closed.cancel();
        });
    }

    /// Asks a server of the older lifecycle to tell what it does. Nobody waits for what it says to that.
    fn ask_for_log(&self, peer: &Peer<RoleClient>) {
        let asking = ask_for_log(peer.clone());
        self.scope.spawn(async move {
            if let Err(error) = asking.await {
                tracing::debug!(%error, "a server does not tell what it does");
            }
        });
    }

    /// Asks a server of the newer lifecycle for news of what it lends.
    fn listen(&self, peer: &Peer<RoleClient>, info: &ServerPeerInfo, changed: &Arc<Notify>) {
        let can = &info.capabilities;
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = can.tools.as_ref().and_then(|it| it.list_changed);
        filter.prompts_list_changed = can.prompts.as_ref().and_then(|it| it.list_changed);
        filter.resources_list_changed = can.resources.as_ref().and_then(|it| it.list_changed);
        let wanted = [
            &mut filter.tools_list_changed,
            &mut filter.prompts_list_changed,
            &mut filter.resources_list_changed,
        ];
        if !wanted.into_iter().any(|it| *it == Some(true)) {
            return;
        }
        let (peer, changed) = (peer.clone(), changed.clone());
        self.scope.spawn(async move {
            let mut pause = Duration::from_secs(1);
            while let Ok(mut news) = peer.listen(filter.clone()).await {
                while let Ok(Some(_)) = news.next().await {
                    changed.notify_one();
                }
                if news.end() != Some(&SubscriptionEnd::Abrupt) || peer.is_transport_closed() {
                    return;
                }
                sleep(pause).await;
                pause = (pause * 2).min(LISTEN_AGAIN);
            }
        });
    }
}

/// Why the first words failed.
enum Begun {
    Failed(Failure),
    /// The wire ended; what it knows of the reason is said elsewhere.
    Lost,
}

impl From<Failure> for Begun {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Begun {
    #[expect(clippy::wildcard_enum_match_arm, reason = "rmcp may learn more reasons")]
    fn of(error: ClientInitializeError) -> Self {
        if error.is_authorization_required() || error.auth_challenge().is_some() {
            let challenge = error.auth_challenge().map(str::to_owned);
            return Self::Failed(Failure::SignIn { challenge });
        }
        Self::Failed(match error {
            ClientInitializeError::ConnectionClosed(_) => return Self::Lost,
            ClientInitializeError::JsonRpcError(error) => refused(&error),
            ClientInitializeError::TransportError { error, .. } => broken(error.error.as_ref()),
            ClientInitializeError::Cancelled => Failure::Cancelled,
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
                return Self::of(*fallback);
            }
            ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
                Failure::Broken("it speaks no version of the protocol that we know".to_owned())
            }
            ClientInitializeError::ExpectedInitResponse(_)
            | ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::ConflictInitResponseId(..) => {
                Failure::Broken("its first answer is none to what it was asked".to_owned())
            }
            other => Failure::Broken(shown(&other.to_string(), WORDS)),
        })
    }
}

/// Why a message could not be sent.
pub(super) fn broken(error: &(dyn Error + 'static)) -> Failure {
    let mut next = Some(error);
    while let Some(cause) = next {
        let challenge = if let Some(required) = cause.downcast_ref::<AuthRequiredError>() {
            Some(required.www_authenticate_header.clone())
        } else {
            let scope = cause.downcast_ref::<InsufficientScopeError>();
            scope.map(|scope| scope.www_authenticate_header.clone())
        };
        let is_unsigned = matches!(
            cause.downcast_ref::<AuthError>(),
            Some(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_))
        );
        if challenge.is_some() || is_unsigned {
            return Failure::SignIn { challenge };
        }
        next = cause.source();
    }
    let why = innermost(error);
    // A server that says no more than that wants it, too.
    if why.contains("HTTP 401") {
        return Failure::SignIn { challenge: None };
    }
    Failure::Broken(shown(&why, WORDS))
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn unsigned(error: SignInError) -> Failure {
    Failure::Broken(error.to_string())
}

fn streamable<C>(client: C, address: Address) -> StreamableHttpClientTransport<C>
where
    C: StreamableHttpClient + Send + Sync + 'static,
{
    let mut config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str());
    config.custom_headers = headers(address.headers);
    config.max_sse_event_size = LONGEST;
    StreamableHttpClientTransport::with_client(client, config)
}

fn headers(map: HeaderMap) -> HashMap<HeaderName, HeaderValue> {
    let named = map.into_iter().filter_map(|(name, value)| Some((name?, value)));
    named.filter(|(name, _)| !RESERVED.contains(&name.as_str())).collect()
}

/// What a server says of itself.
fn about(info: &ServerPeerInfo) -> About {
    let can = &info.capabilities;
    let named = info.server_info.as_ref().map(|it| format!("{} {}", it.name, it.version));
    About {
        name: named.map(|name| shown(&name, NAME)),
        protocol: info.protocol_version.to_string(),
        lifecycle: if info.protocol_version.has_initialize() {
            Lifecycle::Older
        } else {
            Lifecycle::Newest
        },
        instructions: info.instructions.clone().filter(|text| !text.trim().is_empty()),
        has_tools: can.tools.is_some(),
        has_prompts: can.prompts.is_some(),
        has_resources: can.resources.is_some(),
    }
}

/// A failure to send, told as what it is where the wire has ended.
pub(super) async fn told(failure: Failure, ending: &Ending, child: Option<&Supervised>) -> Failure {
    match failure {
        Failure::Broken(_) if ending.why().is_some() => {
            Failure::Broken(last_words(ending, child).await)
        }
        Failure::Broken(_)
        | Failure::SignIn { .. }
        | Failure::TimedOut { .. }
        | Failure::Refused { .. }
        | Failure::Cancelled => failure,
    }
}

/// Why a connection ended, in the words of whoever knows most.
pub(super) async fn last_words(ending: &Ending, child: Option<&Supervised>) -> String {
    let why = ending.why().unwrap_or("the connection is closed").to_owned();
    let Some(child) = child else { return why };
    let ended = timeout(LAST_WORDS, child.ended()).await;
    let why = ended.map_or(why, |how| format!("it ended ({how})"));
    let said = child.log().last_said();
    said.map_or_else(|| why.clone(), |line| format!("{why}; it said: {line}"))
}
