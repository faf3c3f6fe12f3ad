//! The scripted model server: real HTTP on loopback, every wire, one script.
//!
//! It records what it is asked, checks each request against its wire's rules, and answers as the
//! [`Script`] says. Its tasks end with the handle.

mod answer;
mod route;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use base::TaskScope;
use serde_json::{Value, json};
use settings::provider::Wire;
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::http::{self, Connection, Incoming, Outgoing};
use crate::script::{After, Lasts, OnViolation, Script, When};
use crate::validate::{self, Issued, Rules, Violation};
use route::Route;

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    scope: TaskScope,
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers; names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is empty or no JSON.
    pub body: Value,
    /// The body's bytes.
    pub bytes: Vec<u8>,
    /// When it was complete.
    pub at: Instant,
    /// Which wire it spoke; none for lists of models and unknown paths.
    pub wire: Option<Wire>,
    /// The rules it breaks.
    pub violations: Vec<Violation>,
}

impl Recorded {
    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug)]
struct Shared {
    script: Script,
    state: Mutex<State>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    used: BTreeSet<usize>,
    requests: Vec<Recorded>,
    /// By wire: what one provider made is foreign to all others.
    issued: HashMap<Wire, Issued>,
}

impl Server {
    /// Starts a server on a free port of loopback.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_at(0, script).await
    }

    /// Starts a server on a port of loopback; 0 takes a free one.
    pub async fn start_at(port: u16, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let (count, _) = watch::channel(0);
        let shared = Arc::new(Shared { script, state: Mutex::default(), count });
        let scope = TaskScope::new();
        scope.spawn(accept(listener, Arc::clone(&shared), scope.child()));
        Ok(Self { address, shared, scope })
    }

    /// Where it listens, without a path: `http://127.0.0.1:12345`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL a provider of this wire would have.
    pub fn base_url(&self, wire: Wire) -> String {
        let path = match wire {
            Wire::AnthropicMessages | Wire::OpenaiChat | Wire::OpenaiResponses => "/v1",
            Wire::Gemini => "/v1beta",
            Wire::BedrockConverse => "",
        };
        format!("{}{path}", self.url())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far, in the order they were complete.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().requests.clone()
    }

    /// The bodies of every request to a model so far.
    pub fn bodies(&self) -> Vec<Value> {
        let state = self.shared.state();
        state.requests.iter().filter(|r| r.wire.is_some()).map(|r| r.body.clone()).collect()
    }

    /// Every broken rule so far, with the number of its request.
    pub fn violations(&self) -> Vec<(usize, Violation)> {
        let state = self.shared.state();
        let of_request = |(at, request): (usize, &Recorded)| {
            request.violations.iter().map(move |found| (at, found.clone())).collect::<Vec<_>>()
        };
        state.requests.iter().enumerate().flat_map(of_request).collect()
    }

    /// Takes a signature or encrypted content as its own, so that replaying it on this wire breaks
    /// no rule.
    pub fn issue(&self, wire: Wire, seal: &str) {
        self.shared.state().issued.entry(wire).or_default().insert(seal);
    }

    /// Waits until so many requests have come.
    pub async fn wait_for_requests(&self, count: usize) {
        let mut seen = self.shared.count.subscribe();
        // It fails only without a sender, and that lives as long as `self`.
        drop(seen.wait_for(|&so_far| so_far >= count).await);
    }

    /// Ends it and waits until its last task is gone.
    pub async fn close(self) {
        self.scope.close().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.scope.cancel();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, scope: TaskScope) {
    while let Ok((stream, _)) = listener.accept().await {
        scope.spawn(talk(stream, Arc::clone(&shared)));
    }
}

