//! One whole call over real HTTP, for tests.

use std::sync::Arc;
use std::time::Duration;

use base::{Clock, CommandLine, Env, Paths, RunCommand, RunError};
use llm::{Answer, Caller, Delta, Error, Http, Request, Retry, Retrying, Signer, Target};
use settings::provider::Wire;
use testkit::Server;

use crate::targets;

struct NoCommands;

impl RunCommand for NoCommands {
    fn run(&self, command: &CommandLine) -> Result<String, RunError> {
        panic!("no test may run {command:?}")
    }
}

/// A caller that tries so often, and waits for next to nothing in between.
pub(crate) fn caller(tries: u32) -> Caller {
    let home = ["HOME", "USERPROFILE"].map(|name| (name.to_owned(), "/nonexistent".to_owned()));
    let env: Env = home.into_iter().collect();
    let paths = Paths::of(&env).unwrap();
    let signer = Signer::new(env, paths, Clock::system(), Arc::new(NoCommands));
    let retry = Retry { tries, first_wait: Duration::from_millis(1) };
    Caller::new(Http::new(), signer).with_retry(retry)
}

/// A model of `wire` that the scripted server answers for.
pub(crate) fn model_at(server: &Server, wire: Wire) -> Target {
    Target { base_url: server.base_url(wire), ..targets::target(wire) }
}

/// Calls once and reads the answer to its end.
pub(crate) async fn ask(target: &Target, request: &Request) -> Result<Answer, Error> {
    ask_by(&caller(1), target, request).await.0
}

/// Calls and reads to the end; tells the waits that were announced, too.
pub(crate) async fn ask_by(
    caller: &Caller,
    target: &Target,
    request: &Request,
) -> (Result<Answer, Error>, Vec<Retrying>) {
    let mut waits = Vec::new();
    let opened = caller.open(target, request, &mut |retrying| waits.push(retrying)).await;
    let mut reply = match opened {
        Ok(reply) => reply,
        Err(error) => return (Err(error), waits),
    };
    let mut deltas: Vec<Delta> = Vec::new();
    loop {
        match reply.next(&mut deltas).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return (Err(error), waits),
        }
    }
    (Ok(targets::fold(target, deltas)), waits)
}

/// What was said, without thoughts.
pub(crate) fn text_of(answer: &Answer) -> String {
    answer.parts.iter().filter_map(base::Part::as_text).collect()
}
