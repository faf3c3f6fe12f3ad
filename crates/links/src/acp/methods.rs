//! What an editor may ask, one function a method.

use std::sync::Arc;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, AgentCapabilities, AuthMethod, AuthMethodAgent, AuthMethodTerminal,
    AuthenticateRequest, AuthenticateResponse, CancelNotification, Implementation,
    InitializeRequest, InitializeResponse, McpCapabilities, PromptCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
    SessionDeleteCapabilities, SessionListCapabilities, SessionResumeCapabilities,
};
use base::ClientError;
use base::protocol::{KeyState, ProviderState, Query, Reply};
use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Shared, invalid, no_model};
use crate::rpc::{Fault, Handler};

/// The only way to sign in.
const LOGIN: &str = "login";
/// The provider that needs no key and knows nothing: whoever wants it names it.
const DEMO: &str = "demo";

/// Takes what an editor asks and tells.
pub(super) struct Methods(pub(super) Arc<Shared>);

impl Handler for Methods {
    fn request(&self, method: &str, params: Value) -> BoxFuture<'static, Result<Value, Fault>> {
        let (shared, method) = (self.0.clone(), method.to_owned());
        Box::pin(async move { shared.request(&method, params).await })
    }

    fn notification(&self, method: &str, params: Value) {
        if method != AGENT_METHOD_NAMES.session_cancel {
            return;
        }
        let Ok(cancelled) = read::<CancelNotification>(params) else { return };
        let shared = self.0.clone();
        self.0.scope.spawn(async move { shared.cancel(&cancelled.session_id).await });
    }

    fn ended(&self) -> BoxFuture<'static, ()> {
        let shared = self.0.clone();
        Box::pin(async move {
            let sessions: Vec<_> = shared.rooms().seats.keys().copied().collect();
            for session in sessions {
                shared.stop(session).await;
            }
        })
    }

    fn answered(&self, method: &str, result: &Value) {
        if method != AGENT_METHOD_NAMES.session_new {
            return;
        }
        let id = result.get("sessionId").and_then(Value::as_str);
        if let Some(id) = id.and_then(|id| id.parse().ok()) {
            self.0.is_known(id);
        }
    }
}

impl Shared {
    async fn request(self: &Arc<Self>, method: &str, params: Value) -> Result<Value, Fault> {
        let names = AGENT_METHOD_NAMES;
        match method {
            _ if method == names.initialize => answer(&self.initialize(read(params)?)),
            _ if method == names.authenticate => answer(&self.authenticate(&read(params)?).await?),
            _ if method == names.session_new => answer(&self.new_session(read(params)?).await?),
            _ if method == names.session_load => answer(&self.load_session(read(params)?).await?),
            _ if method == names.session_resume => {
                answer(&self.resume_session(read(params)?).await?)
            }
            _ if method == names.session_list => answer(&self.list_sessions(read(params)?).await?),
            _ if method == names.session_delete => {
                answer(&self.delete_session(&read(params)?).await?)
            }
            _ if method == names.session_close => {
                answer(&self.close_session(&read(params)?).await?)
            }
            _ if method == names.session_prompt => answer(&self.prompt(read(params)?).await?),
            _ if method == names.session_set_mode => answer(&self.set_mode(&read(params)?).await?),
            _ if method == names.session_set_config_option => {
                answer(&self.set_option(&read(params)?).await?)
            }
            // Editors older than config options choose a model this way.
            "session/set_model" => self.set_model(&params).await,
            other => Err(Fault::unknown(other)),
        }
    }

    fn initialize(&self, asked: InitializeRequest) -> InitializeResponse {
        let can_run_us = asked.client_capabilities.auth.terminal;
        // An editor that says it again is the same one.
        self.editor.set(asked.client_capabilities).ok();
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .delete(SessionDeleteCapabilities::new())
            .additional_directories(SessionAdditionalDirectoriesCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new());
        let abilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
            .session_capabilities(sessions);
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(abilities)
            .auth_methods(vec![sign_in(can_run_us)])
            .agent_info(
                Implementation::new("caiman", self.outside.version).title("Caiman".to_owned()),
            )
    }

    /// Keys are `caiman login`'s: all there is to do is to look whether one is there by now.
    async fn authenticate(
        self: &Arc<Self>,
        asked: &AuthenticateRequest,
    ) -> Result<AuthenticateResponse, Fault> {
        if &*asked.method_id.0 != LOGIN {
            let method = &asked.method_id;
            return Err(invalid(format!("there is no way to sign in called {method}: {LOGIN}")));
        }
        let folder = self.outside.folder.clone();
        let door = self.door(&folder.as_path().into())?;
        if can_answer(&*door, &folder.display().to_string()).await? {
            return Ok(AuthenticateResponse::new());
        }
        Err(no_model())
    }
}

/// Whether some model can be used in a folder.
pub(super) async fn can_answer(door: &dyn base::Client, folder: &str) -> Result<bool, Fault> {
    let place = door.ask(Query::Place { folder: folder.to_owned() }).await.map_err(refused)?;
    if let Reply::Place(place) = place
        && place.model.is_some_and(|model| model.key != KeyState::Missing)
    {
        return Ok(true);
    }
    // A server on this machine shows only when it is asked.
    let Reply::Providers { providers } = door.ask(Query::Providers).await.map_err(refused)? else {
        return Ok(false);
    };
    let is_usable = |known: &ProviderState| known.key != KeyState::Missing && known.model.is_some();
    Ok(providers.iter().any(|known| known.id != DEMO && is_usable(known)))
}

fn sign_in(can_run_us: bool) -> AuthMethod {
    let (name, about) =
        ("caiman login", "Keys of providers are kept by `caiman login`, in a terminal.");
    if can_run_us {
        let method = AuthMethodTerminal::new(LOGIN, name).args(vec!["--login".to_owned()]);
        return AuthMethod::Terminal(method.description(about.to_owned()));
    }
    AuthMethod::Agent(AuthMethodAgent::new(LOGIN, name).description(about.to_owned()))
}

/// Reads what was sent along.
pub(super) fn read<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params).map_err(|error| invalid(format!("bad parameters: {error}")))
}

fn answer(result: &impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(result).map_err(|error| super::failed(error.to_string()))
}

/// What the mind refused, for an editor.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
pub(super) fn refused(error: ClientError) -> Fault {
    let code = match error {
        ClientError::NotFound(_) => -32002,
        ClientError::Forbidden(_) | ClientError::Refused(_) | ClientError::Closed => -32603,
    };
    Fault { code, message: error.to_string() }
}