async fn talk(stream: TcpStream, shared: Arc<Shared>) {
    // Small events must leave at once, as they do from a provider.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let mut stream = BufReader::new(stream);
    while let Ok(Some(request)) = http::read(&mut stream).await {
        let closes = request.headers.iter().any(|(name, value)| {
            name.as_str() == "connection" && value.eq_ignore_ascii_case("close")
        });
        let answer = shared.answer(&request);
        match http::write(&mut stream, &answer).await {
            Ok(Connection::Open) if !closes => {}
            Ok(Connection::Open | Connection::Closed) | Err(_) => return,
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides, records and answers in one go, so that concurrent requests never share a step.
    fn answer(&self, request: &Incoming) -> Outgoing {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let route = Route::of(request, &body);
        let mut state = self.state();
        let violations = route.as_ref().map_or_else(Vec::new, |route| {
            self.check(route, &body, request, state.issued.get(&route.wire))
        });
        let serial = state.requests.len();
        state.requests.push(Recorded {
            method: request.method.clone(),
            path: request.target.clone(),
            headers: request.headers.clone(),
            body,
            bytes: request.body.clone(),
            at: Instant::now(),
            wire: route.as_ref().map(|route| route.wire),
            violations: violations.clone(),
        });
        let answer = match route {
            None => self.without_model(request),
            Some(route) if !violations.is_empty() && self.refuses() => {
                let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
                answer::error(route.wire, 400, None, &all.join("; "))
            }
            Some(route) => match self.step_for(&route, request, &mut state.used) {
                Some(at) => {
                    let actions = &self.script.steps[at].actions;
                    let thoughts = self.script.chat_thoughts;
                    let issued = state.issued.entry(route.wire).or_default();
                    answer::perform(actions, &route, serial, thoughts, issued)
                }
                None => answer::error(route.wire, 500, None, "script exhausted"),
            },
        };
        drop(state);
        self.count.send_modify(|count| *count += 1);
        answer
    }

    fn check(
        &self,
        route: &Route,
        body: &Value,
        request: &Incoming,
        issued: Option<&Issued>,
    ) -> Vec<Violation> {
        let mut found = route.complaints.clone();
        if body.is_null() {
            let length = request.body.len();
            found.push(Violation::new("", format!("the body ({length} bytes) is no JSON")));
            return found;
        }
        let rules = Rules {
            issued: Some(issued.cloned().unwrap_or_default()),
            model: Some(route.model.clone()),
            server: self.script.server,
            ..Rules::default()
        };
        found.extend(validate::request(route.wire, body, &rules));
        found
    }

    fn refuses(&self) -> bool {
        match self.script.on_violation {
            OnViolation::Answer => false,
            OnViolation::Refuse => true,
        }
    }

    fn step_for(
        &self,
        route: &Route,
        request: &Incoming,
        used: &mut BTreeSet<usize>,
    ) -> Option<usize> {
        let steps = &self.script.steps;
        let text = String::from_utf8_lossy(&request.body);
        let met = |when: &When| {
            when.contains.as_ref().is_none_or(|part| text.contains(part.as_str()))
                && when.lacks.as_ref().is_none_or(|part| !text.contains(part.as_str()))
                && when.path.as_ref().is_none_or(|part| request.target.contains(part.as_str()))
                && when.model.as_ref().is_none_or(|model| *model == route.model)
        };
        let free = |at: &usize| !used.contains(at);
        let conditional =
            (0..steps.len()).filter(free).find(|&at| steps[at].when.as_ref().is_some_and(met));
        let plain = (0..steps.len()).filter(free).find(|&at| steps[at].when.is_none());
        let last = || match self.script.after {
            After::RepeatLast => {
                (0..steps.len()).rev().find(|&at| steps[at].when.as_ref().is_none_or(met))
            }
            After::Exhausted => None,
        };
        let chosen = conditional.or(plain).or_else(last)?;
        match steps[chosen].lasts {
            Lasts::Once => {
                used.insert(chosen);
            }
            Lasts::Always => {}
        }
        Some(chosen)
    }

    /// Lists of models, and everything the server does not know.
    fn without_model(&self, request: &Incoming) -> Outgoing {
        let path = request.target.split('?').next().unwrap_or_default();
        let ids = &self.script.models;
        let body = match (request.method.as_str(), path) {
            ("GET", path) if path.ends_with("/api/tags") => {
                json!({ "models": ids.iter().map(|id| json!({ "name": id, "model": id })).collect::<Vec<_>>() })
            }
            ("GET", path) if path.contains("/v1beta") && path.ends_with("/models") => {
                let model = |id: &String| {
                    json!({ "name": format!("models/{id}"), "displayName": id,
                    "supportedGenerationMethods": ["generateContent"] })
                };
                json!({ "models": ids.iter().map(model).collect::<Vec<_>>() })
            }
            ("GET", path) if path.ends_with("/models") => {
                let model = |id: &String| {
                    json!({ "id": id, "object": "model", "type": "model",
                    "display_name": id, "created": 0, "owned_by": "scripted" })
                };
                json!({ "object": "list", "has_more": false,
                    "data": ids.iter().map(model).collect::<Vec<_>>() })
            }
            (method, path) => {
                let message = format!("the scripted server has no {method} {path}");
                return answer::whole(404, &json!({ "error": { "message": message } }));
            }
        };
        answer::whole(200, &body)
    }
}
