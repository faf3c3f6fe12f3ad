//! A scripted model that runs beside the test, so that tests need no runtime of their own.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use serde_json::Value;
use settings::provider::Wire;
use testkit::{Recorded, Script, Server};
use tokio::sync::oneshot;

/// The key every scripted provider is called with; it must never be printed.
pub(crate) const KEY: &str = "sk-lab-0123456789abcdef";

/// A scripted model and the thread it lives on.
pub(crate) struct Model {
    server: Server,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    pub(crate) fn start(script: Script) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (ready, started) = mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                ready.send(Server::start(script).await.unwrap()).unwrap();
                stopped.await.ok();
            });
        });
        Self { server: started.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn saying(text: &str) -> Self {
        Self::start(Script::new().text(text).usage(100, 20))
    }

    pub(crate) fn base_url(&self) -> String {
        self.server.base_url(Wire::OpenaiChat)
    }

    pub(crate) fn base_url_of(&self, wire: Wire) -> String {
        self.server.base_url(wire)
    }

    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.server.requests()
    }

    /// The conversation of every request so far: role and text of each message.
    pub(crate) fn conversations(&self) -> Vec<Vec<(String, String)>> {
        self.server.bodies().iter().map(conversation).collect()
    }

    pub(crate) fn assert_no_violations(&self) {
        assert!(self.server.violations().is_empty(), "{:?}", self.server.violations());
    }

    pub(crate) fn wait_for_requests(&self, count: usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(self.server.wait_for_requests(count));
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(JoinHandle::join);
    }
}

/// What was said in a Chat Completions request, without its system prompt.
fn conversation(body: &Value) -> Vec<(String, String)> {
    let messages = body["messages"].as_array().unwrap();
    let said = |message: &Value| {
        let content = &message["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str())?;
        Some((message["role"].as_str()?.to_owned(), text.to_owned()))
    };
    messages
        .iter()
        .filter_map(said)
        .filter(|(role, _)| role == "user" || role == "assistant")
        .collect()
}
